"""The report as Markdown: all texts and tables, without the charts."""

from __future__ import annotations

import re
from collections.abc import Sequence

from egomem.report.table import Cell, Chart, ReportTable, Section, one_line


def render_markdown(title: str, sections: Sequence[Section]) -> str:
    """The sections below one title, each table as a pipe table."""
    lines = [f"# {_escape(one_line(title))}", ""]
    for section in sections:
        lines += [f"## {section.title}", ""]
        lines += [f"**{_escape(one_line(section.lead))}**\n"] if section.lead else []
        lines += [f"{_escape(one_line(paragraph))}\n" for paragraph in section.text]
        for part in section.parts:
            if isinstance(part, Chart):
                continue
            if part.title:
                lines += [f"### {_escape(one_line(part.title))}", ""]
            lines.append(_row(_headings(part)))
            rule = ("---:" if part.is_numeric(k) else "---" for k in range(len(part.headings)))
            lines.append("|" + "|".join(rule) + "|")
            lines += [_row(row) for row in part.rows]
            lines += ["", *([_escape(part.note), ""] if part.note else [])]
    return "\n".join(lines)


def _headings(table: ReportTable) -> Sequence[Cell]:
    """Headings that name their column group, as Markdown has no headings over several columns."""
    if not table.column_groups:
        return table.headings
    pairs = zip(table.group_titles(), table.headings, strict=True)
    return [", ".join(filter(None, (group, str(heading)))) for group, heading in pairs]


def _row(cells: Sequence[Cell]) -> str:
    return "| " + " | ".join(_escape(str(cell)).replace("|", "\\|") for cell in cells) + " |"


_MARKUP = re.compile(r"[`*\\]|<(?=[a-zA-Z/!?])|\](?=[(\[:])|(?<!\w)_|_(?!\w)|&(?=[#\w]+;)")


def _escape(text: str) -> str:
    """Escape what would make a tag, a link, an image or emphasis out of a question or a reply."""
    return _MARKUP.sub(lambda match: "\\" + match[0], text)
