"""Each reader by setting, with its better window; and whose captions are read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from egomem.evaluate.conditions import VIDEO
from egomem.report.bootstrap_columns import ColumnBootstrap, accuracy_cell
from egomem.report.cell_format import baseline_rows, baselines_sentence, points_cell, with_source
from egomem.report.columns import ReportColumn, short_model
from egomem.report.comparisons import SettingColumns, columns_by_reader, is_above
from egomem.report.open_weights import UNKNOWN
from egomem.report.table import ReportTable, Section, build_table
from egomem.report.wide_tables import split_evenly
from egomem.score import group_accuracy

MAX_SETTINGS = 10
"""Settings side by side; more stand in further tables. LaTeX cuts by its own width."""


def model_section(held: Sequence[ColumnBootstrap]) -> Section:
    """Readers by setting, the paper's table of models; and each one's better window."""
    parts: list[ReportTable] = []
    text: list[str] = []
    for own in held:
        readers = columns_by_reader(own)
        if readers:
            parts += _readers_tables(own, readers)
        better = {name: k for name, at in readers.items() if (k := _better(own, at)) is not None}
        if any(VIDEO in readers[name] for name in better):
            text += _wins(own, readers)
            parts.append(_better_table(own, readers, better))
    return Section(title="Models", text=tuple(text), parts=tuple(parts))


def _captioned(own: ColumnBootstrap, at: SettingColumns) -> list[int]:
    """The columns of CaptionQA with windows of its own choice, in order."""
    ways = ((k, own.entries[k].way) for k in at.values())
    return [k for k, way in ways if way.is_caption_qa and way.captions != "aligned"]


def _better(own: ColumnBootstrap, at: SettingColumns) -> int | None:
    captions = _captioned(own, at)
    return max(captions, key=lambda k: own.entries[k].accuracy or 0.0) if captions else None


def _readers_tables(
    own: ColumnBootstrap, readers: dict[str, SettingColumns]
) -> Iterator[ReportTable]:
    """A row for each reader, a column for each setting."""
    every = list(dict.fromkeys(s for at in readers.values() for s in at))
    made = [group_accuracy(e.sheet) for e in own.entries]
    for settings in split_evenly(every, MAX_SETTINGS):
        rows: list[list[object]] = []
        for name, at in readers.items():
            row: list[object] = [name, own.entries[next(iter(at.values()))].weights, own.n]
            cells = {
                s: with_source(own.entries[k], accuracy_cell(made[k], own.n)) for s, k in at.items()
            }
            rows.append([*row, *(cells.get(s, "") for s in settings)])
        blind = [
            [name, "", own.n, *(value for _ in settings)]
            for name, value in baseline_rows([made[0]])
        ]
        yield build_table(
            own.titled(
                f"Accuracy % by reader{'' if settings == every else ': ' + ', '.join(settings)}"
            ),
            ("reader", "weights", "n", *settings),
            [*rows, *blind],
            "Weights: open where anyone can download them, by a short table of families of models; "
            "state what it does not know, or has wrong, with --open and --closed.",
            foot=len(blind),
        )


def _better_table(
    own: ColumnBootstrap, readers: dict[str, SettingColumns], better: dict[str, int]
) -> ReportTable:
    rows: list[list[object]] = []
    for name, k in better.items():
        video = readers[name].get(VIDEO)
        entry = own.entries[k]
        row = [
            name,
            entry.weights,
            entry.column.setting,
            own.n,
            accuracy_cell(group_accuracy(entry.sheet)),
        ]
        if video is None:
            rows.append([*row, "-", "-"])
            continue
        gap = points_cell(own.drawn.difference(k, video), own.groups, own.n)
        rows.append([*row, accuracy_cell(group_accuracy(own.entries[video].sheet)), gap])
    return build_table(
        own.titled("Better window of each reader"),
        ("reader", "weights", "window", "n", "captions %", "video %", "points"),
        rows,
        "The window with the higher accuracy, chosen after seeing both, which favours captions. "
        f"{baselines_sentence(group_accuracy(own.entries[0].sheet))}",
    )


def _wins(own: ColumnBootstrap, readers: dict[str, SettingColumns]) -> Iterator[str]:
    """How many readers do better with captions than with frames, as the paper counts them."""
    wins: dict[str, list[int]] = {}
    by_weights: dict[str, list[int]] = {}
    for at in readers.values():
        better, video = _better(own, at), at.get(VIDEO)
        if video is None or better is None:
            continue
        for k in _captioned(own, at):
            _count(wins, own.entries[k].column.setting, is_above(own, k, video))
        kind = own.entries[video].weights
        _count(by_weights, kind, is_above(own, better, video))
    if wins:
        each = ", ".join(f"{s} {w} of {n}" for s, (w, n) in wins.items())
        kinds = ", ".join(
            f"{name if name != UNKNOWN else 'weights not known'} {w} of {n}"
            for name, (w, n) in by_weights.items()
        )
        which = own.titled("Readers that do better with captions than with frames")
        yield (
            f"{which}: {each}; with the better window {kinds}. Choosing the better window after "
            "seeing both favours captions."
        )


def _count(held: dict[str, list[int]], name: str, won: bool) -> None:
    counts = held.setdefault(name, [0, 0])
    counts[0] += won
    counts[1] += 1


def cross_captioning_section(entries: Sequence[ReportColumn]) -> Section:
    """Captioner x reader, with the spread over captioners (cross-captioning)."""
    parts = []
    for setting in dict.fromkeys(e.column.setting for e in entries if e.column.captioner):
        own = [e for e in entries if e.column.setting == setting and e.column.captioner]
        captioners = list(dict.fromkeys(e.column.captioner for e in own))
        readers = list(dict.fromkeys(e.column.reader for e in own))
        if len(captioners) < 2 or not any(e.run.config.cross for e in own):
            continue
        at = {(e.column.captioner, e.column.reader): e for e in own}
        rows: list[list[object]] = []
        for c in captioners:
            held = [at.get((c, r)) for r in readers]
            cells = [
                with_source(e, accuracy_cell(group_accuracy(e.sheet))) if e else "-" for e in held
            ]
            rows.append([short_model(c), *cells])
        spread = []
        for r in readers:
            accuracies = (at[c, r].accuracy for c in captioners if (c, r) in at)
            known = [v for v in accuracies if v is not None]
            spread.append(f"{max(known) - min(known):.1f}" if len(known) > 1 else "")
        rows.append(["max - min", *spread])
        made = group_accuracy(own[0].sheet)
        blind = [[name, *(value for _ in readers)] for name, value in baseline_rows([made])]
        heads = ("captions by", *map(short_model, readers))
        title = f"{setting}, accuracy %, n {made.n}"
        parts.append(build_table(title, heads, [*rows, *blind], foot=1 + len(blind)))
    return Section(title="Whose captions", parts=tuple(parts))
