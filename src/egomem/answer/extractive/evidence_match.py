"""A question read against what a view holds: which observations may answer it, and how well."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from egomem.answer.extractive.anchors import Anchor, find_anchor, part_weights
from egomem.answer.extractive.question import ParsedQuestion, read_question
from egomem.answer.extractive.settings import ExtractiveSettings
from egomem.answer.extractive.support import Support, coverages, other, support
from egomem.answer.extractive.view_index import IndexedObservation, ViewIndex, scene
from egomem.answer.extractive.words import Word, thing_words_of, words_of
from egomem.answer.strategy import Task
from egomem.timeline import DEFAULT_CONVENTIONS, RecordingTime, Span

CARRIED = 0.5
"""Support for what a named person said where nothing else of the question is known."""


AROUND = 60.0
"""Seconds beside a wall-clock time that are looked at where nothing was observed in it."""


@dataclass(frozen=True)
class EvidenceMatch:
    """A question read against a scene.

    `coverage` has one value an observation: 0 for one that may not answer (of another source,
    person or time than the question asks for). `unresolved` are times that could not be placed.
    """

    ask: ParsedQuestion
    scene: ViewIndex
    people: tuple[str, ...]
    words: tuple[Word, ...]
    coverage: tuple[float, ...]
    anchor: Anchor | None
    support: Support
    unresolved: tuple[str, ...]


def read_task(task: Task[ExtractiveSettings]) -> EvidenceMatch:
    """Reads a task's question, lays out its view, and weighs each observation."""
    question, settings = task.question, task.settings
    ask = _ask(task)
    options = [word for option in question.options for word in words_of(option.text)]
    items = [word for item in ask.items for word in words_of(item)]
    laid = scene(
        task.view,
        (*ask.words, *ask.anchor, *ask.carrier, *ask.plain, *options, *items),
        " ".join([question.text, *(o.text for o in question.options)]),
        recording=question.recording,
        most=settings.most,
        surroundings=bool(ask.sources),
        at=None if ask.at is None else _around(ask.at, settings.slack),
        between=[(t.instants.start, t.instants.end) for t in ask.times if t.instants],
    )
    reading = _reading(laid, ask, question.text, settings)
    nowhere = not any(s.observation.source in ask.sources for s in laid.seen)
    if not ask.sources or (reading.support.score >= settings.support and not nowhere):
        return reading
    # Captions, too, may tell what was said or read.
    plain = replace(ask, words=ask.plain, sources=(), carrier=())
    told = _reading(laid, plain, question.text, settings)
    return told if nowhere or told.support.score >= settings.support else reading


def _reading(
    laid: ViewIndex, ask: ParsedQuestion, text: str, settings: ExtractiveSettings
) -> EvidenceMatch:
    names = laid.people()
    named = [names[w.stem] for w in ask.carrier if w.stem in names]
    named = named or [names[w.stem] for w in words_of(text) if w.stem in names]
    people = tuple(dict.fromkeys(named))
    anchor = find_anchor(laid, ask, slack=settings.slack)
    words = tuple(w for w in _there(laid, ask) if w.stem not in names)
    placed = tuple(w for w in ask.anchor if w.stem not in names)
    able = _able(laid, ask, anchor, settings)
    coverage, found = _weigh(laid, ask, anchor, words, placed, people, able, settings)
    problems = tuple(t.problem for t in ask.times if t.problem)
    unresolved = problems if len(problems) == len(ask.times) else ()
    return EvidenceMatch(ask, laid, people, words, coverage, anchor, found, unresolved)


def _ask(task: Task[ExtractiveSettings]) -> ParsedQuestion:
    """The question, its times read as of the moment that it is asked at.

    Without such a moment, it is asked at the end of what the memory holds.
    """
    at, recordings = task.question.at, task.view.recordings()
    if isinstance(at, RecordingTime):
        at = next((r.instant(at.seconds) for r in recordings if r.id == at.recording), None)
    ends = [end for r in recordings if (end := r.instant(r.duration))]
    now = at or max(ends, default=None)
    ask = read_question(task.question.text, now=now)
    longest = max((r.duration for r in recordings), default=0.0)
    if now is not None and ask.at is not None and ask.at > longest:
        return read_question(
            task.question.text, now=now, habits=replace(DEFAULT_CONVENTIONS, bare="wall")
        )
    return ask


def _there(scene: ViewIndex, ask: ParsedQuestion) -> tuple[Word, ...]:
    """The words without "leave" where a detected thing is asked for: its own data tells that."""
    going = words_of("leave")[0].forms
    others = tuple(w for w in ask.words if w.forms.isdisjoint(going))
    detected = any(
        s.observation.source == "object" and all(s.has(w) for w in others) for s in scene.seen
    )
    return others if ask.leaving and others and detected else ask.words


def _able(
    scene: ViewIndex,
    ask: ParsedQuestion,
    anchor: Anchor | None,
    settings: ExtractiveSettings,
) -> list[bool]:
    """Which observations may answer, by source and time."""
    sources = {s.observation.source for s in scene.seen} & set(ask.sources)
    able = [not sources or s.observation.source in sources for s in scene.seen]
    if ask.seen:
        seen = [
            a and s.direct and s.observation.source not in ("speech", "sound")
            for a, s in zip(able, scene.seen, strict=True)
        ]
        if any(s.observation.source != "speech" for s in scene.seen):
            able = seen
    bounds = [t.instants.span for t in ask.times if t.instants is not None]
    if bounds:  # what is told of an event may be told at another time
        told = bool(ask.words) and ask.kind != "said"
        free = [
            a and told and s.observation.source == "speech"
            for a, s in zip(able, scene.seen, strict=True)
        ]
        inside = [a and _within(s, bounds, 0.0) for a, s in zip(able, scene.seen, strict=True)]
        near = [a and _within(s, bounds, AROUND) for a, s in zip(able, scene.seen, strict=True)]
        able = [a or f for a, f in zip(inside if any(inside) else near, free, strict=True)]
    if ask.at is not None and ask.relation is None:
        at = ask.at
        inside = [a and at in s.observation.span for a, s in zip(able, scene.seen, strict=True)]
        near = [
            a and s.observation.span.overlaps(_around(at, settings.slack))
            for a, s in zip(able, scene.seen, strict=True)
        ]
        able = inside if any(inside) else near
    if ask.part:
        place = part_weights(scene, ask.part, width=settings.part_width)
        able = [a and p > 0.36 for a, p in zip(able, place, strict=True)]
    if ask.relation == "while" and anchor is not None and anchor.sure and not ask.words:
        able = [
            a and s.line == anchor.line and s.span.overlaps(anchor.span)
            for a, s in zip(able, scene.seen, strict=True)
        ]
    return able


def _around(at: float, slack: float) -> Span:
    return Span(max(0.0, at - slack), at + slack)


def _within(seen: IndexedObservation, bounds: Sequence[Span], slack: float) -> bool:
    return seen.line == "" and any(
        seen.span.overlaps(Span(b.start - slack, b.end + slack)) for b in bounds
    )


def _weigh(
    scene: ViewIndex,
    ask: ParsedQuestion,
    anchor: Anchor | None,
    words: tuple[Word, ...],
    placed: tuple[Word, ...],
    people: Sequence[str],
    able: Sequence[bool],
    settings: ExtractiveSettings,
) -> tuple[tuple[float, ...], Support]:
    """Coverage of each observation that may answer, and the support of the whole question."""

    def only(coverage: Sequence[float]) -> list[float]:
        return [c if a else 0.0 for c, a in zip(coverage, able, strict=True)]

    asked = only(coverages(scene, words))
    if ask.kind == "order":
        parts = [max(coverages(scene, thing_words_of(item)), default=0.0) for item in ask.items]
        return tuple(asked), Support(min(parts), min(parts), 1.0, ())
    if not words and ask.sources and not (ask.anchor or ask.relation):
        return _carried(scene, ask, people, able)
    if not words and ask.times and all(t.problem for t in ask.times) and not ask.anchor:
        return tuple(asked), Support(0.0, 0.0, 1.0, ())
    if not words:
        score = max([1.0 if a else 0.0 for a in able], default=0.0)
        if ask.anchor:
            score = min(score, anchor.coverage if anchor else 0.0)
        mine = [
            score if a and not other(s, people) else 0.0
            for a, s in zip(able, scene.seen, strict=True)
        ]
        return tuple(mine), Support(max(mine, default=0.0), score, 1.0, ())
    both = (*words, *(w for w in placed if w not in words))
    joint = only(coverages(scene, both))
    found = support(scene, both, joint, people, settings.doubt)
    if ask.relation in ("before", "after") and anchor is not None:
        weight = {w: scene.weight(w) for w in both}
        heavy = sum(weight[w] for w in words)
        mixed = heavy * max(asked, default=0.0) + anchor.coverage * (sum(weight.values()) - heavy)
        apart = mixed / (sum(weight.values()) or 1.0)
        if apart > found.coverage:
            found = Support(apart * found.share, apart, found.share, found.missing)
        return tuple(asked), found
    mine = [0.0 if other(s, people) else c for c, s in zip(joint, scene.seen, strict=True)]
    return tuple(mine), found


def _carried(
    scene: ViewIndex, ask: ParsedQuestion, people: Sequence[str], able: Sequence[bool]
) -> tuple[tuple[float, ...], Support]:
    """What a sign or a person said, by what it stood on or who said it alone.

    A text seldom names its carrier: words that the memory holds nowhere are left aside, and where
    none is known at all, nothing supports that this is the sign or person asked about.
    """
    names = scene.people()
    words = [w for w in ask.carrier if w.stem not in names]
    known = [w for w in words if scene.anywhere(w)]
    if known:
        coverage = coverages(scene, known)
    else:
        coverage = [1.0 if not words else CARRIED if people else 0.0] * len(able)
    mine = [
        c if a and not other(s, people) else 0.0
        for c, a, s in zip(coverage, able, scene.seen, strict=True)
    ]
    best = max(mine, default=0.0)
    missing = tuple(w.stem for w in words if w not in known)
    return tuple(mine), Support(best, best, 1.0, missing)
