"""VideoQA: frames spread evenly over what has passed, looked at for every question (CapMem)."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from egomem.answer.context import scope
from egomem.answer.estimate import Effort, Outlook
from egomem.answer.frames import FrameTimes, show_frames
from egomem.answer.prompts import VIDEO, reader_texts
from egomem.answer.reader import ask_reader, models_of
from egomem.answer.reread import reread_reply
from egomem.answer.strategy import ReaderSettings, Task, register
from egomem.defaults import DEFAULT_FPS, MAX_FRAMES
from egomem.models import Role
from egomem.records import Answer, Recording, Status
from egomem.timeline import Span


class VideoSettings(ReaderSettings):
    """`frames`: at most so many, and never more than `fps` times the seconds, nor than the reader
    takes in one request (limits.reader.images). `as_video`: send them as one video part, where the
    server takes it (vLLM, OpenRouter)."""

    frames: int = Field(default=MAX_FRAMES, ge=1)
    fps: float = Field(default=DEFAULT_FPS, gt=0)
    as_video: bool = False


def _effort(outlook: Outlook) -> Effort:
    looks = spread(outlook.recordings, outlook.settings.frames, outlook.settings.fps)
    frames = sum(len(look.times) for look in looks)
    return Effort(1, frames, tokens_out=outlook.reply_tokens)


@register(
    "video",
    VideoSettings,
    reads=("frames",),
    version="2",  # one recording is headed without its name, above frames too
    run_decides=("frames", "fps"),
    prompts=reader_texts(VIDEO),
    reread=reread_reply,
    estimate=_effort,
)
async def video(task: Task[VideoSettings]) -> Answer:
    """Answers from frames spread evenly over the recordings up to the question's time."""
    settings = task.settings
    limits = models_of(task).limits(Role.READER)
    # The least of three limits: what the evaluation allows, what the model takes, what the caller
    # pays for.
    most = min(settings.frames, limits.images)
    if task.budget.frames is not None:
        most = min(most, task.budget.frames)
    recordings = scope(task.view, task.question).recordings()
    looks = spread(recordings, most, settings.fps)
    looked = await show_frames(task, looks, limits, as_video=settings.as_video)
    if not looked.images:
        reason = "; ".join(looked.missing) or "no picture was recorded in this part of the memory"
        # Videos that cannot be read are a fault to be mended; a memory without pictures is not.
        status = Status.ERROR if looked.missing else Status.ABSTAINED
        return Answer(text="", status=status, strategy="video", reason=reason)
    answer = await ask_reader(
        task,
        settings,
        VIDEO,
        looked.parts,
        evidence="the times of the frames that show it, as they stand before the frames",
        parse_evidence=looked.parse_evidence,
        strategy="video",
    )
    if looked.missing:
        answer = answer.model_copy(update={"reason": "; ".join([answer.reason, *looked.missing])})
    return answer


def spread(recordings: Sequence[Recording], most: int, fps: float) -> list[FrameTimes]:
    """At most `most` times, evenly over the joined length of the recordings that have pictures.

    `min(most, floor(seconds * fps))` of them, and at least one where anything was recorded: at the
    centres of equal parts (where within a part the papers look is not stated; our reconstruction).
    """
    recordings = [r for r in recordings if r.has_pictures]
    length = sum(r.duration for r in recordings)
    # Over the joined length: a recording twice as long gets twice the frames.
    count = max(1, min(most, int(length * fps + 1e-6))) if length > 0 else 0
    positions = [(k + 0.5) * length / count for k in range(count)]
    looks: list[FrameTimes] = []
    begin = 0.0
    for recording in recordings:
        end = begin + recording.duration
        times = tuple(t - begin for t in positions if begin <= t < end)
        looks.append(FrameTimes(recording, Span(0.0, recording.duration), times))
        begin = end
    return looks
