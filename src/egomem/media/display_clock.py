"""Display times of a video stream's frames."""

from __future__ import annotations

import heapq
from typing import Literal

import av
from av.video.stream import VideoStream

Timing = Literal["display", "count"]


class DisplayClock:
    """The display time of each decoded frame, in ticks of the stream's time base.

    Timing "display" takes the frame's own PTS. Timing "count" is for files without PTS (AVI with
    B-frames, raw streams) or with PTS that are not in display order. Frames leave the decoder in
    display order, so the n-th frame has the n-th smallest stamp of the packets.
    """

    def __init__(self, timing: Timing, step: int) -> None:
        self._timing = timing
        self._step = max(1, step)
        self._stamps: list[int] = []
        self._last: int | None = None

    def add_packet(self, packet: av.Packet[VideoStream]) -> None:
        if self._timing == "count" and packet.size and not packet.is_discard:
            stamp = packet.pts if packet.pts is not None else packet.dts
            if stamp is not None:
                heapq.heappush(self._stamps, stamp)

    def time(self, frame: av.VideoFrame) -> int:
        """The next frame's display time. Call it for each frame, in the decoder's order."""
        ticks = frame.pts if self._timing == "display" else None
        if ticks is None:
            next_regular = 0 if self._last is None else self._last + self._step
            ticks = heapq.heappop(self._stamps) if self._stamps else next_regular
        self._last = ticks
        return ticks

    def reset(self) -> None:
        """Forget packets whose frames will not come."""
        # Else the frames after a seek would get the times of those that never came.
        self._stamps.clear()


def frame_step(stream: VideoStream) -> int:
    """Ticks between frames at the stream's nominal rate; 1/25 s where it has none."""
    rate = stream.guessed_rate or stream.average_rate or 25
    assert stream.time_base is not None
    return max(1, round(1 / (rate * stream.time_base)))
