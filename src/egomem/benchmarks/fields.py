"""Reading the fields of a row: strict in what they mean, lenient in how they are written."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from egomem.benchmarks.rows import Fields, InvalidRowError
from egomem.records import Evidence, Option
from egomem.timeline import Span

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_LETTERED = re.compile(r"\s*\(?([A-Z])[.):]\)?\s*", re.DOTALL)


def text_field(row: Fields, *names: str, default: str | None = None) -> str:
    """The first of these fields that is there, as text. Raises InvalidRowError where none is."""
    for name in names:
        value = row.get(name)
        if value is not None and str(value).strip():
            return str(value).strip()
    if default is None:
        raise InvalidRowError(f"the field {names[0]} is missing")
    return default


def number_field(row: Fields, *names: str) -> float | None:
    """The first of these fields that is there, as a finite number.

    Raises InvalidRowError where it is something else.
    """
    for name in names:
        value = row.get(name)
        if value is None or value == "":
            continue
        try:
            found = float(value)
        except (TypeError, ValueError):
            raise InvalidRowError(f"{name} is {value!r}, not a number") from None
        if not math.isfinite(found):
            raise InvalidRowError(f"{name} is {value!r}, not a finite number")
        return found
    return None


def options_from_texts(texts: Iterable[object]) -> tuple[Option, ...]:
    """Options A, B, C ... in the order given. A text that is none raises InvalidRowError."""
    found = [str(t).strip() if t is not None else "" for t in texts]
    if not all(found):
        raise InvalidRowError(f"option {LETTERS[found.index('')]} is empty")
    if len(found) > len(LETTERS):
        raise InvalidRowError(f"{len(found)} options are more than can be lettered")
    return tuple(Option(label=a, text=t) for a, t in zip(LETTERS, found, strict=False))


def options_from_lettered_texts(texts: Iterable[object]) -> tuple[Option, ...]:
    """Options written "A. text": the letters are the labels where all are in order."""
    found = [str(t) for t in texts]
    marks = [m.group(1) if (m := _LETTERED.match(t)) else "" for t in found]
    if marks == list(LETTERS[: len(marks)]):
        found = [_LETTERED.sub("", t, count=1) for t in found]
    return options_from_texts(found)


def parse_options(value: object) -> tuple[Option, ...]:
    """Options as a list of texts, a list of `{"label", "text"}`, or a map of label to text."""
    if value is None:
        return ()
    if isinstance(value, Mapping):
        # A map read from Parquet has every key of the column, with None where there is no value.
        pairs = [(str(k), v) for k, v in value.items() if v is not None]
    elif isinstance(value, Sequence) and not isinstance(value, str):
        if not all(isinstance(v, Mapping) for v in value):
            return options_from_texts(value)
        pairs = [(text_field(v, "label"), v.get("text")) for v in value]
    else:
        raise InvalidRowError(f"the options are {value!r}, neither a list nor a map")
    if any(v is None or not str(v).strip() for _, v in pairs):
        raise InvalidRowError("an option is empty")
    return tuple(Option(label=k, text=str(v).strip()) for k, v in pairs)


def label_at_index(value: object, choices: Sequence[Option]) -> str:
    """The label at an index that counts from 0. Raises InvalidRowError where it is none."""
    try:
        index = int(str(value).strip().removesuffix(".0"))  # 3.0: a column that had gaps
    except ValueError:
        raise InvalidRowError(f"the answer is {value!r}, not the index of an option") from None
    if not 0 <= index < len(choices):
        raise InvalidRowError(f"the answer is option {index} of {len(choices)}, counting from 0")
    return choices[index].label


def matching_label(value: object, choices: Sequence[Option]) -> str:
    """The option label that `value` names, in upper or lower case.

    Raises InvalidRowError where there is no such option.
    """
    said = str(value).strip().strip("().").casefold()
    for option in choices:
        if option.label.casefold() == said:
            return option.label
    labels = ", ".join(o.label for o in choices)
    raise InvalidRowError(f"the answer {value!r} is none of the options {labels}")


def label_of_text(value: object, choices: Sequence[Option]) -> str:
    """The label of the only option with this text.

    Raises InvalidRowError where no option or several have it.
    """
    found = [o.label for o in choices if o.text == str(value).strip()]
    if len(found) != 1:
        many = "none" if not found else f"{len(found)}"
        raise InvalidRowError(f"the answer {value!r} is {many} of the options")
    return found[0]


def parse_evidence(value: object, video: str | None) -> tuple[Evidence, ...]:
    """Spans as `[start, end]`, a lone second, or `{"start", "end"?, "video"?, "quote"?}`."""
    if value is None:
        return ()
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise InvalidRowError(f"the evidence is {value!r}, not a list")
    return tuple(_parse_evidence_item(piece, video) for piece in value)


def _parse_evidence_item(value: object, video: str | None) -> Evidence:
    quote = ""
    if isinstance(value, Mapping):
        start, end = value.get("start"), value.get("end")
        video = str(value.get("video") or video or "") or None
        quote = str(value.get("quote") or "")
    elif isinstance(value, Sequence) and not isinstance(value, str) and len(value) in (1, 2):
        start, end = value[0], value[-1]
    else:
        start = end = value
    return Evidence(recording=video, span=parse_span(start, end), quote=quote)


def parse_span(start: object, end: object = None) -> Span:
    """A span in seconds; a point where there is no end.

    Raises InvalidRowError, which names both ends, where they make no span.
    """
    times = {"start": start, "end": start if end is None else end}
    first, last = number_field(times, "start"), number_field(times, "end")
    if first is None or last is None:
        raise InvalidRowError("a piece of evidence has no start")
    if first < 0 or last < first:
        raise InvalidRowError(f"evidence from {first:g} s to {last:g} s cannot be")
    return Span(first, last)


def select_tags(row: Fields, *names: str, **renamed: str) -> dict[str, Any]:
    """The fields that are there, as tags; `renamed` maps a tag to the field that it comes from."""
    wanted = {**{name: name for name in names}, **renamed}
    return {tag: row[name] for tag, name in wanted.items() if row.get(name) not in (None, "", [])}
