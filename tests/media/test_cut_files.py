"""Files that stop exactly between two packets, where FFmpeg itself reports no error."""

from pathlib import Path

import av
import pytest
from tests.conftest import MakeVideo

from egomem.media import audio, frames


def packet_ends(path: Path, kind: str) -> list[int]:
    with av.open(str(path)) as container:
        stream = next(s for s in container.streams if s.type == kind)
        return [p.pos + p.size for p in container.demux(stream) if p.size and p.pos is not None]


def cut(path: Path, size: int) -> Path:
    target = path.with_name(f"{size}.mp4")
    target.write_bytes(path.read_bytes()[:size])
    return target


@pytest.mark.parametrize("prune", [True, False])
@pytest.mark.parametrize("kept", [17, 23, 30, 46])
def test_a_cut_between_two_frames_is_a_loss(make_video: MakeVideo, kept: int, prune: bool) -> None:
    path = make_video("whole.mp4", seconds=4.7)
    reader = frames(cut(path, packet_ends(path, "video")[kept - 1]), [0.0, 4.6], prune=prune)
    assert [f.time for f in reader] == [0.0]
    assert reader.report.decoded_until == pytest.approx((kept - 1) / 10)
    assert "the file ends before" in reader.report.cause


@pytest.mark.parametrize("prune", [True, False])
def test_a_whole_file_loses_nothing(make_video: MakeVideo, prune: bool) -> None:
    reader = frames(make_video("whole.mp4", seconds=4.7), [0.0, 4.6, 9.0], prune=prune)
    assert [f.requested for f in reader] == [0.0, 4.6]
    assert (reader.report.decoded_until, reader.report.failed) == (None, 0)


def test_sound_that_is_cut_between_two_packets_counts_as_failed(make_video: MakeVideo) -> None:
    path = make_video("sound.mp4", seconds=3, sound=True)
    ends = packet_ends(path, "audio")
    whole, part = audio(path), audio(cut(path, ends[len(ends) // 2]))
    seconds = [sum(block.end - block.start for block in each) for each in (whole, part)]
    assert seconds[0] > seconds[1] > 0
    assert (whole.failed, part.failed) == (0, 1)
