"""The first screen of a report: what was found, in a sentence, and a picture of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from egomem.report import charts
from egomem.report.bootstrap_columns import ColumnBootstrap
from egomem.report.captions_vs_video import (
    ALL_VIDEOS,
    SettingPairs,
    Subsets,
    bootstrap_by_duration,
    by_setting,
    counted_pairs,
    failing_readers,
)
from egomem.report.cell_format import best_baseline
from egomem.report.chart_series import legend, series_styles
from egomem.report.columns import ReportColumn
from egomem.report.comparisons import ColumnPair, captions_minus_video
from egomem.report.table import Chart, ChartPanel, Section
from egomem.score import Interval, by_duration, group_accuracy
from egomem.text import plural

TITLE = "Finding"

MAX_READERS = 16
"""Readers in the picture; those with the highest accuracies, where there are more."""


def finding_section(
    columns: Sequence[ReportColumn],
    groups: Sequence[ColumnBootstrap],
    warnings: Sequence[str] = (),
) -> Section:
    """Captions against frames, or the best setting against the best blind baseline; without text
    where nothing was scored. `warnings` come before all figures."""
    group = next((g for g in groups if captions_minus_video(g)), None)
    if group is None:
        return _best_setting(groups, warnings)
    pairs = captions_minus_video(group)
    counted = by_setting(group, counted_pairs(group, pairs))
    subsets = _regimes(group)
    text = [*warnings, *_sentences(subsets, counted), *_gate_sentence(group, pairs)]
    if len(groups) > 1:
        text.append(f"Of the {group.question_set}.")
    chart = _chart(columns, group, subsets, pairs)
    return Section(title=TITLE, lead=_lead(group, counted), text=tuple(text), parts=(chart,))


def _regimes(group: ColumnBootstrap) -> Subsets:
    """All videos, short ones and long ones."""
    edges = group.columns[0].options.regimes
    names = [ALL_VIDEOS, *by_duration(edges[-1:]).order]
    subsets = bootstrap_by_duration(group)
    return {name: subsets[name] for name in names if name in subsets}


def _lead(group: ColumnBootstrap, settings: SettingPairs) -> str:
    """The answer in one sentence: the sign of the intervals over all videos."""
    gaps = [_gap(group, pairs) for pairs in settings.values()]
    if group.n_clusters < 2:
        return "One video cannot tell whether captions or frames serve better."
    if all(gap.low > 0 for gap in gaps):
        return "Readers answer more from captions than from frames."
    if all(gap.high < 0 for gap in gaps):
        return "Readers answer more from frames than from captions."
    if all(gap.low <= 0 <= gap.high for gap in gaps):
        return "These videos show no difference between captions and frames."
    return "Whether captions or frames serve better depends on how the captions are made."


def _gap(group: ColumnBootstrap, pairs: Sequence[ColumnPair]) -> Interval:
    return group.bootstrap.difference([p.a for p in pairs], [p.b for p in pairs])


def _sentences(subsets: Subsets, settings: SettingPairs) -> Iterator[str]:
    """Each setting over all videos, then over long ones, on which captions are said to gain."""
    for setting, pairs in settings.items():
        readers = "one reader" if len(pairs) == 1 else f"the mean of {len(pairs)} readers"
        line = f"With {setting}, {_points(subsets[ALL_VIDEOS], pairs)} than with video, {readers}."
        # The subsets end with the long videos.
        if (long := list(subsets)[-1]) != ALL_VIDEOS:
            line += f" On videos {_in_words(long)}, {_points(subsets[long], pairs)}."
        yield line


def _in_words(regime: str) -> str:
    return regime.replace("<= ", "of up to ").replace("> ", "of more than ")


def _short(regime: str) -> str:
    return regime.replace("<= ", "up to ").replace("> ", "over ")


def _points(subset: ColumnBootstrap, pairs: Sequence[ColumnPair]) -> str:
    """`3.1 points more (95 % interval +0.4 to +5.8)`"""
    gap = _gap(subset, pairs)
    value, low, high = (100 * x for x in (gap.value, gap.low, gap.high))
    amount = f"{abs(value):.1f} points {'more' if value >= 0 else 'fewer'}"
    return (
        f"{amount} (95 % interval {low:+.1f} to {high:+.1f})" if subset.n_clusters > 1 else amount
    )


def _gate_sentence(group: ColumnBootstrap, pairs: Sequence[ColumnPair]) -> Iterator[str]:
    """Who did not pass, and whether the means count it."""
    failing = failing_readers(group)
    arms = [(id(group.columns[pair.a].run), group.columns[pair.a].arm.reader) for pair in pairs]
    names = list(dict.fromkeys(failing[arm] for arm in arms if arm in failing))
    if not names:
        return
    listed = ", ".join(names)
    if len(counted_pairs(group, pairs)) == len(pairs):
        yield f"Readers that did not pass the bias gate are counted, or none were left: {listed}."
    else:
        yield f"The means leave out what did not pass the bias gate: {listed}."


def _chart(
    columns: Sequence[ReportColumn],
    group: ColumnBootstrap,
    subsets: Subsets,
    pairs: Sequence[ColumnPair],
) -> Chart:
    """A panel for each regime: the readers' captions and frames, and the best blind baseline."""
    indexes = sorted({k for pair in pairs for k in (pair.a, pair.b)})
    readers: dict[str, list[int]] = {}
    for k in indexes:
        readers.setdefault(group.columns[k].panel, []).append(k)
    best = sorted(readers, key=lambda r: -max(group.bootstrap.values[k] for k in readers[r]))
    drawn = [reader for reader in readers if reader in best[:MAX_READERS]]
    styles = series_styles(columns)
    panels, notes, drawings = [], [], []
    for name, subset in subsets.items():
        rows = {
            reader: [
                (group.columns[k].series, *_percents(subset.bootstrap.interval(k)))
                for k in readers[reader]
            ]
            for reader in drawn
        }
        baseline = best_baseline(group_accuracy(subset.scored(indexes[0])))
        references = {baseline[0]: 100 * baseline[1].accuracy} if baseline else {}
        title = "all videos" if name == ALL_VIDEOS else _short(name)
        drawings.append((title, rows, references))
        notes += [f"{title} {n} {value:.1f} %" for n, value in references.items()]
    highs = [end for _, rows, _ in drawings for r in rows.values() for *_, end in r]
    for (title, rows, references), subset in zip(drawings, subsets.values(), strict=True):
        svg = charts.comparison_chart(
            rows,
            x_label="right answers, %",
            styles=styles,
            references=references,
            x_max=max(highs),
        )
        size = f"{plural(subset.n, 'question')}, {subset.cluster_counts}"
        panels.append(ChartPanel(title=f"{title[0].upper()}{title[1:]}: {size}", svg=svg))
    left_out = len(readers) - len(drawn)
    more = f" {plural(left_out, 'reader')} with lower accuracies left out." if left_out else ""
    return Chart(
        title="Right answers with captions and with frames",
        panels=tuple(panels),
        legend=legend(
            [group.columns[k] for k in indexes],
            ("best answer without the video", charts.REFERENCE_STYLE),
            all_columns=columns,
        ),
        note=f"Bars: 95 % intervals over videos. Best without the video: {', '.join(notes)}.{more}",
    )


def _percents(interval: Interval) -> tuple[float, float, float]:
    return 100 * interval.value, 100 * interval.low, 100 * interval.high


def _best_setting(groups: Sequence[ColumnBootstrap], warnings: Sequence[str]) -> Section:
    """The most accurate column of each set of questions beside the best blind baseline."""
    text = []
    for group in groups:
        k = max(range(len(group.columns)), key=lambda c: group.bootstrap.values[c])
        figure = group_accuracy(group.scored(k))
        of = f" of {group.question_set}" if group.question_set else ""
        interval = group.bootstrap.interval(k)
        low, high = 100 * interval.low, 100 * interval.high
        between = f" ({low:.1f} to {high:.1f})" if group.n_clusters > 1 else ""
        line = f"{group.columns[k].name} is right on {100 * interval.value:.1f} %{between}{of}"
        if baseline := best_baseline(figure):
            name, accuracy = baseline[0], 100 * baseline[1].accuracy
            line += f"; without the video, {name} has {accuracy:.1f} %"
        text.append(f"{line}.")
    return Section(title=TITLE, lead=text[0] if text else "", text=(*warnings, *text[1:]))
