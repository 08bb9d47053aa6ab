"""What evidence looks like: its frame, with the boxes of what was detected or read, or a clip."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from egomem.errors import MediaError, UsageError
from egomem.media import Clip, Frame, clip_suffix, cut_clip, draw_boxes, jpeg, probe
from egomem.memory.frames import recorded_file, recorded_frames
from egomem.memory.permissions import make_private_folder, write_private
from egomem.memory.view import View
from egomem.paths import file_name
from egomem.records import Evidence, Observation, Recording
from egomem.timeline import Span, format_time

AROUND_S = 2.0
"""Seconds of a clip on each side of its evidence."""
MAX_CLIP_S = 60.0
"""Seconds of a clip, around the middle of longer evidence."""
_EDGE_S = 0.001

Box = tuple[float, ...]


@dataclass(frozen=True, eq=False)
class EvidenceViewer:
    """Shows evidence as it looked, from the recordings' own files; nothing after the view's end.

    Errors: UsageError for evidence without a recording, or a recording without a file; MediaError
    where the file is gone, is another one, or cannot be decoded there.
    """

    view: View

    def frame(self, evidence: Evidence, *, side: int | None = None, boxes: bool = True) -> Frame:
        """The frame in which the evidence was seen, its longer side at most `side` pixels.

        Without a known frame, the one in the middle of its span. `boxes`: with what was detected or
        read there framed.
        """
        recording = self._recording(evidence)
        observations = self._observations(evidence)
        time = min(_time(evidence.span, observations), _latest(recording))
        for frame in recorded_frames(self.view.store, recording.id, [time], side):
            if not boxes:
                return frame
            return replace(frame, image=draw_boxes(frame.image, _boxes(observations, time)))
        raise MediaError(f"no picture of {recording.name} at {format_time(time)} can be decoded")

    def clip(
        self, evidence: Evidence, target: str | Path | None = None, *, around: float = AROUND_S
    ) -> Clip:
        """A clip of the evidence and `around` seconds on each side, written to `target`.

        Without one, into a new private folder among the system's temporary files. A suffix is
        added where `target` has none.
        """
        recording = self._recording(evidence)
        info = probe(recorded_file(self.view.store, recording.id))
        span = _clip_span(evidence.span, around, recording.duration)
        path = Path(target) if target is not None else temporary_folder() / _stem(recording, span)
        if path.suffix.lower() not in (".mp4", ".m4a", ".mkv", ".mka", ".mov"):
            path = path.with_name(path.name + clip_suffix(info))
        return cut_clip(recorded_file(self.view.store, recording.id), span, path, info)

    def save_frame(self, evidence: Evidence, folder: Path | None = None) -> Path:
        """The frame with its boxes as a JPEG in a folder; see `clip` for where without one."""
        frame = self.frame(evidence)
        folder = folder or temporary_folder()
        make_private_folder(folder)
        at = Span(frame.time, frame.time)
        path = folder / f"{_stem(self._recording(evidence), at)}.jpg"
        write_private(path, jpeg(frame, 92))
        return path

    def save_clip(self, evidence: Evidence, folder: Path | None = None) -> Path:
        """A clip in a folder; see `clip`."""
        if folder is None:
            return self.clip(evidence).path
        make_private_folder(folder)
        recording = self._recording(evidence)
        return self.clip(evidence, folder / _stem(recording, evidence.span)).path

    def _recording(self, evidence: Evidence) -> Recording:
        if evidence.recording is None:
            raise UsageError(
                "a digest has no picture of its own", "look at the observations that it rests on"
            )
        for recording in self.view.recordings():
            if recording.id == evidence.recording:
                return recording
        raise UsageError(f"the recording {evidence.recording} had not begun by then")

    def _observations(self, evidence: Evidence) -> list[Observation]:
        """The observation itself and what it rests on; without one, all that lies in the span."""
        if evidence.observation is None:
            return self.view.observations(recording=evidence.recording, span=evidence.span)
        rows = self.view.observations(ids=[evidence.observation])
        ids = [id for o in rows for id in o.provenance.rests_on]
        return rows + (self.view.observations(ids=ids) if ids else [])


def temporary_folder() -> Path:
    """A new folder of this user alone, which the system clears away."""
    return Path(tempfile.mkdtemp(prefix="egomem-look-"))


def _latest(recording: Recording) -> float:
    """The last second at which a picture of the recording, as it is seen, is on screen."""
    return max(0.0, recording.duration - _EDGE_S)


def _time(span: Span, observations: Sequence[Observation]) -> float:
    """The second at which to look: of a frame that was used, nearest to the middle of the span."""
    middle = (span.start + span.end) / 2
    # A box was found in one frame; a caption says what lay in many.
    times = [time for o in observations for time, _ in _boxes_by_time(o)]
    times = times or [time for o in observations for time in o.provenance.frames]
    inside = [time for time in times if span.start <= time <= span.end]
    return min(inside, key=lambda time: (abs(time - middle), time), default=middle)


def _boxes(observations: Iterable[Observation], time: float) -> list[Box]:
    return [
        box
        for o in observations
        for at, boxes in _boxes_by_time(o)
        if abs(at - time) < _EDGE_S
        for box in boxes
    ]


def _boxes_by_time(o: Observation) -> list[tuple[float, list[Box]]]:
    """The times (s) at which an observation has boxes, and those boxes."""
    by_time: list[tuple[float, list[Box]]] = []
    entries = o.data.get("boxes")
    for entry in entries if isinstance(entries, list) else []:
        if isinstance(entry, dict) and isinstance(time := entry.get("time"), int | float):
            listed = entry.get("boxes")
            boxes = [_box(value) for value in listed] if isinstance(listed, list) else []
            by_time.append((float(time), [box for box in boxes if box]))
    if box := _box(o.data.get("box")):
        by_time += [(time, [box]) for time in o.provenance.frames]
    return by_time


def _box(value: object) -> Box:
    """Left, top, right, bottom as shares; () for what is no box."""
    if isinstance(value, list) and len(value) == 4:
        numbers = [float(v) for v in value if isinstance(v, int | float)]
        return tuple(numbers) if len(numbers) == 4 else ()
    return ()


def _clip_span(span: Span, around: float, duration: float) -> Span:
    start, end = max(0.0, span.start - around), min(duration, span.end + around)
    if end - start > MAX_CLIP_S:
        middle = (span.start + span.end) / 2
        start, end = middle - MAX_CLIP_S / 2, middle + MAX_CLIP_S / 2
    return Span(start, max(end, start + _EDGE_S))


def _stem(recording: Recording, span: Span) -> str:
    name = file_name(Path(recording.name).stem, "recording")
    return f"{name}-{format_time(span.start).replace(':', '-')}"
