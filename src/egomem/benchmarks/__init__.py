"""Benchmarks: files in, questions and videos out.

benchmark = load("capmem/")
for fault in validate(benchmark): print(fault)
print(stats(benchmark))
"""

from egomem.benchmarks.benchmark import Benchmark, BenchmarkFault
from egomem.benchmarks.checks import validate
from egomem.benchmarks.demo import demo
from egomem.benchmarks.format import BenchmarkFormat, FormatField, ReadOptions, Submission
from egomem.benchmarks.formats.native import write
from egomem.benchmarks.load import load
from egomem.benchmarks.manifest import manifest, question_hash
from egomem.benchmarks.open import open_benchmark
from egomem.benchmarks.registry import FORMATS, published_sizes, submission_readers
from egomem.benchmarks.shuffle import shuffle_options
from egomem.benchmarks.statistics import BenchmarkStats, Distribution, stats
from egomem.benchmarks.submission import write_submission

__all__ = [
    "FORMATS",
    "Benchmark",
    "BenchmarkFault",
    "BenchmarkFormat",
    "BenchmarkStats",
    "Distribution",
    "FormatField",
    "ReadOptions",
    "Submission",
    "demo",
    "load",
    "manifest",
    "open_benchmark",
    "published_sizes",
    "question_hash",
    "shuffle_options",
    "stats",
    "submission_readers",
    "validate",
    "write",
    "write_submission",
]
