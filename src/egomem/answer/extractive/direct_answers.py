"""Direct answers out of spans and sources: when, how long, how many, in which order, what was said.

Each function gives a line and the observations that it rests on, or None where the memory does not
hold what that kind of answer needs; the reader then quotes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from egomem.answer.extractive.anchors import Anchor, gaps
from egomem.answer.extractive.question import ParsedQuestion
from egomem.answer.extractive.spans import Episode, Writer, episodes, seconds_text
from egomem.answer.extractive.support import coverages
from egomem.answer.extractive.view_index import IndexedObservation, ViewIndex
from egomem.answer.extractive.words import NUMBERS, Word, thing_words_of
from egomem.text import stems, tokens

DETECTED_GAP = 0.5
"""Seconds. A detector says itself when a thing is gone, so its episodes hardly need merging."""


@dataclass(frozen=True)
class DirectAnswer:
    """A line for a person and the observations that it rests on, best first."""

    line: str
    seen: tuple[IndexedObservation, ...]


@dataclass(frozen=True)
class Case:
    """What a direct answer is made from.

    `coverage` is of the question's words, one value an observation of the scene; `best` those that
    hold most of them, in time order, `strongest` the same, best first; `gap` the seconds below
    which two are one episode.
    """

    scene: ViewIndex
    ask: ParsedQuestion
    coverage: Sequence[float]
    best: tuple[IndexedObservation, ...]
    strongest: tuple[IndexedObservation, ...]
    anchor: Anchor | None
    writer: Writer
    gap: float
    quotes: int


def tell(case: Case) -> DirectAnswer | None:
    """The direct answer that the question's kind asks for."""
    if case.ask.kind == "order":
        return in_order(case.scene, case.ask.items, case.ask.text, case.writer, case.gap)
    if case.ask.relation in ("before", "after") and case.anchor is not None:
        return beside(case)
    made: Callable[[Case], DirectAnswer | None] | None = _BY_KIND.get(case.ask.kind)
    return made(case) if made else quoted(case)


def when(case: Case) -> DirectAnswer | None:
    """The time of the first, the last, or each episode; of its end where something leaves."""
    changes = _changes(case.best, "leaves" if case.ask.leaving else "appears")
    if case.ask.leaving and changes:
        chosen = _chosen(case.ask, changes)
        times = ", ".join(case.writer.point(s, s.observation.span.end) for s in chosen)
        return DirectAnswer(f"At {times}: {_quote(chosen[0])}", tuple(chosen))
    found = _episodes(case)
    if not found:
        return None
    if case.ask.which:
        found = [found[0] if case.ask.which == "first" else found[-1]]
    edge = (lambda e: e.shown.end) if case.ask.leaving else None
    shown = found[: case.quotes]
    times = "; ".join(
        case.writer.point(e.seen[0], edge(e)) if edge else case.writer.span(e.seen[0], e.shown)
        for e in shown
    )
    more = f"; and {len(found) - len(shown)} more times" if len(found) > len(shown) else ""
    word = "Last seen at" if edge else "At"
    return DirectAnswer(f"{word} {times}{more}: {_quote(shown[0].seen[0])}", _first_seen(found))


def how_long(case: Case) -> DirectAnswer | None:
    """The length of the episode, or of all of them together."""
    found = _episodes(case)
    if not found:
        return None
    if case.ask.which:
        found = [found[0] if case.ask.which == "first" else found[-1]]
    total = sum(e.span.length for e in found)
    where = "; ".join(case.writer.span(e.seen[0], e.shown) for e in found[: case.quotes])
    line = f"About {seconds_text(total)}"
    line += f" in {len(found)} stretches" if len(found) > 1 else ""
    return DirectAnswer(f"{line}: {where}", _first_seen(found))


def times(case: Case) -> DirectAnswer | None:
    """The number of separate episodes."""
    events = _changes(case.best, "leaves") if case.ask.leaving else []
    found = [Episode(s.line, s.span, (s,)) for s in events] or _episodes(case)
    if not found:
        return None
    count = "once" if len(found) == 1 else "twice" if len(found) == 2 else f"{len(found)} times"
    where = "; ".join(case.writer.span(e.seen[0], e.shown) for e in found[: case.quotes])
    more = "; ..." if len(found) > case.quotes else ""
    return DirectAnswer(f"Observed {count}: {where}{more}", _first_seen(found))


def count(case: Case) -> DirectAnswer | None:
    """The most that were seen at once, from object data; else a number said of the thing."""
    best: tuple[int, IndexedObservation] | None = None
    for s in case.best:
        number = _count_in_data(s) if s.observation.source == "object" else None
        if number is None and s.observation.source != "object":
            number = _count_in_text(s, case.ask.words)
        if number is not None and (best is None or number > best[0]):
            best = (number, s)
    if best is None:
        return None
    number, s = best
    most = " at most at once" if s.observation.source == "object" else ""
    return DirectAnswer(f"{number}{most}, {case.writer.span(s)}: {_quote(s)}", (s,))


def who(case: Case) -> DirectAnswer | None:
    for s in case.best:
        if s.speaker and s.observation.source == "speech":
            return DirectAnswer(f"{s.speaker}, {case.writer.span(s)}: {_quote(s)}", (s,))
    return quoted(case)


def quoted(case: Case) -> DirectAnswer | None:
    """The observations themselves, in time order, with their times."""
    if not case.best:
        return None
    if case.ask.which:
        shown = [case.best[0] if case.ask.which == "first" else case.best[-1]]
    else:
        shown = sorted(_unique(case.strongest)[: case.quotes], key=lambda s: s.span.start)
    parts = [f"{_quote(s)} ({case.writer.span(s)})" for s in shown]
    return DirectAnswer("; ".join(parts), tuple(shown))


def whether(case: Case) -> DirectAnswer | None:
    said = quoted(case)
    return said and DirectAnswer(f"Yes, as far as was observed: {said.line}", said.seen)


def beside(case: Case) -> DirectAnswer | None:
    """What comes next after the anchor, or came last before it, by the gap between spans."""
    assert case.anchor is not None
    assert case.ask.relation is not None
    gap = gaps(case.scene, case.anchor, case.ask.relation)
    wanted = case.ask.sources
    around = [
        (-case.coverage[i], gap[i], s)
        for i, s in enumerate(case.scene.seen)
        if math.isfinite(gap[i]) and (not wanted or s.observation.source in wanted) and s.direct
    ]
    if not around:
        return None
    if case.ask.words and min(c for c, _, _ in around) < 0:
        low = min(c for c, _, _ in around)
        around = [entry for entry in around if entry[0] <= low * 0.8]
    around.sort(key=lambda entry: entry[1])
    s = around[0][2]
    edge = (
        f"{_quote(case.anchor.seen)} ({case.writer.span(case.anchor.seen)})"
        if case.anchor.seen
        else "that time"
    )
    seen = (s, case.anchor.seen) if case.anchor.seen else (s,)
    return DirectAnswer(f"{_quote(s)} ({case.writer.span(s)}), {case.ask.relation} {edge}", seen)


def in_order(
    scene: ViewIndex, items: Sequence[str], text: str, writer: Writer, gap: float
) -> DirectAnswer | None:
    """The things asked for, by their first episode; None unless all are found on one time line.

    "Did X come before Y" is true where some X did; that Y came before X as well is said.
    """
    found = [episodes(_holding(scene, thing_words_of(item)), gap) for item in items]
    if not all(found) or len({e.line for es in found for e in es}) != 1:
        return None
    ordered = sorted(zip(found, items, strict=True), key=lambda entry: entry[0][0].span.start)
    line = ", then ".join(
        f"“{item}” ({writer.point(es[0].seen[0], es[0].shown.start)})" for es, item in ordered
    )
    seen = _first_seen([es[0] for es, _ in ordered])
    asked = re.match(r"\s*(did|was|were|is|does)\b.*\b(before|after)\b", text.lower())
    if asked is None or len(found) != 2:
        return DirectAnswer(line, seen)
    early, late = found if asked.group(2) == "before" else found[::-1]
    if early[0].span.start < late[0].span.start:
        return DirectAnswer(f"Yes: {line}", seen)
    if early[0].span.start < late[-1].span.start:
        again = writer.point(late[-1].seen[0], late[-1].shown.start)
        return DirectAnswer(f"Yes, and the other way round: {line}, and again {again}", seen)
    return DirectAnswer(f"No: {line}", seen)


_BY_KIND: dict[str, Callable[[Case], DirectAnswer | None]] = {
    "when": when,
    "how_long": how_long,
    "times": times,
    "count": count,
    "who": who,
    "whether": whether,
}


# --------------------------------------------------------------------------------- small parts


def primary(seen: Sequence[IndexedObservation]) -> list[IndexedObservation]:
    """Without what only restates others of them: a composed caption rests on what it is made of."""
    return [s for s in seen if s.direct] or list(seen)


def _holding(scene: ViewIndex, words: Sequence[Word]) -> list[IndexedObservation]:
    held = [(c, s) for c, s in zip(coverages(scene, words), scene.seen, strict=True) if c >= 0.5]
    held = [(c, s) for c, s in held if s.direct] or held
    top = max((c for c, _ in held), default=0.0)
    return [s for c, s in held if c >= top - 1e-9]


def _episodes(case: Case) -> list[Episode]:
    """Episodes of presence: a change of number inside one is not an episode of its own."""
    there = [s for s in case.best if "event" not in s.observation.data]
    found = there or case.best
    exact = all(s.observation.source == "object" for s in found)
    return episodes(found, min(case.gap, DETECTED_GAP) if exact else case.gap)


def _changes(seen: Sequence[IndexedObservation], event: str) -> list[IndexedObservation]:
    return [s for s in seen if s.observation.data.get("event") == event]


def _chosen(ask: ParsedQuestion, seen: list[IndexedObservation]) -> list[IndexedObservation]:
    return seen[:1] if ask.which == "first" else seen[-1:] if ask.which == "last" else seen


def _first_seen(found: Sequence[Episode]) -> tuple[IndexedObservation, ...]:
    return tuple(e.seen[0] for e in found)


def _count_in_data(seen: IndexedObservation) -> int | None:
    value = seen.observation.data.get("max_count")
    return value if isinstance(value, int) else None


def _count_in_text(seen: IndexedObservation, words: Sequence[Word]) -> int | None:
    """A number at most two words before one of the words: "two red bottles"."""
    said = tokens(seen.observation.text)
    stemmed = stems(said)
    for i, token in enumerate(said):
        number = int(token) if token.isdecimal() and len(token) < 7 else NUMBERS.get(token)
        if number is not None and any(
            not word.forms.isdisjoint(stemmed[i + 1 : i + 4]) for word in words
        ):
            return number
    return None


def _unique(seen: Sequence[IndexedObservation]) -> list[IndexedObservation]:
    return list({(s.observation.text, s.observation.span): s for s in seen}.values())


def _quote(seen: IndexedObservation) -> str:
    text = " ".join(seen.observation.text.split())
    return f"“{text if len(text) <= 240 else text[:239] + '…'}”"
