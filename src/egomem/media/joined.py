"""Transport streams that were joined by `cat`: times that start anew go on where the last ended.

Dashcams, recorders of television and people join `.ts` files so. FFmpeg hands out the times as they
stand in each part: they go back at a joint, and seeking by them finds another part's packets.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import av
from av.container.input import InputContainer

from egomem.media.container import DecodeError, open_media

MAX_STEP_BACK_S = 1.0
"""Seconds that decoding times may go back within one part."""

MAX_LEAP_S = 3600.0
"""Seconds of a leap ahead that is no gap: FFmpeg adds a whole turn of the 33-bit clock where a part
begins before the first one did."""

HEAD_BYTES = 4 << 20
"""Bytes at the beginning of a large file from which its usual rate is told."""

SMALL_BYTES = 64 << 20
"""All packets of a file up to this size are read to find joints."""


def demux(container: InputContainer, stream: Any) -> Iterator[Any]:
    """The packets of a stream from here on, in a file of joined parts with times that go on."""
    if not is_transport_stream(container):
        yield from container.demux(stream)
        return
    yield from (packet for packet, _ in _continuous(container) if _is_of(packet, stream))


def is_transport_stream(container: InputContainer) -> bool:
    return container.format.name == "mpegts"


def _is_of(packet: Any, stream: Any) -> bool:
    return bool(packet.stream.index == stream.index)


def _continuous(container: InputContainer) -> Iterator[tuple[Any, int]]:
    """All packets of video and sound, and the number of joints before each.

    Both are looked at, whichever is asked for: a joint must move them by the same.
    """
    streams = [s for s in container.streams if s.type in ("video", "audio")]
    latest: dict[int, int] = {}  # by stream, as written in this part
    offset = end = joints = 0
    for packet in container.demux(streams):
        stamp = packet.dts if packet.dts is not None else packet.pts
        base = packet.time_base
        if stamp is not None and base:
            before = latest.get(packet.stream.index)
            if before is not None and not -MAX_STEP_BACK_S <= (stamp - before) * base <= MAX_LEAP_S:
                joints += 1
                offset = end - stamp
                latest.clear()
            latest[packet.stream.index] = stamp
            display_time = packet.pts if packet.pts is not None else stamp
            end = max(end, display_time + offset + (packet.duration or 0))
        if offset:
            packet.pts = None if packet.pts is None else packet.pts + offset
            packet.dts = None if packet.dts is None else packet.dts + offset
        yield packet, joints


def count_joints(path: str | Path) -> int:
    """How many joints a transport stream has; 0 for any other file."""
    status = os.stat(path)
    return _count_joints(str(path), status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=64)
def _count_joints(path: str, size: int, modified: int) -> int:
    try:
        with open_media(path) as container:
            if not is_transport_stream(container):
                return 0
            if size > SMALL_BYTES and _has_usual_length(container, size):
                return 0
        with open_media(path) as container:
            return max((joints for _, joints in _continuous(container)), default=0)
    except DecodeError:
        return 0


def _has_usual_length(container: InputContainer, size: int) -> bool:
    """Whether a large file is as long as its first megabytes make expect: then it is one part."""
    if not container.duration:
        return False
    read, first, last = 0, None, None
    for packet in container.demux():
        read += packet.size
        if packet.dts is not None and packet.time_base:
            seconds = float(packet.dts * packet.time_base)
            first, last = (seconds if first is None else first), seconds
        if read > HEAD_BYTES:
            break
    if first is None or last is None or last <= first:
        return False
    expected = size / read * (last - first)
    return expected < 1.5 * container.duration / av.time_base
