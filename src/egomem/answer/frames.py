"""Frames of a view for a reader: fetched in a thread, told with their true times."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import JsonValue

from egomem.answer.context import heading, scope
from egomem.answer.strategy import Task
from egomem.errors import MediaError, UsageError
from egomem.media import distinct
from egomem.models import ContentPart, ImagePart, Limits, TextPart, VideoPart
from egomem.observe.caption_times import written_times
from egomem.observe.frame_encoding import encode_frames
from egomem.observe.time_stamps import parse_times
from egomem.records import Evidence, Recording
from egomem.timeline import Span, format_time

NEAR = 0.5
"""Seconds by which a time in a reply may miss the frame that it means."""


@dataclass(frozen=True, slots=True)
class FrameTimes:
    """Times to look at in one recording, in seconds, ascending; `span` is what they stand for."""

    recording: Recording
    span: Span
    times: tuple[float, ...]


@dataclass
class ShownFrames:
    """What was seen: the parts of a request, the images by recording, and what could not be had."""

    parts: list[ContentPart] = field(default_factory=list)
    images: list[tuple[Recording, ImagePart]] = field(default_factory=list)
    looks: list[FrameTimes] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)

    def parse_evidence(self, listed: JsonValue) -> list[Evidence]:
        """The frames whose times a reply lists, once each; times of no frame are left out.

        A time that frames of two recordings share is a frame of both.
        """
        evidence: list[Evidence] = []
        stretches = [s for s in map(_stretch, listed if isinstance(listed, list) else []) if s]
        for recording, image in self.images:
            at = image.time or 0.0
            if any(s.start - NEAR <= at <= s.end + NEAR for s in stretches):
                evidence.append(
                    Evidence(
                        recording=recording.id,
                        span=Span(at, at),
                        quote=f"frame at {format_time(at)}",
                        when=recording.instant(at),
                    )
                )
        return evidence


async def show_frames(
    task: Task[Any], looks: Sequence[FrameTimes], limits: Limits, *, as_video: bool = False
) -> ShownFrames:
    """Fetch frames and make them parts: a heading for each recording, then its frames. A recording
    of sound alone has none, which is no fault.

    `as_video`: each look's frames as one video part, with their times in a text before it. A
    recording whose video cannot be used is noted in `missing`, and the others are looked at.
    """
    looked = ShownFrames()
    # As readers of captions are told: of all recordings that the question is about.
    several = len(scope(task.view, task.question).recordings()) > 1
    last = ""
    for one in looks:
        if not (one.times and one.recording.has_pictures):
            continue
        try:
            images = await asyncio.to_thread(_fetch, task, one, limits)
        except (MediaError, UsageError) as fault:
            looked.missing.append(str(fault))
            continue
        if one.recording.id != last:
            looked.parts.append(TextPart(f"{heading(one.recording, named=several)}:"))
        last = one.recording.id
        if as_video and images:
            times = ", ".join(image.label for image in images)
            looked.parts.append(TextPart(f"The frames of the video were taken at {times}."))
        looked.parts += [VideoPart(frames=images)] if as_video and images else images
        looked.looks += [one] * bool(images)
        looked.images += [(one.recording, image) for image in images]
    task.note(
        "looked",
        frames=[
            {"recording": recording.id, "time": image.time} for recording, image in looked.images
        ],
        missing=list(looked.missing),
    )
    return looked


def _fetch(task: Task[Any], one: FrameTimes, limits: Limits) -> tuple[ImagePart, ...]:
    if task.frames is None:
        raise UsageError("the videos are not at hand")
    return encode_frames(
        distinct(task.frames(one.recording.id, one.times, side=limits.side)), limits
    )


def _stretch(value: JsonValue) -> Span | None:
    """The time or range that a reply wrote, as seconds; a bare number counts seconds."""
    times = [time.value for time in parse_times(value) if time.unit != "frame"]
    if not times:
        times = written_times(str(value))
    return Span(times[0], times[-1]) if times and times[0] <= times[-1] else None
