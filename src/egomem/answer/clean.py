"""CleanQA: the question and its options alone. What it gets right needs no video (CapMem)."""

from __future__ import annotations

from functools import partial

from egomem.answer.prompts import CLEAN, reader_texts
from egomem.answer.reader import ask_reader
from egomem.answer.reread import reread_reply
from egomem.answer.strategy import ReaderSettings, Task, register
from egomem.records import Answer


class CleanSettings(ReaderSettings):
    """As for every reader; abstaining is off, as the bias gate asks for a choice."""

    abstain: bool = False


@register(
    "clean",
    CleanSettings,
    reads=(),
    prompts=reader_texts(CLEAN, evidence=False),
    reread=partial(reread_reply, evidence=False),
)
async def clean(task: Task[CleanSettings]) -> Answer:
    """Answers from the question and its options alone, as a check for bias."""
    return await ask_reader(task, task.settings, CLEAN, (), strategy="clean")
