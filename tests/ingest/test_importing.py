"""Captions and transcripts that exist already: bad rows are named, the rest is remembered."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from egomem.errors import MediaError, UsageError
from egomem.ingest.importing import ImportOutcome, import_files, read_observations
from egomem.ingest.readers import ImportOptions, read_map
from egomem.media import content_hash
from egomem.memory import Store
from egomem.timeline import DEFAULT_CONVENTIONS, Clock, Span

BERLIN = ZoneInfo("Europe/Berlin")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "memory", create=True) as memory:
        yield memory


def lines(path: Path, *rows: object) -> Path:
    path.write_text("".join((r if isinstance(r, str) else json.dumps(r)) + "\n" for r in rows))
    return path


def one(store: Store, path: Path, **options: Any) -> ImportOutcome:
    (done,) = import_files(store, [path], ImportOptions(**options))
    return done


def read(store: Store) -> list[tuple[str | None, float, float, str]]:
    return [(o.recording, o.span.start, o.span.end, o.text) for o in store.view().observations()]


def test_json_lines(store: Store, tmp_path: Path) -> None:
    path = lines(
        tmp_path / "captions.jsonl",
        {"video_id": "a", "start": 1, "end": 2.5, "text": " I take a cup ", "src": "x:1"},
        "",
        {"video_id": "b", "start": "1:02", "end": "1:05", "text": ["I", "wash", "it"]},
        {"video_id": "a", "start": 3, "end": 4, "text": "a voice", "source": "speech",
         "speaker": "Ann", "track": "whisper", "data": {"language": "en"}},
    )  # fmt: skip
    done = one(store, path)
    assert (done.rows, done.observations, done.passed_over, done.problems) == (3, 3, 0, ())
    assert read(store) == [
        ("a", 1, 2.5, "I take a cup"),
        ("a", 3, 4, "a voice"),
        ("b", 62, 65, "I wash it"),
    ]
    first, second, _ = store.view().observations()
    assert first.data == {"src": "x:1"}
    assert (first.source, first.track) == ("caption", "caption/import")
    assert (second.source, second.track) == ("speech", "speech/whisper")
    assert second.data == {"language": "en", "speaker": "Ann"}
    assert [(r.id, r.duration, r.clock) for r in store.recordings()] == [
        ("a", 4, None),
        ("b", 65, None),
    ]
    assert {t.id for t in store.tracks()} == {"caption/import", "speech/whisper"}


def test_bad_lines_are_named_and_counted_and_the_rest_is_kept(store: Store, tmp_path: Path) -> None:
    good = {"video_id": "a", "start": 1, "end": 2, "text": "good"}
    path = lines(
        tmp_path / "captions.jsonl",
        good,
        "{not json",
        "[1]",
        {**good, "text": None},
        {**good, "text": "  "},
        {**good, "start": "1:2:3:4"},
        {**good, "start": 5},
        {**good, "start": -1},
        {**good, "end": float("nan")},
        {**good, "start": True},
        {**good, "source": "smell"},
        {**good, "provenance": {"frames": "x"}},
        {**good, "text": "also good", "end": None},
    )
    done = one(store, path)
    assert (done.rows, done.observations, done.passed_over) == (13, 2, 11)
    starts = [problem.split(":")[0] for problem in done.problems]
    assert starts == [f"line {n}" for n in range(2, 14)]
    assert "line 6: 1:2:3:4 has 4 parts" in done.problems[4]
    assert "cannot end (2.0 s) before it starts (5.0 s)" in done.problems[5]
    assert "taken as points" in done.problems[-1]
    assert [o.text for o in store.view().observations()] == ["also good", "good"]


def test_long_lists_of_problems_are_cut_but_counted(store: Store, tmp_path: Path) -> None:
    done = one(store, lines(tmp_path / "x.jsonl", *["{"] * 150))
    assert (done.passed_over, len(done.problems)) == (150, 101)
    assert done.problems[-1] == "and 50 more"


def test_the_same_again_adds_nothing(store: Store, tmp_path: Path) -> None:
    path = lines(tmp_path / "a.jsonl", {"start": 0, "end": 1, "text": "x"})
    assert one(store, path).observations == 1
    again = one(store, path)
    assert (again.observations, again.known) == (0, 1)
    assert read(store) == [("a", 0, 1, "x")]  # the file names the video where its rows do not


def test_other_names_templates_and_compression(store: Store, tmp_path: Path) -> None:
    row = {"clip": 7, "part": "b", "t0": 1, "t1": 2, "narration": "#C opens a door", "who": None}
    path = tmp_path / "narrations.jsonl.gz"
    path.write_bytes(gzip.compress(json.dumps(row).encode()))
    mapping = read_map(["video_id={clip}-{part}{who}, start=t0", "end=t1,text=narration"])
    done = one(store, path, mapping=mapping, track="annotator")
    assert done.problems == ()
    assert read(store) == [("7-b", 1, 2, "#C opens a door")]
    (o,) = store.view().observations()
    assert o.track == "caption/annotator"
    assert o.data == {"clip": 7, "part": "b"}
    with pytest.raises(UsageError, match="video_id"):
        read_map(["words=text"])


def test_json(store: Store, tmp_path: Path) -> None:
    rows = [{"start": 1, "end": 2, "text": "x"}, 7]
    (tmp_path / "walk_captions.json").write_text(json.dumps(rows))
    assert one(store, tmp_path / "walk_captions.json").problems == ("line 2: it is not an object",)
    document = {"video_id": "b", "model": "m", "captions": rows[:1]}
    (tmp_path / "other.json").write_text(json.dumps(document))
    one(store, tmp_path / "other.json")
    lines(tmp_path / "lines.json", {"start": 3, "end": 4, "text": "y"}, {"start": 5, "text": "z"})
    one(store, tmp_path / "lines.json")
    assert [(r, t) for r, _, _, t in read(store)] == [
        ("b", "x"), ("lines", "y"), ("lines", "z"), ("walk", "x"),
    ]  # fmt: skip


def test_a_damaged_gzip_keeps_what_came_before(store: Store, tmp_path: Path) -> None:
    rows = [{"video_id": "a", "start": k, "end": k + 1, "text": f"{k * k}"} for k in range(5000)]
    packed = gzip.compress("".join(json.dumps(r) + "\n" for r in rows).encode())
    (tmp_path / "x.jsonl.gz").write_bytes(packed[: len(packed) // 2])
    done = one(store, tmp_path / "x.jsonl.gz")
    assert 1000 < done.observations < 4000
    assert "damaged and ends early" in done.problems[0]


def test_a_file_that_cannot_be_read_is_reported_and_the_rest_goes_on(
    store: Store, tmp_path: Path
) -> None:
    bad = tmp_path / "bad.xml"
    bad.write_text("<x/>")
    good = lines(tmp_path / "a.jsonl", {"start": 0, "end": 1, "text": "x"})
    broken = lines(tmp_path / "b.json", "{nothing")
    one_, two, three, four = import_files(store, [bad, good, broken, tmp_path / "no.jsonl"])
    assert "no known format" in one_.fault
    assert (two.fault, two.observations) == ("", 1)
    assert "not JSON" in three.fault
    assert "there is no file" in four.fault
    with pytest.raises(MediaError):
        read_observations(bad)


# -- formats ---------------------------------------------------------------------------------------


def test_subtitles(store: Store, tmp_path: Path) -> None:
    (tmp_path / "walk.en.srt").write_bytes(
        b"1\r\n00:00:01,000 --> 00:00:02,000\r\ncaf\xe9\r\n\r\n00:03.0 --> 00:02.0\r\nnever\r\n"
    )
    done = one(store, tmp_path / "walk.en.srt")
    assert read(store) == [("walk", 1, 2, "café")]
    assert done.problems[0] == "it is not UTF-8; read as Windows-1252"
    assert done.problems[1].startswith("line 5: a span cannot end")
    (tmp_path / "walk.vtt").write_text("WEBVTT\n\n00:05.000 --> 00:06.000\n<v Ann>Hi\n")
    one(store, tmp_path / "walk.vtt", source="caption", track="people")
    assert [(o.source, o.track, o.data) for o in store.view().observations()] == [
        ("speech", "speech/import", {}),
        ("caption", "caption/people", {"speaker": "Ann"}),
    ]


def test_whisperx(store: Store, tmp_path: Path) -> None:
    ghost = {"start": 30, "end": 32, "text": "Thanks for watching!", "no_speech_prob": 0.9,
             "avg_logprob": -0.9}  # fmt: skip
    document = {
        "language": "en",
        "segments": [
            {"start": 1.0, "end": 2.0, "text": " Thank you.", "speaker": "SPEAKER_00", "id": 0,
             "words": [{"word": "Thank", "start": 1.0, "end": 1.4, "score": 0.9}, {"word": "x"}]},
            ghost,
            *({"start": 40 + k, "end": 41 + k, "text": "Bye."} for k in range(12)),
            {"start": 3.0, "end": 4.0, "text": ""},
        ],
    }  # fmt: skip
    path = tmp_path / "walk_whisperx.json"
    path.write_text(json.dumps(document))
    done = one(store, path)
    assert read(store) == [("walk", 1, 2, "Thank you."), ("walk", 40, 41, "Bye.")]
    assert store.view().observations()[0].data == {
        "language": "en", "speaker": "SPEAKER_00", "words": [[1.0, 1.4, "Thank", 0.9]],
    }  # fmt: skip
    assert "1 segment dropped as not spoken (no speech)" in done.problems
    assert "11 segments dropped as not spoken (repetition)" in done.problems
    assert "line 15: it has no text" in done.problems


EGOLIFE = [
    {"start_time": "11210217", "end_time": "11210500", "text": "I open the box.", "date": "DAY1",
     "video_path": "A1_JAKE/DAY1/DAY1_A1_JAKE_11210217.mp4"},
    {"start_time": "11213000", "end_time": "11213210", "text": "I look inside.", "date": "DAY1",
     "video_path": "A1_JAKE/DAY1/DAY1_A1_JAKE_11210217.mp4"},
    {"start_time": "23595900", "end_time": "00000100", "text": "I fall asleep.", "date": "DAY2"},
    {"start_time": "99999999", "end_time": "00000100", "text": "never", "date": "DAY2"},
]  # fmt: skip


def test_egolife_captions(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "A1_JAKE.json"
    path.write_text(json.dumps(EGOLIFE))
    done = one(store, path, zone=BERLIN, day_one=date(2026, 3, 29))
    clip = "DAY1_A1_JAKE_11210217"
    assert read(store) == [
        (clip, 0, 2.15, "I open the box."),
        (clip, 27.15, 29.65, "I look inside."),
        ("DAY2", 86399, 86401, "I fall asleep."),
    ]
    at = datetime(2026, 3, 29, 11, 21, 2, 850_000, tzinfo=BERLIN)  # a day of 23 hours
    assert store.recordings()[0].clock == Clock(at, "import")
    assert [problem.split(":")[0] for problem in done.problems] == ["line 4"]


def test_egolife_captions_without_a_date_have_no_clock(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "A1_JAKE.json"
    path.write_text(json.dumps(EGOLIFE[:1]))
    done = one(store, path)
    assert "give the date of DAY1 and the zone" in done.problems[0]
    assert store.recordings()[0].clock is None
    hundredths = replace(DEFAULT_CONVENTIONS, frames_per_second=100)
    reading = read_observations(path, ImportOptions(conventions=hundredths))
    assert [o.span for o in reading] == [Span(0, 2.83)]


def test_parquet_of_others(store: Store, tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    from pyarrow import parquet

    path = tmp_path / "captions.parquet"
    rows = [
        {"vid": "a", "s": 1.0, "e": 2.0, "caption": "x", "made": datetime(2026, 3, 2, tzinfo=UTC)}
    ]
    parquet.write_table(pyarrow.Table.from_pylist(rows), path)
    done = one(store, path, mapping=read_map(["video_id=vid,start=s,end=e,text=caption"]))
    assert done.problems == ()
    assert read(store) == [("a", 1, 2, "x")]
    assert store.view().observations()[0].data == {"made": "2026-03-02T00:00:00+00:00"}
    path.write_bytes(b"PAR1 and no more")
    assert "Parquet" in one(store, path).fault


# -- clocks and videos -----------------------------------------------------------------------------


def test_wall_clock_times_make_a_clock(store: Store, tmp_path: Path) -> None:
    path = lines(
        tmp_path / "log.jsonl",
        {"video_id": "a", "start": "2026-03-02T08:10+01:00", "end": "2026-03-02T07:11Z",
         "text": "x"},
        {"video_id": "a", "start": "2026-03-02T07:12Z", "end": "2026-03-02T07:13Z", "text": "y"},
        {"video_id": "b", "start": 5, "end": 6, "text": "z", "recording_start": 1772435400},
        {"video_id": "c", "start": 5, "end": 6, "text": "z",
         "recording_start": "2026-03-02T08:10:00+01:00[Europe/Berlin]"},
        {"video_id": "d", "start": 5, "end": 6, "text": "z", "recording_start": "noon"},
    )  # fmt: skip
    done = one(store, path)
    start = datetime(2026, 3, 2, 8, 10, tzinfo=BERLIN)
    assert [r.clock and r.clock.start for r in store.recordings()] == [start, start, start, None]
    assert store.recordings()[2].clock == Clock(start, "import")
    assert [(s, e) for _, s, e, _ in read(store)[:2]] == [(0, 60), (5, 6)]
    assert store.recordings()[3].facts == {"said_start": "noon"}
    assert len(done.problems) == 2
    assert "local times are shown in UTC" in done.problems[0]
    assert "the start of d" in done.problems[1]


def test_rows_go_to_the_video_where_it_is_at_hand(
    store: Store, tmp_path: Path, make_video: Callable[..., Path]
) -> None:
    video = make_video("walk.mp4", seconds=4)
    (tmp_path / "walk.json").write_text('{"start": "2026-03-02T08:10+01:00"}')
    rows = [{"video_id": "walk", "start": k, "end": k + 1, "text": f"{k}"} for k in (0, 9)]
    path = lines(tmp_path / "captions.jsonl", *rows)
    done = one(store, path)
    (recording,) = store.recordings()
    assert recording.id == content_hash(video)[:16]
    assert recording.duration == pytest.approx(4)
    assert recording.clock is not None
    assert recording.clock.source == "sidecar"
    assert done.problems == ("line 2: walk.mp4 has only 4.0 s, but a row ends at 10.0 s",)
    video.unlink()  # the memory knows it by now
    lines(path, {"video_id": "walk.mp4", "start": 1, "end": 2, "text": "more"})
    one(store, path)
    assert len(store.recordings()) == 1
    assert store.view().count() == 3


def test_a_video_id_is_never_a_way_out_of_the_folder(
    store: Store, tmp_path: Path, make_video: Callable[..., Path]
) -> None:
    make_video("walk.mp4", seconds=1)
    make_video("sub/walk.mp4", seconds=1)
    path = lines(
        tmp_path / "sub" / "x.jsonl", {"video_id": "../walk", "start": 0, "end": 1, "text": "x"}
    )
    one(store, path)
    assert [r.id for r in store.recordings()] == ["../walk"]
    assert store.recordings()[0].path is None


# -- the shared data -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("folder", "files", "videos", "rows", "hours"),
    [
        ("goalstep", ["videos.jsonl", "memory.jsonl.gz"], 78, 4697, 34),
        ("epic_amb", ["videos.jsonl", "epic_memory.jsonl.gz"], 34, 6006, 8.5),
    ],
)
def test_narrations_of_the_field(
    store: Store,
    shared_data: Path,
    folder: str,
    files: list[str],
    videos: int,
    rows: int,
    hours: float,
) -> None:
    mapping = read_map(["duration=end"]) if folder == "goalstep" else {}
    described, _ = import_files(
        store, [shared_data / folder / files[0]], ImportOptions(mapping=mapping)
    ) + import_files(store, [shared_data / folder / files[1]], ImportOptions(track="annotator"))
    assert described.passed_over == 0
    view = store.view()
    assert len(store.recordings()) == videos
    assert view.count() >= 0.97 * rows  # what is told twice in one place is one observation
    assert sum(r.duration for r in store.recordings()) / 3600 == pytest.approx(hours, rel=0.02)


def test_turns_of_locomo(store: Store, shared_data: Path) -> None:
    mapping = read_map(
        ["video_id={conv_id}-{session},wearer=conv_id", "recording_start=date_time",
         "text={speaker}: {text}"]
    )  # fmt: skip
    options = ImportOptions(mapping=mapping, source="speech", track="locomo", zone=UTC)
    (done,) = import_files(store, [shared_data / "locomo" / "turns.jsonl.gz"], options)
    assert (done.rows, done.observations, done.passed_over) == (1960, 1960, 0)
    assert done.problems == (
        "line 1: rows without times are placed by their order, 5 s each (--step)",
    )
    first = store.view().observations()[0]
    assert store.view().when(first) is not None
    assert len(store.recordings()) == 95
    session = store.recording("26-1")
    assert session is not None
    assert session.clock == Clock(datetime(2023, 5, 8, 13, 56, tzinfo=UTC), "import")
    assert {r.wearer for r in store.recordings()} == {"26", "30", "41", "49"}
    turns = store.view().observations(recording="26-1")
    assert [t.span.start for t in turns[:3]] == [0, 5, 10]
    assert [t.data["dia_id"] for t in turns[:3]] == ["D1:1", "D1:2", "D1:3"]
    assert turns[0].text == "Caroline: Hey Mel! Good to see you! How have you been?"
    assert "placed by its order" in str(turns[0].provenance.note)


def test_starts_with_offsets_take_the_zone_that_is_given(store: Store, tmp_path: Path) -> None:
    night, local = "2026-10-25T01:00+02:00", "2026-10-25 02:30"
    named = "2026-10-25T01:00-04:00[America/New_York]"
    path = lines(
        tmp_path / "rows.jsonl",
        {"video_id": "night", "recording_start": night, "start": 9000, "end": 9010, "text": "x"},
        {"video_id": "local", "recording_start": local, "start": 0, "end": 1, "text": "y"},
        {"video_id": "named", "recording_start": named, "start": 0, "end": 1, "text": "z"},
    )
    done = one(store, path, zone=BERLIN)
    clocks = {r.id: r.clock for r in store.recordings()}
    assert {id: str(c.start.tzinfo) for id, c in clocks.items() if c} == {
        "night": "Europe/Berlin", "local": "Europe/Berlin", "named": "America/New_York",
    }  # fmt: skip
    clock = clocks["night"]
    assert clock is not None
    assert clock.at(9000).isoformat() == "2026-10-25T02:30:00+01:00"
    assert done.problems == ("line 2: 02:30 occurs twice that day; read as the first",)


@pytest.mark.parametrize("row", [{}, {"video_id": "ghost", "text": " "}, {"video_id": "ghost"}])
def test_rows_that_cannot_be_used_leave_no_recording(
    store: Store, tmp_path: Path, row: dict[str, object]
) -> None:
    done = one(store, lines(tmp_path / "captions.jsonl", row))
    assert (done.passed_over, done.recordings) == (1, ())
    assert store.recordings() == []


def test_a_folder_is_named_as_one(store: Store, tmp_path: Path) -> None:
    (done,) = import_files(store, [tmp_path])
    assert "is a folder" in (done.fault or "")


@pytest.mark.parametrize("name", ["beginMs", "begin_ms", "ms", "beginMillis"])
def test_times_that_are_named_milliseconds_are_read_as_such(
    store: Store, tmp_path: Path, name: str
) -> None:
    row = {name: 2600, "endMs": 4100, "text": "I peel an onion"}
    done = one(store, lines(tmp_path / "a.jsonl", row), mapping={"start": name, "end": "endMs"})
    assert read(store) == [("a", 2.6, 4.1, "I peel an onion")]
    assert f"{name} is read as milliseconds" in done.problems[0]


@pytest.mark.parametrize("name", ["items", "begins", "frames"])
def test_other_names_are_seconds(store: Store, tmp_path: Path, name: str) -> None:
    one(store, lines(tmp_path / "a.jsonl", {name: 26, "text": "x"}), mapping={"start": name})
    assert [start for _, start, _, _ in read(store)] == [26]


def test_the_remedy_names_start_and_end(store: Store, tmp_path: Path) -> None:
    path = lines(tmp_path / "a.jsonl", {"from_ms": 2600, "to_ms": 4100, "text": "I peel an onion"})
    (done,) = import_files(store, [path])
    assert (done.remedy or "").endswith("--map start=from_ms,end=to_ms")
