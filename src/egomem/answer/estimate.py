"""What one question will take, roughly, before it is asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from egomem.models import Limits, Role
from egomem.records import Question, Recording

REPLY_TOKENS = {"letter": 5, "logprobs": 5, "scores": 60}
"""Of a reply without thinking, by `ReaderSettings.format`; our guess."""


@dataclass(frozen=True)
class Outlook:
    """What is known of a question before it is asked.

    `text_tokens`: of the observations that the strategy reads. `fps`: frames a second at most.
    """

    question: Question
    recordings: Sequence[Recording]
    settings: Any
    limits: Mapping[Role, Limits]
    text_tokens: int = 0
    fps: float = 1.0

    @property
    def reply_tokens(self) -> int:
        """Of one reply of a reader."""
        return REPLY_TOKENS[getattr(self.settings, "format", "scores")]


class Effort(NamedTuple):
    """What is sent for one question: `text_tokens` of context, beside the question, the prompt and
    the frames."""

    requests: int = 0
    frames: int = 0
    text_tokens: int = 0
    tokens_out: int = 0


Estimate = Callable[[Outlook], Effort]


def one_request(outlook: Outlook, *, looker: Role | None) -> Effort:
    """One request with all that is read; `looker` is shown as many frames as it takes at once."""
    frames = 0
    if looker is not None:
        seconds = sum(r.duration for r in outlook.recordings if r.has_pictures)
        most = outlook.limits[looker].images
        setting = getattr(outlook.settings, "frames", most)
        most = min(most, setting) if isinstance(setting, int) else most
        frames = max(1, min(most, int(seconds * outlook.fps + 1e-6))) if seconds else 0
    return Effort(1, frames, outlook.text_tokens, outlook.reply_tokens)
