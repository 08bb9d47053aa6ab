"""The real models on real recordings; each test skips where its extra, weights or data are absent.

Nothing is fetched here: `egomem ingest` does that, or `egomem.models.weights` by hand.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from egomem.media import AudioBlock, audio, frames, probe
from egomem.models import weights
from egomem.observe import Objects, ScreenText, Speech, Window
from egomem.observe.speech import SAMPLE_RATE
from egomem.records import Observation, Recording
from egomem.timeline import Span


def all_of(stretches: Iterable[tuple[float, list[Observation]]]) -> list[Observation]:
    return [observation for _, stretch in stretches for observation in stretch]


@pytest.fixture(scope="module")
def video(shared_data: Path) -> Path:
    return shared_data / "video"


@pytest.fixture(scope="module")
def listener() -> Speech:
    pytest.importorskip("faster_whisper", reason="needs the extra 'speech'")
    for model in ("tiny.en", "base"):
        if weights.available_offline(model):
            return Speech(model)
    pytest.skip("no Whisper weights on this machine")


def watch(observer: Objects | ScreenText, path: Path, times: list[float]) -> list[Observation]:
    facts = probe(path)
    recording = Recording(id="rec", name=path.name, duration=facts.duration)
    window = Window(recording, Span(times[0], times[-1] + 1), tuple(frames(path, times)))
    return asyncio.run(observer.observe(window))


def test_the_words_of_a_speech_at_their_times(listener: Speech, video: Path) -> None:
    recording = Recording(id="jfk", name="jfk.flac", duration=11.0)
    heard_words = all_of(listener.hear(audio(video / "jfk.flac"), recording))
    text = " ".join(o.text for o in heard_words).lower()
    for words in ("my fellow americans", "your country", "do for you"):
        assert words in text
    spoken: list[Any] = [word for o in heard_words for word in cast("list[Any]", o.data["words"])]
    start, end = next((w[0], w[1]) for w in spoken if "americans" in w[2].lower())
    assert start < 1.8 < end + 0.3
    assert all(0 <= o.span.start < o.span.end <= 11 for o in heard_words)


@pytest.mark.parametrize("kind", ["silence", "noise", "hum"])
def test_nobody_speaks_and_nothing_is_heard(listener: Speech, kind: str) -> None:
    count = 12 * SAMPLE_RATE
    sounds = {
        "silence": np.zeros(count),
        "noise": np.random.default_rng(0).normal(size=count) * 0.05,
        "hum": 0.3 * np.sin(2 * np.pi * 100 * np.arange(count) / SAMPLE_RATE),
    }
    block = AudioBlock(0.0, SAMPLE_RATE, sounds[kind].astype(np.float32))
    recording = Recording(id="quiet", name="quiet", duration=12.0)
    assert [o.text for o in all_of(listener.hear([block], recording))] == []


def test_burnt_in_text_is_read_and_the_clock_tells_the_time(video: Path) -> None:
    pytest.importorskip("rapidocr", reason="needs the extra 'text'")
    pytest.importorskip("onnxruntime", reason="needs the extra 'text'")
    observations = watch(ScreenText(), video / "burnt_in_timecode_16s.mp4", [3.0, 4.0])
    title = [o for o in observations if "Photo JPEG" in o.text]
    assert [o.span for o in title] == [Span(3, 5)], "one line that stays is one observation"
    assert "1024 x 768" in title[0].text
    clocks = {o.text: o.span.start for o in observations if o.text.startswith("00:00:")}
    assert clocks == {"00:00:03:00": 3.0, "00:00:04:00": 4.0}


def test_the_bottles_are_counted_and_one_is_taken_away(video: Path) -> None:
    pytest.importorskip("cv2", reason="needs the extra 'objects'")
    if not weights.available_offline("detector"):
        pytest.skip("no detector weights on this machine")
    times = [5.0, 6.0, 7.0, 8.0]
    observations = watch(Objects(), video / "bottle-detection.mp4", times)
    bottles = [o for o in observations if o.data["label"] == "bottle"]
    assert [o.text for o in bottles] == ["2 to 3 bottles", "a bottle leaves, 2 bottles remain"]
    assert 5.9 <= bottles[1].span.start < bottles[1].span.end <= 7.1


def test_text_that_stands_the_other_way_round_is_read() -> None:
    pytest.importorskip("rapidocr", reason="needs the extra 'text'")
    import cv2

    picture = np.full((240, 640, 3), 255, np.uint8)
    cv2.putText(picture, "Bakery open", (40, 140), cv2.FONT_HERSHEY_SIMPLEX, 1.6, (0, 0, 0), 3)
    reader = ScreenText()
    lines = [reader.read(turned) for turned in (picture, picture[:, ::-1], picture[::-1, ::-1])]
    assert [
        [(line.text, line.orientation) for line in lines_of_frame] for lines_of_frame in lines
    ] == [
        [("Bakery open", "upright")],
        [("Bakery open", "mirrored")],
        [("Bakery open", "upside down")],
    ]
