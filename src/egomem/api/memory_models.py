"""The models that a memory asks, by the settings; loaded when they are first used."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager, ExitStack, nullcontext
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from egomem.config import Settings
    from egomem.models import ModelClient
    from egomem.models.embedders import Embedder


class MemoryModels:
    """What `Memory` has of models. What it opens is closed with `_owned`."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._owned = ExitStack()

    @property
    def folder(self) -> Path:
        return self.settings.memory

    @cached_property
    def models(self) -> ModelClient | None:
        """The models that fill the roles, or None where no role is set (or only `embedded`)."""
        named = {role for role, spec in self.settings.model.items() if spec != "embedded"}
        if not named - {"embedder", "transcriber"}:
            return None
        from egomem.memory.replies import ReplyCache
        from egomem.models import ModelClient

        cache = self._owned.enter_context(ReplyCache(self.folder))
        return ModelClient.from_settings(self.settings, cache=cache)

    @cached_property
    def embedder(self) -> Embedder | None:
        """The embedder role, or None: search then goes by words alone."""
        spec = self.settings.model.get("embedder", "embedded")
        if spec == "embedded":
            return None
        from egomem.models.embedders import embedder

        return embedder(spec)

    def _has_reader(self) -> bool:
        if self.models is None:
            return False
        from egomem.models import Role

        return self.models.has(Role.READER)

    def connections(self) -> AbstractAsyncContextManager[object]:
        """Connections to model servers, which stay open for all of a call."""
        return self.models or nullcontext()
