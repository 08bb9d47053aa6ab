"""`egomem benchmark`: what is wrong with a benchmark, and what is in it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from egomem.cli.options import JsonOption
from egomem.cli.output import print_result

if TYPE_CHECKING:
    from rich.console import Console

    from egomem.benchmarks import Benchmark, BenchmarkFault, Distribution

benchmark = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    help="Check and describe a benchmark's questions and videos.",
)

Where = Annotated[
    str, typer.Argument(metavar="DIR", help="A folder or file of questions, or 'demo' for ours.")
]
FormatOption = Annotated[
    str | None, typer.Option("--format", help="The data set's format; default: told by its rows.")
]
MediaOption = Annotated[
    Path | None, typer.Option("--media", metavar="DIR", help="A folder that holds the videos.")
]
ZoneOption = Annotated[
    str | None, typer.Option("--zone", help="Where EgoLife was recorded: Asia/Shanghai.")
]
DayOption = Annotated[
    str | None, typer.Option("--day-one", metavar="DATE", help="The date of EgoLife's DAY1.")
]
FrameOption = Annotated[
    int,
    typer.Option("--frame-base", min=1, help="What the last two digits of EgoLife's times count."),
]
KeepOption = Annotated[
    bool,
    typer.Option(
        "--keep-faulty", help="Keep faulty rows that can be read, so that n is as published."
    ),
]


@benchmark.command()
def validate(
    where: Where,
    format: FormatOption = None,
    media: MediaOption = None,
    hash: Annotated[
        bool, typer.Option("--hash", help="Read the videos and compare their SHA-256.")
    ] = False,
    zone: ZoneOption = None,
    day_one: DayOption = None,
    frame_base: FrameOption = 20,
    json: JsonOption = False,
) -> None:
    """Check options, keys, evidence, times, media, licence notes and ids.

    Times are held against the videos' files where these are at hand. Every fault is named by id;
    rows without one load. Ends with 1 where there is any fault, and with 3 where no question is
    left.
    """
    from egomem.benchmarks import validate as check
    from egomem.media import probe

    held = read(where, format, media, zone, day_one, frame_base)
    faults = check(held, hash_media=hash, length_of=lambda path: probe(path).duration)

    def show(out: Console) -> None:
        out.print(
            f"{held.name} ({held.format}): {_many(len(held.questions), 'question')} about "
            f"{_many(len(held.videos), 'video')}; {_many(len(faults), 'fault')}, "
            f"{_many(held.left_out, 'row')} left out",
        )

    result = {
        "name": held.name,
        "format": held.format,
        "questions": len(held.questions),
        "videos": len(held.videos),
        "faults": [fault.model_dump() for fault in faults],
    }
    problems = [(str(fault), _left_out(fault)) for fault in faults]
    print_result("benchmark validate", result, show=show, json=json, problems=problems,
           nothing=not held.questions)  # fmt: skip


@benchmark.command()
def stats(
    where: Where,
    format: FormatOption = None,
    media: MediaOption = None,
    plots: Annotated[
        Path | None, typer.Option("--plots", metavar="DIR", help="Draw plots into this folder.")
    ] = None,
    zone: ZoneOption = None,
    day_one: DayOption = None,
    frame_base: FrameOption = 20,
    keep_faulty: KeepOption = False,
    json: JsonOption = False,
) -> None:
    """Count durations, evidence, gaps, tags, sources and keys.

    With --media, videos that state no length have that of their file.
    """
    from egomem.benchmarks import stats as count
    from egomem.evaluate.durations import video_durations

    held = read(where, format, media, zone, day_one, frame_base, strict=not keep_faulty)
    held = held.with_lengths(video_durations(held.videos))
    found = count(held)
    drawn: list[Path] = []
    if plots is not None:
        from egomem.benchmarks.plots import draw_plots as draw

        drawn = draw(held, plots)

    def show(out: Console) -> None:
        out.print(f"{held.name} ({held.format})")
        out.print(f"questions {found.questions}, videos {found.videos}{left_out(held)}")
        for label, spread, unit in (
            ("length of video", found.durations, " s"),
            ("pieces of evidence", found.evidence_count, ""),
            ("length of evidence", found.evidence_length, " s"),
            ("start of evidence", found.evidence_position, " of the video"),
            ("evidence to question", found.gaps, " s"),
        ):
            out.print(f"{label:22}{_spread(spread, unit)}")
        groups = {"options": found.options, "position of key": found.keys}
        groups |= {"answerable": found.answerable, "videos by source": found.videos_by_source}
        for name, counts in {**groups, **found.counts}.items():
            listed = ", ".join(f"{label} {n}" for label, n in counts.items()) or "not stated"
            out.print(f"{name:22}{listed}")
        for path in drawn:
            out.print(f"plot                  {path}")

    result = {"name": held.name, **found.model_dump(), "left_out": held.left_out}
    result["plots"] = [str(p) for p in drawn]
    print_result("benchmark stats", result, show=show, json=json)


@benchmark.command()
def manifest(
    where: Where,
    format: FormatOption = None,
    media: MediaOption = None,
    zone: ZoneOption = None,
    day_one: DayOption = None,
    frame_base: FrameOption = 20,
    keep_faulty: KeepOption = False,
    json: JsonOption = False,
) -> None:
    """Name each video's source, licence and SHA-256; the media itself is never passed on.

    With --media, files at hand that have no hash yet are read.
    """
    from egomem.benchmarks import manifest as name

    held = read(where, format, media, zone, day_one, frame_base, strict=not keep_faulty)
    made = name(held, hash_media=media is not None)

    def show(out: Console) -> None:
        licence = made["licence"] or "no licence is stated"
        n = _many(made["questions"], "question")
        out.print(f"{made['name']}: {n}, {licence}{left_out(held)}")
        for video in made["videos"]:
            source = f"{video['source_dataset']} {video['source_uid']}".strip() or "not stated"
            out.print(f"{video['id']}  {video['sha256'] or 'no hash'}  {source}")

    print_result("benchmark manifest", made, show=show, json=json)


def left_out(held: Benchmark) -> str:
    """What a command adds to its number of questions, so that no row goes unseen."""
    said = f"; {_many(held.left_out, 'row')} left out (see egomem benchmark validate)"
    return said if held.left_out else ""


def _many(n: int, what: str) -> str:
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


def _left_out(fault: BenchmarkFault) -> str:
    if not fault.dropped:
        return ""
    return "the file is left out" if fault.line is None else "the row is left out"


def _spread(found: Distribution, unit: str) -> str:
    if not found.n:
        return "not stated"
    return (
        f"n {found.n}, from {found.least:.4g} to {found.most:.4g}{unit}, "
        f"median {found.median:.4g}, mean {found.mean:.4g}"
    )


def read(
    where: str,
    format: str | None = None,
    media: Path | None = None,
    zone: str | None = None,
    day_one: str | None = None,
    frame_base: int = 20,
    *,
    strict: bool = True,
) -> Benchmark:
    """The benchmark that a command line names."""
    from datetime import date

    from egomem.benchmarks import demo, load
    from egomem.errors import UsageError
    from egomem.timeline import zone_of

    if where == "demo" and not Path(where).exists():
        held = demo()
        return held.with_media(media) if media else held
    try:
        first = date.fromisoformat(day_one) if day_one else None
    except ValueError:
        raise UsageError(f"{day_one!r} is not a date", "write it like 2026-03-01") from None
    place = zone_of(zone) if zone else None
    return load(
        where,
        format,
        media=media,
        strict=strict,
        zone=place,
        day_one=first,
        frame_base=frame_base,
    )
