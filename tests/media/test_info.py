"""Slow motion and time lapses tell the rate that they were filmed at, and real time is told."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import av
import numpy as np
import pytest

from egomem.media import probe


def filmed(path: Path, capture_fps: str | None, *, fps: int = 30, count: int = 60) -> Path:
    with av.open(str(path), "w", options={"movflags": "use_metadata_tags"}) as container:
        if capture_fps is not None:
            container.metadata["com.android.capture.fps"] = capture_fps
        stream = container.add_stream("mpeg4", rate=fps)
        stream.width = stream.height = 64
        for _ in range(count):
            picture = np.zeros((64, 64, 3), np.uint8)
            container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        container.mux(stream.encode(None))
    return path


@pytest.mark.parametrize(
    ("capture_fps", "speed", "note"),
    [
        ("240.000000", 0.125, "slow motion: filmed at 240 frames a second, played at 30; its 0:02"),
        ("0.5", 60, "a time lapse: filmed at 0.5 frames a second"),
        ("29.97", 1, ""),
        ("fast", 1, ""),
        (None, 1, ""),
    ],
)
def test_real_time_of_slow_motion(
    tmp_path: Path, capture_fps: str | None, speed: float, note: str
) -> None:
    facts = probe(filmed(tmp_path / "a.mp4", capture_fps))
    assert facts.real_speed == speed
    assert facts.speed_note.startswith(note)
    assert bool(facts.speed_note) == bool(note)
    if speed == 0.125:
        assert "are 0:00.25 of real time" in facts.speed_note


def test_an_edit_list_is_no_fault(make: ModuleType, tmp_path: Path) -> None:
    """A cut without encoding anew keeps the pictures since the key frame, and hides them."""
    source, cut = tmp_path / "source.mp4", tmp_path / "cut.mp4"
    make.video(source, count=60, gop=20)
    with av.open(str(source)) as whole, av.open(str(cut), "w") as out:
        track = whole.streams.video[0]
        stream = out.add_stream_from_template(track)
        assert track.time_base is not None
        shift, begin = int(1.25 / track.time_base), int(1.0 / track.time_base)
        for packet in whole.demux(track):
            if packet.size and packet.pts is not None and packet.pts >= begin:
                packet.pts, packet.dts = packet.pts - shift, (packet.dts or 0) - shift
                packet.stream = stream
                out.mux(packet)
    facts = probe(cut)
    assert facts.faults == ()
    assert facts.video is not None
    assert (facts.video.frames, facts.duration) == (35, 1.75)
