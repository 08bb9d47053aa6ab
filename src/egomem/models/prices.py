"""Prices of models: what their tokens cost, by the price list of genai-prices.

Only hosted providers have prices: a model of the same name on a user's own server costs something
else.
"""

from __future__ import annotations

from egomem.errors import ConfigError
from egomem.models.roles import ModelSpec
from egomem.records import Usage

# Our names of servers -> the price list's names of providers.
_PROVIDERS = {
    "openai": "openai",
    "azure": "azure",
    "openrouter": "openrouter",
    "google": "google",
    "google-cloud": "google",
    "anthropic": "anthropic",
}


def price(spec: ModelSpec, usage: Usage, answered_by: str = "") -> float | None:
    """US dollars for a usage's tokens; None where the price is not known.

    `answered_by` is the model's name in the reply: a spec may name a deployment or an alias.
    """
    provider = _PROVIDERS.get(spec.server)
    if provider is None:
        return None
    try:
        from genai_prices import Usage as Tokens
        from genai_prices import calc_price
    except ImportError:
        return None
    tokens = Tokens(
        input_tokens=usage.tokens_in,
        cache_read_tokens=min(usage.tokens_cached, usage.tokens_in),
        output_tokens=usage.tokens_out,
    )
    # The reply's name first: it is the model that the provider charges for.
    for name in dict.fromkeys(n for n in (answered_by, spec.model) if n):
        try:
            return float(calc_price(tokens, name, provider_id=provider).total_price)
        except LookupError:
            continue
    return None


def is_priced(spec: ModelSpec) -> bool:
    """Whether the cost of a model's requests is known: by the price list, or as replies state it
    (OpenRouter's do)."""
    sample = Usage(tokens_in=1000, tokens_out=1000)
    return spec.server == "openrouter" or price(spec, sample) is not None


def check_priced(spec: ModelSpec, instead: str) -> None:
    """Raise ConfigError where no price is known: a budget in dollars could not be held.

    `instead` is the error's remedy.
    """
    if not is_priced(spec):
        raise ConfigError(f"no price is known for {spec}, so --budget cannot be kept", instead)
