"""What direct answers are made from, and what they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from egomem.answer.extractive.anchors import LocatedAnchor
from egomem.answer.extractive.spans import Writer
from egomem.answer.extractive.view_index import IndexedObservation, ViewIndex
from egomem.recall import Query


@dataclass(frozen=True)
class DirectAnswer:
    """A line for a person and the observations that it rests on, best first."""

    line: str
    entries: tuple[IndexedObservation, ...]
    sureness: float = 1.0
    """What the support is worth: less where the line only quotes what lies near."""


@dataclass(frozen=True)
class AnswerParts:
    """What a direct answer is made from.

    `coverage` is of the question's words, one value an entry of the index; `best` those that hold
    most of them, in time order, `strongest` the same, best first; `gap` the seconds below which two
    are one episode; `ranked` all that
    may answer, best first; `now` POSIX seconds at which the question is asked.
    """

    index: ViewIndex
    query: Query
    coverage: Sequence[float]
    best: tuple[IndexedObservation, ...]
    strongest: tuple[IndexedObservation, ...]
    anchor: LocatedAnchor | None
    writer: Writer
    gap: float
    quotes: int
    ranked: tuple[IndexedObservation, ...] = ()
    now: float | None = None


def primary(entries: Sequence[IndexedObservation]) -> list[IndexedObservation]:
    """Without what only restates others of them: a composed caption rests on what it is made of."""
    return [entry for entry in entries if entry.direct] or list(entries)


def unique(entries: Sequence[IndexedObservation]) -> list[IndexedObservation]:
    """Entries without repetitions of one text at one time."""
    return list({(e.observation.text, e.observation.span): e for e in entries}.values())


def quote(entry: IndexedObservation) -> str:
    """An observation's words in quotation marks, cut where they are long."""
    text = " ".join(entry.observation.text.split())
    return f"“{text if len(text) <= 240 else text[:239] + '…'}”"
