"""What a server says that a request took, in the words of every provider."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

MAX_TOKENS = 10**9
"""A count beyond it is no count."""
MAX_COST = 10_000.0
"""US dollars of one request; more is no price."""

_IN = ("prompt_tokens", "input_tokens", "promptTokenCount", "prompt_eval_count")
_OUT = ("completion_tokens", "output_tokens", "candidatesTokenCount", "eval_count")
_TOTAL = ("total_tokens", "totalTokenCount")
_CACHED = ("cachedContentTokenCount", "prompt_cache_hit_tokens", "cache_read_input_tokens")
_DETAILS = ("prompt_tokens_details", "input_tokens_details")


class ReportedUsage(NamedTuple):
    """`tokens_in` and `tokens_out` are 0 where the server names neither; `cost` (US dollars) is
    None where it names none. `model` is the one that answered, in the server's words."""

    tokens_in: int = 0
    tokens_cached: int = 0
    tokens_out: int = 0
    cost: float | None = None
    model: str = ""

    @property
    def has_tokens(self) -> bool:
        """Whether the server named the tokens, so that a price can be worked out."""
        return self.tokens_in > 0


def read_usage(body: Mapping[str, Any]) -> ReportedUsage | None:
    """The usage in a reply or an error; None where it states none, or one that cannot be.

    All zero counts as none: servers that do not count write that.
    """
    named: Any = next(
        (body[name] for name in ("usage", "usageMetadata") if isinstance(body.get(name), Mapping)),
        None,
    )
    if named is None:
        error = body.get("error")
        return read_usage(error) if isinstance(error, Mapping) and "usage" in error else None
    tokens_in, tokens_out, total = (_first(named, names) for names in (_IN, _OUT, _TOTAL))
    # Google's thoughts are not in its count of the candidates; both are charged.
    tokens_out = (tokens_out or 0) + (_count(named.get("thoughtsTokenCount")) or 0)
    if not tokens_in and total:
        tokens_in = max(0, total - tokens_out)
    cached = _first(named, _CACHED) or 0
    for name in _DETAILS:
        details = named.get(name)
        if isinstance(details, Mapping):
            cached = cached or _count(details.get("cached_tokens")) or 0
    if "cache_creation_input_tokens" in named or "cache_read_input_tokens" in named:
        # Anthropic counts what it caches beside the input, not in it.
        tokens_in = (tokens_in or 0) + cached
        tokens_in += _count(named.get("cache_creation_input_tokens")) or 0
    cost = next(
        (c for name in ("cost", "total_cost") if (c := _cost(named.get(name))) is not None), None
    )
    model = body.get("model") or body.get("modelVersion")
    if not tokens_in and not tokens_out and not cost:
        return None
    return ReportedUsage(
        tokens_in=tokens_in or 0,
        tokens_cached=min(cached, tokens_in or 0),
        tokens_out=tokens_out,
        cost=cost,
        model=model if isinstance(model, str) else "",
    )


def _first(named: Mapping[str, Any], names: tuple[str, ...]) -> int | None:
    return next((c for name in names if (c := _count(named.get(name))) is not None), None)


def _count(value: object) -> int | None:
    """A number of tokens, also where it is written as a string or with a decimal point."""
    number = _number(value)
    return int(number) if number is not None and 0 <= number <= MAX_TOKENS else None


def _cost(value: object) -> float | None:
    number = _number(value)
    return number if number is not None and 0 <= number <= MAX_COST else None


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None
