"""Looks carried out: frames, crops, text, things, words and documents of one scene."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import av
import numpy as np
import numpy.typing as npt
from pydantic import JsonValue

from egomem.media import Frame, audio, distinct, frames
from egomem.observe.active.actions import (
    WHOLE,
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
from egomem.observe.active.retrieval import Retriever, retrieve
from egomem.observe.active.state import Scene, State
from egomem.observe.detect import Detection
from egomem.observe.text_tracks import Line
from egomem.observe.window import SpeechObserver
from egomem.records import Observation, Recording
from egomem.timeline import Span

Image = npt.NDArray[np.uint8]
FrameSource = Callable[[Sequence[float], int | None], Iterable[Frame]]
"""Ascending times (s), the longest side in pixels (None: as recorded) -> frames, true times."""

COARSE_STEP = 5.0
"""Seconds between two frames of the coarse view. Our choice."""
COARSE_LEAST, COARSE_MOST = 4, 32
COARSE_SIDE = 384
"""Longest side of the coarse view's frames in pixels: what is small needs a look. Our choice."""
CLOSE_SIDE = 448
"""Pixels to which the longer side of a smaller crop is enlarged."""
END = 0.05
"""Seconds before the end at which the last coarse frame is taken."""
GAZE_SIDE = 0.3
"""Side of the region around a gaze point, of the picture's. Our choice."""
CUT = 0.02
"""Share of a region's side within which a thing at an inner edge is cut off, and not counted."""


class FindsThings(Protocol):
    def detect(self, image: Image, least: float) -> list[Detection]: ...


class ReadsText(Protocol):
    def read(self, image: Image) -> list[Line]: ...


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """What was on screen at `time`: the region `box`, enlarged where it is small."""

    time: float
    box: Box
    image: Image


@dataclass(frozen=True, slots=True)
class InspectionResult:
    """What a look gave: pictures for whoever reads them, or what a tool read (`text`, `data`).

    `conclusive` and `confidence` are the tool's own; a look without a tool has neither. `refused`:
    why nothing could be looked at.
    """

    pictures: tuple[Picture, ...] = ()
    text: str = ""
    data: dict[str, JsonValue] = field(default_factory=dict)
    confidence: float = 0.0
    conclusive: bool = False
    rests_on: tuple[str, ...] = ()
    refused: str = ""


def file_frames(path: str | Path) -> FrameSource:
    def source(times: Sequence[float], side: int | None) -> Iterable[Frame]:
        return distinct(frames(path, times, side=side))

    return source


def held_frames(held: Sequence[Frame]) -> FrameSource:
    """Frames that were decoded before, where the file cannot be opened again."""

    def source(times: Sequence[float], side: int | None) -> Iterable[Frame]:
        chosen = [
            max((f for f in held if f.time <= t), key=lambda f: f.time, default=None) for t in times
        ]
        return distinct(f for f in chosen if f is not None)

    return source


class Tools:
    """What can look at one scene. A tool that is not given is refused when it is asked for.

    `gaze`: (time, x, y) with x and y 0-1 of the picture. `held`: observations made before (speech).
    `given`: frames of the scene that are decoded already; the coarse view is taken from them.
    """

    def __init__(
        self,
        scene: Scene,
        source: FrameSource,
        *,
        path: Path | None = None,
        detector: FindsThings | None = None,
        reader: ReadsText | None = None,
        listener: SpeechObserver | None = None,
        retriever: Retriever | None = None,
        gaze: Sequence[tuple[float, float, float]] = (),
        held: Sequence[Observation] = (),
        given: Sequence[Frame] = (),
        coarse_step: float = COARSE_STEP,
    ) -> None:
        self.scene, self.path = scene, path
        self.detector, self.reader, self.listener = detector, reader, listener
        self.retriever, self.gaze, self.held = retriever, tuple(gaze), tuple(held)
        self.coarse_step, self._given = coarse_step, tuple(given)
        self._source = source
        self._kept: dict[Inspection, InspectionResult] = {}

    def coarse(self) -> tuple[Frame, ...]:
        """The coarse view: evenly spread small frames, first and last included. Blocking."""
        span = self.scene.span
        if self.scene.coarse:
            wanted = list(self.scene.coarse)
        else:
            count = min(max(round(span.length / self.coarse_step) + 1, COARSE_LEAST), COARSE_MOST)
            last = max(span.start, span.end - END)
            step = (last - span.start) / (count - 1)
            wanted = [round(span.start + k * step, 3) for k in range(count)]
        source = held_frames(self._given) if self._given else self._source
        seen = tuple(source(wanted, COARSE_SIDE))
        if not self.scene.coarse:
            update = {"coarse": tuple(round(f.time, 3) for f in seen)}
            self.scene = self.scene.model_copy(update=update)
        return seen

    def carry_out(self, look: Inspection, state: State) -> InspectionResult:
        """What a (clamped) look shows. The same look is not carried out twice. Blocking."""
        if look not in self._kept or isinstance(look, Retrieve):
            self._kept[look] = self._carry_out(look, state)
        return self._kept[look]

    def _carry_out(self, look: Inspection, state: State) -> InspectionResult:
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

    def pictures(self, times: Sequence[float], regions: Sequence[Box]) -> tuple[Picture, ...]:
        found = []
        for frame in self._source(times, None):
            found += [Picture(frame.time, box, cut_out(frame.image, box)) for box in regions]
        return tuple(found)

    def _gaze(self, look: GazeCrop) -> InspectionResult:
        found = []
        for frame in self._source(look.times, None):
            near = [g for g in self.gaze if abs(g[0] - frame.time) <= 0.5]
            if near:
                _, x, y = min(near, key=lambda g: abs(g[0] - frame.time))
                box = around((x, y, x, y), GAZE_SIDE, GAZE_SIDE)
                found.append(Picture(frame.time, box, cut_out(frame.image, box)))
        return (
            InspectionResult(tuple(found))
            if found
            else InspectionResult(refused="no gaze was recorded there")
        )

    def _detect(self, pictures: tuple[Picture, ...]) -> InspectionResult:
        assert self.detector is not None
        seen: list[JsonValue] = []
        said, best = [], 0.0
        for picture in pictures:
            things = things_in(self.detector, picture)
            seen.append(
                {
                    "time": round(picture.time, 3),
                    "region": list(picture.box),
                    "things": [[d.label, round(d.score, 3), *d.box] for d in things],
                }
            )
            best = max([best, *(d.score for d in things)])
            sure = [d.label for d in things if d.score >= 0.5]
            said.append(f"{picture.time:.1f} s: {listed(sure) or 'nothing named'}")
        return InspectionResult(pictures, "; ".join(said), {"seen": seen}, best, best >= 0.5)

    def _read(self, pictures: tuple[Picture, ...]) -> InspectionResult:
        assert self.reader is not None
        rows: list[JsonValue] = []
        said: dict[str, float] = {}
        for picture in pictures:
            for line in self.reader.read(picture.image):
                box = outer(line.box, picture.box)
                rows.append([round(picture.time, 3), line.text, round(line.score, 3), *box])
                said[line.text] = max(said.get(line.text, 0.0), line.score)
        text = "; ".join(f"Text read: “{t}”" for t in said)
        best = max(said.values(), default=0.0)
        return InspectionResult(pictures, text, {"lines": rows}, best, best >= 0.85)

    def _listen(self, look: Listen) -> InspectionResult:
        span = Span(max(0.0, look.start - 0.3), look.end + 0.3)
        spoken = [o for o in self.held if o.source == "speech" and o.span.overlaps(span)]
        if spoken:
            return _heard(spoken)
        if self.listener is None or self.path is None:
            return InspectionResult(refused="nothing that could listen is installed")
        recording = Recording(id="scene", name=self.scene.name, duration=self.scene.span.end)
        return _heard(list(self.listener.transcribe(audio(self.path, span=span), recording)))


def _heard(said: Sequence[Observation]) -> InspectionResult:
    text = "; ".join(f"Words heard: “{o.text}”" for o in said)
    rows: list[JsonValue] = [[o.span.start, o.span.end, o.text] for o in said]
    return InspectionResult((), text, {"said": rows}, 1.0 if said else 0.0, bool(said))


def things_in(detector: FindsThings, picture: Picture, least: float = 0.3) -> list[Detection]:
    """Things in a region, in coordinates of the whole picture; those cut at its edge are not."""
    found = []
    box = picture.box
    for thing in detector.detect(picture.image, least):
        inner = [v > 1e-6 for v in (box[0], box[1], 1 - box[2], 1 - box[3])]
        near = [
            thing.box[0] < CUT,
            thing.box[1] < CUT,
            thing.box[2] > 1 - CUT,
            thing.box[3] > 1 - CUT,
        ]
        if not any(i and n for i, n in zip(inner, near, strict=True)):
            found.append(Detection(thing.label, thing.score, outer(thing.box, box)))
    return found


def listed(labels: Sequence[str]) -> str:
    from collections import Counter

    from egomem.observe.coco import counted

    return ", ".join(counted(label, n) for label, n in sorted(Counter(labels).items()))


def outer(inner: Box, region: Box) -> Box:
    """A box of a region's picture as a box of the whole picture."""
    wide, high = region[2] - region[0], region[3] - region[1]
    return (
        round(region[0] + inner[0] * wide, 4),
        round(region[1] + inner[1] * high, 4),
        round(region[0] + inner[2] * wide, 4),
        round(region[1] + inner[3] * high, 4),
    )


def around(box: Box, wide: float, high: float) -> Box:
    """A region of this size (shares of the picture) around a box, moved to lie in the picture."""
    wide, high = min(wide, 1.0), min(high, 1.0)
    left = min(max((box[0] + box[2] - wide) / 2, 0.0), 1.0 - wide)
    top = min(max((box[1] + box[3] - high) / 2, 0.0), 1.0 - high)
    return round(left, 4), round(top, 4), round(left + wide, 4), round(top + high, 4)


def cut_out(image: Image, box: Box) -> Image:
    """A region of a picture, enlarged where its longer side is below CLOSE_SIDE pixels."""
    if box == WHOLE:
        return image
    height, width = image.shape[:2]
    left, right = int(box[0] * width), max(int(box[0] * width) + 1, round(box[2] * width))
    top, bottom = int(box[1] * height), max(int(box[1] * height) + 1, round(box[3] * height))
    part = np.ascontiguousarray(image[top:bottom, left:right])
    grow = CLOSE_SIDE / max(part.shape[:2])
    if grow <= 1:
        return part
    size = max(1, round(part.shape[1] * grow)), max(1, round(part.shape[0] * grow))
    frame = av.VideoFrame.from_ndarray(part, format="rgb24")
    larger = frame.reformat(*size, format="rgb24", interpolation="BICUBIC")
    return larger.to_ndarray().astype(np.uint8, copy=False)
