"""What is exported can be read by others, and a Parquet file is the same memory again."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal
from zoneinfo import ZoneInfo

import pytest

from egomem.errors import MediaError, StoreError, UsageError
from egomem.media import read_subtitles
from egomem.memory import Completed, Store
from egomem.memory.export import export, format_of
from egomem.memory.exported_memory import read_exported_memory, restore
from egomem.records import Observation, Provenance, Recording, Track
from egomem.timeline import Clock, Span, read_time

from ..webvtt import validate_webvtt

BERLIN = ZoneInfo("Europe/Berlin")
START = datetime(2026, 3, 2, 8, 10, tzinfo=BERLIN)
CAPTION = Track(source="caption", observer="vlm", model="a:b", prompt="p1", window=30)
SPEECH = Track(source="speech", observer="whisper")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "memory", create=True) as memory:
        fill(memory)
        yield memory


def fill(store: Store) -> None:
    store.put_recording(
        Recording(
            id="r1", name="walk.mp4", path="/videos/walk.mp4", sha256="ab", duration=60.5,
            clock=Clock(START, "sidecar"), facts={"container": "mp4", "rotation": 90},
        )
    )  # fmt: skip
    store.put_recording(Recording(id="r2", name="walk.mp4", wearer="you", duration=10))
    store.put_recording(Recording(id="r3", name="empty.mp4", duration=5))
    for track in (CAPTION, SPEECH, Track(source="digest", observer="hours")):
        store.put_track(track)
    ocr = Observation(
        recording="r1", span=Span(0, 30), text="I take a red cup.\n\nThen --> I wash it & dry it.",
        source="caption", track=CAPTION.id, data={"objects": ["cup"], "n": 2, "x": 0.1},
        provenance=Provenance(frames=(0.0, 1.001), request="k", note="by a model"),
    )  # fmt: skip
    heard_words = Observation(
        recording="r2", wearer="you", span=Span(1.25, 2), text="杯子 <here>", source="speech",
        track=SPEECH.id, data={"speaker": "Ann"},
    )  # fmt: skip
    unix = START.timestamp()
    digest = Observation(
        recording=None, span=Span(unix, unix + 3600), text="A morning.", source="digest",
        track="digest/hours", provenance=Provenance(rests_on=(ocr.id,)),
    )  # fmt: skip
    store.add([ocr, heard_words, digest], completed=[Completed("r1", CAPTION.id, "0-30")])


def everything(store: Store) -> tuple[object, ...]:
    return (
        sorted(store.recordings(), key=lambda r: r.id),
        [r.clock.start.tzinfo for r in store.recordings() if r.clock],
        sorted(store.tracks(), key=lambda t: t.id),
        store.view().observations(),
        [o.id for o in store.view().observations()],
        [store.completed(r.id) for r in store.recordings()],
        store.view().search("red cup"),
    )


def test_a_parquet_file_is_the_same_memory_again(store: Store, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    done = export(store.view(), tmp_path / "out" / "m.parquet", "parquet")
    assert (done.files, done.observations) == ((str(tmp_path / "out" / "m.parquet"),), 3)
    assert [p.name for p in (tmp_path / "out").iterdir()] == ["m.parquet"]
    with Store.open(tmp_path / "again", create=True) as again:
        exported = read_exported_memory(done.files[0])
        assert exported is not None
        assert restore(again, exported) == (3, 3)
        assert everything(again) == everything(store)
        exported = read_exported_memory(done.files[0])
        assert exported is not None
        assert restore(again, exported) == (3, 0)


def test_a_part_of_a_memory_does_not_claim_to_be_finished(store: Store, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    export(store.view(), tmp_path / "m.parquet", "parquet", sources=["speech"])
    exported = read_exported_memory(tmp_path / "m.parquet")
    assert exported is not None
    assert exported.done == ()
    assert [o.source for o in exported.observations] == ["speech"]


def test_a_past_view_exports_the_past(store: Store, tmp_path: Path) -> None:
    view = store.view(START + timedelta(seconds=29))
    assert export(view, tmp_path / "m.jsonl", "jsonl").observations == 0
    view = store.view(START + timedelta(seconds=30))
    assert export(view, tmp_path / "m.jsonl", "jsonl").observations == 1


def test_the_past_knows_no_track_of_later_and_does_not_lessen_the_whole(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    early, late = (Track(source="caption", observer=name) for name in ("early", "late"))
    whole = Recording(id="w", name="w.mp4", duration=80, clock=Clock(START), facts={"bytes": 7})
    with Store.open(tmp_path / "m", create=True) as store:
        store.put_recording(whole)
        for track, at in ((early, 0), (late, 60)):
            store.put_track(track)
            span = Span(at, at + 10)
            fields = {"source": "caption", "track": track.id}
            o = Observation(recording="w", span=span, text=f"soup at {at}", **fields)
            store.add([o], completed=[Completed("w", track.id, "x")])
        cut = store.view(START + timedelta(seconds=40))
        export(cut, tmp_path / "cut.parquet", "parquet")
        export(store.view(), tmp_path / "whole.parquet", "parquet")
        later = store.view(START + timedelta(seconds=75))  # all is observed, and it still runs
        export(later, tmp_path / "later.parquet", "parquet")
    past = read_exported_memory(tmp_path / "cut.parquet")
    running = read_exported_memory(tmp_path / "later.parquet")
    assert past is not None
    assert running is not None
    assert (past.tracks, past.done) == ((early,), ())
    assert (set(running.tracks), running.done) == ({early, late}, ())
    for order in (("cut", "whole"), ("whole", "cut")):
        with Store.open(tmp_path / order[0], create=True) as again:
            for name in order:
                exported = read_exported_memory(tmp_path / f"{name}.parquet")
                assert exported is not None
                restore(again, exported)
            assert again.recordings() == [whole]
            assert len(again.completed("w")) == 2


def test_restoring_leaves_what_is_known_alone_but_gives_a_clock(
    store: Store, tmp_path: Path
) -> None:
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    export(store.view(), tmp_path / "m.parquet", "parquet")
    with Store.open(tmp_path / "again", create=True) as again:
        again.put_recording(Recording(id="r1", name="mine.mp4", duration=60.5))
        exported = read_exported_memory(tmp_path / "m.parquet")
        assert exported is not None
        restore(again, exported)
        kept = again.recording("r1")
        assert kept is not None
        assert (kept.name, kept.clock) == ("mine.mp4", Clock(START, "sidecar"))


def test_a_changed_or_damaged_parquet_file_is_refused(store: Store, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    from pyarrow import parquet

    path = tmp_path / "m.parquet"
    export(store.view(), path, "parquet")
    table = parquet.read_table(path)
    rows = table.to_pylist()
    rows[0]["text"] = "I take a blue cup."
    parquet.write_table(table.from_pylist(rows, table.schema), path)
    # The writer keeps the schema's metadata only; egomem's lies in the file's.
    assert read_exported_memory(path) is None
    held_head = {b"egomem": json.dumps({"form": 1, "recordings": [], "tracks": [], "done": []})}
    parquet.write_table(table.from_pylist(rows, table.schema.with_metadata(held_head)), path)
    exported = read_exported_memory(path)
    assert exported is not None
    with pytest.raises(MediaError, match="not what was exported"):
        list(exported.observations)
    newer = {b"egomem": json.dumps({"form": 99})}
    parquet.write_table(table.from_pylist(rows, table.schema.with_metadata(newer)), path)
    with pytest.raises(UsageError, match="newer egomem"):
        read_exported_memory(path)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(MediaError, match="not a Parquet file"):
        read_exported_memory(path)
    path.write_text("hello")
    assert read_exported_memory(path) is None


def test_webvtt_is_right_by_the_standard_and_says_where_it_is_from(
    store: Store, tmp_path: Path
) -> None:
    done = export(store.view(), tmp_path / "subtitles", "webvtt")
    assert [Path(f).name for f in done.files] == ["walk.r1.vtt", "walk.r2.vtt"]
    assert (done.observations, done.left_out) == (2, 1)
    first, second = (Path(f).read_text(encoding="utf-8") for f in done.files)
    assert validate_webvtt(first) == validate_webvtt(second) == []
    assert "recording: r1 walk.mp4 of me\nstarts: 2026-03-02T08:10:00+01:00" in first
    assert f"track: {CAPTION.id}\nnote: by a model" in first
    (cue,), warnings = read_subtitles(second)
    assert (cue.span, cue.text, cue.speaker, warnings) == (Span(1.25, 2), "杯子 <here>", "Ann", [])


def test_one_recording_may_go_into_one_file(store: Store, tmp_path: Path) -> None:
    view = store.view(recordings=["r2"])
    done = export(view, tmp_path / "said.srt", "srt")
    assert done.files == (str(tmp_path / "said.srt"),)
    srt = (tmp_path / "said.srt").read_text(encoding="utf-8")
    assert srt == "1\n00:00:01,250 --> 00:00:02,000\nAnn: 杯子 <here>\n"
    with pytest.raises(UsageError, match="2 recordings"):
        export(store.view(), tmp_path / "all.srt", "srt")


def test_json_lines_carry_all_there_is_of_an_observation(store: Store, tmp_path: Path) -> None:
    export(store.view(), tmp_path / "m.jsonl", "jsonl")
    rows = [json.loads(line) for line in (tmp_path / "m.jsonl").read_text("utf-8").splitlines()]
    assert {row["id"] for row in rows} == {o.id for o in store.view().observations()}
    first = next(row for row in rows if row["video_id"] == "r1")
    assert first["recording_start"] == "2026-03-02T08:10:00+01:00[Europe/Berlin]"
    assert first["when"] == "2026-03-02T08:10:00+01:00"
    assert first["provenance"] == {"frames": [0.0, 1.001], "request": "k", "note": "by a model"}
    when = read_time(first["recording_start"])
    assert when.instants is not None
    assert when.instants.start.tzinfo == BERLIN


def test_names_that_are_no_file_names(tmp_path: Path) -> None:
    with Store.open(tmp_path / "memory", create=True) as store:
        store.put_recording(Recording(id="a", name="../up: day?1", duration=5))
        store.add(
            [Observation(recording="a", span=Span(0, 1), text="x", source="caption", track="t")]
        )
        done = export(store.view(), tmp_path / "out", "srt")
    assert [Path(f).parent for f in done.files] == [tmp_path / "out"]
    assert (tmp_path / "out").exists()


def test_what_cannot_be_written_is_one_line(store: Store, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot write"):
        export(store.view(), tmp_path / "file" / "m.jsonl", "jsonl")
    with pytest.raises(UsageError, match="one of: webvtt"):
        export(store.view(), tmp_path / "m", "csv")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="'smell' is not a source"):
        export(store.view(), tmp_path / "m", "srt", sources=["smell"])
    assert [format_of(name) for name in ("a.vtt", "a.SRT", "a.jsonl")] == ["webvtt", "srt", "jsonl"]
    with pytest.raises(UsageError, match="does not say its format"):
        format_of("out")


def test_digests_have_a_wall_clock(store: Store, tmp_path: Path) -> None:
    export(store.view(), tmp_path / "m.jsonl", "jsonl", sources=["digest"])
    (row,) = (json.loads(line) for line in (tmp_path / "m.jsonl").read_text("utf-8").splitlines())
    assert row["video_id"] is None
    assert datetime.fromisoformat(row["when"]).astimezone(UTC) == START.astimezone(UTC)


@pytest.mark.parametrize("name", [".", "..", "folder"])
def test_a_folder_is_no_target_of_one_file(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="is a folder"):
        export(store.view(), name, "jsonl")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
@pytest.mark.parametrize("format", ["jsonl", "parquet"])
def test_a_pipe_or_device_is_written_to_and_stays(
    store: Store, tmp_path: Path, format: Literal["jsonl", "parquet"]
) -> None:
    pipe, read = tmp_path / "pipe", bytearray()
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.extend(pipe.read_bytes()), daemon=True)
    reader.start()
    export(store.view(), pipe, format)
    assert pipe.is_fifo()
    reader.join(timeout=30)
    export(store.view(), plain := tmp_path / "plain", format)
    assert bytes(read) == plain.read_bytes()


def test_a_link_stays_and_its_file_is_replaced(store: Store, tmp_path: Path) -> None:
    (tmp_path / "real.jsonl").write_text("old")
    link = tmp_path / "link.jsonl"
    link.symlink_to(tmp_path / "real.jsonl")
    export(store.view(), link, "jsonl")
    assert link.is_symlink()
    assert json.loads((tmp_path / "real.jsonl").read_text().splitlines()[0])["video_id"] == "r1"
