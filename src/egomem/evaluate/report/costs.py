"""What a run cost: frames, tokens at reuse 1 to 32, seconds and money."""

from __future__ import annotations

from collections.abc import Sequence

from egomem.evaluate.report import svg
from egomem.evaluate.report.entries import Entry
from egomem.evaluate.report.grid import Chart, Grid, Section, grid
from egomem.score import REUSE, account, cost, front
from egomem.score.cost import Cost


def costs(entries: Sequence[Entry]) -> Section:
    """Tokens and frames per question, the front of cost and accuracy, and the frame accounting."""
    held: dict[str, Cost] = {}
    for entry in entries:
        asked = entry.run.usage(entry.column)
        if asked:
            held[entry.name] = cost(asked, entry.run.built(entry.column))
    if not held:
        return Section(title="Cost")
    parts: list[Grid | Chart] = [_accounting(entries)]
    if not any(c.tokens_ask for c in held.values()):
        return Section(title="Cost", text=("No model was asked.",), parts=tuple(parts))
    rows = [
        [
            name,
            *(f"{c.tokens[n]:,.0f}" for n in REUSE),
            f"{c.frames[1]:,.1f}",
            f"{c.frames[REUSE[-1]]:,.1f}",
            f"{c.seconds:,.1f}",
            _money(c),
        ]
        for name, c in held.items()
    ]
    heads = (
        "setting", *(f"tokens at {n}" for n in REUSE), "frames at 1", f"frames at {REUSE[-1]}",
        "seconds in all", "money in all",
    )  # fmt: skip
    parts.append(
        grid(
            "Per question, where n questions share a memory",
            heads,
            rows,
            "B/n + q: the captions of a video over n, and one question (CapMem's amortisation). "
            "Tokens in and out; seconds are those of all replies together. Replies out of a cache "
            "count in full.",
        )
    )
    series: dict[str, Sequence[float | None]] = {
        name: [c.tokens[n] for n in REUSE] for name, c in held.items() if c.tokens_ask
    }
    labels = [str(n) for n in REUSE]
    drawn = svg.lines(series, labels, y="tokens per question", log=True)
    parts.append(Chart(title="Amortisation: questions that share a memory", svg=drawn))
    points = {
        e.name: (held[e.name].tokens[1], e.accuracy)
        for e in entries
        if e.name in held and e.accuracy is not None
    }
    best = front(points)
    drawn = svg.points(points, x="tokens per question at reuse 1", y="accuracy %", joined=best)
    parts.append(Chart(title="Cost and accuracy", svg=drawn, note=f"front: {', '.join(best)}"))
    return Section(title="Cost", parts=tuple(parts))


def _accounting(entries: Sequence[Entry]) -> Grid:
    """Frames that captions need against frames that are sent again for each question."""
    run = entries[0].run
    config, questions = run.config, run.questions
    about = {q.recording for q in questions}
    videos = [v for v in run.benchmark.videos if v.id in about]
    windows = {w.window for w in config.ways if w.captions == "windows" and w.strategy == "caption"}
    made = account(videos, questions, cap=config.frames, fps=config.fps, passes=len(windows) or 1)
    ratio = "-" if made.ratio is None else f"{made.ratio:.2f}"
    rows = [
        ["captions, one window length", f"{made.per_pass:,}"],
        [f"captions, all {made.passes} window lengths", f"{made.build:,}"],
        ["frames for each question", f"{made.direct:,}"],
        ["times more", ratio],
    ]
    unknown = f"; {made.unknown} videos have no stated length" if made.unknown else ""
    note = f"min({config.frames}, floor(seconds x {config.fps:g})) for each video{unknown}."
    return grid("Frames by accounting", ("", "frames"), rows, note)


def _money(held: Cost) -> str:
    if held.money_is_lower_bound:
        return f"at least ${held.money:.4f}" if held.money else "price unknown"
    return f"${held.money:.4f}"
