"""Tables for a paper: `tabular` between booktabs rules."""

from __future__ import annotations

from collections.abc import Sequence

from egomem.evaluate.report.grid import Cell, Chart, Grid, Section, Value

_TEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
    "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"\textquotedbl{}",
    "'": r"\textquotesingle{}", "`": r"\textasciigrave{}",
}  # fmt: skip
LONG = 40
"""Characters from which a column of text is given a width, so that it can break."""

PREAMBLE = """\
% \\usepackage[T1]{fontenc} \\usepackage{textcomp,booktabs}
% pdflatex reads Latin letters; for names in other scripts use xelatex or lualatex."""


def latex(sections: Sequence[Section], sources: Sequence[str] = ()) -> str:
    """Each table as a `tabular`. `sources`: what the figures lead back to, as comments."""
    lines = [PREAMBLE, *(f"% {_comment(source)}" for source in sources)]
    for section in sections:
        for part in section.parts:
            if isinstance(part, Grid):
                lines += ["", *_table(section, part)]
            elif isinstance(part, Chart):
                continue
    return "\n".join(lines) + "\n"


def _table(section: Section, part: Grid) -> list[str]:
    columns = "".join(_column(part, k) for k in range(len(part.headings)))
    body = part.rows[: len(part.rows) - part.foot]
    foot = part.rows[len(part.rows) - part.foot :]
    titled = any(str(h) for h in part.headings)
    return [
        f"% {_comment(': '.join(filter(None, (section.title, part.title))))}",
        *([f"% {_comment(part.note)}"] if part.note else []),
        f"\\begin{{tabular}}{{@{{}}{columns}@{{}}}}",
        "\\toprule",
        *([_row(part.headings), "\\midrule"] if titled else []),
        *map(_row, body),
        *(["\\midrule", *map(_row, foot)] if foot else []),
        "\\bottomrule",
        "\\end{tabular}",
    ]


def _column(part: Grid, k: int) -> str:
    if part.is_number(k):
        return "r"
    long = max((len(str(row[k])) for row in part.rows), default=0) > LONG
    return "p{0.5\\linewidth}" if long else "l"


def _row(cells: Sequence[Cell]) -> str:
    return " & ".join(map(_cell, cells)) + r" \\"


def _cell(cell: Cell) -> str:
    if isinstance(cell, Value) and cell.small:
        return f"{escaped(cell.text)} {{\\scriptsize {escaped(cell.small)}}}"
    return escaped(str(cell))


def escaped(text: str) -> str:
    """Text that LaTeX prints as it stands; two hyphens do not become a dash."""
    return "".join(_TEX.get(c, c) for c in text).replace("--", "-{}-").replace("--", "-{}-")


def _comment(text: str) -> str:
    return " ".join(text.split())
