"""What evidence looks like: its frame with boxes, and a clip cut out of the recording."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import av
import numpy as np
import pytest

import egomem
from egomem.cli import main
from egomem.errors import MediaError, UsageError
from egomem.media import cut_clip, draw_boxes, frames, key_frames
from egomem.records import Evidence, Observation, Provenance, Recording
from egomem.timeline import RecordingTime, Span

MakeVideo = Callable[..., Path]
BOX = [0.25, 0.25, 0.75, 0.75]


def shown(video: Path) -> list[int]:
    """The grey level of each frame of a file, which is its number in the recording."""
    with av.open(str(video)) as file:
        return [round(float(f.to_ndarray(format="rgb24").mean())) for f in file.decode(video=0)]


@pytest.fixture
def memory(tmp_path: Path, make_video: MakeVideo) -> Iterator[egomem.Memory]:
    """A recording of 8 s at 10 fps, a key frame each second; the kettle is found at 3.2 s."""
    video = make_video("stove.mp4", seconds=8, fps=10, sound=True)
    with egomem.open(tmp_path / "m") as opened:
        opened.store.put_recording(
            Recording(
                id="stove",
                name="stove.mp4",
                path=str(video),
                duration=8,
                facts={"bytes": video.stat().st_size},
            )
        )
        kettle = Observation(
            recording="stove",
            span=Span(3, 4),
            text="a copper kettle",
            source="object",
            track="object/test",
            data={"boxes": [{"time": 3.2, "boxes": [BOX], "scores": [0.9]}]},
            provenance=Provenance(frames=(3.2,)),
        )
        caption = Observation(
            recording="stove",
            span=Span(2, 6),
            text="A copper kettle whistles",
            source="caption",
            track="caption/test",
            provenance=Provenance(rests_on=(kettle.id,)),
        )
        opened.store.add([kettle, caption])
        yield opened


def test_the_frame_is_the_one_that_was_used_and_has_its_boxes(memory: egomem.Memory) -> None:
    answer = memory.ask("Where is the kettle?")
    frame = answer.evidence[0].frame()
    plain = answer.evidence[0].frame(boxes=False)
    assert frame.time == pytest.approx(3.2)
    assert (plain.image != frame.image).any()
    (edges, *_) = np.nonzero((plain.image != frame.image).any(axis=2))
    assert (edges.min(), edges.max()) == (12, 35)  # of 48 rows


def test_boxes_are_edges_at_shares_of_the_picture() -> None:
    drawn = draw_boxes(np.zeros((100, 200, 3), np.uint8), [[0.1, 0.2, 0.5, 0.6], [-1, -1, 2, 2]])
    assert drawn[20, 30].any()
    assert drawn[40, 20].any()
    assert not drawn[40, 60].any()
    assert drawn[0, 0].any()
    assert drawn[99, 199].any()


def test_a_clip_is_the_recordings_own_packets(memory: egomem.Memory, tmp_path: Path) -> None:
    evidence = Evidence(recording="stove", span=Span(4.5, 5))
    path = memory.look(evidence, clip=True, to=tmp_path / "clips")
    assert path.parent == tmp_path / "clips"
    # From the key frame before 2.5 s to 7 s.
    first = max(f.time for f in key_frames(tmp_path / "stove.mp4") if f.time <= 2.5)
    assert shown(path) == pytest.approx(list(range(round(first * 10), 70)), abs=1)
    with av.open(str(path)) as file:
        assert [stream.type for stream in file.streams] == ["video", "audio"]


def test_what_cannot_be_copied_is_encoded(
    make_video: MakeVideo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    video = make_video("walk.mp4", seconds=4, fps=10)

    def refuse(*_: object) -> float:
        raise ValueError("no such tag")

    monkeypatch.setattr("egomem.media.clip._copy", refuse)
    clip = cut_clip(video, Span(1, 2), tmp_path / "c.mp4")
    assert clip.encoded
    assert shown(clip.path) == pytest.approx(list(range(10, 20)), abs=2)


def test_nothing_of_later_is_shown(memory: egomem.Memory, tmp_path: Path) -> None:
    evidence = Evidence(recording="stove", span=Span(3, 4))
    clip = memory.look(evidence, at="stove.mp4 0:04.5", clip=True, to=tmp_path)
    assert max(shown(clip)) == pytest.approx(44, abs=1)
    with pytest.raises(UsageError, match="no recording shows"):
        memory.look("stove.mp4 0:05", at=RecordingTime("stove", 4.5))


def test_a_place_is_looked_at_by_its_name_and_second(memory: egomem.Memory) -> None:
    path = memory.look("stove 0:06.3")
    assert path.suffix == ".jpg"
    assert path.parent.stat().st_mode & 0o077 == 0
    (frame,) = frames(path, [0])
    assert float(frame.image.mean()) == pytest.approx(63, abs=3)


def test_evidence_of_no_memory_says_so() -> None:
    with pytest.raises(UsageError, match="open memory"):
        Evidence(recording="stove", span=Span(1, 2)).frame()


def test_a_file_that_is_gone_is_one_line(
    memory: egomem.Memory, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "stove.mp4").unlink()
    with pytest.raises(MediaError, match=r"the file of stove\.mp4 is gone"):
        memory.look("stove.mp4 0:01")
    code = main(["search", "copper kettle", "--look", "-m", str(tmp_path / "m")])
    printed = capsys.readouterr()
    assert code == 1
    assert "copper kettle" in printed.out
    assert len(printed.err.splitlines()) == 1


def test_commands_print_the_path(
    memory: egomem.Memory, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = ["-m", str(tmp_path / "m"), "--to", str(tmp_path / "looks")]
    for command in (
        ["ask", "Where is the kettle?", "--look"],
        ["search", "kettle", "--look"],
        ["look", "stove.mp4", "0:03.2"],
    ):
        assert main([*command, *folder]) == 0
        line = capsys.readouterr().out.splitlines()[-1].strip()
        assert line == str(tmp_path / "looks" / "stove-0-03.2.jpg")
        assert Path(line).stat().st_mode & 0o077 == 0
