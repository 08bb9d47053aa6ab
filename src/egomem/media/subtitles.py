"""Subtitles: SRT and WebVTT, read leniently and written by the standard.

The reader keeps every cue that it can make sense of, and warns, with line numbers, of what it
skipped or repaired.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

from egomem.errors import TimeError
from egomem.timeline import Span


class LineWarning(NamedTuple):
    """What a reader skipped or repaired. `line` counts from 1; 0 stands for the whole file."""

    line: int
    message: str

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


_TIME = r"(?:(\d+):)?(\d+):(\d{1,2})(?:[.,](\d{1,9}))?"
_TIMES = re.compile(rf"^\s*{_TIME}\s*-{{1,2}}>\s*{_TIME}(?:[ \t]+(.*))?\s*$")
_ARROW = re.compile(r".*-->|\s*[\d:.,]+\s*->")
_SETTING = re.compile(r"\w+:\S+")
_TAG = re.compile(
    r"</?(?:c|i|b|u|v|lang|ruby|rt|font|s)\b[^>]*>|<c[.][^>]*>|<[\d:.]+>", re.IGNORECASE
)
_OVERRIDE = re.compile(r"\{\\[^}]*\}|\{[ibu]\}|\{/[ibu]\}")
_VOICE = re.compile(r"<v(?:\.[^\s>]*)?\s+([^>]+)>", re.IGNORECASE)
_WORD_TIME = re.compile(r"<\d+:[\d:.]+>")


def read_subtitles(text: str) -> tuple[list[Cue], list[LineWarning]]:
    """The cues of an SRT or WebVTT text, in the order of their start, and warnings.

    Accepts hours of any length or none, minutes above 59, dots or commas, missing index lines,
    blank lines inside a cue, NOTE, STYLE and REGION blocks, text before the first cue, and a byte
    order mark. Tags are stripped, two cues at one time are both kept, a cue with impossible times
    is skipped. Rolling captions (each cue repeats the line before) are read once.
    """
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    warnings: list[LineWarning] = []
    blocks = _cue_blocks(lines, warnings)
    # Times within the text mark rolling captions, whatever their cues look like.
    timed = any(_WORD_TIME.search("\n".join(body)) for _, _, body in blocks)
    cues = []
    for number, span, body in blocks:
        voice = _VOICE.search("\n".join(body))
        plain = [_strip_tags(line) for line in body]
        cue_text = "\n".join(line for line in plain if line)
        if not cue_text:
            if not timed:
                warnings.append(LineWarning(number, "a cue without text"))
            continue
        speaker = html.unescape(voice[1]).strip() if voice else None
        cues.append(Cue(span, cue_text, speaker, number))
    cues.sort(key=lambda cue: cue.span.start)
    if timed or _is_rolling(cues):
        cues = _unroll(cues)
    if not cues:
        warnings.append(LineWarning(0, "no cue was found"))
    return cues, sorted(warnings)


def _cue_blocks(
    lines: Sequence[str], warnings: list[LineWarning]
) -> list[tuple[int, Span, list[str]]]:
    """The line number of each cue's times, its span, and its lines of text."""
    blocks: list[tuple[int, Span, list[str]]] = []
    body: list[str] | None = None
    skipping = ""
    for number, line in enumerate(lines, 1):
        match = _TIMES.match(line)
        if match:
            _drop_index(body, lines, number)
            skipping, body = "", None
            if (span := _span(match, number, warnings)) is not None:
                body = []
                blocks.append((number, span, body))
            else:
                skipping = "times"
            continue
        if _ARROW.match(line):
            warnings.append(LineWarning(number, f"cannot read the times {line.strip()!r}"))
            skipping, body = "times", None
            continue
        # NOTE and the like open a block only after a blank line; elsewhere they are spoken words.
        after_blank = number == 1 or not lines[number - 2].strip()
        if after_blank and re.match(r"(WEBVTT|NOTE|STYLE|REGION)(\s|$)", line):
            skipping, body = line, None
        elif skipping and not line.strip() and skipping != "times":
            skipping = ""
        elif body is not None:
            if line.strip() and not lines[number - 2] and not _is_index(lines, number):
                warnings.append(LineWarning(number, "a blank line inside a cue"))
            body.append(line)
        elif line.strip() and not skipping and not _is_index(lines, number):
            warnings.append(LineWarning(number, f"text outside of any cue: {line.strip()[:40]!r}"))
    return blocks


def _is_index(lines: Sequence[str], number: int) -> bool:
    """Whether a line is a cue's identifier: the next line holds times."""
    return number < len(lines) and _TIMES.match(lines[number]) is not None


def _drop_index(body: list[str] | None, lines: Sequence[str], number: int) -> None:
    """Remove the identifier of the cue at `number` from the text of the cue before it.

    Without a blank line between them, only a bare number is removed: anything else may be text.
    """
    if not body or not body[-1].strip():
        return
    blank_before = number >= 3 and not lines[number - 3].strip()
    if blank_before or (body[-1].strip().isdigit() and len(body) > 1):
        body.pop()


def _span(match: re.Match[str], number: int, warnings: list[LineWarning]) -> Span | None:
    """The span that a line of times states; None, with a warning, where it is impossible."""
    start, end = _seconds(match.groups()[:4]), _seconds(match.groups()[4:8])
    settings = match[9] or ""
    if settings and not all(_SETTING.fullmatch(part) for part in settings.split()):
        warnings.append(LineWarning(number, f"skipped {settings.strip()!r} after the times"))
    try:
        return Span(start, end)
    except TimeError as error:
        warnings.append(LineWarning(number, error.message))
        return None


def _seconds(parts: Sequence[str | None]) -> float:
    hours, minutes, seconds, fraction = parts
    whole = int(hours or 0) * 3600 + int(minutes or 0) * 60 + int(seconds or 0)
    # By way of text: adding fractions of a second to large floats would round them.
    return float(f"{whole}.{fraction or 0}")


def _strip_tags(line: str) -> str:
    """A line of text without tags and overrides, and with entities decoded."""
    return " ".join(html.unescape(_OVERRIDE.sub("", _TAG.sub("", line))).split())


def _is_rolling(cues: Sequence[Cue]) -> bool:
    """Whether many cues begin with the line that the one just before ended with, and add to it."""
    pairs = [
        (cue.text.split("\n"), following.text.split("\n"))
        for cue, following in pairwise(cues)
        if following.span.start - cue.span.end < 0.1
    ]
    repeats = sum(0 < _overlap(last, lines) < len(lines) for last, lines in pairs)
    return len(cues) > 3 and repeats > len(cues) / 3


def _unroll(cues: Sequence[Cue]) -> list[Cue]:
    """Rolling captions, as YouTube writes them: each line once, when it first appears.

    Such a cue shows the line before it and a new one, with a time for each word. Between such cues
    are cues of some 10 ms that repeat what is on screen.
    """
    unrolled: list[Cue] = []
    last_lines: list[str] = []
    for cue in cues:
        lines = cue.text.split("\n")
        new_lines = lines[_overlap(last_lines, lines) :]
        last_lines = lines
        last = unrolled[-1] if unrolled else None
        if new_lines:
            unrolled.append(replace(cue, text="\n".join(new_lines)))
        elif last and last.span.end < cue.span.end and last.text == cue.text:
            unrolled[-1] = replace(last, span=Span(last.span.start, cue.span.end))
    return unrolled


def _overlap(last_lines: Sequence[str], lines: Sequence[str]) -> int:
    """How many of the first lines repeat the end of the last cue's lines."""
    for count in range(min(len(last_lines), len(lines)), 0, -1):
        if list(last_lines[-count:]) == list(lines[:count]):
            return count
    return 0


# -- writing ---------------------------------------------------------------------------------------


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
