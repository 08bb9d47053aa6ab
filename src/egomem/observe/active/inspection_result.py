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
    """What a look gave: pictures for whoever reads them, or what a tool read (`text`, `data`).

    `conclusive` and `confidence` are the tool's own; a look without a tool has neither. `refused`:
    why nothing could be looked at.
    """

    pictures: tuple[CroppedFrame, ...] = ()
    text: str = ""
    data: dict[str, JsonValue] = field(default_factory=dict)
    confidence: float = 0.0
    conclusive: bool = False
    rests_on: tuple[str, ...] = ()
    refused: str = ""
