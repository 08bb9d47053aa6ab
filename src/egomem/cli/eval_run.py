"""What `egomem eval PROTOCOL` does once its options are read: plan, run, print both."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from egomem.cli.output import format_usage, print_result
from egomem.cli.terminal import make_console

if TYPE_CHECKING:
    from rich.console import Console

    from egomem.benchmarks import Benchmark
    from egomem.evaluate import Config, RunPlan, RunSummary
    from egomem.records import Usage


def run_evaluation(
    benchmark: Benchmark,
    config: Config,
    out: Path,
    *,
    memory: Path | None,
    limits: Mapping[str, Any],
    only_plan: bool,
    json: bool,
) -> None:
    """Plan, run, and print both."""
    from egomem.cli.progress import ProgressDisplay
    from egomem.config import load_settings
    from egomem.evaluate import opened, plan, run
    from egomem.evaluate.run_problems import run_problems
    from egomem.models import RequestPolicy
    from egomem.text import plural

    user_settings = load_settings()
    policy = RequestPolicy(deadline=user_settings.deadline, concurrency=user_settings.concurrency)

    async def whole() -> tuple[str, RunPlan, RunSummary | None]:
        with ProgressDisplay(quiet=json) as line:
            async with opened(
                benchmark,
                config,
                out,
                memory=memory,
                policy=policy,
                on_note=line.say,
                **limits,
            ) as open_run:
                planned = plan(open_run)
                if not json:
                    print_plan(planned)
                if only_plan:
                    return open_run.config.hash, planned, None
                summary = await run(
                    open_run,
                    command=["egomem", *sys.argv[1:]],
                    concurrency=user_settings.concurrency,
                    on_note=line.say,
                    on_progress=line.update,
                )
                return open_run.config.hash, planned, summary

    config_hash, planned, summary = asyncio.run(whole())
    result: dict[str, Any] = {
        "run": str(out),
        "config_hash": config_hash,
        "dropped_questions": benchmark.left_out,
        "plan": planned.model_dump(mode="json"),
        "outcome": summary.model_dump(mode="json") if summary else None,
    }
    problems = list(run_problems(summary, planned)) if summary else []

    def show(console: Console) -> None:
        if summary is None:
            return
        counts = ", ".join(f"{n} {s}" for s, n in sorted(summary.by_status.items()))
        console.print(
            f"{plural(summary.asked, 'cell')} answered, {summary.kept} kept, "
            f"in {summary.seconds:.1f} s: {counts}"
        )
        if summary.spent.requests:
            console.print(f"sent: {format_sent(summary.spent, summary.unpriced)}")
        if summary.spent_in_all.requests > summary.spent.requests:
            total = summary.spent_in_all
            console.print(f"sent by this run in all: {format_sent(total, total.without_price)}")
        console.print(f"run: {out}   report: egomem report {out}")

    print_result("eval", result, show=show, json=json, problems=problems)


def format_sent(usage: Usage, unpriced: int) -> str:
    """`64 requests, 9,000 tokens in, 64 out, 0 frames, price unknown`; a sum of money leaves out
    `unpriced` requests."""
    from egomem.text import plural

    without = "" if not unpriced else f" ({plural(unpriced, 'request')} without a known price)"
    without = without if usage.cost is not None else ", price unknown" if unpriced else ""
    return f"{plural(usage.requests, 'request')}, {format_usage(usage)}{without}"


def print_plan(plan: RunPlan) -> None:
    from egomem.evaluate.plan_text import plan_lines

    console = make_console(highlight=False, soft_wrap=True)
    for line in plan_lines(plan):
        console.print(line)
