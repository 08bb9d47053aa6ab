"""Captions by a vision-language model: one per window, written before any question is known."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence

from pydantic import Field, JsonValue

from egomem.errors import ModelError
from egomem.media import Frame
from egomem.models import ImagePart, ModelClient, Reply, Request, RequestTags, Role, TextPart
from egomem.models.prices import check_priced
from egomem.observe.caption_times import TimedCaption, resolve_times
from egomem.observe.frame_encoding import check_frame_labels, encode_frames
from egomem.observe.window import Window, WindowFailed
from egomem.records import Observation, Provenance, Record, Status, Track, Usage
from egomem.timeline import (
    DEFAULT_FPS,
    DEFAULT_WINDOW,
    Span,
    format_span,
    format_time,
    sample_times,
)

PROMPT = "caption@1"
"""Name and version of the prompt below. A change of its text is a new version, and a new track."""

INSTRUCTIONS = """\
You keep the log of a camera that its wearer carries through the day. What you write will be \
searched later by someone who cannot see the video, and nobody knows yet what will be asked.

You get the frames of one stretch of the recording in order of time. Before each frame stands its \
time in the recording. Words that were heard may follow.

Write a few lines in order of time. Begin each line with the time or range that it describes, in \
square brackets, in times of the recording as given with the frames, like [M:SS-M:SS]. Cover:
- what the wearer does, step by step, and what is picked up, put down, opened, closed or passed on;
- objects with their colour, material, number and state, and where each one is or is left;
- how things lie to each other: on, in, under, beside, left or right of the wearer;
- the place, the other people there and what they do and say;
- text that can be read, word for word.

Call the person behind the camera "the wearer". Write only what is seen or heard; where it is \
unclear, say that it is unclear. No introduction and no summary."""

MAX_TOKENS = 1024
"""Tokens of one caption at most. Our choice."""
MORE_TOKENS_REMEDY = "allow more with --caption-tokens or EGOMEM_CAPTION_TOKENS"


class CaptionerStats(Record):
    """What a captioner has done so far: windows by the status of their reply, and the cost.

    `outside` counts written times that lay outside of their window.
    """

    windows: dict[str, int] = Field(default_factory=dict)
    outside: int = 0
    usage: Usage = Usage()


class Captioner:
    """One timestamped caption of each window by the model in the captioner role.

    `window` (seconds) and `fps` describe how frames are sampled; they name the track, and the
    windows themselves come from the caller. CapMem: 30 or 60 s at 1 frame a second, the same prompt
    for both. Where a window holds more frames than a request may (limits.captioner.images), so many
    of them are shown, evenly spread, and the track says so. `transcript` adds speech that is
    already known of the window. `max_tokens`: of a reply, thinking included. `budget` is in US
    dollars: once it is spent, nothing more is asked. Raises ConfigError where the model's price is
    not known.
    """

    def __init__(
        self,
        models: ModelClient,
        *,
        window: float = DEFAULT_WINDOW,
        fps: float = DEFAULT_FPS,
        transcript: bool = True,
        max_tokens: int = MAX_TOKENS,
        budget: float | None = None,
    ) -> None:
        if budget is not None:
            check_priced(models.spec(Role.CAPTIONER), "leave it out; the plan tells the requests")
        self._models = models
        self._transcript = transcript
        self.max_tokens = max_tokens
        self.most = models.limits(Role.CAPTIONER).images
        fewer = f"-max{self.most}" if self.most < len(sample_times(Span(0.0, window), fps)) else ""
        self._budget = budget
        self._spent = 0.0
        self._statuses: Counter[str] = Counter()
        self._outside = 0
        self._usage = Usage()
        self._track = Track(
            source="caption",
            observer="vlm",
            model=str(models.spec(Role.CAPTIONER)),
            prompt=PROMPT,
            window=window,
            sampling=f"{fps:g}fps{fewer}" + ("+speech" if transcript else ""),
        )

    @property
    def track(self) -> Track:
        return self._track

    @property
    def so_far(self) -> CaptionerStats:
        return CaptionerStats(
            windows=dict(self._statuses), outside=self._outside, usage=self._usage
        )

    async def observe(self, window: Window) -> list[Observation]:
        """The window's caption; none for a window without frames.

        Raises NoObservation where the reply is not a clean one (refused, cut off, twice not to be
        read), and ModelError where there was none, so that the window can be tried again.
        """
        if not window.frames:
            return []
        self._hold_budget()
        limits = self._models.limits(Role.CAPTIONER)
        images = await asyncio.to_thread(
            encode_frames, spread(window.frames, limits.images), limits
        )
        said = spoken_lines(window) if self._transcript else ""
        request = caption_request(
            images,
            window.span,
            said,
            about=RequestTags(window.recording.id),
            max_tokens=self.max_tokens,
        )
        reply, usage = await self._asked(request)
        self._statuses[reply.status.value] += 1
        if not reply.ok:
            raise self._no_caption(reply, usage)
        told = resolve_times(reply.text, window.span)
        self._outside += len(told.outside)
        return [self._observation(window, reply, told)]

    async def _asked(self, request: Request) -> tuple[Reply, Usage]:
        """The reply, and what it took; one that is empty or ends strangely may have been an
        accident of the server, and is asked for once more."""
        reply = await self._models.ask(request)
        self._count(reply)
        usage = reply.usage
        if reply.status is Status.UNPARSABLE:
            reply = await self._models.ask(request)
            self._count(reply)
            usage += reply.usage
        return reply, usage

    def _no_caption(self, reply: Reply, usage: Usage) -> ModelError:
        if reply.status is Status.ERROR:
            return ModelError(f"no caption: error: {reply.detail}")
        if reply.status is Status.TRUNCATED:
            return WindowFailed(
                f"no caption: truncated: the reply was cut off at {self.max_tokens} tokens",
                MORE_TOKENS_REMEDY,
                status=reply.status,
                tokens=self.max_tokens,
                usage=usage,
            )
        why = f"no caption: {reply.status.value}: {reply.detail}"
        return WindowFailed(why, status=reply.status, usage=usage)

    def _observation(self, window: Window, reply: Reply, told: TimedCaption) -> Observation:
        data: dict[str, JsonValue] = {}
        if told.events:
            data["events"] = list(told.events)
        if told.outside:
            data["outside"] = list(told.outside)
        if told.frame == "window":
            data["times_written"] = "window"
        if left_out := reply.dropped + max(0, len(window.frames) - self.most):
            data["frames_left_out"] = left_out
        spoken = [o.id for o in _speech(window)] if self._transcript else []
        return Observation(
            recording=window.recording.id,
            wearer=window.recording.wearer,
            span=window.span,
            text=told.text,
            source="caption",
            track=self._track.id,
            data=data,
            provenance=Provenance(
                frames=reply.frames, request=reply.key or None, rests_on=tuple(spoken)
            ),
        )

    def _count(self, reply: Reply) -> None:
        if not reply.cached:
            self._usage += reply.usage
            self._spent += reply.usage.cost or 0.0

    def _hold_budget(self) -> None:
        if self._budget is not None and self._spent >= self._budget:
            raise ModelError(
                f"the budget of ${self._budget:.2f} is spent (${self._spent:.2f})",
                "raise --budget and run the same command again; it goes on where it stopped",
            )


def spread(frames: Sequence[Frame], most: int) -> Sequence[Frame]:
    """At most so many of the frames (at least one): the middle ones of so many equal parts."""
    count = max(1, most)
    if len(frames) <= count:
        return frames
    return [frames[int((k + 0.5) * len(frames) / count)] for k in range(count)]


def caption_request(
    images: Sequence[ImagePart],
    span: Span,
    said: str,
    *,
    about: RequestTags,
    max_tokens: int = MAX_TOKENS,
) -> Request:
    """What is asked of one window. It holds no question, and cannot: none is known yet."""
    parts: list[TextPart | ImagePart] = list(images)
    if said:
        parts.append(TextPart(f"Heard in this stretch:\n{said}"))
    parts.append(TextPart(f"Write the lines for {format_span(span)} of the recording."))
    return check_frame_labels(
        Request(
            role=Role.CAPTIONER,
            parts=tuple(parts),
            prompt=PROMPT,
            system=INSTRUCTIONS,
            max_tokens=max_tokens,
            about=about,
        )
    )


def spoken_lines(window: Window) -> str:
    """The speech of a window that is already known, a line each with its time; "" without any."""
    lines = []
    for o in _speech(window):
        speaker = o.data.get("speaker")
        name = f"{speaker}: " if isinstance(speaker, str) and speaker else ""
        start = max(o.span.start, window.span.start)
        lines.append(f"[{format_time(round(start, 1))}] {name}{o.text}")
    return "\n".join(lines)


def _speech(window: Window) -> list[Observation]:
    """What was said and over by the window's end: a caption must not tell what comes after it."""
    last = window.span.end >= window.recording.duration
    spoken = [
        o
        for o in window.held
        if o.source == "speech"
        and o.span.overlaps(window.span)
        and (o.span.end <= window.span.end or last)
    ]
    return sorted(spoken, key=lambda o: (o.span, o.text))


__all__ = [
    "INSTRUCTIONS",
    "PROMPT",
    "Captioner",
    "CaptionerStats",
    "caption_request",
    "spoken_lines",
    "spread",
]
