"""The formats of benchmarks: egomem's own, and those of installed packages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from egomem.benchmarks.benchmark import Benchmark
from egomem.benchmarks.format import BenchmarkFormat
from egomem.plugins import Registry

FORMATS = Registry(
    "egomem.benchmarks",
    "format",
    BenchmarkFormat,
    {
        name: f"egomem.benchmarks.formats.{name}:FORMAT"
        for name in (
            "capmem", "egolifeqa", "egomemreason", "egoschema", "videomme", "nextgqa", "mvbench",
            "native",
        )
    },
)  # fmt: skip


def submission_readers() -> list[Callable[[Any], list[dict[str, Any]] | None]]:
    """What reads the entries of a file of answers, one for each format that has a form of its
    own."""
    submissions = (format.submission for format in FORMATS.all().values())
    return [s.read_entry for s in submissions if s is not None and s.read_entry is not None]


def published_sizes(benchmark: Benchmark) -> dict[str, int]:
    """Number of questions by split, as the authors of the benchmark's format state it; {} where
    they do not."""
    if benchmark.format not in FORMATS.names():
        return {}
    return dict(FORMATS.get(benchmark.format).published)
