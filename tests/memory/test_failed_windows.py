"""Windows of which nothing could be told: kept as marks, seen in the past, gone once told."""

from __future__ import annotations

from pathlib import Path

from egomem.memory import Completed, Store
from egomem.memory.failed_windows import (
    FailedWindow,
    failed_windows,
    failed_windows_by_track,
    failed_windows_in_view,
    from_completed,
    to_completed,
    window_unit,
)
from egomem.records import Observation, Recording, Track
from egomem.timeline import RecordingTime, Span

TRACK = Track(source="caption", observer="vlm", model="m", window=30.0)


def note(start: float, end: float) -> Observation:
    return Observation(
        recording="r", span=Span(start, end), text="A door.", source="caption", track=TRACK.id
    )


def kept(store: Store, *windows: FailedWindow) -> None:
    store.put_recording(Recording(id="r", name="r.mp4", duration=100.0))
    store.put_track(TRACK)
    store.add([note(0, 30)], completed=[Completed("r", TRACK.id, "0-30")])
    for gap in windows:
        marks = [Completed("r", TRACK.id, window_unit(gap.span)), to_completed("r", TRACK.id, gap)]
        store.add([], completed=marks)


def test_a_gap_is_kept_and_read(tmp_path: Path) -> None:
    refused = FailedWindow(Span(30, 60), "refused")
    cut = FailedWindow(Span(90, 100.25), "truncated", 1024)
    with Store.open(tmp_path, create=True) as store:
        kept(store, refused, cut)
    with Store.open(tmp_path) as store:
        assert failed_windows(store, "r", TRACK.id) == [refused, cut]
        assert failed_windows(store, "r", "caption/other") == []
        assert failed_windows_by_track(store, "r") == {TRACK.id: [refused, cut]}
        assert from_completed(store.completed("r"), TRACK.id) == [refused, cut]
    assert str(refused) == "0:30-1:00 refused"


def test_the_past_has_the_gaps_that_had_ended(tmp_path: Path) -> None:
    with Store.open(tmp_path, create=True) as store:
        kept(store, FailedWindow(Span(30, 60), "refused"), FailedWindow(Span(60, 90), "unparsable"))
        assert failed_windows_in_view(store.view(RecordingTime("r", 59.0)), TRACK.id) == {}
        for at in (60.0, 89.0):
            windows = failed_windows_in_view(store.view(RecordingTime("r", at)), TRACK.id)
            assert windows == {"r": [FailedWindow(Span(30, 60), "refused")]}
        assert len(failed_windows_in_view(store.view(), TRACK.id)["r"]) == 2
        assert failed_windows_in_view(store.view().narrow(recordings=[]), TRACK.id) == {}


def test_a_gap_that_was_told_of_since_is_none_and_one_cut_off_again_is_the_last(
    tmp_path: Path,
) -> None:
    with Store.open(tmp_path, create=True) as store:
        kept(
            store,
            FailedWindow(Span(30, 60), "truncated", 900),
            FailedWindow(Span(60, 90), "truncated", 900),
        )
        store.add(
            [],
            completed=[to_completed("r", TRACK.id, FailedWindow(Span(30, 60), "truncated", 2000))],
        )
        assert failed_windows(store, "r", TRACK.id)[0].tokens == 2000
        store.add([note(60, 90)])
        store.add(
            [], completed=[to_completed("r", "caption/other", FailedWindow(Span(0, 30), "refused"))]
        )
        assert list(failed_windows_by_track(store, "r")) == ["caption/other", TRACK.id]
        store.add([note(0, 30).model_copy(update={"track": "caption/other"})])
        assert list(failed_windows_by_track(store, "r")) == [TRACK.id]
        assert failed_windows(store, "r", TRACK.id) == [
            FailedWindow(Span(30, 60), "truncated", 2000)
        ]


def test_a_window_refused_when_it_was_shown_again_is_refused(tmp_path: Path) -> None:
    with Store.open(tmp_path, create=True) as store:
        refused, cut = (
            FailedWindow(Span(30, 60), "refused"),
            FailedWindow(Span(30, 60), "truncated", 900),
        )
        kept(store, cut, refused)
        assert failed_windows(store, "r", TRACK.id) == [refused]
        assert from_completed(list(store.completed("r"))[::-1], TRACK.id) == [refused]
