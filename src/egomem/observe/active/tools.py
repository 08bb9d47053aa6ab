"""Carrying out inspections: frames, crops, text, objects, words and documents of one scene."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Protocol

from pydantic import JsonValue

from egomem.media import Frame, audio, distinct, frames
from egomem.media.frame import RgbImage
from egomem.observe.active.actions import (
    Box,
    Crop,
    Dense,
    Detect,
    GazeCrop,
    Inspection,
    Listen,
    ReadText,
    Retrieve,
)
from egomem.observe.active.crops import crop, region_around, to_whole_picture
from egomem.observe.active.inspection_result import CroppedFrame, InspectionResult
from egomem.observe.active.retrieval import Retriever, retrieve
from egomem.observe.active.state import CaptionState, Scene
from egomem.observe.coco_classes import with_count
from egomem.observe.object_detector import Detection
from egomem.observe.plugin import SoundObserver
from egomem.observe.text_tracks import TextLine
from egomem.records import Observation, Recording
from egomem.timeline import Span

FrameLoader = Callable[[Sequence[float], int | None], Iterable[Frame]]
"""Ascending times (s), the longest side in pixels (None: as recorded) -> frames, true times."""

COARSE_STEP = 5.0
"""Seconds between two frames of the coarse view. Our choice."""
MIN_COARSE_FRAMES, MAX_COARSE_FRAMES = 4, 32
COARSE_SIDE = 384
"""Longest side of the coarse view's frames in pixels: what is small needs a look. Our choice."""
END_MARGIN_S = 0.05
"""Seconds before the end at which the last coarse frame is taken."""
MIN_READ_SCORE = 0.85
"""Recogniser's score from which a look has read a line of text for certain. Our choice."""
GAZE_SIDE = 0.3
"""Side of the region around a gaze point, of the picture's. Our choice."""
EDGE_MARGIN = 0.02
"""Share of a region's side within which a thing at an inner edge is cut off, and not counted."""


class ObjectFinder(Protocol):
    def detect(self, image: RgbImage, least: float) -> list[Detection]: ...


class TextReader(Protocol):
    def read(self, image: RgbImage) -> list[TextLine]: ...


def file_frames(path: str | Path) -> FrameLoader:
    def source(times: Sequence[float], side: int | None) -> Iterable[Frame]:
        return distinct(frames(path, times, side=side))

    return source


def decoded_frames(decoded: Sequence[Frame]) -> FrameLoader:
    """Return a loader of frames that are decoded already, if the file cannot be opened."""

    def source(times: Sequence[float], side: int | None) -> Iterable[Frame]:
        latest = [
            max((f for f in decoded if f.time <= t), key=lambda f: f.time, default=None)
            for t in times
        ]
        return distinct(f for f in latest if f is not None)

    return source


class Tools:
    """The tools of one scene. An inspection whose tool is missing is refused.

    `gaze`: (time, x, y) with x and y 0-1 of the picture. `context`: observations made before
    (speech). `given`: frames of the scene that are decoded already; the coarse view is taken from
    them.
    """

    def __init__(
        self,
        scene: Scene,
        source: FrameLoader,
        *,
        path: Path | None = None,
        detector: ObjectFinder | None = None,
        reader: TextReader | None = None,
        listener: SoundObserver | None = None,
        retriever: Retriever | None = None,
        gaze: Sequence[tuple[float, float, float]] = (),
        context: Sequence[Observation] = (),
        given: Sequence[Frame] = (),
        coarse_step: float = COARSE_STEP,
        max_coarse: int = MAX_COARSE_FRAMES,
        coarse_side: int | None = COARSE_SIDE,
    ) -> None:
        self.scene, self.path = scene, path
        self.detector, self.reader, self.listener = detector, reader, listener
        self.retriever, self.gaze, self.context = retriever, tuple(gaze), tuple(context)
        self.coarse_step, self.max_coarse, self.coarse_side = coarse_step, max_coarse, coarse_side
        self.given = tuple(given)
        self._source = source
        self._kept: dict[Inspection, InspectionResult] = {}

    def coarse(self) -> tuple[Frame, ...]:
        """The coarse view: evenly spread small frames, first and last included. Blocking."""
        span = self.scene.span
        if self.scene.coarse:
            times = list(self.scene.coarse)
        else:
            count_needed = max(round(span.length / self.coarse_step) + 1, MIN_COARSE_FRAMES)
            count = min(count_needed, self.max_coarse)
            last = max(span.start, span.end - END_MARGIN_S)
            step = (last - span.start) / max(1, count - 1)
            times = [round(span.start + k * step, 3) for k in range(count)]
        source = decoded_frames(self.given) if self.given else self._source
        coarse_frames = tuple(source(times, self.coarse_side))
        if not self.scene.coarse:
            update = {"coarse": tuple(round(f.time, 3) for f in coarse_frames)}
            self.scene = self.scene.model_copy(update=update)
        return coarse_frames

    def carry_out(self, look: Inspection, state: CaptionState) -> InspectionResult:
        """Return the result of a clamped inspection; the same one is carried out once. Blocking."""
        if look not in self._kept or isinstance(look, Retrieve):
            self._kept[look] = self._carry_out(look, state)
        return self._kept[look]

    def _carry_out(self, look: Inspection, state: CaptionState) -> InspectionResult:
        if isinstance(look, Listen):
            return self._listen(look)
        if isinstance(look, Retrieve):
            return retrieve(self.retriever, look, state)
        if isinstance(look, GazeCrop):
            return self._gaze(look)
        if isinstance(look, Detect) and self.detector is None:
            return InspectionResult(refused="no detector is installed")
        pictures = self.pictures(look.times, look.regions)
        if not pictures:
            return InspectionResult(refused="no picture could be decoded there")
        if isinstance(look, Detect):
            return self._detect(pictures)
        if isinstance(look, ReadText) and self.reader is not None:
            return self._read(pictures)
        assert isinstance(look, Crop | Dense | ReadText)
        return InspectionResult(pictures)

    def pictures(self, times: Sequence[float], regions: Sequence[Box]) -> tuple[CroppedFrame, ...]:
        pictures = []
        for frame in self._source(times, None):
            pictures += [CroppedFrame(frame.time, box, crop(frame.image, box)) for box in regions]
        return tuple(pictures)

    def _gaze(self, look: GazeCrop) -> InspectionResult:
        crops = []
        for frame in self._source(look.times, None):
            points = [g for g in self.gaze if abs(g[0] - frame.time) <= 0.5]
            if points:
                _, x, y = min(points, key=lambda g: abs(g[0] - frame.time))
                box = region_around((x, y, x, y), GAZE_SIDE, GAZE_SIDE)
                crops.append(CroppedFrame(frame.time, box, crop(frame.image, box)))
        return (
            InspectionResult(tuple(crops))
            if crops
            else InspectionResult(refused="no gaze was recorded there")
        )

    def _detect(self, pictures: tuple[CroppedFrame, ...]) -> InspectionResult:
        assert self.detector is not None
        detected: list[JsonValue] = []
        lines, best = [], 0.0
        for picture in pictures:
            things = detect_in(self.detector, picture)
            detected.append(
                {
                    "time": round(picture.time, 3),
                    "region": list(picture.box),
                    "things": [[d.label, round(d.score, 3), *d.box] for d in things],
                }
            )
            best = max([best, *(d.score for d in things)])
            labels = [d.label for d in things if d.score >= 0.5]
            lines.append(f"{picture.time:.1f} s: {list_labels(labels) or 'nothing named'}")
        return InspectionResult(pictures, "; ".join(lines), {"seen": detected}, best, best >= 0.5)

    def _read(self, pictures: tuple[CroppedFrame, ...]) -> InspectionResult:
        assert self.reader is not None
        rows: list[JsonValue] = []
        best_scores: dict[str, float] = {}
        for picture in pictures:
            for line in self.reader.read(picture.image):
                box = to_whole_picture(line.box, picture.box)
                rows.append([round(picture.time, 3), line.text, round(line.score, 3), *box])
                best_scores[line.text] = max(best_scores.get(line.text, 0.0), line.score)
        sure = [t for t, score in best_scores.items() if score >= MIN_READ_SCORE]
        unsure = [t for t in best_scores if t not in sure]
        best = max(best_scores.values(), default=0.0)
        return InspectionResult(
            pictures,
            _read_text(sure or unsure),
            {"lines": rows},
            best,
            bool(sure),
            unsure=_read_text(unsure) if sure else "",
        )

    def _listen(self, look: Listen) -> InspectionResult:
        span = Span(max(0.0, look.start - 0.3), look.end + 0.3)
        spoken = [o for o in self.context if o.source == "speech" and o.span.overlaps(span)]
        if spoken:
            return _heard(spoken)
        if self.listener is None or self.path is None:
            return InspectionResult(refused="nothing that could listen is installed")
        recording = Recording(id="scene", name=self.scene.name, duration=self.scene.span.end)
        stretches = self.listener.hear(audio(self.path, span=span), recording)
        return _heard([o for _, observations in stretches for o in observations])


def _read_text(lines: Sequence[str]) -> str:
    return "; ".join(f"Text read: “{t}”" for t in lines)


def _heard(utterances: Sequence[Observation]) -> InspectionResult:
    text = "; ".join(f"Words heard: “{o.text}”" for o in utterances)
    rows: list[JsonValue] = [[o.span.start, o.span.end, o.text] for o in utterances]
    return InspectionResult((), text, {"said": rows}, 1.0 if utterances else 0.0, bool(utterances))


def detect_in(detector: ObjectFinder, picture: CroppedFrame, least: float = 0.3) -> list[Detection]:
    """Return the objects in a region, in coordinates of the whole picture.

    An object that is cut by the region's edge is left out: its box would be wrong.
    """
    detections = []
    box = picture.box
    for thing in detector.detect(picture.image, least):
        inner = [v > 1e-6 for v in (box[0], box[1], 1 - box[2], 1 - box[3])]
        near = [
            thing.box[0] < EDGE_MARGIN,
            thing.box[1] < EDGE_MARGIN,
            thing.box[2] > 1 - EDGE_MARGIN,
            thing.box[3] > 1 - EDGE_MARGIN,
        ]
        if not any(i and n for i, n in zip(inner, near, strict=True)):
            detections.append(Detection(thing.label, thing.score, to_whole_picture(thing.box, box)))
    return detections


def list_labels(labels: Sequence[str]) -> str:
    return ", ".join(with_count(label, n) for label, n in sorted(Counter(labels).items()))
