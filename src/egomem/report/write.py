"""From the folders of runs to the files of a report."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from egomem.answer.prompts import VERIFY
from egomem.errors import FullError, UsageError, reason
from egomem.evaluate.bias_gate import bias_gates
from egomem.evaluate.config import Config
from egomem.evaluate.run_reader import Run, load_run, stale_text
from egomem.evaluate.versions import version
from egomem.models import Role
from egomem.observe.caption_prompt import PROMPT
from egomem.records import Record
from egomem.report.accuracy import accuracy_section
from egomem.report.bootstrap_columns import bootstrap_columns
from egomem.report.captions_vs_video import captions_vs_video_section
from egomem.report.cell_format import baselines_sentence
from egomem.report.columns import (
    DEFAULT_OPTIONS,
    ReportColumn,
    ReportOptions,
    check_comparable,
    format_setting,
    report_columns,
    short_model,
)
from egomem.report.costs import cost_section
from egomem.report.failure_analysis import failure_section, verification_section
from egomem.report.latex import render_latex
from egomem.report.long_csv import render_csv
from egomem.report.missing_captions import missing_captions_section
from egomem.report.model_tables import cross_captioning_section, model_section
from egomem.report.page import render_html
from egomem.report.paired_tests import paired_tests_section
from egomem.report.question_browser import browser_data
from egomem.report.slices import slices_section
from egomem.report.table import ReportTable, Section, build_table, render_markdown
from egomem.score import group_accuracy
from egomem.text import plural

FILES = ("report.html", "report.md", "figures.csv", "tables.tex")


class WrittenReport(Record):
    """The files of a report, and what a reader has to know of the figures in them."""

    files: tuple[Path, ...]
    warnings: tuple[str, ...] = ()


def write_report(
    folders: Sequence[Path | str],
    out: Path | str,
    *,
    force: bool = False,
    choices: ReportOptions = DEFAULT_OPTIONS,
) -> WrittenReport:
    """Write the report of one or several runs into `out`.

    Raises UsageError where a folder holds no run, nothing was answered yet, the runs are not
    comparable (and `force` is off), or a model is chosen that no run names; FullError where `out`
    cannot be written.
    """
    out = Path(out)
    runs = [load_run(Path(folder)) for folder in folders]
    differ = check_comparable(runs, force=force)
    held = report_columns(runs, choices)
    if not held:
        raise UsageError(f"nothing was answered yet in {folders[0]}", "run: egomem eval")
    warnings = [*(f"Not comparable: {line}." for line in differ), *_warnings(runs)]
    sections = report_sections(runs, held, warnings)
    title = f"{runs[0].benchmark.name}: {', '.join(r.folder.resolve().name for r in runs)}"
    texts = (
        render_html(title, sections, browser_data(held)),
        render_markdown(title, sections),
        render_csv(sections, runs),
        render_latex(sections, [f"{_lead(run)} {_command(run)}" for run in runs]),
    )
    try:
        out.mkdir(parents=True, exist_ok=True)
        for name, text in zip(FILES, texts, strict=True):
            (out / name).write_text(text, encoding="utf-8", errors="replace", newline="\n")
    except OSError as error:
        raise FullError(
            f"cannot write the report to {out}: {reason(error)}",
            "make room, or name another folder with --out",
        ) from error
    return WrittenReport(files=tuple(out / name for name in FILES), warnings=tuple(warnings))


def report_sections(
    runs: Sequence[Run],
    held: Sequence[ReportColumn],
    warnings: Sequence[str] = (),
) -> list[Section]:
    """All tables and drawings, in the order of the page."""
    drawn = bootstrap_columns(held)
    made = [
        Section(title="In short", text=(*map(_lead, runs), *warnings)),
        captions_vs_video_section(drawn),
        accuracy_section(held, drawn),
        _gates(runs),
        model_section(drawn),
        cross_captioning_section(held),
        paired_tests_section(drawn),
        slices_section(held),
        verification_section(held),
        failure_section(held),
        cost_section(held),
        missing_captions_section(runs),
        Section(title="Runs", parts=tuple(_about(run) for run in runs)),
    ]
    return [s for s in made if s.parts or s.text]


def _lead(run: Run) -> str:
    """What was asked, and what each figure of a run leads back to, in a line."""
    about = run.about
    asked = about.get("benchmark", {}).get("name")
    settings = len({c.setting for c in run.columns})
    return (
        f"Run {run.folder.resolve().name}: {plural(len(run.questions), 'question')} of {asked}, "
        f"{plural(settings, 'setting')}, {plural(len(run.config.readers), 'reader')}; "
        f"configuration {about.get('config_hash')}, prompts {about.get('prompts')}, "
        f"egomem {about.get('versions', {}).get('egomem')}."
    )


def _command(run: Run) -> str:
    return shlex.join(map(str, run.about.get("command", [])))


def _about(run: Run) -> ReportTable:
    """What each number of a run leads back to."""
    about, config = run.about, run.config
    asked = about.get("benchmark", {})
    shard = f", shard {config.shard}" if config.shard else ""
    rows_lost = run.benchmark.left_out
    lost = f"; {plural(rows_lost, 'row')} of the data could not be used" if rows_lost else ""
    rows: list[list[object]] = [
        ["command", _command(run)],
        ["configuration", f"{about.get('config_hash')} ({config.protocol}{shard})"],
        ["prompts", about.get("prompts")],
        ["questions", f"{asked.get('questions')} of {asked.get('of')}, {asked.get('name')}{lost}"],
        ["licence", asked.get("licence") or "not stated"],
        ["readers", ", ".join(config.readers) or "no model"],
        *_roles(config),
        ["versions", ", ".join(f"{k} {v}" for k, v in about.get("versions", {}).items())],
        ["servers", ", ".join(_servers(run)) or "none asked"],
        ["time", f"{about.get('started')} to {about.get('ended') or 'not finished'}"],
    ]
    rows += [[f"frames of {spec}", f"at most {n}"] for spec, n in config.frame_limits.items()]
    for strategy, given in config.strategies.items():
        rows.append(
            [
                f"settings of {strategy}",
                ", ".join(f"{k}={format_setting(v)}" for k, v in given.items()),
            ]
        )
    return build_table(f"Run {run.folder.resolve().name}", ("", ""), rows)


def _roles(config: Config) -> Iterator[list[object]]:
    """Who fills the roles that this run has; what each gets and how it replies."""
    limits = config.limits("")
    made = any(w.captions in ("windows", "aligned") for w in config.ways)
    verified = any(w.verifies for w in config.ways)
    if config.given_memory:
        yield ["captioners", "none: the captions of a given memory"]
    elif made:
        yield ["captioners", ", ".join(config.captioners) or "each reader its own"]
    if verified:
        yield ["verifier", config.verifier or "the reader"]
    if config.readers or config.captioners:
        yield ["frames", f"at most {config.frames} at {config.fps:g} a second"]
        yield ["decoding", "temperature 0, single turn, no examples"]

    def seen(role: Role) -> str:
        held = limits[role]
        fit = ", fewer where a server takes fewer" if held.fit else ""
        return f"at most {held.images} frames of {held.side} pixels a side{fit}"

    if config.readers:
        choice = "may abstain" if config.abstain else "has to choose"
        reply = f"reply {config.format}, at most {config.max_tokens} tokens, {choice}"
        yield ["as a reader", f"{reply}; {seen(Role.READER)}"]
    if made and not config.given_memory:
        reply = f"{PROMPT}, free text, at most {config.caption_tokens} tokens"
        yield ["as a captioner", f"{reply}; {seen(Role.CAPTIONER)}"]
    if verified:
        reply = f"{VERIFY.name}, JSON, at most {config.max_tokens} tokens"
        yield ["as a verifier", f"{reply}; {seen(Role.VERIFIER)}"]


def _servers(run: Run) -> list[str]:
    """Models as the servers named themselves in their replies."""
    found: dict[str, None] = {}
    for cell in run.cells.values():
        for step in cell.answer.trace:
            if isinstance(step, dict) and step.get("step") == "asked" and step.get("model"):
                found[str(step["model"])] = None
    return list(found)


def _warnings(runs: Sequence[Run]) -> Iterator[str]:
    for run in runs:
        name = run.folder.resolve().name
        asked = ((q.id, column) for column in run.columns for q in run.questions)
        found = (run.cells.get(key) for key in asked)
        left = sum(cell is None or cell.failed for cell in found)
        if left:
            cells = plural(left, "cell has", "cells have")
            yield f"{name}: {cells} no answer or ended in an error, which counts as wrong."
        if stale := stale_text(run):
            yield f"{name}: {stale}; the same command asks again."
        if back := [c for c in run.held_back if c not in run.columns]:
            who = ", ".join(dict.fromkeys(short_model(c.reader) for c in back))
            columns = plural(len(back), "column")
            yield (
                f"{name}: the gate held back {columns} ({who}), which have no figures; "
                "--gate report lets them be answered."
            )
        if lost := len(run.uncaptioned()):
            windows = plural(lost, "window has", "windows have")
            yield f"{name}: {windows} no caption; see Gaps in the captions."
        if run.about.get("recordings") and not run.remembers:
            yield (
                f"{name}: there is no memory at {run.memory}; pictures and captions of the "
                "evidence, and what captions took, are left out."
            )
        if run.stored.unreadable:
            lines = plural(len(run.stored.unreadable), "line")
            yield f"{name}: {lines} of answers.jsonl cannot be read, and left out."
        if first := next((f for f in run.benchmark.faults if f.dropped), None):
            rows = run.benchmark.left_out
            said = plural(rows, "row of the data was", "rows of the data were")
            what = said if rows else "a file of the data was"
            yield f"{name}: {what} left out, and not asked about: {first}."
        if run.config.limit or run.config.shard:
            yield f"{name}: a part of the questions, not the whole set."
        made = {c.version for c in run.cells.values() if c.version} - {version()}
        if made:
            yield f"{name}: answers were made by egomem {', '.join(sorted(made))}."
    yield (
        "Ours where the papers are silent: prompts, bins of evidence, edges of regimes, signal "
        "weights of recall, levels of support, where frames lie (see the documentation)."
    )


def _gates(runs: Sequence[Run]) -> Section:
    rows = []
    for run in runs:
        for gate in bias_gates(run.questions, run.config, run.cells):
            if not gate.n:
                continue
            said = ", ".join(f"{n} {s}" for s, n in gate.by_status.items())
            of = f"{run.folder.resolve().name}: " if len(runs) > 1 else ""
            name = f"{of}{short_model(gate.reader)}"
            rows.append([name, gate.n, said, gate.verdict, gate.reason])
    heads = ("reader", "n", "n by status", "gate", "reason")
    sheets = (run.sheet(column) for run in runs for column in run.columns[:1])
    notes = dict.fromkeys(baselines_sentence(group_accuracy(held)) for held in sheets if len(held))
    title = "Answered without the video"
    parts = (build_table(title, heads, rows, " ".join(notes)),) if rows else ()
    return Section(title="Gate", parts=parts)
