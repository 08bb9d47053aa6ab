"""From the folders of runs to the files of a report."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from egomem.errors import FullError, UsageError, reason
from egomem.evaluate.run_reader import Run, load_run
from egomem.records import Record
from egomem.report.accuracy import accuracy_section
from egomem.report.bias_gate import bias_gate_section
from egomem.report.bootstrap_columns import bootstrap_columns
from egomem.report.captions_vs_video import captions_vs_video_section
from egomem.report.caveats import caveats
from egomem.report.columns import (
    DEFAULT_OPTIONS,
    ReportColumn,
    ReportOptions,
    report_columns,
    run_name,
)
from egomem.report.comparability import check_comparable
from egomem.report.costs import cost_section
from egomem.report.evidence_times import evidence_section
from egomem.report.failure_analysis import failure_section
from egomem.report.finding import finding_section
from egomem.report.gap_by_group import gap_tables
from egomem.report.latex import render_latex
from egomem.report.long_csv import render_csv
from egomem.report.markdown import render_markdown
from egomem.report.missing_captions import missing_captions_section
from egomem.report.model_tables import cross_captioning_section, model_section
from egomem.report.page import render_html
from egomem.report.paired_tests import paired_tests_section
from egomem.report.question_browser import browser_data
from egomem.report.reading_guide import reading_guide_section
from egomem.report.run_details import command_line, run_details, run_summary
from egomem.report.slices import slices_section
from egomem.report.table import Section
from egomem.report.verification import verification_section

NOT_COMPARABLE = "Not comparable"
"""How the warnings begin that come before all figures."""

FILES = ("report.html", "report.md", "figures.csv", "tables.tex")


class WrittenReport(Record):
    """The files of a report, and the warnings that it carries."""

    files: tuple[Path, ...]
    warnings: tuple[str, ...] = ()


def write_report(
    folders: Sequence[Path | str],
    out: Path | str,
    *,
    force: bool = False,
    options: ReportOptions = DEFAULT_OPTIONS,
) -> WrittenReport:
    """Write the report of one or several runs into the folder `out`.

    Raises UsageError where a folder holds no run, the first run has no answers, the runs are not
    comparable (unless `force`), or `options` names a model that no run has; FullError where `out`
    cannot be written.
    """
    out = Path(out)
    runs = [load_run(Path(folder)) for folder in folders]
    incomparable = check_comparable(runs, force=force)
    columns = report_columns(runs, options)
    if not columns:
        raise UsageError(f"there are no answers in {folders[0]}", "run: egomem eval")
    warnings = [*(f"{NOT_COMPARABLE}: {line}." for line in incomparable), *caveats(runs)]
    sections = report_sections(runs, columns, warnings)
    title = f"{runs[0].benchmark.name}: {', '.join(map(run_name, runs))}"
    # All texts before the first file: a fault in one leaves no half-written report.
    texts = (
        render_html(title, sections, browser_data(columns)),
        render_markdown(title, sections),
        render_csv(sections, runs, columns),
        render_latex(sections, [f"{run_summary(run)} {command_line(run)}" for run in runs]),
    )
    try:
        out.mkdir(parents=True, exist_ok=True)
        for name, text in zip(FILES, texts, strict=True):
            (out / name).write_text(text, encoding="utf-8", errors="replace", newline="\n")
    except OSError as error:
        raise FullError(
            f"cannot write the report to {out}: {reason(error)}",
            "free some disk space, or choose another folder with --out",
        ) from error
    return WrittenReport(files=tuple(out / name for name in FILES), warnings=tuple(warnings))


def report_sections(
    runs: Sequence[Run],
    columns: Sequence[ReportColumn],
    warnings: Sequence[str] = (),
) -> list[Section]:
    """All sections that have something to say, in the order of the page."""
    groups = bootstrap_columns(columns)
    urgent = [line for line in warnings if line.startswith(NOT_COMPARABLE)]
    others = [line for line in warnings if line not in urgent]
    sections = [
        finding_section(columns, groups, urgent),
        Section(title="In short", text=(*map(run_summary, runs), *others)),
        captions_vs_video_section(groups, gap_tables(groups)),
        accuracy_section(columns, groups),
        bias_gate_section(runs),
        model_section(groups),
        cross_captioning_section(columns),
        paired_tests_section(groups),
        slices_section(columns),
        evidence_section(columns),
        verification_section(columns),
        failure_section(columns),
        cost_section(columns),
        missing_captions_section(runs),
        reading_guide_section(columns[0].options),
        Section(title="Runs", parts=tuple(map(run_details, runs))),
    ]
    return [section for section in sections if section.parts or section.text or section.lead]
