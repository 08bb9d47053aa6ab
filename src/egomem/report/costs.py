"""What a run cost: frames, tokens at reuse 1 to 32, seconds and money."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from egomem.evaluate.caption_usage import CaptionUsage
from egomem.report import charts
from egomem.report.bootstrap_columns import group_by_panel, legend, series_styles
from egomem.report.columns import ReportColumn
from egomem.report.table import CellValue, Chart, ChartPanel, ReportTable, Section, build_table
from egomem.score import REUSE_COUNTS, amortise, count_frames, pareto_front
from egomem.score.amortised_cost import AmortisedCost
from egomem.text import plural

NOT_COUNTED = CellValue(text="-", small="not counted")


class ColumnCost(NamedTuple):
    """An entry with what it cost, and what building its captions took."""

    entry: ReportColumn
    cost: AmortisedCost
    built: CaptionUsage

    @property
    def name(self) -> str:
        return self.entry.name


def cost_section(entries: Sequence[ReportColumn]) -> Section:
    """Tokens and frames per question, the front of cost and accuracy, and the frame accounting."""
    held = _held(entries)
    if not held:
        return Section(title="Cost")
    parts: list[ReportTable | Chart] = [_accounting(held)]
    if not any(h.cost.tokens_ask for h in held):
        return Section(title="Cost", text=("No model was asked.",), parts=tuple(parts))
    # What nobody can have when a question comes, or what is no memory, has no cost to compare.
    real = [h for h in held if not _is_bound(h.entry) and h.cost.tokens_ask]
    parts += [_table(held), *_amortised(entries, real), *_fronts(entries, real)]
    return Section(title="Cost", text=tuple(_missing(held)), parts=tuple(parts))


def _held(entries: Sequence[ReportColumn]) -> list[ColumnCost]:
    """The entries that took anything; captions that several read are looked up once."""
    known: dict[tuple[int, str], CaptionUsage] = {}
    found = []
    for entry in entries:
        run = entry.run
        asked = run.usage(entry.column)
        track = run.about.get("tracks", {}).get(entry.column.label)
        key = (id(run), f"{track}" if entry.way.captions != "none" else "")
        if key not in known:
            known[key] = run.built(entry.column)
        built, lost = known[key], len(entry.answers) - len(asked)
        if asked or lost:
            made = amortise(asked, built.by_video, counted=not built.missing, lost=lost)
            found.append(ColumnCost(entry, made, built))
    return found


def _is_bound(entry: ReportColumn) -> bool:
    """Blind, or shown the evidence: it bounds the others, and nobody could use it."""
    return entry.way.bounds


def _missing(held: Sequence[ColumnCost]) -> list[str]:
    """What is not counted, and why."""
    found: dict[str, list[str]] = {}
    for h in held:
        if h.built.missing:
            found.setdefault(f"Not counted, as {h.built.missing}", []).append(h.name)
        if not h.cost.whole and h.cost.counted:
            found.setdefault("The usage of some answers is lost", []).append(h.name)
    return [f"{why}: {', '.join(names)}." for why, names in found.items()]


def _table(held: Sequence[ColumnCost]) -> ReportTable:
    rows: list[list[object]] = []
    for h in held:
        c = h.cost
        counted = c.counted
        n = len(h.entry.answers)
        rows.append(
            [
                h.name,
                c.questions
                if c.questions == n
                else CellValue(text=str(c.questions), small=f"of {n}"),
                f"{c.tokens_build / max(1, c.videos):,.0f}" if counted else NOT_COUNTED,
                f"{c.tokens_ask / max(1, c.questions):,.0f}",
                *(f"{c.tokens[n]:,.0f}" if counted else "-" for n in REUSE_COUNTS),
                f"{c.frames[1]:,.1f}" if counted else "-",
                f"{c.frames[REUSE_COUNTS[-1]]:,.1f}" if counted else "-",
                f"{'' if c.whole else 'at least '}{c.seconds:,.1f}",
                _money(c),
            ]
        )
    heads = (
        "setting", "n", "captions of a video", "a question",
        *(f"tokens at {n}" for n in REUSE_COUNTS),
        "frames at 1", f"frames at {REUSE_COUNTS[-1]}", "seconds in all", "US dollars in all",
    )  # fmt: skip
    return build_table(
        "Tokens per question, where so many questions share a memory",
        heads,
        rows,
        "B/n + q: the captions of a video over n, and one question (CapMem's amortisation). "
        "Tokens in and out; n are the questions whose usage is known; seconds are those of all "
        "replies together, captions included. Replies out of a cache count in full. What building "
        "took is not counted where it is not known, and no sum is made without it; seconds and "
        "money are lower bounds then, money also where a price is not known, and stands as - where "
        "none is.",
    )


def _amortised(entries: Sequence[ReportColumn], real: Sequence[ColumnCost]) -> list[Chart]:
    tokens = {h.name: h.cost.tokens for h in real if h.cost.counted}
    asking = [h.entry for h in real if h.name in tokens]
    found = []
    for title, own in group_by_panel(asking).items():
        series = {e.series: [tokens[e.name][n] for n in REUSE_COUNTS] for e in own}
        drawn = charts.line_chart(
            series,
            [(str(n), "") for n in REUSE_COUNTS],
            y="tokens per question",
            x="questions that share a memory",
            looks=series_styles(entries),
            log=True,
        )
        found.append(ChartPanel(title=title, svg=drawn))
    if not found:
        return []
    return [
        Chart(
            title="Amortisation",
            panels=tuple(found),
            legend=legend(asking, among=entries),
        )
    ]


def _fronts(
    entries: Sequence[ReportColumn], real: Sequence[ColumnCost]
) -> list[ReportTable | Chart]:
    """What nothing beats on accuracy and on tokens, or money, at reuse 1 and 32."""
    rows: list[list[object]] = []
    charts = []
    for what in ("tokens", "US dollars"):
        for n in (REUSE_COUNTS[0], REUSE_COUNTS[-1]):
            points = {
                h.name: (spent, accuracy)
                for h in real
                if (spent := _spent(h.cost, what, n)) is not None
                and (accuracy := h.entry.accuracy) is not None
            }
            if not points:
                continue
            name = f"{what} per question at reuse {n}"
            best = pareto_front(points)
            left = [h.name for h in real if h.name not in points]
            rows.append([name, len(points), ", ".join(best), ", ".join(left)])
            charts.append(_drawn_front(entries, name, points, best))
    if not rows:
        return []
    heads = ("cost", "settings", "on the front, cheapest first", "left out, as the cost is unknown")
    note = (
        "On the front: no other setting is cheaper and as good, or better and as cheap. Settings "
        "that nobody could use, clean and those that are shown the evidence, do not take part."
    )
    return [build_table("Front of cost and accuracy", heads, rows, note), *charts]


def _spent(c: AmortisedCost, what: str, n: int) -> float | None:
    """Cost of a question at reuse n; None where it is not known in full."""
    if what == "tokens":
        return c.tokens.get(n)
    return None if c.money_is_lower_bound else c.prices.get(n)


def _drawn_front(
    entries: Sequence[ReportColumn],
    name: str,
    points: dict[str, tuple[float, float]],
    best: Sequence[str],
) -> Chart:
    shown = [e for e in entries if e.name in points]
    found = []
    for title, own in group_by_panel(shown).items():
        # The line is that of all readers; each drawing shows its own points on it.
        drawn = charts.scatter_chart(
            {e.series: points[e.name] for e in own},
            x=name,
            y="accuracy %",
            looks=series_styles(entries),
            joined=[points[b] for b in best],
            within=list(points.values()),
        )
        found.append(ChartPanel(title=title, svg=drawn))
    return Chart(
        title=f"Cost and accuracy: {name}",
        panels=tuple(found),
        legend=legend(shown, ("front of all", charts.REFERENCE_STYLE), among=entries),
        note=f"On the front, cheapest first: {', '.join(best)}.",
    )


def _accounting(held: Sequence[ColumnCost]) -> ReportTable:
    """Frames by the protocol's accounting, and those that this run looked at."""
    run = held[0].entry.run
    config, questions = run.config, run.questions
    about = {q.recording for q in questions}
    videos = [v for v in run.benchmark.videos if v.id in about]
    windows = {w.window for w in config.ways if w.captions == "windows" and w.is_caption_qa}
    made = count_frames(
        videos, questions, cap=config.frames, fps=config.fps, passes=len(windows) or 1
    )
    ratio = "" if made.ratio is None else f"{made.ratio:.2f} times the captions"
    lengths = "one window length" if made.passes == 1 else f"{made.passes} window lengths"
    rows: list[list[object]] = [
        [f"by accounting: captions, {lengths}", f"{made.build:,}", f"{made.per_pass:,} each"],
        ["by accounting: frames for each question", f"{made.direct:,}", ratio],
    ]
    protocol = len(rows)
    seen: set[tuple[int, int]] = set()
    for h in held:
        entry, frames = h.entry, sum(u.frames for u in h.built.by_video.values())
        if (id(entry.run), id(h.built)) not in seen and frames:
            seen.add((id(entry.run), id(h.built)))
            each = f"{frames / len(h.built.by_video):,.1f} a video"
            rows.append([f"as made: captions of {entry.name}", f"{frames:,}", each])
    for h in held:
        if h.entry.way.is_video_qa:
            most = h.entry.run.config.frame_limit(h.entry.column.reader)
            sent = f"{h.cost.frames_ask / max(1, h.cost.questions):,.1f} a question, at most {most}"
            rows.append([f"as sent: {h.name}", f"{h.cost.frames_ask:,}", sent])
    unknown = (
        f"; {plural(made.unknown, 'video has', 'videos have')} no stated length"
        if made.unknown
        else ""
    )
    note = (
        f"{plural(len(videos), 'video')}, {plural(len(questions), 'question')}. The protocol's "
        "accounting counts "
        f"min({config.frames}, floor(seconds x {config.fps:g})) for each video, in captions and in "
        f"questions{unknown}."
    )
    if len(rows) > protocol:
        note += (
            " As made and as sent is what this run did: every window is captioned, however long "
            "the video, and a model may take fewer frames than the protocol counts."
        )
    return build_table("Frames", ("frames of", "frames", ""), rows, note)


def _money(held: AmortisedCost) -> str:
    if held.money_is_lower_bound:
        return f"at least {held.money:.4f}" if held.money else "-"
    return f"{held.money:.4f}"
