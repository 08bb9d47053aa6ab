"""Subtitles written by the standard: WebVTT and SRT."""

from __future__ import annotations

import html
from collections.abc import Iterable

from egomem.media.cue import Cue
from egomem.timeline import Span


def write_webvtt(cues: Iterable[Cue], *, notes: Iterable[str] = ()) -> str:
    """The cues as WebVTT that is valid by the standard; a cue is made at least 1 ms long."""
    blocks = ["WEBVTT"]
    blocks += [f"NOTE\n{_escape_cue_text(note)}" for note in notes]
    for cue in cues:
        text = _escape_cue_text(html.escape(cue.text, quote=False))
        if cue.speaker:
            text = f"<v {html.escape(cue.speaker)}>{text}"
        name = _escape_cue_text(cue.id).replace("\n", " ")
        blocks.append(f"{name}\n" * bool(name) + f"{_time_line(cue.span, '.')}\n{text}")
    return "\n\n".join(blocks) + "\n"


def write_srt(cues: Iterable[Cue]) -> str:
    """The cues as SRT, with each speaker's name before the text."""
    blocks = []
    for number, cue in enumerate(cues, 1):
        text = _escape_cue_text(cue.text)
        speaker = f"{cue.speaker}: " if cue.speaker else ""
        blocks.append(f"{number}\n{_time_line(cue.span, ',')}\n{speaker}{text}\n")
    return "\n".join(blocks)


def _escape_cue_text(text: str) -> str:
    """The text without what would end a cue: blank lines and arrows."""
    lines = (line.strip().replace("-->", "→") for line in text.splitlines())
    return "\n".join(line for line in lines if line)


def _time_line(span: Span, point: str) -> str:
    start = round(span.start * 1000)
    end = max(round(span.end * 1000), start + 1)
    return f"{_timestamp(start, point)} --> {_timestamp(end, point)}"


def _timestamp(milliseconds: int, point: str) -> str:
    seconds, rest = divmod(milliseconds, 1000)
    return f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}{point}{rest:03d}"
