"""A server's reply, in one shape for all providers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from pydantic import JsonValue

from egomem.models.reply import TokenLogprob


class Completion(NamedTuple):
    """`finish` is the finish reason in the server's own word, None where it gives none."""

    raw: str
    reasoning: str
    refusal: str
    finish: str | None
    logprobs: tuple[TokenLogprob, ...] | None
    model: str


def read_logprobs(value: object) -> tuple[TokenLogprob, ...] | None:
    """The log-probabilities in OpenAI's form; None where there are none."""
    if not isinstance(value, list):
        return None
    tokens = []
    for item in value:
        if not isinstance(item, Mapping) or "token" not in item:
            continue
        top: dict[str, float] = {}
        for alternative in item.get("top_logprobs") or ():
            token = str(alternative["token"])
            logprob = _finite_logprob(alternative["logprob"])
            top[token] = max(top.get(token, logprob), logprob)
        tokens.append(
            TokenLogprob(
                token=str(item["token"]), logprob=_finite_logprob(item["logprob"]), top=top
            )
        )
    return tuple(tokens) or None


def _finite_logprob(logprob: JsonValue) -> float:
    # Servers write the probability zero as null or -inf; JSON has no -inf.
    return max(-9999.0, float(logprob)) if isinstance(logprob, (int, float)) else -9999.0
