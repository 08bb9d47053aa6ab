"""Regions of a picture: cut out, enlarged, and mapped back to the whole picture."""

from __future__ import annotations

import av
import numpy as np

from egomem.media.frame import RgbImage
from egomem.observe.active.actions import WHOLE_PICTURE, Box

CLOSE_SIDE = 448
"""Pixels to which the longer side of a smaller crop is enlarged."""


def to_whole_picture(inner: Box, region: Box) -> Box:
    """A box of a region's picture as a box of the whole picture."""
    wide, high = region[2] - region[0], region[3] - region[1]
    return (
        round(region[0] + inner[0] * wide, 4),
        round(region[1] + inner[1] * high, 4),
        round(region[0] + inner[2] * wide, 4),
        round(region[1] + inner[3] * high, 4),
    )


def region_around(box: Box, wide: float, high: float) -> Box:
    """A region of this size (shares of the picture) around a box, moved to lie in the picture."""
    wide, high = min(wide, 1.0), min(high, 1.0)
    left = min(max((box[0] + box[2] - wide) / 2, 0.0), 1.0 - wide)
    top = min(max((box[1] + box[3] - high) / 2, 0.0), 1.0 - high)
    return round(left, 4), round(top, 4), round(left + wide, 4), round(top + high, 4)


def crop(image: RgbImage, box: Box) -> RgbImage:
    """A region of a picture, enlarged where its longer side is below CLOSE_SIDE pixels."""
    if box == WHOLE_PICTURE:
        return image
    height, width = image.shape[:2]
    left, right = int(box[0] * width), max(int(box[0] * width) + 1, round(box[2] * width))
    top, bottom = int(box[1] * height), max(int(box[1] * height) + 1, round(box[3] * height))
    part = np.ascontiguousarray(image[top:bottom, left:right])
    # Detector and models scale what they get to a fixed size: a small part must be enlarged before,
    # or its detail is lost.
    grow = CLOSE_SIDE / max(part.shape[:2])
    if grow <= 1:
        return part
    size = max(1, round(part.shape[1] * grow)), max(1, round(part.shape[0] * grow))
    frame = av.VideoFrame.from_ndarray(part, format="rgb24")
    larger = frame.reformat(*size, format="rgb24", interpolation="BICUBIC")
    return larger.to_ndarray().astype(np.uint8, copy=False)
