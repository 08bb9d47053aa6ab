"""`egomem eval`: the group, and its protocols `capmem | demo`; see also `eval_manage`."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from egomem.cli import eval_manage
from egomem.cli.benchmark_options import (
    DayOption,
    FormatOption,
    FrameOption,
    KeepOption,
    ZoneOption,
)
from egomem.cli.lazy_help import LazyHelpCommand
from egomem.cli.options import FitOption, JsonOption
from egomem.defaults import MAX_DIRECT_FRAMES, MAX_FRAMES

if TYPE_CHECKING:
    pass

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
            "its captions in seconds (caption@30), aligned@30, with one of the whole video "
            "(caption@whole), or with the evidence alone (caption@evidence)."
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
    frame_base: FrameOption = None,
    keep_faulty: KeepOption = False,
    frames: Annotated[
        int | None,
        typer.Option(min=1, help=f"Maximum frames of a direct request (default {MAX_FRAMES})."),
    ] = None,
    frame_limit: Annotated[
        list[str] | None,
        typer.Option(metavar="MODEL=N", help="Maximum frames per request of a model. Repeatable."),
    ] = None,
    whole_frames: Annotated[
        int | None,
        typer.Option(
            min=1,
            help=f"Maximum frames of a caption of a whole video (default {MAX_DIRECT_FRAMES}).",
        ),
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
    cite: Annotated[
        bool,
        typer.Option(
            "--cite/--no-cite",
            help="Ask readers for the evidence of an answer, too; without, the letter form asks "
            "for the letter alone, as CapMem does.",
        ),
    ] = True,
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
    shuffle_options: Annotated[
        int | None,
        typer.Option(
            metavar="SEED", help="Give each question's options other letters, by this seed."
        ),
    ] = None,
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
        cite=cite,
        max_tokens=max_tokens,
        caption_tokens=config_settings.caption_tokens,
        given_limits=limits_by_role,
        fit=config_settings.fit,
        frames=frames,
        frame_limits=frame_limits(frame_limit or ()),
        whole_frames=whole_frames,
        side=side or limits_by_role.get("reader", {}).get("side"),
        fps=fps,
        gate=gate,
        gate_low=gate_low,
        gate_high=gate_high,
        strategies=strategy_settings(set_ or ()),
        track=track,
        shuffle_options=shuffle_options,
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


for command in (
    eval_manage.status,
    eval_manage.rescore,
    eval_manage.export,
    eval_manage.merge,
    eval_manage.lmms_tasks,
):
    eval.command()(command)
