"""Ingest with streams: what is kept of them, who follows them, and when again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

import pytest

from egomem.errors import ModelError, UsageError
from egomem.ingest import IngestReport, Observers, ingest
from egomem.ingest.stream_files import stored_streams
from egomem.media.streams import RecordingStreams, StreamFile, StreamKind
from egomem.memory import Store
from egomem.memory.check import check
from egomem.records import Observation, Recording, Track
from egomem.timeline import Span

MakeVideo = Callable[..., Path]


@dataclass
class Follower:
    """Says where the gaze lay, a second at a time."""

    kinds: tuple[StreamKind, ...] = ("gaze",)
    fail_after: float | None = None
    followed: list[float] = field(default_factory=list)

    @property
    def track(self) -> Track:
        return Track(source="gaze", observer="follower")

    def follow(
        self, streams: RecordingStreams, recording: Recording
    ) -> Iterator[tuple[float, list[Observation]]]:
        gaze = streams.of("gaze")
        assert gaze is not None
        for second in range(int(recording.duration)):
            if second == self.fail_after:
                raise ModelError("the eye has gone", "put it back")
            samples = gaze.load(Span(second, second + 1))
            self.followed.append(second)
            yield (
                second + 1,
                [
                    Observation(
                        recording=recording.id,
                        span=Span(second, second + 1),
                        text=f"looked at {samples['x'].mean():.2f}",
                        source="gaze",
                        track=self.track.id,
                    )
                ],
            )


def write_gaze(path: Path, x: float = 0.25, seconds: float = 4.0) -> Path:
    rows = (f"{k / 20:.2f},{x},0.5" for k in range(round(seconds * 20)))
    path.write_text("video_time,x,y\n" + "\n".join(rows) + "\n")
    return path


def run(
    folder: Path,
    files: Sequence[Path],
    *followers: Follower,
    streams: Sequence[StreamFile] = (),
    start: datetime | None = None,
    find_streams: bool = True,
) -> IngestReport:
    with Store.open(folder / "memory", create=True) as store:
        return asyncio.run(
            ingest(
                store,
                files,
                Observers(streams=followers),
                streams=streams,
                start=start,
                find_streams=find_streams,
            )
        )


def stored(folder: Path) -> tuple[Recording, list[str]]:
    with Store.open(folder / "memory") as store:
        (recording,) = store.recordings()
        return recording, [o.text for o in store.view().observations()]


def test_a_stream_beside_the_recording_is_followed_once(
    tmp_path: Path, make_video: MakeVideo
) -> None:
    video = make_video("a.mp4")
    write_gaze(tmp_path / "a.gaze.csv")
    report = run(tmp_path, [video], Follower())
    (outcome,) = report.outcomes
    assert (outcome.status, outcome.observations) == ("done", 4)
    assert any("gaze: a.gaze.csv" in note and "20 Hz" in note for note in outcome.notes)
    again = Follower()
    (outcome,) = run(tmp_path, [video], again).outcomes
    assert (outcome.status, again.followed) == ("unchanged", [])
    assert not any("gaze" in note for note in outcome.notes)


def test_what_is_known_of_it_is_a_fact_of_the_recording(
    tmp_path: Path, make_video: MakeVideo
) -> None:
    video = make_video("a.mp4")
    gaze = write_gaze(tmp_path / "a.gaze.csv")
    run(tmp_path, [video])
    (info,) = stored_streams(stored(tmp_path)[0])
    assert (info.kind, info.path, info.samples) == ("gaze", str(gaze.resolve()), 80)
    # A file that is gone is known all the same: what was observed of it rests on it.
    gaze.unlink()
    assert run(tmp_path, [video]).counts == {"unchanged": 1}
    assert stored_streams(stored(tmp_path)[0]) == [info]
    with Store.open(tmp_path / "memory") as store:
        assert check(store).ok


def test_a_stream_that_comes_later_is_followed_then(tmp_path: Path, make_video: MakeVideo) -> None:
    video = make_video("a.mp4")
    follower = Follower()
    run(tmp_path, [video], follower)
    assert follower.followed == []
    gaze = write_gaze(tmp_path / "mine.csv")
    report = run(tmp_path, [video], follower, streams=[StreamFile("gaze", gaze)])
    assert report.counts == {"done": 1}
    assert len(follower.followed) == 4


def test_a_changed_stream_is_followed_again(tmp_path: Path, make_video: MakeVideo) -> None:
    video = make_video("a.mp4")
    write_gaze(tmp_path / "a.gaze.csv")
    run(tmp_path, [video], Follower())
    write_gaze(tmp_path / "a.gaze.csv", x=0.75)
    run(tmp_path, [video], Follower())
    assert "looked at 0.75" in stored(tmp_path)[1]


def test_one_that_fails_is_a_fault_and_is_tried_again(
    tmp_path: Path, make_video: MakeVideo
) -> None:
    video = make_video("a.mp4")
    write_gaze(tmp_path / "a.gaze.csv")
    (outcome,) = run(tmp_path, [video], Follower(fail_after=2)).outcomes
    assert outcome.status == "partial"
    assert outcome.faults == ("gaze: the eye has gone; put it back",)
    assert len(stored(tmp_path)[1]) == 2
    assert run(tmp_path, [video], Follower()).counts == {"done": 1}
    assert len(stored(tmp_path)[1]) == 4


def test_a_bad_stream_is_one_line_and_the_recording_is_ingested(
    tmp_path: Path, make_video: MakeVideo
) -> None:
    video = make_video("a.mp4")
    (tmp_path / "a.gaze.csv").write_text("colour\nred\n")
    follower = Follower()
    (outcome,) = run(tmp_path, [video], follower).outcomes
    assert outcome.status == "partial"
    assert len(outcome.faults) == 1
    assert "a.gaze.csv has the columns colour" in outcome.faults[0]
    assert follower.followed == []
    assert run(tmp_path, [video], follower, find_streams=False).counts == {"unchanged": 1}


def test_a_wall_clock_is_placed_when_the_start_is_known(
    tmp_path: Path, make_video: MakeVideo
) -> None:
    video = make_video("a.mp4")
    start = datetime.fromisoformat("2026-05-04T09:30:00+02:00")
    rows = (f"{start.timestamp() + k / 10:.1f},0.5,0.5" for k in range(40))
    (tmp_path / "a.gaze.csv").write_text("unix_s,x,y\n" + "\n".join(rows) + "\n")
    (outcome,) = run(tmp_path, [video], Follower()).outcomes
    assert "when the recording began is not known" in outcome.faults[0]
    follower = Follower()
    assert run(tmp_path, [video], follower, start=start).counts == {"done": 1}
    assert len(follower.followed) == 4


def test_streams_are_of_one_recording(tmp_path: Path, make_video: MakeVideo) -> None:
    videos = [make_video("a.mp4"), make_video("b.mp4", level=9)]
    gaze = write_gaze(tmp_path / "mine.csv")
    with pytest.raises(UsageError, match="streams were given for 2 recordings"):
        run(tmp_path, videos, streams=[StreamFile("gaze", gaze)])
    with Store.open(tmp_path / "memory") as store:
        assert store.recordings() == []
