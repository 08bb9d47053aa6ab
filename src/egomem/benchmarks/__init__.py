"""Benchmarks: files in, questions and videos out.

benchmark = load("capmem/")
for fault in validate(benchmark): print(fault)
print(stats(benchmark))
"""

from egomem.benchmarks.benchmark import Benchmark, Fault
from egomem.benchmarks.checks import validate
from egomem.benchmarks.demo import demo
from egomem.benchmarks.load import FORMATS, Format, load
from egomem.benchmarks.manifest import fingerprint, manifest
from egomem.benchmarks.native import write
from egomem.benchmarks.shuffle import shuffled
from egomem.benchmarks.tables import Spread, Stats, stats

__all__ = [
    "FORMATS",
    "Benchmark",
    "Fault",
    "Format",
    "Spread",
    "Stats",
    "demo",
    "fingerprint",
    "load",
    "manifest",
    "shuffled",
    "stats",
    "validate",
    "write",
]
