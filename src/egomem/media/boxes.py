"""Boxes drawn into pictures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from egomem.media.frame import RgbImage

BOX_COLOUR = (255, 64, 160)
"""RGB: a colour that rooms and streets seldom have."""


def draw_boxes(image: RgbImage, boxes: Iterable[Sequence[float]]) -> RgbImage:
    """A copy of a picture with the edges of boxes in it.

    `image` is (height, width, 3) uint8 RGB; a box is left, top, right, bottom, each a share (0-1)
    of the picture's width or height.
    """
    drawn = image.copy()
    height, width = drawn.shape[:2]
    thick = max(2, round(min(height, width) / 240))
    outer = np.zeros((height, width), dtype=bool)
    for left, top, right, bottom in boxes:
        x0, x1 = (round(min(max(v, 0.0), 1.0) * width) for v in (left, right))
        y0, y1 = (round(min(max(v, 0.0), 1.0) * height) for v in (top, bottom))
        edge = np.zeros_like(outer)
        edge[y0 : max(y1, y0 + 1), x0 : max(x1, x0 + 1)] = True
        edge[y0 + thick : y1 - thick, x0 + thick : x1 - thick] = False
        outer |= edge
    drawn[outer] = BOX_COLOUR
    return drawn
