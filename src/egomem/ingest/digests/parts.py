"""What a digest is made of: lines of observations, or of digests of a shorter level."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from egomem.records import Observation, Recording
from egomem.text import stems, tokens
from egomem.text.stop_words import STOP_WORDS

_STAMP = re.compile(r"^\s*[\[(]\s*\d+:\d\d[^\])]{0,24}[\])]\s*[:,-]?\s*")
"""A time at the start of a caption's line, in times of its recording."""
_SENTENCE = re.compile(r"(?<=[.!?。！？])\s+(?=\S)|\n+")
_LONG = 200
"""Characters. A longer text is taken sentence by sentence, as one line of a digest is short."""
_MAX_IDS = 5
"""Ids that a statement keeps of what it repeats; all of them stand in the digest's provenance."""


@dataclass(frozen=True)
class Part:
    """A line that a digest may rest on.

    `start` and `end` count seconds of the digest's timeline; `offset` is that of the wearer's zone
    from UTC in seconds, None on a recording without a clock. `ids` are of observations, never of
    digests, the most telling one first.
    """

    start: float
    end: float
    text: str
    ids: tuple[str, ...]
    source: str
    speaker: str = ""
    offset: float | None = None

    @cached_property
    def stems(self) -> frozenset[str]:
        """The stems of its words that tell something."""
        return frozenset(stems(tokens(self.text))) - STOP_WORDS

    @cached_property
    def length(self) -> int:
        """Words; in scripts without spaces, characters and pairs of them."""
        return len(tokens(self.text))


@dataclass(frozen=True)
class Statement:
    """A line of a digest: what it says of `[start, end)`, and the observations it rests on.

    `problem` says what none of them bears out; such a statement is no part of the digest's text.
    """

    start: float
    end: float
    text: str
    ids: tuple[str, ...]
    speaker: str = ""
    offset: float | None = None
    source: str = "caption"
    problem: str = ""

    @property
    def line(self) -> str:
        """The statement as it is read: a speaker's words are quoted."""
        return f"{self.speaker}: “{self.text}”" if self.speaker else self.text


def parts_of(observations: Iterable[Observation], recording: Recording | None) -> list[Part]:
    """The lines of the observations of one recording, in order of time.

    On the wearer's timeline where the recording's clock is known (None: never), else in its
    seconds. A text of several lines, such as a caption of 30 s, gives a part for each.
    """
    clock = recording.clock if recording else None
    zero = clock.start.timestamp() if clock else 0.0
    parts: list[Part] = []
    for o in sorted(observations, key=lambda o: (o.span, o.id)):
        offset = None
        if clock is not None:
            delta = clock.at(o.span.start).utcoffset()
            offset = delta.total_seconds() if delta is not None else None
        speaker = _speaker(o)
        start, end = zero + o.span.start, zero + o.span.end
        parts += (
            Part(start, end, text, (o.id,), o.source, speaker, offset)
            for text in lines_of_text(_without(speaker, o.text))
        )
    return parts


def parts_of_digest(digest: Sequence[Statement]) -> list[Part]:
    """The statements of a shorter digest as parts of a longer one, without those in doubt."""
    return [
        Part(s.start, s.end, s.text, s.ids, s.source, s.speaker, s.offset)
        for s in digest
        if not s.problem
    ]


def lines_of_text(text: str) -> list[str]:
    """A short text as it is, a long one sentence by sentence; without times of its recording."""
    text = text.strip()
    pieces = [text] if len(text) <= _LONG and "\n" not in text else _SENTENCE.split(text)
    lines = (" ".join(_STAMP.sub("", piece).strip(" -*•").split()) for piece in pieces)
    return [line for line in lines if line]


def kept_ids(ids: Iterable[str]) -> tuple[str, ...]:
    """The first few of the ids that a statement rests on."""
    return tuple(dict.fromkeys(ids))[:_MAX_IDS]


def _speaker(o: Observation) -> str:
    if o.source != "speech":
        return ""
    speaker = o.data.get("speaker")
    return speaker if isinstance(speaker, str) else ""


def _without(speaker: str, text: str) -> str:
    """A text without its speaker's name before it."""
    return text.removeprefix(f"{speaker}:").lstrip() if speaker else text
