"""How the figures of a report are made and what its marks mean: said once, after the tables."""

from __future__ import annotations

from egomem.report.cell_format import INTERVAL_WARNINGS, STATUS_LETTERS_NOTE
from egomem.report.columns import ReportOptions
from egomem.report.table import Section
from egomem.score import MIN_CLUSTERS, RESAMPLES


def reading_guide_section(options: ReportOptions) -> Section:
    """Accuracies, intervals, p values and marks, a paragraph each."""
    percentiles = "percentiles of the draws"
    if options.intervals == "widened":
        percentiles += ", widened for few videos (our reconstruction; --intervals percentile)"
    paragraphs = (
        "Strict accuracy: the share of right answers over all questions; a reply that gives no "
        "right answer is wrong. Answered: over the replies that were read as a choice or as an "
        "abstention. Macro: the mean over videos of each one's strict accuracy.",
        f"Intervals: 95 %, from {RESAMPLES:,} draws of whole videos with all their questions "
        "and all readers, separately among short and long videos (edges: --regimes); "
        f"{percentiles}. They are about other videos, not about other models. A question that "
        "names no video is drawn alone. Videos and such questions are the clusters of the tables.",
        INTERVAL_WARNINGS,
        "Points: the accuracy of one setting less that of another on the same questions, in per "
        "cent. p: two-sided permutation test that swaps whole videos. p (Holm): adjusted for the "
        "number of tests of its table. MDD: the smallest true difference that such a comparison "
        f"detects with power 0.8; not given for fewer than {MIN_CLUSTERS} clusters.",
        "Blind baselines: what the questions give away without the video. A figure has to beat "
        "them.",
        STATUS_LETTERS_NOTE,
    )
    return Section(title="How to read", text=paragraphs)
