"""A line is read another way round only where that is clearly better; sure lines cost nothing."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from egomem.observe.text_orientation import best_reading
from egomem.observe.text_tracks import TextLine

# One dark pixel tells how a crop was turned.
IMAGE = np.full((100, 200, 3), 255, np.uint8)
IMAGE[42, 52] = 0
BOX = (0.25, 0.4, 0.75, 0.6)


def reader(upright: float, turned: float, mirrored: float, flipped: float):  # type: ignore[no-untyped-def]
    calls: list[str] = []

    def read(crop: npt.NDArray[np.uint8]) -> tuple[str, float] | None:
        row, column = (int(v) for v in np.argwhere(crop[:, :, 0] == 0)[0])
        top, is_left = row < crop.shape[0] / 2, column < crop.shape[1] / 2
        name = {(True, True): "upright", (False, False): "turned", (True, False): "mirrored"}.get(
            (top, is_left), "flipped"
        )
        calls.append(name)
        scores = {"upright": upright, "turned": turned, "mirrored": mirrored, "flipped": flipped}
        return f" {name} ", scores[name]

    return read, calls


def test_the_clearly_better_way_round_is_taken() -> None:
    for scores, text, orientation in (
        ((0.7, 0.99, 0.5, 0.5), "turned", "upside down"),
        ((0.94, 0.6, 0.99, 0.5), "mirrored", "mirrored"),
        ((0.8, 0.6, 0.7, 0.95), "flipped", "mirrored upside down"),
    ):
        line = TextLine("XYZ", scores[0], BOX)
        best = best_reading(line, IMAGE, reader(*scores)[0])
        assert (best.text, best.orientation, best.box) == (text, orientation, BOX)


def test_a_line_that_reads_as_well_upright_stays() -> None:
    line = TextLine("OXO", 0.93, BOX)
    assert best_reading(line, IMAGE, reader(0.93, 0.95, 0.94, 0.93)[0]) == line


def test_a_sure_line_and_a_single_character_are_not_read_again() -> None:
    for line in (TextLine("HOTEL", 0.99, BOX), TextLine("-B", 0.5, BOX)):
        read, calls = reader(0.99, 1, 1, 1)
        assert best_reading(line, IMAGE, read) == line
        assert calls == []


def test_a_line_down_the_picture_is_turned_first() -> None:
    shapes: list[tuple[int, ...]] = []

    def read(crop: npt.NDArray[np.uint8]) -> None:
        shapes.append(crop.shape)

    best_reading(TextLine("ABC", 0.8, (0.4, 0.1, 0.45, 0.9)), IMAGE, read)
    assert all(width > height for height, width, _ in shapes)
