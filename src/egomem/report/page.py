"""One HTML page that needs nothing else: no network, no server, no fonts."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from html import escape
from importlib import resources
from typing import Any

from egomem.report.table import Cell, CellValue, Chart, ReportTable, Section, one_line

MAX_UNBROKEN = 30
"""Characters from which the texts of a column are broken into lines."""


def render_html(title: str, sections: Sequence[Section], questions: Mapping[str, Any]) -> str:
    """The page. Texts of questions and replies go in as data, never as markup; and the page's own
    policy lets no other script run, and nothing be fetched."""
    files = resources.files("egomem.report")
    style = files.joinpath("page.css").read_text(encoding="utf-8")
    script = files.joinpath("page.js").read_text(encoding="utf-8")
    policy = (
        f"default-src 'none'; img-src data:; style-src '{_hash(style)}'; "
        f"script-src '{_hash(script)}'; base-uri 'none'; form-action 'none'"
    )
    shown = [s for s in sections if s.parts or s.text]
    links = "".join(f'<a href="#{s.slug}">{escape(s.title)}</a>' for s in shown)
    body = "".join(_section(section) for section in shown)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f"<title>{_safe(title)}</title><style>{style}</style></head><body>"
        f'<header><h1>{_safe(title)}</h1></header><nav>{links}<a href="#questions">Questions</a>'
        f'</nav><main>{body}<section id="questions"><h2>Questions</h2><div id="filters"></div>'
        '<p class="note">A sign for each setting, in the order of the tables: \u2713 right, \u2717 '
        'wrong, \u00b7 not scored or not asked.</p><p id="count" aria-live="polite"></p>'
        '<div id="list"></div></section></main>'
        f'<script type="application/json" id="data">{_data(questions)}</script>'
        f"<script>{script}</script></body></html>\n"
    )


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _data(value: Mapping[str, Any]) -> str:
    """JSON that no text in it can end: "<" is written as an escape."""
    packed = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    return packed.replace("<", "\\u003c")


def _section(section: Section) -> str:
    text = "".join(f"<p>{_safe(t)}</p>" for t in section.text)
    parts = "".join(_chart(p) if isinstance(p, Chart) else _grid(p) for p in section.parts)
    return f'<section id="{section.slug}"><h2>{escape(section.title)}</h2>{text}{parts}</section>'


def _grid(part: ReportTable) -> str:
    classes = [_kind(part, k) for k in range(len(part.headings))]
    head = "".join(
        f'<th scope="col"{_class(c)}>{_cell(h)}</th>'
        for h, c in zip(part.headings, classes, strict=True)
    )
    over = "".join(
        f'<th scope="colgroup" colspan="{count}">{_safe(name)}</th>'
        if name
        else f'<td colspan="{count}"></td>'
        for name, count in part.spans
    )
    over = f"<tr>{over}</tr>" if over else ""
    thead = f"<thead>{over}<tr>{head}</tr></thead>" if any(str(h) for h in part.headings) else ""
    cut = len(part.rows) - part.foot
    body = "".join(_row(row, classes) for row in part.rows[:cut])
    foot = "".join(_row(row, classes) for row in part.rows[cut:])
    title = f"<h3>{_safe(part.title)}</h3>" if part.title else ""
    tfoot = f"<tfoot>{foot}</tfoot>" if foot else ""
    table = f"<table>{thead}<tbody>{body}</tbody>{tfoot}</table>"
    name = f' role="region" aria-label="{_safe(part.title)}"' if part.title else ""
    return f'{title}<div class="wide" tabindex="0"{name}>{table}</div>{_note(part.note)}'


def _kind(part: ReportTable, column: int) -> str:
    """`n` for figures, `w` for texts that are long enough to be broken."""
    if part.is_number(column):
        return "n"
    return "w" if any(len(str(row[column])) > MAX_UNBROKEN for row in part.rows) else ""


def _row(row: Sequence[Cell], classes: Sequence[str]) -> str:
    cells = zip(row[1:], classes[1:], strict=True)
    rest = "".join(f"<td{_class(c)}>{_cell(cell)}</td>" for cell, c in cells)
    return f'<tr><th scope="row">{_cell(row[0])}</th>{rest}</tr>'


def _class(name: str) -> str:
    return f' class="{name}"' if name else ""


def _cell(cell: Cell) -> str:
    if not isinstance(cell, CellValue):
        return _safe(cell)
    small = f" <small>{_safe(cell.small)}</small>" if cell.small else ""
    text = _safe(cell.text)
    if cell.questions:
        text = f'<a href="#questions?{escape(cell.questions)}">{text}</a>'
    return text + small


def _chart(part: Chart) -> str:
    items = "".join(f"<li>{mark}{_safe(name)}</li>" for name, mark in part.legend)
    legend = f'<ul class="legend">{items}</ul>' if items else ""
    named = len(part.panels) > 1
    panels = "".join(
        f"<div>{f'<h4>{_safe(p.title)}</h4>' if named else ''}{p.svg}</div>" for p in part.panels
    )
    return (
        f"<figure><figcaption>{_safe(part.title)}</figcaption>{legend}"
        f'<div class="panels">{panels}</div></figure>{_note(part.note)}'
    )


def _note(note: str) -> str:
    return f'<p class="note">{_safe(note)}</p>' if note else ""


def _safe(text: str) -> str:
    return escape(one_line(text))
