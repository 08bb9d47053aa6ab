"""Plots of a benchmark, one PNG each. Needs the extra `plots`."""

from __future__ import annotations

from pathlib import Path

from egomem.benchmarks.benchmark import Benchmark
from egomem.benchmarks.tables import stats, values
from egomem.errors import MissingExtraError

_SPREADS = {
    "durations": ("length of video (min)", 1 / 60),
    "evidence_count": ("pieces of evidence per question", 1),
    "evidence_length": ("length of evidence (s)", 1),
    "evidence_position": ("start of evidence, share of the video", 1),
    "gaps": ("evidence to question (min)", 1 / 60),
}
_BARS = ("visual", "source", "scenario", "domain", "intent", "perspective", "type")


def plots(benchmark: Benchmark, folder: Path) -> list[Path]:
    """Histograms of times and bars of tags that the benchmark has; returns the files written.

    Raises MissingExtraError without matplotlib.
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("matplotlib, which draws plots,", "plots") from None
    folder.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []

    def save(name: str, figure: Figure) -> None:
        FigureCanvasAgg(figure)
        path = folder / f"{name}.png"
        figure.savefig(path, dpi=120)
        written.append(path)

    for name, found in values(benchmark).items():
        if not found:
            continue
        label, scale = _SPREADS[name]
        figure = Figure(figsize=(5, 3), layout="constrained")
        axes = figure.subplots()
        axes.hist([value * scale for value in found], bins=min(30, max(5, len(set(found)))))
        axes.set(xlabel=label, ylabel="videos" if name == "durations" else "questions")
        save(name, figure)
    for name, counts in stats(benchmark).counts.items():
        if name not in _BARS or not counts:
            continue
        figure = Figure(figsize=(5, 1 + 0.25 * len(counts)), layout="constrained")
        axes = figure.subplots()
        labels = list(counts)[::-1]
        axes.barh(labels, [counts[label] for label in labels])
        axes.set(xlabel="questions", title=name)
        save(name, figure)
    return written
