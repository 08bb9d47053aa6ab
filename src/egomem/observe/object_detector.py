"""Objects in one picture: SSD MobileNet v2 (COCO), run by OpenCV."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from egomem.errors import MissingExtraError
from egomem.extras import are_installed
from egomem.models import weights
from egomem.models.weights import WeightsOrigin
from egomem.observe.coco_classes import LABELS

_INPUT = 300
"""Pixels along each side of the network's input."""

_OVERLAP = 0.45
"""Intersection over union above which two boxes of one label are one thing."""

_WITHIN = 0.7
"""Share of the smaller box inside the larger above which boxes from two crops are one thing."""

_SQUARES = 4
"""The most squares that are worth their cost."""

_EDGE = 0.02
"""A box this near to an inner edge of a crop is cut there: another crop, or the whole, has it."""

PixelBox = tuple[int, int, int, int]
"""Left, top, right, bottom in pixels."""


@dataclass(frozen=True, slots=True)
class Detection:
    """`box` is left, top, right, bottom, each 0-1 of the picture; `score` is 0-1."""

    label: str
    score: float
    box: tuple[float, float, float, float]


class Detector:
    """Finds objects in a picture. The weights are fetched at first use.

    `squares`: also look at the fewest squares of the short side that cover the picture. The network
    gets 300x300 pixels, so this finds smaller objects and undoes the squeeze of wide pictures, at
    three times the cost for 16:9 and none for square ones.
    """

    def __init__(self, *, squares: bool = True, folder: Path | None = None) -> None:
        if not are_installed("cv2"):
            raise MissingExtraError("opencv-python-headless", "objects")
        self.squares, self.folder = squares, folder
        self._net: Any = None
        self._one_at_a_time = threading.Lock()

    def prepare(self) -> WeightsOrigin:
        """Fetch the weights unless they are here; return where they came from."""
        return weights.detector(self.folder)

    def detect(self, image: npt.NDArray[np.uint8], min_score: float) -> list[Detection]:
        """Return the objects in an (H, W, 3) uint8 RGB picture with at least that score, best
        first.
        """
        height, width = image.shape[:2]
        whole = (0, 0, width, height)
        regions = [whole, *square_crops(width, height)] if self.squares else [whole]
        candidates: list[tuple[Detection, PixelBox]] = []
        for region in regions:
            left, top, right, bottom = region
            for number, score, edges in self._run(image[top:bottom, left:right], min_score):
                if number not in LABELS or _is_cut(edges, region, whole):
                    continue
                box = (
                    (left + edges[0] * (right - left)) / width,
                    (top + edges[1] * (bottom - top)) / height,
                    (left + edges[2] * (right - left)) / width,
                    (top + edges[3] * (bottom - top)) / height,
                )
                candidates.append((Detection(LABELS[number], score, box), region))
        return suppress_overlaps(candidates)

    def _run(
        self, image: npt.NDArray[np.uint8], min_score: float
    ) -> list[tuple[int, float, list[float]]]:
        import cv2

        with self._one_at_a_time:
            if self._net is None:
                self._net = _load(self.prepare())
            blob = cv2.dnn.blobFromImage(np.ascontiguousarray(image), size=(_INPUT, _INPUT))
            self._net.setInput(blob)
            rows = self._net.forward()[0, 0]
        return [
            (int(row[1]), float(row[2]), [min(max(float(v), 0.0), 1.0) for v in row[3:7]])
            for row in rows
            if row[2] >= min_score
        ]


def _load(origin: WeightsOrigin) -> Any:
    import cv2

    cv2.setNumThreads(1)  # more threads spin on a busy machine, and gain little on this network
    text = next(origin.folder.glob("*.pbtxt"))
    return cv2.dnn.readNetFromTensorflow(str(origin.folder / origin.file), str(text))


def square_crops(width: int, height: int) -> list[PixelBox]:
    """Return the fewest squares of the short side that cover a picture, evenly spread.

    A square picture has none, and neither has a strip that would need more than a few.
    """
    side, long = min(width, height), max(width, height)
    count = -(-long // side)
    if count == 1 or count > _SQUARES:
        return []
    offsets = [round(k * (long - side) / (count - 1)) for k in range(count)]
    if width > height:
        return [(o, 0, o + side, side) for o in offsets]
    return [(0, o, side, o + side) for o in offsets]


def _is_cut(edges: Sequence[float], region: PixelBox, whole: PixelBox) -> bool:
    inner = [region[k] != whole[k] for k in range(4)]
    near = [edges[0] < _EDGE, edges[1] < _EDGE, edges[2] > 1 - _EDGE, edges[3] > 1 - _EDGE]
    return any(i and n for i, n in zip(inner, near, strict=True))


def suppress_overlaps(candidates: Sequence[tuple[Detection, PixelBox]]) -> list[Detection]:
    """Greedy non-maximum suppression per label, over crops that overlap; best score first."""
    kept: list[tuple[Detection, PixelBox]] = []
    for detection, region in sorted(candidates, key=lambda f: -f[0].score):
        if not any(
            other.label == detection.label
            and _same(other, detection, across=region != other_region)
            for other, other_region in kept
        ):
            kept.append((detection, region))
    return [detection for detection, _ in kept]


def _same(a: Detection, b: Detection, *, across: bool) -> bool:
    wide = min(a.box[2], b.box[2]) - max(a.box[0], b.box[0])
    high = min(a.box[3], b.box[3]) - max(a.box[1], b.box[1])
    shared = max(0.0, wide) * max(0.0, high)
    areas = [(d.box[2] - d.box[0]) * (d.box[3] - d.box[1]) for d in (a, b)]
    if shared <= 0:
        return False
    return shared / (sum(areas) - shared) > _OVERLAP or (across and shared / min(areas) > _WITHIN)
