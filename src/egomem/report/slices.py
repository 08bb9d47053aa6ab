"""Accuracy by tag, position, duration, source and so on: tables in the paper's form, and plots."""

from __future__ import annotations

from collections.abc import Sequence

from egomem.report import charts
from egomem.report.bootstrap_columns import (
    STATUS_LETTERS_NOTE,
    best_baseline,
    group_by_panel,
    legend,
    series_styles,
)
from egomem.report.cell_format import (
    INTERVAL_WARNINGS,
    format_unread,
    points_cell,
    sum_by_status,
    with_source,
)
from egomem.report.columns import ReportColumn
from egomem.report.table import Chart, ChartPanel, ReportTable, Section, build_table
from egomem.report.wide_tables import slice_tables
from egomem.score import (
    BASELINES,
    GroupAccuracy,
    Slice,
    SliceRow,
    SliceTable,
    by_frame_cap,
    by_video_field,
    duration_strata,
    leave_one_out,
    middle_drop,
    middle_drop_interval,
    standard_slices,
)
from egomem.score.slices import NOT_STATED

TITLES = {"long": "duration, in two", "type": "type of question", "answerable": "answerable or not"}
CHARTED = ("duration", "evidence position")


def report_slices(entries: Sequence[ReportColumn]) -> list[Slice]:
    """The views of a report; the frame cap is that of the first run."""
    config, choices = entries[0].run.config, entries[0].choices
    cap = by_frame_cap(config.frames, config.fps)
    made = standard_slices(bins=choices.bins, regimes=choices.regimes)
    return [cap if v.name == cap.name else v for v in made]


def slices_section(entries: Sequence[ReportColumn]) -> Section:
    """Accuracy by tag, position, duration, source and so on."""
    parts: list[ReportTable | Chart] = []
    for view in report_slices(entries)[1:]:
        held = [e.table(view) for e in entries]
        labels = list(dict.fromkeys(row.label for t in held for row in t.rows))
        if len(labels) < 2:
            continue
        parts += _grids(entries, view, held, labels)
        known = [x for x in labels if x not in (NOT_STATED, "no evidence")]
        if view.name in CHARTED and len(known) > 1:
            parts.append(_chart(entries, view, held, known))
        if view.name == "evidence position":
            parts += _middle(entries, view, held)
    parts += _without(entries)
    return Section(title="Views", text=(STATUS_LETTERS_NOTE,) if parts else (), parts=tuple(parts))


def _grids(
    entries: Sequence[ReportColumn], view: Slice, held: Sequence[SliceTable], labels: Sequence[str]
) -> list[ReportTable]:
    title = f"{TITLES.get(view.name, view.name).capitalize()}, accuracy %"
    groups = [{row.label: row.figure for row in made.rows} for made in held]
    return slice_tables(title, entries, labels, groups, _sentence(view.note))


def _at(held: SliceTable, label: str) -> GroupAccuracy | None:
    return next((r.figure for r in held.rows if r.label == label), None)


def _sentence(note: str) -> str:
    return f"{note[0].upper()}{note[1:].rstrip('.')}." if note else ""


def _chart(
    entries: Sequence[ReportColumn], view: Slice, held: Sequence[SliceTable], labels: Sequence[str]
) -> Chart:
    first = [next(f for t in held if (f := _at(t, x)) is not None) for x in labels]
    categories = [(x, f"n {f.n}") for x, f in zip(labels, first, strict=True)]
    blind = [None if (best := best_baseline(f)) is None else 100 * best[1].accuracy for f in first]
    series = {
        e.name: [_accuracy(_at(made, x)) for x in labels]
        for e, made in zip(entries, held, strict=True)
    }
    values = [v for own in series.values() for v in own if v is not None]
    found = []
    for title, own in group_by_panel(entries).items():
        lines = {e.series: series[e.name] for e in own}
        lines["best blind baseline"] = blind
        drawn = charts.line_chart(
            lines,
            categories,
            y="accuracy %",
            looks=series_styles(entries),
            top=max(values, default=None),
        )
        found.append(ChartPanel(title=title, svg=drawn))
    return Chart(
        title=f"Accuracy by {view.name}",
        panels=tuple(found),
        legend=legend(entries, ("best blind baseline", charts.REFERENCE_STYLE)),
    )


def _accuracy(made: GroupAccuracy | None) -> float | None:
    return None if made is None or made.accuracy is None else 100 * made.accuracy


def _middle(
    entries: Sequence[ReportColumn], view: Slice, held: Sequence[SliceTable]
) -> list[ReportTable]:
    """The middle drop of each column, and of the blind baselines."""
    rows: list[list[object]] = []
    for entry, made in zip(entries, held, strict=True):
        drop = middle_drop_interval(
            entry.sheet, view, duration_strata(entry.sheet, entry.choices.regimes[-1:])
        )
        if drop is not None:
            known = [r.figure for r in made.rows if r.label not in (NOT_STATED, "no evidence")]
            n, statuses = sum(f.n for f in known), sum_by_status(f.by_status for f in known)
            cell = points_cell(drop, len(set(entry.sheet.clusters)), n)
            cell = cell.model_copy(update={"by_status": statuses})
            rows.append([entry.name, n, with_source(entry, cell), format_unread(statuses)])
    blind: list[list[object]] = []
    for name in BASELINES if rows else ():
        fall = middle_drop(_of_baseline(held[0], name))
        if fall is not None:
            blind.append([name, rows[0][1], f"{100 * fall:+.1f}", ""])
    note = "Mean of the first and the last bin, less what lies between; our reading of the term. "
    note += (
        f"Intervals as those of accuracies. {INTERVAL_WARNINGS[0].upper()}{INTERVAL_WARNINGS[1:]}."
    )
    heads = ("setting", "n", "points", "not read")
    return [build_table("Middle drop", heads, [*rows, *blind], note, len(blind))] if rows else []


def _of_baseline(made: SliceTable, name: str) -> SliceTable:
    """The same bins, answered by a blind baseline."""
    found = []
    for row in made.rows:
        if name in row.figure.blind:
            held = row.figure.blind[name]
            right = held.accuracy * held.n
            found.append(
                SliceRow(
                    label=row.label,
                    figure=GroupAccuracy(n=held.n, right=right, by_status={}, blind={}),
                )
            )
    return SliceTable(view=made.view, rows=tuple(found))


def _without(entries: Sequence[ReportColumn]) -> list[ReportTable]:
    view = Slice("leave one source out", by_video_field("source_dataset"))
    held = [leave_one_out(e.sheet, view) for e in entries]
    labels = list(dict.fromkeys(r.label for t in held for r in t.rows))
    return _grids(entries, view, held, labels) if labels else []
