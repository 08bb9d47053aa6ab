"""Reports of runs: one page, Markdown, CSV and LaTeX, each figure with what it rests on."""

from egomem.report.columns import Choices, Entry, differences, entries
from egomem.report.write import Written, sections_of, write_report

__all__ = ["Choices", "Entry", "Written", "differences", "entries", "sections_of", "write_report"]
