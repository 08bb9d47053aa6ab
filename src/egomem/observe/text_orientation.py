"""Text that stands upside down or mirrored in the picture: read the right way round, or not at all.

Selfie cameras and mirrors flip the picture, a phone on a table shows it upside down. A recogniser
then invents letters that look alike ("AS TIX3" for a mirrored "EXIT 24"), with a good score.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from egomem.observe.text_tracks import Orientation, TextLine

RgbImage = npt.NDArray[np.uint8]

DOUBTFUL = 0.985
"""Score below which a line is read in the other orientations, too: upright print scores higher."""

MARGIN = 0.03
"""How much better a line must be read another way round to stand so (both: our reconstruction)."""


def best_reading(
    line: TextLine, image: RgbImage, read: Callable[[RgbImage], tuple[str, float] | None]
) -> TextLine:
    """The line as it is read best, and how it stands; `read` reads one cropped line."""
    if line.score >= DOUBTFUL or sum(c.isalnum() for c in line.text) < 2:
        return line
    best = line
    for name, crop in _turned(_crop(image, line)):
        reading = read(crop)
        if reading is not None and reading[1] > max(best.score, line.score + MARGIN):
            best = TextLine(reading[0].strip(), reading[1], line.box, name)
    return best


def _crop(image: RgbImage, line: TextLine) -> RgbImage:
    height, width = image.shape[:2]
    left, top, right, bottom = line.box
    pad = 2
    rows = slice(max(0, int(top * height) - pad), int(bottom * height) + pad)
    columns = slice(max(0, int(left * width) - pad), int(right * width) + pad)
    return image[rows, columns]


def _turned(crop: RgbImage) -> Iterator[tuple[Orientation, RgbImage]]:
    # A line that runs down the picture is turned to be read, as the recogniser does itself.
    if crop.shape[0] >= 1.5 * crop.shape[1]:
        crop = np.rot90(crop)
    if crop.size:
        yield "upside down", np.ascontiguousarray(crop[::-1, ::-1])
        yield "mirrored", np.ascontiguousarray(crop[:, ::-1])
        yield "mirrored upside down", np.ascontiguousarray(crop[::-1])
