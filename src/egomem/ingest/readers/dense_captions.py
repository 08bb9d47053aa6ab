"""SuperMemory-VQA's phase 1: dense captions of a video in chunks -> rows.

`<video>_caption_narrations.json` holds `{video_id, duration, start_time, chunks: [{chunk_index,
start_time, end_time, caption}]}`; a caption has a summary and segments, each with a time span and a
description. Times within are of the video. What a segment describes becomes a caption, what it
quotes speech, sounds in square brackets sounds, and what it read screen text, each of the track
`phase1`; a chunk's summary is a caption of the track `phase1-summary`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from egomem.ingest.readers.rows import Row

_ABOUT = ("importance", "confidence", "optimal_sampling_rate", "optimal_resolution")
_SOUND = re.compile(r"\s*\[([^\[\]]+)\]\s*\.?\s*")


def is_dense_captions(document: object) -> bool:
    """Whether a JSON document is one of chunks with captions."""
    if not isinstance(document, Mapping):
        return False
    chunks = document.get("chunks", document.get("chunk_captions"))
    return (
        isinstance(chunks, list)
        and bool(chunks)
        and any(isinstance(chunk, Mapping) and "caption" in chunk for chunk in chunks)
    )


def dense_caption_rows(document: Mapping[str, Any]) -> Iterator[Row]:
    """The rows of a file, numbered by chunk; a chunk that is none is named and passed over."""
    chunks = document.get("chunks", document.get("chunk_captions"))
    about = {
        "video_id": document.get("video_id"),
        "recording_start": document.get("start_time"),
        "duration": document.get("duration"),
    }
    for number, chunk in enumerate(chunks if isinstance(chunks, list) else (), 1):
        if not isinstance(chunk, Mapping):
            yield number, "it is not an object"
            continue
        its_video = {**about, **({"video_id": chunk["video_id"]} if "video_id" in chunk else {})}
        for row in _chunk_rows(chunk):
            if isinstance(row, str):
                yield number, row
            else:
                yield number, {k: v for k, v in {**its_video, **row}.items() if v is not None}


def _chunk_rows(chunk: Mapping[str, Any]) -> Iterator[dict[str, Any] | str]:
    caption = chunk.get("caption")
    times = {"start": chunk.get("start_time"), "end": chunk.get("end_time")}
    if isinstance(caption, str):
        try:
            caption = json.loads(caption)
        except (ValueError, RecursionError):
            yield {**times, "text": caption, "track": "caption/phase1-summary"}
            return
    if not isinstance(caption, Mapping):
        yield "it has no caption"
        return
    summary = caption.get("overall_summary")
    if isinstance(summary, str) and summary.strip():
        yield {
            **times,
            "text": summary,
            "track": "caption/phase1-summary",
            "chunk": chunk.get("chunk_index"),
        }
    segments = caption.get("segments")
    for segment in segments if isinstance(segments, list) else ():
        if isinstance(segment, Mapping):
            yield from _segment_rows(segment)
        else:
            yield "a segment is not an object"


def _segment_rows(segment: Mapping[str, Any]) -> Iterator[dict[str, Any] | str]:
    span = segment.get("time_span")
    description = segment.get("description")
    if not isinstance(span, Mapping) or span.get("start_time") is None:
        yield "a segment has no time span"
        return
    times = {"start": span.get("start_time"), "end": span.get("end_time")}
    if isinstance(description, str):
        description = {"activities": description}
    if not isinstance(description, Mapping):
        yield "a segment has no description"
        return
    people = list(_people(description.get("people")))
    objects = _texts(description.get("objects"))
    text = _sentences(
        *_texts(description.get("activities")),
        *_texts(description.get("environment")),
        *(f"{who}: {activity}" for who, activity in people),
        f"Objects: {', '.join(objects)}" if objects else "",
    )
    if text:
        yield {
            **times,
            "text": text,
            "source": "caption",
            "track": "caption/phase1",
            "people": dict(people) or None,
            "objects": objects or None,
            **{name: segment.get(name) for name in _ABOUT},
        }
    for line in _texts(description.get("visible_text")):
        yield {**times, "text": line, "source": "screen_text", "track": "screen_text/phase1"}
    transcript = description.get("audio_transcript")
    for line in transcript if isinstance(transcript, list) else ():
        yield from _heard(line, times)


def _heard(line: object, times: Mapping[str, Any]) -> Iterator[dict[str, Any] | str]:
    """A line of a segment's transcript: a sound in brackets, or what somebody says."""
    spoken = line.get("transcript") if isinstance(line, Mapping) else line
    speaker = line.get("speaker") if isinstance(line, Mapping) else None
    if not isinstance(spoken, str) or not spoken.strip():
        return
    sound = _SOUND.fullmatch(spoken)
    if sound and speaker is None:
        yield {**times, "text": sound[1].strip(), "source": "sound", "track": "sound/phase1"}
    else:
        yield {
            **times,
            "text": spoken,
            "source": "speech",
            "track": "speech/phase1",
            "speaker": speaker,
        }


def _people(value: object) -> Iterator[tuple[str, str]]:
    for person in value if isinstance(value, list) else ():
        if isinstance(person, Mapping) and person.get("person"):
            yield str(person["person"]), str(person.get("description") or "").strip()


def _texts(value: object) -> list[str]:
    """A text, or a list of texts; "none" and the like are left out."""
    values = value if isinstance(value, list) else [value]
    texts = (v.strip() for v in values if isinstance(v, str))
    return [t for t in texts if t and t.casefold().rstrip(".") not in ("none", "n/a", "null")]


def _sentences(*parts: str) -> str:
    texts = (part.strip() for part in parts)
    return " ".join(t if t.endswith((".", "!", "?")) else f"{t}." for t in texts if t)
