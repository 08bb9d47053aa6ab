"""Frames as a model gets them: small JPEGs, each with its true time in front of it."""

from __future__ import annotations

import math
from collections.abc import Iterable

from egomem.media import Frame, jpeg
from egomem.models import ImagePart, Limits, Request, VideoPart
from egomem.timeline import format_time

JPEG_QUALITY = 85
"""JPEG quality. Our choice."""


def encode_frames(
    frames: Iterable[Frame], limits: Limits, *, quality: int = JPEG_QUALITY
) -> tuple[ImagePart, ...]:
    """JPEGs within `limits.side` and `limits.pixels`, labelled with the times of the frames.

    Blocking: it encodes about 200 small frames a second on one core.
    """
    images = []
    for frame in frames:
        height, width = frame.image.shape[:2]
        shrink = min(1.0, math.sqrt(limits.pixels / (height * width)))
        side = min(limits.side, math.floor(max(height, width) * shrink))
        images.append(
            ImagePart(jpeg(frame, quality, side=max(1, side)), frame.time, frame_label(frame.time))
        )
    return tuple(images)


def frame_label(seconds: float) -> str:
    """The text before a frame in a request: `[12:05]`."""
    return f"[{format_time(seconds)}]"


def check_frame_labels(request: Request) -> Request:
    """Check that every image label equals its timestamp; return the request.

    A second sampler between choosing frames and sending them would make the times false. That is a
    bug of ours: AssertionError is raised, and nothing is sent.
    """
    last = 0.0
    for part in request.parts:
        for image in part.frames if isinstance(part, VideoPart) else (part,):
            if not isinstance(image, ImagePart):
                last = 0.0  # a heading: another recording counts from its own start
            elif image.time is None or image.label != frame_label(image.time):
                raise AssertionError(f"a frame of {image.time} s would be labelled {image.label!r}")
            elif image.time < last:
                raise AssertionError(f"a frame of {image.time} s comes after one of {last} s")
            else:
                last = image.time
    return request
