"""Two strategies that are shown the evidence alone: what perfect recall would have found.

They bound the others: wrong with the frames of the evidence in view is misread, wrong with its
captions but right with its frames is not observed. They know the key's spans, so they are for
measuring alone.
"""

from __future__ import annotations

from pydantic import Field

from egomem.answer.context import chosen_track, notes, scope
from egomem.answer.estimate import Effort, Outlook
from egomem.answer.frames import FrameTimes, show_frames
from egomem.answer.prompts import CAPTION, VIDEO, reader_texts
from egomem.answer.reader import ask_reader, models_of
from egomem.answer.reread import reread_reply
from egomem.answer.strategy import ReaderSettings, Task, register
from egomem.answer.verify.moments import merged
from egomem.memory.failed_windows import failed_windows_in_view
from egomem.models import Limits, Role, TextPart
from egomem.observe.caption_cost import TOKENS_OUT
from egomem.records import Answer, Question, Status
from egomem.timeline import Span, uniform_times

CAPTIONS = "evidence-captions"
FRAMES = "evidence-frames"
FRAMES_EACH = 4
"""Frames of a piece of evidence that a plan counts; our guess."""
_POINT = 1e-3
"""Seconds that a moment without length is given, so that it overlaps a window."""


class CaptionsSettings(ReaderSettings):
    """`track`: of captions; None for the best one."""

    track: str | None = None


class FramesSettings(ReaderSettings):
    """`frames` of each piece of evidence at most, one a second; `pad` seconds on each side. Pieces
    that overlap with their pads are looked at as one."""

    frames: int = Field(default=16, ge=1)
    pad: float = Field(default=2.0, ge=0)


def _captions_effort(outlook: Outlook) -> Effort:
    text = TOKENS_OUT * max(1, len(outlook.question.evidence))
    return Effort(1, 0, text, outlook.reply_tokens)


def _frames_effort(outlook: Outlook) -> Effort:
    frames = FRAMES_EACH * max(1, len(outlook.question.evidence))
    return Effort(1, frames, tokens_out=outlook.reply_tokens)


def _needed_limits(question: Question, settings: FramesSettings, limits: Limits) -> Limits:
    """A limit that the evidence does not reach makes no other request."""
    images = frames_each(settings.frames, limits.images, len(question.evidence))
    return limits.model_copy(update={"images": images})


@register(
    CAPTIONS,
    CaptionsSettings,
    oracle=True,
    version="2",  # one recording is headed without its name, above frames too
    reads=("caption",),
    run_decides=("track",),
    prompts=reader_texts(CAPTION),
    reread=reread_reply,
    estimate=_captions_effort,
)
async def captions(task: Task[CaptionsSettings]) -> Answer:
    """Answers from the captions of the evidence alone (an oracle)."""
    if not task.question.evidence:
        return _nothing(CAPTIONS, "the question names no evidence")
    view = scope(task.view, task.question)
    track = chosen_track(view, task.settings.track)
    covering = {}
    for piece in task.question.evidence if track else ():
        # CapMem's evidence is a single time.
        span = Span(piece.span.start, max(piece.span.end, piece.span.start + _POINT))
        for o in view.observations(recording=piece.recording, span=span, tracks=[track or ""]):
            covering[o.id] = o
    if not covering:
        lost = [
            gap
            for piece in task.question.evidence
            for gap in failed_windows_in_view(view, track or "").get(piece.recording or "", ())
            if gap.span.start <= piece.span.end and piece.span.start < gap.span.end
        ]
        why = f", as none could be written: {lost[0]}" if lost else ""
        return _nothing(CAPTIONS, f"no caption covers the evidence{why}")
    context = notes(view, view.observations(ids=list(covering)))
    task.note("notes", track=track, observations=len(covering))
    return await ask_reader(
        task,
        task.settings,
        CAPTION,
        [TextPart(context.text)],
        evidence="the numbers of the notes that the answer rests on",
        parse_evidence=context.parse_evidence,
        strategy=CAPTIONS,
    )


@register(
    FRAMES,
    FramesSettings,
    oracle=True,
    version="2",  # one recording is headed without its name, above frames too
    reads=("frames",),
    prompts=reader_texts(VIDEO),
    reread=reread_reply,
    estimate=_frames_effort,
    needed_limits=_needed_limits,
)
async def frames(task: Task[FramesSettings]) -> Answer:
    """Answers from the frames of the evidence alone (an oracle)."""
    if not task.question.evidence:
        return _nothing(FRAMES, "the question names no evidence")
    settings = task.settings
    limits = models_of(task).limits(Role.READER)
    recordings = scope(task.view, task.question).recordings()
    pictured = {r.id: r for r in recordings if r.has_pictures}
    pieces = [e for e in task.question.evidence if e.recording in pictured]
    most = frames_each(settings.frames, limits.images, len(pieces))
    spans: dict[str, list[Span]] = {}
    for piece in pieces:
        recording = pictured[piece.recording or ""]
        wide = Span(max(0.0, piece.span.start - settings.pad), piece.span.end + settings.pad)
        if (span := wide.clip(recording.span)) is not None:
            spans.setdefault(recording.id, []).append(span)
    looks = []
    for id in sorted(spans):
        # The same frames need not be sent twice for two pieces that overlap.
        for span in merged(spans[id]):
            # Merging must not cost frames: the joined stretch has the room of all its pieces.
            joined = sum(span.start <= s.start <= span.end for s in spans[id])
            count = max(1, min(joined * most, round(span.length)))
            looks.append(FrameTimes(pictured[id], span, tuple(uniform_times(span, count))))
    looked = await show_frames(task, looks, limits)
    if not looked.images:
        if not looked.missing:
            return _nothing(FRAMES, "no picture was recorded where the evidence lies")
        reason = "; ".join(looked.missing)
        return Answer(text="", status=Status.ERROR, strategy=FRAMES, reason=reason)
    return await ask_reader(
        task,
        settings,
        VIDEO,
        looked.parts,
        evidence="the times of the frames that show it, as they stand before the frames",
        parse_evidence=looked.parse_evidence,
        strategy=FRAMES,
    )


def frames_each(most: int, images: int, pieces: int) -> int:
    """Frames of each piece of evidence, where a request takes so many images."""
    return max(1, min(most, images // max(1, pieces)))


def _nothing(strategy: str, reason: str) -> Answer:
    return Answer(text="", status=Status.ABSTAINED, strategy=strategy, reason=reason)
