"""One HTML page that needs nothing else: no network, no server, no fonts."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from html import escape
from importlib import resources
from typing import Any

from egomem.report.table import (
    Cell,
    CellValue,
    Chart,
    ReportTable,
    Section,
    cell_detail,
    cell_text,
    one_line,
)

MAX_UNBROKEN = 30
"""A column with a longer text than this gets a width in which its texts break."""


def render_html(title: str, sections: Sequence[Section], questions: Mapping[str, Any]) -> str:
    """The page: the sections, then the browser of `questions` (see `browser_data`).

    Questions and replies are texts of others. They are embedded as data, never as markup; and the
    page's content security policy allows no other script and no request, should one slip in.
    """
    files = resources.files("egomem.report")
    style = files.joinpath("page.css").read_text(encoding="utf-8")
    script = files.joinpath("page.js").read_text(encoding="utf-8")
    policy = (
        f"default-src 'none'; img-src data:; style-src '{_hash(style)}'; "
        f"script-src '{_hash(script)}'; base-uri 'none'; form-action 'none'"
    )
    printed = [s for s in sections if s.parts or s.text or s.lead]
    links = "".join(f'<a href="#{s.slug}">{escape(s.title)}</a>' for s in printed)
    body = "".join(_section(section) for section in printed)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f"<title>{_safe(title)}</title><style>{style}</style></head><body>"
        f'<header><h1>{_safe(title)}</h1></header><nav>{links}<a href="#questions">Questions</a>'
        f'</nav><main>{body}<section id="questions"><h2>Questions</h2><div id="filters"></div>'
        '<p class="note">One mark for each setting, in the order of the tables: \u2713 right, '
        '\u2717 wrong, \u00b7 not scored or not asked.</p><p id="count" aria-live="polite"></p>'
        '<div id="list"></div></section></main>'
        f'<script type="application/json" id="data">{_json(questions)}</script>'
        f"<script>{script}</script></body></html>\n"
    )


def _hash(text: str) -> str:
    """A source of the content security policy: the hash of an inline script or style."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _json(value: Mapping[str, Any]) -> str:
    """JSON that cannot end the script element it is in: "<" is escaped."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    return text.replace("<", "\\u003c")


def _section(section: Section) -> str:
    lead = f'<p class="lead">{_safe(section.lead)}</p>' if section.lead else ""
    text = "".join(f"<p>{_safe(paragraph)}</p>" for paragraph in section.text)
    tables = [part for part in section.parts if isinstance(part, ReportTable)]
    # One table is open at a time: a reader picks the next by its title.
    parts = "".join(
        _chart(part) if isinstance(part, Chart) else _foldable(part, part is tables[0])
        for part in section.parts
    )
    heading = f"<h2>{escape(section.title)}</h2>"
    return f'<section id="{section.slug}">{heading}{lead}{text}{parts}</section>'


def _foldable(table: ReportTable, is_first: bool) -> str:
    """A table below its title, which opens and closes it."""
    if not table.title:
        return _table(table)
    state = " open" if is_first else ""
    return (
        f'<details class="table"{state}><summary><h3>{_safe(table.title)}</h3></summary>'
        f"{_table(table)}</details>"
    )


def _table(table: ReportTable) -> str:
    classes = [_column_class(table, k) for k in range(len(table.headings))]
    headings = "".join(
        f'<th scope="col"{_class(name)}>{_cell(heading)}</th>'
        for heading, name in zip(table.headings, classes, strict=True)
    )
    groups = "".join(
        f'<th scope="colgroup" colspan="{count}">{_safe(title)}</th>'
        if title
        else f'<td colspan="{count}"></td>'
        for title, count in table.column_groups
    )
    groups = f"<tr>{groups}</tr>" if groups else ""
    has_headings = any(str(heading) for heading in table.headings)
    thead = f"<thead>{groups}<tr>{headings}</tr></thead>" if has_headings else ""
    end = len(table.rows) - table.footer_rows
    body = "".join(_row(row, classes) for row in table.rows[:end])
    footer = "".join(_row(row, classes) for row in table.rows[end:])
    tfoot = f"<tfoot>{footer}</tfoot>" if footer else ""
    # It can be focused, so that a wide table can be scrolled with the keyboard.
    name = f' role="region" aria-label="{_safe(table.title)}"' if table.title else ""
    return (
        f'<div class="wide" tabindex="0"{name}>'
        f"<table>{thead}<tbody>{body}</tbody>{tfoot}</table></div>{_note(table.note)}"
    )


def _column_class(table: ReportTable, column: int) -> str:
    """`n` for figures, `w` for texts that are long enough to break, else ""."""
    if table.is_numeric(column):
        return "n"
    return "w" if any(len(str(row[column])) > MAX_UNBROKEN for row in table.rows) else ""


def _row(row: Sequence[Cell], classes: Sequence[str]) -> str:
    cells = zip(row[1:], classes[1:], strict=True)
    rest = "".join(f"<td{_class(name)}>{_cell(cell)}</td>" for cell, name in cells)
    return f'<tr><th scope="row">{_cell(row[0])}</th>{rest}</tr>'


def _class(name: str) -> str:
    return f' class="{name}"' if name else ""


def _cell(cell: Cell) -> str:
    text, detail = _safe(cell_text(cell)), _safe(cell_detail(cell))
    if isinstance(cell, CellValue) and cell.question_filter:
        text = f'<a href="#questions?{escape(cell.question_filter)}">{text}</a>'
    return f"{text} <small>{detail}</small>" if detail else text


def _chart(chart: Chart) -> str:
    items = "".join(f"<li>{mark}{_safe(name)}</li>" for name, mark in chart.legend)
    legend = f'<ul class="legend">{items}</ul>' if items else ""
    has_titles = len(chart.panels) > 1
    panels = "".join(
        f"<div>{f'<h4>{_safe(panel.title)}</h4>' if has_titles else ''}{panel.svg}</div>"
        for panel in chart.panels
    )
    return (
        f"<figure><figcaption>{_safe(chart.title)}</figcaption>{legend}"
        f'<div class="panels">{panels}</div></figure>{_note(chart.note)}'
    )


def _note(note: str) -> str:
    return f'<p class="note">{_safe(note)}</p>' if note else ""


def _safe(text: str) -> str:
    return escape(one_line(text))
