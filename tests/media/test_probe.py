"""What probing says of files that are odd rather than broken."""

from fractions import Fraction
from importlib import import_module

import av
import numpy as np
import pytest

from egomem.errors import MediaError
from egomem.media import frames, probe


def test_cover_art_is_no_video(make, tmp_path):
    """A picture attached to a sound file is not a recording of one frame."""
    path = tmp_path / "song.flac"
    with av.open(str(path), "w") as out:
        packets = make.sound_packets(out, make.tone(2.0))
        cover = out.add_stream("mjpeg", rate=1)
        cover.width = cover.height = 64
        cover.pix_fmt = "yuvj420p"
        cover.disposition = av.stream.Disposition.attached_pic
        packets += cover.encode(av.VideoFrame.from_ndarray(make.picture(1), format="rgb24"))
        packets += cover.encode(None)
        out.mux(packets)
    facts = probe(path)
    assert facts.video is None
    assert facts.cover_art
    assert facts.duration == pytest.approx(2.0, abs=0.01)
    assert [s.kind for s in facts.other] == ["cover art"]
    with pytest.raises(MediaError, match="has no video"):
        list(frames(path, [0.0]))


@pytest.mark.parametrize("default", [0, 1])
def test_of_two_videos_the_default_is_used_and_the_other_named(make, tmp_path, default):
    path = tmp_path / "two.mkv"
    with av.open(str(path), "w") as out:
        streams = []
        for n, side in enumerate((64, 96)):
            stream = out.add_stream("libx264", rate=10)
            stream.width = stream.height = side
            stream.pix_fmt = "yuv420p"
            stream.disposition = av.stream.Disposition.default if n == default else 0
            streams.append(stream)
        packets = []
        for stream in streams:
            for n in range(10):
                image = make.picture(n, stream.width, stream.height)
                packets += stream.encode(av.VideoFrame.from_ndarray(image, format="rgb24"))
            packets += stream.encode(None)
        out.mux(sorted(packets, key=lambda p: p.dts * p.time_base))
    facts = probe(path)
    assert (facts.video.index, facts.video.width) == (default, (64, 96)[default])
    (other_stream,) = facts.other
    assert (other_stream.index, other_stream.kind) == (1 - default, "video")
    assert next(frames(path, [0.5])).image.shape[0] == (64, 96)[default]


def test_sound_beside_video_is_timed_from_the_first_frame(make, tmp_path):
    path = tmp_path / "late.mkv"

    def sound(out, rest):
        rest += make.sound_packets(out, make.tone(2.0), first_sample=16000)

    make.video(path, [600 * 3 // 2 + 30 * n for n in range(40)], extra=sound)
    facts = probe(path)
    assert facts.video.start == pytest.approx(1.5)
    assert facts.duration == pytest.approx(2.0)
    assert facts.audio[0].start == pytest.approx(-0.5, abs=1e-3)
    assert facts.faults == ()


def test_sound_that_goes_on_makes_the_recording_longer(make, tmp_path):
    path = tmp_path / "long.mov"
    make.video(path, count=20, extra=lambda out, rest: rest.extend(pcm(out, make.tone(4.0))))
    facts = probe(path)
    assert facts.video.duration == pytest.approx(1.0)
    assert facts.duration == pytest.approx(4.0, abs=0.01)
    assert facts.faults == ("sound goes on for 3.0 s after the video",)
    assert [f.requested for f in frames(path, [0.5, 2.0])] == [0.5]


def pcm(out, samples):
    stream = out.add_stream("pcm_s16le", rate=16000, layout="mono")
    frame = av.AudioFrame.from_ndarray(
        (samples * 32767).astype(np.int16)[None], format="s16", layout="mono"
    )
    frame.sample_rate, frame.pts, frame.time_base = 16000, 0, Fraction(1, 16000)
    return stream.encode(frame) + stream.encode(None)


def test_the_creation_time_is_a_hint_as_written(make, tmp_path):
    path = tmp_path / "dated.mp4"
    with av.open(str(path), "w") as out:
        out.metadata["creation_time"] = "2026-03-02T08:10:00.000000Z"
        stream = out.add_stream("libx264", rate=10)
        stream.width = stream.height = 64
        stream.pix_fmt = "yuv420p"
        out.mux(stream.encode(av.VideoFrame.from_ndarray(make.picture(0), format="rgb24")))
        out.mux(stream.encode(None))
    assert probe(path).created == "2026-03-02T08:10:00.000000Z"


def test_a_stream_without_times_is_counted(make, tmp_path):
    """Raw H.264 with B-frames states no display times: counted, and said so; never all zero."""
    source, path = tmp_path / "b.mp4", tmp_path / "b.h264"
    make.video(source, count=50, fps=25, options={"bf": "3"})
    with av.open(str(source)) as container, path.open("wb") as file:
        stream = container.streams.video[0]
        annex_b = av.bitstream.BitStreamFilterContext("h264_mp4toannexb", stream)
        for packet in container.demux(stream):
            for part in annex_b.filter(packet):
                file.write(bytes(part))
    facts = probe(path)
    assert facts.video.timing == "count"
    assert facts.faults[0] == "the file has no usable display times; frames are counted instead"
    results = list(frames(path, [k / 5 for k in range(10)]))
    assert [make.number_of(f.image) for f in results] == [k * 5 for k in range(10)]
    assert [f.time for f in results] == pytest.approx([k / 5 for k in range(10)])


def test_display_times_that_equal_decoding_times_are_not_believed(make, tmp_path):
    """A remuxer wrote DTS as PTS though there are B-frames: frames still come in display order."""
    source, path = tmp_path / "b.mp4", tmp_path / "wrong.mkv"
    make.video(source, count=50, fps=25, options={"bf": "3", "x264-params": "b-adapt=0"})
    with av.open(str(source)) as container, av.open(str(path), "w") as out:
        stream = out.add_stream_from_template(container.streams.video[0])
        for packet in container.demux(video=0):
            if packet.size:
                packet.pts = packet.dts = packet.dts + 1000
                packet.stream = stream
                out.mux(packet)
    facts = probe(path)
    assert facts.video.timing == "count"
    results = list(frames(path, [k / 5 for k in range(10)]))
    assert [make.number_of(f.image) for f in results] == [k * 5 for k in range(10)]


def test_a_long_file_is_probed_at_its_ends(make, tmp_path, monkeypatch):
    """The tail gives the same facts as reading every packet."""
    probing = import_module("egomem.media.probe")  # the package's own `probe` is the function
    for name in ("long.mp4", "long.mkv"):
        path = tmp_path / name
        make.video(path, count=400, fps=10, gop=30, options={"bf": "2", "preset": "ultrafast"})
        full = probe(path)
        monkeypatch.setattr(probing, "MAX_FULL_SCAN_BYTES", 0)
        read = []
        real = probing.read_packets

        def counted(container, stream, step, real=real, read=read):
            summary = real(container, stream, step)
            read.append(summary.count)
            return summary

        monkeypatch.setattr(probing, "read_packets", counted)
        ends = probe(path)
        monkeypatch.undo()
        assert ends.duration == pytest.approx(full.duration) == pytest.approx(40.0, abs=0.01)
        assert sum(read) < 200


@pytest.mark.parametrize(
    ("name", "content", "line"),
    [
        ("notes.txt", b"no media here\n" * 50, "notes.txt is a text file"),
        ("noise.mp4", bytes(range(256)) * 20, "noise.mp4 is not a media file"),
    ],
)
def test_what_is_no_media_says_so_in_one_line(tmp_path, name, content, line):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(MediaError) as error:
        probe(path)
    assert error.value.message.startswith(line)
    assert "\n" not in str(error.value)


def test_what_is_not_there_says_so(tmp_path):
    with pytest.raises(MediaError, match="there is no file"):
        probe(tmp_path / "gone.mp4")
    with pytest.raises(MediaError, match="is a folder"):
        probe(tmp_path)
