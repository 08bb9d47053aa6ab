"""The colours of charts: of the series in a report, and of the bars in a benchmark's figures."""

from __future__ import annotations

SERIES = ("#1f83c4", "#d55e00", "#009e73", "#cc79a7", "#b08a00", "#7b6bd6", "#8c8c8c", "#56b4e9")
"""After Okabe and Ito: people with colour-blindness can tell them apart, on white and on black."""

BAR = "#3b6ea5"
"""Bars of a histogram and of a bar chart, which show one series each."""
