"""Two kinds of drawing as SVG: lines over categories, and points with names. Nothing else is
needed to see them, and the same figures give the same bytes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

WIDTH, HEIGHT = 640, 320
LEFT, RIGHT, TOP, BOTTOM = 64, 16, 16, 48
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#555555", "#000000")
"""Okabe and Ito's colours, which people who see colours differently can tell apart."""


def lines(
    series: Mapping[str, Sequence[float | None]],
    categories: Sequence[str],
    *,
    y: str,
    log: bool = False,
) -> str:
    """A line for each series over the categories; a value that is None leaves a gap."""
    known = [v for values in series.values() for v in values if v is not None]
    low, high, ticks = _range(known, log)

    def x(k: int) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * (k + 0.5) / max(1, len(categories))

    def height(v: float) -> float:
        return _up(v, low, high, log)

    parts = _frame(y, ticks, height)
    for k, name in enumerate(categories):
        parts.append(_text(x(k), HEIGHT - BOTTOM + 18, name, "middle"))
    for number, (name, values) in enumerate(series.items()):
        colour = COLOURS[number % len(COLOURS)]
        run: list[str] = []
        for k, value in [*enumerate(values), (len(values), None)]:
            if value is None:
                if len(run) > 1:
                    parts.append(
                        f'<polyline points="{" ".join(run)}" fill="none" stroke="{colour}" '
                        'stroke-width="2"/>'
                    )
                run = []
                continue
            run.append(f"{x(k):.1f},{height(value):.1f}")
            parts.append(_dot(x(k), height(value), colour, f"{name}, {categories[k]}: {value:g}"))
    return _svg(parts, list(series))


def points(
    held: Mapping[str, tuple[float, float]], *, x: str, y: str, joined: Sequence[str] = ()
) -> str:
    """A dot for each name; those in `joined` are joined by a line in that order. x is logarithmic
    where all are above zero."""
    xs = [a for a, _ in held.values()]
    log = bool(xs) and min(xs) > 0 and max(xs) / min(xs) > 20
    left, right, marks = _range(xs, log)
    low, high, ticks = _range([b for _, b in held.values()], False)

    def across(v: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * _share(v, left, right, log)

    def height(v: float) -> float:
        return _up(v, low, high, False)

    parts = _frame(y, ticks, height)
    parts += [_text(across(m), HEIGHT - BOTTOM + 18, _short(m), "middle") for m in marks]
    parts.append(_text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, x, "middle"))
    if len(joined) > 1:
        path = " ".join(f"{across(held[n][0]):.1f},{height(held[n][1]):.1f}" for n in joined)
        parts.append(
            f'<polyline points="{path}" fill="none" stroke="#999" stroke-dasharray="4 3"/>'
        )
    for number, (name, (a, b)) in enumerate(held.items()):
        colour = COLOURS[number % len(COLOURS)]
        parts.append(_dot(across(a), height(b), colour, f"{name}: {a:g}, {b:.1f}"))
    return _svg(parts, list(held))


def _range(values: Sequence[float], log: bool) -> tuple[float, float, list[float]]:
    """Bounds and ticks that hold all values."""
    if not values:
        return 0.0, 1.0, [0.0, 1.0]
    if log:
        first = math.floor(math.log10(max(1e-9, min(values))))
        last = max(first + 1, math.ceil(math.log10(max(1e-9, max(values)))))
        return 10.0**first, 10.0**last, [10.0**k for k in range(first, last + 1)]
    low, high = min(0.0, min(values)), max(values)
    step = 10 ** math.floor(math.log10(max(1e-9, high - low)))
    if (high - low) / step < 3:
        step /= 2
    low, high = math.floor(low / step) * step, max(math.ceil(high / step), 1) * step
    return low, high, [low + k * step for k in range(round((high - low) / step) + 1)]


def _share(v: float, low: float, high: float, log: bool) -> float:
    if log:
        v, low, high = (math.log10(max(1e-9, a)) for a in (v, low, high))
    return (v - low) / (high - low) if high > low else 0.5


def _up(v: float, low: float, high: float, log: bool) -> float:
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * _share(v, low, high, log)


def _frame(y: str, ticks: Sequence[float], height: object) -> list[str]:
    assert callable(height)
    parts = []
    for tick in ticks:
        at = height(tick)
        parts.append(
            f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{at:.1f}" y2="{at:.1f}" stroke="#ddd"/>'
        )
        parts.append(_text(LEFT - 6, at + 4, _short(tick), "end"))
    middle = (TOP + HEIGHT - BOTTOM) / 2
    parts.append(
        f'<text x="14" y="{middle:.1f}" text-anchor="middle" '
        f'transform="rotate(-90 14 {middle:.1f})">{escape(y)}</text>'
    )
    return parts


def _short(v: float) -> str:
    for size, unit in ((1e6, "M"), (1e3, "k")):
        if abs(v) >= size:
            return f"{v / size:g}{unit}"
    return f"{v:g}"


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _dot(x: float, y: float, colour: str, said: str) -> str:
    title = f"<title>{escape(said)}</title>"
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}">{title}</circle>'


def _svg(parts: Sequence[str], names: Sequence[str]) -> str:
    legend = []
    for number, name in enumerate(names):
        y = HEIGHT + 14 + 18 * number
        colour = COLOURS[number % len(COLOURS)]
        legend.append(f'<rect x="{LEFT}" y="{y - 9}" width="12" height="10" fill="{colour}"/>')
        legend.append(_text(LEFT + 18, y, name, "start"))
    total = HEIGHT + 10 + 18 * len(names)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {total}" '
        f'width="{WIDTH}" font-size="12" font-family="sans-serif" role="img">'
        + "".join([*parts, *legend])
        + "</svg>"
    )
