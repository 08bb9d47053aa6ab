"""The observers around their models: a pretended model shows what they make of its output."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import SimpleNamespace

import numpy as np
import pytest

from egomem.errors import MissingExtraError
from egomem.extras import install_line
from egomem.observe import (
    Objects,
    ScreenText,
    Speech,
    Window,
    object_detector,
    observer_status,
)
from egomem.observe import screen_text as screen_text_module
from egomem.observe import speech as speech_module
from egomem.observe.coco_classes import with_count
from egomem.observe.object_detector import Detection, square_crops, suppress_overlaps
from egomem.observe.objects import describe_change

MakeWindow = Callable[..., Window]


def grey(level: int) -> np.ndarray:
    return np.full((64, 96, 3), level, np.uint8)


@pytest.fixture(autouse=True)
def _as_if_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (speech_module, screen_text_module, object_detector):
        monkeypatch.setattr(module, "are_installed", lambda *modules: True)


class ScriptedOcr:
    """A recogniser that gives one list of (text, score) a call, and reads no line turned."""

    def __init__(self, *results: list[tuple[str, float]]) -> None:
        self.rest = iter(results)
        self.corners = np.array([[10, 10], [50, 10], [50, 20], [10, 20]], np.float32)

    def __call__(self, image: np.ndarray) -> SimpleNamespace:
        lines = next(self.rest)
        return SimpleNamespace(
            txts=tuple(t for t, _ in lines) or None,
            scores=tuple(s for _, s in lines) or None,
            boxes=np.stack([self.corners] * len(lines)) if lines else None,
        )

    def recognize_txt(self, crops: list[np.ndarray]) -> SimpleNamespace:
        return SimpleNamespace(txts=("",), scores=(0.0,))


def test_screen_text_drops_what_is_weak_and_keeps_where_and_when(make_window: MakeWindow) -> None:
    observer = ScreenText()
    observer._engine = ScriptedOcr(
        [("EXIT", 0.7), ("口", 0.95), ("maybe", 0.3)],
        [("EXIT", 0.9), ("Xq", 0.7)],
        [("Gate 4", 0.99)],
    )
    got = asyncio.run(observer.observe(make_window([grey(0), grey(60), grey(120)], start=30)))
    assert [(o.text, o.span.start, o.span.end) for o in got] == [
        ("EXIT", 30, 32),
        ("Gate 4", 32, 33),
    ]
    assert observer.dropped == {"one character": 1, "low score": 1, "flicker": 1}
    exit_sign = got[0]
    assert exit_sign.wearer == "ann"
    assert exit_sign.track == observer.track.id
    assert exit_sign.provenance.frames == (30, 31)
    box = exit_sign.data["box"]
    assert box == pytest.approx([10 / 96, 10 / 64, 50 / 96, 20 / 64], abs=1e-3)


def test_screen_text_reads_a_still_picture_once(make_window: MakeWindow) -> None:
    observer = ScreenText()
    observer._engine = ScriptedOcr([("Platform 2", 0.7)])  # a second call would have no answer
    (got,) = asyncio.run(observer.observe(make_window([grey(9)] * 10)))
    assert (got.span.start, got.span.end) == (0, 10)


def things(*labels: str, score: float = 0.9) -> list[Detection]:
    return [
        Detection(label, score, (0.1 * k, 0.1, 0.1 * k + 0.05, 0.5))
        for k, label in enumerate(labels)
    ]


def test_objects_give_presences_and_changes_with_times(
    make_window: MakeWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = iter(
        [
            things("bottle", "bottle"),
            things("bottle", "bottle"),
            things("bottle", "vase", score=0.6),
            things("bottle", "person"),
        ]
    )
    observer = Objects()
    monkeypatch.setattr(observer._detector, "detect", lambda image, least: next(looks))
    images = [grey(0), grey(60), grey(120), grey(180)]
    got = asyncio.run(observer.observe(make_window(images, start=30)))
    assert [(o.text, o.span.start, o.span.end) for o in got] == [
        ("1 to 2 bottles", 30, 34),
        ("a bottle leaves, 1 bottle remains", 31, 32),
        ("a person appears", 32, 33),
        ("1 person", 33, 34),
    ]
    assert got[0].data["max_count"] == 2
    assert got[1].data == {"label": "bottle", "event": "leaves", "before": 2, "after": 1}
    assert observer.dropped == {"flicker": 1}
    assert {o.track for o in got} == {observer.track.id}


def test_a_change_after_a_still_picture_begins_where_it_was_last_seen(
    make_window: MakeWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = iter([things("bottle"), []])
    observer = Objects()
    monkeypatch.setattr(observer._detector, "detect", lambda image, least: next(looks))
    images = [grey(0)] * 8 + [grey(90)] * 2
    got = asyncio.run(observer.observe(make_window(images)))
    leaves = next(o for o in got if o.data.get("event") == "leaves")
    assert (leaves.span.start, leaves.span.end) == (7, 8)


@pytest.mark.parametrize(
    ("before", "after", "text"),
    [
        (0, 1, "a person appears"),
        (0, 2, "2 people appear"),
        (1, 0, "a person leaves, none remains"),
        (3, 1, "2 people leave, 1 person remains"),
        (1, 3, "2 people appear, now 3 people"),
    ],
)
def test_changes_in_words(before: int, after: int, text: str) -> None:
    assert describe_change("person", before, after) == text


def test_numbers_in_words() -> None:
    assert [with_count("umbrella", 1), with_count("knife", 2)] == ["1 umbrella", "2 knives"]
    assert describe_change("umbrella", 0, 1) == "an umbrella appears"


def test_squares_cover_a_picture_and_touch_its_ends() -> None:
    assert square_crops(1408, 1408) == []
    assert square_crops(20, 2000) == []
    assert square_crops(640, 360) == [(0, 0, 360, 360), (280, 0, 640, 360)]
    tall = square_crops(300, 1000)
    assert (tall[0], tall[-1], len(tall)) == ((0, 0, 300, 300), (0, 700, 300, 1000), 4)


def test_one_thing_seen_in_two_crops_is_one_and_neighbours_stay_two() -> None:
    left_box, right_box = (0, 0, 360, 360), (280, 0, 640, 360)
    whole = Detection("bottle", 0.9, (0.40, 0.3, 0.50, 0.9))
    part = Detection("bottle", 0.7, (0.46, 0.3, 0.50, 0.9))
    beside = Detection("bottle", 0.8, (0.52, 0.3, 0.60, 0.9))
    other = Detection("person", 0.6, (0.40, 0.3, 0.50, 0.9))
    kept = suppress_overlaps(
        [(part, right_box), (whole, left_box), (beside, right_box), (other, left_box)]
    )
    assert kept == [whole, beside, other]


# -- what can run here ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("module", "make", "extra"),
    [
        (speech_module, Speech, "speech"),
        (screen_text_module, ScreenText, "text"),
        (object_detector, Objects, "objects"),
    ],
)
def test_a_missing_extra_is_named_with_the_line_that_installs_it(  # type: ignore[no-untyped-def]
    monkeypatch: pytest.MonkeyPatch, module, make, extra: str
) -> None:
    monkeypatch.setattr(module, "are_installed", lambda *modules: False)
    monkeypatch.setattr("egomem.observe.plugin.are_installed", lambda *modules: False)
    with pytest.raises(MissingExtraError) as caught:
        make()
    assert caught.value.remedy == f"run: {install_line(extra)}"
    (status,) = [s for s in observer_status() if s.name == extra]
    assert not status.ready
    assert status.remedy == caught.value.remedy
