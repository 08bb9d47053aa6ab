"""Pruned decoding gives what plain decoding gives, to the pixel, and decodes less."""

import random

import numpy as np
import pytest

from egomem.media import frames, probe
from egomem.media.decode import DecodeStats, StreamTiming, open_video
from egomem.media.prune import Pruner


@pytest.mark.parametrize("seed", range(3))
def test_the_same_pixels_as_plain_decoding(sample, seed):
    path, times = sample
    rng = random.Random(f"{path.name} {seed}")
    end = times[-1] + 0.02
    every = [k / 100 for k in range(int(end * 100) + 1)]
    plain = {f.requested: f for f in frames(path, every, prune=False)}
    facts = probe(path)
    for count in (1, 2, 3, 6, 15, 60):
        targets = sorted(rng.choice(every) for _ in range(count))
        reader = frames(path, targets, info=facts if seed else None)
        results = list(reader)
        assert [f.requested for f in results] == [t for t in targets if t in plain]
        for frame in results:
            assert frame.time == plain[frame.requested].time
            assert np.array_equal(frame.image, plain[frame.requested].image)
        assert reader.report.failed == 0


@pytest.mark.parametrize(
    ("name", "max_packets"),
    [
        ("h264_b.mp4", 24),
        ("h264_no_b.mp4", 36),
        ("h264_pyramid.mkv", 24),
        ("h264_b.ts", 30),
        ("hevc_open_gop.mp4", 24),
        ("hevc_sublayers.mp4", 24),
        ("vp9.webm", 36),
        ("mpeg4_b.mp4", 36),
        ("mjpeg.mov", 3),
    ],
)
def test_it_decodes_only_what_is_needed(video_file, name, max_packets):
    """Three targets, each half-way through a second: of 60 packets most are left out."""
    path, _ = video_file(name)
    reader = frames(path, [0.5, 1.5, 2.5])
    assert len(list(reader)) == 3
    report = reader.report
    assert report.not_pruned == ""
    assert 3 <= report.fed <= max_packets


def test_packets_of_stretches_without_targets_are_not_decoded(video_file):
    path, _ = video_file("h264_no_b.mp4")
    reader = frames(path, [0.0])
    assert len(list(reader)) == 1
    assert reader.report.fed == 1


@pytest.mark.parametrize(
    ("name", "why"),
    [("h264_interlaced.mp4", "interlaced"), ("mpeg2_b.mkv", "mpeg2video is decoded as a whole")],
)
def test_what_is_unsafe_is_decoded_plainly_and_says_so(video_file, name, why):
    path, times = video_file(name)
    reader = frames(path, [1.0])
    assert [f.time for f in reader] == pytest.approx([max(t for t in times if t <= 1.0)], abs=2e-3)
    assert why in reader.report.not_pruned


def test_a_far_target_is_sought(make, tmp_path):
    """50 s into a file of 60 s, nothing before the key frame is read or decoded."""
    path = tmp_path / "long.mkv"
    times = make.video(path, count=600, fps=10, gop=30, options={"bf": "2", "preset": "ultrafast"})
    targets = [0.05, 25.0, 49.95, 50.0]
    reader = frames(path, targets)
    results = list(reader)
    assert [make.number_of(f.image) for f in results] == [0, 250, 499, 500]
    assert [f.time for f in results] == pytest.approx(
        [times[n] for n in (0, 250, 499, 500)], abs=1e-3
    )
    assert reader.report.fed < 90


def test_a_segment_longer_than_memory_allows_is_fed_in_parts(make, tmp_path, monkeypatch):
    import egomem.media.prune as prune

    monkeypatch.setattr(prune, "MAX_PENDING_PACKETS", 50)
    path = tmp_path / "long.mp4"
    make.video(path, count=300, fps=30, gop=1000, options={"bf": "3"})
    max_packets = 0
    feed = Pruner._feed

    def watched(self, count, floor):
        nonlocal max_packets
        max_packets = max(max_packets, len(self._pending))
        yield from feed(self, count, floor)

    monkeypatch.setattr(Pruner, "_feed", watched)
    targets = [0.0, 9.0, 9.9]
    pruned, plain = list(frames(path, targets)), list(frames(path, targets, prune=False))
    assert [make.number_of(f.image) for f in pruned] == [0, 270, 297]
    assert all(np.array_equal(a.image, b.image) for a, b in zip(pruned, plain, strict=True))
    assert 33 < max_packets <= 51


def test_changed_parameter_sets_are_unsafe(make, tmp_path):
    """Two H.264 recordings of different settings in one transport stream."""
    first, second, both = (tmp_path / n for n in ("a.ts", "b.ts", "both.ts"))
    make.video(first, count=30, options={"bf": "0"})
    times = [600 * 2 + 30 * n for n in range(30)]
    make.video(second, times, options={"bf": "0", "x264-params": "ref=5:cabac=0"})
    make.join([first, second], both)
    reader = frames(both, [0.5, 1.9, 2.6])
    results = list(reader)
    assert "parameter sets change" in reader.report.not_pruned
    plain = list(frames(both, [0.5, 1.9, 2.6], prune=False))
    assert [f.time for f in results] == [f.time for f in plain]
    assert all(np.array_equal(a.image, b.image) for a, b in zip(results, plain, strict=True))


def test_a_picture_that_never_comes_out_is_unsafe(video_file, monkeypatch):
    """The last guard: a wanted picture that the decoder swallows is found by plain decoding."""
    path, _ = video_file("h264_b.mp4")
    monkeypatch.setattr(Pruner, "_decode", lambda self, packet: None)
    reader = frames(path, [0.5, 1.5])
    assert len(list(reader)) == 2
    assert reader.report.not_pruned == "a picture did not come out of the decoder"


def test_wanted_times_before_the_failure_are_not_given_twice(video_file):
    path, _ = video_file("h264_b.mp4")
    facts = probe(path)
    track = StreamTiming(path, 0, "display", 0, 30)
    assert facts.video is not None
    numbers = [
        n for n, _, _ in Pruner(track, [0, 0, 700], DecodeStats()).pictures(open_video(path))
    ]
    assert numbers == [0, 1, 2]
