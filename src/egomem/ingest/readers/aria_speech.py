"""Speech of Aria's data sets: `speech.csv`, a word a row, in nanoseconds of device time."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Mapping
from typing import Any

from egomem.errors import MediaError
from egomem.ingest.readers.rows import Row

MAX_PAUSE_S = 0.8
"""Seconds of silence within an utterance; a longer pause ends it (our choice)."""

MAX_UTTERANCE_S = 15.0

_NAMES = ("startTime_ns", "endTime_ns", "written")


def is_aria_speech(begin: bytes) -> bool:
    """Whether a file begins with the header of Aria's speech."""
    header = begin.removeprefix(b"\xef\xbb\xbf").split(b"\n", 1)[0].decode("utf-8", "replace")
    return set(_NAMES) <= {name.strip() for name in header.split(",")}


def aria_speech_rows(text: str, device_start: float | None) -> Iterator[Row]:
    """Utterances of words that follow each other, with the words' times and confidences.

    `device_start`: the device's own time (s) at the recording's second 0. Raises MediaError where
    it is not known, as the words could not be placed.
    """
    if device_start is None:
        raise MediaError(
            "it counts its device's own time, which nothing ties to the recording",
            "ingest the video with its gaze or trajectory first, and name it: --recording NAME",
        )
    words: list[list[Any]] = []
    first = 0
    for number, row in enumerate(csv.DictReader(text.splitlines()), 2):
        word = _word(row, device_start)
        if isinstance(word, str):
            yield number, word
            continue
        if words and _is_over(words, word):
            yield first, _utterance(words)
            words = []
        first = first if words else number
        words.append(word)
    if words:
        yield first, _utterance(words)


def _word(row: Mapping[str, str | None], device_start: float) -> list[Any] | str:
    try:
        start, end = (float(row[name] or "") * 1e-9 - device_start for name in _NAMES[:2])
    except (TypeError, ValueError):
        return "its times are no numbers"
    text = (row.get("written") or "").strip()
    if not text:
        return "it has no text"
    if not (math.isfinite(start) and math.isfinite(end)) or end < start:
        return "its times cannot be"
    try:
        confidence = float(row.get("confidence") or "")
    except ValueError:
        confidence = math.nan
    return [start, end, text, confidence if math.isfinite(confidence) else None]


def _is_over(words: list[list[Any]], word: list[Any]) -> bool:
    last, text = words[-1][1], str(words[-1][2])
    return bool(
        word[0] - last > MAX_PAUSE_S
        or word[0] < words[-1][0]
        or text.rstrip("\"'”’").endswith((".", "?", "!"))
        or word[1] - words[0][0] > MAX_UTTERANCE_S
    )


def _utterance(words: list[list[Any]]) -> dict[str, Any]:
    return {
        "start": words[0][0],
        "end": max(word[1] for word in words),
        "text": " ".join(str(word[2]) for word in words),
        "words": words,
    }
