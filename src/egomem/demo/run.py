"""The demo from end to end: recordings in, questions asked, answers compared with the truth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from egomem.api import open_memory
from egomem.demo.day import Clip, demo_day
from egomem.demo.questions import QUESTIONS, DemoQuestion, is_right
from egomem.records import Answer

if TYPE_CHECKING:
    from egomem.ingest import Step

WINDOW = 5.0
"""Seconds. The recordings are short, so the usual window would hold a whole one."""
FPS = 2.5


@dataclass(frozen=True)
class DemoResult:
    """One answer and whether it is right for each question; `faults` are (what, remedy) of clips.

    `names`: recording id -> file name.
    """

    clips: tuple[Clip, ...]
    questions: tuple[DemoQuestion, ...]
    answers: tuple[Answer, ...]
    right: tuple[bool, ...]
    names: dict[str, str]
    faults: tuple[tuple[str, str], ...]


def run_demo(
    folder: Path, on_note: Callable[[str], None], on_step: Callable[[Step], None]
) -> DemoResult:
    """Ingest the demo's day into `folder` and ask its questions without a model.

    Raises MissingExtraError or WeightsError where the recordings cannot be had.
    """
    clips = demo_day(folder / "recordings", on_note)
    faults: list[tuple[str, str]] = []
    with open_memory(folder / "memory", create=True) as memory:
        for clip in clips:
            outcome = memory.ingest(
                clip.path,
                window=WINDOW,
                fps=FPS,
                start=clip.start,
                on_note=on_note,
                on_step=on_step,
            ).outcomes[0]
            faults += [(fault, outcome.remedy) for fault in outcome.faults]
        names = memory.names()
        answers = [memory.ask(q.text, options=q.options) for q in QUESTIONS]
    return DemoResult(
        clips=tuple(clips),
        questions=tuple(QUESTIONS),
        answers=tuple(answers),
        right=tuple(is_right(q, a, names) for q, a in zip(QUESTIONS, answers, strict=True)),
        names=names,
        faults=tuple(faults),
    )
