"""`captions.jsonl` of a run: what each caption took when it was made.

The replies themselves may be deleted at any time; what the memory of a run cost may not go with
them. A line holds the key of a request and its usage, and no text. A window that was asked about,
and has no caption, has a line as well.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from pydantic import Field

from egomem.errors import FullError
from egomem.evaluate.usage_log import packed
from egomem.memory import Store
from egomem.memory.failed_windows import window_unit
from egomem.memory.replies import ReplyCache
from egomem.records import Observation, Record, Usage
from egomem.timeline import Span

NAME = "captions.jsonl"


class CaptionUsage(Record):
    """What the captions that a column reads took, by video. `missing` says why some of it is not
    known, so that no sum of it is the whole; "" where all is."""

    by_video: dict[str, Usage] = Field(default_factory=dict)
    missing: str = ""


def read_building(folder: Path) -> dict[str, Usage]:
    """Key of a request -> what it took; a line that cannot be read is no line."""
    try:
        held = (folder / NAME).read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return {}
    found = {}
    for line in held.split("\n"):
        try:
            row = json.loads(line)
            found[str(row["request"])] = Usage.model_validate(row["usage"])
        except (ValueError, LookupError, TypeError):
            continue
    return found


def keep_building(folder: Path, store: Store, cache: ReplyCache, tracks: Iterable[str]) -> None:
    """Write down what the captions of these tracks took, as far as their replies are there.

    Raises FullError.
    """
    before = read_building(folder)
    new = {}
    wanted = list(tracks)
    for o in store.view().observations(tracks=wanted) if wanted else ():
        key = o.provenance.request
        if key and key not in before and (usage := in_cache(o, cache)):
            new[key] = usage
    if new:
        write_building(folder, before | new)


def gap_key(track: str, recording: str, window: Span) -> str:
    """What stands for the request of a window that has no caption."""
    return f"gap {recording} {window_unit(window)} {track}"


def keep_gap(folder: Path, key: str, usage: Usage) -> None:
    """Write down what a window took whose reply was no caption; such replies are not cached.

    Raises FullError.
    """
    counted = usage.model_copy(update={"requests": max(1, usage.requests)})
    write_building(folder, read_building(folder) | {key: counted})


def write_building(folder: Path, held: Mapping[str, Usage]) -> None:
    """All of it anew, or nothing. Raises FullError."""
    path = folder / NAME
    part = path.with_name(f"{NAME}.part")
    try:
        with part.open("w", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in _lines(held))
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except OSError as fault:
        raise FullError(
            f"cannot write to {path}: {fault.strerror}",
            "no caption is lost; make room and run the same command again",
        ) from fault


def _lines(held: Mapping[str, Usage]) -> Iterator[str]:
    for key, usage in held.items():
        yield packed({"request": key, "usage": usage.model_dump(mode="json")})


def in_cache(made: Observation, cache: ReplyCache) -> Usage | None:
    """What a caption took, by its cached reply; a reply out of the cache counts as one request."""
    reply = cache.get(made.provenance.request or "")
    if reply is None:
        return None
    return reply.usage.model_copy(update={"requests": max(1, reply.usage.requests)})
