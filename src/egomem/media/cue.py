"""A cue of subtitles, and what a reader says of a line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from egomem.timeline import Span


class LineWarning(NamedTuple):
    """What a reader skipped or repaired. `line` counts from 1; 0 stands for the whole file.

    `lost`: a cue or row could not be used.
    """

    line: int
    message: str
    lost: bool = False

    def __str__(self) -> str:
        return f"line {self.line}: {self.message}" if self.line else self.message


@dataclass(frozen=True, slots=True)
class Cue:
    """A subtitle: `span` in seconds, plain `text` without tags, and the speaker where it is given.

    `line` is the line of its times in the file that it was read from. `id` is written to WebVTT.
    """

    span: Span
    text: str
    speaker: str | None = None
    line: int = 0
    id: str = ""
