"""Captions by a vision-language model: one per window, written before any question is known."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Sequence

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from egomem.defaults import CAPTION_TOKENS, DEFAULT_FPS, DEFAULT_WINDOW
from egomem.errors import EgomemError, ModelError
from egomem.extras import install_line
from egomem.media import Frame
from egomem.models import ModelClient, Reply, Request, RequestTags, Role
from egomem.models.prices import check_priced
from egomem.observe.caption_cost import estimate_captions
from egomem.observe.caption_prompt import PROMPT, WHOLE_PROMPT, caption_request, spoken_lines
from egomem.observe.caption_times import TimedCaption, resolve_times
from egomem.observe.frame_encoding import encode_frames
from egomem.observe.plugin import ObserverPlugin, ObserverSetup
from egomem.observe.window import Window, WindowFailed
from egomem.records import Observation, Provenance, Record, Recording, Status, Track, Usage
from egomem.timeline import Span, sample_times

MORE_TOKENS_REMEDY = "allow more with --caption-tokens or EGOMEM_CAPTION_TOKENS"


class CaptionerStats(Record):
    """What a captioner has done so far: windows by the status of their reply, and the cost.

    `outside` counts written times that lay outside of their window, `unread` lines that begin with
    what looks like a time and could not be read.
    """

    windows: dict[str, int] = Field(default_factory=dict)
    outside: int = 0
    unread: int = 0
    usage: Usage = Usage()


class Captioner:
    """Writes one timestamped caption of each window with the model in the captioner role.

    `window` (seconds) and `fps` describe how frames are sampled; they name the track, and the
    windows themselves come from the caller. CapMem: 30 or 60 s at 1 frame a second, the same prompt
    for both. If a window holds more frames than a request may (limits.captioner.images), that many
    are sent, evenly spread, and the track says so. `transcript` adds the window's speech.
    `window` None: what is captioned is a whole video, by a prompt that supposes no wearer.
    `max_tokens`: of a reply, reasoning included. `budget`: in US dollars; once it is spent, no
    request is sent. Raises ConfigError if there is a budget and the model's price is unknown.
    """

    def __init__(
        self,
        models: ModelClient,
        *,
        window: float | None = DEFAULT_WINDOW,
        fps: float = DEFAULT_FPS,
        transcript: bool = True,
        max_tokens: int = CAPTION_TOKENS,
        budget: float | None = None,
    ) -> None:
        # Before the first request: a budget that cannot be counted must not be found out after an
        # hour of captions.
        if budget is not None:
            check_priced(models.spec(Role.CAPTIONER), "leave it out; the plan tells the requests")
        self._models = models
        self._transcript = transcript
        self._fps = fps
        self._whole = window is None
        self.max_tokens = max_tokens
        self.max_images = models.limits(Role.CAPTIONER).images
        thinned = (
            f"-max{self.max_images}"
            # Part of the track's name only where it bites, so that captions of a model with room to
            # spare keep their track when its limit changes.
            if window is not None and self.max_images < len(sample_times(Span(0.0, window), fps))
            else ""
        )
        self._budget = budget
        self._spent = 0.0
        self._reply_statuses: Counter[str] = Counter()
        self._outside = 0
        self._unread = 0
        self._usage = Usage()
        self._track = Track(
            source="caption",
            observer="vlm",
            model=str(models.spec(Role.CAPTIONER)),
            prompt=WHOLE_PROMPT if self._whole else PROMPT,
            window=window,
            sampling=f"{fps:g}fps{thinned}" + ("+speech" if transcript else ""),
        )

    @property
    def track(self) -> Track:
        return self._track

    @property
    def asks(self) -> bool:
        return True

    @property
    def concurrency(self) -> int:
        return self._models.policy.concurrency

    @property
    def usage(self) -> Usage:
        return self._usage

    @property
    def stats(self) -> CaptionerStats:
        return CaptionerStats(
            windows=dict(self._reply_statuses),
            outside=self._outside,
            unread=self._unread,
            usage=self._usage,
        )

    def plan(self, recordings: Iterable[Recording], window: float) -> str:
        spec, limits = self._models.spec(Role.CAPTIONER), self._models.limits(Role.CAPTIONER)
        cost = estimate_captions(recordings, spec, limits, window=window, fps=self._fps)
        return f"captions by {spec}: {cost}"

    async def observe(self, window: Window) -> list[Observation]:
        """The window's caption; none for a window without frames.

        Raises WindowFailed if the reply is unusable (refused, cut off, unreadable twice), and
        ModelError if there was no reply, so that the window is tried again.
        """
        if not window.frames:
            return []
        self._check_budget()
        limits = self._models.limits(Role.CAPTIONER)
        # Encoding takes long enough to hold up the requests that are under way.
        images = await asyncio.to_thread(
            encode_frames, spread(window.frames, limits.images), limits
        )
        speech = window.finished("speech") if self._transcript else []
        request = caption_request(
            images,
            window.span,
            spoken_lines(speech, window.span),
            tags=RequestTags(window.recording.id),
            max_tokens=self.max_tokens,
            whole=self._whole,
        )
        reply, usage = await self._ask(request)
        self._reply_statuses[reply.status.value] += 1
        if not reply.ok:
            raise self._failure(reply, usage)
        frame_times = [image.time for image in images if image.time is not None]
        caption = resolve_times(reply.text, window.span, frame_times)
        self._outside += len(caption.outside)
        self._unread += caption.unread
        return [self._observation(window, reply, caption, speech)]

    async def _ask(self, request: Request) -> tuple[Reply, Usage]:
        """The reply and its usage.

        A reply that is empty or ends strangely may be an accident of the server, so it is asked
        for once more.
        """
        reply = await self._models.ask(request)
        self._count(reply)
        usage = reply.usage
        # Once more and no oftener: a reply that is unreadable twice will be so a third time, and
        # each costs.
        if reply.status is Status.UNPARSABLE:
            reply = await self._models.ask(request)
            self._count(reply)
            usage += reply.usage
        return reply, usage

    def _failure(self, reply: Reply, usage: Usage) -> ModelError:
        # No reply at all is the server's fault and is tried again; the statuses below are answers.
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

    def _observation(
        self,
        window: Window,
        reply: Reply,
        caption: TimedCaption,
        speech: Sequence[Observation],
    ) -> Observation:
        data: dict[str, JsonValue] = {}
        if caption.events:
            data["events"] = list(caption.events)
        if caption.outside:
            data["outside"] = list(caption.outside)
        if caption.unread:
            data["times_unread"] = caption.unread
        if caption.time_base == "window":
            data["times_written"] = "window"
        if left_out := reply.dropped + max(0, len(window.frames) - self.max_images):
            data["frames_left_out"] = left_out
        return Observation(
            recording=window.recording.id,
            wearer=window.recording.wearer,
            span=window.span,
            text=caption.text,
            source="caption",
            track=self._track.id,
            data=data,
            provenance=Provenance(
                frames=reply.frames,
                request=reply.key or None,
                rests_on=tuple(o.id for o in speech),
            ),
        )

    def _count(self, reply: Reply) -> None:
        # A cached reply was paid for by an earlier run.
        if not reply.cached:
            self._usage += reply.usage
            self._spent += reply.usage.cost or 0.0

    def _check_budget(self) -> None:
        if self._budget is not None and self._spent >= self._budget:
            raise ModelError(
                f"the budget of ${self._budget:.2f} is spent (${self._spent:.2f})",
                "raise --budget and run the same command again; it goes on where it stopped",
            )


def spread(frames: Sequence[Frame], most: int) -> Sequence[Frame]:
    """At most `most` of the frames (at least one): the middle ones of that many equal parts."""
    count = max(1, most)
    if len(frames) <= count:
        return frames
    # Middles of equal parts: the ends of equal steps lie on the window's edges, which its
    # neighbours show, too.
    return [frames[int((k + 0.5) * len(frames) / count)] for k in range(count)]


class VlmCaptionerSettings(BaseModel):
    """`transcript`: the model is also given the window's speech."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    transcript: bool = True


def _make(setup: ObserverSetup, settings: VlmCaptionerSettings) -> Captioner:
    if setup.models is None or not setup.models.has(Role.CAPTIONER):
        raise EgomemError(
            "no model captions", "give a --model captioner=SPEC, see docs/how-to/models.md"
        )
    return Captioner(
        setup.models,
        window=setup.window,
        fps=setup.fps,
        transcript=settings.transcript,
        max_tokens=setup.max_tokens,
        budget=setup.budget,
    )


CAPTION = ObserverPlugin(
    summary="A caption of each window by the model in the captioner role.",
    source="caption",
    reads=("frames", "speech"),
    make=_make,
    settings=VlmCaptionerSettings,
    modules=("pydantic_ai",),
    install=install_line("models"),
)
