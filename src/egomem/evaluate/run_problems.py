"""What of a run did not work, and what a user does about it."""

from __future__ import annotations

from collections.abc import Iterator

from egomem.evaluate.captions import uncaptioned_text
from egomem.evaluate.plan import RunPlan
from egomem.evaluate.run_summary import RunSummary
from egomem.text import plural

UNCAPTIONED_REMEDY = (
    "questions are answered without them; another captioner may write them, and a higher "
    "--caption-tokens those that are truncated"
)


def run_problems(summary: RunSummary, plan: RunPlan) -> Iterator[tuple[str, str]]:
    """Each problem of a run, with its remedy; nothing where every cell was answered."""
    for fault in summary.faults:
        yield fault, "run the same command again"
    if summary.uncaptioned:
        yield uncaptioned_text(summary.uncaptioned), UNCAPTIONED_REMEDY
    if summary.errors:
        what = f"{summary.errors} of {plural(summary.cells, 'cell')} ended in an error"
        remedy = "the same command tries them again"
        # Trying again helps no question whose video is not there; a second run would fail alike.
        if plan.total.unable and plan.missing:
            missing_videos = plural(len(plan.missing), "video is", "videos are")
            remedy += f"; {missing_videos} not at hand: give them with --media or --memory"
        yield what, remedy
    if summary.halted:
        are = "is" if summary.left == 1 else "are"
        unanswered = f"{summary.left} of {plural(summary.cells, 'cell')} {are} not answered"
        yield f"{summary.halted}; {unanswered}", summary.remedy
