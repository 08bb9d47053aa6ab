"""A table as plain values, which every format prints the same."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from egomem.records import Record


class Grid(Record):
    """`rows` have a cell for each heading. `note` says what a reader must know of the figures."""

    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


class Chart(Record):
    """A drawing, as SVG without scripts."""

    title: str
    svg: str
    note: str = ""


class Section(Record):
    title: str
    text: tuple[str, ...] = ()
    parts: tuple[Grid | Chart, ...] = ()


def grid(
    title: str, headings: Sequence[str], rows: Iterable[Sequence[object]], note: str = ""
) -> Grid:
    cells = tuple(tuple("" if c is None else str(c) for c in row) for row in rows)
    return Grid(title=title, headings=tuple(headings), rows=cells, note=note)


def markdown(title: str, sections: Sequence[Section]) -> str:
    lines = [f"# {title}", ""]
    for section in sections:
        lines += [f"## {section.title}", "", *(f"{t}\n" for t in section.text)]
        for part in section.parts:
            if isinstance(part, Chart):
                continue
            if part.title:
                lines += [f"### {part.title}", ""]
            lines.append(_md(part.headings))
            lines.append("|" + "---|" * len(part.headings))
            lines += [_md(row) for row in part.rows]
            lines += ["", *([part.note, ""] if part.note else [])]
    return "\n".join(lines)


def _md(cells: Sequence[str]) -> str:
    return "| " + " | ".join(c.replace("|", "\\|").replace("\n", " ") for c in cells) + " |"


_TEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
    "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"\textless{}", ">": r"\textgreater{}",
}  # fmt: skip


def latex(sections: Sequence[Section]) -> str:
    """Each table as a `tabular` between booktabs rules; needs the package booktabs."""
    lines = ["% needs \\usepackage{booktabs}"]
    for section in sections:
        for part in section.parts:
            if isinstance(part, Chart):
                continue
            columns = "l" + "r" * (len(part.headings) - 1)
            lines += [
                "",
                f"% {section.title}: {part.title}".replace("\n", " "),
                f"\\begin{{tabular}}{{{columns}}}",
                "\\toprule",
                _tex(part.headings),
                "\\midrule",
                *(_tex(row) for row in part.rows),
                "\\bottomrule",
                "\\end{tabular}",
            ]
    return "\n".join(lines) + "\n"


def _tex(cells: Sequence[str]) -> str:
    escaped = ("".join(_TEX.get(c, c) for c in cell.replace("\n", " ")) for cell in cells)
    return " & ".join(escaped) + r" \\"


def csv_text(rows: Iterable[Sequence[object]], headings: Sequence[str]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(headings)
    writer.writerows(rows)
    return out.getvalue()
