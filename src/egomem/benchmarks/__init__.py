"""Benchmarks: files in, questions and videos out.

benchmark = load("capmem/")
for fault in validate(benchmark): print(fault)
print(stats(benchmark))
"""

from egomem.benchmarks.benchmark import Benchmark, BenchmarkFault
from egomem.benchmarks.checks import validate
from egomem.benchmarks.demo import demo
from egomem.benchmarks.formats.native import write
from egomem.benchmarks.load import FORMATS, Format, load
from egomem.benchmarks.manifest import manifest, question_hash
from egomem.benchmarks.shuffle import shuffle_options
from egomem.benchmarks.statistics import BenchmarkStats, Distribution, stats

__all__ = [
    "FORMATS",
    "Benchmark",
    "BenchmarkFault",
    "BenchmarkStats",
    "Distribution",
    "Format",
    "demo",
    "load",
    "manifest",
    "question_hash",
    "shuffle_options",
    "stats",
    "validate",
    "write",
]
