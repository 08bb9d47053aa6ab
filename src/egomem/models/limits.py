"""How much goes into one request: named defaults per role, checked before anything is sent.

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

# One token for each square of 28 x 28 pixels: Qwen2.5-VL's rate. Others count between a third and
# twice as much; it is for estimates alone.
PIXELS_PER_TOKEN = 28 * 28
# English text on common tokenizers; other scripts take up to three times as much.
BYTES_PER_TOKEN = 4


class Limits(Record):
    """The most that one request of a role may hold. `side` and `pixels` are for each image.

    `fit`: leave out images, evenly, rather than fail where there are more than `images` (or the
    server refuses so many); the reply's `dropped` records it.
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
    found = {role: limits_for(role, base) for role in Role}
    for name, given in table.items():
        if name not in found:
            raise ConfigError(
                f"limits.{name}: there is no such role", f"use one of {', '.join(Role)}"
            )
        try:
            merged = found[Role(name)].model_dump() | dict(given)
            found[Role(name)] = Limits.model_validate(merged)
        except ValidationError as error:
            first = error.errors()[0]
            field = ".".join(str(step) for step in first["loc"])
            raise ConfigError(f"limits.{name}.{field}: {first['msg'].lower()}") from None
    if fit is not None:
        found = {role: limits.model_copy(update={"fit": fit}) for role, limits in found.items()}
    return found


def exceeded_limit(request: Request, limits: Limits) -> str:
    """Which limit a request breaks, with the setting's name; empty if none."""
    role = request.role.value
    images = request.images
    if len(images) > limits.images:
        return _exceeded_line(role, "images", f"{len(images)} images", limits.images)
    for image in images:
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


def _exceeded_line(role: str, name: str, has: str, limit: int) -> str:
    variable = f"EGOMEM_LIMITS_{role}_{name}".upper()
    return f"the request has {has}, the limit is {limit} (limits.{role}.{name} or {variable})"


def payload_bytes(request: Request) -> int:
    """Bytes of images, sound and video, before base64 (which adds a third)."""
    return sum(len(i.data) for i in request.images) + sum(
        len(p.data) for p in request.parts if not isinstance(p, (TextPart, ImagePart))
    )


def keep_images(request: Request, keep: int) -> Request:
    """The request with only `keep` of its images (at least one), evenly chosen, first and last."""
    total = len(request.images)
    keep = max(1, min(keep, total))
    chosen = (
        {round(i * (total - 1) / (keep - 1)) for i in range(keep)} if keep > 1 else {total // 2}
    )
    parts: list[ContentPart] = []
    at = 0
    for part in request.parts:
        if isinstance(part, ImagePart):
            if at in chosen:
                parts.append(part)
            at += 1
        elif isinstance(part, VideoPart) and part.frames:
            frames = tuple(f for i, f in enumerate(part.frames, at) if i in chosen)
            at += len(part.frames)
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
        keep = min(limits.images, math.floor(len(request.images) * min(1.0, share)))
        request = keep_images(request, min(keep, len(request.images) - 1))
    return request


def estimate_tokens(request: Request) -> int:
    """Tokens in, roughly: text by bytes, images by pixels. Within a factor of two or so."""
    text = len(request.system.encode()) + sum(
        len(p.text.encode()) for p in request.parts if isinstance(p, TextPart)
    )
    tokens = math.ceil(text / BYTES_PER_TOKEN)
    for image in request.images:
        width, height = image.size or (512, 512)
        tokens += math.ceil(width * height / PIXELS_PER_TOKEN)
        tokens += math.ceil(len(image.label.encode()) / BYTES_PER_TOKEN)
    return tokens
