"""The most that one request may hold: named defaults per role, checked before sending.

Servers that are sent too much answer with HTTP 400, or die (33 full-size frames from a 12 MB clip
killed an engine). These defaults are our reconstruction of what common servers take; change them
per role in the settings.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pydantic import Field, ValidationError

from egomem.errors import ConfigError
from egomem.models.request import ContentPart, ImagePart, Request, TextPart, VideoPart
from egomem.models.roles import Role
from egomem.records import Record

# One token for each square of 28 x 28 pixels: Qwen2.5-VL's rate. Other models take between a third
# and twice as many; it is for estimates alone.
PIXELS_PER_TOKEN = 28 * 28
# English text on common tokenizers; other scripts take up to three times as much.
BYTES_PER_TOKEN = 4


class Limits(Record):
    """The most that one request of a role may hold. `side` and `pixels` are for each image.

    `fit`: where there are more than `images` (or the server refuses so many), leave images out
    evenly instead of failing; the reply's `dropped` counts them.
    """

    side: int = Field(default=768, ge=1)
    pixels: int = Field(default=768 * 768, ge=1)
    images: int = Field(default=64, ge=0)
    bytes: int = Field(default=20_000_000, ge=1)
    fit: bool = False


DEFAULT_LIMITS: dict[Role, Limits] = {
    Role.CAPTIONER: Limits(side=512, pixels=512 * 512, images=60),
    Role.READER: Limits(side=512, pixels=512 * 512, images=64),
    Role.VERIFIER: Limits(side=768, pixels=768 * 768, images=32),
}


def limits_for(role: Role, given: dict[Role, Limits] | None = None) -> Limits:
    """The limits given for a role, else its defaults."""
    return (given or {}).get(role) or DEFAULT_LIMITS.get(role) or Limits()


def read_limits(
    table: Mapping[str, Mapping[str, Any]],
    *,
    fit: bool | None = None,
    base: dict[Role, Limits] | None = None,
) -> dict[Role, Limits]:
    """Limits from settings: `{"reader": {"images": 128}}` changes a part of a role's limits, which
    are those of `base`, else the defaults.

    `fit` sets that of every role. Raises ConfigError naming the setting.
    """
    by_role = {role: limits_for(role, base) for role in Role}
    for name, fields in table.items():
        if name not in by_role:
            raise ConfigError(
                f"limits.{name}: there is no such role", f"use one of {', '.join(Role)}"
            )
        try:
            merged = by_role[Role(name)].model_dump() | dict(fields)
            by_role[Role(name)] = Limits.model_validate(merged)
        except ValidationError as error:
            first = error.errors()[0]
            field = ".".join(str(step) for step in first["loc"])
            raise ConfigError(f"limits.{name}.{field}: {first['msg'].lower()}") from None
    if fit is not None:
        by_role = {r: limits.model_copy(update={"fit": fit}) for r, limits in by_role.items()}
    return by_role


def exceeded_limit(request: Request, limits: Limits) -> str:
    """The limit that a request exceeds, as a sentence with the setting's name; "" where none."""
    role = request.role.value
    images = request.images
    if len(images) > limits.images:
        return _exceeded_line(role, "images", f"{len(images)} images", limits.images)
    for image in images:
        # Bytes without a JPEG header pass here: the server says better what is wrong with them.
        width, height = image.size or (0, 0)
        if max(width, height) > limits.side:
            return _exceeded_line(role, "side", f"an image of {width}x{height} pixels", limits.side)
        if width * height > limits.pixels:
            return _exceeded_line(
                role, "pixels", f"an image of {width * height} pixels", limits.pixels
            )
    size = payload_bytes(request)
    if size > limits.bytes:
        return _exceeded_line(
            role, "bytes", f"{size} bytes of images, sound and video", limits.bytes
        )
    return ""


def _exceeded_line(role: str, name: str, content: str, limit: int) -> str:
    variable = f"EGOMEM_LIMITS_{role}_{name}".upper()
    return f"the request has {content}, the limit is {limit} (limits.{role}.{name} or {variable})"


def payload_bytes(request: Request) -> int:
    """Bytes of images, sound and video, before base64 (which adds a third)."""
    return sum(len(i.data) for i in request.images) + sum(
        len(p.data) for p in request.parts if not isinstance(p, (TextPart, ImagePart))
    )


def keep_images(request: Request, count: int) -> Request:
    """The request with only `count` of its images, evenly spaced from the first to the last.

    At least one is kept.
    """
    total = len(request.images)
    count = max(1, min(count, total))
    kept = (
        {round(i * (total - 1) / (count - 1)) for i in range(count)} if count > 1 else {total // 2}
    )
    parts: list[ContentPart] = []
    index = 0
    for part in request.parts:
        if isinstance(part, ImagePart):
            if index in kept:
                parts.append(part)
            index += 1
        elif isinstance(part, VideoPart) and part.frames:
            frames = tuple(f for i, f in enumerate(part.frames, index) if i in kept)
            index += len(part.frames)
            if frames:
                parts.append(replace(part, frames=frames))
        else:
            parts.append(part)
    return replace(request, parts=tuple(parts))


def fit_request(request: Request, limits: Limits) -> Request:
    """The request within `limits.images` and `limits.bytes`, by leaving images out."""
    while len(request.images) > 1 and (
        len(request.images) > limits.images or payload_bytes(request) > limits.bytes
    ):
        share = limits.bytes / max(1, payload_bytes(request))
        count = min(limits.images, math.floor(len(request.images) * min(1.0, share)))
        # Images differ in size, so a share of them may still be too much: drop at least one a turn.
        request = keep_images(request, min(count, len(request.images) - 1))
    return request


def estimate_tokens(request: Request) -> int:
    """A request's input tokens, from bytes of text and pixels of images; within a factor of 2."""
    text_bytes = len(request.system.encode()) + sum(
        len(p.text.encode()) for p in request.parts if isinstance(p, TextPart)
    )
    tokens = math.ceil(text_bytes / BYTES_PER_TOKEN)
    for image in request.images:
        width, height = image.size or (512, 512)
        tokens += math.ceil(width * height / PIXELS_PER_TOKEN)
        tokens += math.ceil(len(image.label.encode()) / BYTES_PER_TOKEN)
    return tokens
