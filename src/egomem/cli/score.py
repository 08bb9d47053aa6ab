"""`egomem score`"""

from __future__ import annotations

from collections.abc import Sequence
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
from egomem.cli.options import (
    BinsOption,
    IntervalsOption,
    JsonOption,
    RegimesOption,
    read_bins,
    read_intervals,
    read_regimes,
)
from egomem.cli.output import make_table, print_result

if TYPE_CHECKING:
    from rich.console import Console

    from egomem.records import Option, Status


def score(
    questions: Annotated[str, typer.Argument(help="A folder or file of questions, or 'demo'.")],
    predictions: Annotated[Path, typer.Argument(help="JSON Lines: a row for each question.")],
    format: FormatOption = None,
    bins: BinsOption = "3",
    regimes: RegimesOption = "12,20",
    intervals: IntervalsOption = "widened",
    seed: Annotated[int, typer.Option(help="Seed of the bootstrap.")] = 0,
    zone: ZoneOption = None,
    day_one: DayOption = None,
    frame_base: FrameOption = None,
    keep_faulty: KeepOption = False,
    submission: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Also write the predictions in the form in which the benchmark takes answers.",
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Score anyone's PREDICTIONS; nothing is run.

    A row is {"id": "q1", "choice": "B"}, with "evidence": [[61.5, 70]] in seconds where it cites
    any; see docs/reference/benchmark-formats.md. A question without a row counts as wrong, and an
    id that stands twice is refused.
    """
    from egomem.answer import read_choice
    from egomem.benchmarks import open_benchmark, submission_readers, write_submission
    from egomem.score import read_predictions, score_answers, summarise
    from egomem.score.cluster_bootstrap import describe_clusters
    from egomem.score.summary import (
        EVIDENCE_HEADINGS,
        SLICE_HEADINGS,
        evidence_cells,
        format_percent,
        slice_row_cells,
    )

    benchmark = open_benchmark(
        questions, format, strict=not keep_faulty, zone=zone, day_one=day_one, frame_base=frame_base
    )

    def reply(text: str, options: Sequence[Option]) -> tuple[Status, str | None]:
        reading = read_choice(text, options)
        return reading.status, reading.letter

    parsed = read_predictions(predictions, benchmark.questions, reply, submission_readers())
    if submission is not None:
        submitted = write_submission(submission, benchmark, parsed.answers)
    scored = score_answers(
        benchmark.questions, parsed.answers, videos=benchmark.videos, verdicts=parsed.verdicts
    )
    scores = summarise(
        scored,
        bins=read_bins(bins),
        regimes=read_regimes(regimes),
        seed=seed,
        intervals=read_intervals(intervals),
    )

    drawn = describe_clusters(scores.clusters, scores.lone)

    def show(out: Console) -> None:
        percent = format_percent
        if scores.accuracy:
            low, high = percent(scores.accuracy.low), percent(scores.accuracy.high)
            out.print(
                f"{benchmark.name}: {percent(scores.accuracy.value)} % of {scores.n} questions, "
                f"95 % interval {low} to {high} ({drawn} resampled){dropped_rows(benchmark)}",
            )
        if scores.caution:
            out.print(f"caution with this interval: {scores.caution}")
        if (accuracies := scores.accuracies) and accuracies.answered:
            out.print(
                f"of the {accuracies.n_answered} replies that were read "
                f"{percent(accuracies.answered.value)} %; mean over {drawn} "
                f"{percent(accuracies.macro.value)} %"
            )
        if scores.unscored:
            out.print(f"{scores.unscored} questions have no key and are not scored")
        if scores.mrr.value is not None:
            out.print(f"MRR {scores.mrr.value:.3f} over {scores.mrr.n} questions")
        if f1 := scores.answerability:
            out.print(
                f"Ans-F1 {percent(f1.f1)} (always answering: {percent(f1.f1_always_answering)}), "
                f"unanswerable {percent(f1.f1_unanswerable)}, macro {percent(f1.f1_macro)}"
            )
        if evidence := scores.evidence:
            table = make_table(*EVIDENCE_HEADINGS, title="Evidence time", title_justify="left")
            for figure in (evidence, *scores.evidence_baselines):
                table.add_row(*evidence_cells(figure))
            out.print(table)
        if submission is not None:
            out.print(
                f"{submission}: {submitted} of {len(benchmark.questions)} questions have an answer"
            )
        for one_slice in scores.tables:
            table = make_table(
                *SLICE_HEADINGS, right=("n",), title=one_slice.view, title_justify="left"
            )
            for row in one_slice.rows:
                table.add_row(*slice_row_cells(row.label, row.figure))
            out.print(table)

    problems = [(text, "its question counts as wrong") for text in parsed.problems]
    problems += [
        (text, "the answer counts, without its evidence") for text in parsed.without_evidence
    ]
    problems += [(f"{id} is no question of {benchmark.name}", "") for id in parsed.unknown]
    result = {**scores.model_dump(), "left_out": benchmark.left_out}
    if submission is not None:
        result["submission"] = {"file": str(submission), "answers": submitted}
    print_result("score", result, show=show, json=json, problems=problems)
