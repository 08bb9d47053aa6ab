"""Subtitles as people have them: SRT and WebVTT, read leniently, and written.

The reader keeps every cue that it can make sense of and says, with line numbers, what it passed
over or mended.
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
    """Something that a reader mended or passed over. `line` counts from 1; 0 is the whole file."""

    line: int
    what: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.what}" if self.line else self.what


@dataclass(frozen=True, slots=True)
class Cue:
    """A subtitle: `span` in seconds, plain `text` without tags, and who speaks, where said.

    `line` is the line of its times in the file that it was read from; `id` is written to WebVTT.
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
    """The cues of an SRT or WebVTT text, in the order of their start, and what was amiss.

    Takes hours or none, any number of their digits, minutes above 59, dots or commas, no index
    lines, blank lines inside a cue, NOTE, STYLE and REGION blocks, text before the first cue, and a
    byte order mark. Tags are stripped, two cues at one time are both kept, and a cue whose times
    cannot be is passed over. Rolling captions (each cue repeats the line before) are read once.
    """
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    warnings: list[LineWarning] = []
    blocks = _cue_blocks(lines, warnings)
    timed = any(_WORD_TIME.search("\n".join(body)) for _, _, body in blocks)
    cues = []
    for number, span, body in blocks:
        voice = _VOICE.search("\n".join(body))
        plain = [_strip_tags(line) for line in body]
        said = "\n".join(line for line in plain if line)
        if not said:
            if not timed:
                warnings.append(LineWarning(number, "a cue without text"))
            continue
        speaker = html.unescape(voice[1]).strip() if voice else None
        cues.append(Cue(span, said, speaker, number))
    cues.sort(key=lambda cue: cue.span.start)
    if timed or _is_rolling(cues):
        cues = _unroll(cues)
    if not cues:
        warnings.append(LineWarning(0, "no cue was found"))
    return cues, sorted(warnings)


def _cue_blocks(
    lines: Sequence[str], warnings: list[LineWarning]
) -> list[tuple[int, Span, list[str]]]:
    """The times of each cue, the line they stand on, and the lines of text below it."""
    found: list[tuple[int, Span, list[str]]] = []
    body: list[str] | None = None
    skipping = ""
    for number, line in enumerate(lines, 1):
        match = _TIMES.match(line)
        if match:
            _drop_index(body, lines, number)
            skipping, body = "", None
            if (span := _span(match, number, warnings)) is not None:
                body = []
                found.append((number, span, body))
            else:
                skipping = "times"
            continue
        if _ARROW.match(line):
            warnings.append(LineWarning(number, f"cannot read the times {line.strip()!r}"))
            skipping, body = "times", None
            continue
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
    return found


def _is_index(lines: Sequence[str], number: int) -> bool:
    """Whether a line is a cue's identifier: alone above a line of times."""
    return number < len(lines) and _TIMES.match(lines[number]) is not None


def _drop_index(body: list[str] | None, lines: Sequence[str], number: int) -> None:
    """Takes the identifier of the cue at `number` off the text of the cue before it.

    Without a blank line between them, only a bare number is one: it may be text.
    """
    if not body or not body[-1].strip():
        return
    apart = number >= 3 and not lines[number - 3].strip()
    if apart or (body[-1].strip().isdigit() and len(body) > 1):
        body.pop()


def _span(match: re.Match[str], number: int, warnings: list[LineWarning]) -> Span | None:
    """The span of a line of times; None, with a warning, where it cannot be."""
    start, end = _seconds(match.groups()[:4]), _seconds(match.groups()[4:8])
    settings = match[9] or ""
    if settings and not all(_SETTING.fullmatch(part) for part in settings.split()):
        warnings.append(LineWarning(number, f"passed over {settings.strip()!r} after the times"))
    try:
        return Span(start, end)
    except TimeError as error:
        warnings.append(LineWarning(number, error.message))
        return None


def _seconds(parts: Sequence[str | None]) -> float:
    hours, minutes, seconds, fraction = parts
    whole = int(hours or 0) * 3600 + int(minutes or 0) * 60 + int(seconds or 0)
    return float(f"{whole}.{fraction or 0}")


def _strip_tags(line: str) -> str:
    """A line of text without tags, overrides and entities."""
    return " ".join(html.unescape(_OVERRIDE.sub("", _TAG.sub("", line))).split())


def _is_rolling(cues: Sequence[Cue]) -> bool:
    """Whether most cues begin at once with a line that the one before ended with, and add to it."""
    pairs = [
        (one.text.split("\n"), other.text.split("\n"))
        for one, other in pairwise(cues)
        if other.span.start - one.span.end < 0.1
    ]
    adding = sum(0 < _overlap(one, other) < len(other) for one, other in pairs)
    return len(cues) > 3 and adding > len(cues) / 3


def _unroll(cues: Sequence[Cue]) -> list[Cue]:
    """Captions that scroll up, as YouTube writes them: each line once, when it first appears.

    Such a cue shows the line before it and a new one with a time for each word; between them lie
    cues of some 10 ms that repeat what stands there.
    """
    found: list[Cue] = []
    shown: list[str] = []
    for cue in cues:
        lines = cue.text.split("\n")
        new = lines[_overlap(shown, lines) :]
        shown = lines
        if new:
            found.append(replace(cue, text="\n".join(new)))
        elif found and found[-1].span.end < cue.span.end and found[-1].text == cue.text:
            found[-1] = replace(found[-1], span=Span(found[-1].span.start, cue.span.end))
    return found


def _overlap(shown: Sequence[str], lines: Sequence[str]) -> int:
    """How many of the first lines are the last ones that were shown before."""
    for count in range(min(len(shown), len(lines)), 0, -1):
        if list(shown[-count:]) == list(lines[:count]):
            return count
    return 0


# -- writing ---------------------------------------------------------------------------------------


def write_webvtt(cues: Iterable[Cue], *, notes: Iterable[str] = ()) -> str:
    """A WebVTT text that is right by the standard; a cue shorter than 1 ms is made that long."""
    blocks = ["WEBVTT"]
    blocks += [f"NOTE\n{_escape_cue_text(note)}" for note in notes]
    for cue in cues:
        said = _escape_cue_text(html.escape(cue.text, quote=False))
        if cue.speaker:
            said = f"<v {html.escape(cue.speaker)}>{said}"
        name = _escape_cue_text(cue.id).replace("\n", " ")
        blocks.append(f"{name}\n" * bool(name) + f"{_time_line(cue.span, '.')}\n{said}")
    return "\n\n".join(blocks) + "\n"


def write_srt(cues: Iterable[Cue]) -> str:
    """An SRT text, with each speaker's name before what they say."""
    blocks = []
    for number, cue in enumerate(cues, 1):
        said = _escape_cue_text(cue.text)
        who = f"{cue.speaker}: " if cue.speaker else ""
        blocks.append(f"{number}\n{_time_line(cue.span, ',')}\n{who}{said}\n")
    return "\n".join(blocks)


def _escape_cue_text(text: str) -> str:
    """Text without what would end a cue: blank lines and arrows."""
    lines = (line.strip().replace("-->", "→") for line in text.splitlines())
    return "\n".join(line for line in lines if line)


def _time_line(span: Span, point: str) -> str:
    start = round(span.start * 1000)
    end = max(round(span.end * 1000), start + 1)
    return f"{_timestamp(start, point)} --> {_timestamp(end, point)}"


def _timestamp(thousandths: int, point: str) -> str:
    seconds, rest = divmod(thousandths, 1000)
    return f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}{point}{rest:03d}"
