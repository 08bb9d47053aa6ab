"""Observations laid out so that a question's words, people and times can be met with them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType

from egomem.memory import View
from egomem.memory.bm25 import idf
from egomem.memory.places import place_of
from egomem.recall import Matches, Query
from egomem.recall.matches import REPLY_S, STRETCH_S
from egomem.recall.speech import said
from egomem.recall.words import ATTRIBUTES, MEDIA_STEMS, Word, stem_set
from egomem.records import Observation
from egomem.timeline import Span

UNKNOWN = 2.0
"""Weight of a word that the memory never holds, in weights of a word that it holds nearly never."""


@dataclass(frozen=True, slots=True)
class IndexedObservation:
    """An observation with its stems, its speaker, and its place on a timeline.

    Two can be put in order where their `timeline` is the same: the wearer's ("", POSIX seconds)
    where the clock is known, else their recording's own, or that of its first chapter.
    """

    observation: Observation
    timeline: str
    span: Span
    stems: frozenset[str]
    speaker: str | None
    question_stems: frozenset[str] = frozenset()
    """Of the question said just before it by somebody else: its answer inherits that."""
    nearby_stems: frozenset[str] = frozenset()
    """Of the recording's name; where a sign or a voice is asked for, of all observed then too."""

    def has(self, word: Word) -> bool:
        return not word.forms.isdisjoint(self.stems)

    def meets(self, word: Word) -> float:
        """How far a word is met: 1 by its own words or by the question that it answers; half where
        a detector names a kind that the word is one of, or where only its surroundings hold it."""
        if self.has(word) or not word.forms.isdisjoint(self.question_stems):
            return 1.0
        if self.observation.source == "object" and not word.broader.isdisjoint(self.stems):
            return 0.5
        return 0.0 if (word.forms | word.broader).isdisjoint(self.nearby_stems) else 0.5

    @property
    def direct(self) -> bool:
        """False for what only restates other observations, as a composed caption does."""
        return not self.observation.provenance.rests_on


@dataclass(frozen=True)
class ViewIndex:
    """What of a view may answer a question, with statistics of all that the view holds.

    `entries` in time order, out of `matches`; `count` and `frequency` (by stem) are of the whole
    view asked over.
    """

    entries: tuple[IndexedObservation, ...]
    matches: Matches
    count: int
    frequency: dict[str, int]

    def entry(self, view: View, observation: Observation) -> IndexedObservation:
        """The entry of an observation, laid out now if recall did not bring it."""
        entries = (e for e in self.entries if e.observation.id == observation.id)
        return next(entries, None) or lay_out([observation], partial(place_of, view))[0]

    def among(self, word: Word) -> int:
        """In how many of the memory's observations a word is met."""
        return min(self.count, sum(self.frequency.get(form, 0) for form in word.forms))

    def anywhere(self, word: Word) -> bool:
        """Whether anything in the scope holds a word, itself or around it."""
        return any(entry.meets(word) for entry in self.entries)

    def weight(self, word: Word) -> float:
        """How much meeting a word tells: its inverse document frequency.

        A word that the memory never holds counts `UNKNOWN` times as much: it is what the question
        asks for and nobody observed.
        """
        frequency = self.among(word)
        # A colour somewhere else is not the colour asked for.
        sought = not frequency or word.stem in ATTRIBUTES
        return idf(self.count, frequency) * (UNKNOWN if sought else 1)


def index_matches(view: View, matches: Matches, query: Query) -> ViewIndex:
    """Lays out matches; `view` is the whole view asked over, whose word statistics count.

    Where a sign or a voice is asked for, what was said or read has around it what else was observed
    then.
    """
    surroundings = bool(query.sources)
    forms = sorted({form for word in matches.holds for form in word.forms})
    names = {r.id: stem_set(r.name.rpartition(".")[0] or r.name) for r in matches.view.recordings()}
    entries = lay_out(
        matches.observations, partial(place_of, view), names, telling=not surroundings
    )
    return ViewIndex(
        tuple(_surrounded(entries)) if surroundings else entries,
        matches,
        view.count(),
        view.document_frequency(forms),
    )


def lay_out(
    observations: Sequence[Observation],
    place: Callable[[Observation], tuple[str, float]],
    names: Mapping[str, frozenset[str]] = MappingProxyType({}),
    telling: bool = True,
) -> tuple[IndexedObservation, ...]:
    """Observations in time order -> the same, with stems, speakers and places on a timeline.

    `names` are the stems of the recordings' names: they lie around all that a recording holds. With
    `telling`, what somebody asks lies around what they say: who asks something does not tell it.
    """
    entries: list[IndexedObservation] = []
    last_said: dict[str, IndexedObservation] = {}
    for o in observations:
        timeline, start = place(o)
        speaker = said(o)[0] or None
        question_stems: frozenset[str] = frozenset()
        before = last_said.get(timeline) if o.source == "speech" else None
        if (
            before
            and before.speaker != speaker
            and "?" in before.observation.text
            and start - before.span.end <= REPLY_S
        ):
            question_stems = stem_set(before.observation.text)
        stems, nearby = stem_set(o.text) | _labels(o), names.get(o.recording or "", frozenset())
        if telling and o.source == "screen_text":
            stems |= MEDIA_STEMS  # a sign seldom says that it is one
        if telling and o.source == "speech" and "?" in o.text:
            stems, nearby = stem_set(_statements(o.text)), nearby | stems
        entry = IndexedObservation(
            o,
            timeline,
            Span(start, start + o.span.length),
            stems,
            speaker,
            question_stems,
            nearby,
        )
        if o.source == "speech":
            last_said[timeline] = entry
        entries.append(entry)
    return tuple(entries)


def _surrounded(entries: Sequence[IndexedObservation]) -> Iterator[IndexedObservation]:
    """What was said or read has around it what else was observed in the same stretches."""
    stems_of: dict[tuple[str, int], set[str]] = {}
    for entry in entries:
        if entry.observation.source not in ("speech", "screen_text"):
            for stretch in _stretches(entry):
                stems_of.setdefault((entry.timeline, stretch), set()).update(entry.stems)
    for entry in entries:
        near = [stems_of.get((entry.timeline, i)) for i in _stretches(entry)] if stems_of else []
        if entry.observation.source in ("speech", "screen_text") and any(near):
            nearby = entry.nearby_stems.union(*(stems for stems in near if stems))
            yield replace(entry, nearby_stems=nearby)
        else:
            yield entry


def _stretches(entry: IndexedObservation) -> range:
    """The numbers of the stretches that an observation overlaps (a day of them at the most)."""
    first = math.floor(entry.span.start / STRETCH_S)
    return range(first, min(first + 8_640, math.floor(entry.span.end / STRETCH_S) + 1))


def _statements(text: str) -> str:
    return " ".join(s for s in re.findall(r"[^.!?]+[.!?]*", text) if "?" not in s)


def _labels(o: Observation) -> frozenset[str]:
    """Stems of names in an observation's data that its text may not spell out."""
    label = o.data.get("label")
    return stem_set(label) if isinstance(label, str) else frozenset()
