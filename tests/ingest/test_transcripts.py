"""Transcripts of other tools keep their times; times are never invented where a row has some."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from egomem.ingest.importing import ImportOutcome, import_files
from egomem.ingest.readers import ImportOptions
from egomem.memory import Store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "memory", create=True) as opened:
        yield opened


def put(store: Store, path: Path, content: object, **options: Any) -> ImportOutcome:
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    (outcome,) = import_files(store, [path], ImportOptions(**options))
    return outcome


def spoken(store: Store) -> list[tuple[float, float, str, object]]:
    return [
        (o.span.start, o.span.end, o.text, o.data.get("speaker"))
        for o in store.view().observations()
        if o.source == "speech"
    ]


CPP = {
    "result": {"language": "sv"},
    "transcription": [
        {"timestamps": {"from": "00:01:02,500", "to": "00:01:04,000"},
         "offsets": {"from": 62500, "to": 64000}, "text": " Bussen kommer.",
         "tokens": [
             {"text": "[_BEG_]", "offsets": {"from": 62500, "to": 62500}, "p": 1},
             {"text": " Buss", "offsets": {"from": 62500, "to": 62900}, "p": 0.9},
             {"text": "en", "offsets": {"from": 62900, "to": 63100}, "p": 0.9},
             {"text": " kommer", "offsets": {"from": 63100, "to": 64000}, "p": 0.8}]},
        {"timestamps": {"from": "00:01:05,000", "to": "00:01:06,250"}, "text": " Ja."},
    ],
}  # fmt: skip


def test_whisper_cpp(store: Store, tmp_path: Path) -> None:
    outcome = put(store, tmp_path / "bus.json", CPP)
    assert spoken(store) == [
        (62.5, 64.0, "Bussen kommer.", None),
        (65.0, 66.25, "Ja.", None),
    ]
    first = store.view().observations()[0]
    assert first.data["language"] == "sv"
    assert first.data["words"] == [[62.5, 63.1, "Bussen", 0.9], [63.1, 64.0, "kommer", 0.8]]
    assert outcome.problems == ()


@pytest.mark.parametrize(
    "document",
    [
        {"text": "all", "chunks": [{"timestamp": [4.0, 5.5], "text": " One line."}]},
        {"utterances": [{"start": 4000, "end": 5500, "text": "One line.", "confidence": 1}],
         "words": [{"start": 4000, "end": 4200, "text": "One"}]},
        {"results": {"utterances": [{"start": 4.0, "end": 5.5, "transcript": "One line."}]}},
        {"results": {"items": [], "audio_segments": [
            {"start_time": "4.0", "end_time": "5.5", "transcript": "One line."}]}},
        {"wireMagic": "pb3", "events": [{"tStartMs": 0, "id": 1}, {
            "tStartMs": 4000, "dDurationMs": 1500, "segs": [{"utf8": "One"}, {"utf8": " line."}]}]},
    ],
)  # fmt: skip
def test_forms_of_other_tools(store: Store, tmp_path: Path, document: object) -> None:
    put(store, tmp_path / "other.json", document)
    assert spoken(store) == [(4.0, 5.5, "One line.", None)]


@pytest.mark.parametrize(
    ("row", "remedy"),
    [
        ({"text": "a cup", "timestamp": 12.5}, "--map start=timestamp"),
        ({"text": "a cup", "startTime": "00:12"}, "--map start=startTime"),
        ({"text": "a cup", "created_at": "2026-05-01T10:00Z"}, "--map start=created_at"),
        ({"text": "a cup", "position": {"from": 1, "to": 2}}, "write rows with start and end"),
    ],
)
def test_times_under_other_names_are_refused_and_not_invented(
    store: Store, tmp_path: Path, row: dict[str, Any], remedy: str
) -> None:
    outcome = put(store, tmp_path / "rows.jsonl", json.dumps(row))
    assert outcome.fault
    assert next(iter(row.keys() - {"text"})) in outcome.fault
    assert remedy in outcome.remedy
    assert store.recordings() == []


def test_rows_with_an_order_only_say_how_they_are_placed(store: Store, tmp_path: Path) -> None:
    outcome = put(store, tmp_path / "turns.jsonl", '{"text": "one"}\n{"text": "two"}\n', step=3)
    assert outcome.problems == (
        "line 1: rows without times are placed by their order, 3 s each (--step)",
    )
    assert [o.span.start for o in store.view().observations()] == [0, 3]


def cue(k: int, text: str) -> str:
    return f"{k}\n00:{k:02d}:00,000 --> 00:{k:02d}:20,000\n{text}\n\n"


@pytest.mark.parametrize(("lines", "kept"), [(("Please subscribe",), 1), (("Hm.", "Yes."), 2)])
def test_a_loop_of_invented_lines_is_dropped_and_counted(
    store: Store, tmp_path: Path, lines: tuple[str, ...], kept: int
) -> None:
    cues = [cue(k, lines[k % len(lines)]) for k in range(14)]
    outcome = put(store, tmp_path / "loop.srt", "".join(cues) + cue(20, "Goodbye then"))
    assert len(spoken(store)) == kept + 1
    assert (outcome.rows, outcome.passed_over) == (15, 14 - kept)
    assert f"{14 - kept} segments dropped as not spoken (repetition)" in outcome.problems


def test_five_equal_cues_are_speech(store: Store, tmp_path: Path) -> None:
    put(store, tmp_path / "chant.srt", "".join(cue(k, "Hey ho") for k in range(5)))
    assert len(spoken(store)) == 5


def test_cues_that_are_named_are_counted(store: Store, tmp_path: Path) -> None:
    srt = cue(1, "Fine.") + "2\n00:09:00,000 --> 00:08:00,000\nBackwards.\n\n" + cue(3, "")
    outcome = put(store, tmp_path / "odd.srt", srt)
    assert (outcome.rows, outcome.observations, outcome.passed_over) == (3, 1, 2)
    assert len(outcome.problems) == 2


def test_telemetry_is_a_place_with_settings_and_no_speech(store: Store, tmp_path: Path) -> None:
    srt = "".join(
        f'{k + 1}\n00:00:{k:02d},000 --> 00:00:{k + 1:02d},000\n<font size="28">FrameCnt: {k}\n'
        f"2025-06-01 09:15:{20 + k}.000\n[iso: 400] [latitude: 47.4012] [longitude: 9.6321] "
        "[rel_alt: 12.0 abs_alt: 430.0]</font>\n\n"
        for k in range(4)
    )
    outcome = put(store, tmp_path / "DJI_0042.SRT", srt, zone=ZoneInfo("Europe/Zurich"))
    assert spoken(store) == []
    (place,) = store.view().observations()
    assert (place.source, place.span.start, place.span.end) == ("place", 0, 4)
    assert place.data["latitude"] == 47.4012
    assert place.data["settings"] == {"iso": "400"}
    assert "4 cues of telemetry: no speech; read as 1 place" in outcome.problems
    (recording,) = store.recordings()
    assert recording.clock is not None
    assert recording.clock.start.isoformat() == "2025-06-01T09:15:20+02:00"


def test_telemetry_without_a_position_is_passed_over_and_counted(
    store: Store, tmp_path: Path
) -> None:
    srt = cue(1, "ISO: 100 Shutter: 1/60 EV: 0") + cue(2, "We take off now")
    outcome = put(store, tmp_path / "flight.srt", srt)
    assert [text for *_, text, _ in spoken(store)] == ["We take off now"]
    assert (outcome.rows, outcome.passed_over) == (2, 1)
    assert outcome.problems == ("1 cue of telemetry: no speech, 1 without a position passed over",)


def test_a_segment_of_a_transcript_is_cut_at_a_gap_of_its_words(
    store: Store, tmp_path: Path
) -> None:
    words = [("Left", 1.0), ("turn.", 1.4), ("Stop", 11.0), ("here.", 11.5)]
    segment = {
        "start": 1.0, "end": 12.0, "text": " Left turn. Stop here.", "speaker": "B",
        "words": [{"word": word, "start": at, "end": at + 0.3, "score": 0.8} for word, at in words],
    }  # fmt: skip
    put(store, tmp_path / "drive_whisperx.json", {"segments": [segment], "language": "en"})
    assert spoken(store) == [(1.0, 1.7, "Left turn.", "B"), (11.0, 11.8, "Stop here.", "B")]
    assert len(store.view(until=None).observations()[1].data["words"]) == 2  # type: ignore[arg-type]
