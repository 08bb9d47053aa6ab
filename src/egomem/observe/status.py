"""Which observers can run on this machine, and what the others lack (for `egomem doctor`)."""

from __future__ import annotations

from dataclasses import dataclass

from egomem.observe.plugin import OBSERVERS


@dataclass(frozen=True, slots=True)
class ObserverStatus:
    """Whether an observer can run here; `remedy` is the line that installs what it lacks."""

    name: str
    ready: bool
    detail: str
    remedy: str = ""


def observer_status() -> list[ObserverStatus]:
    """The status of every observer that needs something installed; nothing is fetched."""
    return [
        ObserverStatus(name, True, plugin.weights())
        if plugin.installed
        else ObserverStatus(name, False, "not installed", f"run: {plugin.install}")
        for name, plugin in OBSERVERS.all().items()
        if plugin.modules
    ]
