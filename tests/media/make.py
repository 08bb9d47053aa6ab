"""Small media files, made on the fly. Each frame shows its own number, so that content tells time."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import av
import numpy as np

SIDE = 64
TICK = Fraction(1, 600)
"""Display times in fixtures are whole ticks of this."""


def picture(number: int, width: int = SIDE, height: int = SIDE) -> np.ndarray:
    """A textured moving picture whose top rows are 16 black or white blocks: the number in binary."""
    rng = np.random.default_rng(number // 7)
    y, x = np.mgrid[0:height, 0:width]
    image = np.stack(
        [128 + 60 * np.sin((x + 3 * number) / 9), 128 + 60 * np.cos((y - number) / 7), x + y], -1
    )
    image[height // 2 :] += rng.integers(-20, 20, (height - height // 2, width, 1))
    blocks = np.repeat([255 * (number >> bit & 1) for bit in range(16)], -(-width // 16))[:width]
    image[: height // 4] = blocks[None, :, None]
    return np.clip(image, 0, 255).astype(np.uint8)


def number_of(image: np.ndarray) -> int:
    """The number that a picture shows."""
    row = image[image.shape[0] // 8].mean(axis=1)
    middles = (np.arange(16) + 0.5) * image.shape[1] / 16
    return sum(int(row[int(m)] > 128) << bit for bit, m in enumerate(middles))


def video(
    path: Path,
    times: Sequence[int] | None = None,
    *,
    count: int = 60,
    codec: str = "libx264",
    options: dict[str, str] | None = None,
    gop: int = 20,
    size: tuple[int, int] = (SIDE, SIDE),
    rotation: int = 0,
    fps: int = 20,
    format_options: dict[str, str] | None = None,
) -> list[float]:
    """Writes a video whose n-th frame shows n at `times[n]` ticks; returns the times in seconds.

    Without `times` there are `count` frames at `fps` from 0.
    """
    if times is None:
        times = [round(n / fps / TICK) for n in range(count)]
    with av.open(str(path), "w", options=format_options or {}) as container:
        stream = container.add_stream(codec, rate=fps, options=options or {})
        stream.width, stream.height = size
        stream.pix_fmt = "yuvj420p" if codec == "mjpeg" else "yuv420p"
        stream.time_base = stream.codec_context.time_base = TICK
        stream.gop_size = gop
        if rotation:
            stream.set_display_rotation(rotation)
        for number, ticks in enumerate(times):
            frame = av.VideoFrame.from_ndarray(picture(number, *size), format="rgb24")
            frame.pts, frame.time_base = ticks, TICK
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return [float((t - times[0]) * TICK) for t in times]
