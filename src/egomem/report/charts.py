"""Charts as SVG text: lines over categories, named points, and intervals.

No plotting library: the page needs nothing else to show them, the same figures give the same bytes,
and `currentColor` follows the page's light or dark theme.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import NamedTuple

from egomem.palette import SERIES
from egomem.report.table import one_line

WIDTH, HEIGHT = 460, 300
LEFT, RIGHT, TOP, BOTTOM = 58, 14, 14, 54
SHAPES = ("circle", "square", "diamond", "triangle")


class SeriesStyle(NamedTuple):
    """How one series is drawn: its colour, the shape of its points, whether lines are dashed."""

    colour: str
    shape: str
    dashed: bool = False


def series_style(number: int) -> SeriesStyle:
    """The style of the series with that number, from 0. From the ninth on lines are dashed, so
    sixteen series differ."""
    return SeriesStyle(
        SERIES[number % len(SERIES)],
        SHAPES[number % len(SHAPES)],
        number // len(SERIES) % 2 == 1,
    )


REFERENCE_STYLE = SeriesStyle("currentColor", "", True)
"""The style of what the series are compared with, such as chance."""


def legend_swatch(style: SeriesStyle) -> str:
    """A small SVG sample of a series, for a legend."""
    parts = [_polyline([(1, 7), (27, 7)], style)]
    if style.shape:
        parts.append(_marker(14, 7, style, ""))
    return (
        f'<svg width="28" height="14" viewBox="0 0 28 14" aria-hidden="true">{"".join(parts)}</svg>'
    )


def line_chart(
    series: Mapping[str, Sequence[float | None]],
    categories: Sequence[tuple[str, str]],
    *,
    y_label: str,
    styles: Mapping[str, SeriesStyle],
    y_max: float | None = None,
    log: bool = False,
    x_label: str = "",
) -> str:
    """A line for each series over the categories (label, small label); None leaves a gap.

    `y_max` is the least upper end of the axis, so that several charts can be compared.
    """
    values = [v for row in series.values() for v in row if v is not None]
    low, high, ticks = _axis([*values, *([] if y_max is None else [y_max])], log)

    def x_of(k: int) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * (k + 0.5) / max(1, len(categories))

    def y_of(value: float) -> float:
        return _y(value, low, high, log)

    parts = _y_axis(y_label, [(y_of(tick), _tick_label(tick)) for tick in ticks])
    for k, (label, small) in enumerate(categories):
        parts.append(_text(x_of(k), HEIGHT - BOTTOM + 18, label, "middle"))
        if small:
            parts.append(_text(x_of(k), HEIGHT - BOTTOM + 33, small, "middle", faint=True))
    if x_label:
        parts.append(_text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 6, x_label, "middle"))
    for name, row in series.items():
        style = styles.get(name, REFERENCE_STYLE)
        # A None ends a stretch of the line; the one after the last value ends the last stretch.
        stretch: list[tuple[float, float]] = []
        for k, value in [*enumerate(row), (len(row), None)]:
            if value is not None:
                stretch.append((x_of(k), y_of(value)))
                continue
            if len(stretch) > 1:
                parts.append(_polyline(stretch, style))
            stretch = []
        for k, value in enumerate(row):
            if value is not None:
                tooltip = f"{name}, {categories[k][0]}: {value:,.4g}"
                parts.append(_marker(x_of(k), y_of(value), style, tooltip))
    return _svg(parts, HEIGHT)


def scatter_chart(
    points: Mapping[str, tuple[float, float]],
    *,
    x_label: str,
    y_label: str,
    styles: Mapping[str, SeriesStyle],
    line: Sequence[tuple[float, float]] = (),
    extent: Sequence[tuple[float, float]] = (),
) -> str:
    """A point for each name, and a line of reference through `line`.

    The axes also hold `extent`, so that several charts can be compared.
    """
    every = [*points.values(), *line, *extent]
    xs = [x for x, _ in every]
    # Costs of settings differ by orders of magnitude: on a linear axis the cheap ones would lie on
    # one spot.
    log = bool(xs) and min(xs) > 0 and max(xs) / min(xs) > 20
    left, right, x_ticks = _axis(xs, log)
    low, high, y_ticks = _axis([y for _, y in every], False)

    def place(x: float, y: float) -> tuple[float, float]:
        across = LEFT + (WIDTH - LEFT - RIGHT) * _fraction(x, left, right, log)
        return across, _y(y, low, high, False)

    parts = _y_axis(y_label, [(place(left, tick)[1], _tick_label(tick)) for tick in y_ticks])
    for tick in x_ticks:
        x = place(tick, low)[0]
        parts.append(_text(x, HEIGHT - BOTTOM + 18, _tick_label(tick), "middle"))
    parts.append(_text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 14, x_label, "middle"))
    if len(line) > 1:
        parts.append(_polyline([place(*point) for point in line], REFERENCE_STYLE))
    for name, (x, y) in points.items():
        parts.append(_marker(*place(x, y), styles[name], f"{name}: {x:,.4g}; {y:.1f}"))
    return _svg(parts, HEIGHT)


ROW_HEIGHT = 24
LABEL_WIDTH = 150


def interval_chart(
    rows: Sequence[tuple[str, float, float, float]],
    *,
    x_label: str,
    styles: Mapping[str, SeriesStyle],
    references: Mapping[str, float],
    x_max: float,
) -> str:
    """A row for each (name, value, low, high), and a dashed vertical line for each reference."""
    height = TOP + ROW_HEIGHT * len(rows) + 46
    low, high, ticks = _axis([0.0, x_max], False)

    def x_of(value: float) -> float:
        return LABEL_WIDTH + (WIDTH - LABEL_WIDTH - RIGHT) * _fraction(value, low, high, False)

    bottom = TOP + ROW_HEIGHT * len(rows)
    parts = []
    for tick in ticks:
        parts.append(_grid_line(x_of(tick), TOP, x_of(tick), bottom))
        parts.append(_text(x_of(tick), bottom + 16, _tick_label(tick), "middle"))
    parts.append(_text((LABEL_WIDTH + WIDTH - RIGHT) / 2, height - 8, x_label, "middle"))
    for name, value in references.items():
        dashed = _polyline([(x_of(value), TOP), (x_of(value), bottom)], REFERENCE_STYLE)
        parts.append(f"<g><title>{_escape(f'{name}: {value:.1f}')}</title>{dashed}</g>")
    for k, (name, value, start, end) in enumerate(rows):
        y, style = TOP + ROW_HEIGHT * (k + 0.5), styles[name]
        parts.append(_text(LABEL_WIDTH - 8, y + 4, _ellipsis(name), "end"))
        parts.append(_polyline([(x_of(start), y), (x_of(end), y)], style))
        tooltip = f"{name}: {value:.1f} ({start:.1f} to {end:.1f})"
        parts.append(_marker(x_of(value), y, style, tooltip))
    return _svg(parts, height)


READER_ROW = 14
READER_GAP = 14
"""Height of one series of a reader, and the space between readers, in pixels."""


def comparison_chart(
    readers: Mapping[str, Sequence[tuple[str, float, float, float]]],
    *,
    x_label: str,
    styles: Mapping[str, SeriesStyle],
    references: Mapping[str, float],
    x_max: float,
) -> str:
    """For each reader its series (name, value, low, high) close below each other, so that they can
    be compared; a dashed vertical line for each reference."""
    heights = [READER_ROW * len(rows) + READER_GAP for rows in readers.values()]
    bottom = TOP + sum(heights)
    low, high, ticks = _axis([0.0, x_max], False)

    def x_of(value: float) -> float:
        return LABEL_WIDTH + (WIDTH - LABEL_WIDTH - RIGHT) * _fraction(value, low, high, False)

    parts = []
    for tick in ticks:
        parts.append(_grid_line(x_of(tick), TOP, x_of(tick), bottom))
        parts.append(_text(x_of(tick), bottom + 16, _tick_label(tick), "middle"))
    parts.append(_text((LABEL_WIDTH + WIDTH - RIGHT) / 2, bottom + 34, x_label, "middle"))
    for name, value in references.items():
        dashed = _polyline([(x_of(value), TOP), (x_of(value), bottom)], REFERENCE_STYLE)
        parts.append(f"<g><title>{_escape(f'{name}: {value:.1f}')}</title>{dashed}</g>")
    top = float(TOP)
    for (reader, rows), height in zip(readers.items(), heights, strict=True):
        middle = top + height / 2
        parts.append(_text(LABEL_WIDTH - 8, middle + 4, _ellipsis(reader), "end"))
        for k, (name, value, start, end) in enumerate(rows):
            y, style = top + READER_GAP / 2 + READER_ROW * (k + 0.5), styles[name]
            parts.append(_polyline([(x_of(start), y), (x_of(end), y)], style))
            tooltip = f"{reader}, {name}: {value:.1f} ({start:.1f} to {end:.1f})"
            parts.append(_marker(x_of(value), y, style, tooltip))
        top += height
    return _svg(parts, bottom + 42)


def _ellipsis(name: str, max_characters: int = 24) -> str:
    return name if len(name) <= max_characters else name[: max_characters - 1] + "…"


def _axis(values: Sequence[float], log: bool) -> tuple[float, float, list[float]]:
    """The two ends of an axis that holds all values, and its ticks at round numbers."""
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
    # The 1e-9 keeps a value that lies on a tick, up to rounding, from adding an empty step.
    low, high = math.floor(low / step) * step, max(math.ceil(high / step - 1e-9), 1) * step
    return low, high, [low + k * step for k in range(round((high - low) / step) + 1)]


def _fraction(value: float, low: float, high: float, log: bool) -> float:
    """Where a value lies between the ends of an axis, from 0 to 1."""
    if log:
        value, low, high = (math.log10(max(1e-9, x)) for x in (value, low, high))
    return (value - low) / (high - low) if high > low else 0.5


def _y(value: float, low: float, high: float, log: bool) -> float:
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * _fraction(value, low, high, log)


def _y_axis(label: str, ticks: Sequence[tuple[float, str]]) -> list[str]:
    """A grid line and a label for each tick (y, label), and the rotated label of the axis."""
    parts = []
    for y, tick in ticks:
        parts.append(_grid_line(LEFT, y, WIDTH - RIGHT, y))
        parts.append(_text(LEFT - 6, y + 4, tick, "end"))
    middle = (TOP + HEIGHT - BOTTOM) / 2
    parts.append(
        f'<text x="13" y="{middle:.1f}" text-anchor="middle" '
        f'transform="rotate(-90 13 {middle:.1f})">{_escape(label)}</text>'
    )
    return parts


def _tick_label(value: float) -> str:
    for size, unit in ((1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:g}{unit}"
    return f"{value:g}"


def _escape(text: str) -> str:
    return escape(one_line(text))


def _text(x: float, y: float, text: str, anchor: str, *, faint: bool = False) -> str:
    attributes = ' opacity=".65" font-size="11"' if faint else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{attributes}>{_escape(text)}</text>'
    )


def _grid_line(x1: float, y1: float, x2: float, y2: float) -> str:
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" '
        'stroke="currentColor" stroke-opacity=".15"/>'
    )


def _polyline(path: Sequence[tuple[float, float]], style: SeriesStyle) -> str:
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in path)
    dashes = ' stroke-dasharray="5 4"' if style.dashed else ""
    width = "1.2" if style is REFERENCE_STYLE else "2"
    return (
        f'<polyline points="{points}" fill="none" stroke="{style.colour}" '
        f'stroke-width="{width}"{dashes}/>'
    )


def _marker(x: float, y: float, style: SeriesStyle, tooltip: str) -> str:
    title = f"<title>{_escape(tooltip)}</title>" if tooltip else ""
    fill = f'fill="{style.colour}"'
    if style.shape == "square":
        return f'<rect x="{x - 4:.1f}" y="{y - 4:.1f}" width="8" height="8" {fill}>{title}</rect>'
    if style.shape in ("diamond", "triangle"):
        corners = ((0, -5.5), (5.5, 0), (0, 5.5), (-5.5, 0))
        if style.shape == "triangle":
            corners = ((0, -5), (5, 4), (-5, 4), (0, -5))
        points = " ".join(f"{x + dx:.1f},{y + dy:.1f}" for dx, dy in corners)
        return f'<polygon points="{points}" {fill}>{title}</polygon>'
    radius = "4.2" if style.shape else "2"
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" {fill}>{title}</circle>'


def _svg(parts: Sequence[str], height: float) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:g}" '
        f'width="{WIDTH}" font-size="12" font-family="sans-serif" fill="currentColor" role="img">'
        + "".join(parts)
        + "</svg>"
    )
