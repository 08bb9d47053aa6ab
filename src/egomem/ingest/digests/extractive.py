"""Digests without a model: the lines that cover most, as they were observed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from egomem.ingest.digests.choose import choose
from egomem.ingest.digests.levels import RECORDING, WindowKey
from egomem.ingest.digests.parts import Part, Statement
from egomem.records import Usage

LINES = {"10min": 4, "hour": 12, "day": 24, RECORDING: 16}
"""Lines of a digest at most, by level; our choice. EgoButler allows 500 words an hour."""


@dataclass(frozen=True)
class Summary:
    """What a summarizer made of a window: statements in order of time; `request` is the key of the
    model's reply, `note` how it was made where a reader should know."""

    statements: tuple[Statement, ...]
    request: str | None = None
    note: str | None = None


class Summarizer(Protocol):
    """Makes digests. No question is known to it.

    `observer`, `model` and the prompt of a level name the digests' track; `concurrency` is how many
    windows it may work on at once, `usage` what its requests have used so far.
    """

    @property
    def observer(self) -> str: ...
    @property
    def model(self) -> str | None: ...
    @property
    def concurrency(self) -> int: ...
    @property
    def usage(self) -> Usage: ...

    def prompt(self, level: str) -> str:
        """Name and version of what a level is asked with."""

    async def summarise(self, window: WindowKey, parts: Sequence[Part]) -> Summary:
        """The statements of a window, over its parts in order of time.

        Raises ModelError where there was no usable reply.
        """


class ExtractiveSummarizer:
    """Chooses lines by coverage and merges repeated activities; equal parts give equal lines."""

    observer = "extractive"
    model: str | None = None
    concurrency = 1
    usage = Usage()

    def prompt(self, level: str) -> str:
        return "lines@1"

    async def summarise(self, window: WindowKey, parts: Sequence[Part]) -> Summary:
        statements = choose(parts, LINES[window.level])
        if not statements:  # nothing but "yes" and "OK", which is what there was
            statements = choose_plain(parts, LINES[window.level])
        return Summary(tuple(statements))


def choose_plain(parts: Sequence[Part], count: int) -> list[Statement]:
    """The first parts as statements."""
    return [
        Statement(p.start, p.end, p.text, p.ids, p.speaker, p.offset, p.source)
        for p in parts[:count]
    ]
