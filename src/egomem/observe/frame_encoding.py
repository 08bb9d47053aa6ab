"""Frames as a model is shown them: small JPEGs, each with its true time in front of it."""

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
    """What a model reads before a frame: `[12:05]`."""
    return f"[{format_time(seconds)}]"


def check_frame_labels(request: Request) -> Request:
    """The request, after a check that every time told is that of the frame sent with it.

    A second sampler between choosing frames and sending them would make the times false; a false
    time is a bug of ours, and nothing is sent.
    """
    last = 0.0
    for part in request.parts:
        for image in part.frames if isinstance(part, VideoPart) else (part,):
            if not isinstance(image, ImagePart):
                last = 0.0  # a heading: another recording counts from its own start
            elif image.time is None or image.label != frame_label(image.time):
                raise AssertionError(f"a frame of {image.time} s would be told as {image.label!r}")
            elif image.time < last:
                raise AssertionError(f"a frame of {image.time} s comes after one of {last} s")
            else:
                last = image.time
    return request
