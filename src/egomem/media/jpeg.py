"""JPEG encoding of frames, by FFmpeg's encoder."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import av
import numpy as np

from egomem.errors import MediaError, UsageError
from egomem.media.frame import Frame, RgbImage, fit_size
from egomem.media.frame_reader import frames


def jpeg(picture: Frame | RgbImage, quality: int = 85, *, side: int | None = None) -> bytes:
    """A picture as a baseline JPEG; `quality` from 1 (worst) to 100 (best).

    `picture` is (height, width, 3) uint8 RGB. `side` limits the longer side in pixels. Raises
    UsageError for another quality.
    """
    if not 1 <= quality <= 100:
        raise UsageError(f"JPEG quality goes from 1 to 100, not {quality}")
    image = picture.image if isinstance(picture, Frame) else picture
    source = av.VideoFrame.from_ndarray(np.ascontiguousarray(image), format="rgb24")
    encoder = av.CodecContext.create("mjpeg", "w")
    encoder.width, encoder.height = fit_size((source.width, source.height), side)
    encoder.pix_fmt = "yuvj420p"
    encoder.time_base = Fraction(1, 1)
    # The encoder's scale goes from 1 (best) to 31, the customary one of JPEG from 100 to 1.
    encoder.qmin = encoder.qmax = max(1, round(31 - 0.3 * quality))
    yuv = source.reformat(encoder.width, encoder.height, format="yuvj420p", dst_colorspace="ITU601")
    packets = [*encoder.encode(yuv), *encoder.encode(None)]
    return b"".join(bytes(p) for p in packets)


def thumbnail(path: str | Path, time: float = 0.0, *, side: int = 320, quality: int = 80) -> bytes:
    """The frame on screen at `time` as a JPEG, its longer side at most `side` pixels.

    Raises MediaError where it cannot be decoded.
    """
    for frame in frames(path, [time], side=side):
        return jpeg(frame, quality)
    raise MediaError(f"no picture of {Path(path).name} at {time:g} s can be decoded")
