"""What a video packet says of itself, read from its headers alone.

    restart      decoding can begin here (CLOSED), or here for all that is shown after it (OPEN)
    disposable   no other picture refers to it
    shown        it puts a picture on the screen

Sources: ITU-T H.264 7.4.1, ITU-T H.265 7.4.2.2 and 8.1.3, RFC 6386 9.1. Whatever is not plainly
safe raises Unsafe, and the caller decodes everything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum

from av.video.stream import VideoStream

from egomem.media.container import codec_name


class UnsafeToPrune(Exception):
    """Packets cannot be left out here. The message says why."""


class Restart(Enum):
    NO = 0
    CLOSED = 1
    OPEN = 2


@dataclass(frozen=True, slots=True)
class PacketHeader:
    restart: Restart = Restart.NO
    disposable: bool = False
    shown: bool = True


HeaderReader = Callable[[bytes, bool], PacketHeader]
"""Packet bytes, and whether its container marks it as a key frame -> its header."""

_PLAIN = PacketHeader()
_DISPOSABLE = PacketHeader(disposable=True)
_CLOSED = PacketHeader(Restart.CLOSED)
_OPEN = PacketHeader(Restart.OPEN)


def header_reader(stream: VideoStream) -> HeaderReader:
    """The reader of packet headers for a stream. Raises Unsafe for codecs it does not know."""
    codec = codec_name(stream)
    if codec == "h264":
        return _H264(stream)
    if codec == "hevc":
        return _HEVC(stream)
    if codec == "vp8":
        return _vp8
    if codec in ("vp9", "av1", "mjpeg"):
        return _key_resets_all
    if codec == "mpeg4":
        return _key_has_leading_pictures
    raise UnsafeToPrune(f"{codec} is decoded as a whole")


def _vp8(data: bytes, key: bool) -> PacketHeader:
    if key:
        return _CLOSED
    return PacketHeader(shown=bool(data and data[0] & 0x10))


def _key_resets_all(data: bytes, key: bool) -> PacketHeader:
    return _CLOSED if key else _PLAIN


def _key_has_leading_pictures(data: bytes, key: bool) -> PacketHeader:
    """MPEG-4: pictures that follow a key frame but are shown before it refer to both sides."""
    return _OPEN if key else _PLAIN


class _NalUnitReader:
    """Splits packets into NAL units, and holds the parameter sets to be the first ones throughout.

    Left-out packets must not carry parameter sets that later ones need, so any set that was not
    there at the beginning is unsafe.
    """

    parameter_types: frozenset[int]

    def __init__(self, stream: VideoStream) -> None:
        extra = stream.codec_context.extradata or b""
        self.known: set[bytes] = set()
        self._begun = False
        # The configuration records (avcC, hvcC) begin with version 1; Annex B begins with zeros.
        self.length_size = self.record(extra) if extra[:1] == b"\x01" else 0
        if not self.length_size:
            for unit in split_start_codes(extra):
                self.remember(unit)

    def record(self, extra: bytes) -> int:
        """Takes a configuration record's parameter sets; returns the size of a unit's length."""
        raise NotImplementedError

    def kind(self, unit: bytes) -> int:
        raise NotImplementedError

    def remember(self, unit: bytes) -> None:
        if self.kind(unit) in self.parameter_types:
            self.known.add(bytes(unit).rstrip(b"\0"))

    def split(self, data: bytes) -> Iterator[bytes]:
        """The picture's units: parameter sets are checked and left out."""
        units = (
            split_lengths(data, self.length_size) if self.length_size else split_start_codes(data)
        )
        for unit in units:
            if self.kind(unit) not in self.parameter_types:
                yield unit
            elif not self._begun:
                self.remember(unit)
            elif unit.rstrip(b"\0") not in self.known:
                raise UnsafeToPrune("parameter sets change within the stream")
        self._begun = True


class _H264(_NalUnitReader):
    parameter_types = frozenset({7, 8, 13, 15})

    def __init__(self, stream: VideoStream) -> None:
        super().__init__(stream)
        # Fields come as two packets for one frame, or as one; only progressive streams are sure.
        if stream.codec_context.field_order != 1:
            raise UnsafeToPrune("the stream is, or may be, interlaced")

    def record(self, extra: bytes) -> int:
        at = 5
        for mask in (0x1F, 0xFF):  # sequence, then picture parameter sets
            count = extra[at] & mask
            at += 1
            for _ in range(count):
                size = int.from_bytes(extra[at : at + 2], "big")
                self.remember(extra[at + 2 : at + 2 + size])
                at += 2 + size
        return (extra[4] & 3) + 1

    def kind(self, unit: bytes) -> int:
        return unit[0] & 0x1F

    def __call__(self, data: bytes, key: bool) -> PacketHeader:
        slices = referenced = instant = 0
        for unit in self.split(data):
            kind = unit[0] & 0x1F
            if 2 <= kind <= 4:
                raise UnsafeToPrune("slices are partitioned")
            if kind in (1, 5):
                slices += 1
                instant += kind == 5
                referenced += bool(unit[0] & 0x60)
        if not slices:
            raise UnsafeToPrune("a packet holds no picture")
        if instant == slices:
            return _CLOSED
        # An I-frame that is no IDR may be followed by pictures that refer past it: no restart.
        return _PLAIN if referenced else _DISPOSABLE


class _HEVC(_NalUnitReader):
    parameter_types = frozenset({32, 33, 34})

    def __init__(self, stream: VideoStream) -> None:
        self._highest: int | None = None
        super().__init__(stream)

    def record(self, extra: bytes) -> int:
        at = 23
        for _ in range(extra[22]):
            count = int.from_bytes(extra[at + 1 : at + 3], "big")
            at += 3
            for _ in range(count):
                size = int.from_bytes(extra[at : at + 2], "big")
                self.remember(extra[at + 2 : at + 2 + size])
                at += 2 + size
        return (extra[21] & 3) + 1

    def kind(self, unit: bytes) -> int:
        return (unit[0] >> 1) & 0x3F

    def remember(self, unit: bytes) -> None:
        super().remember(unit)
        if self.kind(unit) == 33:  # the sequence's number of temporal sub-layers
            self._highest = max(self._highest or 0, (unit[2] >> 1) & 7)

    def __call__(self, data: bytes, key: bool) -> PacketHeader:
        kinds: set[int] = set()
        layer = 0
        for unit in self.split(data):
            kind = (unit[0] >> 1) & 0x3F
            in_base_layer = not (unit[0] & 1 or unit[1] >> 3)
            if kind < 32 and in_base_layer:
                kinds.add(kind)
                layer = max(layer, (unit[1] & 7) - 1)
        if not kinds:
            raise UnsafeToPrune("a packet holds no picture")
        if all(16 <= kind <= 21 for kind in kinds):
            return _CLOSED if kinds == {20} else _OPEN  # 20: an IDR without leading pictures
        # A sub-layer non-reference picture may be referred to from a higher sub-layer.
        free = all(kind < 16 and kind % 2 == 0 for kind in kinds)
        return _DISPOSABLE if free and layer == self._highest else _PLAIN


def split_lengths(data: bytes, size: int) -> Iterator[bytes]:
    """NAL units that are each preceded by their length in `size` bytes."""
    at, end = 0, len(data)
    while at < end:
        length = int.from_bytes(data[at : at + size], "big")
        at += size
        if not 0 < length <= end - at:
            raise UnsafeToPrune("a unit's length is wrong")
        yield data[at : at + length]
        at += length


def split_start_codes(data: bytes) -> Iterator[bytes]:
    """NAL units that are each preceded by 00 00 01 (Annex B)."""
    at = data.find(b"\0\0\1")
    while at >= 0:
        following = data.find(b"\0\0\1", at + 3)
        unit = data[at + 3 : following if following >= 0 else None]
        if unit:
            yield unit
        at = following
