"""`egomem score`"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from egomem.cli.benchmark_options import (
    DayOption,
    FormatOption,
    FrameOption,
    KeepOption,
    ZoneOption,
    dropped_rows,
)
from egomem.cli.options import BinsOption, JsonOption, RegimesOption, read_bins, read_regimes
from egomem.cli.output import print_result

if TYPE_CHECKING:
    from rich.console import Console

    from egomem.records import Option, Status


def score(
    questions: Annotated[str, typer.Argument(help="A folder or file of questions, or 'demo'.")],
    predictions: Annotated[Path, typer.Argument(help="JSON Lines: a row for each question.")],
    format: FormatOption = None,
    bins: BinsOption = "3",
    regimes: RegimesOption = "12,20",
    seed: Annotated[int, typer.Option(help="Seed of the resampling.")] = 0,
    zone: ZoneOption = None,
    day_one: DayOption = None,
    frame_base: FrameOption = 20,
    keep_faulty: KeepOption = False,
    json: JsonOption = False,
) -> None:
    """Score anyone's PREDICTIONS; nothing is run.

    A row is {"id": "q1", "choice": "B"}; see docs/reference/benchmark-formats.md. A question
    without a row counts as wrong, and an id that stands twice is refused.
    """
    from egomem.answer import read_choice
    from egomem.benchmarks import open_benchmark, submission_readers
    from egomem.score import read_predictions, score_answers, summarise
    from egomem.score.cluster_bootstrap import describe_clusters
    from egomem.score.summary import SLICE_HEADINGS, format_percent, slice_row_cells

    held = open_benchmark(
        questions, format, strict=not keep_faulty, zone=zone, day_one=day_one, frame_base=frame_base
    )

    def reply(said: str, options: Sequence[Option]) -> tuple[Status, str | None]:
        reading = read_choice(said, options)
        return reading.status, reading.letter

    given = read_predictions(predictions, held.questions, reply, submission_readers())
    scored = score_answers(
        held.questions, given.answers, videos=held.videos, verdicts=given.verdicts
    )
    found = summarise(scored, bins=read_bins(bins), regimes=read_regimes(regimes), seed=seed)

    drawn = describe_clusters(found.clusters, found.lone)

    def show(out: Console) -> None:
        from rich.table import Table

        if found.accuracy:
            low, high = format_percent(found.accuracy.low), format_percent(found.accuracy.high)
            out.print(
                f"{held.name}: {format_percent(found.accuracy.value)} % of {found.n} questions, "
                f"95 % interval {low} to {high} ({drawn} resampled){dropped_rows(held)}",
            )
        if found.caution:
            out.print(f"careful with this interval: {found.caution}")
        if (three := found.accuracies) and three.answered:
            out.print(
                f"of the {three.n_answered} replies that were read "
                f"{format_percent(three.answered.value)} %; mean over {drawn} "
                f"{format_percent(three.macro.value)} %"
            )
        if found.unscored:
            out.print(f"{found.unscored} questions have no key and are not scored")
        if found.mrr.value is not None:
            out.print(f"MRR {found.mrr.value:.3f} over {found.mrr.n} questions")
        if f1 := found.answerability:
            always = format_percent(f1.f1_always_answering)
            out.print(
                f"Ans-F1 {format_percent(f1.f1)} (always answering: {always}), unanswerable "
                f"{format_percent(f1.f1_unanswerable)}, macro {format_percent(f1.f1_macro)}"
            )
        for made in found.tables:
            shown = Table(title=made.view, title_justify="left")
            for heading in SLICE_HEADINGS:
                side: Literal["left", "right"] = "right" if heading == "n" else "left"
                shown.add_column(heading, justify=side, overflow="fold")
            for row in made.rows:
                shown.add_row(*slice_row_cells(row.label, row.figure))
            out.print(shown)

    problems = [(text, "its question counts as wrong") for text in given.problems]
    problems += [(f"{id} is no question of {held.name}", "") for id in given.unknown]
    result = {**found.model_dump(), "left_out": held.left_out}
    print_result("score", result, show=show, json=json, problems=problems)
