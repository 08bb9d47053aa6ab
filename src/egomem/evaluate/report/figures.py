"""From entries to tables and drawings: the views of the paper."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from egomem.answer.verdict import CAVEAT
from egomem.evaluate.report import svg
from egomem.evaluate.report.entries import Entry, group, short_model
from egomem.evaluate.report.grid import Chart, Grid, Section, grid
from egomem.score import (
    Bootstrap,
    Figure,
    Interval,
    View,
    answerability,
    bootstrap,
    effects,
    figure,
    leave_one_out,
    middle_drop,
    minimum_detectable,
    of_video,
    permutation_test,
    standard_views,
    strata,
    table,
)
from egomem.score.summary import percent
from egomem.score.tables import UNKNOWN

RESAMPLING = (
    "95 % percentile intervals of a bootstrap of 10,000 draws of whole videos within regimes of "
    "duration (at most 20 min, longer)"
)
DROPPED = ("overall", "long")
"""Views that have tables of their own."""


class Draws(NamedTuple):
    """One run's columns on the same draws."""

    entries: list[Entry]
    drawn: Bootstrap


def draws(entries: Sequence[Entry]) -> list[Draws]:
    """A bootstrap for each run whose questions have keys."""
    found = []
    for run in dict.fromkeys(id(e.run) for e in entries):
        own = [e for e in entries if id(e.run) == run]
        if len(own[0].sheet):
            right = np.column_stack([e.sheet.right for e in own])
            first = own[0].sheet
            found.append(Draws(own, bootstrap(right, first.clusters, strata(first))))
    return found


def overall(entries: Sequence[Entry], held: Sequence[Draws]) -> Section:
    """Strict accuracy with its interval, n by status, and the blind baselines."""
    rows = []
    for own, drawn in held:
        for k, entry in enumerate(own):
            made = figure(entry.sheet)
            rows.append(
                [
                    entry.name,
                    made.n,
                    percent(made.accuracy),
                    _interval(drawn.interval(k)),
                    statuses(made),
                    len(set(entry.sheet.clusters)),
                ]
            )
    blind = [_blind(entries[0], figure(entries[0].sheet))] if entries else []
    unscored = sum(e.sheet.unscored for e in entries[:1])
    text = [f"{unscored} questions have no key and are not scored."] if unscored else []
    return Section(
        title="Accuracy",
        text=tuple(text),
        parts=(
            grid(
                "Overall",
                ("setting", "n", "accuracy %", "95 % interval", "n by status", "videos"),
                rows,
                "Whatever is not a right answer counts as wrong. " + RESAMPLING + ".",
            ),
            *blind,
            *_answerability(entries),
        ),
    )


def _blind(entry: Entry, made: Figure) -> Grid:
    rows = [["chance", made.n, percent(made.chance)]]
    rows += [[name, b.n, percent(b.accuracy)] for name, b in made.blind.items()]
    return grid(
        "Blind baselines",
        ("without looking", "n", "accuracy %"),
        rows,
        "What the questions give away; a figure has to beat them.",
    )


def _answerability(entries: Sequence[Entry]) -> list[Grid]:
    if not any(q.answerable is False for e in entries[:1] for q in e.sheet.questions):
        return []
    rows = []
    for entry in entries:
        held = answerability(entry.sheet)
        rows.append(
            [
                entry.name,
                percent(held.f1),
                percent(held.f1_always_answering),
                percent(held.f1_unanswerable),
                percent(held.f1_macro),
            ]
        )
    heads = ("setting", "Ans-F1 %", "always answering", "unanswerable F1", "macro F1")
    note = "Positive is answerable (methods of SuperMemory-VQA, inferred)."
    return [grid("Answerable or not", heads, rows, note)]


def model_table(held: Sequence[Draws]) -> Section:
    """Each reader: frames against the better window of captions, paired on the same draws."""
    rows, wins, tests = [], {"open": [0, 0], "closed": [0, 0]}, []
    for own, drawn in held:
        at = {(e.column.reader, e.column.setting): k for k, e in enumerate(own) if _own(e)}
        for reader in dict.fromkeys(e.column.reader for e in own if e.column.reader):
            video = at.get((reader, "video"))
            captions = [
                (k, own[k])
                for (who, _), k in at.items()
                if who == reader and own[k].way.strategy == "caption"
                and own[k].way.captions != "aligned"
            ]  # fmt: skip
            if not captions or video is None:
                continue
            better, best = max(captions, key=lambda c: (c[1].accuracy or 0.0, c[1].name))
            gap = drawn.difference(better, video)
            kind = group(reader)
            wins[kind][0] += gap.value > 0
            wins[kind][1] += 1
            clean = at.get((reader, "clean"))
            rows.append(
                [
                    short_model(reader),
                    kind,
                    _accuracy(own[clean]) if clean is not None else "",
                    _accuracy(own[video]),
                    *[f"{e.column.setting} {_accuracy(e)}" for _, e in captions[:1]],
                    f"{best.column.setting} {_accuracy(best)}",
                    _signed(gap),
                ]
            )
            for k, entry in captions:
                tests.append(_test(short_model(reader), own, drawn, k, video, entry))
    if not rows:
        return Section(title="Models")
    counted = [f"{k}: {w} of {n}" for k, (w, n) in wins.items() if n]
    heads = (
        "reader", "weights", "clean %", "video %", "first window", "better window",
        "better - video (points)",
    )  # fmt: skip
    return Section(
        title="Models",
        text=(
            "Captions read beat frames seen for " + ", ".join(counted) + ". Choosing the better "
            "window after seeing both favours captions.",
        ),
        parts=(
            grid("Captions against frames", heads, rows, RESAMPLING + ", paired."),
            grid(
                "Tests",
                ("reader", "captions", "difference", "p", "detectable"),
                tests,
                "p: two-sided permutation test that flips whole videos. Detectable: the smallest "
                "true difference that such a comparison would find with power 0.8.",
            ),
        ),
    )


def _own(entry: Entry) -> bool:
    return entry.column.captioner in ("", entry.column.reader) or not entry.run.config.cross


def _test(
    reader: str, own: Sequence[Entry], drawn: Bootstrap, k: int, video: int, entry: Entry
) -> list[str]:
    p = permutation_test(entry.sheet.right, own[video].sheet.right, entry.sheet.clusters)
    least = minimum_detectable(drawn.standard_error(k, video))
    gap = _signed(drawn.difference(k, video))
    return [reader, entry.column.setting, gap, f"{p:.3f}", f"{100 * least:.1f}"]


def cross(entries: Sequence[Entry]) -> Section:
    """Captioner x reader, with the spread over captioners (cross-captioning)."""
    parts = []
    for setting in dict.fromkeys(e.column.setting for e in entries if e.column.captioner):
        own = [e for e in entries if e.column.setting == setting and e.column.captioner]
        captioners = list(dict.fromkeys(e.column.captioner for e in own))
        readers = list(dict.fromkeys(e.column.reader for e in own))
        if len(captioners) < 2 or not any(e.run.config.cross for e in own):
            continue
        at = {(e.column.captioner, e.column.reader): e.accuracy for e in own}
        rows = [[short_model(c), *(_percent(at.get((c, r))) for r in readers)] for c in captioners]
        spread = []
        for r in readers:
            known = [v for c in captioners if (v := at.get((c, r))) is not None]
            spread.append(f"{max(known) - min(known):.1f}" if len(known) > 1 else "")
        rows.append(["max - min", *spread])
        parts.append(
            grid(f"{setting}, accuracy %", ("captions by", *map(short_model, readers)), rows)
        )
    return Section(title="Whose captions", parts=tuple(parts))


def views(entries: Sequence[Entry], *, bins: int = 3) -> Section:
    """Accuracy by tag, position, duration, source and so on."""
    parts: list[Grid | Chart] = []
    for view in standard_views(bins=bins):
        if view.name in DROPPED:
            continue
        made = _view(entries, view)
        if made is None:
            continue
        parts.append(made)
        if view.name in ("duration", "evidence position"):
            drawn = _chart(entries, view)
            parts += [drawn] if drawn else []
    parts += _middle(entries)
    parts += _without(entries)
    return Section(title="Views", parts=tuple(parts))


def _view(entries: Sequence[Entry], view: View) -> Grid | None:
    held = [table(e.sheet, view) for e in entries]
    labels = list(dict.fromkeys(row.label for t in held for row in t.rows))
    if labels in ([], [UNKNOWN]) or len(labels) < 2:
        return None
    rows = []
    for label in labels:
        figures = [next((r.figure for r in t.rows if r.label == label), None) for t in held]
        first = next(f for f in figures if f is not None)
        blind = max(first.blind.items(), key=lambda b: b[1].accuracy, default=None)
        rows.append(
            [
                label,
                first.n,
                *(_figure(f, first.n) for f in figures),
                percent(first.chance),
                f"{blind[0]} {percent(blind[1].accuracy)}" if blind else "",
            ]
        )
    heads = ("", "n", *(e.name for e in entries), "chance", "best blind baseline")
    return grid(f"{view.name}, accuracy %", heads, rows, view.note)


def _chart(entries: Sequence[Entry], view: View) -> Chart | None:
    held = {e.name: table(e.sheet, view) for e in entries}
    labels = list(dict.fromkeys(r.label for t in held.values() for r in t.rows))
    labels = [x for x in labels if x not in (UNKNOWN, "no evidence")]
    if len(labels) < 2:
        return None
    series: dict[str, list[float | None]] = {}
    for name, made in held.items():
        at = {r.label: r.figure.accuracy for r in made.rows}
        series[name] = [None if (a := at.get(x)) is None else 100 * a for x in labels]
    return Chart(title=f"Accuracy by {view.name}", svg=svg.lines(series, labels, y="accuracy %"))


def _middle(entries: Sequence[Entry]) -> list[Grid]:
    view = next(v for v in standard_views() if v.name == "evidence position")
    rows = []
    for entry in entries:
        drop = middle_drop(table(entry.sheet, view))
        if drop is not None:
            rows.append([entry.name, f"{100 * drop:+.1f}"])
    note = "Mean of the first and last third, less the middle one; our reading of the term."
    return [grid("Middle drop (points)", ("setting", "drop"), rows, note)] if rows else []


def _without(entries: Sequence[Entry]) -> list[Grid]:
    view = View("source", of_video("source_dataset"))
    held = [leave_one_out(e.sheet, view) for e in entries]
    labels = list(dict.fromkeys(r.label for t in held for r in t.rows))
    if not labels:
        return []
    rows = []
    for label in labels:
        figures = [next((r.figure for r in t.rows if r.label == label), None) for t in held]
        n = next(f.n for f in figures if f is not None)
        rows.append([label, n, *(_figure(f, n) for f in figures)])
    return [grid("Leave one source out, accuracy %", ("", "n", *(e.name for e in entries)), rows)]


def verified(entries: Sequence[Entry]) -> Section:
    """What the look at the frames did to the caption answers, by level of support."""
    rows = []
    for entry in entries:
        if entry.way.strategy != "verify":
            continue
        for level, held in effects(entry.sheet).items():
            rows.append(
                [
                    entry.name,
                    level,
                    held.n,
                    held.overridden,
                    held.fixed,
                    held.broken,
                    held.blocked,
                    held.blocked_fix,
                    held.blocked_break,
                ]
            )
    heads = (
        "setting", "support", "n", "overridden", "fixed", "broken", "blocked",
        "would have fixed", "would have broken",
    )  # fmt: skip
    text = (CAVEAT,) if rows else ()
    return Section(
        title="Retrieve and verify",
        text=text,
        parts=(grid("Effects", heads, rows),) if rows else (),
    )


def statuses(made: Figure) -> str:
    """`38 parsed, 2 refused`"""
    return ", ".join(f"{n} {status}" for status, n in made.by_status.items())


def _figure(made: Figure | None, n: int) -> str:
    """An accuracy; with n where it is not the row's, and with statuses where some are not read."""
    if made is None:
        return "-"
    other = {k: v for k, v in made.by_status.items() if k != "parsed"}
    more = [f"n {made.n}"] if made.n != n else []
    more += [f"{v} {k}" for k, v in other.items()]
    return percent(made.accuracy) + (f" ({', '.join(more)})" if more else "")


def _accuracy(entry: Entry) -> str:
    return _percent(entry.accuracy)


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}"


def _interval(held: Interval) -> str:
    return f"{100 * held.low:.1f} to {100 * held.high:.1f}"


def _signed(held: Interval) -> str:
    low, high = 100 * held.low, 100 * held.high
    return f"{100 * held.value:+.1f} [{low:+.1f}, {high:+.1f}]"
