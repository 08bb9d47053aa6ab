"""Real and broken files, and what is right for each of them."""

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest

from egomem.errors import MediaError
from egomem.media import audio, distinct, frames, probe
from egomem.timeline import Span, sample_times, windows


@dataclass(frozen=True)
class Right:
    """What probing says; `count` are the distinct display times of frames at 0, 0.5, 1.0 ..."""

    duration: float
    codec: str | None
    size: tuple[int, int] = (0, 0)
    frames: int | None = None
    start: float = 0.0
    sounds: int = 0
    rotation: int = 0
    variable: bool = False
    faults: tuple[str, ...] = ()
    count: int = 0
    last: float = 0.0
    decoded_until: float | None = None


RIGHT = {
    "video/bikes.mp4": Right(10.0, "h264", (640, 272), 250, count=20, last=9.48),
    "video/bottle-detection.mp4": Right(39.855, "h264", (640, 360), 1189, count=80, last=39.486),
    "video/burnt_in_timecode_16s.mp4": Right(16.0, "h264", (640, 480), 400, count=32, last=15.48),
    "video/flipping_a_pancake.mkv": Right(
        10.333, "h264", (426, 240), 310, sounds=1, count=21, last=10.0
    ),
    "video/nasa_13013.mp4": Right(
        13.0,
        "h264",
        (320, 180),
        325,
        sounds=2,
        count=26,
        last=12.48,
    ),
    "video/jfk.flac": Right(11.0, None, sounds=1),
    "video_bad/av1_video.mkv": Right(5.0, "av1", (640, 360), 125, count=10, last=4.48),
    "video_bad/bitmap.mp4": Right(5.0, "h264", (1, 1), 5, count=5, last=4.0),
    "video_bad/corrupted.mp4": Right(
        5.0, "h264", (1280, 720), 50, count=6, last=2.5, decoded_until=2.7
    ),
    "video_bad/h265_10bits.mp4": Right(1.0, "hevc", (200, 200), 30, count=2, last=0.5),
    "video_bad/minimal.mp4": Right(0.04, "h264", (320, 240), 1, sounds=1, count=1),
    "video_bad/no_duration.webm": Right(
        4.938, "vp9", (1280, 720), 74, sounds=1, variable=True, count=10, last=4.474
    ),
    "video_bad/test-segment.ts": Right(
        8.933, "h264", (391, 300), 134, start=1.4, sounds=1, count=18, last=8.467
    ),
    "video_bad/transparent.webm": Right(5.0, "vp9", (200, 200), 150, sounds=1, count=10, last=4.5),
    "video_bad/unordered.mov": Right(0.125, "h264", (50, 50), 4, count=1),
    "video_bad/video_90.mov": Right(0.1, "h264", (320, 568), 3, rotation=90, count=1),
}
ERRORS = {
    "video_bad/zero_bytes.webm": "zero_bytes.webm is empty (0 bytes)",
    "video_bad/zero_empty_stsc.mp4": "no frame of zero_empty_stsc.mp4 can be decoded",
    "video_bad/no_timescale.mp4": "no frame of no_timescale.mp4 can be decoded without damage",
}


def test_the_table_is_complete(shared_data: Path) -> None:
    here = {
        str(p.relative_to(shared_data))
        for f in ("video", "video_bad")
        for p in (shared_data / f).iterdir()
    }
    assert here == set(RIGHT) | set(ERRORS)


@pytest.mark.parametrize("name", RIGHT)
def test_facts(name: str, shared_data: Path) -> None:
    right, facts = RIGHT[name], probe(shared_data / name)
    assert facts.duration == pytest.approx(right.duration, abs=1e-3)
    assert len(facts.audio) == right.sounds
    assert facts.faults == right.faults
    assert facts.decoded_until is None
    assert facts.bytes == (shared_data / name).stat().st_size
    if right.codec is None:
        assert facts.video is None
        return
    video = facts.video
    assert video is not None
    assert (video.codec, video.width, video.height) == (right.codec, *right.size)
    assert (video.frames, video.rotation, video.variable_rate, video.timing) == (
        right.frames,
        right.rotation,
        right.variable,
        "display",
    )
    assert video.start == pytest.approx(right.start, abs=1e-3)


@pytest.mark.parametrize("name", [n for n, right in RIGHT.items() if right.codec])
def test_frames(name: str, shared_data: Path) -> None:
    right, path = RIGHT[name], shared_data / name
    reader = frames(path, sample_times(Span(0, right.duration), 2))
    results = list(distinct(reader))
    assert len(results) == right.count
    assert results[0].time == 0
    assert results[-1].time == pytest.approx(right.last, abs=1e-3)
    assert {f.image.shape for f in results} == {(right.size[1], right.size[0], 3)}
    assert all(f.time <= f.requested + 1e-6 for f in results)
    report = reader.report
    assert report.decoded_until == (
        None if right.decoded_until is None else pytest.approx(right.decoded_until)
    )
    assert (report.failed > 0) == (right.decoded_until is not None)


@pytest.mark.parametrize("name", ERRORS)
def test_a_file_that_cannot_be_used_has_one_clear_line(name: str, shared_data: Path) -> None:
    for use in (probe, lambda path: list(frames(path, [0.0]))):
        with pytest.raises(MediaError) as error:
            use(shared_data / name)
        line = str(error.value)
        assert "\n" not in line
        assert error.value.remedy
    with pytest.raises(MediaError) as error:
        probe(shared_data / name)
    assert error.value.message.startswith(ERRORS[name])


@pytest.mark.parametrize("name", RIGHT)
def test_windows_cover_a_file_once(name: str, shared_data: Path) -> None:
    facts = probe(shared_data / name)
    parts = windows(facts.duration, 0.5)
    assert parts[0].start == 0
    assert parts[-1].end == pytest.approx(facts.duration)
    assert all(a.end == b.start for a, b in pairwise(parts))


def test_a_burnt_in_timecode_tells_the_time(shared_data: Path) -> None:
    """The frame on screen at 3.2 s is the one whose own clock says 00:00:03:05."""
    path = shared_data / "video/burnt_in_timecode_16s.mp4"
    (frame,) = frames(path, [3.21])
    assert frame.time == pytest.approx(3.2)


def test_speech_is_as_long_as_it_is(shared_data: Path) -> None:
    blocks = list(audio(shared_data / "video/jfk.flac", block=4.0))
    assert [b.start for b in blocks] == pytest.approx([0, 4, 8])
    assert blocks[-1].end == pytest.approx(11.0, abs=0.01)
