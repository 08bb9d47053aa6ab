"""Reports of runs: one page, Markdown, CSV and LaTeX, each figure with what it rests on."""

from egomem.report.columns import ReportColumn, ReportOptions, differences, report_columns
from egomem.report.write import WrittenReport, report_sections, write_report

__all__ = [
    "ReportColumn",
    "ReportOptions",
    "WrittenReport",
    "differences",
    "report_columns",
    "report_sections",
    "write_report",
]
