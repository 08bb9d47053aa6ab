"""The time at the start of a line, in the forms that models write: `[10:05-10:10]`, `605 s`.

What a bare number counts (seconds, milliseconds) and where a time is counted from (the recording,
the window) is decided for a whole caption, in `caption_times`.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Literal, NamedTuple

TimeUnit = Literal["seconds", "number", "frame"]


class WrittenTime(NamedTuple):
    """A time as written. `number`: a bare one, its unit is open. `frame`: the number of a frame."""

    value: float
    unit: TimeUnit = "seconds"


class Stamp(NamedTuple):
    """The time at a line's start: as `written`, its first and last of `times`, the `text` after it.

    `sure` is False for a bare `10:05 text`, as a sentence may begin so ("10:35 is on the ticket").
    `unread`: it looks like a time, and none could be read in it.
    """

    written: str
    times: tuple[WrittenTime, ...]
    text: str
    sure: bool = True
    unread: bool = False


_NO_LETTER = r"(?![^\W\d_])"
_MILLISECONDS = re.compile(rf"(\d{{1,9}})\s?(?:ms|msecs?|milliseconds?|毫秒){_NO_LETTER}", re.I)
_CLOCK = re.compile(
    r"(\d{1,3}):(\d{1,2})(?::(\d{1,2}))?(?:[.,](\d{1,3}))?(?!\d|:\d|\s?[ap]\.?m\b)s?", re.I
)
_FRAME = re.compile(
    r"(?:frames?|fr\.?|f|image|img|帧|第)\s?[#:_-]?\s?(\d{1,6})(?:\s?[帧张])?(?!\d|[:.]\d)", re.I
)
_UNITS = re.compile(
    r"(?:(?P<h>\d{1,2})\s?(?:hours?|hrs?|h|小时|时)\s?)?"
    r"(?:(?P<m>\d{1,3})\s?(?:minutes?|mins?|m|分钟?|['′])\s?)?"
    r"(?:(?P<s>\d{1,6}(?:\.\d{1,3})?)\s?(?:seconds?|secs?|s|秒|[\"″])|(?<=[m'′])(?P<rest>\d\d))?"
    + _NO_LETTER,
    re.I,
)
_NUMBER = re.compile(rf"\d{{1,9}}(?:\.\d{{1,3}})?(?!\d|:\d|\s?[%°]){_NO_LETTER}")
_RANGE = re.compile(
    r"\s*(?:-{0,2}-?>|={1,2}>|-{1,3}|~|→|⟶|➜|\.{2,3}|…|(?:to|until|till|through|bis|à|hasta|до)\b"
    r"|至|到|から|\|(?=\s*\d{1,3}:\d\d\s*\|)|(?=[\[(<{【〔]\s*\d))\s*",
    re.I,
)
_LIST = re.compile(r"\s*(?:[,;/|&]|and\b)\s*", re.I)
_ARROWS = re.compile(r"\s*(?:-{1,2}>|={1,2}>|→|⟶|➜)")
_MARKS = re.compile(
    r"(?:\s|\|\s*\d{1,3}\s*(?=\|\s*\d{1,3}:\d)|[>|•–—◦▪·#*]|[~≈](?=\s?\d)|-(?=[\s\[(])|\(\d{1,3}\)(?=\s*[\[(\d])|\d{1,3}[.)](?=\s*[\[(]|\s)"
    r"|[a-z][.)]\s)*",
    re.I,
)
_NUMBERED = re.compile(r"\s*\(?\d{1,3}[.)]\s")
_LABEL = re.compile(
    r"(?:(?:step|event|segment|clip|scene|shot|entry)\s*#?\d{0,3}\s*[:.)\-]?\s*)?"
    r"(?:(?:(?:time\s?stamps?|time(?:\s?range)?|when|start|at|from|between|around|t|second(?=\s+\d{1,6}\s*[:-]))\b\+?|从|在|时间)\s*[:=]?\s*)?"
    r"(?=[\[(<{【\d]|-\d|frame|帧|第)",
    re.I,
)
_OPENING, _CLOSING = "[(<{【〔", "])>}】〕"
_EMPHASIS = re.compile(r"\*+(?=\S)|(?<=\S)\*+|__|`")
_OPENED = re.compile(r"[\[(<{【〔 ]*(?:(?<=[\[(<{【〔])(?:t|ts|time|at|from)\b\s*[=:]?\s*)?", re.I)
_SEPARATOR = re.compile(r"\s*(?:[:\-.,、|]|[-=]{1,2}>|→)*\s*")
_BRACKETED = re.compile(r"[\[(<{【〔]([^\])>}】〕]{1,40})[\])>}】〕]")
_TIME_WORDS = re.compile(
    r"(?:[ap]\.?m\.?|t|z|utc|gmt|h|m|s|ms|secs?|seconds?|mins?|minutes?|hours?|frames?|at|from|to"
    r"|until|\d+|[^\w\s]|_|\s)+",
    re.I,
)
_CLOCK_LIKE = re.compile(r"\d{1,4}(?:[:.h]\d{1,3})+(?:\s?[ap]\.?m\.?)?\s*[:-]\s", re.I)
_NUMBER_BEGINS = re.compile(r"(?<![\d:.])\d")
_GLUED = re.compile(r"[\d:.]+")
_ALIKE = str.maketrans("−‐‑‒–—―〜", "-" * 7 + "~")


def read_stamp(line: str) -> Stamp:
    """Read the time that a line begins with, behind list marks, emphasis and words such as `At`.

    A line without one has no `times`, and its text has no list marks.
    """
    clean = _EMPHASIS.sub("", line)
    is_emphasised = len(clean) < len(line)
    plain = _plain(clean)
    begin = _end(_MARKS, plain, 0)
    start = _end(_LABEL, plain, begin)
    is_labelled = start > begin
    is_numbered = _NUMBERED.match(plain) is not None
    is_cell = "|" in plain[:begin]
    bracket = plain[start : start + 1] in _OPENING and start < len(plain)
    times, end = _read_times(plain, start, pair=plain[begin:start].lower().startswith("between"))
    if not times or (
        not bracket and not is_labelled and not _stands_alone(plain, start, times, end)
    ):
        unread = not times and _looks_like_time(plain, begin)
        text = line[_end(_MARKS, _plain(line), 0) :].strip().strip("*")
        return Stamp("", (), text.strip(), unread=unread)
    text_at = _end(_SEPARATOR, plain, end)
    text = clean[text_at:].strip("* \t|")
    is_frame = times[0].unit == "frame" and ("帧" in plain[start:end] or plain[end:][:2] == " (")
    sure = (
        is_frame or bracket or is_labelled or is_numbered or is_emphasised or is_cell
        or len(times) > 1 or not text or bool(plain[end:text_at].strip())
    )  # fmt: skip
    written = "-".join(part.strip() for part in _parts(clean[start:end]))
    return Stamp(written, (times[0], times[-1]), text, sure=sure)


def find_written_times(text: str) -> list[float]:
    """All times within a text that have a unit or a colon (`1:02:03`, `12.5 s`), in seconds."""
    plain = _plain(text)
    times: list[float] = []
    position = 0
    while match := _NUMBER_BEGINS.search(plain, position):
        time = _read_time(plain, match.start())
        if time is None or time.time.unit != "seconds":
            position = _end(_GLUED, plain, match.start())
        else:
            times.append(time.time.value)
            position = time.end
    return times


def parse_times(value: object) -> tuple[WrittenTime, ...]:
    """The first and last time in the value of a JSON field: a number, a text, or a list of them."""
    if isinstance(value, bool):
        return ()
    if isinstance(value, (int, float)):
        return (WrittenTime(float(value), "number"),)
    if isinstance(value, list):
        times = [time for item in value[:20] for time in parse_times(item)]
        return (times[0], times[-1]) if times else ()
    if not isinstance(value, str):
        return ()
    stamp = read_stamp(f"[{value.strip().strip('[]()')}]")
    return stamp.times if not stamp.text else ()


def _plain(line: str) -> str:
    """The line with fullwidth signs as plain ones, one for one, so that positions stay."""
    folded = ((char, unicodedata.normalize("NFKC", char)) for char in line)
    return "".join(new if len(new) == 1 else old for old, new in folded).translate(_ALIKE)


def _end(pattern: re.Pattern[str], text: str, position: int) -> int:
    match = pattern.match(text, position)
    return match.end() if match else position


def _parts(written: str) -> list[str]:
    """The times of a range as they were written, without brackets."""
    inner = re.sub(r"[\[\](){}<>【】〔〕［］（）]", " ", re.sub(r"-{1,2}>|={1,2}>", "~", written))
    return [part for part in re.split(r"(?<=\d)\s*[-–—~〜～→]+\s*(?=\d)", inner) if part.strip()]


def _read_times(plain: str, start: int, *, pair: bool) -> tuple[list[WrittenTime], int]:
    """The times of one stamp and where it ends; none where a bracket holds anything else.

    `pair`: a list's sign may join two times outside of a bracket: `between 1:05 and 1:10`.
    """
    times: list[WrittenTime] = []
    position = end = start
    depth, form, link_is_range = 0, "", False
    while True:
        is_closed = depth == 0
        opened = _end(_OPENED, plain, position)
        time = _read_time(plain, opened)
        if time and form == "frame" and time.form == "number":
            time = _ReadTime(WrittenTime(time.time.value, "frame"), time.end, form)
        if time and form == "number" and time.form == "units" and link_is_range:
            times[-1] = WrittenTime(times[-1].value)  # "0-5s"
            form = "units"
        # Outside of a bracket a range has one form: in "10:05 - 3 cups" the 3 is a count.
        if time is None or (times and is_closed and time.form != form):
            return (times, end) if is_closed else ([], start)
        depth += sum(char in _OPENING for char in plain[position:opened])
        times.append(time.time)
        form, end = time.form, time.end
        link = _LIST.match(plain, end) if depth or pair else None
        if link and _read_time(plain, link.end()):
            position = link.end()
            continue
        open_end = _RANGE.match(plain, end)
        if depth and open_end and plain[open_end.end() : open_end.end() + 1] in tuple(_CLOSING):
            end = open_end.end()  # "[10:05-]"
        while depth and end < len(plain) and plain[end] in _CLOSING + " ":
            depth -= plain[end] in _CLOSING
            end += 1
        link = _RANGE.match(plain, end)
        if link is None or _read_time(plain, _end(_OPENED, plain, link.end())) is None:
            return ([], start) if depth else (times, end)
        position, link_is_range = link.end(), True


class _ReadTime(NamedTuple):
    time: WrittenTime
    end: int
    form: str


def _read_time(plain: str, position: int) -> _ReadTime | None:
    """The time at a position."""
    sign = -1.0 if plain[position : position + 1] == "-" else 1.0
    at = position + (sign < 0)
    if match := _MILLISECONDS.match(plain, at):
        return _ReadTime(WrittenTime(sign * int(match[1]) / 1000), match.end(), "units")
    if match := _CLOCK.match(plain, at):
        parts = [int(part) for part in match.groups()[:3] if part]
        if any(part >= 60 for part in parts[1:]):
            return None
        seconds = 0.0
        for part in parts:
            seconds = seconds * 60 + part
        seconds += float(f"0.{match[4] or 0}")
        return _ReadTime(WrittenTime(sign * seconds), match.end(), "clock")
    if match := _FRAME.match(plain, at):
        return _ReadTime(WrittenTime(float(match[1]), "frame"), match.end(), "frame")
    match = _UNITS.match(plain, at)
    if match and any(match.groups()):
        h, m, s, rest = (float(part or 0) for part in match.group("h", "m", "s", "rest"))
        seconds = h * 3600 + m * 60 + s + rest
        return _ReadTime(WrittenTime(sign * seconds), match.end(), "units")
    if match := _NUMBER.match(plain, at):
        return _ReadTime(WrittenTime(sign * float(match[0]), "number"), match.end(), "number")
    return None


def _stands_alone(plain: str, start: int, times: list[WrittenTime], end: int) -> bool:
    """Whether times without a bracket are a stamp: bare numbers may be counts or list numbers."""
    if any(time.unit != "number" for time in times):
        return True
    rest = plain[end:]
    if len(times) > 1:
        return bool(_ARROWS.search(plain, start, end) or re.match(r"\s*(?::|\||-\s|$)", rest))
    return times[0].value >= 100 and re.match(r"\s*(?::\s|-\s|\|)", rest) is not None


def _looks_like_time(plain: str, begin: int) -> bool:
    """Whether a line begins with what looks like a time: `[10:75]`, `[10:05 AM]`, `1:2:3:4 - `."""
    if match := _BRACKETED.match(plain, begin):
        return bool(re.search(r"\d", match[1])) and _TIME_WORDS.fullmatch(match[1]) is not None
    return _CLOCK_LIKE.match(plain, begin) is not None
