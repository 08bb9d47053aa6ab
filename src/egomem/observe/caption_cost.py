"""What captioning will take, before it starts: requests, frames, tokens, money."""

from __future__ import annotations

import math
from collections.abc import Iterable

from egomem.defaults import DEFAULT_FPS, DEFAULT_WINDOW
from egomem.media.frame import fit_size
from egomem.models import Limits, ModelSpec
from egomem.models.limits import BYTES_PER_TOKEN, PIXELS_PER_TOKEN
from egomem.models.prices import price
from egomem.observe.caption_prompt import INSTRUCTIONS
from egomem.records import Record, Recording, Usage
from egomem.timeline import Span, sample_times, windows

TOKENS_OUT = 250
"""Tokens of an average caption of a 30 s window; our guess. Reasoning comes on top."""
DEFAULT_ASPECT = (16, 9)
"""Width to height of a picture of unknown size."""
LABEL_TOKENS = 6
"""Tokens of a frame's time."""


class CaptionCost(Record):
    """The requests to come.

    Tokens are right within a factor of two or so: models count alike only roughly. `cost` is in US
    dollars, None if the model's price is unknown.
    """

    requests: int = 0
    frames: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float | None = None

    def __str__(self) -> str:
        money = "price unknown" if self.cost is None else f"about ${self.cost:.2f}"
        return (
            f"{self.requests} requests, {self.frames} frames, about {self.tokens_in:,} tokens in "
            f"and {self.tokens_out:,} out, {money}"
        )


def estimate_captions(
    recordings: Iterable[Recording],
    spec: ModelSpec,
    limits: Limits,
    *,
    window: float = DEFAULT_WINDOW,
    fps: float = DEFAULT_FPS,
    tokens_out: int = TOKENS_OUT,
) -> CaptionCost:
    """Estimate the captions of whole recordings; `window` in seconds, `fps` in frames a second.

    What was captioned before is not subtracted, and speech in the prompts is not counted.
    """
    requests = frames = tokens = 0
    text = math.ceil(len(INSTRUCTIONS.encode()) / BYTES_PER_TOKEN)
    for recording in recordings:
        spans = windows(recording.duration, window)
        each = [_frames(span, fps, limits) for span in spans]
        requests += len(spans)
        frames += sum(each)
        tokens += len(spans) * text + sum(each) * (_image_tokens(recording, limits) + LABEL_TOKENS)
    out = requests * tokens_out
    return CaptionCost(
        requests=requests,
        frames=frames,
        tokens_in=tokens,
        tokens_out=out,
        cost=price(spec, Usage(tokens_in=tokens, tokens_out=out)),
    )


def _frames(span: Span, fps: float, limits: Limits) -> int:
    return min(len(sample_times(span, fps)), max(1, limits.images))


def _image_tokens(recording: Recording, limits: Limits) -> int:
    video = recording.facts.get("video")
    shape = DEFAULT_ASPECT
    if isinstance(video, dict):
        width, height = video.get("width"), video.get("height")
        if isinstance(width, int) and isinstance(height, int) and width and height:
            shape = (width, height)
    if shape == DEFAULT_ASPECT:
        shape = (DEFAULT_ASPECT[0] * limits.side, DEFAULT_ASPECT[1] * limits.side)
    width, height = fit_size(shape, limits.side)
    return math.ceil(min(width * height, limits.pixels) / PIXELS_PER_TOKEN)
