"""The observations that may answer a question: every one that holds its words, and what lies where
it points in time.

A search ranks moments; this is for answers that count, order or compare, and need all of them. It
follows from what the view holds alone, so the past stays exact.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from egomem.memory import View
from egomem.memory.bm25 import idf
from egomem.recall.local_times import spans_by_line
from egomem.recall.query import PART_PLACES, Part, Query, Relation
from egomem.recall.words import Word, stem_set, words_of
from egomem.records import Observation, Source
from egomem.timeline import Span

if TYPE_CHECKING:
    from egomem.timeline import TimeMention

Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]

REPLY_S = 120.0
"""Seconds within which a line of speech answers the question before it."""
STRETCH_S = 10.0
"""Seconds. What else was observed within the same stretch lies around what was said or read."""
AROUND_S = 60.0
"""Seconds beside a wall-clock time that are looked at where nothing was observed in it."""
_EACH_OPTION = 200
"""Where options match more than is read: observations of each that are."""


@dataclass(frozen=True, eq=False)
class Matches:
    """Observations in time order, and what tells how many more there are.

    `holds[word]` flags which of the view's `columns` hold a form of a word; `matching` counts those
    that hold one of the question's own words. `cut`: more matched, or lay where the question
    points, than were read.
    """

    view: View
    observations: tuple[Observation, ...]
    holds: dict[Word, Flags]
    matching: int
    cut: bool

    def with_also(self, more: Iterable[Observation]) -> Matches:
        """These and some more observations."""
        both = self.view.in_time_order([*self.observations, *more])
        return replace(self, observations=tuple(both))

    def any_of(self, words: Iterable[Word]) -> Flags:
        """Which of the columns hold any of some words."""
        return _any(self.holds, words, len(self.view.columns))

    def part_weights(self, part: Part, width: float) -> Floats:
        """Of each column: 1 at a part of its recording, falling off by `width` of its length."""
        weights: Floats = np.exp(-_from_part(self.view, part) / width)
        return weights

    def observed(self, sources: Iterable[Source] = (), bounds: Sequence[TimeMention] = ()) -> bool:
        """Whether the view holds anything of some sources, and at some times of the wall clock."""
        columns = self.view.columns
        flags = np.ones(len(columns), dtype=bool)
        if source_names := list(sources):
            flags &= np.isin(columns.sources, source_names)
        if bounds:
            flags &= _within(self.view, bounds, 0.0)
        return bool(flags.any())


def matches(
    view: View, query: Query, *, most: int, slack: float, part_width: float = 0.25
) -> Matches:
    """What of a view may answer a question; at most about `most` observations are read.

    Of more, those that hold most of the question's words (by rarity), then the earliest (for "last"
    the latest). Where the question has no words, what lies where it points: at its times (`slack`
    seconds around a point of a recording), in its part of a recording (`part_width` of it), of its
    source; else everything, from both ends.
    """
    columns = view.columns
    asked, options = _words_of(query)
    every = list(dict.fromkeys([*asked, *(word for words in options for word in words)]))
    flags = view.holding([*(word.forms for word in every), *(word.broader for word in asked)])
    holds = dict(zip(every, flags, strict=False))
    objects = columns.sources == "object"
    score = np.zeros(len(columns))
    for word, kinds in zip(asked, flags[len(every) :], strict=True):
        weight = idf(len(columns), int(holds[word].sum()))
        # A detector knows 80 kinds: its "person" may be the woman asked for, and counts half. A
        # caption that says "person" chose that word.
        score += weight * np.maximum(holds[word], 0.5 * (kinds & objects))
    chosen = score > 0
    matching = int(chosen.sum())
    for words in options:
        chosen |= _any(holds, words, len(columns))
    latest = query.order == "last"
    cut = int(chosen.sum()) > most
    if cut:
        # Words of options must not crowd out the question's own, so they get a share of their own
        # below.
        chosen = _first(view, score > 0, most, score=score, latest=latest)
        for words in options:
            mine = sum((_weighed(holds[word]) for word in words), np.zeros(len(columns)))
            chosen |= _first(view, mine > 0, _EACH_OPTION, score=mine, latest=latest)
    pointed = _pointed_at(view, query, asked, slack, part_width)
    if int(pointed.sum()) > most:
        cut = True
        # "First" and "last" lie at the ends.
        ends = (_first(view, pointed, most // 2, latest=late) for late in (False, True))
        pointed = np.logical_or(*ends)
    chosen |= pointed
    if query.at is not None and len(columns):
        # A caption may lie a few seconds beside a time that the question names.
        chosen[int(np.argmin(_away(view, query.at)))] = True
    read = view.read(columns.rows[chosen].tolist())
    more = _replies(view, read)
    if query.sources:
        more += _surrounded(view, read, asked)
    return Matches(view, tuple(view.in_time_order([*read, *more])), holds, matching, cut)


def beside(
    view: View,
    span: Span,
    relation: Relation,
    *,
    recording: str | None,
    sources: Sequence[Source] = (),
    among: Flags | None = None,
    within: float = np.inf,
    count: int = 64,
) -> list[Observation]:
    """The observations that lie nearest after, before or in a span, in time order.

    The span is in seconds of a recording, or POSIX seconds where `recording` is None: then of
    everything whose clock is known. `sources`, `among` (flags of the view's columns) and `within`
    (seconds) limit which.
    """
    columns = view.columns
    if recording is None:
        here, zeros = ~np.isnan(columns.zeros), np.nan_to_num(columns.zeros)
    else:
        catalog = view.filter.catalog
        here = columns.lines == catalog.numbers[catalog.positions[recording]]
        zeros = np.zeros(len(columns))
    starts, ends = columns.starts + zeros, columns.ends + zeros
    if relation == "after":
        gap = np.where(ends > span.end, np.maximum(0.0, starts - span.end), np.inf)
    elif relation == "before":
        gap = np.where(starts < span.start, np.maximum(0.0, span.start - ends), np.inf)
    else:
        gap = np.where((starts < span.end) & (span.start < ends), 0.0, np.inf)
    here &= np.isfinite(gap) & (gap <= within)
    if sources:
        here &= np.isin(columns.sources, list(sources))
    if among is not None:
        here &= among
    places = columns.first(here, count, score=-gap)
    return view.read(columns.rows[places].tolist())


def _words_of(query: Query) -> tuple[list[Word], list[tuple[Word, ...]]]:
    """The question's own words, each once, and those of each option."""
    items = (word for item in query.items for word in words_of(item))
    asked = (*query.words, *query.anchor_words, *query.carrier, *query.caption_words, *items)
    return list(dict.fromkeys(asked)), [words_of(option) for option in query.options]


def _any(holds: dict[Word, Flags], words: Iterable[Word], size: int) -> Flags:
    flags = np.zeros(size, dtype=bool)
    for word in words:
        flags |= holds[word]
    return flags


def _weighed(flags: Flags) -> Floats:
    return np.where(flags, idf(len(flags), int(flags.sum())), 0.0)


def _first(
    view: View, among: Flags, count: int, *, score: Floats | None = None, latest: bool = False
) -> Flags:
    chosen = np.zeros(len(among), dtype=bool)
    chosen[view.columns.first(among, count, score=score, latest=latest)] = True
    return chosen


def _pointed_at(
    view: View, query: Query, asked: Sequence[Word], slack: float, part_width: float
) -> Flags:
    """What is looked at whatever it says: where the question points, if it gives no words."""
    columns = view.columns
    nothing = np.zeros(len(columns), dtype=bool)
    near = nothing
    if query.at is not None:
        around = Span(max(0.0, query.at - slack), query.at + slack)
        near = _overlapping(columns.starts, columns.ends, around)
    named = nothing
    for recording in view.recordings():
        stems = stem_set(recording.name.rpartition(".")[0] or recording.name)
        if any(not word.forms.isdisjoint(stems) for word in asked):
            catalog = view.filter.catalog
            named = named | (columns.lines == catalog.numbers[catalog.positions[recording.id]])
    # A question with words is answered by what holds them; reading all of its hour beside would
    # drown it.
    if query.words or (query.anchor_words and query.relation) or query.items:
        return near | named
    region = near if query.at is not None else ~nothing
    if bounds := [t for t in query.times if t.instants is not None]:
        inside = _within(view, bounds, 0.0)
        region = region & (inside if inside.any() else _within(view, bounds, AROUND_S))
    if query.part:
        region = region & (_from_part(view, query.part) <= 1.03 * part_width)
    if query.sources and bool(np.isin(columns.sources, query.sources).any()):
        region = region & np.isin(columns.sources, query.sources)
    return region | named


def _overlapping(starts: Floats, ends: Floats, span: Span) -> Flags:
    return np.asarray((starts <= span.end) & (ends >= span.start), dtype=bool)


def _within(view: View, bounds: Sequence[TimeMention], margin: float) -> Flags:
    """What overlaps some times of the wall clock, or lies at most `margin` seconds beside."""
    columns = view.columns
    starts, ends = columns.zeros + columns.starts, columns.zeros + columns.ends
    flags = np.zeros(len(columns), dtype=bool)
    for mention in bounds:
        lows, highs = spans_by_line(view, mention)
        low, high = lows[columns.lines] - margin, highs[columns.lines] + margin
        with np.errstate(invalid="ignore"):  # an unknown clock is NaN, and in no stretch
            flags |= (starts <= high) & (ends >= low)
    return flags


def _from_part(view: View, part: Part) -> Floats:
    """How far each observation's middle lies from a part of its recording, as a share of that."""
    columns, catalog = view.columns, view.filter.catalog
    lengths = np.full(int(catalog.numbers.max(initial=0)) + 1, np.inf)
    for r in view.recordings():
        lengths[catalog.numbers[catalog.positions[r.id]]] = max(r.duration, 1e-9)
    place = (columns.starts + columns.ends) / 2 / lengths[columns.lines]
    distances: Floats = np.abs(place - PART_PLACES[part])
    return distances


def _away(view: View, at: float) -> Floats:
    """Seconds between a time of a recording and each observation; 0 inside it."""
    columns = view.columns
    return np.maximum(0.0, np.maximum(columns.starts - at, at - columns.ends))


def _replies(view: View, read: Iterable[Observation]) -> list[Observation]:
    """The speech that follows what asks something: an answer inherits the words of its question."""
    # "Where is the key?" holds the words of the question and "Under the pot" holds the answer.
    asks = [o for o in read if o.source == "speech" and "?" in o.text and o.recording is not None]
    if not asks:
        return []
    after = [(o.recording, Span(o.span.end, o.span.end + REPLY_S)) for o in asks if o.recording]
    spoken = view.narrow(sources=["speech"]).stretches(_joined(after))
    starts: dict[str | None, list[Observation]] = {}
    for o in spoken:
        starts.setdefault(o.recording, []).append(o)
    replies = []
    for o in asks:
        later = (s for s in starts.get(o.recording, ()) if s.span.start >= o.span.start and s != o)
        if (reply := next(later, None)) is not None:
            replies.append(reply)
    return replies


def _surrounded(
    view: View, read: Iterable[Observation], asked: Sequence[Word]
) -> list[Observation]:
    """What was said or read while something was observed that holds a word of the question."""
    forms = frozenset(form for word in asked for form in word.forms)
    spans = []
    for o in read:
        if o.recording is None or o.source in ("speech", "screen_text"):
            continue
        if not forms.isdisjoint(stem_set(o.text)):
            # Whole stretches, so that the same ones come up whatever observation names them.
            start = o.span.start // STRETCH_S * STRETCH_S
            end = (o.span.end // STRETCH_S + 1) * STRETCH_S
            spans.append((o.recording, Span(start, end)))
    return view.narrow(sources=["speech", "screen_text"]).stretches(_joined(spans))


def _joined(spans: Iterable[tuple[str, Span]]) -> list[tuple[str, Span]]:
    """Spans of recordings, with those that touch made one."""
    joined: list[tuple[str, Span]] = []
    for recording, span in sorted(spans):
        if joined and joined[-1][0] == recording and span.start <= joined[-1][1].end:
            _, last = joined.pop()
            span = Span(last.start, max(last.end, span.end))
        joined.append((recording, span))
    return joined
