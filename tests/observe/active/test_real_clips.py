"""The embedded loop on real recordings; skips where an extra, weights or the data are absent."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest

from egomem.media import probe
from egomem.models import weights
from egomem.observe.active import (
    CaptionRun,
    EmbeddedBackend,
    Scene,
    Tools,
    caption_actively,
    caption_once,
    file_frames,
)
from egomem.observe.object_detector import Detector
from egomem.observe.screen_text import ScreenText
from egomem.timeline import Span

COMINGS_AND_GOINGS = (
    ("left", "leaves", 7.0),
    ("left", "back", 12.0),
    ("left", "leaves", 18.0),
    ("middle", "leaves", 18.0),
    ("middle", "back", 24.0),
    ("left", "back", 28.0),
    ("right", "leaves", 32.0),
    ("right", "back", 36.0),
)
"""Of the three bottles: which, what, and when, as VIDEOS.md tells."""


@pytest.fixture
def bottles(shared_data: Path) -> Tools:
    pytest.importorskip("cv2", reason="needs the extra 'objects'")
    if not weights.available_offline("detector"):
        pytest.skip("no detector weights on this machine")
    path = shared_data / "video" / "bottle-detection.mp4"
    scene = Scene(recording="bottles", name=path.name, span=Span(0, probe(path).duration))
    return Tools(scene, file_frames(path), path=path, detector=Detector(squares=False))


def placed(done: CaptionRun, within: float = 1.5) -> int:
    """How many of the true changes the caption states, with both ends of the time it gives (one
    caption line each) no further than `within` seconds off."""
    rows = re.findall(r"^\[(.+?)\] (.*)$", done.caption, re.MULTILINE)
    lines = []
    for times, text in rows:
        ends = [_seconds(t) for t in times.split("-")]
        lines.append((min(ends), max(ends), text))
    count = 0
    for side, what, when in COMINGS_AND_GOINGS:
        near = [
            row for row in lines
            if side in row[2] and what in row[2] and "Not certain" not in row[2]
            and max(abs(row[0] - when), abs(row[1] - when)) <= within
        ]  # fmt: skip
        count += bool(near)
        if near:
            lines.remove(near[0])
    return count


def _seconds(written: str) -> float:
    minutes, seconds = written.split(":")
    return 60 * int(minutes) + float(seconds)


def test_active_places_the_bottles_comings_and_goings_and_a_single_pass_does_not(
    bottles: Tools,
) -> None:
    direct = asyncio.run(caption_once(bottles, EmbeddedBackend()))
    assert placed(direct) == 0
    assert "middle" not in direct.caption, "the whole picture misses the middle bottle"
    done = asyncio.run(caption_actively(bottles, EmbeddedBackend()))
    assert placed(done) >= 6
    assert "In view: up to 3 bottles (left, middle, right)." in done.caption
    assert "Not certain" not in done.caption
    named = next(f for f in done.state.findings if f.tool == "detect" and f.box)
    assert named.conclusive, "an enlarged crop found it"
    assert 0.3 < ((named.box or (0, 0, 0, 0))[0] + (named.box or (0, 0, 0, 0))[2]) / 2 < 0.7
    assert done.state.looks <= done.log.budget.looks
    assert done.state.pictures <= done.log.budget.frames


def test_burnt_in_text_is_read_exactly(shared_data: Path) -> None:
    pytest.importorskip("rapidocr", reason="needs the extra 'text'")
    pytest.importorskip("onnxruntime", reason="needs the extra 'text'")
    path = shared_data / "video" / "burnt_in_timecode_16s.mp4"
    scene = Scene(recording="clock", name=path.name, span=Span(0, probe(path).duration))
    tools = Tools(scene, file_frames(path), path=path, reader=ScreenText())
    done = asyncio.run(caption_actively(tools, EmbeddedBackend()))
    assert "Text in view: “1024 x 768 25 fps Photo JPEG 75%”." in done.caption
    clocks = [c for c in done.state.asserted if "00:00:" in c.text]
    assert len(clocks) >= 4
    for claim in clocks:
        seconds, frame = re.findall(r":(\d\d):(\d\d)”", claim.text)[0]
        assert int(seconds) + int(frame) / 25 == pytest.approx(claim.span.start, abs=0.02)
    assert "Not certain" not in done.caption
