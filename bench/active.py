"""What looking again buys, against as many frames spread evenly, and against asking again.

    python bench/active.py DATA [--only bottles] [--json FILE]

DATA holds `bottle-detection.mp4` and `burnt_in_timecode_16s.mp4`. One row is one way of captioning:

- `single pass`: the coarse view, nothing checked; `uniform`: the same at more frames, evenly
  spread, the whole picture or also its two squares (each counts as a frame: it costs as much);
- `asking again`: the loop without looks: claims are checked on what is held already;
- `active`: the loop, with a budget of extra frames.

Bottles: of eight comings and goings, how many the caption states with both ends of the time that it
gives within 1.5 s; how many it states that did not happen, or further off; how many of the three
bottles it names. Clock: burnt-in times that it states, and how many of them are false. Scripted: a
made-up model that sees little in the coarse view, invents a fifth of its draft, and tells the truth
of what a look shows; it shows what the rules do, not how good a model is. CPU seconds, one thread.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from egomem.media import Frame, probe
from egomem.observe.active import (
    CaptionBudget,
    CaptionRun,
    CaptionState,
    EmbeddedBackend,
    Scene,
    Tools,
    caption_actively,
    caption_once,
    file_frames,
)
from egomem.observe.active.actions import Crop, Inspection
from egomem.observe.active.inspection_result import InspectionResult
from egomem.observe.active.state import (
    CaptionGap,
    CaptionLine,
    ClaimStatus,
    ClaimVerdict,
    Diagnosed,
    Drafted,
    Finding,
    Inspected,
    Revised,
)
from egomem.observe.object_detector import Detection, Detector
from egomem.observe.screen_text import ScreenText
from egomem.timeline import Span

CHANGES = (
    ("left", "leaves", 7.0),
    ("left", "back", 12.0),
    ("left", "leaves", 18.0),
    ("middle", "leaves", 18.0),
    ("middle", "back", 24.0),
    ("left", "back", 28.0),
    ("right", "leaves", 32.0),
    ("right", "back", 36.0),
)
WITHIN = 1.5


@dataclass
class Row:
    part: str
    way: str
    frames: int
    right: int
    wrong: int
    named: int
    cpu: float


def stated_lines(caption: str) -> list[tuple[float, float, str]]:
    """The lines that a caption states as fact: start, end, text."""
    rows = []
    for times, text in re.findall(r"^\[(.+?)\] (.*)$", caption, re.MULTILINE):
        ends = [int(t.split(":")[0]) * 60 + float(t.split(":")[1]) for t in times.split("-")]
        if not text.startswith("Not certain"):
            rows.append((min(ends), max(ends), text))
    return rows


def score_bottles(caption: str) -> tuple[int, int, int]:
    rows = [r for r in stated_lines(caption) if re.search(r"leaves|back|put", r[2])]
    right = 0
    for side, what, when in CHANGES:
        for row in rows:
            off = max(abs(row[0] - when), abs(row[1] - when))
            if side in row[2] and what in row[2] and off <= WITHIN:
                rows.remove(row)
                right += 1
                break
    view = next((t for *_, t in stated_lines(caption) if "In view" in t and "bottle" in t), "")
    named = sum(side in view for side in ("left", "middle", "right"))
    return right, len(rows), named


def score_clock(caption: str) -> tuple[int, int, int]:
    right = wrong = 0
    for start, _, text in stated_lines(caption):
        if match := re.search(r"00:00:(\d\d):(\d\d)", text):
            right_time = abs(int(match[1]) + int(match[2]) / 25 - start) <= 0.1
            right, wrong = right + right_time, wrong + (not right_time)
    return right, wrong, int("1024 x 768 25 fps Photo JPEG 75%" in caption)


class Counted:
    """A detector that counts the pictures that it is shown."""

    def __init__(self, detector: Detector, planned: int = 0) -> None:
        self.detector, self.planned, self.shown = detector, planned, 0

    def detect(self, image: Any, least: float) -> list[Detection]:
        self.shown += 3 if self.detector.squares else 1
        return self.detector.detect(image, least)


def spread(span: Span, count: int) -> tuple[float, ...]:
    step = (span.length - 0.05) / (count - 1)
    return tuple(round(k * step, 3) for k in range(count))


def measure(work: Callable[[], CaptionRun]) -> tuple[CaptionRun, float]:
    start = time.process_time()
    done = work()
    return done, time.process_time() - start


def bottles(data: Path, only: str = "") -> list[Row]:
    path = data / "bottle-detection.mp4"
    span = Span(0, probe(path).duration)
    whole, squares = Detector(squares=False), Detector()
    whole.detect(np.zeros((8, 8, 3), np.uint8), 0.5)
    squares.detect(np.zeros((8, 8, 3), np.uint8), 0.5)
    rows = []

    def tools(detector: Any, coarse: tuple[float, ...] = ()) -> Tools:
        scene = Scene(recording="b", name=path.name, span=span, coarse=coarse)
        return Tools(scene, file_frames(path), path=path, detector=detector)

    def row(way: str, detector: Counted, work: Callable[[], CaptionRun]) -> None:
        if only not in f"{way} {detector.planned}":
            return
        done, cpu = measure(work)
        rows.append(Row("bottles", way, detector.shown, *score_bottles(done.caption), cpu))

    for count in (9, 18, 36, 54, 90, 128):
        counted = Counted(whole, count)
        name = "single pass, 1 in 5 s" if count == 9 else "uniform, whole picture"
        row(name, counted, lambda s=counted, n=count: asyncio.run(
            caption_once(tools(s, spread(span, n)), EmbeddedBackend())))  # fmt: skip
    for count in (9, 18, 30, 43):
        counted = Counted(squares, 3 * count)
        row("uniform, and squares", counted, lambda s=counted, n=count: asyncio.run(
            caption_once(tools(s, spread(span, n)), EmbeddedBackend())))  # fmt: skip
    for frames in (0, 18, 36, 54, 72, 128):
        counted = Counted(whole)
        budget = CaptionBudget(frames=frames, looks=12 if frames else 0)
        name = f"active, {frames} extra" if frames else "asking again, no look"
        row(name, counted, lambda s=counted, b=budget: asyncio.run(
            caption_actively(tools(s), EmbeddedBackend(), budget=b)))  # fmt: skip
    return rows


def clock(data: Path, only: str = "") -> list[Row]:
    path = data / "burnt_in_timecode_16s.mp4"
    span = Span(0, probe(path).duration)
    reader = ScreenText()
    reader.read(np.zeros((64, 64, 3), np.uint8))
    rows = []
    for way, active, looks in (
        ("single pass, 1 in 5 s", False, 0),
        ("asking again, no look", True, 0),
        ("active", True, 12),
    ):
        scene = Scene(recording="c", name=path.name, span=span)
        tools = Tools(scene, file_frames(path), path=path, reader=reader)
        backend = EmbeddedBackend()
        work = (
            caption_actively(tools, backend, budget=CaptionBudget(looks=looks))
            if active
            else caption_once(tools, backend)
        )
        done, cpu = measure(lambda w=work: asyncio.run(w))
        right, wrong, title = score_clock(done.caption)
        used = min(3, len(done.log.scene.coarse)) + done.state.pictures
        rows.append(Row("clock", way, used, right, wrong, title, cpu))
    return rows


class Made:
    """A scripted model over `facts`, of which the coarse view shows every second one."""

    name = "scripted"

    def __init__(self, facts: int, lies: int, *, denser: bool = False) -> None:
        self.facts = [f"thing{k} stands at place{k}" for k in range(facts)]
        facts_shown = self.facts if denser else self.facts[::2]
        self.shown = set(facts_shown)
        self.claims = [*facts_shown, *(f"ghost{k} stands at place{k}" for k in range(lies))]
        random.Random(0).shuffle(self.claims)

    def _line(self, text: str, *evidence: str) -> CaptionLine:
        return CaptionLine(span=Span(0, 60), text=text, claims=(text,), evidence=(evidence,))

    async def draft(self, tools: Tools, coarse: Sequence[Frame], *, split: bool = True) -> Drafted:
        return Drafted(lines=tuple(self._line(c) for c in self.claims))

    async def diagnose(
        self, tools: Tools, coarse: Sequence[Frame], state: CaptionState
    ) -> Diagnosed:
        new = [c for c in state.claims if c.standing is ClaimStatus.UNSUPPORTED]
        new = [c for c in new if c.text in self.shown] if state.round == 0 else []
        ids = state.fresh(len(new))
        findings = tuple(
            Finding(id=i, tool="check", span=Span(0, 60), text=c.text, conclusive=True)
            for i, c in zip(ids, new, strict=True)
        )
        verdicts = tuple(
            ClaimVerdict(claim=c.id, stance="supports", evidence=(i,))
            for i, c in zip(ids, new, strict=True)
        )
        claims = {c.text for c in state.claims}
        gaps = tuple(
            CaptionGap(id="", kind="observation", concern="omission", change=fact, priority=0.5,
                look=Crop(start=k, end=k))
            for k, fact in enumerate(self.facts) if fact not in claims
        )  # fmt: skip
        return Diagnosed(findings=findings, verdicts=verdicts, gaps=gaps)

    async def read(
        self,
        tools: Tools,
        state: CaptionState,
        gap: CaptionGap,
        look: Inspection,
        result: InspectionResult,
    ) -> Inspected:
        (id,) = state.fresh(1)
        finding = Finding(id=id, tool="crop", span=look.span, text=gap.change, conclusive=True)
        return Inspected(gap=gap.id, look=look, findings=(finding,))

    async def revise(self, tools: Tools, coarse: Sequence[Frame], state: CaptionState) -> Revised:
        kept = [self._line(c.text) for c in state.claims]
        new = [self._line(f.text, f.id) for f in state.findings if f.tool == "crop"]
        return Revised(lines=(*kept, *new))


def scripted(data: Path, only: str = "") -> list[Row]:
    def source(times: Sequence[float], side: int | None) -> list[Frame]:
        return [Frame(t, t, np.zeros((8, 8, 3), np.uint8)) for t in times]

    rows = []
    for way, active, looks in (
        ("single pass", False, 0),
        ("asking again, no look", True, 0),
        ("active, 4 looks", True, 4),
        ("active, 8 looks", True, 8),
        ("active, 12 looks", True, 12),
    ):
        tools = Tools(Scene(recording="s", name="s", span=Span(0, 60)), source)
        backend = Made(24, 3)
        work = (
            caption_actively(tools, backend, budget=CaptionBudget(looks=looks))
            if active
            else caption_once(tools, backend)
        )
        done, cpu = measure(lambda w=work: asyncio.run(w))
        texts = [text for *_, text in stated_lines(done.caption)]
        right = len({t for t in texts if t in backend.facts})
        wrong = sum("ghost" in t for t in texts)
        used = len(done.log.scene.coarse) + done.state.pictures
        rows.append(Row("scripted", way, used, right, wrong, len(texts), cpu))
    return rows


PARTS: dict[str, Callable[[Path, str], list[Row]]] = {
    "bottles": bottles,
    "clock": clock,
    "scripted": scripted,
}
COLUMNS = {
    "bottles": ("of 8 placed", "false", "of 3 named"),
    "clock": ("times right", "false", "title read"),
    "scripted": ("of 24 told", "false", "lines"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("data", type=Path)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--way", default="", help="only ways of bottles that hold this text")
    parser.add_argument("--only", choices=PARTS, action="append")
    given = parser.parse_args()
    rows: list[Row] = []
    for name in given.only or PARTS:
        right, wrong, named = COLUMNS[name]
        print(f"{name:<26} frames {right:>12} {wrong:>6} {named:>11}   CPU s")
        for row in PARTS[name](given.data, given.way):
            print(f"  {row.way:<24} {row.frames:6} {row.right:12} {row.wrong:6} {row.named:11} "
                  f"{row.cpu:7.1f}")  # fmt: skip
            rows.append(row)
    if given.json:
        given.json.write_text(json.dumps([vars(row) for row in rows], indent=1))


if __name__ == "__main__":
    main()
