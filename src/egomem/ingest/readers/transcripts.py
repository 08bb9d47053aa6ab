"""Transcripts of other tools, in JSON -> segments with `start`, `end` and `text` in seconds."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeGuard

from egomem.errors import TimeError
from egomem.timeline import read_time

Segments = list[Any]
"""Objects as Whisper and WhisperX write them; what is no object is kept, to be named."""


def transcript_segments(document: object) -> Segments | None:
    """The segments of a transcript of a known form, None for anything else.

    Known: Whisper, WhisperX and OpenAI (`segments`), whisper.cpp (`transcription`), pipelines of
    transformers (`chunks`), AssemblyAI and Deepgram (`utterances`), Amazon (`audio_segments`),
    YouTube (`events`).
    """
    if not isinstance(document, Mapping):
        return None
    for name, read in _FORMS.items():
        rows = document.get(name)
        results = document.get("results")
        if rows is None and isinstance(results, Mapping):
            rows = results.get(name)
        if isinstance(rows, list) and rows and (segments := read(document, rows)) is not None:
            return segments
    return None


def language_of(document: Mapping[str, Any]) -> str | None:
    result = document.get("result")
    language = document.get("language") or (
        result.get("language") if isinstance(result, Mapping) else None
    )
    return language if isinstance(language, str) else None


def _each(rows: Sequence[Any], fields: Any) -> Segments:
    """Each row with the fields that were read of it; a row without them stays as it is."""
    segments: Segments = []
    for row in rows:
        values = fields(row) if isinstance(row, Mapping) else None
        segments.append(row if values is None else values)
    return segments


def _whisper(document: Mapping[str, Any], rows: list[Any]) -> Segments | None:
    return rows


def _whisper_cpp(document: Mapping[str, Any], rows: list[Any]) -> Segments | None:
    def fields(row: Mapping[str, Any]) -> dict[str, Any] | None:
        span = _cpp_times(row)
        if span is None:
            return None
        segment: dict[str, Any] = {"start": span[0], "end": span[1], "text": row.get("text")}
        if row.get("speaker") is not None:
            segment["speaker"] = row["speaker"]
        words = list(_cpp_words(row.get("tokens") or ()))
        return segment | ({"words": words} if words else {})

    return _each(rows, fields)


def _cpp_times(row: Mapping[str, Any]) -> tuple[float, float] | None:
    offsets, stamps = row.get("offsets"), row.get("timestamps")
    if isinstance(offsets, Mapping) and all(_is_number(offsets.get(k)) for k in ("from", "to")):
        return offsets["from"] / 1000, offsets["to"] / 1000
    if isinstance(stamps, Mapping):
        start, end = _clock(stamps.get("from")), _clock(stamps.get("to"))
        return None if start is None or end is None else (start, end)
    return None


def _cpp_words(tokens: Sequence[Any]) -> Iterator[dict[str, Any]]:
    """Words of whisper.cpp's tokens, each of which begins a word where it begins with a space."""
    word: dict[str, Any] | None = None
    for token in tokens:
        text = token.get("text") if isinstance(token, Mapping) else None
        if not isinstance(text, str) or re.match(r"\[_|<\|", text):
            continue
        if (span := _cpp_times(token)) is None:
            continue
        if word is None or text.startswith(" "):
            if word is not None:
                yield word
            word = {"start": span[0], "end": span[1], "word": text.strip(), "score": token.get("p")}
        else:
            word = word | {"end": span[1], "word": word["word"] + text}
    if word is not None:
        yield word


def _chunks(document: Mapping[str, Any], rows: list[Any]) -> Segments | None:
    def fields(row: Mapping[str, Any]) -> dict[str, Any] | None:
        times = row.get("timestamp")
        if not isinstance(times, list) or len(times) != 2 or not _is_number(times[0]):
            return None
        end = times[1] if _is_number(times[1]) else times[0]
        return {k: v for k, v in row.items() if k != "timestamp"} | {"start": times[0], "end": end}

    return _each(rows, fields)


def _utterances(document: Mapping[str, Any], rows: list[Any]) -> Segments | None:
    """AssemblyAI counts milliseconds and calls the words `text`, Deepgram seconds and
    `transcript`.
    """

    def fields(row: Mapping[str, Any]) -> dict[str, Any] | None:
        start, end = row.get("start"), row.get("end")
        text = row.get("text", row.get("transcript"))
        if not (_is_number(start) and _is_number(end)) or text is None:
            return None
        unit = 1 if "transcript" in row else 1000
        segment = {"start": start / unit, "end": end / unit, "text": text}
        speaker = row.get("speaker")
        return segment | ({} if speaker is None else {"speaker": str(speaker)})

    return _each(rows, fields)


def _amazon(document: Mapping[str, Any], rows: list[Any]) -> Segments | None:
    def fields(row: Mapping[str, Any]) -> dict[str, Any] | None:
        try:
            times = {"start": float(row["start_time"]), "end": float(row["end_time"])}
        except (KeyError, TypeError, ValueError):
            return None
        speaker = row.get("speaker_label")
        segment = times | {"text": row.get("transcript")}
        return segment | ({} if speaker is None else {"speaker": str(speaker)})

    return _each(rows, fields)


def _youtube(document: Mapping[str, Any], rows: list[Any]) -> Segments | None:
    segments: Segments = []
    for row in rows:
        if not isinstance(row, Mapping) or not _is_number(row.get("tStartMs")):
            return None
        text = "".join(
            str(s.get("utf8") or "") for s in row.get("segs") or () if isinstance(s, Mapping)
        ).strip()
        # Events without words place the window on the screen, or break a line.
        if text:
            start = row["tStartMs"] / 1000
            length = row.get("dDurationMs")
            end = start + (length / 1000 if _is_number(length) else 0)
            segments.append({"start": start, "end": end, "text": text})
    return segments or None


_FORMS = {
    "segments": _whisper,
    "transcription": _whisper_cpp,
    "chunks": _chunks,
    "utterances": _utterances,
    "audio_segments": _amazon,
    "events": _youtube,
}
"""The name of the list of segments -> its reader; of several lists, the first here is read."""


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _clock(value: object) -> float | None:
    if not isinstance(value, str):
        return None
    try:
        when = read_time(value.replace(",", "."))
    except TimeError:
        return None
    return when.span.start if when.span is not None else None


# -- times under other names -----------------------------------------------------------------------

_TIME_NAME = re.compile(
    r"(?:.*_)?(?:start|begin|end|stop|from|to|offsets?|times?|timestamps?|timecode|created|date|"
    r"when|t0|t1|ts|t|in|out|sec|secs|seconds|ms)(?:_.*)?|.*(?:Time|Start|End|Offset|Ms|Sec|At)s?",
)


def time_fields(row: Mapping[str, Any]) -> list[str]:
    """The fields of a row that look like its time, though egomem does not know them."""
    return [name for name, value in row.items() if _looks_like_time(name, value)]


def _looks_like_time(name: str, value: object) -> bool:
    if isinstance(value, Mapping):
        return bool(time_fields(value))
    if isinstance(value, list) and value and isinstance(value[0], Mapping):
        return bool(time_fields(value[0]))
    if not _TIME_NAME.fullmatch(name):
        return False
    if isinstance(value, str):
        return re.search(r"\d", value) is not None
    first = value[0] if isinstance(value, list) and value else value
    return _is_number(first)
