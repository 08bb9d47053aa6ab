"""Tables for a paper: `tabular` between booktabs rules."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from egomem.report.pagination import is_text_column, paginate, text_column_share
from egomem.report.table import Cell, CellValue, Chart, ReportTable, Section, one_line

_TEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
    "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"\textquotedbl{}",
    "'": r"\textquotesingle{}", "`": r"\textasciigrave{}",
}  # fmt: skip
PREAMBLE = """\
% \\usepackage[T1]{fontenc} \\usepackage{array,textcomp,booktabs}
% pdflatex reads Latin letters; for names in other scripts use xelatex or lualatex. A table that is
% too wide fits in \\resizebox{\\linewidth}{!}{...} of graphicx."""


def render_latex(sections: Sequence[Section], sources: Sequence[str] = ()) -> str:
    """Each table as a `tabular`, or as several where it would not fit a page.

    `sources`: what the figures lead back to, as comments.
    """
    lines = [PREAMBLE, *(f"% {_comment(source)}" for source in sources)]
    for section in sections:
        for part in section.parts:
            if isinstance(part, ReportTable):
                for piece in paginate(part):
                    lines += ["", *_table(section, piece)]
            elif isinstance(part, Chart):
                continue
    return "\n".join(lines) + "\n"


def _table(section: Section, part: ReportTable) -> list[str]:
    columns = "".join(_column(part, k) for k in range(len(part.headings)))
    body = part.rows[: len(part.rows) - part.foot]
    foot = part.rows[len(part.rows) - part.foot :]
    titled = any(str(h) for h in part.headings)
    return [
        f"% {_comment(': '.join(filter(None, (section.title, part.title))))}",
        *([f"% {_comment(part.note)}"] if part.note else []),
        "{\\footnotesize\\setlength{\\tabcolsep}{3pt}%",
        f"\\begin{{tabular}}{{@{{}}{columns}@{{}}}}",
        "\\toprule",
        *(_spans(part) if part.spans else []),
        *([_joined(map(_heading, part.headings)), "\\midrule"] if titled else []),
        *(_row(part, row) for row in body),
        *(["\\midrule", *(_row(part, row) for row in foot)] if foot else []),
        "\\bottomrule",
        "\\end{tabular}}",
    ]


def _column(part: ReportTable, k: int) -> str:
    if part.is_number(k):
        return "r"
    if not is_text_column(part, k):
        return "l"
    return f">{{\\raggedright\\arraybackslash}}p{{{text_column_share(part)}\\linewidth}}"


def _row(part: ReportTable, cells: Sequence[Cell]) -> str:
    return _joined(_cell(cell, part.is_number(k)) for k, cell in enumerate(cells))


def _joined(cells: Iterable[str]) -> str:
    return " & ".join(cells) + r" \\"


def _spans(part: ReportTable) -> list[str]:
    """Headings over several columns, each with a rule below it."""
    cells, rules, first = [], [], 1
    for name, count in part.spans:
        cells.append(f"\\multicolumn{{{count}}}{{c}}{{{escape_latex(name)}}}")
        if name:
            rules.append(f"\\cmidrule(lr){{{first}-{first + count - 1}}}")
        first += count
    return [_joined(cells), "".join(rules)]


def _heading(cell: Cell) -> str:
    """With what is small in a line of its own."""
    if isinstance(cell, CellValue) and cell.small:
        return (
            f"\\shortstack[r]{{{escape_latex(cell.text)}\\\\{{\\tiny {escape_latex(cell.small)}}}}}"
        )
    return escape_latex(str(cell))


def _cell(cell: Cell, number: bool) -> str:
    text, small = (cell.text, cell.small) if isinstance(cell, CellValue) else (cell, "")
    text = escape_latex(text)
    if number:
        text = _MINUS.sub("$-$", text)
    return f"{text} {{\\tiny {escape_latex(small)}}}" if small else text


_MINUS = re.compile(r"(?<!\w)-(?=\d)")


def escape_latex(text: str) -> str:
    """Text that LaTeX prints as it stands; two hyphens do not become a dash."""
    return "".join(_TEX.get(c, c) for c in text).replace("--", "-{}-").replace("--", "-{}-")


def _comment(text: str) -> str:
    return " ".join(one_line(text).split())
