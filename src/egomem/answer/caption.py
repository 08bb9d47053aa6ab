"""CaptionQA: every caption up to the question's time, and never a frame (CapMem)."""

from __future__ import annotations

from egomem.answer.context import captions, notes
from egomem.answer.prompts import CAPTION, reader_texts
from egomem.answer.reader import ask_reader
from egomem.answer.reread import reread_reply
from egomem.answer.strategy import ReaderSettings, Task, register
from egomem.models import TextPart
from egomem.records import Answer, Source, Status


class CaptionSettings(ReaderSettings):
    """`track`: the id of the caption track to read; None for the best one of the view.

    `sources`: what is read. The paper reads captions alone; "speech" and others can be added.
    """

    track: str | None = None
    sources: tuple[Source, ...] = ("caption",)


@register(
    "caption",
    CaptionSettings,
    reads=("caption",),
    version="2",  # one recording is headed without its name, above frames too
    run_decides=("track",),
    prompts=reader_texts(CAPTION),
    reread=reread_reply,
)
async def caption(task: Task[CaptionSettings]) -> Answer:
    """Answers from all captions up to the question's time, never from a frame."""
    settings = task.settings
    read = captions(task, settings.track, settings.sources)
    # Asking a reader over nothing would pay for a guess.
    if not read.observations:
        reason = "nothing was captioned in this part of the memory"
        if uncaptioned := sum(map(len, read.gaps.values())):
            reason += f": {uncaptioned} windows have no caption"
        return Answer(text="", status=Status.ABSTAINED, strategy="caption", reason=reason)
    context = notes(task.view, read.observations, read.gaps)
    return await ask_reader(
        task,
        settings,
        CAPTION,
        [TextPart(context.text)],
        evidence="the numbers of the notes that the answer rests on",
        parse_evidence=context.parse_evidence,
        strategy="caption",
    )
