"""Looking at evidence: what a memory's answers and hits are shown by, and where a text points."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from egomem.errors import UsageError
from egomem.memory import View
from egomem.memory.moments import moment_of
from egomem.memory.recording_names import find_recording
from egomem.records import Evidence
from egomem.timeline import RecordingTime, Span

if TYPE_CHECKING:
    from egomem.media import Clip, Frame
    from egomem.memory.evidence_view import EvidenceViewer
    from egomem.recall import Hit


class LazyViewer:
    """An `EvidenceViewer` of a view; decoding is loaded when something is looked at."""

    def __init__(self, view: View) -> None:
        self._view = view

    @cached_property
    def viewer(self) -> EvidenceViewer:
        from egomem.memory.evidence_view import EvidenceViewer

        return EvidenceViewer(self._view)

    def frame(self, evidence: Evidence, *, side: int | None = None, boxes: bool = True) -> Frame:
        return self.viewer.frame(evidence, side=side, boxes=boxes)

    def clip(self, evidence: Evidence, target: str | Path | None = None) -> Clip:
        return self.viewer.clip(evidence, target)


def evidence_of_hit(hit: Hit) -> Evidence:
    """The best observation of a hit, as evidence."""
    best = hit.observations[0] if hit.observations else None
    return Evidence(
        recording=hit.recording,
        span=best.span if best else hit.span,
        quote=best.text if best else "",
        source=best.source if best else None,
        observation=best.id if best else None,
        when=hit.when,
        score=hit.score,
    )


def evidence_at(view: View, place: str) -> Evidence:
    """What a text points at: "street.mp4 1:20", a wall-clock time, or a recording's name (its
    beginning).

    Raises UsageError where no recording of the view covers it.
    """
    recordings = view.recordings()
    try:
        moment = moment_of(view.store, place)
    except UsageError:
        moment = RecordingTime(find_recording(recordings, place).id, 0.0)
    if isinstance(moment, RecordingTime):
        covering = [(r, moment.seconds) for r in recordings if r.id == moment.recording]
    else:
        assert moment is not None
        seconds = [(r, (moment - r.clock.start).total_seconds()) for r in recordings if r.clock]
        covering = [(r, second) for r, second in seconds if 0 <= second < r.duration]
    if not covering or covering[0][1] > covering[0][0].duration:
        raise UsageError(
            f"no recording shows {place!r}", "egomem show lists the recordings and their lengths"
        )
    recording, second = covering[0]
    return Evidence(
        recording=recording.id, span=Span(second, second), when=recording.instant(second)
    )
