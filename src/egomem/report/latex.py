"""Tables for a paper: `tabular` environments with booktabs rules."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from egomem.report.pagination import is_text_column, paginate, text_column_share
from egomem.report.table import Cell, ReportTable, Section, cell_detail, cell_text, one_line

_ESCAPES = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
    "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"\textquotedbl{}",
    "'": r"\textquotesingle{}", "`": r"\textasciigrave{}",
}  # fmt: skip
PREAMBLE = """\
% \\usepackage[T1]{fontenc} \\usepackage{array,textcomp,booktabs}
% pdflatex prints Latin letters; for names in other scripts use xelatex or lualatex. To make a table
% smaller, put it into \\resizebox{\\linewidth}{!}{...} of the package graphicx."""


def render_latex(sections: Sequence[Section], sources: Sequence[str] = ()) -> str:
    """Every table as a `tabular`, or as several where it would not fit a page.

    `sources`, which say what the figures come from, are written as comments.
    """
    lines = [PREAMBLE, *(f"% {_comment(source)}" for source in sources)]
    for section in sections:
        for part in section.parts:
            if isinstance(part, ReportTable):
                for piece in paginate(part):
                    lines += ["", *_tabular(section, piece)]
    return "\n".join(lines) + "\n"


def _tabular(section: Section, table: ReportTable) -> list[str]:
    columns = "".join(_column_type(table, k) for k in range(len(table.headings)))
    body = table.rows[: len(table.rows) - table.footer_rows]
    footer = table.rows[len(table.rows) - table.footer_rows :]
    has_headings = any(str(heading) for heading in table.headings)
    return [
        f"% {_comment(': '.join(filter(None, (section.title, table.title))))}",
        *([f"% {_comment(table.note)}"] if table.note else []),
        "{\\footnotesize\\setlength{\\tabcolsep}{3pt}%",
        f"\\begin{{tabular}}{{@{{}}{columns}@{{}}}}",
        "\\toprule",
        *(_group_headings(table) if table.column_groups else []),
        *([_line(map(_heading, table.headings)), "\\midrule"] if has_headings else []),
        *(_row(table, row) for row in body),
        *(["\\midrule", *(_row(table, row) for row in footer)] if footer else []),
        "\\bottomrule",
        "\\end{tabular}}",
    ]


def _column_type(table: ReportTable, column: int) -> str:
    if table.is_numeric(column):
        return "r"
    if not is_text_column(table, column):
        return "l"
    return f">{{\\raggedright\\arraybackslash}}p{{{text_column_share(table)}\\linewidth}}"


def _row(table: ReportTable, cells: Sequence[Cell]) -> str:
    return _line(_cell(cell, table.is_numeric(k)) for k, cell in enumerate(cells))


def _line(cells: Iterable[str]) -> str:
    return " & ".join(cells) + r" \\"


def _group_headings(table: ReportTable) -> list[str]:
    """Headings over several columns, each with a rule below it."""
    cells, rules, first = [], [], 1
    for title, count in table.column_groups:
        cells.append(f"\\multicolumn{{{count}}}{{c}}{{{escape_latex(title)}}}")
        if title:
            rules.append(f"\\cmidrule(lr){{{first}-{first + count - 1}}}")
        first += count
    return [_line(cells), "".join(rules)]


def _heading(cell: Cell) -> str:
    """A heading, with its detail on a second line: beside it, it would widen the column."""
    text, detail = escape_latex(cell_text(cell)), escape_latex(cell_detail(cell))
    return f"\\shortstack[r]{{{text}\\\\{{\\tiny {detail}}}}}" if detail else text


def _cell(cell: Cell, is_number: bool) -> str:
    text, detail = escape_latex(cell_text(cell)), escape_latex(cell_detail(cell))
    if is_number:
        text = _MINUS.sub("$-$", text)
    return f"{text} {{\\tiny {detail}}}" if detail else text


_MINUS = re.compile(r"(?<!\w)-(?=\d)")


def escape_latex(text: str) -> str:
    """Text that LaTeX prints as it is; two hyphens do not become a dash."""
    escaped = "".join(_ESCAPES.get(character, character) for character in text)
    # Twice, as in "---" the first pass leaves a pair.
    return escaped.replace("--", "-{}-").replace("--", "-{}-")


def _comment(text: str) -> str:
    return " ".join(one_line(text).split())
