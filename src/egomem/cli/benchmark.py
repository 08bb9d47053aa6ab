"""`egomem benchmark validate | stats | manifest`"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from egomem.cli.benchmark_options import (
    DayOption,
    FormatOption,
    FrameOption,
    KeepOption,
    ZoneOption,
    dropped_rows,
)
from egomem.cli.lazy_help import LazyHelpCommand
from egomem.cli.options import JsonOption
from egomem.cli.output import print_result

if TYPE_CHECKING:
    from rich.console import Console

    from egomem.benchmarks import BenchmarkFault, Distribution

benchmark = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    help="Check and describe a benchmark's questions and videos.",
)

WhereArgument = Annotated[
    str, typer.Argument(metavar="DIR", help="A folder or file of questions, or 'demo' for ours.")
]
MediaOption = Annotated[
    Path | None, typer.Option("--media", metavar="DIR", help="A folder that holds the videos.")
]


@benchmark.command(cls=LazyHelpCommand)
def validate(
    where: WhereArgument,
    format: FormatOption = None,
    media: MediaOption = None,
    hash: Annotated[
        bool, typer.Option("--hash", help="Read the videos and compare their SHA-256.")
    ] = False,
    zone: ZoneOption = None,
    day_one: DayOption = None,
    frame_base: FrameOption = None,
    json: JsonOption = False,
) -> None:
    """Check options, keys, evidence, times, media, licence notes and ids.

    Times are compared with the length of the video files that are there. Each fault names its row;
    the other rows load. Exit code 1 if there is any fault, 3 if no question is left.
    """
    from egomem.benchmarks import open_benchmark
    from egomem.benchmarks import validate as find_faults
    from egomem.media import probe
    from egomem.text import plural

    questions = open_benchmark(
        where, format, media=media, zone=zone, day_one=day_one, frame_base=frame_base
    )
    faults = find_faults(questions, hash_media=hash, length_of=lambda path: probe(path).duration)

    def show(out: Console) -> None:
        counts = (
            f"{plural(len(questions.questions), 'question')} about "
            f"{plural(len(questions.videos), 'video')}; {plural(len(faults), 'fault')}, "
            f"{plural(questions.left_out, 'row')} left out"
        )
        out.print(f"{questions.name} ({questions.format}): {counts}")

    result = {
        "name": questions.name,
        "format": questions.format,
        "questions": len(questions.questions),
        "videos": len(questions.videos),
        "faults": [fault.model_dump() for fault in faults],
    }
    problems = [(str(fault), _consequence(fault)) for fault in faults]
    print_result(
        "benchmark validate",
        result,
        show=show,
        json=json,
        problems=problems,
        nothing=not questions.questions,
    )


@benchmark.command(cls=LazyHelpCommand)
def stats(
    where: WhereArgument,
    format: FormatOption = None,
    media: MediaOption = None,
    plots: Annotated[
        Path | None, typer.Option("--plots", metavar="DIR", help="Draw plots into this folder.")
    ] = None,
    zone: ZoneOption = None,
    day_one: DayOption = None,
    frame_base: FrameOption = None,
    keep_faulty: KeepOption = False,
    json: JsonOption = False,
) -> None:
    """Count durations, evidence, gaps, tags, sources and keys.

    With --media, a video without a stated length has that of its file.
    """
    from egomem.benchmarks import open_benchmark, published_sizes
    from egomem.benchmarks import stats as count
    from egomem.evaluate.durations import video_durations

    questions = open_benchmark(
        where, format, media=media, strict=not keep_faulty, zone=zone, day_one=day_one,
        frame_base=frame_base,
    )  # fmt: skip
    questions = questions.with_lengths(video_durations(questions.videos))
    counted, published = count(questions), published_sizes(questions)
    drawn: list[Path] = []
    if plots is not None:
        from egomem.benchmarks.plots import draw_plots

        drawn = draw_plots(questions, plots)

    def show(out: Console) -> None:
        out.print(f"{questions.name} ({questions.format})")
        dropped = dropped_rows(questions)
        out.print(f"questions {counted.questions}, videos {counted.videos}{dropped}")
        if published:
            out.print(f"{'published n':22}{_listed(published)}")
        for label, values, unit in (
            ("length of video", counted.durations, " s"),
            ("pieces of evidence", counted.evidence_count, ""),
            ("length of evidence", counted.evidence_length, " s"),
            ("start of evidence", counted.evidence_position, " of the video"),
            ("evidence to question", counted.gaps, " s"),
        ):
            out.print(f"{label:22}{_format_distribution(values, unit)}")
        groups = {
            "options": counted.options,
            "position of key": counted.keys,
            "answerable": counted.answerable,
            "videos by source": counted.videos_by_source,
            **counted.counts,
        }
        for name, counts in groups.items():
            out.print(f"{name:22}{_listed(counts) or 'not stated'}")
        for path in drawn:
            out.print(f"{'plot':22}{path}")

    result = {
        "name": questions.name,
        **counted.model_dump(),
        "published": published,
        "left_out": questions.left_out,
        "plots": [str(path) for path in drawn],
    }
    print_result("benchmark stats", result, show=show, json=json)


@benchmark.command(cls=LazyHelpCommand)
def manifest(
    where: WhereArgument,
    format: FormatOption = None,
    media: MediaOption = None,
    zone: ZoneOption = None,
    day_one: DayOption = None,
    frame_base: FrameOption = None,
    keep_faulty: KeepOption = False,
    json: JsonOption = False,
) -> None:
    """Print each video's source, licence and SHA-256; the media itself is never passed on.

    With --media, the files of videos without a stated hash are read.
    """
    from egomem.benchmarks import manifest as describe
    from egomem.benchmarks import open_benchmark
    from egomem.text import plural

    questions = open_benchmark(
        where, format, media=media, strict=not keep_faulty, zone=zone, day_one=day_one,
        frame_base=frame_base,
    )  # fmt: skip
    described = describe(questions, hash_media=media is not None)

    def show(out: Console) -> None:
        licence = described["licence"] or "no licence is stated"
        count = plural(described["questions"], "question")
        out.print(f"{described['name']}: {count}, {licence}{dropped_rows(questions)}")
        for video in described["videos"]:
            source = f"{video['source_dataset']} {video['source_uid']}".strip() or "not stated"
            out.print(f"{video['id']}  {video['sha256'] or 'no hash'}  {source}")

    print_result("benchmark manifest", described, show=show, json=json)


def _consequence(fault: BenchmarkFault) -> str:
    if not fault.dropped:
        return ""
    return "the file is left out" if fault.line is None else "the row is left out"


def _listed(counts: dict[str, int]) -> str:
    return ", ".join(f"{label} {n}" for label, n in counts.items())


def _format_distribution(values: Distribution, unit: str) -> str:
    if not values.n:
        return "not stated"
    return (
        f"n {values.n}, from {values.least:.4g} to {values.most:.4g}{unit}, "
        f"median {values.median:.4g}, mean {values.mean:.4g}"
    )
