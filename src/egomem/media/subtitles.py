"""Subtitles: SRT and WebVTT, read leniently and written by the standard.

The reader keeps every cue that it can make sense of, and warns, with line numbers, of what it
skipped or repaired.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from egomem.errors import TimeError
from egomem.media.cue import Cue, LineWarning
from egomem.media.speaker_names import split_turns
from egomem.media.telemetry import is_telemetry
from egomem.timeline import Span

_TIME = r"(?:(\d+):)?(\d+):(\d{1,2})(?:[.,](\d{1,9}))?"
_TIMES = re.compile(rf"^\s*{_TIME}\s*-{{1,2}}>\s*{_TIME}(?:[ \t]+(.*))?\s*$")
_STAMP = r"-?\d+:\d\d(?::\d\d|[.,]\d)[\d:.,;]*"
_ARROW = re.compile(rf".*-->|\s*[\d:.,-]+\s*(?:->|=>|[→⟶➔➜⇒])|\s*{_STAMP}[^\w\n]+{_STAMP}\s*$")
"""A line of times, whether or not they can be read."""
_SETTING = re.compile(r"\w+:\S+")
_TAG = re.compile(
    r"</?(?:c|i|b|u|v|lang|ruby|rt|font|s)\b[^>]*>|<c[.][^>]*>|<[\d:.]+>", re.IGNORECASE
)
_OVERRIDE = re.compile(r"\{\\[^}]*\}|\{[ibu]\}|\{/[ibu]\}")
_VOICE_MARK = re.compile(r"<v(?:\.[^\s>]*)?\s+([^>]+)>|</v>", re.IGNORECASE)
_WORD_TIME = re.compile(r"<\d+:[\d:.]+>")


def read_subtitles(text: str) -> tuple[list[Cue], list[LineWarning]]:
    """The cues of an SRT or WebVTT text, in the order of their start, and warnings.

    Accepts hours of any length or none, minutes above 59, dots or commas, missing index lines,
    blank lines inside a cue, NOTE, STYLE and REGION blocks, text before the first cue, and a byte
    order mark. Tags are stripped, two cues at one time are both kept, a cue with impossible times
    is skipped whole. Each voice of a cue is a cue of its own, as is each line that begins with a
    speaker's name (see `egomem.media.speaker_names`). Rolling captions (each cue repeats the line
    before) are read once.
    """
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    warnings: list[LineWarning] = []
    blocks = _cue_blocks(lines, warnings)
    # Times within the text mark rolling captions, whatever their cues look like.
    timed = any(_WORD_TIME.search("\n".join(body)) for _, _, body in blocks)
    cues = []
    for number, span, body in blocks:
        voices = list(_voices("\n".join(body)))
        if not voices and not timed:
            warnings.append(LineWarning(number, "a cue without text", lost=True))
        cues += [Cue(span, cue_text, speaker, number) for speaker, cue_text in voices]
    cues.sort(key=lambda cue: cue.span.start)
    if timed or _is_rolling(cues):
        cues = _unroll(cues)
    cues = _split_turns(cues)
    if not cues:
        warnings.append(LineWarning(0, "no cue was found"))
    return cues, sorted(warnings)


def _cue_blocks(
    lines: Sequence[str], warnings: list[LineWarning]
) -> list[tuple[int, Span, list[str]]]:
    """The line number of each cue's times, its span, and its lines of text."""
    blocks: list[tuple[int, Span, list[str]]] = []
    body: list[str] | None = None
    skipping, index = "", -1
    for number, line in enumerate(lines, 1):
        match = _TIMES.match(line)
        if _is_time_line(line):
            index = _index_before(lines, number)
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
            _drop_index(body, lines, number)
            what = f"cannot read the times {line.strip()!r}"
            warnings.append(LineWarning(number, what, lost=True))
            skipping, body = "times", None
            continue
        # NOTE and the like open a block only after a blank line; elsewhere they are spoken words.
        after_blank = number == 1 or not lines[number - 2].strip()
        if after_blank and re.match(r"(WEBVTT|NOTE|STYLE|REGION)(\s|$)", line):
            skipping, body = line, None
        elif skipping and not line.strip() and skipping != "times":
            skipping = ""
        elif after_blank and index >= 0 and line.strip() == str(index + 1):
            if not _is_index(lines, number):
                warnings.append(LineWarning(number, "a cue without times", lost=True))
                skipping, body, index = "times", None, index + 1
        elif body is not None:
            if line.strip() and not lines[number - 2] and not _is_index(lines, number):
                warnings.append(LineWarning(number, "a blank line inside a cue"))
            body.append(line)
        elif line.strip() and not skipping and not _is_index(lines, number):
            warnings.append(LineWarning(number, f"text outside of any cue: {line.strip()[:40]!r}"))
    return blocks


def _is_index(lines: Sequence[str], number: int) -> bool:
    """Whether a line is a cue's identifier: the next line holds times."""
    return number < len(lines) and _is_time_line(lines[number])


def _index_before(lines: Sequence[str], number: int) -> int:
    """The number of the cue whose times stand in a line; -1 where it has none."""
    before = lines[number - 2].strip() if number > 1 else ""
    return int(before) if re.fullmatch(r"\d{1,6}", before) else -1


def _is_time_line(line: str) -> bool:
    return _TIMES.match(line) is not None or _ARROW.match(line) is not None


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
        warnings.append(LineWarning(number, error.message, lost=True))
        return None


def _seconds(parts: Sequence[str | None]) -> float:
    hours, minutes, seconds, fraction = parts
    whole = int(hours or 0) * 3600 + int(minutes or 0) * 60 + int(seconds or 0)
    # By way of text: adding fractions of a second to large floats would round them.
    return float(f"{whole}.{fraction or 0}")


def _split_turns(cues: Sequence[Cue]) -> list[Cue]:
    """Cues of one speaker each. Fields of telemetry look like names, and are left as they are."""
    spoken = [cue for cue in cues if not is_telemetry(cue.text)]
    turns_of = split_turns([(cue.speaker, cue.text) for cue in spoken])
    turns = {id(cue): turns for cue, turns in zip(spoken, turns_of, strict=True)}
    return [
        replace(cue, speaker=speaker, text=text)
        for cue in cues
        for speaker, text in turns.get(id(cue), [(cue.speaker, cue.text)])
    ]


def _voices(text: str) -> Iterator[tuple[str | None, str]]:
    """Each voice of a cue and what it says; speech without a voice tag has no speaker."""
    lines_by_voice: dict[str | None, list[str]] = {}
    position, speaker = 0, None
    for mark in [*_VOICE_MARK.finditer(text), None]:
        part = text[position : mark.start() if mark else None].split("\n")
        if lines := [plain for line in part if (plain := _strip_tags(line))]:
            lines_by_voice.setdefault(speaker, []).extend(lines)
        if mark:
            position = mark.end()
            speaker = html.unescape(mark[1]).strip() if mark[1] else None
    yield from ((who, "\n".join(lines)) for who, lines in lines_by_voice.items())


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
