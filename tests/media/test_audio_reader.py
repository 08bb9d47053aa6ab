"""Sound lies on the recording's time axis, wherever its own stamps begin."""

from itertools import pairwise

import av
import numpy as np
import pytest

from egomem.media import audio
from egomem.timeline import Span


def joined(blocks):
    assert all(abs(a.end - b.start) < 1e-6 for a, b in pairwise(blocks))
    return np.concatenate([b.samples for b in blocks])


def test_samples_come_back(make, tmp_path):
    path, tone = tmp_path / "tone.flac", make.tone(3.0)
    make.sound(path, tone)
    blocks = list(audio(path, block=1.0))
    assert [len(b.samples) for b in blocks] == [16000, 16000, 16000]
    assert blocks[0].samples.dtype == np.float32
    assert np.abs(joined(blocks) - tone).max() < 1e-3


def test_it_is_resampled_and_mixed(make, tmp_path):
    path = tmp_path / "tone.flac"
    make.sound(path, make.tone(2.0, rate=44100), rate=44100)
    (block,) = audio(path, rate=16000)
    assert block.rate == 16000
    assert block.end == pytest.approx(2.0, abs=0.01)
    assert np.abs(block.samples[1000:20000] - make.tone(2.0)[1000:20000]).max() < 0.02


@pytest.mark.parametrize(("begin", "end"), [(0.0, 0.5), (1.0, 2.0), (7.25, 7.75), (9.5, 20.0)])
def test_a_span_is_the_same_samples(make, tmp_path, begin, end):
    path = tmp_path / "sweep.flac"
    sweep = np.sin(np.linspace(0, 300, 160000) ** 1.5).astype(np.float32) * 0.5
    make.sound(path, sweep)
    blocks = list(audio(path, span=Span(begin, end)))
    assert blocks[0].start == pytest.approx(begin, abs=1e-4)
    expected = sweep[round(begin * 16000) : round(end * 16000)]
    samples_read = joined(blocks)
    assert len(samples_read) == len(expected)
    assert np.abs(samples_read - expected).max() < 1e-3


@pytest.mark.parametrize(("offset", "first"), [(-0.5, 0.0), (0.75, 0.75)])
def test_time_counts_from_the_first_displayed_frame(make, tmp_path, offset, first):
    """A click 1 s after the first frame is heard at 1 s, whenever sound begins."""
    path = tmp_path / "clip.mkv"
    samples = np.zeros(32000, np.float32)
    samples[round((1.0 - offset) * 16000)] = 0.9

    def sound(out, rest):
        rest += make.sound_packets(out, samples, first_sample=round((1.5 + offset) * 16000))

    make.video(path, [900 + 30 * n for n in range(40)], extra=sound)
    blocks = list(audio(path))
    assert blocks[0].start == pytest.approx(first, abs=2e-3)
    click = int(np.argmax(np.abs(joined(blocks))))
    assert blocks[0].start + click / 16000 == pytest.approx(1.0, abs=2e-3)


def test_a_gap_is_silence(make, tmp_path):
    """Sound that pauses for a second stays in time afterwards."""
    path = tmp_path / "gap.mkv"
    silent = []

    def sound(out, rest):
        packets = make.sound_packets(out, make.tone(2.048))
        silent.append(packets[4].pts)
        for packet in packets[4:]:
            packet.pts += round(1.0 / packet.time_base)
            packet.dts = packet.pts
        rest += packets

    make.video(path, count=60, extra=sound)
    samples = joined(list(audio(path)))
    assert len(samples) == pytest.approx(3.048 * 16000, abs=50)
    (begin,) = silent
    assert np.abs(samples[begin + 20 : begin + 15980]).max() == 0
    for loud in (samples[begin - 500 : begin], samples[begin + 16000 : begin + 16500]):
        assert np.abs(loud).max() > 0.4


def test_no_sound_gives_nothing(video_file):
    path, _ = video_file("h264_b.mp4")
    assert list(audio(path)) == []


def test_packets_that_fail_are_counted_and_silent(make, tmp_path):
    path = tmp_path / "hurt.mkv"
    make.video(path, count=60, extra=lambda out, rest: rest.extend(tone_packets(make, out)))
    with av.open(str(path)) as container:
        hit = [p for p in container.demux(audio=0) if p.size][3]
        position, size, begin = hit.pos, hit.size, float(hit.pts * hit.time_base)
    data = bytearray(path.read_bytes())
    position = data.index(bytes(hit), position)
    data[position : position + size] = b"\xff" * size
    path.write_bytes(data)
    reader = audio(path)
    samples = joined(list(reader))
    assert reader.failed == 1
    assert len(samples) == pytest.approx(3 * 16000, abs=50)
    hole = samples[round((begin + 0.005) * 16000) : round((begin + 0.065) * 16000)]
    assert np.abs(hole).max() == 0
    assert np.abs(samples[40000:]).max() > 0.4


def tone_packets(make, out):
    return make.sound_packets(out, make.tone(3.0))
