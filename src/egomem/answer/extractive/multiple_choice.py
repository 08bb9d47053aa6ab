"""Multiple choice: a score for each option, the best-supported one, or an abstention."""

from __future__ import annotations

from collections.abc import Sequence

from egomem.answer.extractive.abstain import abstain
from egomem.answer.extractive.evidence_match import EvidenceMatch
from egomem.answer.extractive.latest_place import by_latest_place
from egomem.answer.extractive.meaning import by_meaning
from egomem.answer.extractive.option_scores import OptionScore, by_first, by_order, by_words
from egomem.answer.extractive.settings import NAME, ExtractiveSettings
from egomem.answer.extractive.spans import Writer
from egomem.answer.extractive.support import coverages
from egomem.answer.strategy import Task
from egomem.recall.words import says_nothing_fits, words_of
from egomem.records import Answer, Evidence, Option, Status

RARE = 0.1
"""An anchor event places a question where it takes up at most this share of what was observed."""


def choose(task: Task[ExtractiveSettings], match: EvidenceMatch) -> Answer:
    """Scores all options; the scores are shares that sum to 1 (all 0 where nothing speaks)."""
    options = task.question.options
    # Its words stand in no observation: it is chosen by the lack of support for the others.
    nothing = [o for o in options if says_nothing_fits(o.text)]
    listed = [o for o in options if o not in nothing]
    how, scored = score_options(task, match, [o.text for o in listed])
    shares = _shares(scored, len(options))
    top = max(range(len(listed)), key=lambda i: scored[i].score, default=None)
    top_coverage = 0.0
    if top is not None and scored[top].score:
        top_coverage = max(_coverage(match, listed[top]), scored[top].near)
    scores = {o.label: s for o, s in zip(listed, shares, strict=True)}
    # With a way out, the question itself has to be supported; without one, the best option is asked
    # for.
    support = min(match.support.score, top_coverage) if nothing else top_coverage
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
    evidence = [writer.evidence(best, top_coverage)] if best else []
    # An answer by order rests on two observations, and shows both.
    if match.anchor and match.anchor.entry and how == "order":
        evidence.append(writer.evidence(match.anchor.entry, match.anchor.coverage))
    why = f"best supported {_HOW[how]}" + (f": {writer.span(best)}" if best else "")
    return _answer(task, listed[top], scores, support, why, tuple(evidence))


_HOW = {
    "order": "by what came next to the event asked about",
    "latest": "by the last place observed",
    "first": "by when it was observed",
    "words": "by the words observed",
}


def score_options(
    task: Task[ExtractiveSettings], match: EvidenceMatch, options: Sequence[str]
) -> tuple[str, list[OptionScore]]:
    """By order where the question places the answer by a rare event; else by words alone."""
    index, query, settings = match.index, match.query, task.settings
    words = by_words(index, query, options, sharpness=settings.sharpness, width=settings.part_width)
    if task.embedder is not None:
        near = by_meaning(task.view, index, task.question.text, options, task.embedder)
        both = [w.score + settings.meaning * n for w, (n, _) in zip(words, near, strict=True)]
        least = min(0.0, *both)
        words = [
            OptionScore(value - least, w.best or entry, n)
            for value, w, (n, entry) in zip(both, words, near, strict=True)
        ]
    if query.latest_place and (latest := by_latest_place(match, options)):
        return "latest", [_with_words(p, w) for p, w in zip(latest, words, strict=True)]
    anchor = match.anchor
    if anchor and anchor.sure and query.relation in ("before", "after") and _rare(match):
        placed = by_order(index, query, options, anchor, fade=settings.fade)
        return "order", [_with_words(p, w) for p, w in zip(placed, words, strict=True)]
    if query.order and not query.words and not query.anchor:
        placed = by_first(index, query.order, options)
        if sum(1 for p in placed if p.score) > 1:
            return "first", [_with_words(p, w) for p, w in zip(placed, words, strict=True)]
    return "words", words


def _with_words(placed: OptionScore, words: OptionScore) -> OptionScore:
    """Words decide only between options that time does not tell apart."""
    return OptionScore(placed.score + 1e-3 * words.score, placed.best or words.best, words.near)


def _rare(match: EvidenceMatch) -> bool:
    if match.query.at is not None:
        return True
    holding = sum(c > 0.999 for c in coverages(match.index, match.query.anchor_words))
    return holding <= max(1, RARE * match.index.matches.view.count())


def _coverage(match: EvidenceMatch, option: Option) -> float:
    return max(coverages(match.index, words_of(option.text)), default=0.0)


def _shares(scored: Sequence[OptionScore], count: int) -> list[float]:
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
