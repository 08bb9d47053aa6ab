"""Each reader by setting: frames against captions, by duration, with tests; and whose captions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from egomem.evaluate.report.draws import (
    RESAMPLING,
    Draws,
    best_blind,
    drawn,
    shown,
    signed,
)
from egomem.evaluate.report.entries import Entry, short_model
from egomem.evaluate.report.grid import Grid, Section, Value, grid
from egomem.evaluate.report.weights import UNKNOWN
from egomem.evaluate.ways import CAPTIONED
from egomem.score import Figure, duration, figure, minimum_detectable, permutation_test
from egomem.score.summary import percent

Pair = tuple[int, int]
"""Columns a and b of the same draws, for a minus b."""

READERS = 3
"""Readers of a setting that are tested against each other; of more, there are too many pairs."""


def model_table(held: Sequence[Draws]) -> Section:
    """Readers by setting; captions against frames, paired; by duration; tests."""
    parts: list[Grid] = []
    text: list[str] = []
    for own in held:
        readers = _readers(own)
        if readers:
            parts.append(_readers_table(own, readers))
        gaps = {name: _gaps(own, at) for name, at in readers.items()}
        if any(gaps.values()):
            text += _wins(own, readers)
            parts.append(_by_duration(own, gaps))
        tests = list(_tests(own, readers))
        if tests:
            parts.append(_tested(own, tests))
    return Section(title="Models", text=tuple(text), parts=tuple(parts))


Columns = dict[str, int]
"""Setting -> column, of one reader that reads captions of its own (or those of all)."""


def _readers(own: Draws) -> dict[str, Columns]:
    found: dict[str, Columns] = {}
    for k, entry in enumerate(own.entries):
        by_others = entry.run.config.cross and entry.column.captioner != entry.column.reader
        if entry.column.reader and not (entry.column.captioner and by_others):
            found.setdefault(entry.panel, {})[entry.column.setting] = k
    return found


def _captioned(own: Draws, at: Columns) -> list[int]:
    """The columns of CaptionQA with windows of its own choice, in order."""
    ways = ((k, own.entries[k].way) for k in at.values())
    return [k for k, way in ways if way.strategy == "caption" and way.captions != "aligned"]


def _gaps(own: Draws, at: Columns) -> list[Pair]:
    """What is set against frames: captions, aligned captions, and captions with a look."""
    video = at.get("video")
    if video is None:
        return []
    return [(k, video) for k in at.values() if own.entries[k].way.strategy in CAPTIONED]


def _better(own: Draws, at: Columns) -> int | None:
    captions = _captioned(own, at)
    return max(captions, key=lambda k: own.entries[k].accuracy or 0.0) if captions else None


def _readers_table(own: Draws, readers: dict[str, Columns]) -> Grid:
    """A row for each reader, a column for each setting: the paper's table of models."""
    settings = list(dict.fromkeys(s for at in readers.values() for s in at))
    made = [figure(e.sheet) for e in own.entries]
    n = len(own.entries[0].sheet)
    compared = any(_gaps(own, at) and _captioned(own, at) for at in readers.values())
    rows: list[list[object]] = []
    for name, at in readers.items():
        row: list[object] = [name, own.entries[next(iter(at.values()))].weights, n]
        row += [shown(made[at[s]]) if s in at else "" for s in settings]
        if compared:
            better, video = _better(own, at), at.get("video")
            both = better is not None and video is not None
            row.append(own.entries[better].column.setting if better is not None else "")
            row.append(own.gap(better, video) if both else "")  # type: ignore[arg-type]
        rows.append(row)
    first = made[0]
    chance, best = shown(first.model_copy(update=_chance(first))), best_blind(first)
    rest = ["", ""] if compared else []
    rows.append(["chance", "", n, *(chance for _ in settings), *rest])
    blind = Value(text="best blind baseline", small=best.small)
    rows.append([blind, "", n, *(best.text for _ in settings), *rest])
    heads = ["reader", "weights", "n", *settings]
    if compared:
        heads += ["better window", "better - video (points)"]
    note = f"{RESAMPLING}, paired. " if compared else ""
    note += (
        "Weights: open where anyone can download them, by a short table of families of models; "
        "state what it does not know, or has wrong, with --open and --closed."
    )
    return grid("Accuracy % by reader", heads, rows, note, foot=2)


def _chance(made: Figure) -> dict[str, object]:
    return {"right": (made.chance or 0.0) * made.n, "by_status": {}}


def _wins(own: Draws, readers: dict[str, Columns]) -> Iterator[str]:
    """How many readers do better with captions than with frames, as the paper counts them."""
    wins: dict[str, list[int]] = {}
    by_weights: dict[str, list[int]] = {}
    for at in readers.values():
        better, video = _better(own, at), at.get("video")
        if video is None or better is None:
            continue
        for k in _captioned(own, at):
            _count(wins, own.entries[k].column.setting, _above(own, k, video))
        kind = own.entries[video].weights
        _count(by_weights, kind, _above(own, better, video))
    if wins:
        each = ", ".join(f"{s} {w} of {n}" for s, (w, n) in wins.items())
        kinds = ", ".join(
            f"{name if name != UNKNOWN else 'weights not known'} {w} of {n}"
            for name, (w, n) in by_weights.items()
        )
        yield (
            f"Readers that do better with captions than with frames: {each}; with the better "
            f"window {kinds}. Choosing the better window after seeing both favours captions."
        )


def _count(held: dict[str, list[int]], name: str, won: bool) -> None:
    counts = held.setdefault(name, [0, 0])
    counts[0] += won
    counts[1] += 1


def _above(own: Draws, a: int, b: int) -> bool:
    return bool(own.drawn.values[a] > own.drawn.values[b] + 1e-12)


def _by_duration(own: Draws, gaps: dict[str, list[Pair]]) -> Grid:
    """Differences to frames, over all videos and within each regime of duration."""
    parts = {"all": own, **_regimes(own)}
    rows: list[list[object]] = []
    by_setting: dict[str, list[Pair]] = {}
    for name, pairs in gaps.items():
        for a, b in pairs:
            setting = own.entries[a].column.setting
            by_setting.setdefault(setting, []).append((a, b))
            rows.append([name, setting, *(part.gap(a, b) for part in parts.values())])
    foot: list[list[object]] = []
    for setting, pairs in by_setting.items():
        if len(pairs) > 1:
            left, right = [a for a, _ in pairs], [b for _, b in pairs]
            mean = [part.gap(left, right) for part in parts.values()]
            foot.append([f"mean of {len(pairs)} readers", setting, *mean])
    for setting, pairs in by_setting.items():
        won = [sum(_above(part, a, b) for a, b in pairs) for part in parts.values()]
        foot.append(["readers above video", setting, *(f"{w} of {len(pairs)}" for w in won)])
    heads = ["reader", "setting"]
    ns = [
        Value(text=name, small=f"n {part.n}, {part.groups} clusters")
        for name, part in parts.items()
    ]
    return grid(
        "Points above video, by duration",
        [*heads, *ns],
        [*rows, *foot],
        f"Setting less video, of the same reader. {RESAMPLING}, paired; the edges of "
        "the regimes are ours.",
        foot=len(foot),
    )


def _regimes(own: Draws) -> dict[str, Draws]:
    """The same columns on the videos of each regime of duration that occurs, but is not all."""
    first = own.entries[0].sheet
    pairs = list(zip(first.questions, first.videos, strict=True))
    edges = own.entries[0].choices.regimes
    three, two = duration(edges), duration(edges[-1:])
    found: dict[str, Draws] = {}
    for view, names in ((three, three.order[:-1]), (two, two.order)):
        for name in names:
            keep = np.array([name in view.labels(q, v) for q, v in pairs], bool)
            if keep.any() and not keep.all():
                found[name] = drawn(own.entries, keep)
    return found


def _tests(own: Draws, readers: dict[str, Columns]) -> Iterator[tuple[str, Pair]]:
    """The comparisons that are tested, each with its name."""
    for at in readers.values():
        for a, b in _gaps(own, at):
            yield _named(own, a, b)
        for k in at.values():
            way = own.entries[k].way
            base = way.name.replace("verify", "caption", 1)
            if way.strategy == "verify" and base in at:
                yield _named(own, k, at[base])
    by_setting: dict[str, list[int]] = {}
    for k, entry in enumerate(own.entries):
        by_setting.setdefault(entry.series, []).append(k)
    for columns in by_setting.values():
        if len(columns) <= READERS:
            for a, b in combinations(columns, 2):
                yield _named(own, b, a)


def _named(own: Draws, a: int, b: int) -> tuple[str, Pair]:
    return f"{own.entries[a].name} - {own.entries[b].name}", (a, b)


def _tested(own: Draws, tests: Sequence[tuple[str, Pair]]) -> Grid:
    rows: list[list[object]] = []
    clusters = own.entries[0].sheet.clusters
    several = own.groups > 1
    for name, (a, b) in tests:
        p = permutation_test(own.entries[a].sheet.right, own.entries[b].sheet.right, clusters)
        least = 100 * minimum_detectable(own.drawn.standard_error(a, b))
        gap = signed(own.drawn.difference(a, b), several)
        rows.append([name, own.n, gap, f"{p:.4f}", f"{least:.1f}" if several else "-"])
    return grid(
        "Tests",
        ("difference", "n", "points", "p", "detectable (points)"),
        rows,
        f"p: two-sided permutation test that flips whole clusters ({own.groups}), not corrected "
        f"for the {len(rows)} tests in this table. Detectable: the smallest true difference that "
        "such a comparison would find with power 0.8.",
    )


def cross(entries: Sequence[Entry]) -> Section:
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
            cells = [shown(figure(e.sheet)) if e else "-" for e in held]
            rows.append([short_model(c), *cells])
        spread = []
        for r in readers:
            accuracies = (at[c, r].accuracy for c in captioners if (c, r) in at)
            known = [v for v in accuracies if v is not None]
            spread.append(f"{max(known) - min(known):.1f}" if len(known) > 1 else "")
        rows.append(["max - min", *spread])
        made = figure(own[0].sheet)
        best = best_blind(made)
        note = f"Chance {percent(made.chance)} %, best blind baseline {best.text} % ({best.small})."
        heads = ("captions by", *map(short_model, readers))
        parts.append(grid(f"{setting}, accuracy %, n {made.n}", heads, rows, note, foot=1))
    return Section(title="Whose captions", parts=tuple(parts))
