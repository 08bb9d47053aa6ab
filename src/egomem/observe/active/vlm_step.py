"""The requests of one step of the loop: their limits, what they used, and what went wrong."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic import JsonValue

from egomem.media import Frame
from egomem.models import (
    ImagePart,
    Limits,
    ModelClient,
    Reply,
    Request,
    RequestTags,
    Role,
    TextPart,
)
from egomem.observe.active import prompts
from egomem.observe.active.loop import OUT_OF_TOKENS
from egomem.observe.frame_encoding import check_frame_labels, encode_frames
from egomem.records import Usage


class VlmStep:
    """Asks the models of one step, which becomes one event.

    `usage` and `faults` are the event's. `spent`: tokens that the run has used before; a request
    is not sent if by estimate it would go beyond `tokens` in all. A role without a model of its own
    is filled by the captioner's.
    """

    def __init__(
        self,
        models: ModelClient,
        recording: str,
        *,
        spent: int,
        tokens: int,
        max_tokens: int,
    ) -> None:
        self.usage = Usage()
        self.faults: list[str] = []
        self.tags = RequestTags(recording)
        self.max_tokens = max_tokens
        self._models, self._spent, self._tokens = models, spent, tokens

    def limits(self, role: Role) -> Limits:
        return self._models.limits(self._filled(role))

    async def images(self, frames: Sequence[Frame], role: Role) -> tuple[ImagePart, ...]:
        """The frames as the role's model may get them: every n-th, if there are too many."""
        limits = self.limits(role)
        every = max(1, math.ceil(len(frames) / max(1, limits.images)))
        return await asyncio.to_thread(encode_frames, frames[::every], limits)

    async def ask_json(
        self,
        role: Role,
        instructions: str,
        parts: Iterable[TextPart | ImagePart],
        schema: Mapping[str, JsonValue],
    ) -> dict[str, Any] | None:
        """The object that a model replies with; None where the reply is not usable."""
        request = Request(
            role=self._filled(role),
            parts=tuple(parts),
            prompt=prompts.VERSION,
            system=instructions,
            schema=schema,
            max_tokens=self.max_tokens,
            tags=self.tags,
        )
        reply = await self.ask(check_frame_labels(request))
        if reply is None or not reply.ok:
            return None
        return reply.data if isinstance(reply.data, dict) else None

    async def ask(self, request: Request) -> Reply | None:
        """The reply, or None if there are too few tokens left; an unusable one is a fault."""
        expected = self._models.estimate(request).tokens_in + (request.max_tokens or 0)
        if self._spent + expected > self._tokens:
            self.faults.append(OUT_OF_TOKENS)
            return None
        reply = await self._models.ask(request)
        if not reply.cached:
            self.usage += reply.usage
        # A cached reply counts here all the same: a resumed run must stop where the first one did.
        self._spent += reply.usage.tokens_in + reply.usage.tokens_out
        if not reply.ok:
            self.faults.append(f"{request.role.value}: {reply.status.value}: {reply.detail}")
        return reply

    def _filled(self, role: Role) -> Role:
        return role if self._models.has(role) else Role.CAPTIONER
