"""Answering: strategies, each one async function `(task) -> Answer`, and reading a choice."""

from egomem.answer.strategy import (
    Budget,
    FrameSource,
    Settings,
    Strategy,
    Task,
    get,
    register,
    settings_hash,
    strategies,
)

__all__ = [
    "Budget",
    "FrameSource",
    "Settings",
    "Strategy",
    "Task",
    "get",
    "register",
    "settings_hash",
    "strategies",
]
