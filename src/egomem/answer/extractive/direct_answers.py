"""Direct answers out of spans and sources: when, how long, how many, in which order, what was said.

Each function gives a line and the observations that it rests on, or None where the memory does not
hold what that kind of answer needs; the reader then quotes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence

from egomem.answer.extractive.anchors import LocatedAnchor, gaps
from egomem.answer.extractive.answer_parts import (
    AnswerParts,
    DirectAnswer,
    quote,
    unique,
)
from egomem.answer.extractive.latest_place import latest_place
from egomem.answer.extractive.spans import (
    Episode,
    Event,
    Writer,
    episodes,
    events,
    seconds_text,
)
from egomem.answer.extractive.support import coverages
from egomem.answer.extractive.view_index import IndexedObservation, ViewIndex
from egomem.answer.extractive.yes_no import ago, as_observed, whether
from egomem.recall import is_ago
from egomem.recall.words import NUMBERS, Word, thing_words_of
from egomem.text import stems, tokens

DETECTED_GAP = 0.5
"""Seconds. A detector says itself when a thing is gone, so its episodes hardly need merging."""


def direct_answer(parts: AnswerParts) -> DirectAnswer | None:
    """The direct answer that the question's kind asks for."""
    query = parts.query
    if query.kind in ("when", "times", "how_long"):
        parts = as_observed(parts)
    if is_ago(query.text):
        return ago(parts)
    if query.kind == "order":
        return in_order(parts.index, query.items, query.text, parts.writer, parts.gap)
    if query.relation in ("before", "after") and parts.anchor is not None:
        return beside(parts, parts.anchor)
    if query.latest_place and (place := latest_place(parts)):
        return place
    by_kind = _BY_KIND.get(query.kind)
    return by_kind(parts) if by_kind else quoted(parts)


def when(parts: AnswerParts) -> DirectAnswer | None:
    """The time of the first, the last, or each episode; of its end where something leaves."""
    query, writer = parts.query, parts.writer
    changes = _changes(parts.best, "leaves" if query.leaving else "appears")
    # A detector's own "leaves" is exact; the end of an episode of captions is the end of a window.
    if query.leaving and changes:
        if query.order:
            changes = changes[:1] if query.order == "first" else changes[-1:]
        ends = ", ".join(writer.point(e, e.observation.span.end) for e in changes)
        return DirectAnswer(f"At {ends}: {quote(changes[0])}", tuple(changes))
    stretches = _asked_episodes(parts)
    if not stretches:
        return None
    listed = stretches[: parts.quotes]
    moments = "; ".join(
        writer.point(e.first, e.recording_span.end)
        if query.leaving
        else writer.span(e.first, e.recording_span)
        for e in listed
    )
    more = len(stretches) - len(listed)
    tail = f"; and {more} more times" if more else ""
    word = "Last seen at" if query.leaving else "At"
    return DirectAnswer(f"{word} {moments}{tail}: {quote(listed[0].first)}", _firsts(stretches))


def how_long(parts: AnswerParts) -> DirectAnswer | None:
    """The length of the episode, or of all of them together."""
    stretches = _asked_episodes(parts)
    if not stretches:
        return None
    happened = _events(parts, stretches)
    total = sum(event.span.length for event in happened)
    line = f"About {seconds_text(total)}"
    line += f" in {len(happened)} stretches" if len(happened) > 1 else ""
    return DirectAnswer(f"{line}: {_where(parts, happened)}", _firsts(stretches))


def times(parts: AnswerParts) -> DirectAnswer | None:
    """The number of separate episodes."""
    events = _changes(parts.best, "leaves") if parts.query.leaving else []
    # Each leaving counts, also two within what would be one episode.
    stretches = [Episode(e.timeline, e.span, (e,)) for e in events] or _episodes(parts)
    if not stretches:
        return None
    happened = _events(parts, stretches)
    number = len(happened)
    count = "once" if number == 1 else "twice" if number == 2 else f"{number} times"
    more = "; ..." if number > parts.quotes else ""
    return DirectAnswer(f"Observed {count}: {_where(parts, happened)}{more}", _firsts(stretches))


def count(parts: AnswerParts) -> DirectAnswer | None:
    """The most that were seen at once, from object data; else a number said of the thing."""
    most: tuple[int, IndexedObservation] | None = None
    for entry in parts.best:
        if entry.observation.source == "object":
            number = _count_in_data(entry)
        else:
            number = _count_in_text(entry, parts.query.words)
        # The most at once is a lower bound of how many there are; a sum would count a thing again
        # in each look.
        if number is not None and (most is None or number > most[0]):
            most = (number, entry)
    if most is None:
        return None
    number, entry = most
    at_once = " at most at once" if entry.observation.source == "object" else ""
    line = f"{number}{at_once}, {parts.writer.span(entry)}: {quote(entry)}"
    return DirectAnswer(line, (entry,))


def who(parts: AnswerParts) -> DirectAnswer | None:
    for entry in parts.best:
        if entry.speaker and entry.observation.source == "speech":
            line = f"{entry.speaker}, {parts.writer.span(entry)}: {quote(entry)}"
            return DirectAnswer(line, (entry,))
    return quoted(parts)


def quoted(parts: AnswerParts) -> DirectAnswer | None:
    """The observations themselves, in time order, with their times."""
    if not parts.best:
        return None
    if parts.query.order:
        entries = [parts.best[0] if parts.query.order == "first" else parts.best[-1]]
    else:
        entries = sorted(unique(parts.strongest)[: parts.quotes], key=lambda e: e.span.start)
    quotes = [f"{quote(entry)} ({parts.writer.span(entry)})" for entry in entries]
    return DirectAnswer("; ".join(quotes), tuple(entries))


def beside(parts: AnswerParts, anchor: LocatedAnchor) -> DirectAnswer | None:
    """What comes next after the anchor, or came last before it, by the gap between spans."""
    query, writer = parts.query, parts.writer
    assert query.relation is not None
    distances = gaps(parts.index, anchor, query.relation)
    around = [
        (parts.coverage[i], distances[i], entry)
        for i, entry in enumerate(parts.index.entries)
        if math.isfinite(distances[i])
        and entry.direct
        and (not query.sources or entry.observation.source in query.sources)
    ]
    top = max((c for c, _, _ in around), default=0.0)
    if query.words and top > 0:
        # Of what matches, the nearest; of all that is near, the nearest would be any caption.
        around = [candidate for candidate in around if candidate[0] >= top * 0.8]
    if not around:
        return None
    _, _, nearest = min(around, key=lambda candidate: candidate[1])
    event = "that time"
    entries: tuple[IndexedObservation, ...] = (nearest,)
    if anchor.entry:
        event = f"{quote(anchor.entry)} ({writer.span(anchor.entry)})"
        entries = (nearest, anchor.entry)
    line = f"{quote(nearest)} ({writer.span(nearest)}), {query.relation} {event}"
    return DirectAnswer(line, entries)


def in_order(
    index: ViewIndex, items: Sequence[str], text: str, writer: Writer, gap: float
) -> DirectAnswer | None:
    """The things asked for, by their first episode; None unless all are found on one timeline.

    "Did X come before Y" is true where some X did; that Y came before X as well is said.
    """
    by_item = [episodes(_holding(index, thing_words_of(item)), gap) for item in items]
    # An order of things of which one was never seen would be made up.
    if not all(by_item) or len({e.timeline for es in by_item for e in es}) != 1:
        return None
    ordered = sorted(zip(by_item, items, strict=True), key=lambda pair: pair[0][0].span.start)
    line = ", then ".join(
        f"“{item}” ({writer.point(es[0].first, es[0].recording_span.start)})"
        for es, item in ordered
    )
    entries = _firsts([es[0] for es, _ in ordered])
    yes_or_no = re.match(r"\s*(did|was|were|is|does)\b.*\b(before|after)\b", text.lower())
    if yes_or_no is None or len(by_item) != 2:
        return DirectAnswer(line, entries)
    early, late = by_item if yes_or_no.group(2) == "before" else by_item[::-1]
    if early[0].span.start < late[0].span.start:
        return DirectAnswer(f"Yes: {line}", entries)
    # "Did X come before Y" is true of some X and some Y, and so is its opposite: both are said.
    if early[0].span.start < late[-1].span.start:
        again = writer.point(late[-1].first, late[-1].recording_span.start)
        return DirectAnswer(f"Yes, and the other way round: {line}, and again {again}", entries)
    return DirectAnswer(f"No: {line}", entries)


_BY_KIND: dict[str, Callable[[AnswerParts], DirectAnswer | None]] = {
    "when": when,
    "how_long": how_long,
    "times": times,
    "count": count,
    "who": who,
    "whether": whether,
}


# --------------------------------------------------------------------------------- small parts


def _holding(index: ViewIndex, words: Sequence[Word]) -> list[IndexedObservation]:
    coverage = coverages(index, words)
    holding = [(c, e) for c, e in zip(coverage, index.entries, strict=True) if c >= 0.5]
    holding = [(c, e) for c, e in holding if e.direct] or holding
    top = max((c for c, _ in holding), default=0.0)
    return [e for c, e in holding if c >= top - 1e-9]


def _episodes(parts: AnswerParts) -> list[Episode]:
    """Episodes of presence: a change of number inside one is not an episode of its own."""
    # "A bus leaves" is a moment; presence is told by the others.
    present = [e for e in parts.best if "event" not in e.observation.data]
    entries = present or parts.best
    exact = all(e.observation.source == "object" for e in entries)
    return episodes(entries, min(parts.gap, DETECTED_GAP) if exact else parts.gap)


def _asked_episodes(parts: AnswerParts) -> list[Episode]:
    """All episodes, or the first or last one where the question asks for that."""
    stretches = _episodes(parts)
    if parts.query.order and stretches:
        return [stretches[0] if parts.query.order == "first" else stretches[-1]]
    return stretches


def _events(parts: AnswerParts, stretches: Sequence[Episode]) -> list[Event]:
    """What happened: several cameras, or chapters, may have recorded one event."""
    exact = all(e.observation.source == "object" for episode in stretches for e in episode.entries)
    return events(stretches, min(parts.gap, DETECTED_GAP) if exact else parts.gap)


def _where(parts: AnswerParts, happened: Sequence[Event]) -> str:
    return "; ".join(
        " = ".join(parts.writer.span(view.first, view.recording_span) for view in event.views)
        for event in happened[: parts.quotes]
    )


def _changes(entries: Sequence[IndexedObservation], event: str) -> list[IndexedObservation]:
    return [entry for entry in entries if entry.observation.data.get("event") == event]


def _firsts(stretches: Sequence[Episode]) -> tuple[IndexedObservation, ...]:
    return tuple(episode.first for episode in stretches)


def _count_in_data(entry: IndexedObservation) -> int | None:
    value = entry.observation.data.get("max_count")
    return value if isinstance(value, int) else None


def _count_in_text(entry: IndexedObservation, words: Sequence[Word]) -> int | None:
    """A number at most two words before one of the words: "two red bottles"."""
    text = tokens(entry.observation.text)
    stemmed = stems(text)
    for i, token in enumerate(text):
        # Longer digits are telephone numbers and codes.
        number = int(token) if token.isdecimal() and len(token) < 7 else NUMBERS.get(token)
        if number is not None and any(
            not word.forms.isdisjoint(stemmed[i + 1 : i + 4]) for word in words
        ):
            return number
    return None
