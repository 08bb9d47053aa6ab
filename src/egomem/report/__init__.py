"""Reports of finished runs: an HTML page, Markdown, CSV and LaTeX."""

from egomem.report.columns import ReportColumn, ReportOptions, report_columns
from egomem.report.comparability import differences
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
