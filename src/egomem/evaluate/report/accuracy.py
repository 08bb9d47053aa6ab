"""Accuracy of every column, with its interval, n by status and the blind baselines."""

from __future__ import annotations

from collections.abc import Sequence

from egomem.evaluate.report import svg
from egomem.evaluate.report.draws import (
    RESAMPLING,
    Draws,
    best_of,
    looks,
    panels,
    statuses,
)
from egomem.evaluate.report.entries import Entry
from egomem.evaluate.report.grid import Chart, Grid, Panel, Section, grid
from egomem.score import answerability, figure
from egomem.score.summary import percent


def overall(entries: Sequence[Entry], held: Sequence[Draws]) -> Section:
    """Strict accuracy with its interval, n by status, and the blind baselines."""
    unscored = sum(e.sheet.unscored for e in entries[:1])
    text = [f"{unscored} questions have no key and are not scored."] if unscored else []
    parts: list[Grid | Chart] = []
    for drawn in held:
        parts.append(_table(drawn, len(held) > 1))
        if drawn.groups > 1:
            parts.append(_chart(entries, drawn))
    return Section(title="Accuracy", text=tuple(text), parts=(*parts, *_answerability(entries)))


def _table(drawn: Draws, several: bool) -> Grid:
    rows: list[list[object]] = []
    for k, entry in enumerate(drawn.entries):
        made = figure(entry.sheet)
        accuracy = percent(made.accuracy)
        rows.append([entry.name, made.n, accuracy, drawn.interval(k), statuses(made), drawn.groups])
    blind: list[list[object]] = [["chance", made.n, percent(made.chance)]]
    blind += [[name, b.n, percent(b.accuracy)] for name, b in made.blind.items()]
    return grid(
        f"Overall, {len(drawn.entries[0].sheet)} questions" if several else "Overall",
        ("setting", "n", "accuracy %", "95 % interval", "n by status", "clusters"),
        [*rows, *([*row, "", "", ""] for row in blind)],
        "Whatever is not a right answer counts as wrong. Below the line: what the questions give "
        f"away without looking; a figure has to beat it. {RESAMPLING}.",
        foot=len(blind),
    )


def _chart(entries: Sequence[Entry], drawn: Draws) -> Chart:
    made = figure(drawn.entries[0].sheet)
    across = {"chance": 100 * (made.chance or 0.0)}
    if best := best_of(made):
        across[f"best blind baseline ({best[0]})"] = 100 * best[1].accuracy
    at = {id(e): k for k, e in enumerate(drawn.entries)}
    top = 100 * max(drawn.drawn.interval(k).high for k in at.values())
    found = []
    for title, own in panels(drawn.entries).items():
        rows = []
        for entry in own:
            held = drawn.drawn.interval(at[id(entry)])
            rows.append((entry.series, 100 * held.value, 100 * held.low, 100 * held.high))
        made_svg = svg.intervals(
            rows,
            x="accuracy %",
            looks=looks(entries),
            across=across,
            top=max(top, *across.values()),
        )
        found.append(Panel(title=title, svg=made_svg))
    note = ", ".join(f"{name} {value:.1f} %" for name, value in across.items())
    return Chart(
        title="Accuracy with 95 % intervals",
        panels=tuple(found),
        note=f"n {made.n}. Dashed: {note}.",
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
                held.answerable,
                held.n - held.answerable,
                percent(held.f1),
                percent(held.f1_always_answering),
                percent(held.f1_unanswerable),
                percent(held.f1_macro),
            ]
        )
    heads = (
        "setting", "n answerable", "n unanswerable", "Ans-F1 %", "always answering %",
        "unanswerable F1 %", "macro F1 %",
    )  # fmt: skip
    note = "Positive is answerable (methods of SuperMemory-VQA, inferred)."
    return [grid("Answerable or not", heads, rows, note)]
