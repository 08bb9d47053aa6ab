"""The demo protocol: questions of our own over the demo's recordings, no model needed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from egomem import benchmarks
from egomem.api import open_memory
from egomem.benchmarks import Benchmark
from egomem.demo import demo_day
from egomem.ingest import OnStep

WINDOW, FPS = 5.0, 2.5
"""How `egomem demo` watches its short recordings."""


async def prepare(
    folder: Path,
    *,
    on_note: Callable[[str], None] = lambda line: None,
    on_step: OnStep = lambda step: None,
) -> tuple[Benchmark, Path]:
    """Fetch and ingest the recordings where that is not done; the questions and the memory.

    `folder` may be that of `egomem demo`. Raises WeightsError where something cannot be fetched.
    """
    day = demo_day(folder / "recordings", on_note)
    with open_memory(folder / "memory", create=True) as memory:
        for clip in day:
            report = await memory.aingest(
                clip.path, window=WINDOW, fps=FPS, start=clip.start, on_step=on_step
            )
            for fault in report.outcomes[0].faults:
                on_note(fault)
    return benchmarks.demo().with_media(folder / "recordings"), folder / "memory"
