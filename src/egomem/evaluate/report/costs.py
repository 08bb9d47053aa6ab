"""What a run cost: frames, tokens at reuse 1 to 32, seconds and money."""

from __future__ import annotations

from collections.abc import Sequence

from egomem.evaluate.report import svg
from egomem.evaluate.report.draws import legend, looks, panels
from egomem.evaluate.report.entries import Entry
from egomem.evaluate.report.grid import Chart, Grid, Panel, Section, grid
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
    # An oracle costs what nobody can have it for.
    real = (e for e in entries if not e.column.setting.endswith("@evidence"))
    asking = [e for e in real if e.name in held and held[e.name].tokens_ask]
    parts += [_table(held), _amortised(entries, asking, held), _front(entries, asking, held)]
    return Section(title="Cost", parts=tuple(parts))


def _table(held: dict[str, Cost]) -> Grid:
    rows = [
        [
            name,
            c.questions,
            *(f"{c.tokens[n]:,.0f}" for n in REUSE),
            f"{c.frames[1]:,.1f}",
            f"{c.frames[REUSE[-1]]:,.1f}",
            f"{c.seconds:,.1f}",
            _money(c),
        ]
        for name, c in held.items()
    ]
    heads = (
        "setting", "n", *(f"tokens at {n}" for n in REUSE), "frames at 1",
        f"frames at {REUSE[-1]}", "seconds in all", "US dollars in all",
    )  # fmt: skip
    return grid(
        "Per question, where so many questions share a memory",
        heads,
        rows,
        "B/n + q: the captions of a video over n, and one question (CapMem's amortisation). "
        "Tokens in and out; seconds are those of all replies together, captions included. Replies "
        "out of a cache count in full. Money is a lower bound where a price is not known, and "
        "stands as - where none is.",
    )


def _amortised(entries: Sequence[Entry], asking: Sequence[Entry], held: dict[str, Cost]) -> Chart:
    found = []
    for title, own in panels(asking).items():
        series = {e.series: [held[e.name].tokens[n] for n in REUSE] for e in own}
        drawn = svg.lines(
            series,
            [(str(n), "") for n in REUSE],
            y="tokens per question",
            x="questions that share a memory",
            looks=looks(entries),
            log=True,
        )
        found.append(Panel(title=title, svg=drawn))
    return Chart(
        title="Amortisation",
        panels=tuple(found),
        legend=legend(asking, among=entries),
    )


def _front(entries: Sequence[Entry], asking: Sequence[Entry], held: dict[str, Cost]) -> Chart:
    points = {e.name: (held[e.name].tokens[1], a) for e in asking if (a := e.accuracy) is not None}
    best = front(points)
    found = []
    for title, own in panels(asking).items():
        # The line is that of all readers; each drawing shows its own points on it.
        here = {e.series: points[e.name] for e in own if e.name in points}
        drawn = svg.points(
            here,
            x="tokens per question at reuse 1",
            y="accuracy %",
            looks=looks(entries),
            joined=[points[name] for name in best],
            within=list(points.values()),
        )
        found.append(Panel(title=title, svg=drawn))
    return Chart(
        title="Cost and accuracy",
        panels=tuple(found),
        legend=legend(asking, ("front of all", svg.REFERENCE), among=entries),
        note=f"On the front, cheapest first: {', '.join(best)}.",
    )


def _accounting(entries: Sequence[Entry]) -> Grid:
    """Frames that captions need against frames that are sent again for each question."""
    run = entries[0].run
    config, questions = run.config, run.questions
    about = {q.recording for q in questions}
    videos = [v for v in run.benchmark.videos if v.id in about]
    windows = {w.window for w in config.ways if w.captions == "windows" and w.strategy == "caption"}
    made = account(videos, questions, cap=config.frames, fps=config.fps, passes=len(windows) or 1)
    ratio = "" if made.ratio is None else f"{made.ratio:.2f} times the captions"
    lengths = "one window length" if made.passes == 1 else f"{made.passes} window lengths"
    rows: list[list[object]] = [
        [f"captions, {lengths}", f"{made.build:,}", f"{made.per_pass:,} each"],
        ["frames for each question", f"{made.direct:,}", ratio],
    ]
    unknown = f"; {made.unknown} videos have no stated length" if made.unknown else ""
    note = (
        f"{len(videos)} videos, {len(questions)} questions; min({config.frames}, floor(seconds x "
        f"{config.fps:g})) for each video{unknown}."
    )
    return grid("Frames by accounting", ("frames of", "frames", ""), rows, note)


def _money(held: Cost) -> str:
    if held.money_is_lower_bound:
        return f"at least {held.money:.4f}" if held.money else "-"
    return f"{held.money:.4f}"
