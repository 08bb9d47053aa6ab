"""`egomem eval status | rescore | export | merge | lmms-tasks`: what is done with runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from egomem.cli.options import JsonOption
from egomem.cli.output import make_table, print_result

if TYPE_CHECKING:
    from rich.console import Console

RunArgument = Annotated[Path, typer.Argument(metavar="RUN", help="The run's folder.")]


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


def export(
    run: RunArgument,
    predictions: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Also write a file of predictions for each arm, for egomem score."
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Write answers.jsonl and usage.jsonl from the run's record, also while the run goes on."""
    from egomem.evaluate import export_predictions, export_run
    from egomem.text import plural

    paths, count = export_run(run)
    if predictions is not None:
        paths += export_predictions(run, predictions)

    def show(out: Console) -> None:
        out.print(f"{plural(count, 'answer')} in {' and '.join(str(path) for path in paths)}")

    body = {"answers": count, "files": [str(path) for path in paths]}
    print_result("eval export", body, show=show, json=json)


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


def lmms_tasks(json: JsonOption = False) -> None:
    """Print the folder of our lmms-eval tasks, for its --include_path."""
    from egomem.integrations.lmms_eval import FOLDER

    folder = str(FOLDER)
    print_result(
        "eval lmms-tasks", {"folder": folder}, show=lambda out: out.print(folder), json=json
    )
