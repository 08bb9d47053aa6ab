"""The lines of a caption, in whatever form: lines, JSON, subtitles, tables, headings."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from egomem.observe.time_stamps import Stamp, parse_times, read_stamp

_FENCE = re.compile(r"\A\s*```[\w-]*\s*\n(.*?)\n?\s*(?:```)?\s*\Z", re.DOTALL)
# "Here is the caption:" may stand before a fence with JSON.
_JSON_FENCE = re.compile(r"```[\w-]*[ \t]*\n(\s*[{\[].*?)\n?[ \t]*```", re.DOTALL)
_TIME_TAG = re.compile(
    r"<(?:time[_-]?(?:stamp|range)?|ts)>\s*([^<>\n]{1,40}?)\s*</(?:time[_-]?(?:stamp|range)?|ts)>",
    re.I,
)
_UNIT = r"(?:[ _-]?(?:time|at|s|sec(?:onds)?|ms))?"
_START = re.compile(rf"(?:t|time|timestamp)?[ _-]?(?:start|begin|from|first){_UNIT}", re.I)
_END = re.compile(rf"(?:t|time|timestamp)?[ _-]?(?:end|stop|until|to|last){_UNIT}", re.I)
_TIMES = re.compile(
    r"(?:time[ _-]?(?:stamps?|range|span|s|code)?|t|at|when|span|range|interval|frames?|ts)", re.I
)
_TEXT = re.compile(
    r"(?:text|caption|description|event|action|activity|what|content|summary|sentence|line|note)",
    re.I,
)
_OPENER = re.compile(r"[{\[]")
MAX_FAILED_OPENERS = 200
"""Braces and brackets that open no JSON, after which the search ends: each costs a parse."""
_NO_WORD = re.compile(r"[\W_]*")


def caption_lines(caption: str) -> list[Stamp]:
    """The lines of a caption with the times that they begin with.

    A time that stands on a line of its own is that of the lines after it, up to a blank line or the
    next time: subtitles and headings are written so. JSON gives a line for each object with times.
    """
    fence = _FENCE.match(caption) or _JSON_FENCE.search(caption)
    body = _TIME_TAG.sub(r"[\1]", fence[1] if fence else caption)
    rows = list(_json_lines(body))
    if rows:
        return rows
    stamps: list[Stamp] = []
    heading: Stamp | None = None
    lines = body.splitlines()
    for number, line in enumerate(lines):
        if not line.strip():
            heading = None
            continue
        # A subtitle's number stands above its times.
        following = lines[number + 1] if number + 1 < len(lines) else ""
        if line.strip().isdecimal() and "-->" in following:
            continue
        stamp = read_stamp(line)
        if _NO_WORD.fullmatch(stamp.text) and not stamp.times:
            continue  # a table's rule, a line of dashes
        if stamp.times and not stamp.text:
            heading = stamp
            continue
        if stamp.times:
            heading = None
        elif heading and not stamp.unread:
            stamp = heading._replace(text=stamp.text)
        stamps.append(stamp)
    bare = [stamp for stamp in stamps if stamp.times and not stamp.sure]
    if bare and (len(bare) < 2 or any(not stamp.times for stamp in stamps)):
        # One sentence that begins with a time is a sentence.
        return [_unstamped(stamp) if stamp in bare else stamp for stamp in stamps]
    return stamps


def _unstamped(stamp: Stamp) -> Stamp:
    return Stamp("", (), f"{stamp.written} {stamp.text}".strip())


def _json_lines(body: str) -> Iterator[Stamp]:
    """A line for each JSON object, or each pair of a time and a text; none where it is no JSON."""
    if body.lstrip()[:1] not in ("{", "["):
        return
    for value in _values(body):
        yield from _lines_of(value)


def _values(body: str) -> list[Any]:
    """The JSON values of a text: one, one a line, or those before where it was cut off."""
    decoder = json.JSONDecoder()
    values: list[Any] = []
    position = failures = 0
    while failures < MAX_FAILED_OPENERS and (opener := _OPENER.search(body, position)):
        try:
            value, position = decoder.raw_decode(body, opener.start())
        except RecursionError:
            break  # thousands of nested brackets are no caption
        except ValueError:
            position, failures = opener.start() + 1, failures + 1
        else:
            values.append(value)
    return [value for value in values if isinstance(value, (dict, list))]


def _lines_of(value: Any, depth: int = 0) -> Iterator[Stamp]:
    if depth > 4:
        return
    if isinstance(value, list):
        if (row := _row_of(value)) is not None:
            yield row
            return
        for item in value:
            if isinstance(item, (dict, list)):
                yield from _lines_of(item, depth + 1)
            elif isinstance(item, str) and any(c.isalpha() for c in item):
                yield read_stamp(item)
    elif isinstance(value, dict):
        line = _line_of(value)
        if line is not None:
            yield line
            return
        for name, inner in value.items():
            times = parse_times(name)
            if times and isinstance(inner, str):
                yield Stamp(name, times, inner.strip())
            elif isinstance(inner, (dict, list)):
                yield from _lines_of(inner, depth + 1)
            elif isinstance(inner, str) and _TEXT.fullmatch(name):
                yield from (read_stamp(line) for line in inner.splitlines() if line.strip())


def _row_of(items: list[Any]) -> Stamp | None:
    """A JSON list of one or two times and a text as a line: `["10:05", "10:10", "takes"]`."""
    if len(items) not in (2, 3) or not isinstance(items[-1], str):
        return None
    times = [parse_times(item) for item in items[:-1]]
    if not all(times) or parse_times(items[-1]) or not any(c.isalpha() for c in items[-1]):
        return None
    written = "-".join(str(item) for item in items[:-1])
    return Stamp(written, (times[0][0], times[-1][-1]), items[-1].strip())


def _line_of(row: dict[str, Any]) -> Stamp | None:
    """A JSON object as a line: its times, its text, then its other fields; None without a time."""
    times: dict[str, Any] = {}
    texts: list[str] = []
    others: list[str] = []
    for name, value in row.items():
        kind = next(
            (k for k, p in (("start", _START), ("end", _END), ("at", _TIMES)) if p.fullmatch(name)),
            "",
        )
        if kind and kind not in times and (parse_times(value) or _is_time_text(value)):
            times[kind] = value
        elif isinstance(value, str) and _TEXT.fullmatch(name):
            texts.append(value.strip())
        elif value not in (None, "", [], {}) and not isinstance(value, dict):
            items = value if isinstance(value, list) else [value]
            if not any(isinstance(item, (dict, list)) for item in items):
                others.append(f"{name}: {', '.join(map(str, items))}")
    if not times or not (texts or others):
        return None
    order = [times[kind] for kind in ("start", "at", "end") if kind in times]
    read = [parse_times(_with_unit(value, row)) for value in order]
    written = "-".join(str(value) for value in order)
    text = " ".join("; ".join([*texts, *others]).split())
    if not all(read):
        return Stamp(written, (), text, unread=True)
    return Stamp(written, (read[0][0], read[-1][-1]), text)


def _with_unit(value: Any, row: dict[str, Any]) -> Any:
    """A bare number with the unit that its field's name gives, as in `start_ms`."""
    if isinstance(value, list):
        return [_with_unit(item, dict.fromkeys(_names_of(value, row), item)) for item in value]
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        name = next(iter(_names_of(value, row)), "")
        if name.lower().endswith("ms"):
            return f"{value:.0f} ms"
        if name.lower().startswith("frame"):
            return f"frame {value:.0f}"
    return value


def _names_of(value: Any, row: dict[str, Any]) -> list[str]:
    return [name for name, other in row.items() if other is value]


def _is_time_text(value: Any) -> bool:
    return isinstance(value, str) and read_stamp(f"[{value}]").unread
