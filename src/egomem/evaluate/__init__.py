"""Evaluation: plan, run, resume, merge, rescore, report.

benchmark = egomem.benchmarks.load("capmem/", media=Path("videos/"))
config = Config(settings=("clean", "video", "caption@30"), readers=("ollama:qwen3-vl:8b",))
async with opened(benchmark, config, Path("run")) as work:
    print(plan(work))
    outcome = await run(work)
"""

from egomem.evaluate.config import Column, Config, Shard
from egomem.evaluate.gate import Gate
from egomem.evaluate.load import Loaded, load_run
from egomem.evaluate.merge import merge
from egomem.evaluate.outcome import Outcome, Progress
from egomem.evaluate.plan import Part, Plan, plan
from egomem.evaluate.rescore import Rescored, rescore
from egomem.evaluate.results import Finished, Results
from egomem.evaluate.run import run
from egomem.evaluate.standing import Standing, State, Track, status
from egomem.evaluate.ways import Way, read_way, read_ways
from egomem.evaluate.work import Work, opened

__all__ = [
    "Column",
    "Config",
    "Finished",
    "Gate",
    "Loaded",
    "Outcome",
    "Part",
    "Plan",
    "Progress",
    "Rescored",
    "Results",
    "Shard",
    "Standing",
    "State",
    "Track",
    "Way",
    "Work",
    "load_run",
    "merge",
    "opened",
    "plan",
    "read_way",
    "read_ways",
    "rescore",
    "run",
    "status",
]
