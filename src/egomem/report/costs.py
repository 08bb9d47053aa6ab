"""The cost of a run: frames, tokens where 1 to 32 questions share a memory, seconds and money."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from egomem.evaluate.caption_usage import CaptionUsage
from egomem.report import charts
from egomem.report.chart_series import group_by_panel, legend, series_styles
from egomem.report.columns import ReportColumn
from egomem.report.frame_counts import frame_table
from egomem.report.table import CellValue, Chart, ChartPanel, ReportTable, Section, build_table
from egomem.score import REUSE_COUNTS, amortise, pareto_front
from egomem.score.amortised_cost import AmortisedCost

NOT_COUNTED = CellValue(text="-", detail="not counted")


class ColumnCost(NamedTuple):
    """A column, its cost, and what building its captions took."""

    column: ReportColumn
    cost: AmortisedCost
    captions: CaptionUsage

    @property
    def name(self) -> str:
        return self.column.name


def cost_section(columns: Sequence[ReportColumn]) -> Section:
    """Frames, tokens per question, amortisation, and the fronts of cost and accuracy."""
    costs = _column_costs(columns)
    if not costs:
        return Section(title="Cost")
    parts: list[ReportTable | Chart] = [
        frame_table([(c.column, c.cost, c.captions) for c in costs])
    ]
    if not any(c.cost.tokens_ask for c in costs):
        return Section(title="Cost", text=("No model was asked.",), parts=tuple(parts))
    # Blind settings and oracles have no cost to compare: a blind one uses no memory, and the
    # evidence that an oracle is shown is not known in advance.
    usable = [c for c in costs if not c.column.condition.bounds and c.cost.tokens_ask]
    parts += [
        _token_table(costs),
        *_amortisation_chart(columns, usable),
        *_fronts(columns, usable),
    ]
    return Section(title="Cost", text=tuple(_caveats(costs)), parts=tuple(parts))


def _column_costs(columns: Sequence[ReportColumn]) -> list[ColumnCost]:
    """The columns that took anything. Captions that several columns read are looked up once."""
    usage_by_track: dict[tuple[int, str], CaptionUsage] = {}
    costs = []
    for column in columns:
        run = column.run
        usage = run.usage(column.arm)
        track = f"{column.track}" if column.condition.captions != "none" else ""
        key = (id(run), track)
        # The sum over all captions of a video is the same for each reader of the track.
        if key not in usage_by_track:
            usage_by_track[key] = run.built(column.arm)
        captions, lost = usage_by_track[key], len(column.answers) - len(usage)
        # A column whose usage is lost altogether is shown as such, and not left out as free.
        if usage or lost:
            counted = not captions.missing
            column_cost = amortise(usage, captions.by_video, counted=counted, lost=lost)
            costs.append(ColumnCost(column, column_cost, captions))
    return costs


def _caveats(costs: Sequence[ColumnCost]) -> list[str]:
    """What is not counted, of which columns, and why."""
    names_by_reason: dict[str, list[str]] = {}
    for c in costs:
        if c.captions.missing:
            names_by_reason.setdefault(f"Not counted, as {c.captions.missing}", []).append(c.name)
        if not c.cost.whole and c.cost.counted:
            names_by_reason.setdefault("The usage of some answers is lost", []).append(c.name)
    return [f"{reason}: {', '.join(names)}." for reason, names in names_by_reason.items()]


def _token_table(costs: Sequence[ColumnCost]) -> ReportTable:
    rows: list[list[object]] = []
    for c in costs:
        sums = c.cost
        n = len(c.column.answers)
        questions: object = sums.questions
        if sums.questions != n:
            questions = CellValue(text=str(sums.questions), detail=f"of {n}")
        per_video = f"{sums.tokens_build / max(1, sums.videos):,.0f}"
        rows.append(
            [
                c.name,
                questions,
                per_video if sums.counted else NOT_COUNTED,
                f"{sums.tokens_ask / max(1, sums.questions):,.0f}",
                *(f"{sums.tokens[n]:,.0f}" if sums.counted else "-" for n in REUSE_COUNTS),
                f"{sums.frames[1]:,.1f}" if sums.counted else "-",
                f"{sums.frames[REUSE_COUNTS[-1]]:,.1f}" if sums.counted else "-",
                f"{'' if sums.whole else 'at least '}{sums.seconds:,.1f}",
                _format_money(sums),
            ]
        )
    headings = (
        "setting", "n", "captions of a video", "a question",
        *(f"tokens at {n}" for n in REUSE_COUNTS), "frames at 1", f"frames at {REUSE_COUNTS[-1]}",
        "seconds in all", "US dollars in all",
    )  # fmt: skip
    return build_table(
        "Tokens per question, by the number of questions that share a memory",
        headings,
        rows,
        "Tokens at n: the captions of a video divided by n, plus one question (CapMem's "
        "amortisation), input and output tokens. n: the questions whose usage is known. Seconds: "
        "all replies together, captions included. Replies from a cache count in full. Where the "
        "cost of the captions is not known, no sum is given, and seconds and money are lower "
        "bounds. Money is also a lower bound where some price is not known, and - where none is.",
    )


def _format_money(cost: AmortisedCost) -> str:
    if cost.money_is_lower_bound:
        return f"at least {cost.money:.4f}" if cost.money else "-"
    return f"{cost.money:.4f}"


def _amortisation_chart(
    columns: Sequence[ReportColumn], usable: Sequence[ColumnCost]
) -> list[Chart]:
    tokens = {c.name: c.cost.tokens for c in usable if c.cost.counted}
    charted = [c.column for c in usable if c.name in tokens]
    panels = []
    for title, panel_columns in group_by_panel(charted).items():
        svg = charts.line_chart(
            {c.series: [tokens[c.name][n] for n in REUSE_COUNTS] for c in panel_columns},
            [(str(n), "") for n in REUSE_COUNTS],
            y_label="tokens per question",
            x_label="questions that share a memory",
            styles=series_styles(columns),
            log=True,
        )
        panels.append(ChartPanel(title=title, svg=svg))
    if not panels:
        return []
    chart_legend = legend(charted, all_columns=columns)
    return [Chart(title="Amortisation", panels=tuple(panels), legend=chart_legend)]


def _fronts(
    columns: Sequence[ReportColumn], usable: Sequence[ColumnCost]
) -> list[ReportTable | Chart]:
    """The Pareto fronts of accuracy and tokens, or money, at the least and the most reuse."""
    rows: list[list[object]] = []
    front_charts = []
    for unit in ("tokens", "US dollars"):
        for n in (REUSE_COUNTS[0], REUSE_COUNTS[-1]):
            points = {
                c.name: (spent, accuracy)
                for c in usable
                if (spent := _spent(c.cost, unit, n)) is not None
                and (accuracy := c.column.accuracy) is not None
            }
            if not points:
                continue
            title = f"{unit} per question at reuse {n}"
            best = pareto_front(points)
            unknown = [c.name for c in usable if c.name not in points]
            rows.append([title, len(points), ", ".join(best), ", ".join(unknown)])
            front_charts.append(_front_chart(columns, title, points, best))
    if not rows:
        return []
    headings = ("cost", "settings", "on the front, cheapest first", "left out, cost unknown")
    note = (
        "A setting is on the front where no other is both at least as cheap and at least as "
        "accurate, and better in one of the two. Blind settings and oracles take no part, as "
        "nobody could use them."
    )
    return [build_table("Front of cost and accuracy", headings, rows, note), *front_charts]


def _spent(cost: AmortisedCost, unit: str, n: int) -> float | None:
    """The cost of a question at reuse n; None where it is not known in full."""
    if unit == "tokens":
        return cost.tokens.get(n)
    # A lower bound on a front would put an unknown price among the cheapest.
    return None if cost.money_is_lower_bound else cost.prices.get(n)


def _front_chart(
    columns: Sequence[ReportColumn],
    title: str,
    points: dict[str, tuple[float, float]],
    best: Sequence[str],
) -> Chart:
    charted = [column for column in columns if column.name in points]
    panels = []
    for panel, panel_columns in group_by_panel(charted).items():
        # Each panel shows the front of all readers, and its own reader's points on it.
        svg = charts.scatter_chart(
            {column.series: points[column.name] for column in panel_columns},
            x_label=title,
            y_label="accuracy %",
            styles=series_styles(columns),
            line=[points[name] for name in best],
            extent=list(points.values()),
        )
        panels.append(ChartPanel(title=panel, svg=svg))
    return Chart(
        title=f"Cost and accuracy: {title}",
        panels=tuple(panels),
        legend=legend(charted, ("front of all", charts.REFERENCE_STYLE), all_columns=columns),
        note=f"On the front, cheapest first: {', '.join(best)}.",
    )
