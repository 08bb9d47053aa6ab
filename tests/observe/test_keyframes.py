from __future__ import annotations

import numpy as np

from egomem.media import Frame
from egomem.observe.keyframes import select_keyframes
from egomem.timeline import Span


def frame(time: float, image: np.ndarray) -> Frame:
    return Frame(time=time, requested=time, image=image)


def noise(seed: int) -> np.ndarray:
    base = np.full((480, 640, 3), 120, np.int16)
    noisy = base + np.random.default_rng(seed).integers(-12, 13, base.shape)
    return noisy.astype(np.uint8)


def test_noise_is_no_change_and_one_changed_digit_is() -> None:
    digit = noise(2)
    digit[200:240, 300:325] = 250
    frames = [frame(0, noise(0)), frame(1, noise(1)), frame(2, digit), frame(3, digit)]
    keyframes = select_keyframes(frames, Span(0, 4), fps=1)
    assert [look.frame.time for look in keyframes] == [0, 2]
    assert [look.span for look in keyframes] == [Span(0, 2), Span(2, 4)]
    assert [look.last for look in keyframes] == [1, 3]


def test_a_slow_change_is_seen_in_the_end() -> None:
    frames = [frame(k, np.full((64, 64, 3), 100 + 3 * k, np.uint8)) for k in range(6)]
    assert [look.frame.time for look in select_keyframes(frames, Span(0, 6), fps=1)] == [0, 3]


def test_fps_bounds_the_looks_and_zero_change_takes_every_frame() -> None:
    frames = [frame(k / 4, np.zeros((64, 64, 3), np.uint8)) for k in range(16)]
    keyframes = select_keyframes(frames, Span(0, 4), fps=2, change=0)
    assert [look.frame.time for look in keyframes] == [k / 2 for k in range(8)]


def test_a_frame_from_before_the_window_counts_from_its_start() -> None:
    early = Frame(time=29.97, requested=30.0, image=np.zeros((8, 8, 3), np.uint8))
    (look,) = select_keyframes([early], Span(30, 60), fps=1)
    assert look.span == Span(30, 60)
    assert look.frame.time == 29.97


def test_no_frames_no_looks_and_odd_sizes_work() -> None:
    assert select_keyframes([], Span(0, 30), fps=1) == []
    frames = [frame(0, np.zeros((1, 1, 3), np.uint8)), frame(1, np.zeros((37, 71, 3), np.uint8))]
    assert len(select_keyframes(frames, Span(0, 2), fps=1)) == 2, "another size is another picture"
