"""Decoding only the packets that a target picture depends on.

The targets are the pictures on screen at the requested times. A stream is read in segments, each
from a packet where decoding can begin to the next such packet. Of a segment the decoder gets
nothing after its last target (in decoding order), no disposable picture that is no target, and
nothing at all where there is no target. Packets wait in memory only until the targets among them
are known: not longer than a segment, and within bounds.

The pictures are those of full decoding, to the pixel. Where that is not certain, `UnsafeToPrune` is
raised, with the place from which to decode everything.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import TypeAlias

import av
from av.container.input import InputContainer
from av.video.stream import VideoStream

from egomem.errors import reason
from egomem.media.bitstream import HeaderReader, PacketHeader, Restart, UnsafeToPrune, header_reader
from egomem.media.container import DecodeError, is_cut_off
from egomem.media.decode import CUT_OFF, DecodeStats, IndexedPicture, OpenVideo, StreamTiming
from egomem.media.joined import count_joints, demux

VideoPacket: TypeAlias = "av.Packet[VideoStream]"

MAX_REORDER = 33
"""Packets. No codec shows a picture more than 16 frames (32 fields) later than it is decoded
(H.264 A.3.1, H.265 A.4): after this many packets past a time, none before it can follow."""

MAX_PENDING_PACKETS = 1024
MAX_PENDING_BYTES = 48 << 20
"""Bounds of what waits in memory, for streams that hardly ever restart."""

MIN_SEEK_S = 10.0
"""Seconds to the next target from which seeking is cheaper than reading on."""

SEEK_BACK_S = (0.0, 2.0, 15.0, 120.0)
"""Seconds before a requested time to seek to, in turn, until a key frame before it is found."""


class PendingPacket:
    """A packet that waits to be decoded or dropped; `pts` in ticks."""

    __slots__ = ("disposable", "is_shown", "packet", "pts")

    def __init__(self, packet: VideoPacket, pts: int, header: PacketHeader) -> None:
        self.packet = packet
        self.pts = pts
        self.disposable = header.disposable
        self.is_shown = header.shown and not packet.is_discard


class Pruner:
    """Finds the pictures for `limits` (ticks, ascending).

    After UnsafeToPrune, `anchor` is the PTS of a key frame from which full decoding finds all
    pictures that have not come out yet; None means the beginning of the file.
    """

    def __init__(self, timing: StreamTiming, limits: Sequence[int], stats: DecodeStats) -> None:
        self.anchor: int | None = None
        self._timing = timing
        self._limits = limits
        self._stats = stats
        self._next = 0  # index of the first limit whose target is not known
        self._targets: deque[tuple[int, int]] = deque()  # (index, PTS) known, not yet out
        self._frames: dict[int, av.VideoFrame] = {}  # decoded: targets, or perhaps targets later
        self._start_segment()
        self._is_first_segment = True

    def _start_segment(self) -> None:
        """Forget the segment; the next one begins at whatever restart comes."""
        self._is_first_segment = False
        self._begin: int | None = None  # PTS of the segment's first packet
        self._open_restart: int | None = None  # PTS of one that leading pictures may follow
        self._times: list[int] = []  # PTS of the segment's shown pictures, sorted
        self._pending: list[PendingPacket] = []  # in decoding order
        self._pending_bytes = 0
        self._end = 0  # when the last shown picture ends

    def pictures(self, opened: OpenVideo) -> Iterator[IndexedPicture]:
        """The picture of each limit. Raises UnsafeToPrune where full decoding must go on."""
        container, stream = opened.container, opened.stream
        with container:
            assert stream.time_base is not None
            self._decoder = stream.codec_context
            read_header = header_reader(stream)
            packets = opened.packets
            min_seek = int(MIN_SEEK_S / stream.time_base)
            newest, sought = self._timing.start, -1
            while True:
                if self._next == len(self._limits):
                    yield from self._drain()
                    return
                if self._limits[self._next] - newest > min_seek and sought != self._next:
                    sought = self._next
                    yield from self._drain()
                    self._start_segment()
                    packets = self._seek(container, stream, read_header)
                try:
                    packet = next(packets, None)
                except DecodeError as error:
                    raise UnsafeToPrune(reason(error)) from error
                if packet is None or not packet.size:  # PyAV ends a stream with an empty packet
                    if is_cut_off(container, stream, self._timing.path):
                        raise UnsafeToPrune(CUT_OFF)  # full decoding counts what is lost
                    break
                if packet.is_corrupt or packet.has_sidedata("new_extradata"):
                    raise UnsafeToPrune(
                        "a packet is incomplete, or changes the stream's parameters"
                    )
                yield from self._take(packet, read_header(bytes(packet), packet.is_keyframe))
                newest = max(newest, packet.pts or newest)
            yield from self._finish()

    def _seek(
        self, container: InputContainer, stream: VideoStream, read_header: HeaderReader
    ) -> Iterator[VideoPacket]:
        """Packets from a restart that is not after the next limit."""
        assert stream.time_base is not None
        if count_joints(self._timing.path):
            raise UnsafeToPrune("parts were joined, and seeking may find another one")
        limit = self._limits[self._next]
        for back in SEEK_BACK_S:
            try:
                container.seek(limit - int(back / stream.time_base), stream=stream)
                packets = demux(container, stream)
                for packet in packets:
                    if not packet.size or packet.pts is None:
                        break
                    if read_header(bytes(packet), packet.is_keyframe).restart is not Restart.NO:
                        if packet.pts <= limit:
                            return chain([packet], packets)
                        break
            except DecodeError:
                break
        raise UnsafeToPrune("no key frame is found by seeking")

    def _take(self, packet: VideoPacket, header: PacketHeader) -> Iterator[IndexedPicture]:
        pts = packet.pts
        if pts is None:
            raise UnsafeToPrune("a packet has no display time")
        if self._open_restart is not None and pts > self._open_restart:
            yield from self._restart_at(self._open_restart)
        if header.restart is not Restart.NO:
            if self._open_restart is not None or (self._begin is not None and pts <= self._begin):
                raise UnsafeToPrune("key frames are not in display order")
            if self._begin is not None and header.restart is Restart.OPEN:
                self._open_restart = pts
            else:
                if self._begin is not None:
                    yield from self._close_segment(pts)
                self._begin = self.anchor = pts
        elif self._begin is None:
            if self._is_first_segment:
                raise UnsafeToPrune("the file does not begin with a key frame")
            return
        elif pts < self._begin and not self._is_first_segment:
            # Leading pictures of the restart that decoding began at: what they refer to is gone.
            if len(self._times) > 1:
                raise UnsafeToPrune("a picture is shown before its key frame")
            return
        self._append(PendingPacket(packet, pts, header))
        if self._open_restart is None:
            yield from self._settle()

    def _append(self, item: PendingPacket) -> None:
        self._pending.append(item)
        self._pending_bytes += item.packet.size
        # Packets before the first displayed frame (an edit list) are decoded but never shown.
        if item.is_shown and item.pts >= self._timing.start:
            place = bisect_right(self._times, item.pts)
            if place and self._times[place - 1] == item.pts:
                raise UnsafeToPrune("two pictures share a display time")
            self._times.insert(place, item.pts)
            self._end = max(self._end, item.pts + (item.packet.duration or self._timing.step))

    def _settle(self) -> Iterator[IndexedPicture]:
        """Feed the packets that are needed for certain, as soon as that is known."""
        count = len(self._targets)
        settled = self._times[-MAX_REORDER] if len(self._times) >= MAX_REORDER else -math.inf
        self._find_targets(settled)
        if len(self._targets) > count:
            yield from self._feed(self._last_target() + 1, self._floor())
        elif len(self._pending) > MAX_PENDING_PACKETS or self._pending_bytes > MAX_PENDING_BYTES:
            yield from self._feed(len(self._pending) - MAX_REORDER, self._floor())

    def _find_targets(self, bound: float) -> None:
        """Find the target of each limit below `bound`: all pictures before it are known."""
        while self._next < len(self._limits) and self._limits[self._next] < bound:
            place = bisect_right(self._times, self._limits[self._next])
            if not place:
                raise UnsafeToPrune("no picture is on screen at a requested time")
            self._targets.append((self._next, self._times[place - 1]))
            self._next += 1

    def _floor(self) -> float:
        """The PTS before which no picture is the target of a limit that is still open."""
        if self._next == len(self._limits):
            return math.inf
        place = bisect_right(self._times, self._limits[self._next])
        return self._times[place - 1] if place else -math.inf

    def _last_target(self) -> int:
        """The index of the last pending packet that is a target; -1 where none is."""
        targets = {pts for _, pts in self._targets}
        return max((i for i, item in enumerate(self._pending) if item.pts in targets), default=-1)

    def _feed(self, count: int, floor: float) -> Iterator[IndexedPicture]:
        """Decode the first `count` pending packets, except disposable pictures below `floor`."""
        targets = {pts for _, pts in self._targets}
        for item in self._pending[:count]:
            self._pending_bytes -= item.packet.size
            if item.disposable and item.pts < floor and item.pts not in targets:
                continue
            self._stats.fed += 1
            self._decode(item.packet)
            yield from self._ready()
        del self._pending[:count]

    def _decode(self, packet: VideoPacket | None) -> None:
        try:
            frames = self._decoder.decode(packet)
        except DecodeError as error:
            raise UnsafeToPrune(reason(error)) from error
        floor = self._floor()
        targets = {pts for _, pts in self._targets}
        for frame in frames:
            self._stats.decoded += 1
            # FFmpeg conceals errors silently; full decoding knows how to go on after them.
            if frame.is_corrupt or frame.pts is None:
                raise UnsafeToPrune("a frame is damaged, or has no display time")
            if frame.pts >= floor or frame.pts in targets:
                self._frames[frame.pts] = frame

    def _drain(self) -> Iterator[IndexedPicture]:
        """Take all pictures out of the decoder, so that it can begin anew."""
        self._decode(None)
        self._decoder.flush_buffers()
        yield from self._ready()
        if self._targets:
            raise UnsafeToPrune("a picture did not come out of the decoder")

    def _ready(self) -> Iterator[IndexedPicture]:
        """The targets that are decoded, in order; forgets frames that cannot be one."""
        while self._targets and self._targets[0][1] in self._frames:
            index, pts = self._targets.popleft()
            yield index, pts, self._frames[pts]
        floor = self._floor()
        targets = {pts for _, pts in self._targets}
        for pts in [pts for pts in self._frames if pts < floor and pts not in targets]:
            del self._frames[pts]

    def _close_segment(self, bound: float) -> Iterator[IndexedPicture]:
        """End a segment: the next restart needs nothing of it."""
        self._find_targets(bound)
        yield from self._feed(self._last_target() + 1, math.inf)
        yield from self._drain()
        self._start_segment()

    def _restart_at(self, key: int) -> Iterator[IndexedPicture]:
        """Go on to the segment that begins at the open restart `key`.

        Its leading pictures refer to both segments. Where one of them is a target, decoding runs on
        through the key frame; else it begins anew there and they are left out.
        """
        self._find_targets(key)
        place = next(i for i, item in enumerate(self._pending) if item.pts == key)
        last = self._last_target()
        key_packet = self._pending[place]
        if last > place:
            yield from self._feed(last + 1, math.inf)
            self._start_segment()
            self._begin, self._times = key, [key]
        else:
            yield from self._feed(last + 1, math.inf)
            yield from self._drain()
            self._start_segment()
            self._begin = self.anchor = key
            self._append(key_packet)

    def _finish(self) -> Iterator[IndexedPicture]:
        """End the stream: after the last picture's end nothing is on screen."""
        if self._open_restart is not None:
            yield from self._restart_at(self._open_restart)
        self._find_targets(self._end + self._timing.step)
        yield from self._feed(self._last_target() + 1, math.inf)
        yield from self._drain()
