"""The frame at t is the one on screen: last display time <= t."""

import gc
import itertools
import os
from pathlib import Path

import av
import numpy as np
import pytest

from egomem.errors import MediaError, UsageError
from egomem.media import distinct, frames, key_frames, probe
from egomem.media.frame import Orientation

FLIPS = list(itertools.product([False, True], repeat=3))


def on_screen(times, t):
    return max(n for n, time in enumerate(times) if time <= t + 1e-3)


def test_what_is_seen_and_its_time_are_right(sample, make):
    """In every codec and container: the picture's own number tells when it is shown."""
    path, times = sample
    targets = [k * 0.13 for k in range(int(times[-1] / 0.13) + 1)]
    results = list(frames(path, targets))
    assert [f.requested for f in results] == targets
    for frame in results:
        number = make.number_of(frame.image)
        assert frame.time == pytest.approx(times[number], abs=1.1e-3)
        # A container that keeps whole milliseconds may show a picture half of one earlier.
        assert number in (
            on_screen(times, frame.requested - 1e-3),
            on_screen(times, frame.requested),
        )


def test_probing_gives_the_true_length_and_count(sample):
    path, times = sample
    facts = probe(path)
    assert facts.video is not None
    assert facts.video.frames == len(times)
    assert times[-1] < facts.duration < times[-1] + 0.051


def test_key_frames_are_those_of_the_stream(sample):
    path, _ = sample
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        keys = [(f.pts, f) for f in container.decode(stream) if f.key_frame]
        first = probe(path).video.start
        expected = [float(pts * stream.time_base) - first for pts, _ in keys]
    reader = key_frames(path)
    results = list(reader)
    assert [f.time for f in results] == pytest.approx(expected, abs=1e-6)
    plain = frames(path, [f.time for f in results], prune=False)
    assert all(np.array_equal(a.image, b.image) for a, b in zip(results, plain, strict=True))
    assert reader.report.fed == len(results) or reader.report.fed < 10


def test_times_that_fall_on_one_picture_share_it(video_file):
    path, _ = video_file("h264_b.mp4")
    results = list(frames(path, [0.0, 0.01, 0.02, 0.06]))
    assert [f.requested for f in results] == [0.0, 0.01, 0.02, 0.06]
    assert [f.time for f in results] == pytest.approx([0.0, 0.0, 0.0, 0.05])
    assert results[0].image is results[2].image
    assert [f.time for f in distinct(results)] == pytest.approx([0.0, 0.05])


def test_one_frame_is_one_frame(make, tmp_path):
    """A10, A13: eight times asked of a one-frame file give its one real frame, never black."""
    path = tmp_path / "one.mp4"
    make.video(path, count=1, fps=25)
    facts = probe(path)
    assert (facts.duration, facts.video.frames) == (pytest.approx(0.04), 1)
    results = list(frames(path, [k * 0.005 for k in range(8)]))
    assert len(results) == 8
    (only,) = distinct(results)
    assert only.time == 0
    assert only.image[32:].std() > 5


def test_nothing_is_on_screen_after_the_end(video_file):
    path, _ = video_file("h264_b.mp4")
    assert [f.requested for f in frames(path, [2.9, 3.0, 3.2, 50.0])] == [2.9, 3.0]


def test_a_step_of_variable_length(video_file, make):
    """A7: times equal the display times, wherever in the file decoding begins."""
    path, times = video_file("h264_vfr.mp4")
    assert probe(path).video.variable_rate
    for n in (0, 17, 41, 59):
        (frame,) = frames(path, [times[n]])
        assert make.number_of(frame.image) == n
        assert frame.time == pytest.approx(times[n], abs=1e-4)
        if n:
            (before,) = frames(path, [times[n] - 1e-3])
            assert make.number_of(before.image) == n - 1


@pytest.mark.parametrize("stored", [0, 90, 180, -90])
def test_frames_stand_upright(make, tmp_path, stored):
    """The same picture, stored turned by a quarter and marked so, looks the same."""
    path = tmp_path / "turned.mp4"
    make.video(path, count=2, size=(96, 64), rotation=stored, options={"crf": "5"})
    facts = probe(path)
    turned = stored in (90, -90)
    assert (facts.video.width, facts.video.height) == ((64, 96) if turned else (96, 64))
    assert facts.video.rotation == -stored % 360
    (frame,) = frames(path, [0.0])
    expected = np.rot90(make.picture(0, 96, 64), stored // 90)
    assert frame.image.shape == expected.shape
    assert np.abs(frame.image.astype(int) - expected).mean() < 12
    (by_info,) = frames(path, [0.0], info=facts)
    assert np.array_equal(by_info.image, frame.image)
    (small,) = frames(path, [0.0], side=48)
    assert max(small.image.shape[:2]) == 48
    assert small.image.shape[0] > small.image.shape[1] if turned else True


def test_side_limits_the_longer_side_and_never_enlarges(video_file):
    path, _ = video_file("h264_b.mp4")
    assert next(frames(path, [0.0], side=32)).image.shape == (32, 32, 3)
    assert next(frames(path, [0.0], side=500)).image.shape == (64, 64, 3)


def test_pixels_that_are_not_square_are_made_so(make, tmp_path):
    path = tmp_path / "wide.mp4"
    make.video(path, count=2, options={"x264-params": "sar=2/1"})
    facts = probe(path)
    assert (facts.video.width, facts.video.height) == (128, 64)
    assert next(frames(path, [0.0])).image.shape == (64, 128, 3)


def test_colours_are_those_that_were_put_in(make, tmp_path):
    path = tmp_path / "colours.mp4"
    with av.open(str(path), "w") as out:
        stream = out.add_stream("libx264", rate=10, options={"crf": "5"})
        stream.width = stream.height = 64
        stream.pix_fmt = "yuv420p"
        image = np.zeros((64, 64, 3), np.uint8)
        image[:, :32], image[:, 32:] = (200, 30, 30), (20, 40, 220)
        out.mux(stream.encode(av.VideoFrame.from_ndarray(image, format="rgb24")))
        out.mux(stream.encode(None))
    (frame,) = frames(path, [0.0])
    assert np.abs(frame.image[20, 10].astype(int) - (200, 30, 30)).max() < 8
    assert np.abs(frame.image[20, 50].astype(int) - (20, 40, 220)).max() < 8


def test_times_must_ascend_from_zero(video_file):
    path, _ = video_file("h264_b.mp4")
    for times in ([1.0, 0.5], [-0.1, 1.0], [float("nan")], [0.0, float("inf")]):
        with pytest.raises(UsageError):
            frames(path, times)
    assert list(frames(path, [])) == []


def test_sound_alone_has_no_frames(make, tmp_path):
    path = tmp_path / "tone.flac"
    make.sound(path, make.tone(0.5))
    with pytest.raises(MediaError, match=r"tone\.flac has no video"):
        list(frames(path, [0.0]))


def cut(path, target, share):
    data = path.read_bytes()
    target.write_bytes(data[: int(len(data) * share)])


@pytest.mark.parametrize(("prune", "use_facts"), list(itertools.product([True, False], repeat=2)))
def test_a_file_that_was_cut_off(make, tmp_path, prune, use_facts):
    """A1: what is there is used, what is not is never filled in."""
    intact, path = tmp_path / "whole.mp4", tmp_path / "cut.mp4"
    make.video(
        intact,
        count=200,
        fps=10,
        gop=20,
        options={"bf": "0"},
        format_options={"movflags": "faststart"},
    )
    cut(intact, path, 0.6)
    facts = probe(path)
    assert facts.duration == pytest.approx(20.0)
    assert facts.decoded_until is not None
    last = round(facts.decoded_until * 10)
    assert 100 < last < 140
    assert facts.faults[0].startswith("the file is cut off or damaged")
    reader = frames(
        path, [k / 2 for k in range(40)], prune=prune, info=facts if use_facts else None
    )
    results = list(reader)
    assert [make.number_of(f.image) for f in results] == list(range(0, last + 1, 5))
    assert len(list(distinct(results))) == len(results)
    assert reader.report.failed >= 1
    assert reader.report.decoded_until == pytest.approx(facts.decoded_until)


@pytest.mark.parametrize("prune", [True, False])
def test_damage_in_the_middle_costs_only_its_own_stretch(make, tmp_path, prune):
    path = tmp_path / "hurt.mp4"
    make.video(path, count=120, fps=20, gop=20, options={"bf": "0", "x264-params": "scenecut=0"})
    with av.open(str(path)) as container:
        hit = next(p for n, p in enumerate(container.demux(video=0)) if n == 50)
        offset, size = hit.pos, hit.size
    data = bytearray(path.read_bytes())
    data[offset : offset + size] = b"\xff" * size
    path.write_bytes(data)
    times = [k / 4 for k in range(24)]
    reader = frames(path, times, prune=prune)
    results = list(reader)
    # Frames 50 to 59 depend on the broken one; 2.5 s to 3.0 s is lost.
    assert [f.requested for f in results] == [t for t in times if not 2.5 <= t < 3.0]
    assert [make.number_of(f.image) for f in results] == [round(f.requested * 20) for f in results]
    report = reader.report
    assert report.failed >= 1
    assert report.decoded_until is None
    assert report.lost[0] == pytest.approx((2.45, 3.0))


def test_memory_does_not_hold_the_file(make, tmp_path):
    """A9: packets wait only until it is known which are wanted."""
    from egomem.media.prune import Pruner

    path = tmp_path / "long.mp4"
    make.video(path, count=900, fps=30, gop=30, options={"preset": "ultrafast"}, size=(32, 32))
    sizes = []
    take = Pruner._take

    def watched(self, packet, header):
        yield from take(self, packet, header)
        sizes.append((len(self._pending), len(self._times), len(self._frames)))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Pruner, "_take", watched)
        assert len(list(frames(path, [k + 0.5 for k in range(30)]))) == 30
    assert len(sizes) > 800
    assert max(m[0] for m in sizes) <= 31
    assert max(m[1] for m in sizes) <= 31
    assert max(m[2] for m in sizes) <= 4


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read from /proc")
@pytest.mark.parametrize("prune", [True, False])
def test_memory_does_not_grow_with_the_length(make, tmp_path, prune):
    """Not even while the garbage collector sleeps: a cycle around a frame holds 0.6 MB."""
    path = tmp_path / "large.mp4"
    options = {"preset": "ultrafast", "bf": "0"}
    make.video(path, count=60, fps=10, gop=2, size=(640, 640), options=options)
    times = [k / 10 for k in range(60)]
    list(frames(path, times, side=32, prune=prune))
    gc.collect()
    gc.disable()
    try:
        before = resident()
        for _ in range(2):
            assert sum(1 for _ in frames(path, times, side=32, prune=prune)) == 60
        assert resident() - before < 12
    finally:
        gc.enable()


def resident():
    """MB in memory now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE") / 1e6


@pytest.mark.parametrize("turn", [Orientation(*flips) for flips in FLIPS])
def test_an_orientation_is_its_degrees_and_mirror(turn):
    again = Orientation.of(turn.degrees, turn.mirrored)
    image = np.arange(60, dtype=np.uint8).reshape(4, 5, 3)
    assert np.array_equal(again.apply(image), turn.apply(image))


def test_the_reader_closes_its_file(video_file):
    path, _ = video_file("h264_b.mp4")
    with frames(path, [0.0, 1.0]) as reader:
        assert next(reader).time == 0
    assert list(reader) == []
