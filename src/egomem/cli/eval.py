"""`egomem eval capmem | demo | status | rescore | export | merge | lmms-tasks`"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from egomem.cli.benchmark_options import (
    DayOption,
    FormatOption,
    FrameOption,
    KeepOption,
    ZoneOption,
)
from egomem.cli.lazy_help import LazyHelpCommand
from egomem.cli.options import FitOption, JsonOption
from egomem.cli.output import make_table, print_result
from egomem.timeline import MAX_FRAMES

if TYPE_CHECKING:
    from rich.console import Console

eval = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    help="Measure memories and models on a benchmark; see also: egomem report.",
)

OutOption = Annotated[
    Path,
    typer.Option(
        "--out", metavar="RUN", help="The run's folder; a run that is there is continued."
    ),
]
RunArgument = Annotated[Path, typer.Argument(metavar="RUN", help="The run's folder.")]
ModelOption = Annotated[
    list[str] | None,
    typer.Option(
        "--model",
        metavar="ROLE=SPEC[,SPEC]",
        help="reader=A,B,C, captioner=A or verifier=A. Without a captioner, each reader reads "
        "captions of its own. Repeatable.",
    ),
]
BudgetOption = Annotated[
    float | None,
    typer.Option(
        min=0,
        metavar="USD",
        help="Maximum cost of captions and answers in US dollars, earlier calls included.",
    ),
]
RequestsOption = Annotated[
    int | None,
    typer.Option(min=0, metavar="N", help="Maximum number of requests, earlier calls included."),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="STRATEGY.NAME=VALUE",
        help="A setting of a strategy: verify.second_look=true. Repeatable.",
    ),
]
RequestLimitOption = Annotated[
    list[str] | None,
    typer.Option(
        "--request-limit",
        metavar="ROLE.NAME=N",
        help="What a server takes in one request: captioner.images=8 shows it 8 frames of a "
        "window, evenly spread. Also reader and verifier; side, bytes. Repeatable.",
    ),
]
CaptionTokensOption = Annotated[
    int | None,
    typer.Option(
        min=1, help="Maximum tokens per caption, reasoning included (default {caption_tokens})."
    ),
]
LimitOption = Annotated[int | None, typer.Option(min=1, help="Ask only the first N questions.")]
PlanOption = Annotated[bool, typer.Option("--plan", help="Print the plan, and run nothing.")]


@eval.command(cls=LazyHelpCommand)
def capmem(
    data: Annotated[Path, typer.Option("--data", metavar="DIR", help="The questions.")],
    out: OutOption,
    settings: Annotated[
        str,
        typer.Option(
            help="Conditions, separated by commas: a strategy ({strategies}), with the window of "
            "its captions in seconds (caption@30), aligned@30, or with the evidence alone "
            "(caption@evidence)."
        ),
    ] = "clean,video,caption@30,caption@60",
    model: ModelOption = None,
    cross: Annotated[
        bool, typer.Option("--cross", help="Give every reader the captions of every captioner.")
    ] = False,
    media: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder of the videos, named by file name or id."),
    ] = None,
    memory: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Read the captions of this memory instead of making new ones."
        ),
    ] = None,
    track: Annotated[
        str | None, typer.Option(help="The caption track to read from that memory.")
    ] = None,
    format: FormatOption = None,
    zone: ZoneOption = None,
    day_one: DayOption = None,
    frame_base: FrameOption = 20,
    keep_faulty: KeepOption = False,
    frames: Annotated[
        int | None,
        typer.Option(min=1, help=f"Maximum frames of a direct request (default {MAX_FRAMES})."),
    ] = None,
    frame_limit: Annotated[
        list[str] | None,
        typer.Option(metavar="MODEL=N", help="Maximum frames per request of a model. Repeatable."),
    ] = None,
    side: Annotated[
        int | None, typer.Option(min=1, help="Longest side of a frame in pixels (default 512).")
    ] = None,
    fps: Annotated[
        float | None, typer.Option(min=0.001, help="Frames per second to look at (default 1).")
    ] = None,
    reply: Annotated[
        str | None,
        typer.Option(help="What a reader replies with: letter (default), scores or logprobs."),
    ] = None,
    abstain: Annotated[
        bool, typer.Option("--abstain", help="Readers may answer that it cannot be determined.")
    ] = False,
    max_tokens: Annotated[
        int | None,
        typer.Option(min=1, help="Maximum tokens per reply, reasoning included (default 2048)."),
    ] = None,
    caption_tokens: CaptionTokensOption = None,
    request_limit: RequestLimitOption = None,
    fit: FitOption = None,
    gate: Annotated[
        str | None,
        typer.Option(
            help="What to do with a reader whose accuracy on clean is outside 15-35 %: "
            "stop (default), or report and continue."
        ),
    ] = None,
    gate_low: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="Lowest share that passes the gate (default 0.15)."),
    ] = None,
    gate_high: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="Highest share that passes the gate (default 0.35)."),
    ] = None,
    set_: SetOption = None,
    budget: BudgetOption = None,
    max_requests: RequestsOption = None,
    limit: LimitOption = None,
    shard: Annotated[
        str | None, typer.Option(metavar="I/N", help="Run part I of N, counting from 1.")
    ] = None,
    plan: PlanOption = False,
    json: JsonOption = False,
) -> None:
    """CapMem: can captions replace a video? Plans and runs; continues a run that was stopped.

    Stage 1 (bias gate) asks without the video; only readers scoring 15-35 % continue. Stage 2
    answers from frames, from captions, and from captions checked against frames.
    """
    from egomem.benchmarks import open_benchmark
    from egomem.cli.eval_run import run_evaluation
    from egomem.config import load_settings, model_table
    from egomem.evaluate.options import (
        frame_limits,
        make_config,
        models_given,
        read_shard,
        request_limits,
        split,
        strategy_settings,
    )

    config_settings = load_settings(
        model=model_table(model) if model else None, fit=fit, caption_tokens=caption_tokens
    )
    model_specs, limits_by_role = (
        config_settings.model,
        request_limits(request_limit or (), config_settings.limits),
    )
    roles = models_given(
        {k: v for k, v in model_specs.items() if v != "embedded"} if model_specs else {}
    )
    config = make_config(
        protocol="capmem",
        settings=split(settings),
        readers=roles.get("reader"),
        captioners=roles.get("captioner"),
        verifier=next(iter(roles.get("verifier", ())), None),
        cross=cross,
        format=reply,
        abstain=abstain,
        max_tokens=max_tokens,
        caption_tokens=config_settings.caption_tokens,
        given_limits=limits_by_role,
        fit=config_settings.fit,
        frames=frames,
        frame_limits=frame_limits(frame_limit or ()),
        side=side or limits_by_role.get("reader", {}).get("side"),
        fps=fps,
        gate=gate,
        gate_low=gate_low,
        gate_high=gate_high,
        strategies=strategy_settings(set_ or ()),
        track=track,
        limit=limit,
        shard=read_shard(shard) if shard else None,
    )
    benchmark = open_benchmark(
        str(data),
        format,
        media=media,
        strict=not keep_faulty,
        zone=zone,
        day_one=day_one,
        frame_base=frame_base,
    )
    limits = {"budget": budget, "max_requests": max_requests}
    run_evaluation(benchmark, config, out, memory=memory, limits=limits, only_plan=plan, json=json)


@eval.command()
def demo(
    folder: Annotated[
        Path, typer.Option("--folder", help="Where the recordings and the memory go.")
    ] = Path("demo-memory"),
    out: Annotated[
        Path | None, typer.Option("--out", metavar="RUN", help="Default: in that folder.")
    ] = None,
    settings: Annotated[
        str, typer.Option(help="Conditions, as for capmem; those that ask a model need --model.")
    ] = "extractive,extractive@evidence",
    model: ModelOption = None,
    fit: FitOption = None,
    set_: SetOption = None,
    budget: BudgetOption = None,
    max_requests: RequestsOption = None,
    limit: LimitOption = None,
    plan: PlanOption = False,
    json: JsonOption = False,
) -> None:
    """Ask our own questions about the demo's recordings; no model is needed."""
    from egomem.cli.eval_run import run_evaluation
    from egomem.cli.progress import ProgressDisplay
    from egomem.config import load_settings, model_table
    from egomem.evaluate.demo import prepare
    from egomem.evaluate.options import (
        make_config,
        models_given,
        request_limits,
        split,
        strategy_settings,
    )

    roles, config_settings = (
        models_given(model_table(model)) if model else {},
        load_settings(fit=fit),
    )
    config = make_config(
        protocol="demo", settings=split(settings), readers=roles.get("reader"), limit=limit,
        gate="report", strategies=strategy_settings(set_ or ()), fit=config_settings.fit,
        given_limits=request_limits((), config_settings.limits),
    )  # fmt: skip
    with ProgressDisplay(quiet=json) as progress:
        preparation = prepare(folder, on_note=progress.say, on_step=progress.step)
        benchmark, memory = asyncio.run(preparation)
    limits = {"budget": budget, "max_requests": max_requests}
    run = out or folder / "eval"
    run_evaluation(benchmark, config, run, memory=memory, limits=limits, only_plan=plan, json=json)


@eval.command()
def status(run: RunArgument, json: JsonOption = False) -> None:
    """Print whether a run is active, how far it is, and what it has cost."""
    from egomem.cli.eval_run import format_sent
    from egomem.evaluate import load_run
    from egomem.evaluate import status as standing
    from egomem.evaluate.bias_gate import bias_gates, gate_text
    from egomem.evaluate.run_reader import stale_text
    from egomem.text import plural

    loaded = load_run(run)
    progress = standing(loaded)
    gates = bias_gates(loaded.questions, loaded.config, loaded.cells)

    def show(out: Console) -> None:
        from rich.text import Text

        state = ": ".join(part for part in (progress.state, progress.who, progress.why) if part)
        counts_text = f"{progress.done} of {plural(progress.total, 'cell')} finished"
        if progress.errors:
            retry = "run the same command to retry them"
            counts_text += f", {progress.errors} ended in an error ({retry})"
        if progress.held_back:
            counts_text += f", {progress.held_back} held back by the gate"
        out.print(f"{state}; {counts_text}")
        if progress.stale:
            out.print(stale_text(loaded))
        for track in progress.captions:
            failures = ", ".join(f"{n} {status}" for status, n in sorted(track.without.items()))
            failures = f", none of {failures}" if failures else ""
            out.print(f"captions {track.track}: {track.done} / {track.total}{failures}")
        table = make_table("setting", "finished", "by status", box=None)
        for row in progress.columns:
            counts = ", ".join(f"{n} {s}" for s, n in sorted(row.by_status.items()))
            cells = (row.column.label, f"{row.done} / {row.total}", counts)
            table.add_row(*(Text(cell) for cell in cells))
        out.print(table)
        for gate in gates:
            out.print(f"gate of {gate.reader}: {gate_text(gate, loaded.config)}")
        if progress.spent.requests:
            out.print(f"sent: {format_sent(progress.spent, progress.unpriced)}")
        if progress.unreadable_lines:
            out.print(
                f"{plural(len(progress.unreadable_lines), 'line')} of the answers cannot be read"
            )
        if progress.unmeasured:
            out.print(f"the usage of {plural(progress.unmeasured, 'answer')} is not known")

    body = progress.model_dump(mode="json") | {
        "config_hash": loaded.about.get("config_hash"),
        "gates": [gate.model_dump(mode="json") for gate in gates],
    }
    print_result("eval status", body, show=show, json=json)


@eval.command()
def rescore(run: RunArgument, json: JsonOption = False) -> None:
    """Parse the stored replies again with the current parser. No request is sent."""
    from egomem.cli.progress import ProgressDisplay
    from egomem.evaluate import rescore as again
    from egomem.text import plural

    rescored = again(run, on_note=ProgressDisplay(quiet=json).say)

    def show(out: Console) -> None:
        for question, column, before, after in rescored.changed:
            out.print(f"{question}  {column}: {before} -> {after}")
        out.print(
            f"{plural(rescored.read, 'reply', 'replies')} read again, "
            f"{plural(len(rescored.changed), 'answer')} changed, "
            f"{rescored.kept} without a reply to read"
        )
        for reader, before, after in rescored.gates:
            out.print(f"the gate of {reader} {after}; before: {before}")

    print_result("eval rescore", rescored.model_dump(mode="json"), show=show, json=json)


@eval.command()
def export(run: RunArgument, json: JsonOption = False) -> None:
    """Write answers.jsonl and usage.jsonl from the run's record, also while the run goes on."""
    from egomem.evaluate import export_run
    from egomem.text import plural

    paths, count = export_run(run)

    def show(out: Console) -> None:
        out.print(f"{plural(count, 'answer')} in {' and '.join(str(path) for path in paths)}")

    body = {"answers": count, "files": [str(path) for path in paths]}
    print_result("eval export", body, show=show, json=json)


@eval.command()
def merge(
    out: Annotated[Path, typer.Argument(metavar="OUT", help="A new folder for the whole run.")],
    shards: Annotated[list[Path], typer.Argument(metavar="SHARD...", help="Every shard's folder.")],
    json: JsonOption = False,
) -> None:
    """Join the shards of one run. Missing or duplicate cells are listed, and nothing is written."""
    from egomem.evaluate import load_run
    from egomem.evaluate import merge as join
    from egomem.text import plural

    count = join(out, shards)
    errors = sum(cell.failed for cell in load_run(out).cells.values())
    remedy = f"the same command with --out {out} and without --shard retries them"
    what = f"{errors} of {plural(count, 'cell')} ended in an error"
    print_result(
        "eval merge",
        {"cells": count, "errors": errors, "run": str(out)},
        show=lambda console: console.print(f"{plural(count, 'cell')} in {out}"),
        json=json,
        problems=[(what, remedy)] if errors else [],
    )


@eval.command("lmms-tasks")
def lmms_tasks(json: JsonOption = False) -> None:
    """Print the folder of our lmms-eval tasks, for its --include_path."""
    from egomem.integrations.lmms_eval import FOLDER

    folder = str(FOLDER)
    print_result(
        "eval lmms-tasks", {"folder": folder}, show=lambda out: out.print(folder), json=json
    )
