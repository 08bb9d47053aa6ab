"""A question against what a view holds: which observations may answer it, and how well."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, get_args

from egomem.answer.context import scope
from egomem.answer.extractive.anchors import LocatedAnchor, find_anchor, part_weights
from egomem.answer.extractive.settings import ExtractiveSettings
from egomem.answer.extractive.support import SupportScore, coverages, other, support
from egomem.answer.extractive.view_index import IndexedObservation, ViewIndex, index_matches
from egomem.answer.strategy import Task
from egomem.recall import Matches, Query, matches, read_for
from egomem.recall.local_times import span_there
from egomem.recall.matches import AROUND_S, beside
from egomem.recall.reading import instant_of
from egomem.recall.speech import speakers_of
from egomem.recall.words import ATTRIBUTES, STANDS, Word, stem_set, thing_words_of, words_of
from egomem.records import Observation, Source
from egomem.timeline import Span

if TYPE_CHECKING:
    from egomem.timeline import TimeMention

CARRIED = 0.5
"""Support for what a named person said where nothing else of the question is known."""

_NOT_SPEECH: tuple[Source, ...] = tuple(s for s in get_args(Source) if s != "speech")

_PLACED = stem_set("put leave left place lay laid set drop keep kept")

FADES = 10
"""Fades (see the settings) after which a mention beside an anchor counts nothing."""


@dataclass(frozen=True)
class EvidenceMatch:
    """A question matched with observations.

    `coverage` has one value an entry of the index: 0 for one that may not answer (of another
    source, person or time than the question asks for). `unresolved` are times that could not be
    placed, where none could.
    """

    query: Query
    index: ViewIndex
    words: tuple[Word, ...]
    coverage: tuple[float, ...]
    anchor: LocatedAnchor | None
    support: SupportScore
    unresolved: tuple[str, ...]


def match_task(task: Task[ExtractiveSettings]) -> EvidenceMatch:
    """Reads a task's question, gets what may answer it from recall, and weighs each observation."""
    question, settings, view = task.question, task.settings, task.view
    part = scope(view, question)
    options = [option.text for option in question.options]
    # Of the question and not of the memory's end: "yesterday" is said at a time.
    now = instant_of(view, question.at)
    query = read_for(view, question.text, options, now=now, speakers=speakers_of(part))
    matched = matches(
        part,
        query,
        most=settings.most,
        slack=settings.slack,
        part_width=settings.part_width,
    )
    index = index_matches(view, matched, query)
    anchor = find_anchor(index, query, slack=settings.slack)
    # What came next shares no word with the question, so it is fetched by its place.
    if anchor is not None and query.relation is not None:
        matched = matched.with_also(_neighbours(matched, query, anchor, settings))
        index = index_matches(view, matched, query)
    evidence = _match(index, query, settings)
    nowhere = not matched.observed(query.sources)
    # Speech and signs first: they are what was said, where captions tell of it at second hand.
    if not query.sources or (evidence.support.score >= settings.support and not nowhere):
        return evidence
    # Captions, too, may tell what was said or read.
    plain = replace(query, words=query.caption_words, sources=(), carrier=())
    captioned = _match(index, plain, settings)
    if nowhere or captioned.support.score >= settings.support:
        return captioned
    return evidence


def _neighbours(
    matched: Matches, query: Query, anchor: LocatedAnchor, settings: ExtractiveSettings
) -> list[Observation]:
    """What lies nearest to the anchor, and the nearest mentions of the options."""
    assert query.relation is not None
    recording = anchor.timeline or None
    if recording is not None and recording not in {r.id for r in matched.view.recordings()}:
        return []
    sources = query.sources if matched.observed(query.sources) else ()
    nearest = beside(
        matched.view, anchor.span, query.relation, recording=recording, sources=sources
    )
    for option in query.options:
        mentions = matched.any_of(words_of(option))
        nearest += beside(
            matched.view,
            anchor.span,
            query.relation,
            recording=recording,
            among=mentions,
            within=FADES * settings.fade,
        )
    return nearest


def _match(index: ViewIndex, query: Query, settings: ExtractiveSettings) -> EvidenceMatch:
    names = stem_set(" ".join(query.name_texts))
    anchor = find_anchor(index, query, slack=settings.slack)
    # A named speaker is matched by who speaks, as in recall.
    words = tuple(w for w in _words_to_meet(index, query) if w.stem not in names)
    placed = tuple(w for w in query.anchor_words if w.stem not in names)
    able = _able(index, query, anchor, settings)
    coverage, supported = _weigh(index, query, anchor, words, placed, able, settings)
    problems = tuple(t.problem for t in query.times if t.problem)
    unresolved = problems if len(problems) == len(query.times) else ()
    return EvidenceMatch(query, index, words, coverage, anchor, supported, unresolved)


def _words_to_meet(index: ViewIndex, query: Query) -> tuple[Word, ...]:
    """The words without "leave" where a detected thing is asked for, whose own data tells that;
    without what brought a thing to its place, where the place is asked for."""
    if query.latest_place:
        # Put, left, dropped, moved: whatever brought it there.
        return tuple(w for w in query.words if w.stem not in _PLACED) or query.words
    going = words_of("leave")[0].forms
    others = tuple(w for w in query.words if w.forms.isdisjoint(going))
    detected = any(
        entry.observation.source == "object" and all(entry.has(w) for w in others)
        for entry in index.entries
    )
    return others if query.leaving and others and detected else query.words


def _able(
    index: ViewIndex,
    query: Query,
    anchor: LocatedAnchor | None,
    settings: ExtractiveSettings,
) -> list[bool]:
    """Which entries may answer, by source and time."""
    entries = index.entries
    able = [True] * len(entries)
    if query.sources and index.matches.observed(query.sources):
        able = [entry.observation.source in query.sources for entry in entries]
    if query.visible and index.matches.observed(_NOT_SPEECH):
        able = [
            a and entry.direct and entry.observation.source not in ("speech", "sound")
            for a, entry in zip(able, entries, strict=True)
        ]
    bounds = [t for t in query.times if t.instants is not None]
    if bounds:
        # What is told of an event may be told at another time.
        told_later = bool(query.words) and query.kind != "said"
        sources = query.sources or (_NOT_SPEECH if query.visible else ())
        margin = 0.0 if index.matches.observed(sources, bounds) else AROUND_S
        able = [
            a
            and (
                _within(index, entry, bounds, margin)
                or (told_later and entry.observation.source == "speech")
            )
            for a, entry in zip(able, entries, strict=True)
        ]
    at = query.at
    if at is not None and query.relation is None:
        around = Span(max(0.0, at - settings.slack), at + settings.slack)
        inside = [
            a and at in entry.observation.span for a, entry in zip(able, entries, strict=True)
        ]
        near = [
            a and entry.observation.span.overlaps(around)
            for a, entry in zip(able, entries, strict=True)
        ]
        # What is going on at that very time is better than what lies near it.
        able = inside if any(inside) else near
    if query.part:
        places = part_weights(index, query.part, width=settings.part_width)
        # .36 is just below 1/e: a width away from the aim, as `matches` reads it.
        able = [a and place > 0.36 for a, place in zip(able, places, strict=True)]
    if query.relation == "while" and anchor is not None and anchor.sure and not query.words:
        able = [
            a and entry.timeline == anchor.timeline and entry.span.overlaps(anchor.span)
            for a, entry in zip(able, entries, strict=True)
        ]
    return able


def _within(
    index: ViewIndex, entry: IndexedObservation, bounds: Sequence[TimeMention], margin: float
) -> bool:
    if entry.timeline != "":
        return False
    recording = index.matches.view.filter.catalog.by_id.get(entry.observation.recording or "")
    spans = [span for mention in bounds if (span := span_there(mention, recording)) is not None]
    return any(entry.span.overlaps(Span(s.start - margin, s.end + margin)) for s in spans)


def _weigh(
    index: ViewIndex,
    query: Query,
    anchor: LocatedAnchor | None,
    words: tuple[Word, ...],
    placed: tuple[Word, ...],
    able: Sequence[bool],
    settings: ExtractiveSettings,
) -> tuple[tuple[float, ...], SupportScore]:
    """Coverage of each entry that may answer, and the support of the whole question."""
    speakers = query.speakers

    def only_able(coverage: Sequence[float]) -> list[float]:
        return [c if a else 0.0 for c, a in zip(coverage, able, strict=True)]

    def by_named(coverage: Sequence[float]) -> tuple[float, ...]:
        return tuple(
            0.0 if other(entry, speakers) else c
            for c, entry in zip(coverage, index.entries, strict=True)
        )

    of_words = only_able(coverages(index, words))
    if query.kind == "order":
        parts = [max(coverages(index, thing_words_of(item)), default=0.0) for item in query.items]
        return tuple(of_words), SupportScore(min(parts), min(parts), 1.0, ())
    if not words and query.sources and not (query.anchor or query.relation):
        return _carried(index, query, able)
    if not words and query.times and all(t.problem for t in query.times) and not placed:
        return tuple(of_words), SupportScore(0.0, 0.0, 1.0, ())
    if not words:
        score = max([1.0 if a else 0.0 for a in able], default=0.0)
        if query.anchor_words:
            score = min(score, anchor.coverage if anchor else 0.0)
        coverage = by_named([score if a else 0.0 for a in able])
        return coverage, SupportScore(max(coverage, default=0.0), score, 1.0, ())
    both = (*words, *(w for w in placed if w not in words))
    joint = only_able(_of_the_thing(index, both))
    joined = support(index, both, joint, speakers, settings.doubt)
    if query.relation in ("before", "after") and anchor is not None:
        weights = {w: index.weight(w) for w in both}
        heavy = sum(weights[w] for w in words)
        best = heavy * max(of_words, default=0.0)
        mixed = best + anchor.coverage * (sum(weights.values()) - heavy)
        apart = mixed / (sum(weights.values()) or 1.0)
        # Event and answer may stand in two observations: each holds its own words.
        if apart > joined.coverage:
            joined = SupportScore(apart * joined.share, apart, joined.share, joined.missing)
        return tuple(of_words), joined
    return by_named(joint), joined


def _of_the_thing(index: ViewIndex, words: Sequence[Word]) -> Sequence[float]:
    """Coverage of each entry; a colour without the thing it is asked of covers nothing."""
    whole = coverages(index, words)
    things = [w for w in words if w.stem not in ATTRIBUTES]
    if not things or len(things) == len(words):
        return whole
    return [min(a, b) for a, b in zip(whole, coverages(index, things), strict=True)]


def _carried(
    index: ViewIndex, query: Query, able: Sequence[bool]
) -> tuple[tuple[float, ...], SupportScore]:
    """What a sign or a person said, by what it stood on or who said it alone.

    A text seldom names its carrier: words that the memory holds nowhere are left aside, and where
    none is known at all, nothing supports that this is the sign or person asked about.
    """
    names = stem_set(" ".join(query.name_texts))
    words = [w for w in query.carrier if w.stem not in names]
    # A sign's text seldom says "sign".
    observed_words = [w for w in words if index.anywhere(w)]
    if query.kind == "read" and all(w.stem in STANDS for w in words):
        near = coverages(index, observed_words) if observed_words else [0.0]
        coverage = (
            near if any(c for c, a in zip(near, able, strict=False) if a) else [1.0] * len(able)
        )
    elif observed_words:
        coverage = coverages(index, observed_words)
    elif query.speakers:
        # Speech of nobody known is not what a named person said.
        named = CARRIED if words else 1.0
        coverage = [named if entry.speaker in query.speakers else 0.0 for entry in index.entries]
    else:
        coverage = [0.0 if words else 1.0] * len(able)
    allowed = [
        c if a and not other(entry, query.speakers) else 0.0
        for c, a, entry in zip(coverage, able, index.entries, strict=True)
    ]
    best = max(allowed, default=0.0)
    missing = tuple(w.stem for w in words if w not in observed_words)
    return tuple(allowed), SupportScore(best, best, 1.0, missing)
