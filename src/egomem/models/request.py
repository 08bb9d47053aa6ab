"""A request to a model: content parts in order, and how to sample the reply.

The shared context (frames, captions) comes first and the question last, so that a server's prefix
cache works: the order of `parts` is the order sent. Image bytes are kept once, by reference; a
request's body is built only when its turn to be sent has come.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from pydantic import JsonValue

from egomem.hashing import hash_bytes, hash_json, hash_text
from egomem.models.roles import ModelSpec, Role


@dataclass(frozen=True)
class TextPart:
    """A text."""

    text: str


# Parts compare by identity (eq=False): comparing megabytes byte by byte would be costly.
@dataclass(frozen=True, eq=False)
class ImagePart:
    """A JPEG. `time` is its true time in seconds; `label` is the text sent just before it.

    Put the time that the model is to read into `label` (`"[00:12:05]"`), not into a text part of
    its own: an image that is left out to fit a server's limit then takes its label with it, so the
    times in the prompt stay those of the frames sent.
    """

    data: bytes = field(repr=False)
    time: float | None = None
    label: str = ""

    @cached_property
    def sha256(self) -> str:
        return hash_bytes(self.data)

    @cached_property
    def size(self) -> tuple[int, int] | None:
        """Width and height in pixels, from the JPEG header; None if there is none."""
        return jpeg_size(self.data)


@dataclass(frozen=True, eq=False)
class AudioPart:
    """Sound, as one encoded file."""

    data: bytes = field(repr=False)
    format: Literal["wav", "mp3"] = "wav"

    @cached_property
    def sha256(self) -> str:
        return hash_bytes(self.data)


@dataclass(frozen=True, eq=False)
class VideoPart:
    """Frames sent as one video, where the server takes it (opt-in: docs/how-to/models.md).

    Either `frames`, sent as a list of JPEGs (vLLM), or `data`, a whole MP4 (OpenRouter, Google).
    """

    frames: tuple[ImagePart, ...] = ()
    data: bytes = field(default=b"", repr=False)

    @cached_property
    def sha256(self) -> str:
        return hash_bytes(self.data, *(bytes.fromhex(frame.sha256) for frame in self.frames))


ContentPart = TextPart | ImagePart | AudioPart | VideoPart


@dataclass(frozen=True)
class RequestTags:
    """What a request is for: how the ledger counts it, and what forgetting finds it by."""

    recording: str | None = None
    question: str | None = None


@dataclass(frozen=True, eq=False)
class Request:
    """One question to one model.

    `schema` is a JSON schema that the reply is to fit. `prompt` is the name and version of the
    prompt (`caption@1`). `sample` numbers repeated draws, where `temperature` is not 0.
    `logprobs` is how many alternatives to return per token (0: none).
    """

    role: Role
    parts: tuple[ContentPart, ...]
    prompt: str
    system: str = ""
    schema: Mapping[str, JsonValue] | None = None
    temperature: float = 0.0
    max_tokens: int | None = 1024
    seed: int | None = None
    sample: int = 0
    logprobs: int = 0
    tags: RequestTags = RequestTags()

    @property
    def images(self) -> tuple[ImagePart, ...]:
        """All images, those of video parts too, in order."""
        images: list[ImagePart] = []
        for part in self.parts:
            if isinstance(part, ImagePart):
                images.append(part)
            elif isinstance(part, VideoPart):
                images.extend(part.frames)
        return tuple(images)

    def key_fields(self, spec: ModelSpec) -> dict[str, JsonValue]:
        """The fields that the cache key is made of: all that decides the reply.

        Texts and bytes are in it by SHA-256. Not in it: the images' times (their labels are), the
        role and the tags.
        """
        parts: list[JsonValue] = []
        for part in self.parts:
            if isinstance(part, TextPart):
                parts.append(_text_fingerprint(part.text))
            elif isinstance(part, ImagePart):
                parts.append({"image": part.sha256, "label": part.label})
            elif isinstance(part, AudioPart):
                parts.append({"audio": part.sha256, "format": part.format})
            else:
                parts.append({"video": part.sha256})
        return {
            "model": str(spec),
            "prompt": self.prompt,
            "system": _text_fingerprint(self.system),
            "parts": parts,
            "schema": dict(self.schema) if self.schema is not None else None,
            "temperature": self.temperature,
            "max_tokens": self.max_tokens,
            "seed": self.seed,
            # Without randomness all samples are one: they share a key.
            "sample": self.sample if self.temperature != 0 else None,
            "logprobs": self.logprobs,
        }

    def key(self, spec: ModelSpec) -> str:
        """The cache key: SHA-256 over `key_fields`."""
        return hash_json(self.key_fields(spec))


def _text_fingerprint(text: str) -> dict[str, JsonValue]:
    """A text by its hash, so that a listing of the cache repeats no caption and no question."""
    return {"text": hash_text(text), "characters": len(text)}


def jpeg_size(data: bytes) -> tuple[int, int] | None:
    """Width and height from a JPEG's start-of-frame marker (ITU-T T.81, B.2.2)."""
    if data[:2] != b"\xff\xd8":
        return None
    offset = 2
    while offset + 9 <= len(data):
        if data[offset] != 0xFF:
            return None
        marker = data[offset + 1]
        if marker == 0xFF:  # fill byte
            offset += 1
        elif 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = (
                int.from_bytes(data[offset + i : offset + i + 2], "big") for i in (5, 7)
            )
            return width, height
        else:
            offset += 2 + int.from_bytes(data[offset + 2 : offset + 4], "big")
    return None
