"""A benchmark of our own over the recordings of `egomem demo`, to try things on.

The questions were written by looking at the frames and listening. The recordings are not here:
`egomem.demo.demo_day` fetches them, and `Benchmark.with_media` joins the two.
"""

from __future__ import annotations

from pathlib import Path

from egomem.benchmarks.benchmark import Benchmark
from egomem.benchmarks.load import load

FOLDER = Path(__file__).parent


def demo() -> Benchmark:
    """The questions about the demo's recordings; ids of videos are the recordings' file names."""
    return load(FOLDER)
