"""What a view holds, laid out so that a question's words, people and times can be met with it."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from types import MappingProxyType

from egomem.answer.extractive.words import Word, told
from egomem.memory import View
from egomem.records import Observation
from egomem.text import stems, tokens
from egomem.timeline import Span

UNKNOWN = 2.0
"""Weight of a word that the memory never holds, in weights of a word that it holds nearly never."""

BEST, BESIDE = 20, 120.0
"""Of a long memory: beside how many of the best observations is looked, and how far (seconds)."""

STRETCH = 10.0
"""Seconds. What else was observed within the same stretch lies around what was said or read."""


@dataclass(frozen=True, slots=True)
class IndexedObservation:
    """An observation with its words, its speaker, and its place on a timeline.

    Two can be put in order where their `line` is the same: the wearer's timeline ("", POSIX
    seconds) where the clock is known, else their recording's own.
    """

    observation: Observation
    line: str
    span: Span
    words: frozenset[str]
    speaker: str | None
    asked: frozenset[str] = frozenset()
    """What the question said just before it by somebody else holds: its answer inherits that."""
    around: frozenset[str] = frozenset()
    """What the recording's name holds; where a sign or a voice is asked for, all seen then too."""

    def has(self, word: Word) -> bool:
        return not word.forms.isdisjoint(self.words)

    def meets(self, word: Word) -> float:
        """How far a word is met: 1 by its own words or by the question that it answers; half where
        a detector names a kind that the word is one of, or where only its surroundings hold it."""
        if self.has(word) or not word.forms.isdisjoint(self.asked):
            return 1.0
        if self.observation.source == "object" and not word.broader.isdisjoint(self.words):
            return 0.5
        return 0.0 if (word.forms | word.broader).isdisjoint(self.around) else 0.5

    @property
    def direct(self) -> bool:
        """False for what only restates other observations, as a composed caption does."""
        return not self.observation.provenance.rests_on


@dataclass(frozen=True)
class ViewIndex:
    """`seen` in time order; `count` and `frequency` (by stem) are of the whole view asked over."""

    seen: tuple[IndexedObservation, ...]
    count: int
    frequency: dict[str, int]

    def among(self, word: Word) -> int:
        """In how many of the memory's observations a word is met."""
        return min(self.count, sum(self.frequency.get(form, 0) for form in word.forms))

    def anywhere(self, word: Word) -> bool:
        """Whether anything in the scene holds a word, itself or around it."""
        return any(s.meets(word) for s in self.seen)

    def weight(self, word: Word) -> float:
        """How much meeting a word tells: its inverse document frequency, as Lucene's (in nats).

        A word that the memory never holds counts `UNKNOWN` times as much: it is what the question
        asks for and nobody observed.
        """
        df = self.among(word)
        return math.log1p((self.count - df + 0.5) / (df + 0.5)) * (1 if df else UNKNOWN)

    def people(self) -> dict[str, str]:
        """Stem of each speaker's name (and of its parts) -> the name."""
        names: dict[str, str] = {}
        for name in sorted({s.speaker for s in self.seen if s.speaker}):
            for stem in stems(tokens(name)):
                names.setdefault(stem, name)
        return names


def scene(
    view: View,
    words: Iterable[Word],
    query: str,
    *,
    recording: str | None = None,
    most: int = 20_000,
    surroundings: bool = False,
    at: Span | None = None,
    between: Sequence[tuple[datetime, datetime]] = (),
) -> ViewIndex:
    """Lays out a view, or one recording of it; word statistics stay those of the whole view.

    Of more than `most` observations, those that speak most for the query are laid out, with what
    lies beside the best of them and in the stretches `at` (seconds of a recording) and `between`
    (wall clock). With `surroundings`, what was said or read has around it what else was observed
    then.
    """
    scope = view if recording is None else view.narrow(recordings=[recording])
    held = scope.count()
    count = held if recording is None else view.count()
    frequency = view.document_frequency(sorted({form for word in words for form in word.forms}))
    if held <= most:
        observations = scope.observations()
    else:
        observations = _chosen(scope, query, most, at, between)
    names = {r.id: told(r.name.rpartition(".")[0] or r.name) for r in scope.recordings()}
    laid = lay_out(observations, view.when, names, telling=not surroundings)
    return ViewIndex(tuple(_surrounded(laid)) if surroundings else laid, count, frequency)


def _chosen(
    scope: View,
    query: str,
    most: int,
    at: Span | None,
    between: Sequence[tuple[datetime, datetime]],
) -> list[Observation]:
    """Of a long memory: the best by BM25, what lies beside the best, and what a time points at."""
    found = [hit.observation for hit in scope.search(query, k=most)]
    kept = {o.id for o in found}
    placed = [scope.narrow(between=b) for b in between]
    placed += [scope.narrow(span=at)] if at is not None else []
    for part in placed:
        kept.update(o.id for o in part.observations()[:most])
    for o in found[:BEST]:
        beside = Span(max(0.0, o.span.start - BESIDE), o.span.end + BESIDE)
        if o.recording is not None:
            kept.update(n.id for n in scope.observations(recording=o.recording, span=beside))
    return scope.observations(ids=sorted(kept))


def lay_out(
    observations: Sequence[Observation],
    when: Callable[[Observation], datetime | None],
    names: Mapping[str, frozenset[str]] = MappingProxyType({}),
    telling: bool = True,
) -> tuple[IndexedObservation, ...]:
    """Observations in time order -> the same, with words, speakers and places on a timeline.

    `names` are the words of the recordings' names: they lie around all that a recording holds. With
    `telling`, what somebody asks lies around what they say: who asks something does not tell it.
    """
    laid: list[IndexedObservation] = []
    last: dict[str, IndexedObservation] = {}
    for o in observations:
        instant = when(o)
        at = instant.timestamp() if instant else o.span.start
        line = "" if instant else o.recording or f"days of {o.wearer}"
        speaker = _speaker(o)
        asked: frozenset[str] = frozenset()
        before = last.get(line) if o.source == "speech" else None
        if before and before.speaker != speaker and "?" in before.observation.text:
            asked = told(before.observation.text)
        words, around = told(o.text) | _labels(o), names.get(o.recording or "", frozenset())
        if telling and o.source == "speech" and "?" in o.text:
            words, around = told(_statements(o.text)), around | words
        seen = IndexedObservation(
            o, line, Span(at, at + o.span.length), words, speaker, asked, around
        )
        if o.source == "speech":
            last[line] = seen
        laid.append(seen)
    return tuple(laid)


def _surrounded(laid: Sequence[IndexedObservation]) -> Iterator[IndexedObservation]:
    """What was said or read has around it what else was observed in the same stretches."""
    held: dict[tuple[str, int], set[str]] = {}
    for s in laid:
        if s.observation.source not in ("speech", "screen_text"):
            for stretch in _stretches(s):
                held.setdefault((s.line, stretch), set()).update(s.words)
    for s in laid:
        near = [held.get((s.line, i)) for i in _stretches(s)] if held else []
        if s.observation.source in ("speech", "screen_text") and any(near):
            yield replace(s, around=s.around.union(*(n for n in near if n)))
        else:
            yield s


def _stretches(seen: IndexedObservation) -> range:
    """The numbers of the stretches that an observation overlaps (a day of them at the most)."""
    first = math.floor(seen.span.start / STRETCH)
    return range(first, min(first + 8_640, math.floor(seen.span.end / STRETCH) + 1))


def _statements(text: str) -> str:
    return " ".join(s for s in re.findall(r"[^.!?]+[.!?]*", text) if "?" not in s)


def _speaker(o: Observation) -> str | None:
    speaker = o.data.get("speaker")
    return speaker if isinstance(speaker, str) and speaker else None


def _labels(o: Observation) -> frozenset[str]:
    """Names in an observation's data that its text may not spell out."""
    label = o.data.get("label")
    return told(label) if isinstance(label, str) else frozenset()
