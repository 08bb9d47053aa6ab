"""Headers of video packets: whether decoding can restart at a packet, or do without it.

    restart      decoding can begin here (CLOSED), or here for all that is shown after it (OPEN)
    disposable   no other picture refers to it
    shown        it puts a picture on the screen

Sources: ITU-T H.264 7.4.1, ITU-T H.265 7.4.2.2 and 8.1.3, RFC 6386 9.1. What is not
certainly safe raises UnsafeToPrune, and the caller decodes everything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum

from av.video.stream import VideoStream

from egomem.media.container import codec_name


class UnsafeToPrune(Exception):
    """Packets cannot be left out here; the message says why."""


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
"""A packet's bytes, and whether its container marks it as a key frame -> its header."""

_PLAIN = PacketHeader()
_DISPOSABLE = PacketHeader(disposable=True)
_CLOSED = PacketHeader(Restart.CLOSED)
_OPEN = PacketHeader(Restart.OPEN)


def header_reader(stream: VideoStream) -> HeaderReader:
    """The reader of a stream's packet headers. Raises UnsafeToPrune for a codec without one."""
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
    """VP8: the fifth bit of a frame tag is show_frame."""
    if key:
        return _CLOSED
    return PacketHeader(shown=bool(data and data[0] & 0x10))


def _key_resets_all(data: bytes, key: bool) -> PacketHeader:
    """VP9, AV1, MJPEG: a key frame resets all references."""
    return _CLOSED if key else _PLAIN


def _key_has_leading_pictures(data: bytes, key: bool) -> PacketHeader:
    """MPEG-4: pictures that follow a key frame but are shown before it refer to both sides."""
    return _OPEN if key else _PLAIN


class _NalUnitReader:
    """Splits packets into NAL units; raises UnsafeToPrune where a new parameter set comes.

    A packet that is left out must not carry a parameter set that later ones need, so only sets from
    the stream's beginning are allowed.
    """

    parameter_types: frozenset[int]

    def __init__(self, stream: VideoStream) -> None:
        config = stream.codec_context.extradata or b""
        self.parameter_sets: set[bytes] = set()
        self._has_begun = False
        # Configuration records (avcC, hvcC) begin with version 1, Annex B begins with zeros.
        self.length_size = self.read_config_record(config) if config[:1] == b"\x01" else 0
        if not self.length_size:
            for unit in split_start_codes(config):
                self.keep_parameter_set(unit)

    def read_config_record(self, config: bytes) -> int:
        """Keep a configuration record's parameter sets; return the bytes of a unit's length."""
        raise NotImplementedError

    def unit_type(self, unit: bytes) -> int:
        raise NotImplementedError

    def keep_parameter_set(self, unit: bytes) -> None:
        if self.unit_type(unit) in self.parameter_types:
            self.parameter_sets.add(bytes(unit).rstrip(b"\0"))

    def split(self, data: bytes) -> Iterator[bytes]:
        """The picture's units; parameter sets are checked and left out."""
        units = (
            split_lengths(data, self.length_size) if self.length_size else split_start_codes(data)
        )
        for unit in units:
            if self.unit_type(unit) not in self.parameter_types:
                yield unit
            elif not self._has_begun:
                self.keep_parameter_set(unit)
            elif unit.rstrip(b"\0") not in self.parameter_sets:
                raise UnsafeToPrune("parameter sets change within the stream")
        self._has_begun = True


class _H264(_NalUnitReader):
    parameter_types = frozenset({7, 8, 13, 15})

    def __init__(self, stream: VideoStream) -> None:
        super().__init__(stream)
        # Fields come as two packets for one frame, or as one; only progressive streams are sure.
        if stream.codec_context.field_order != 1:
            raise UnsafeToPrune("the stream is, or may be, interlaced")

    def read_config_record(self, config: bytes) -> int:
        offset = 5
        for mask in (0x1F, 0xFF):  # sequence, then picture parameter sets
            count = config[offset] & mask
            offset += 1
            for _ in range(count):
                size = int.from_bytes(config[offset : offset + 2], "big")
                self.keep_parameter_set(config[offset + 2 : offset + 2 + size])
                offset += 2 + size
        return (config[4] & 3) + 1

    def unit_type(self, unit: bytes) -> int:
        return unit[0] & 0x1F

    def __call__(self, data: bytes, key: bool) -> PacketHeader:
        slices = referenced_slices = idr_slices = 0
        for unit in self.split(data):
            unit_type = self.unit_type(unit)
            if 2 <= unit_type <= 4:
                raise UnsafeToPrune("slices are partitioned")
            if unit_type in (1, 5):
                slices += 1
                idr_slices += unit_type == 5
                referenced_slices += bool(unit[0] & 0x60)
        if not slices:
            raise UnsafeToPrune("a packet holds no picture")
        if idr_slices == slices:
            return _CLOSED
        # An I-frame that is no IDR may be followed by pictures that refer past it: no restart.
        return _PLAIN if referenced_slices else _DISPOSABLE


class _HEVC(_NalUnitReader):
    parameter_types = frozenset({32, 33, 34})

    def __init__(self, stream: VideoStream) -> None:
        self._highest_sub_layer: int | None = None
        super().__init__(stream)

    def read_config_record(self, config: bytes) -> int:
        offset = 23
        for _ in range(config[22]):
            count = int.from_bytes(config[offset + 1 : offset + 3], "big")
            offset += 3
            for _ in range(count):
                size = int.from_bytes(config[offset : offset + 2], "big")
                self.keep_parameter_set(config[offset + 2 : offset + 2 + size])
                offset += 2 + size
        return (config[21] & 3) + 1

    def unit_type(self, unit: bytes) -> int:
        return (unit[0] >> 1) & 0x3F

    def keep_parameter_set(self, unit: bytes) -> None:
        super().keep_parameter_set(unit)
        if self.unit_type(unit) == 33:  # the sequence's number of temporal sub-layers
            self._highest_sub_layer = max(self._highest_sub_layer or 0, (unit[2] >> 1) & 7)

    def __call__(self, data: bytes, key: bool) -> PacketHeader:
        types: set[int] = set()
        sub_layer = 0
        for unit in self.split(data):
            unit_type = self.unit_type(unit)
            in_base_layer = not (unit[0] & 1 or unit[1] >> 3)
            if unit_type < 32 and in_base_layer:
                types.add(unit_type)
                sub_layer = max(sub_layer, (unit[1] & 7) - 1)
        if not types:
            raise UnsafeToPrune("a packet holds no picture")
        if all(16 <= unit_type <= 21 for unit_type in types):
            return _CLOSED if types == {20} else _OPEN  # 20: an IDR without leading pictures
        # A sub-layer non-reference picture may be referred to from a higher sub-layer.
        non_reference = all(unit_type < 16 and unit_type % 2 == 0 for unit_type in types)
        return _DISPOSABLE if non_reference and sub_layer == self._highest_sub_layer else _PLAIN


def split_lengths(data: bytes, size: int) -> Iterator[bytes]:
    """NAL units that are each preceded by their length in `size` bytes."""
    offset, end = 0, len(data)
    while offset < end:
        length = int.from_bytes(data[offset : offset + size], "big")
        offset += size
        if not 0 < length <= end - offset:
            raise UnsafeToPrune("a unit's length is wrong")
        yield data[offset : offset + length]
        offset += length


def split_start_codes(data: bytes) -> Iterator[bytes]:
    """NAL units that are each preceded by 00 00 01 (Annex B)."""
    offset = data.find(b"\0\0\1")
    while offset >= 0:
        next_offset = data.find(b"\0\0\1", offset + 3)
        unit = data[offset + 3 : next_offset if next_offset >= 0 else None]
        if unit:
            yield unit
        offset = next_offset
