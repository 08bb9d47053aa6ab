"""Inspections (looks): what can be asked of a recording, as typed values.

A model's plan is JSON that fits them. Nothing in it is trusted: `clamp` brings arguments into
range, or says why an inspection is refused.
"""

from __future__ import annotations

from typing import Annotated, Literal, NamedTuple

from pydantic import Field, TypeAdapter

from egomem.records import Record
from egomem.timeline import Span

Box = tuple[float, float, float, float]
"""Left, top, right, bottom, each 0-1 of the picture's width or height."""

WHOLE_PICTURE: Box = (0.0, 0.0, 1.0, 1.0)

MIN_SIDE = 0.04
"""Share of the picture's sides below which a region shows nothing; it is widened to this."""

MAX_BOXES = 3
"""Regions of one look at most. Our choice."""

Seconds = Annotated[float, Field(allow_inf_nan=False)]
Share = Annotated[float, Field(allow_inf_nan=False)]


class _Inspection(Record):
    """A look at part of a recording: `start` and `end` in seconds of the recording.

    `count` frames are spread from one to the other, both included (one frame: the middle).
    """

    start: Seconds
    end: Seconds
    count: int = 1
    boxes: tuple[tuple[Share, Share, Share, Share], ...] = ()

    @property
    def span(self) -> Span:
        return Span(min(self.start, self.end), max(self.start, self.end))

    @property
    def regions(self) -> tuple[Box, ...]:
        return self.boxes or (WHOLE_PICTURE,)

    @property
    def times(self) -> tuple[float, ...]:
        span = self.span
        if self.count < 2 or span.length == 0:
            return (round(span.middle, 3),)
        step = span.length / (self.count - 1)
        return tuple(round(span.start + k * step, 3) for k in range(self.count))

    @property
    def pictures(self) -> int:
        """Number of frames that the inspection costs: one for each time and region."""
        return len(self.times) * len(self.regions)


class Crop(_Inspection):
    """A region, cut out in full resolution and enlarged."""

    tool: Literal["crop"] = "crop"


class Dense(_Inspection):
    """Ordered frames over a span, for what moves or changes."""

    tool: Literal["dense"] = "dense"


class ReadText(_Inspection):
    """Text in a span or region, read by the recogniser."""

    tool: Literal["ocr"] = "ocr"


class Detect(_Inspection):
    """Things in enlarged regions over a span, found by the detector."""

    tool: Literal["detect"] = "detect"


class GazeCrop(_Inspection):
    """What the wearer looked at, where gaze was recorded."""

    tool: Literal["gaze"] = "gaze"


class Listen(_Inspection):
    """The words that are said in a span."""

    tool: Literal["listen"] = "listen"

    @property
    def pictures(self) -> int:
        return 0


class Retrieve(_Inspection):
    """What documents outside of the recording say about something visible.

    `anchor` is the id of the finding that shows it. A document only names it: it proves no event.
    """

    tool: Literal["retrieve"] = "retrieve"
    query: str = ""
    anchor: str = ""

    @property
    def pictures(self) -> int:
        return 0


Inspection = Annotated[
    Crop | Dense | ReadText | Detect | GazeCrop | Listen | Retrieve, Field(discriminator="tool")
]
INSPECTION_ADAPTER: TypeAdapter[Inspection] = TypeAdapter(Inspection)


class ClampedInspection(NamedTuple):
    """The inspection to carry out, or None and `why` it is refused.

    `changed` names the arguments that were brought into range.
    """

    look: Inspection | None
    changed: tuple[str, ...] = ()
    why: str = ""


def clamp(look: Inspection, bounds: Span, *, frames_left: int, most: int) -> ClampedInspection:
    """Bring an inspection into `bounds`, with at most `most` times and `frames_left` pictures in
    all.
    """
    changed = []
    start, end = sorted((look.start, look.end))
    # Models ask for times of other clips. Moved inside it would show something else than was asked
    # for.
    if end < bounds.start or start > bounds.end:
        return ClampedInspection(
            None, (), f"{start:g}-{end:g} s is outside of the recording's part"
        )
    inside = max(start, bounds.start), min(end, bounds.end)
    if inside != (look.start, look.end):
        changed.append("span")
    boxes = tuple(_inside(box) for box in look.boxes[:MAX_BOXES])
    if boxes != look.boxes:
        changed.append("boxes")
    count = min(max(look.count, 1), most)
    draft = look.model_copy(
        update={"start": inside[0], "end": inside[1], "boxes": boxes, "count": count}
    )
    if draft.pictures and draft.pictures > frames_left:
        # Fewer times, not fewer regions: a region that is left out is a question that is not
        # answered.
        count = frames_left // len(draft.regions)
        if count < 1:
            return ClampedInspection(None, (), f"{frames_left} frames are left in the budget")
        draft = draft.model_copy(update={"count": count})
    if count != look.count:
        changed.append("count")
    return ClampedInspection(draft, tuple(changed))


def _inside(box: Box) -> Box:
    left, top, right, bottom = (min(max(v, 0.0), 1.0) for v in box)
    left, right = _widened(min(left, right), max(left, right))
    top, bottom = _widened(min(top, bottom), max(top, bottom))
    return left, top, right, bottom


def _widened(low: float, high: float) -> tuple[float, float]:
    # Models give points and lines as boxes.
    if high - low >= MIN_SIDE:
        return low, high
    low = min(max((low + high - MIN_SIDE) / 2, 0.0), 1.0 - MIN_SIDE)
    return low, low + MIN_SIDE
