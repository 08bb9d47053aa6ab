"""A published phase 1 is imported as it is: dense captions, transcript, sidecar."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from egomem.ingest.importing import ImportOutcome, import_files
from egomem.ingest.readers import ImportOptions
from egomem.ingest.readers.dense_captions import dense_caption_rows, is_dense_captions
from egomem.memory import Store
from egomem.records import Observation

START = 1_771_234_560

SEGMENT = {
    "time_span": {"start_time": "02:10", "end_time": "02:31.5"},
    "description": {
        "activities": "The user oils a hinge",
        "environment": "A cellar with a workbench.",
        "visible_text": "WD-99 SPRAY",
        "objects": ["oil can", "hinge"],
        "audio_transcript": [
            {"speaker": "B", "transcript": "Is it still squeaking?"},
            {"speaker": None, "transcript": "[metal squeaks]"},
        ],
        "people": [{"person": "B", "description": "a man in a blue overall"}],
    },
    "importance": "medium",
    "optimal_sampling_rate": "low",
}


def narrations(*captions: object, video: str = "cellar") -> dict[str, Any]:
    return {
        "video_id": video,
        "video_path": f"/data/{video}.mp4",
        "duration": 120.0 * max(2, len(captions)),
        "start_time": START,
        "chunks": [
            {"chunk_index": k, "start_time": 120 * k, "end_time": 120 * (k + 1), "caption": caption}
            for k, caption in enumerate(captions)
        ],
    }


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "memory", create=True) as memory:
        yield memory


def put(store: Store, path: Path, document: object, **options: Any) -> ImportOutcome:
    path.write_text(json.dumps(document))
    (outcome,) = import_files(store, [path], ImportOptions(**options))
    assert not outcome.fault, outcome.fault
    return outcome


def observations(store: Store) -> dict[str, list[Observation]]:
    grouped: dict[str, list[Observation]] = {}
    for observation in store.view().observations():
        grouped.setdefault(observation.track, []).append(observation)
    return grouped


def test_dense_captions(store: Store, tmp_path: Path) -> None:
    document = narrations(
        {"overall_summary": "Nothing happens.", "segments": []},
        {"overall_summary": "A hinge is oiled.", "segments": [SEGMENT]},
    )
    outcome = put(store, tmp_path / "cellar_caption_narrations.json", document)
    assert (outcome.observations, outcome.passed_over) == (6, 0)
    by_track = observations(store)
    assert [(o.span.start, o.span.end, o.text) for o in by_track["caption/phase1-summary"]] == [
        (0, 120, "Nothing happens."),
        (120, 240, "A hinge is oiled."),
    ]
    (caption,) = by_track["caption/phase1"]
    assert (caption.span.start, caption.span.end) == (130, 151.5)
    assert caption.text == (
        "The user oils a hinge. A cellar with a workbench. B: a man in a blue overall. "
        "Objects: oil can, hinge."
    )
    assert caption.data["importance"] == "medium"
    assert caption.data["people"] == {"B": "a man in a blue overall"}
    (spoken,) = by_track["speech/phase1"]
    assert (spoken.text, spoken.data["speaker"]) == ("Is it still squeaking?", "B")
    assert [o.text for o in by_track["sound/phase1"]] == ["metal squeaks"]
    assert [o.text for o in by_track["screen_text/phase1"]] == ["WD-99 SPRAY"]
    (recording,) = store.recordings()
    assert (recording.id, recording.duration) == ("cellar", 240)
    assert recording.clock is not None
    assert recording.clock.start == datetime.fromtimestamp(START, UTC)
    assert any("local times are shown in UTC" in problem for problem in outcome.problems)


def test_its_start_is_read_in_the_zone_given(store: Store, tmp_path: Path) -> None:
    document = narrations({"overall_summary": "Nothing happens."})
    put(store, tmp_path / "c.json", document, zone=ZoneInfo("Asia/Tokyo"))
    (recording,) = store.recordings()
    assert recording.clock is not None
    assert str(recording.clock.start.tzinfo) == "Asia/Tokyo"


def test_its_transcript_and_captions_are_of_one_recording(store: Store, tmp_path: Path) -> None:
    put(
        store,
        tmp_path / "cellar_whisper_transcript.json",
        [
            {"start": 3.5, "end": 5.0, "text": "Where is the oil?"},
            {"start": 9.0, "end": 9.8, "text": "Down there.", "speaker": "SPEAKER_01"},
        ],
    )
    put(store, tmp_path / "cellar_caption_narrations.json", narrations({"segments": [SEGMENT]}))
    assert [recording.id for recording in store.recordings()] == ["cellar"]
    spoken = observations(store)["speech/import"]
    assert [(o.source, o.data.get("speaker")) for o in spoken] == [
        ("speech", None),
        ("speech", "SPEAKER_01"),
    ]


def test_a_sidecar_tells_when_a_video_that_is_not_here_began(store: Store, tmp_path: Path) -> None:
    (tmp_path / "cellar_glasses.vrs.json").write_text(
        json.dumps({"start_time": START, "end_time": START + 240})
    )
    rows = [{"start": 3.5, "end": 5.0, "text": "Where is the oil?", "speaker": "A"}]
    outcome = put(store, tmp_path / "cellar_whisper_transcript.json", rows)
    (recording,) = store.recordings()
    assert recording.clock is not None
    assert recording.clock.start == datetime.fromtimestamp(START, UTC)
    assert recording.clock.source == "sidecar"
    assert any("sidecar of cellar" in problem for problem in outcome.problems)


def test_a_bad_part_is_named_and_the_rest_is_read(store: Store, tmp_path: Path) -> None:
    document = narrations(
        {"overall_summary": "A hinge is oiled.", "segments": [{"description": {}}, 7, SEGMENT]},
        None,
        "A plain caption",
        json.dumps({"overall_summary": "As a text", "segments": []}),
    )
    document["chunks"].append("not a chunk")
    outcome = put(store, tmp_path / "cellar_caption_narrations.json", document)
    assert outcome.passed_over == 4
    lines = [problem.partition(": ")[2] for problem in outcome.problems]
    assert sorted(line for line in lines if "UTC" not in line) == [
        "a segment has no time span",
        "a segment is not an object",
        "it has no caption",
        "it is not an object",
    ]
    summaries = [o.text for o in observations(store)["caption/phase1-summary"]]
    assert summaries == ["A hinge is oiled.", "A plain caption", "As a text"]


_json = st.recursive(
    st.none() | st.booleans() | st.floats(-5, 500) | st.sampled_from(["1:20", "[hum]", "", "x"]),
    lambda children: (
        st.lists(children, max_size=3)
        | st.dictionaries(
            st.sampled_from([
                *("segments", "time_span", "start_time", "end_time", "description", "people"),
                *("activities", "audio_transcript", "transcript", "speaker", "person"),
                *("overall_summary", "visible_text", "objects"),
            ]),
            children,
            max_size=4,
        )
    ),
    max_leaves=12,
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(caption=_json)
def test_any_caption_gives_rows_or_lines(caption: object) -> None:
    document = narrations(caption, {"segments": [SEGMENT]})
    assert is_dense_captions(document)
    rows = list(dense_caption_rows(document))
    assert all(isinstance(row, str) or isinstance(row["text"], str) for _, row in rows)
    assert sum(not isinstance(row, str) and row.get("speaker") == "B" for _, row in rows) >= 1
