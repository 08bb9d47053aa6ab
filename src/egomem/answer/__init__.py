"""Answering: strategies, each one async function `(task) -> Answer`, and reading a choice."""

from egomem.answer.choice import ChoiceReading, read_choice
from egomem.answer.compare import StrategyResult, compare
from egomem.answer.run import answer, question_of
from egomem.answer.strategy import (
    Budget,
    FrameSource,
    ReaderSettings,
    Strategy,
    StrategySettings,
    Task,
    get,
    register,
    settings_hash,
    strategies,
)

__all__ = [
    "Budget",
    "ChoiceReading",
    "FrameSource",
    "ReaderSettings",
    "Strategy",
    "StrategyResult",
    "StrategySettings",
    "Task",
    "answer",
    "compare",
    "get",
    "question_of",
    "read_choice",
    "register",
    "settings_hash",
    "strategies",
]
