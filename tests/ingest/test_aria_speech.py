"""Aria's speech.csv: words of the device's own time become utterances of the recording."""

from __future__ import annotations

from pathlib import Path

import pytest

from egomem.errors import MediaError
from egomem.ingest.importing import import_files
from egomem.ingest.readers import ImportOptions
from egomem.ingest.readers.aria_speech import aria_speech_rows
from egomem.ingest.stream_files import with_streams
from egomem.media.streams import StreamInfo
from egomem.memory import Store
from egomem.records import Recording

WORDS = [
    (61.0, 61.3, "we", 0.8),
    (61.3, 61.5, "are", 0.9),
    (61.6, 62.0, "out.", 0.7),
    (62.1, 62.4, "of", 0.5),
    (62.4, 62.9, "flour", 0.6),
    (64.9, 65.3, "really?", 0.9),
]


def table() -> str:
    rows = [f"{round(a * 1e9)},{round(b * 1e9)},{text},{c}" for a, b, text, c in WORDS]
    return "\n".join(["startTime_ns,endTime_ns,written,confidence", *rows]) + "\n"


def test_words_become_utterances() -> None:
    rows = [row for _, row in aria_speech_rows(table(), 60.0)]
    assert [(row["start"], row["end"], row["text"]) for row in rows if isinstance(row, dict)] == [
        (pytest.approx(1.0), pytest.approx(2.0), "we are out."),
        (pytest.approx(2.1), pytest.approx(2.9), "of flour"),
        (pytest.approx(4.9), pytest.approx(5.3), "really?"),
    ]
    assert isinstance(rows[0], dict)
    assert rows[0]["words"][1][2:] == ["are", 0.9]


def test_bad_rows_are_named() -> None:
    text = table() + "soon,1,word,1\n9e9,8e9,back,1\n9e9,10e9,,1\n"
    bad = [(number, row) for number, row in aria_speech_rows(text, 1.0) if isinstance(row, str)]
    assert bad == [
        (8, "its times are no numbers"),
        (9, "its times cannot be"),
        (10, "it has no text"),
    ]


def test_without_the_devices_clock_it_is_refused() -> None:
    with pytest.raises(MediaError, match="nothing ties to the recording"):
        next(aria_speech_rows(table(), None))


def test_the_streams_of_the_recording_place_it(tmp_path: Path) -> None:
    info = StreamInfo(kind="gaze", path="g.csv", format="gaze", clock="device", origin=60.0)
    recording = with_streams(Recording(id="r", name="kitchen.mp4", duration=30), [info])
    path = tmp_path / "speech.csv"
    path.write_text(table())
    with Store.open(tmp_path / "memory", create=True) as store:
        store.put_recording(recording)
        (outcome,) = import_files(store, [path], ImportOptions(recording="kitchen"))
        assert (outcome.fault, outcome.observations) == ("", 3)
        first = min(store.view().observations(), key=lambda o: o.span)
        assert (first.source, first.text, first.recording) == ("speech", "we are out.", "r")
        (outcome,) = import_files(store, [path], ImportOptions(recording="other"))
        assert "nothing ties to the recording" in outcome.fault
