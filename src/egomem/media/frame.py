"""A frame: a picture at a time, upright, with square pixels."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import cast

import av
import numpy as np
from av.sidedata.sidedata import SideData
from av.video.reformatter import VideoReformatter
from numpy.typing import NDArray

RgbImage = NDArray[np.uint8]


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """The picture on screen at `requested`.

    `time` is its true display time, `requested` the time that was asked for, both in seconds from
    the first displayed frame. `image` is (height, width, 3) uint8 RGB, upright, with square pixels.
    """

    time: float
    requested: float
    image: RgbImage


def distinct(frames: Iterable[Frame]) -> Iterator[Frame]:
    """The frames without repeats: of neighbours with the same time, the first.

    Two requested times may fall on one picture (a still screen, a file of one frame), which is one
    piece of evidence.
    """
    last: float | None = None
    for frame in frames:
        if frame.time != last:
            yield frame
        last = frame.time


@dataclass(frozen=True, slots=True)
class Orientation:
    """What makes a stored picture upright: `transpose` first, then the flips."""

    transpose: bool = False
    flip_x: bool = False
    flip_y: bool = False

    @property
    def degrees(self) -> int:
        """The clockwise turn in degrees (0, 90, 180 or 270), apart from any mirroring."""
        if self.transpose:
            return 90 if self.flip_x else 270
        return 180 if self.flip_y else 0

    @property
    def mirrored(self) -> bool:
        return self.transpose ^ self.flip_x ^ self.flip_y

    @classmethod
    def of(cls, degrees: int, mirrored: bool) -> Orientation:
        """The orientation with these `degrees` and `mirrored`."""
        transpose = degrees in (90, 270)
        flip_y = degrees == 180 or (degrees == 90 and mirrored) or (degrees == 270 and not mirrored)
        flip_x = degrees == 90 or (degrees in (0, 180) and mirrored ^ flip_y)
        return cls(transpose, flip_x, flip_y)

    def apply(self, image: RgbImage) -> RgbImage:
        """The upright picture."""
        if self.transpose:
            image = image.transpose(1, 0, 2)
        if self.flip_x:
            image = image[:, ::-1]
        if self.flip_y:
            image = image[::-1]
        return np.ascontiguousarray(image)


UPRIGHT = Orientation()


def orientation(frame: av.VideoFrame) -> tuple[Orientation, bool]:
    """A frame's orientation by its display matrix, and whether the matrix is a possible one.

    The matrix is 3 x 3 in fixed point (ISO/IEC 14496-12): x' = a x + c y, y' = b x + d y. One that
    is no quarter turn is not applied. PyAV ties a frame and its side data into a cycle, which stays
    in memory until the garbage collector runs: call this for one frame of a stream.
    """
    data = next((s for s in _side_data(frame) if s.type.name == "DISPLAYMATRIX"), None)
    if data is None:
        return UPRIGHT, True
    a, b, _, c, d, *_ = struct.unpack("=9i", bytes(data)[:36])
    if a and d and not b and not c:
        return Orientation(False, a < 0, d < 0), True
    if b and c and not a and not d:
        return Orientation(True, c < 0, b < 0), True
    return UPRIGHT, False


def _side_data(frame: av.VideoFrame) -> Iterable[SideData]:
    # PyAV's stubs take the container of side data for a dictionary.
    return cast(Iterable[SideData], frame.side_data)


def display_size(
    width: int, height: int, pixel_aspect: float, turn: Orientation
) -> tuple[int, int]:
    """Displayed width and height, from those of the stored picture and its pixels' aspect."""
    if pixel_aspect > 1:
        width = round(width * pixel_aspect)
    elif pixel_aspect > 0:
        height = round(height / pixel_aspect)
    return (height, width) if turn.transpose else (width, height)


def fit_size(size: tuple[int, int], side: int | None) -> tuple[int, int]:
    """The size scaled down to a longer side of at most `side`; never enlarged, never below 1."""
    longest = max(size)
    if side is None or longest <= side:
        return size
    return max(1, round(size[0] * side / longest)), max(1, round(size[1] * side / longest))


class RgbConverter:
    """Converts decoded frames into upright RGB arrays.

    Scaling and conversion are one step of FFmpeg's scaler, which is the cheapest way.
    """

    def __init__(
        self, side: int | None = None, turn: Orientation = UPRIGHT, pixel_aspect: float = 1.0
    ) -> None:
        self._side = side
        self._turn = turn
        self._aspect = pixel_aspect
        self._scaler = VideoReformatter()

    def __call__(self, frame: av.VideoFrame) -> RgbImage:
        turn = self._turn
        size = fit_size(display_size(frame.width, frame.height, self._aspect, turn), self._side)
        width, height = (size[1], size[0]) if turn.transpose else size
        rgb = self._scaler.reformat(
            frame, width=width, height=height, format="rgb24", interpolation="BILINEAR", threads=1
        )
        return turn.apply(rgb.to_ndarray().astype(np.uint8, copy=False))
