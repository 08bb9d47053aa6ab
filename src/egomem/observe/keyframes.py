"""Keyframes: the frames that show something new, so that a slow reader skips still pictures."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from egomem.media import Frame
from egomem.timeline import Span

GRID = 32
"""Cells along each side of the picture; the brightness of each is averaged, which quiets noise."""

MIN_CHANGE = 8.0
"""Steps of 0-255 by which one cell must differ for a frame to be a new one. Our reconstruction: on
640x480 it sees one digit of a burnt-in clock change and passes over coding noise."""


@dataclass(frozen=True, slots=True)
class Keyframe:
    """A frame to be read, and how long the picture stays as it shows.

    `span` ends where the next keyframe begins, or with the window, and lies within the window.
    `last` is the time of the last frame that showed the same.
    """

    frame: Frame
    span: Span
    last: float


def brightness_grid(image: npt.NDArray[np.uint8]) -> npt.NDArray[np.float32]:
    """Mean brightness (green) of a grid of cells; shape (rows, columns), at most GRID each."""
    # Green alone: it makes up most of what is seen as brightness, and one channel is a third of the
    # work.
    green = image[:, :, 1]
    high, wide = max(1, green.shape[0] // GRID), max(1, green.shape[1] // GRID)
    rows, columns = green.shape[0] // high, green.shape[1] // wide
    blocks = green[: rows * high, : columns * wide].reshape(rows, high, columns, wide)
    means: npt.NDArray[np.float32] = blocks.mean(axis=(1, 3), dtype=np.float32)
    return means


def select_keyframes(
    frames: Iterable[Frame], window: Span, *, fps: float, change: float = MIN_CHANGE
) -> list[Keyframe]:
    """Return at most `fps` frames a second, and only those that differ from the last keyframe.

    Each frame is compared with the last keyframe, so a slow change is noticed as well. `change` 0
    takes every frame. The first frame is always taken: windows stand alone.
    """
    taken: list[tuple[Frame, float]] = []
    last_grid: npt.NDArray[np.float32] | None = None
    next_time = -np.inf
    for frame in frames:
        # By the time that was asked for: true frame times jitter, and would drop every other one.
        if frame.requested < next_time:
            continue
        # Frame times are rounded to the container's ticks, so a frame due at 1.000 may come at
        # .9996.
        next_time = frame.requested + 1 / fps - 1e-3
        grid = brightness_grid(frame.image)
        if (
            last_grid is None
            or grid.shape != last_grid.shape
            or float(np.abs(grid - last_grid).max()) >= change
        ):
            taken.append((frame, frame.time))
            last_grid = grid
        else:
            taken[-1] = (taken[-1][0], frame.time)
    keyframes: list[Keyframe] = []
    end = window.end
    for frame, last in reversed(taken):
        span = Span(min(max(frame.time, window.start), end), end)
        keyframes.append(Keyframe(frame, span, last=min(max(last, span.start), end)))
        end = span.start
    return keyframes[::-1]
