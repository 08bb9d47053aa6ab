import asyncio
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from egomem.errors import FullError, ModelError, UsageError
from egomem.ingest import IngestReport, Observers, SamplingOptions, ingest
from egomem.media import AudioBlock
from egomem.memory import Completed, Store
from egomem.memory.check import check
from egomem.memory.failed_windows import failed_windows
from egomem.memory.replies import ReplyCache
from egomem.memory.thumbnails import Thumbnail, thumbnail_file
from egomem.models import Reply, RequestTags
from egomem.observe.window import Window, WindowFailed
from egomem.records import Observation, Recording, Status, Track
from egomem.timeline import Span

MakeVideo = Callable[..., Path]


@dataclass
class Watcher:
    """Says how many frames it saw; can be told to fail or to be stopped at a window."""

    name: str = "watcher"
    windows: list[Window] = field(default_factory=list)
    fail_at: float | None = None
    stop_at: float | None = None
    window: float | None = 2

    @property
    def track(self) -> Track:
        return Track(source="caption", observer=self.name, window=self.window)

    async def observe(self, window: Window) -> list[Observation]:
        if window.span.start == self.stop_at:
            raise KeyboardInterrupt
        if window.span.start == self.fail_at:
            raise ModelError("the server has gone", "start it again")
        self.windows.append(window)
        return [
            Observation(
                recording=window.recording.id,
                span=window.span,
                text=f"{self.name} saw {len(window.frames)} frames",
                source="caption",
                track=self.track.id,
            )
        ]


@dataclass
class Listener:
    """Hears an utterance a second, in stretches of two seconds; none from second `silent` on."""

    stop_after: int | None = None
    silent: float = float("inf")
    heard: list[float] = field(default_factory=list)

    @property
    def track(self) -> Track:
        return Track(source="speech", observer="listener")

    def hear(
        self, blocks: Iterable[AudioBlock], recording: Recording
    ) -> Iterator[tuple[float, list[Observation]]]:
        for block in blocks:
            length = int(len(block.samples) / block.rate)
            for k in range(0, length, 2):
                observations = [
                    self.say(block.start + n, recording) for n in range(k, min(k + 2, length))
                ]
                yield (
                    block.start + k + len(observations),
                    [o for o in observations if o.span.start < self.silent],
                )

    def say(self, at: float, recording: Recording) -> Observation:
        if self.stop_after is not None and len(self.heard) == self.stop_after:
            raise KeyboardInterrupt
        self.heard.append(at)
        return Observation(
            recording=recording.id,
            span=Span(at, at + 1),
            text=f"second {at:.0f}",
            source="speech",
            track=self.track.id,
        )


def run(folder: Path, files: list[Path], *observers: Watcher, **options: object) -> IngestReport:
    speech = options.pop("speech", None)
    with Store.open(folder / "memory", create=True) as store:
        return asyncio.run(
            ingest(
                store,
                files,
                Observers(sound=(speech,) if speech else (), frames=observers),  # type: ignore[arg-type]
                **{"sampling": SamplingOptions(window=2, fps=2), **options},  # type: ignore[arg-type]
            )
        )


def texts(folder: Path) -> list[str]:
    with Store.open(folder / "memory") as store:
        return [o.text for o in store.view().observations()]


def test_every_window_is_shown_once_with_its_frames(tmp_path: Path, make_video: MakeVideo) -> None:
    watcher = Watcher()
    report = run(tmp_path, [make_video("a.mp4", seconds=5)], watcher)
    assert report.counts == {"done": 1}
    assert [w.span for w in watcher.windows] == [Span(0, 2), Span(2, 4), Span(4, 5)]
    assert [[f.time for f in w.frames] for w in watcher.windows] == [
        [0, 0.5, 1, 1.5],
        [2, 2.5, 3, 3.5],
        [4, 4.5],
    ]
    assert report.outcomes[0].windows == report.outcomes[0].observations == 3


def test_the_same_file_again_does_nothing_wherever_it_lies(
    tmp_path: Path, make_video: MakeVideo
) -> None:
    video = make_video("a.mp4")
    run(tmp_path, [video], Watcher())
    moved = video.rename(tmp_path / "moved.mp4")
    watcher = Watcher()
    report = run(tmp_path, [moved], watcher)
    assert report.counts == {"updated": 1}
    assert report.outcomes[0].notes[0] == f"it was {video}, which is not there any more"
    assert watcher.windows == []
    with Store.open(tmp_path / "memory") as store:
        (recording,) = store.recordings()
    assert (recording.path, recording.name) == (str(moved.resolve()), "moved.mp4")
    assert run(tmp_path, [moved], watcher).counts == {"unchanged": 1}


def test_a_copy_whose_name_tells_nothing_keeps_the_clock(
    tmp_path: Path, make_video: MakeVideo
) -> None:
    dated = make_video("2026-03-02_08-10-00.mp4")
    copy = tmp_path / "copy.mp4"
    copy.write_bytes(dated.read_bytes())
    report = run(tmp_path, [dated, copy], Watcher(), zone=ZoneInfo("Europe/Berlin"))
    assert report.counts == {"done": 1, "unchanged": 1}
    with Store.open(tmp_path / "memory") as store:
        (recording,) = store.recordings()
    assert recording.name == "2026-03-02_08-10-00.mp4"
    assert recording.clock is not None
    assert report.outcomes[1].notes == (f"a copy of {dated} (the same bytes): nothing to do",)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names themselves")
def test_a_name_that_is_not_utf_8_is_one_clear_fault(tmp_path: Path, make_video: MakeVideo) -> None:
    video = make_video("a.mp4")
    odd = tmp_path / os.fsdecode(b"\xff.mp4")
    video.rename(odd)
    (outcome,) = run(tmp_path, [odd], Watcher()).outcomes
    assert outcome.status == "failed"
    assert "not UTF-8" in outcome.faults[0]
    assert outcome.remedy == "rename it"


@pytest.mark.parametrize("bad", [0, -1, float("nan"), float("inf")])
def test_watching_that_cannot_be_is_refused(bad: float) -> None:
    with pytest.raises(UsageError):
        SamplingOptions(window=bad)
    with pytest.raises(UsageError):
        SamplingOptions(fps=bad)


def test_a_known_recording_keeps_its_wearer(tmp_path: Path, make_video: MakeVideo) -> None:
    video = make_video("a.mp4")
    run(tmp_path, [video], Watcher(), wearer="ann")
    run(tmp_path, [video], Watcher("another"), wearer="ben")
    with Store.open(tmp_path / "memory") as store:
        assert [r.wearer for r in store.recordings()] == ["ann"]


def test_written_times_that_could_not_be_used_are_counted(
    tmp_path: Path, make_video: MakeVideo
) -> None:
    class Doubtful(Watcher):
        async def observe(self, window: Window) -> list[Observation]:
            (seen,) = await super().observe(window)
            data = {"outside": [{"written": "9:00", "text": "x"}], "times_unread": 2}
            return [seen.model_copy(update={"data": data})]

    report = run(tmp_path, [make_video("a.mp4", seconds=5)], Doubtful())
    assert report.counts == {"done": 1}
    (note,) = [line for line in report.outcomes[0].notes if "captions wrote" in line]
    assert "3 times outside of the window and 6 times that could not be read" in note
    plain = run(tmp_path, [make_video("b.mp4", seconds=5)], Watcher())
    assert not [line for line in plain.outcomes[0].notes if "captions wrote" in line]


def test_a_full_disk_ends_the_run(tmp_path: Path, make_video: MakeVideo) -> None:
    class Full(Watcher):
        async def observe(self, window: Window) -> list[Observation]:
            raise FullError("the disk is full")

    with pytest.raises(FullError):
        run(tmp_path, [make_video("a.mp4"), make_video("b.mp4", level=9)], Full())


def test_a_window_is_marked_in_the_transaction_of_what_was_seen(
    tmp_path: Path, make_video: MakeVideo, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[tuple[int, int, int]] = []
    add = Store.add

    def counted(
        store: Store,
        observations: Iterable[Observation],
        *,
        completed: Iterable[Completed] = (),
        thumbnails: Iterable[Thumbnail] = (),
    ) -> int:
        observations, completed = list(observations), list(completed)
        thumbnails = list(thumbnails)
        calls.append((len(observations), len(completed), len(thumbnails)))
        return add(store, observations, completed=completed, thumbnails=thumbnails)

    monkeypatch.setattr(Store, "add", counted)
    run(tmp_path, [make_video("a.mp4")], Watcher(), Watcher("other"))
    assert calls == [(2, 2, 1), (2, 2, 1)]


def test_stopped_at_a_window_the_next_run_goes_on_there(
    tmp_path: Path, make_video: MakeVideo
) -> None:
    video = make_video("a.mp4", seconds=8)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, [video], Watcher(stop_at=4))
    assert len(texts(tmp_path)) == 2
    rest = Watcher()
    run(tmp_path, [video], rest)
    assert [w.span.start for w in rest.windows] == [4, 6]
    assert [len(w.frames) for w in rest.windows] == [4, 4]
    assert len(texts(tmp_path)) == 4


def test_a_window_that_failed_is_reported_and_tried_again(
    tmp_path: Path, make_video: MakeVideo
) -> None:
    video = make_video("a.mp4", seconds=6)
    report = run(tmp_path, [video], Watcher(fail_at=2), Watcher("other"))
    (outcome,) = report.outcomes
    assert outcome.status == "partial"
    assert outcome.faults == ("2-4 s, caption: the server has gone; start it again",)
    first, other = Watcher(), Watcher("other")
    assert run(tmp_path, [video], first, other).counts == {"done": 1}
    assert [w.span.start for w in first.windows] == [2]
    assert other.windows == []


def test_a_fault_of_many_windows_is_one_line(tmp_path: Path, make_video: MakeVideo) -> None:
    @dataclass
    class Gone(Watcher):
        async def observe(self, window: Window) -> list[Observation]:
            raise ModelError("the server has gone", "start it again")

    report = run(tmp_path, [make_video("a.mp4", seconds=6)], Gone())
    assert report.outcomes[0].faults == (
        "3 windows from 0:00 on, caption: the server has gone; start it again",
    )


@dataclass
class Unwilling(Watcher):
    """Refuses a window, and is cut off in another where it may say too little."""

    max_tokens: int = 100

    async def observe(self, window: Window) -> list[Observation]:
        observations = await super().observe(window)
        if window.span.start == 2:
            raise WindowFailed("no caption: refused", status=Status.REFUSED)
        if window.span.start == 4 and self.max_tokens < 500:
            raise WindowFailed("cut off", status=Status.TRUNCATED, tokens=self.max_tokens)
        return observations


def test_a_window_that_cannot_be_told_of_is_reported_and_not_tried_again(
    tmp_path: Path, make_video: MakeVideo
) -> None:
    video = make_video("a.mp4", seconds=8)
    (first,) = run(tmp_path, [video], Unwilling()).outcomes
    assert first.status == "partial"
    assert set(first.faults) == {"2-4 s, caption: no caption: refused", "4-6 s, caption: cut off"}
    assert len(texts(tmp_path)) == 2
    again = Unwilling()
    (second,) = run(tmp_path, [video], again).outcomes
    assert again.windows == []
    assert second.status == "partial"
    line = "caption: no observation of 2 windows: 0:02-0:04 refused, 0:04-0:06 truncated"
    assert second.faults == (line,)


def test_a_window_that_was_cut_off_is_tried_where_more_may_be_said(
    tmp_path: Path, make_video: MakeVideo
) -> None:
    video = make_video("a.mp4", seconds=8)
    run(tmp_path, [video], Unwilling())
    for tokens, retried, lost in ((100, [], 2), (200, [4], 2), (200, [], 2), (500, [4], 1)):
        watcher = Unwilling(max_tokens=tokens)
        (outcome,) = run(tmp_path, [video], watcher).outcomes
        assert [w.span.start for w in watcher.windows] == retried
        track = watcher.track.id
        with Store.open(tmp_path / "memory") as store:
            assert len(failed_windows(store, outcome.recording or "", track)) == lost
    assert len(texts(tmp_path)) == 3
    assert run(tmp_path, [video], Watcher()).outcomes[0].faults == (
        "caption: no observation of 1 window: 0:02-0:04 refused",
    )


def test_a_new_observer_sees_what_the_others_have_seen_already(
    tmp_path: Path, make_video: MakeVideo
) -> None:
    video = make_video("a.mp4")
    run(tmp_path, [video], Watcher())
    old, new = Watcher(), Watcher("new")
    run(tmp_path, [video], old, new)
    assert old.windows == []
    assert [[o.text for o in w.context] for w in new.windows] == [["watcher saw 4 frames"]] * 2


def test_a_broken_file_is_reported_and_the_rest_goes_on(
    tmp_path: Path, make_video: MakeVideo
) -> None:
    good = make_video("good.mp4")
    empty = tmp_path / "empty.mp4"
    empty.touch()
    cut = tmp_path / "cut.mp4"
    whole = make_video("whole.mp4", seconds=8, level=40).read_bytes()
    cut.write_bytes(whole[: int(len(whole) * 0.75)])
    report = run(tmp_path, [empty, cut, good], Watcher())
    assert [o.status for o in report.outcomes] == ["failed", "partial", "done"]
    assert "empty.mp4" in report.outcomes[0].faults[0]
    assert "no picture after" in report.outcomes[1].faults[0]
    again = run(tmp_path, [cut], Watcher()).outcomes[0]
    assert again.status == "unchanged"
    assert "known to be damaged: no picture after" in again.notes[-1]


def test_frames_after_the_damage_are_not_made_up(tmp_path: Path, make_video: MakeVideo) -> None:
    whole = make_video("whole.mp4", seconds=8).read_bytes()
    cut = tmp_path / "cut.mp4"
    cut.write_bytes(whole[: int(len(whole) * 0.75)])
    watcher = Watcher()
    run(tmp_path, [cut], watcher)
    times = [f.time for w in watcher.windows for f in w.frames]
    assert times == sorted(set(times))
    counts = [len(w.frames) for w in watcher.windows]
    assert (counts[0], counts[-1]) == (4, 0)


@pytest.mark.parametrize(("stop_after", "silent", "begin"), [(3, 9, 2), (4, 9, 4), (4, 1, 4)])
def test_speech_goes_on_after_the_last_whole_stretch(
    tmp_path: Path, make_video: MakeVideo, stop_after: int, silent: int, begin: int
) -> None:
    video = make_video("a.mp4", seconds=6, sound=True)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, [video], Watcher(), speech=Listener(stop_after, silent))
    rest = Listener(silent=silent)
    run(tmp_path, [video], Watcher(), speech=rest)
    assert min(rest.heard) == pytest.approx(begin, abs=0.1)
    spoken = [t for t in texts(tmp_path) if t.startswith("second")]
    assert spoken == [f"second {k}" for k in range(len(spoken))]
    assert len(spoken) >= min(5, silent)
    again = Listener()
    assert run(tmp_path, [video], Watcher(), speech=again).counts == {"unchanged": 1}
    assert again.heard == []


def test_a_track_without_a_window_is_not_seen_again_in_windows_of_another_length(
    tmp_path: Path, make_video: MakeVideo
) -> None:
    video = make_video("a.mp4", seconds=7)
    run(tmp_path, [video], Watcher(window=None))
    wider, captions = Watcher(window=None), Watcher("captions", window=3)
    run(tmp_path, [video], wider, captions, sampling=SamplingOptions(window=3, fps=2))
    assert wider.windows == []
    assert [w.span for w in captions.windows] == [Span(0, 3), Span(3, 6), Span(6, 7)]
    # What it saw before is held, although its windows were others.
    assert [len(w.context) for w in captions.windows] == [2, 2, 1]


def test_speech_is_held_by_the_windows_it_overlaps(tmp_path: Path, make_video: MakeVideo) -> None:
    watcher = Watcher()
    run(tmp_path, [make_video("a.mp4", sound=True)], watcher, speech=Listener())
    assert [o.text for o in watcher.windows[0].context] == ["second 0", "second 1"]


def test_a_thumbnail_of_each_window_is_kept(tmp_path: Path, make_video: MakeVideo) -> None:
    report = run(tmp_path, [make_video("a.mp4")], Watcher())
    recording = report.outcomes[0].recording
    assert recording is not None
    for start in (0, 2):
        file = thumbnail_file(tmp_path / "memory", recording, start)
        assert file.read_bytes()[:2] == b"\xff\xd8"


@dataclass
class ForgettingWatcher(Watcher):
    """Somebody forgets a recording while its second window is observed."""

    store: Store | None = None
    forget_at: str = ""

    async def observe(self, window: Window) -> list[Observation]:
        if self.store and window.recording.name == self.forget_at and window.span.start == 2:
            self.store.forget(recording=window.recording.id)
            with ReplyCache(self.store.folder) as cache:  # a request that was under way ends now
                reply = Reply(status=Status.PARSED, key="late", text="it saw a face", raw="")
                cache.put(reply, {}, RequestTags(recording=window.recording.id))
        return await super().observe(window)


def test_forgetting_a_recording_while_it_is_ingested_ends_it_alone(
    tmp_path: Path, make_video: MakeVideo
) -> None:
    files = [make_video(f"{name}.mp4", seconds=6, level=k) for k, name in enumerate("abc")]
    folder = tmp_path / "memory"
    with Store.open(folder, create=True) as store:
        watcher = ForgettingWatcher(store=store, forget_at="b.mp4")
        sampling = SamplingOptions(window=2, fps=1)
        report = asyncio.run(ingest(store, files, Observers(frames=[watcher]), sampling=sampling))
        assert [o.status for o in report.outcomes] == ["done", "failed", "done"]
        assert "was forgotten while" in report.outcomes[1].faults[0]
        assert [r.name for r in store.recordings()] == ["a.mp4", "c.mp4"]
        assert store.view().count() == 6
        assert store.completed(report.outcomes[1].recording or "") == set()
        assert check(store).findings == ()
        assert store.connection.select("SELECT count(*) FROM done")[0][0] == 6
    assert len(list((folder / "thumbnails").iterdir())) == 2
    with ReplyCache(folder) as cache:
        assert cache.get("late") is None
