"""Reports of runs: one page, Markdown, CSV and LaTeX, each figure with what it rests on."""

from egomem.evaluate.report.entries import Entry, differences, entries
from egomem.evaluate.report.write import Written, sections_of, write_report

__all__ = ["Entry", "Written", "differences", "entries", "sections_of", "write_report"]
