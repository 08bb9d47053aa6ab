"""Evaluation: plan, run, resume, merge, rescore, report.

benchmark = egomem.benchmarks.load("capmem/", media=Path("videos/"))
config = Config(settings=("clean", "video", "caption@30"), readers=("ollama:qwen3-vl:8b",))
async with opened(benchmark, config, Path("run")) as open_run:
    print(plan(open_run))
    summary = await run(open_run)
"""

from egomem.evaluate.bias_gate import BiasGate
from egomem.evaluate.conditions import Condition, read_condition, read_conditions
from egomem.evaluate.config import Arm, Config, Shard
from egomem.evaluate.export import export_predictions, export_run
from egomem.evaluate.merge import merge
from egomem.evaluate.plan import PlanLine, RunPlan, plan
from egomem.evaluate.rescore import Rescored, rescore
from egomem.evaluate.run_folder import OpenRun, opened
from egomem.evaluate.run_reader import Run, load_run
from egomem.evaluate.run_summary import RunProgress, RunSummary
from egomem.evaluate.runner import run
from egomem.evaluate.status import ArmStatus, CaptionStatus, RunStatus, status
from egomem.evaluate.stored_run import Finished, StoredRun

__all__ = [
    "Arm",
    "ArmStatus",
    "BiasGate",
    "CaptionStatus",
    "Condition",
    "Config",
    "Finished",
    "OpenRun",
    "PlanLine",
    "Rescored",
    "Run",
    "RunPlan",
    "RunProgress",
    "RunStatus",
    "RunSummary",
    "Shard",
    "StoredRun",
    "export_predictions",
    "export_run",
    "load_run",
    "merge",
    "opened",
    "plan",
    "read_condition",
    "read_conditions",
    "rescore",
    "run",
    "status",
]
