import os
import signal
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import pytest
from tests.ingest.digests.conftest import built, caption, digest, digests_in, remember

import egomem
from egomem.errors import UsageError
from egomem.ingest.digests import read_levels
from egomem.ingest.digests.plan import stale_ids
from egomem.memory import Store
from egomem.memory.check import check
from egomem.records import Observation


def by_window(store: Store) -> dict[str, Observation]:
    return {str(o.data["window"]): o for o in digests_in(store)}


def test_hours_and_days_are_those_of_the_wearers_clock(store: Store) -> None:
    remember(store, "a", "2026-05-04T09:50:00+05:30", seconds=1200)
    remember(store, "b", "2026-05-05T00:10:00+05:30", seconds=300)
    assert built(digest(store)) == [("hour", 3, 0, 0), ("day", 2, 0, 0)]
    windows = by_window(store)
    assert set(windows) == {
        "2026-05-04T09:00+05:30",
        "2026-05-04T10:00+05:30",
        "2026-05-05T00:00+05:30",
        "2026-05-04",
        "2026-05-05",
    }
    hour = windows["2026-05-04T10:00+05:30"]
    assert hour.recording is None
    assert hour.span.start == datetime.fromisoformat("2026-05-04T10:00+05:30").timestamp()
    assert hour.text.splitlines()[0].startswith("10:0")
    # The source digest on a track of its own for each level.
    assert {o.track for o in windows.values()} == {
        "digest/extractive#lines@1@3600s",
        "digest/extractive#lines@1@86400s~3600s",
    }


def test_a_day_goes_on_where_the_zone_changes_in_flight(store: Store) -> None:
    remember(store, "east", "2026-07-10T21:00:00+09:00", seconds=300)
    # Nine hours later, and by the wearer's new clock the same day again.
    remember(store, "west", "2026-07-10T14:00:00-07:00", seconds=300)
    digest(store)
    windows = by_window(store)
    assert set(windows) == {
        "2026-07-10",
        "2026-07-10T21:00+09:00",
        "2026-07-10T14:00-07:00",
    }
    day = windows["2026-07-10"]
    assert [line.split()[0][:3] for line in day.text.splitlines()][:1] == ["21:"]
    assert day.text.splitlines()[-1].startswith("14:")


def test_an_hour_that_comes_twice_is_two(store: Store) -> None:
    remember(store, "summer", "2026-10-25T02:30:00+02:00", seconds=120)
    remember(store, "winter", "2026-10-25T02:30:00+01:00", seconds=120)
    assert built(digest(store)) == [("hour", 2, 0, 0), ("day", 1, 0, 0)]


def test_without_a_clock_digests_are_of_the_recording(store: Store) -> None:
    remember(store, "x", None, seconds=4200)
    assert built(digest(store)) == [("hour", 2, 0, 0), ("day", 1, 0, 0)]
    digests = digests_in(store)
    assert {o.recording for o in digests} == {"x"}
    whole = next(o for o in digests if o.data["level"] == "recording")
    assert (whole.span.start, whole.span.end) == (0.0, 4200.0)
    assert whole.text.splitlines()[-1].startswith(("1:", "10:", "6"))
    assert "day" not in whole.data


def test_wearers_have_digests_of_their_own(store: Store) -> None:
    remember(store, "a", "2026-05-04T09:00:00+00:00", wearer="ana")
    remember(store, "b", "2026-05-04T09:00:00+00:00", wearer="ben")
    digest(store)
    texts = {(o.wearer, o.data["level"]): o.text for o in digests_in(store)}
    assert len(texts) == 4
    assert ", a" in texts["ana", "hour"]
    assert ", b" not in texts["ana", "hour"]


def test_a_digest_keeps_what_it_rests_on(store: Store) -> None:
    observations = remember(store, "a", "2026-05-04T09:40:00+00:00", seconds=2400)
    digest(store)
    ids = {o.id for o in observations}
    digests = digests_in(store)
    hours = [o for o in digests if o.data["level"] == "hour"]
    (day,) = (o for o in digests if o.data["level"] == "day")
    assert {id for o in hours for id in o.provenance.rests_on} == ids
    assert set(day.provenance.rests_on) == {o.id for o in hours}
    by_id = {o.id: o for o in observations}
    for o in digests:
        for line in o.data["lines"]:  # type: ignore[union-attr]
            sources = [by_id[id] for id in line["rests_on"]]  # type: ignore[index,call-overload]
            assert sources
            assert line["text"] == sources[0].text
        for fact in o.data["facts"]:  # type: ignore[union-attr]
            assert fact["text"] in by_id[fact["source"]].text  # type: ignore[index,call-overload]


def test_a_digest_is_seen_once_all_that_it_covers_is_past(store: Store) -> None:
    remember(store, "a", "2026-05-04T09:40:00+00:00", seconds=2400)
    digest(store)

    def levels(until: str) -> list[str]:
        view = store.view(datetime.fromisoformat(until))
        return [str(o.data["window"]) for o in view.observations(sources=["digest"])]

    assert levels("2026-05-04T09:59:59+00:00") == []
    assert levels("2026-05-04T10:00:00+00:00") == ["2026-05-04T09:00+00:00"]
    assert levels("2026-05-04T10:19:59+00:00") == ["2026-05-04T09:00+00:00"]
    assert len(levels("2026-05-04T10:20:00+00:00")) == 3


def test_a_second_call_writes_nothing(store: Store) -> None:
    remember(store, "a", "2026-05-04T09:40:00+00:00", seconds=2400)
    digest(store)
    before = digests_in(store)
    assert built(digest(store)) == [("hour", 0, 2, 0), ("day", 0, 1, 0)]
    assert built(digest(store, again=True)) == [("hour", 2, 0, 0), ("day", 1, 0, 0)]
    assert digests_in(store) == before


def test_a_late_import_touches_its_own_digests_alone(store: Store) -> None:
    for day in (4, 5, 6):
        remember(store, f"d{day}", f"2026-05-0{day}T09:40:00+00:00", seconds=2400)
    digest(store)
    before = by_window(store)
    assert stale_ids(store) == (set(), 0)
    store.add([caption("d5", 15.0, "a heron stands on pier 44")])
    stale, missing = stale_ids(store)
    assert stale == {before["2026-05-05T09:00+00:00"].id, before["2026-05-05"].id}
    assert missing == 0
    assert built(digest(store)) == [("hour", 1, 5, 0), ("day", 1, 2, 0)]
    after = by_window(store)
    assert {w for w in before if before[w] != after[w]} == {"2026-05-05T09:00+00:00", "2026-05-05"}
    assert len(after) == len(before)
    # What was replaced is gone from the index, too.
    assert check(store).ok
    assert any(f["text"] == "44" for f in after["2026-05-05"].data["facts"])  # type: ignore[union-attr,index,call-overload]


def test_a_new_recording_adds_its_own_digests(store: Store) -> None:
    remember(store, "a", "2026-05-04T09:00:00+00:00")
    digest(store)
    remember(store, "b", "2026-05-04T15:00:00+00:00")
    assert built(digest(store)) == [("hour", 1, 1, 0), ("day", 1, 0, 0)]


def test_a_changed_clock_moves_the_digests(store: Store) -> None:
    remember(store, "a", "2026-05-04T09:00:00+00:00")
    digest(store)
    remember(store, "a", "2026-06-04T11:00:00+00:00")
    assert built(digest(store)) == [("hour", 1, 0, 1), ("day", 1, 0, 1)]
    assert set(by_window(store)) == {"2026-06-04", "2026-06-04T11:00+00:00"}


def test_ten_minutes_are_a_level_below_the_hours(store: Store) -> None:
    remember(store, "a", "2026-05-04T09:05:00+00:00", seconds=1500)
    assert built(digest(store, "10min", "hour", "day")) == [
        ("10min", 3, 0, 0),
        ("hour", 1, 0, 0),
        ("day", 1, 0, 0),
    ]
    day = by_window(store)["2026-05-04"]
    assert day.track == "digest/extractive#lines@1@86400s~600s+3600s"
    # Those made of hours alone are others, side by side.
    digest(store)
    assert len(digests_in(store)) == 7


def test_unknown_levels_are_refused() -> None:
    with pytest.raises(UsageError, match="no level of digests 'week'"):
        read_levels(["hour", "week"])
    with pytest.raises(UsageError, match="no level is named"):
        read_levels([])


def test_forgetting_takes_touched_digests_at_once_and_writes_them_again(tmp_path: Path) -> None:
    with egomem.open(tmp_path / "m") as memory:
        store = memory.store
        remember(store, "a", "2026-05-04T09:00:00+00:00")
        remember(store, "b", "2026-05-05T09:00:00+00:00")
        store.add([caption("a", 5.0, "the safe opens with 7391", length=4.0)])
        memory.digest()
        untouched = {w: o for w, o in by_window(store).items() if "05-05" in w}
        # The store itself forgets without composing anything again.
        assert "7391" in by_window(store)["2026-05-04"].model_dump_json()
        receipt = memory.forget(match="7391", dry_run=True)
        assert len(receipt.dependents) + len(receipt.observations) == 3
        memory.forget(match="7391")
        after = by_window(store)
        assert set(after) == {
            "2026-05-04",
            "2026-05-04T09:00+00:00",
            "2026-05-05",
            "2026-05-05T09:00+00:00",
        }
        assert {w: o for w, o in after.items() if "05-05" in w} == untouched
        assert memory.check().ok
        assert memory.check().notes == ()
    assert not any(b"7391" in f.read_bytes() for f in tmp_path.rglob("*") if f.is_file())


def test_a_store_forgets_digests_with_what_they_tell(store: Store) -> None:
    remember(store, "a", "2026-05-04T09:00:00+00:00")
    store.add([caption("a", 5.0, "the safe opens with 7391", length=4.0)])
    digest(store)
    store.forget(match="7391")
    assert digests_in(store) == []


def test_forgetting_all_leaves_no_digest(tmp_path: Path) -> None:
    with egomem.open(tmp_path / "m") as memory:
        remember(memory.store, "a", "2026-05-04T09:00:00+00:00")
        memory.digest()
        memory.forget(recording="a")
        assert memory.until().observations() == []
        assert memory.check().ok


def test_captions_of_two_captioners_are_not_told_twice(store: Store) -> None:
    remember(store, "a", "2026-05-04T09:00:00+00:00", seconds=120)
    other = [
        caption("a", 60.0 * k, f"another tells of a zebra, {k}", track="caption/b", length=20.0)
        for k in range(2)
    ]
    store.add(other)
    digest(store)
    assert not any("zebra" in o.text for o in digests_in(store))


def test_digests_survive_export_and_import(tmp_path: Path) -> None:
    with egomem.open(tmp_path / "m") as memory:
        remember(memory.store, "a", "2026-05-04T09:40:00+00:00", seconds=2400)
        remember(memory.store, "x", None, seconds=300)
        memory.digest()
        before = digests_in(memory.store)
        memory.export(tmp_path / "all.jsonl")
        memory.export(tmp_path / "all.parquet")
    for name in ("all.jsonl", "all.parquet"):
        with egomem.open(tmp_path / name.replace(".", "-")) as copy:
            (outcome,) = copy.import_files(tmp_path / name)
            assert outcome.passed_over == 0
            after = digests_in(copy.store)
            assert [o.id for o in after] == [o.id for o in before]
            assert [o.provenance for o in after] == [o.provenance for o in before]
            assert copy.check().notes == ()


KILLED = """
import asyncio, os, signal, sys
from egomem.memory import Store
from egomem.ingest.digests import *
from egomem.ingest.digests import build
build._BATCH = 1
remaining = int(sys.argv[2])
def kill(level, done, total):
    global remaining
    remaining -= 1
    if not remaining:
        os.kill(os.getpid(), signal.SIGKILL)
with Store.open(sys.argv[1]) as store:
    asyncio.run(build_digests(store, ExtractiveSummarizer(), read_levels(["hour", "day"]),
                              again=True, on_digest=kill))
"""


@pytest.mark.parametrize("after", [1, 3, 6])
def test_building_goes_on_after_a_kill(tmp_path: Path, after: int) -> None:
    for name in ("killed", "whole"):
        with Store.open(tmp_path / name, create=True) as store:
            for day in (4, 5):
                remember(store, f"d{day}", f"2026-05-0{day}T09:40:00+00:00", seconds=2400)
            digest(store)
    command = [sys.executable, "-c", KILLED, str(tmp_path / "killed"), str(after)]
    process = subprocess.run(command, env={**os.environ, "PYTHONPATH": "src"}, check=False)
    assert process.returncode == -signal.SIGKILL
    with Store.open(tmp_path / "killed") as store, Store.open(tmp_path / "whole") as whole:
        report = digest(store)
        assert report.faults == ()
        assert digests_in(store) == digests_in(whole)
        assert check(store).ok


def test_removing_digests_ends_keeping_them(tmp_path: Path) -> None:
    with egomem.open(tmp_path / "m") as memory:
        remember(memory.store, "a", "2026-05-04T09:00:00+00:00")
        memory.digest()
        assert memory.remove_digests() == 2
        assert digests_in(memory.store) == []
        assert memory.keep_digests().levels == ()
        assert memory.check().ok
        assert memory.check().notes == ()
