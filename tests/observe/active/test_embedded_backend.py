"""The embedded backend on made-up pictures, with a detector that sees squares."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import pytest

from egomem.media import Frame
from egomem.observe.active import (
    CaptionBudget,
    EmbeddedBackend,
    Tools,
    caption_actively,
    caption_once,
)
from egomem.observe.active.actions import Crop, Dense, Detect, GazeCrop, ReadText, clamp
from egomem.observe.active.crops import CLOSE_SIDE, crop
from egomem.observe.active.gap_detection import tiles
from egomem.observe.active.inspection_result import CroppedFrame
from egomem.observe.active.regions import (
    detected_frames,
    find_regions,
    max_simultaneous,
    region_changes,
)
from egomem.observe.active.state import ClaimStatus, Finding
from egomem.observe.active.tools import decoded_frames, detect_in
from egomem.observe.object_detector import Detection
from egomem.observe.text_tracks import TextLine as TextLine
from egomem.records import Observation
from egomem.timeline import Span

Make = Callable[..., Any]
SIZE = (180, 320)
BALLS = {"left": (20, 90), "middle": (150, 90), "right": (280, 90)}


def ball_source(there: Callable[[str, float], bool]) -> Any:
    def source(times: Sequence[float], side: int | None) -> Iterable[Frame]:
        for t in times:
            image = np.full((*SIZE, 3), 30, np.uint8)
            for name, (x, y) in BALLS.items():
                if there(name, t):
                    image[y : y + 30, x : x + 20] = 250
            yield Frame(t, t, image)

    return source


class Squares:
    """Sees white squares; the one in the middle only in an enlarged picture."""

    def __init__(self) -> None:
        self.looked = 0

    def detect(self, image: Any, least: float) -> list[Detection]:
        self.looked += 1
        height, width = image.shape[:2]
        columns = np.flatnonzero((image[:, :, 0] > 200).any(axis=0))
        groups = np.split(columns, np.flatnonzero(np.diff(columns) > 4) + 1) if columns.size else []
        detections = []
        for group in groups:
            rows = np.flatnonzero((image[:, group, 0] > 200).any(axis=1))
            box = (group[0] / width, rows[0] / height, (group[-1] + 1) / width,
                   (rows[-1] + 1) / height)  # fmt: skip
            small = (width, height) == (SIZE[1], SIZE[0]) and 0.4 < box[0] < 0.6
            if not small:
                detections.append(Detection("sports ball", 0.9, box))
        return detections


def always(name: str, t: float) -> bool:
    return True


def run(tools: Tools, **budget: Any) -> Any:
    return asyncio.run(caption_actively(tools, EmbeddedBackend(), budget=CaptionBudget(**budget)))


def test_an_enlarged_part_finds_what_the_whole_picture_misses(make_tools: Make) -> None:
    tools = make_tools(source=ball_source(always), detector=Squares())
    once = asyncio.run(caption_once(tools, EmbeddedBackend()))
    assert once.caption == "[0:00-0:19.9] In view: 2 sports balls (left, right)."
    done = run(make_tools(source=ball_source(always), detector=Squares()))
    assert done.caption == "[0:00-0:19.9] In view: 3 sports balls (left, middle, right)."
    assert done.state.stop == "no open gap"


def test_denser_looks_place_a_coming_and_a_going(make_tools: Make) -> None:
    def there(name: str, t: float) -> bool:
        return name != "left" or not 6.2 <= t < 13.1

    done = run(make_tools(source=ball_source(there), detector=Squares()))
    spans = {c.text: c.span for c in done.state.asserted}
    leaving = spans["The sports ball at the left leaves."]
    assert leaving.start < 6.2 <= leaving.end
    assert leaving.length <= 1.1
    back = spans["A sports ball is back at the left."]
    assert back.start < 13.1 <= back.end
    assert back.length <= 1.1
    assert "In view: up to 3 sports balls" in done.caption


def test_a_change_that_no_look_could_place_is_hedged(make_tools: Make) -> None:
    def there(name: str, t: float) -> bool:
        return name != "left" or t < 6.2

    done = run(make_tools(source=ball_source(there), detector=Squares()), looks=0)
    assert "Not certain: The sports ball at the left leaves." in done.caption
    assert done.state.pictures == 0


@pytest.mark.parametrize("frames", [0, 5, 20])
def test_frames_are_not_overspent(make_tools: Make, frames: int) -> None:
    def there(name: str, t: float) -> bool:
        return int(t / 3) % 2 == 0

    detector = Squares()
    done = run(make_tools(source=ball_source(there), detector=detector), frames=frames)
    assert done.state.pictures <= frames
    assert detector.looked <= frames + len(done.log.scene.coarse)
    asserted = [c for c in done.state.claims if c.standing is ClaimStatus.SUPPORTED]
    assert all(c.span.length <= 1.1 or "In view" in c.text for c in asserted)


def test_text_that_changes_is_read_closer(make_tools: Make) -> None:
    class Reader:
        def read(self, image: Any) -> list[TextLine]:
            close = image.shape[1] != SIZE[1]
            return [TextLine("EXIT", 0.95 if close else 0.7, (0.1, 0.1, 0.5, 0.3))]

    done = run(make_tools(source=ball_source(always), reader=Reader()))
    assert "Text in view: “EXIT”." in done.caption
    assert "Not certain" not in done.caption
    direct = asyncio.run(caption_once(make_tools(source=ball_source(always), reader=Reader()),
                                      EmbeddedBackend()))  # fmt: skip
    assert not any(f.conclusive for f in direct.state.findings)


def test_words_that_nobody_in_view_says_are_looked_into(make_tools: Make) -> None:
    words = Observation(recording="rec", span=Span(4, 8), text="Hello.", source="speech",
                        track="speech/x")  # fmt: skip
    done = run(make_tools(source=ball_source(always), detector=Squares(), context=[words]))
    assert "[0:04-0:08] Words heard: “Hello.”" in done.caption
    gap = next(g for g in done.state.gaps if g.concern == "unsupported")
    assert gap.state == "unresolved"
    assert "person" not in done.caption


def test_a_thing_that_one_picture_showed_is_hedged_until_another_does(make_tools: Make) -> None:
    class Guess:
        """Sees a cat in the second frame's whole picture, and up close only if there is one."""

        def __init__(self, there: bool) -> None:
            self.there, self.seen = there, 0

        def detect(self, image: Any, least: float) -> list[Detection]:
            self.seen += 1
            close = max(image.shape[:2]) >= CLOSE_SIDE
            cat = self.there if close else self.seen == 2
            return [Detection("cat", 0.6, (0.4, 0.4, 0.6, 0.6))] if cat else []

    for there, caption in ((True, "[0:05] A cat is seen."), (False, "[0:05] Not certain: A cat")):
        done = run(make_tools(detector=Guess(there)))
        assert done.caption.startswith(caption)
        assert [g.change for g in done.state.gaps] == ["confirm a cat at 5.0 s"]


def test_nothing_installed_and_nothing_known_is_no_caption(make_tools: Make) -> None:
    done = run(make_tools())
    assert (done.caption, done.state.stop) == ("", "no open gap")


# -- places, tools ---------------------------------------------------------------------------------


def detection(
    id: str, time: float, *things: tuple[Any, ...], region: Any = (0, 0, 1, 1)
) -> Finding:
    data: Any = {
        "seen": [{"time": time, "region": list(region), "things": [list(t) for t in things]}]
    }
    return Finding(id=id, tool="detect", span=Span(time, time), text="", data=data)


def test_what_is_put_back_a_little_beside_is_one_place() -> None:
    regions = find_regions(
        detected_frames(
            [
                detection("e1", 0, ("bottle", 0.9, 0.10, 0.3, 0.20, 0.9)),
                detection("e2", 5),
                detection("e3", 10, ("bottle", 0.9, 0.12, 0.3, 0.22, 0.9)),
                detection("e4", 15, ("vase", 0.6, 0.12, 0.3, 0.22, 0.9)),
            ]
        )
    )
    (place,) = regions
    assert (place.label, place.side) == ("bottle", "left")
    assert [(c.comes, c.span) for c in region_changes(place)] == [
        (False, Span(0, 5)),
        (True, Span(5, 10)),
    ]
    assert max_simultaneous(regions) == 1


def test_the_whole_picture_does_not_deny_what_only_an_enlargement_saw() -> None:
    close = (0.3, 0.0, 0.7, 1.0)
    thing = ("cup", 0.9, 0.45, 0.3, 0.55, 0.9)
    (place,) = find_regions(
        detected_frames(
            [
                detection("e1", 0),
                detection("e2", 0, thing, region=close),
                detection("e3", 5),
                detection("e4", 6, thing, region=close),
            ]
        )
    )
    assert region_changes(place) == []
    (place,) = find_regions(
        detected_frames(
            [
                detection("e1", 0, thing, region=close),
                detection("e2", 2, thing, region=close),
                detection("e3", 4, region=close),
            ]
        )
    )
    assert [c.comes for c in region_changes(place)] == [False]


def test_one_dense_look_that_disagrees_with_its_neighbours_is_flicker() -> None:
    thing = ("cup", 0.9, 0.45, 0.3, 0.55, 0.9)
    steps = [detection(f"e{k}", k * 0.5, *([thing] if k != 3 else [])) for k in range(8)]
    (place,) = find_regions(detected_frames(steps))
    assert region_changes(place) == []


def test_looks_are_clamped() -> None:
    bounds = Span(10, 20)
    ready = clamp(Dense(start=0, end=99, count=500), bounds, frames_left=9, most=16)
    assert ready.look == Dense(start=10, end=20, count=9)
    assert ready.changed == ("span", "count")
    assert clamp(Crop(start=30, end=31), bounds, frames_left=9, most=16).look is None
    assert clamp(Crop(start=12, end=12), bounds, frames_left=0, most=16).look is None
    box = clamp(Crop(start=12, end=12, boxes=((0.9, 2, 0.9, -1),)), bounds, frames_left=9, most=16)
    assert box.look is not None
    x0, top, right, bottom = box.look.boxes[0]
    assert 0 <= x0 < right <= 1
    assert (top, bottom) == (0, 1)
    assert Dense(start=0, end=8, count=5).times == (0, 2, 4, 6, 8)
    assert Dense(start=0, end=8).times == (4,)


def test_a_crop_is_enlarged_and_holds_what_it_should() -> None:
    image = np.zeros((100, 200, 3), np.uint8)
    image[50:, 100:] = 255
    part = crop(image, (0.5, 0.5, 1.0, 1.0))
    assert max(part.shape[:2]) == CLOSE_SIDE
    assert part.mean() > 250
    assert crop(image, (0.0, 0.0, 0.5, 0.5)).mean() < 5
    large = np.zeros((1000, 2000, 3), np.uint8)
    assert crop(large, (0.0, 0.0, 0.5, 0.5)).shape == (500, 1000, 3)


def test_a_thing_that_a_crop_cuts_is_not_counted() -> None:
    class Fixed:
        def detect(self, image: Any, least: float) -> list[Detection]:
            return [Detection("cup", 0.9, (0.0, 0.3, 0.3, 0.9)),
                    Detection("cup", 0.9, (0.4, 0.3, 0.6, 0.9))]  # fmt: skip

    image = np.zeros((100, 100, 3), np.uint8)
    inside = detect_in(Fixed(), CroppedFrame(0, (0.5, 0.0, 1.0, 1.0), image))
    assert [d.box for d in inside] == [(0.7, 0.3, 0.8, 0.9)]
    at_the_edge = detect_in(Fixed(), CroppedFrame(0, (0.0, 0.0, 0.5, 1.0), image))
    assert len(at_the_edge) == 2


@pytest.mark.parametrize("shape", [(360, 640), (640, 360), (480, 640), (500, 500), (90, 900)])
def test_tiles_cover_the_picture(shape: tuple[int, int]) -> None:
    grid = np.zeros((20, 20), bool)
    for x0, top, right, bottom in tiles(shape):
        assert 0 <= x0 < right <= 1.0001
        assert 0 <= top < bottom <= 1.0001
        grid[round(top * 20) : round(bottom * 20), round(x0 * 20) : round(right * 20)] = True
    assert grid.all()


def test_gaze_and_missing_tools(make_tools: Make) -> None:
    from egomem.observe.active import CaptionState

    tools = make_tools(gaze=[(5.0, 0.9, 0.5)])
    result = tools.carry_out(GazeCrop(start=5, end=5), CaptionState())
    assert result.pictures[0].box == (0.7, 0.35, 1.0, 0.65)
    assert tools.carry_out(GazeCrop(start=9, end=9), CaptionState()).refused
    assert tools.carry_out(Detect(start=1, end=1), CaptionState()).refused
    assert tools.carry_out(ReadText(start=1, end=1), CaptionState()).pictures, "a model may read it"


def test_words_that_are_held_need_no_listener(make_tools: Make) -> None:
    from egomem.observe.active import CaptionState
    from egomem.observe.active.actions import Listen

    words = Observation(recording="rec", span=Span(4, 8), text="Hello.", source="speech",
                        track="speech/x")  # fmt: skip
    tools = make_tools(context=[words])
    assert tools.carry_out(Listen(start=5, end=6), CaptionState()).text == "Words heard: “Hello.”"
    assert tools.carry_out(Listen(start=15, end=16), CaptionState()).refused


def test_the_coarse_view_is_taken_from_frames_that_are_there(make_tools: Make) -> None:
    given = [Frame(float(t), float(t), np.zeros((4, 4, 3), np.uint8)) for t in range(20)]

    def no_file(times: Any, side: Any) -> Any:
        raise AssertionError("decoded again")

    tools = make_tools(source=no_file, given=given)
    assert [f.time for f in tools.coarse()] == [0, 4, 9, 14, 19]


def test_held_frames_stand_in_for_a_file() -> None:
    frames = [Frame(t, t, np.zeros((4, 4, 3), np.uint8)) for t in (0.0, 1.0, 2.0)]
    assert [f.time for f in decoded_frames(frames)([0.5, 0.9, 2.7], None)] == [0.0, 2.0]
