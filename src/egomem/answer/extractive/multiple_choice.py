"""Multiple choice: a score for each option, the best-supported one, or an abstention."""

from __future__ import annotations

from collections.abc import Sequence

from egomem.answer.extractive.abstain import abstain
from egomem.answer.extractive.evidence_match import EvidenceMatch
from egomem.answer.extractive.meaning import by_meaning
from egomem.answer.extractive.option_scores import Scored, by_first, by_words, in_order
from egomem.answer.extractive.settings import NAME, ExtractiveSettings
from egomem.answer.extractive.spans import Writer
from egomem.answer.extractive.support import coverages
from egomem.answer.extractive.words import says_nothing_fits, words_of
from egomem.answer.strategy import Task
from egomem.records import Answer, Evidence, Option, Status

RARE = 0.1
"""An anchor event places a question where it takes up at most this share of what was observed."""


def choose(task: Task[ExtractiveSettings], reading: EvidenceMatch) -> Answer:
    """Scores all options; the scores are shares that sum to 1 (all 0 where nothing speaks)."""
    options = task.question.options
    nothing = [o for o in options if says_nothing_fits(o.text)]
    listed = [o for o in options if o not in nothing]
    how, scored = score_options(task, reading, [o.text for o in listed])
    shares = _shares(scored, len(options))
    top = max(range(len(listed)), key=lambda i: scored[i].score, default=None)
    held = 0.0
    if top is not None and scored[top].score:
        held = max(_held(reading, listed[top]), scored[top].near)
    scores = {o.label: s for o, s in zip(listed, shares, strict=True)}
    support = min(reading.support.score, held) if nothing else held
    threshold = task.settings.support if nothing else task.settings.option_support
    if nothing:
        _rank_nothing(scores, nothing, support < threshold)
    task.note("options", how=how, scores={k: round(v, 4) for k, v in scores.items()},
              support=round(support, 4), threshold=threshold)  # fmt: skip
    best = scored[top].best if top is not None else None
    writer = Writer(task.view)
    if support < threshold or top is None:
        if len(nothing) == 1:
            why = "nothing supports another option"
            return _answer(task, nothing[0], scores, 1 - support, why, ())
        return abstain(task, support, "no option is supported by what was observed", scores)
    evidence = [writer.evidence(best, held)] if best else []
    if reading.anchor and reading.anchor.seen and how == "order":
        evidence.append(writer.evidence(reading.anchor.seen, reading.anchor.coverage))
    why = f"best supported {_HOW[how]}" + (f": {writer.span(best)}" if best else "")
    return _answer(task, listed[top], scores, support, why, tuple(evidence))


_HOW = {
    "order": "by what came next to the event asked about",
    "first": "by when it was observed",
    "words": "by the words observed",
}


def score_options(
    task: Task[ExtractiveSettings], reading: EvidenceMatch, options: Sequence[str]
) -> tuple[str, list[Scored]]:
    """By order where the question places the answer by a rare event; else by words alone."""
    scene, ask, settings = reading.scene, reading.ask, task.settings
    words = by_words(scene, ask, options, sharpness=settings.sharpness, width=settings.part_width)
    if task.embedder is not None:
        near = by_meaning(task.view, scene, task.question.text, options, task.embedder)
        both = [w.score + settings.meaning * n for w, (n, _) in zip(words, near, strict=True)]
        least = min(0.0, *both)
        words = [
            Scored(value - least, w.best or s, n)
            for value, w, (n, s) in zip(both, words, near, strict=True)
        ]
    anchor = reading.anchor
    if anchor and anchor.sure and ask.relation in ("before", "after") and _rare(reading):
        placed = in_order(scene, ask, options, anchor, fade=settings.fade)
        return "order", [_more(p, w) for p, w in zip(placed, words, strict=True)]
    if ask.which and not ask.words and not ask.anchor:
        placed = by_first(scene, ask.which, options)
        if sum(1 for p in placed if p.score) > 1:
            return "first", [_more(p, w) for p, w in zip(placed, words, strict=True)]
    return "words", words


def _more(placed: Scored, words: Scored) -> Scored:
    """Words decide only between options that time does not tell apart."""
    return Scored(placed.score + 1e-3 * words.score, placed.best or words.best, words.near)


def _rare(reading: EvidenceMatch) -> bool:
    if reading.ask.at is not None:
        return True
    holding = sum(c > 0.999 for c in coverages(reading.scene, reading.ask.anchor))
    return holding <= max(1, RARE * len(reading.scene.seen))


def _held(reading: EvidenceMatch, option: Option) -> float:
    return max(coverages(reading.scene, words_of(option.text)), default=0.0)


def _shares(scored: Sequence[Scored], count: int) -> list[float]:
    total = sum(s.score for s in scored)
    return [s.score / total if total else 0.0 for s in scored]


def _rank_nothing(scores: dict[str, float], nothing: Sequence[Option], holds: bool) -> None:
    """ "None of these" comes first where the support is too small, and last otherwise."""
    for option in nothing:
        scores[option.label] = 1.0 if holds else 0.0


def _answer(
    task: Task[ExtractiveSettings],
    option: Option,
    scores: dict[str, float],
    confidence: float,
    reason: str,
    evidence: tuple[Evidence, ...],
) -> Answer:
    return Answer(
        text=f"{option.label}. {option.text}",
        status=Status.PARSED,
        strategy=NAME,
        choice=option.label,
        scores={o.label: round(scores[o.label], 6) for o in task.question.options},
        evidence=evidence,
        confidence=round(confidence, 4),
        reason=reason,
        trace=tuple(task.trace),
    )
