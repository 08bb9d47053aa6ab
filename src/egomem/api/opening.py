"""Opening a memory by its folder and the settings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from egomem.api.memory import Memory
from egomem.memory.on_demand import StoreOnDemand


def open_memory(
    folder: str | Path | None = None,
    *,
    create: bool | None = None,
    models: Iterable[str] | Mapping[str, str] = (),
    fit: bool | None = None,
) -> Memory:
    """Open the memory in `folder`; without one, that of the settings (see `egomem.config`).

    `create`: True makes it where there is none, False raises NoMemoryError; without either, it is
    made by the first ingest or import.
    `models`: `{role: spec}` or ["role=spec", ...]; a spec without a role fills every role. `fit`:
    shrink requests that are over a limit, and record it.
    """
    from egomem.config import load_settings, model_table

    table = dict(models) if isinstance(models, Mapping) else model_table(models)
    settings = load_settings(memory=Path(folder) if folder else None, model=table or None, fit=fit)
    if settings.model:
        from egomem.models.roles import read_specs

        read_specs(settings.model)  # a bad spec is refused before anything is done
    return Memory(StoreOnDemand(settings.memory, create), settings)
