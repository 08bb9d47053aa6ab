"""One HTML page that needs nothing else: no network, no server, no fonts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from html import escape
from importlib import resources
from typing import Any

from egomem.evaluate.report.grid import Chart, Grid, Section


def html(title: str, sections: Sequence[Section], questions: Mapping[str, Any]) -> str:
    """The page. Texts of questions and replies go in as data, never as markup."""
    files = resources.files("egomem.evaluate.report")
    style = files.joinpath("page.css").read_text(encoding="utf-8")
    script = files.joinpath("page.js").read_text(encoding="utf-8")
    shown = [s for s in sections if s.parts or s.text]
    links = "".join(f'<a href="#s{k}">{escape(s.title)}</a>' for k, s in enumerate(shown))
    body = "".join(_section(k, section) for k, section in enumerate(shown))
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{style}</style></head><body>"
        f'<h1>{escape(title)}</h1><nav>{links}<a href="#browser">Questions</a></nav>{body}'
        '<section id="browser"><h2>Questions</h2><div id="filters"></div>'
        '<p id="count" aria-live="polite"></p><div id="list"></div></section>'
        f'<script type="application/json" id="data">{_data(questions)}</script>'
        f"<script>{script}</script></body></html>\n"
    )


def _data(value: Mapping[str, Any]) -> str:
    """JSON that no text in it can end: "<" is written as an escape."""
    return json.dumps(value, ensure_ascii=True).replace("<", "\\u003c")


def _section(number: int, section: Section) -> str:
    text = "".join(f"<p>{escape(t)}</p>" for t in section.text)
    parts = "".join(_chart(p) if isinstance(p, Chart) else _grid(p) for p in section.parts)
    return f'<section id="s{number}"><h2>{escape(section.title)}</h2>{text}{parts}</section>'


def _grid(part: Grid) -> str:
    head = "".join(f'<th scope="col">{escape(h)}</th>' for h in part.headings)
    rows = "".join(
        "<tr>"
        + f'<th scope="row">{escape(row[0])}</th>'
        + "".join(f"<td>{escape(c)}</td>" for c in row[1:])
        + "</tr>"
        for row in part.rows
    )
    title = f"<h3>{escape(part.title)}</h3>" if part.title else ""
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    return f'{title}<div class="wide">{table}</div>{_note(part.note)}'


def _chart(part: Chart) -> str:
    label = f"<figcaption>{escape(part.title)}</figcaption>"
    return f"<figure>{label}{part.svg}</figure>{_note(part.note)}"


def _note(note: str) -> str:
    return f'<p class="note">{escape(note)}</p>' if note else ""
