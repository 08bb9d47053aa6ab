"""What an inspection gives back: pictures to be read, or what a tool read in them."""

from __future__ import annotations

from dataclasses import dataclass, field

from pydantic import JsonValue

from egomem.media.frame import RgbImage
from egomem.observe.active.actions import Box


@dataclass(frozen=True, slots=True, eq=False)
class CroppedFrame:
    """What was on screen at `time`: the region `box`, enlarged where it is small."""

    time: float
    box: Box
    image: RgbImage


@dataclass(frozen=True, slots=True)
class InspectionResult:
    """Pictures for a model to read, or what a tool read in them (`text`, `data`).

    `conclusive` and `confidence` are the tool's; without a tool there are none. `refused`: why
    nothing could be inspected. `unsure`: what a conclusive tool read beside it without being sure.
    """

    pictures: tuple[CroppedFrame, ...] = ()
    text: str = ""
    data: dict[str, JsonValue] = field(default_factory=dict)
    confidence: float = 0.0
    conclusive: bool = False
    rests_on: tuple[str, ...] = ()
    refused: str = ""
    unsure: str = ""
