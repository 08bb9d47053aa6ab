"""Models as the settings have them."""

from __future__ import annotations

from typing import Protocol

from egomem.models.cache import ReplyStore
from egomem.models.client import ModelClient, RequestPolicy
from egomem.models.limits import read_limits


class ModelSettings(Protocol):
    """What `egomem.config.Settings` holds of models."""

    @property
    def model(self) -> dict[str, str]: ...
    @property
    def limits(self) -> dict[str, dict[str, float]]: ...
    @property
    def fit(self) -> bool | None: ...
    @property
    def deadline(self) -> float: ...
    @property
    def concurrency(self) -> int: ...


def models_of(settings: ModelSettings, *, cache: ReplyStore | None = None) -> ModelClient:
    """The models, limits and conduct that are set. Raises ConfigError, naming the setting."""
    return ModelClient(
        settings.model,
        limits=read_limits(settings.limits, fit=settings.fit),
        conduct=RequestPolicy(deadline=settings.deadline, concurrency=settings.concurrency),
        cache=cache,
    )
