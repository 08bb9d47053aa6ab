"""Evidence in rows of predictions: `[[61.5, 70]]`, `["1:01-1:10"]`, `{"start", "end", "video"}`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from egomem.errors import TimeError
from egomem.records import Answer, Evidence, Question
from egomem.timeline import Span, read_time

_START = ("start", "start_time", "begin", "from", "time", "timestamp", "t")
_END = ("end", "end_time", "to", "until")


def evidence_rows(answer: Answer) -> list[dict[str, Any]]:
    """An answer's evidence as values of JSON, in the form that `read_evidence` takes."""
    rows = []
    for piece in answer.evidence:
        row: dict[str, Any] = {"start": piece.span.start, "end": piece.span.end}
        if piece.recording is not None:
            row["video"] = piece.recording
        if piece.when is not None:
            row["when"] = piece.when.isoformat()
        rows.append(row)
    return rows


def read_evidence(value: object, question: Question) -> tuple[Evidence, ...]:
    """Evidence out of a row of predictions; a piece without a video is of the question's.

    Raises ValueError, which says what of it cannot be read.
    """
    if value is None:
        return ()
    if not isinstance(value, Sequence) or isinstance(value, str):
        value = [value]
    # [61.5, 70] alone is one stretch: two seconds of evidence would be written [[61.5], [70]].
    items: list[Any] = list(value)
    if len(items) == 2 and all(map(_is_number, items)) and items[0] <= items[1]:
        items = [items]
    return tuple(_piece(item, question) for item in items)


def _piece(value: object, question: Question) -> Evidence:
    video, when = question.recording, None
    start: object
    end: object
    if isinstance(value, Mapping):
        start = next((value[name] for name in _START if value.get(name) is not None), None)
        end = next((value[name] for name in _END if value.get(name) is not None), start)
        given = value.get("video", value.get("video_id", value.get("recording")))
        when = _instant(value.get("when"))
        # Without a video, a piece with an instant lies on the wearer's timeline.
        video = str(given) if given else video
    elif isinstance(value, Sequence) and not isinstance(value, str) and len(value) in (1, 2):
        start, end = value[0], value[-1]
    else:
        start = end = value
    first, last = _seconds(start), _seconds(end)
    span = (first[0], last[-1])
    if span[0] < 0 or span[1] < span[0]:
        raise ValueError(f"evidence from {span[0]:g} s to {span[1]:g} s cannot be")
    return Evidence(recording=video, span=Span(*span), when=when)


def _seconds(value: object) -> tuple[float, float]:
    if isinstance(value, (int, float)) and _is_number(value):
        return float(value), float(value)
    if isinstance(value, str):
        try:
            number = float(value)
        except ValueError:
            pass
        else:
            return _seconds(number)
        try:
            mention = read_time(value)
        except TimeError as error:
            raise ValueError(f"the evidence {value!r} cannot be read: {error.message}") from None
        if mention.span is not None:
            return mention.span.start, mention.span.end
    raise ValueError(f"the evidence {value!r} is no time in seconds of a video")


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _instant(value: object) -> datetime | None:
    if value is None:
        return None
    try:
        when = datetime.fromisoformat(str(value))
    except ValueError:
        raise ValueError(f"the evidence's time {value!r} is not ISO 8601") from None
    if when.utcoffset() is None:
        raise ValueError(f"the evidence's time {value!r} has no offset")
    return when
