"""Plots of a benchmark, one PNG each. Needs the extra `plots`."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from egomem.benchmarks.benchmark import Benchmark
from egomem.benchmarks.statistics import measured_values, stats
from egomem.errors import MissingExtraError, UsageError, reason
from egomem.palette import BAR
from egomem.records import ABSTAIN_OPTION

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

AXIS_LABELS = {
    "durations": "length of video",
    "evidence_count": "pieces of evidence per question",
    "evidence_length": "length of evidence",
    "evidence_position": "start of evidence, as a share of the video",
    "gaps": "from evidence to question",
}
SHOWN_SHARE = 0.99
"""The share of values that the axis shows in full; the rest is in the last bar, which says so."""

_GROUP_LABELS = {"key": "position of key"}
_MAX_LABEL_CHARACTERS = 34
"""Characters of a bar's label."""


def draw_plots(benchmark: Benchmark, folder: Path | str) -> list[Path]:
    """Histograms of times and bars of tags that the benchmark has; returns the files written.

    Raises MissingExtraError without matplotlib, and UsageError where `folder` cannot be a folder.
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
        from matplotlib.ticker import MaxNLocator
    except ImportError:
        raise MissingExtraError("matplotlib, which draws plots,", "plots") from None
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"{folder} cannot be a folder of plots: {reason(error)}", "name another"
        ) from None
    written: list[Path] = []

    def save(name: str, figure: Figure) -> None:
        FigureCanvasAgg(figure)
        path = folder / (re.sub(r"[^\w-]+", "_", name) + ".png")
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Glyph .* missing")  # a box stands for it
            figure.savefig(path, dpi=120)
        written.append(path)

    for name, values in measured_values(benchmark).items():
        if values and (any(values) or name != "evidence_length"):  # points have no length
            figure = Figure(figsize=(5, 3), layout="constrained")
            axes = figure.subplots()
            axes.yaxis.set_major_locator(MaxNLocator(5, integer=True))
            if name == "evidence_count":
                axes.xaxis.set_major_locator(MaxNLocator(8, integer=True))
            _draw_histogram(axes, name, values)
            save(name, figure)
    counted = stats(benchmark)
    groups = {"key": counted.keys, **counted.counts}
    bar_groups = [("questions", name, counts) for name, counts in groups.items()]
    for what, name, counts in (*bar_groups, ("videos", "source", counted.videos_by_source)):
        if len(counts) > 1 and name != ABSTAIN_OPTION:
            figure = Figure(figsize=(5, 0.8 + 0.25 * len(counts)), layout="constrained")
            _draw_bars(figure.subplots(), f"{what} by {_GROUP_LABELS.get(name, name)}", counts)
            save(name if what == "questions" else f"{what}_by_{name}", figure)
    return written


def _draw_histogram(axes: Axes, name: str, values: Sequence[float]) -> None:
    unit, scale = time_unit(name, values)
    scaled = np.asarray(values, np.float64) / scale
    maximum = float(scaled.max())
    axis_end = float(np.quantile(scaled, SHOWN_SHARE))
    bins: Any = 30
    if name == "evidence_position":
        bins, axis_end = np.linspace(0, 1, 21), maximum
    elif name == "evidence_count":
        axis_end = max(round(axis_end), 1)
        bins = np.arange(0.5, axis_end + 1, max(1, axis_end // 30))
        axes.set_xlim(0.4, max(axis_end, 4) + 0.6)
    elif maximum <= 2 * axis_end:
        axis_end = maximum
    beyond = int((scaled > axis_end).sum())
    axes.hist(np.minimum(scaled, axis_end), bins=bins, color=BAR, edgecolor="white", linewidth=0.5)
    title = f"n {len(values)}, median {_format_number(float(np.median(scaled)))}{unit}"
    if beyond:
        larger = "more" if name == "evidence_count" else "longer"
        title += f"; last bar: {beyond} {larger}, up to {_format_number(maximum)}{unit}"
    axes.set_title(title, fontsize=9)
    axes.set_xlabel(AXIS_LABELS[name] + (f" ({unit.strip()})" if unit else ""))
    axes.set_ylabel("videos" if name == "durations" else "questions")
    axes.spines[["top", "right"]].set_visible(False)


def _format_number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def time_unit(name: str, values: Sequence[float]) -> tuple[str, float]:
    """Seconds, minutes or hours, by what is usual in the data."""
    if name not in ("durations", "evidence_length", "gaps"):
        return "", 1.0
    median = float(np.median(np.abs(values)))
    if median < 120:
        return " s", 1.0
    return (" min", 60.0) if median < 7200 else (" h", 3600.0)


def _draw_bars(axes: Axes, title: str, counts: Mapping[str, int]) -> None:
    labels = [
        k if len(k) <= _MAX_LABEL_CHARACTERS else f"{k[: _MAX_LABEL_CHARACTERS - 1]}…"
        for k in counts
    ][::-1]
    numbers = list(counts.values())[::-1]
    bars = axes.barh(range(len(numbers)), numbers, color=BAR)
    axes.bar_label(bars, padding=2, fontsize=8)
    # A data set's text is text: a dollar sign in it begins no formula.
    axes.set_yticks(range(len(labels)), labels, parse_math=False)
    axes.set_title(title, fontsize=9, parse_math=False)
    axes.margins(x=0.12)
    axes.set_ylim(-0.6, len(numbers) - 0.4)
    axes.set_xticks([])
    axes.spines[["top", "right", "bottom"]].set_visible(False)
