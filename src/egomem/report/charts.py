"""Drawings as SVG: lines over categories, points with names, intervals. Nothing else is needed to
see them, the same figures give the same bytes, and they take the page's colours, light or dark."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import NamedTuple

from egomem.report.table import one_line

WIDTH, HEIGHT = 460, 300
LEFT, RIGHT, TOP, BOTTOM = 58, 14, 14, 54
COLOURS = ("#1f83c4", "#d55e00", "#009e73", "#cc79a7", "#b08a00", "#7b6bd6", "#8c8c8c", "#56b4e9")
"""After Okabe and Ito: people who see colours differently can tell them apart, on white and on
black."""
SHAPES = ("circle", "square", "diamond", "triangle")


class SeriesStyle(NamedTuple):
    """How one series looks: its colour and shape; `number` counts series."""

    colour: str
    shape: str
    dashed: bool = False


def series_style(number: int) -> SeriesStyle:
    """The look of the n-th series; after eight, lines are dashed."""
    return SeriesStyle(
        COLOURS[number % len(COLOURS)],
        SHAPES[number % len(SHAPES)],
        number // len(COLOURS) % 2 == 1,
    )


REFERENCE_STYLE = SeriesStyle("currentColor", "", True)
"""What others are compared with, such as chance."""


def legend_swatch(look: SeriesStyle) -> str:
    """A small sample of a series for a legend."""
    parts = [_line([(1, 7), (27, 7)], look)]
    if look.shape:
        parts.append(_shape(14, 7, look, ""))
    return (
        f'<svg width="28" height="14" viewBox="0 0 28 14" aria-hidden="true">{"".join(parts)}</svg>'
    )


def line_chart(
    series: Mapping[str, Sequence[float | None]],
    categories: Sequence[tuple[str, str]],
    *,
    y: str,
    looks: Mapping[str, SeriesStyle],
    top: float | None = None,
    log: bool = False,
    x: str = "",
) -> str:
    """A line for each series over the categories (label, small label); None leaves a gap.

    `top`: the largest value of the axis, so that several drawings can be compared.
    """
    known = [v for values in series.values() for v in values if v is not None]
    low, high, ticks = _range([*known, *([] if top is None else [top])], log)

    def across(k: int) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * (k + 0.5) / max(1, len(categories))

    def up(v: float) -> float:
        return _up(v, low, high, log)

    parts = _frame(y, [(up(t), _short(t)) for t in ticks])
    for k, (name, small) in enumerate(categories):
        parts.append(_text(across(k), HEIGHT - BOTTOM + 18, name, "middle"))
        if small:
            parts.append(_text(across(k), HEIGHT - BOTTOM + 33, small, "middle", faint=True))
    if x:
        parts.append(_text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 6, x, "middle"))
    for name, values in series.items():
        look = looks.get(name, REFERENCE_STYLE)
        stretch: list[tuple[float, float]] = []
        for k, value in [*enumerate(values), (len(values), None)]:
            if value is not None:
                stretch.append((across(k), up(value)))
                continue
            if len(stretch) > 1:
                parts.append(_line(stretch, look))
            stretch = []
        for k, value in enumerate(values):
            if value is not None:
                said = f"{name}, {categories[k][0]}: {value:,.4g}"
                parts.append(_shape(across(k), up(value), look, said))
    return _svg(parts, HEIGHT)


def scatter_chart(
    held: Mapping[str, tuple[float, float]],
    *,
    x: str,
    y: str,
    looks: Mapping[str, SeriesStyle],
    joined: Sequence[tuple[float, float]] = (),
    within: Sequence[tuple[float, float]] = (),
) -> str:
    """A dot for each name, and a line through `joined`. The axes hold `within`, too, so that
    several drawings can be compared. x is logarithmic where all are above zero and far apart."""
    every = [*held.values(), *joined, *within]
    xs = [a for a, _ in every]
    log = bool(xs) and min(xs) > 0 and max(xs) / min(xs) > 20
    left, right, marks = _range(xs, log)
    low, high, ticks = _range([b for _, b in every], False)

    def at(point: tuple[float, float]) -> tuple[float, float]:
        wide = LEFT + (WIDTH - LEFT - RIGHT) * _share(point[0], left, right, log)
        return wide, _up(point[1], low, high, False)

    parts = _frame(y, [(at((left, t))[1], _short(t)) for t in ticks])
    parts += [_text(at((m, low))[0], HEIGHT - BOTTOM + 18, _short(m), "middle") for m in marks]
    parts.append(_text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 14, x, "middle"))
    if len(joined) > 1:
        parts.append(_line([at(p) for p in joined], REFERENCE_STYLE))
    for name, point in held.items():
        said = f"{name}: {point[0]:,.4g}; {point[1]:.1f}"
        parts.append(_shape(*at(point), looks[name], said))
    return _svg(parts, HEIGHT)


ROW = 24
NAMES = 150


def interval_chart(
    rows: Sequence[tuple[str, float, float, float]],
    *,
    x: str,
    looks: Mapping[str, SeriesStyle],
    across: Mapping[str, float],
    top: float,
) -> str:
    """A row for each (name, value, low, high), with vertical lines of reference at `across`."""
    height = TOP + ROW * len(rows) + 46
    low, high, ticks = _range([0.0, top], False)

    def at(v: float) -> float:
        return NAMES + (WIDTH - NAMES - RIGHT) * _share(v, low, high, False)

    base = TOP + ROW * len(rows)
    parts = []
    for tick in ticks:
        parts.append(_rule(at(tick), TOP, at(tick), base))
        parts.append(_text(at(tick), base + 16, _short(tick), "middle"))
    parts.append(_text((NAMES + WIDTH - RIGHT) / 2, height - 8, x, "middle"))
    for name, value in across.items():
        dashed = _line([(at(value), TOP), (at(value), base)], REFERENCE_STYLE)
        parts.append(f"<g><title>{_safe(f'{name}: {value:.1f}')}</title>{dashed}</g>")
    for k, (name, value, left, right) in enumerate(rows):
        y, look = TOP + ROW * (k + 0.5), looks[name]
        parts.append(_text(NAMES - 8, y + 4, _cut(name), "end"))
        parts.append(_line([(at(left), y), (at(right), y)], look))
        said = f"{name}: {value:.1f} ({left:.1f} to {right:.1f})"
        parts.append(_shape(at(value), y, look, said))
    return _svg(parts, height)


def _cut(name: str, most: int = 24) -> str:
    return name if len(name) <= most else name[: most - 1] + "…"


def _range(values: Sequence[float], log: bool) -> tuple[float, float, list[float]]:
    """Bounds and ticks that hold all values."""
    if not values:
        return 0.0, 1.0, [0.0, 1.0]
    if log:
        first = math.floor(math.log10(max(1e-9, min(values))))
        last = max(first + 1, math.ceil(math.log10(max(1e-9, max(values)))))
        steps = (1, 2, 5) if last - first < 3 else (1,)
        ticks = [m * 10.0**k for k in range(first, last) for m in steps]
        return 10.0**first, 10.0**last, [*ticks, 10.0**last]
    low, high = min(0.0, min(values)), max(values)
    step = 10 ** math.floor(math.log10(max(1e-9, high - low)))
    if (high - low) / step < 3:
        step /= 2
    elif (high - low) / step > 6:
        step *= 2
    low, high = math.floor(low / step) * step, max(math.ceil(high / step - 1e-9), 1) * step
    return low, high, [low + k * step for k in range(round((high - low) / step) + 1)]


def _share(v: float, low: float, high: float, log: bool) -> float:
    if log:
        v, low, high = (math.log10(max(1e-9, a)) for a in (v, low, high))
    return (v - low) / (high - low) if high > low else 0.5


def _up(v: float, low: float, high: float, log: bool) -> float:
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * _share(v, low, high, log)


def _frame(y: str, ticks: Sequence[tuple[float, str]]) -> list[str]:
    parts = []
    for at, label in ticks:
        parts.append(_rule(LEFT, at, WIDTH - RIGHT, at))
        parts.append(_text(LEFT - 6, at + 4, label, "end"))
    middle = (TOP + HEIGHT - BOTTOM) / 2
    parts.append(
        f'<text x="13" y="{middle:.1f}" text-anchor="middle" '
        f'transform="rotate(-90 13 {middle:.1f})">{_safe(y)}</text>'
    )
    return parts


def _short(v: float) -> str:
    for size, unit in ((1e6, "M"), (1e3, "k")):
        if abs(v) >= size:
            return f"{v / size:g}{unit}"
    return f"{v:g}"


def _safe(text: str) -> str:
    return escape(one_line(text))


def _text(x: float, y: float, text: str, anchor: str, *, faint: bool = False) -> str:
    more = ' opacity=".65" font-size="11"' if faint else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{more}>{_safe(text)}</text>'


def _rule(x1: float, y1: float, x2: float, y2: float) -> str:
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" '
        'stroke="currentColor" stroke-opacity=".15"/>'
    )


def _line(path: Sequence[tuple[float, float]], look: SeriesStyle) -> str:
    joined = " ".join(f"{x:.1f},{y:.1f}" for x, y in path)
    dash = ' stroke-dasharray="5 4"' if look.dashed else ""
    width = "1.2" if look is REFERENCE_STYLE else "2"
    return (
        f'<polyline points="{joined}" fill="none" stroke="{look.colour}" '
        f'stroke-width="{width}"{dash}/>'
    )


def _shape(x: float, y: float, look: SeriesStyle, said: str) -> str:
    title = f"<title>{_safe(said)}</title>" if said else ""
    at = f'fill="{look.colour}"'
    if look.shape == "square":
        return f'<rect x="{x - 4:.1f}" y="{y - 4:.1f}" width="8" height="8" {at}>{title}</rect>'
    if look.shape in ("diamond", "triangle"):
        around = ((0, -5.5), (5.5, 0), (0, 5.5), (-5.5, 0))
        if look.shape == "triangle":
            around = ((0, -5), (5, 4), (-5, 4), (0, -5))
        corners = " ".join(f"{x + a:.1f},{y + b:.1f}" for a, b in around)
        return f'<polygon points="{corners}" {at}>{title}</polygon>'
    radius = "4.2" if look.shape else "2"
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" {at}>{title}</circle>'


def _svg(parts: Sequence[str], height: float) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:g}" '
        f'width="{WIDTH}" font-size="12" font-family="sans-serif" fill="currentColor" role="img">'
        + "".join(parts)
        + "</svg>"
    )
