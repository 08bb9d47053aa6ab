"""Decoding only the packets that a wanted picture depends on.

A stream is read in segments, each from a packet where decoding can begin to the next. Of a segment
the decoder gets nothing after its last wanted picture (in decoding order), no disposable picture
that is not wanted, and nothing at all where nothing is wanted. Packets wait in memory only until
it is known which pictures are wanted: not longer than a segment, and within bounds.

What comes out is what plain decoding gives, to the pixel. Where that is not certain
`UnsafeToPrune` is raised, with the place from which to decode everything.
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
from egomem.media.container import DecodeError
from egomem.media.decode import DecodeStats, IndexedPicture, OpenVideo, StreamTiming

VideoPacket: TypeAlias = "av.Packet[VideoStream]"

MAX_REORDER = 33
"""Packets. No codec shows a picture more than 16 frames (32 fields) later than it is decoded
(H.264 A.3.1, H.265 A.4): once this many packets lie past a time, none before it is to come."""

MAX_PENDING_PACKETS = 1024
MAX_PENDING_BYTES = 48 << 20
"""Bounds of what waits in memory, in streams that hardly ever restart."""

MIN_SEEK_S = 10.0
"""Seconds to the next wanted picture from which it pays to seek instead of reading on."""

SEEK_BACK_S = (0.0, 2.0, 15.0, 120.0)
"""Seconds before a wanted time to seek to, in turn, until a key frame before it is found."""


class PendingPacket:
    """A packet that waits, with its display time in ticks."""

    __slots__ = ("disposable", "packet", "pts", "shown")

    def __init__(self, packet: VideoPacket, pts: int, header: PacketHeader) -> None:
        self.packet = packet
        self.pts = pts
        self.disposable = header.disposable
        self.shown = header.shown and not packet.is_discard


class Pruner:
    """Finds the pictures for `limits` (ticks, ascending).

    After Unsafe, `anchor` is the PTS of a key frame from which plain decoding finds all that has
    not come out yet; None means the beginning of the file.
    """

    def __init__(self, track: StreamTiming, limits: Sequence[int], tally: DecodeStats) -> None:
        self.anchor: int | None = None
        self._track = track
        self._limits = limits
        self._tally = tally
        self._next = 0  # number of the first limit whose picture is not known
        self._wanted: deque[tuple[int, int]] = deque()  # (number, PTS) known, but not out
        self._frames: dict[int, av.VideoFrame] = {}  # decoded, and wanted now or perhaps later
        self._forget()
        self._first = True  # the segment begins where the file does

    def _forget(self) -> None:
        """Begins a segment at whatever restart comes next."""
        self._first = False
        self._begin: int | None = None  # PTS of the segment's first packet
        self._opening: int | None = None  # PTS of an open restart that leading pictures may follow
        self._times: list[int] = []  # PTS of the segment's shown pictures, sorted
        self._held: list[
            PendingPacket
        ] = []  # packets that the decoder may still get, in decoding order
        self._bytes = 0
        self._end = 0  # when the last shown picture ends

    def pictures(self, opened: OpenVideo) -> Iterator[IndexedPicture]:
        container, stream = opened.container, opened.stream
        with container:
            assert stream.time_base is not None
            self._decoder = stream.codec_context
            read = header_reader(stream)
            packets = opened.packets
            far = int(MIN_SEEK_S / stream.time_base)
            newest, sought = self._track.start, -1
            while True:
                if self._next == len(self._limits):
                    yield from self._drain()
                    return
                if self._limits[self._next] - newest > far and sought != self._next:
                    sought = self._next
                    yield from self._drain()
                    self._forget()
                    packets = self._seek(container, stream, read)
                try:
                    packet = next(packets, None)
                except DecodeError as error:
                    raise UnsafeToPrune(reason(error)) from error
                if packet is None or not packet.size:
                    break
                if packet.is_corrupt or packet.has_sidedata("new_extradata"):
                    raise UnsafeToPrune(
                        "a packet is incomplete, or changes the stream's parameters"
                    )
                yield from self._take(packet, read(bytes(packet), packet.is_keyframe))
                newest = max(newest, packet.pts or newest)
            yield from self._finish()

    def _seek(
        self, container: InputContainer, stream: VideoStream, read: HeaderReader
    ) -> Iterator[VideoPacket]:
        """Packets from a restart that is not after the next limit."""
        assert stream.time_base is not None
        limit = self._limits[self._next]
        for back in SEEK_BACK_S:
            try:
                container.seek(limit - int(back / stream.time_base), stream=stream)
                packets = container.demux(stream)
                for packet in packets:
                    if not packet.size or packet.pts is None:
                        break
                    if read(bytes(packet), packet.is_keyframe).restart is not Restart.NO:
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
        if self._opening is not None and pts > self._opening:
            yield from self._reopen(self._opening)
        if header.restart is not Restart.NO:
            if self._opening is not None or (self._begin is not None and pts <= self._begin):
                raise UnsafeToPrune("key frames are not in display order")
            if self._begin is not None and header.restart is Restart.OPEN:
                self._opening = pts
            else:
                if self._begin is not None:
                    yield from self._close(pts)
                self._begin = self.anchor = pts
        elif self._begin is None:
            if self._first:
                raise UnsafeToPrune("the file does not begin with a key frame")
            return
        elif pts < self._begin and not self._first:
            # Leading pictures of the restart that decoding began at: what they refer to is gone.
            if len(self._times) > 1:
                raise UnsafeToPrune("a picture is shown before its key frame")
            return
        self._hold(PendingPacket(packet, pts, header))
        if self._opening is None:
            yield from self._settle()

    def _hold(self, item: PendingPacket) -> None:
        self._held.append(item)
        self._bytes += item.packet.size
        if item.shown and item.pts >= self._track.start:
            at = bisect_right(self._times, item.pts)
            if at and self._times[at - 1] == item.pts:
                raise UnsafeToPrune("two pictures share a display time")
            self._times.insert(at, item.pts)
            self._end = max(self._end, item.pts + (item.packet.duration or self._track.step))

    def _settle(self) -> Iterator[IndexedPicture]:
        """Feeds what is known to be needed, as soon as that is known."""
        before = len(self._wanted)
        settled = self._times[-MAX_REORDER] if len(self._times) >= MAX_REORDER else -math.inf
        self._resolve(settled)
        if len(self._wanted) > before:
            yield from self._feed(self._place_of_last_wanted() + 1, self._floor())
        elif len(self._held) > MAX_PENDING_PACKETS or self._bytes > MAX_PENDING_BYTES:
            yield from self._feed(len(self._held) - MAX_REORDER, self._floor())

    def _resolve(self, bound: float) -> None:
        """Names the picture of each limit below `bound`: all pictures before it are known."""
        while self._next < len(self._limits) and self._limits[self._next] < bound:
            at = bisect_right(self._times, self._limits[self._next])
            if not at:
                raise UnsafeToPrune("no picture is on screen at a wanted time")
            self._wanted.append((self._next, self._times[at - 1]))
            self._next += 1

    def _floor(self) -> float:
        """No picture before this is wanted by a limit that is still to be resolved."""
        if self._next == len(self._limits):
            return math.inf
        at = bisect_right(self._times, self._limits[self._next])
        return self._times[at - 1] if at else -math.inf

    def _place_of_last_wanted(self) -> int:
        wanted = {pts for _, pts in self._wanted}
        return max((i for i, item in enumerate(self._held) if item.pts in wanted), default=-1)

    def _feed(self, count: int, floor: float) -> Iterator[IndexedPicture]:
        """Decodes the first `count` packets held, but for disposable pictures below `floor`."""
        wanted = {pts for _, pts in self._wanted}
        for item in self._held[:count]:
            self._bytes -= item.packet.size
            if item.disposable and item.pts < floor and item.pts not in wanted:
                continue
            self._tally.fed += 1
            self._decode(item.packet)
            yield from self._ready()
        del self._held[:count]

    def _decode(self, packet: VideoPacket | None) -> None:
        try:
            frames = self._decoder.decode(packet)
        except DecodeError as error:
            raise UnsafeToPrune(reason(error)) from error
        floor = self._floor()
        wanted = {pts for _, pts in self._wanted}
        for frame in frames:
            self._tally.decoded += 1
            if frame.is_corrupt or frame.pts is None:
                raise UnsafeToPrune("a frame is damaged, or has no display time")
            if frame.pts >= floor or frame.pts in wanted:
                self._frames[frame.pts] = frame

    def _drain(self) -> Iterator[IndexedPicture]:
        """Takes all pictures out of the decoder, so that it can begin anew."""
        self._decode(None)
        self._decoder.flush_buffers()
        yield from self._ready()
        if self._wanted:
            raise UnsafeToPrune("a picture did not come out of the decoder")

    def _ready(self) -> Iterator[IndexedPicture]:
        while self._wanted and self._wanted[0][1] in self._frames:
            number, pts = self._wanted.popleft()
            yield number, pts, self._frames[pts]
        floor = self._floor()
        wanted = {pts for _, pts in self._wanted}
        for pts in [pts for pts in self._frames if pts < floor and pts not in wanted]:
            del self._frames[pts]

    def _close(self, bound: float) -> Iterator[IndexedPicture]:
        """Ends a segment: the next restart needs nothing of it."""
        self._resolve(bound)
        yield from self._feed(self._place_of_last_wanted() + 1, math.inf)
        yield from self._drain()
        self._forget()

    def _reopen(self, key: int) -> Iterator[IndexedPicture]:
        """Goes on to the segment that begins at the open restart `key`.

        Its leading pictures refer to both segments. Where one of them is wanted, decoding runs on
        through the key frame; else it begins anew there and they are left out.
        """
        self._resolve(key)
        place = next(i for i, item in enumerate(self._held) if item.pts == key)
        last = self._place_of_last_wanted()
        opener = self._held[place]
        if last > place:
            yield from self._feed(last + 1, math.inf)
            self._forget()
            self._begin, self._times = key, [key]
        else:
            yield from self._feed(last + 1, math.inf)
            yield from self._drain()
            self._forget()
            self._begin = self.anchor = key
            self._hold(opener)

    def _finish(self) -> Iterator[IndexedPicture]:
        """The end of the stream: after the last picture's end nothing is on screen."""
        if self._opening is not None:
            yield from self._reopen(self._opening)
        self._resolve(self._end + self._track.step)
        yield from self._feed(self._place_of_last_wanted() + 1, math.inf)
        yield from self._drain()
