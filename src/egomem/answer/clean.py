"""CleanQA: the question and its options alone. What it gets right needs no video (CapMem)."""

from __future__ import annotations

from egomem.answer.prompts import CLEAN
from egomem.answer.reader import ReaderSettings, ask_reader
from egomem.answer.strategy import Task, register
from egomem.records import Answer


class CleanSettings(ReaderSettings):
    """As for every reader; abstaining is off, as the bias gate asks for a choice."""

    abstain: bool = False


@register("clean", CleanSettings)
async def clean(task: Task[CleanSettings]) -> Answer:
    """Answers from the question and its options alone, as a check for bias."""
    return await ask_reader(task, task.settings, CLEAN, (), strategy="clean")
