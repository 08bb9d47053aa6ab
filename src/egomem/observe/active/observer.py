"""Active captions of every window of a long recording, each within its budget."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from pydantic import JsonValue

from egomem.errors import ModelError
from egomem.hashing import TRACK_LENGTH, hash_text
from egomem.models import ModelClient, Role
from egomem.models.prices import check_priced
from egomem.observe.active import prompts
from egomem.observe.active.embedded_backend import EmbeddedBackend
from egomem.observe.active.failures import first_without_reply
from egomem.observe.active.loop import CaptionBackend, CaptionRun, caption_actively
from egomem.observe.active.state import (
    CaptionBudget,
    ClaimStatus,
    Drafted,
    Finding,
    Scene,
    StopReason,
)
from egomem.observe.active.tools import (
    COARSE_STEP,
    ObjectFinder,
    TextReader,
    Tools,
    decoded_frames,
    file_frames,
)
from egomem.observe.active.vlm_backend import MAX_TOKENS, VlmBackend
from egomem.observe.captioner import MORE_TOKENS_REMEDY, CaptionerStats
from egomem.observe.object_detector import Detector
from egomem.observe.objects import Objects
from egomem.observe.plugin import ObserverPlugin, ObserverSetup, SoundObserver
from egomem.observe.screen_text import ScreenText
from egomem.observe.window import Window, WindowFailed
from egomem.records import Observation, Provenance, Recording, Status, Track, Usage
from egomem.timeline import Span, windows

DEFAULT_FPS = 1.0


class ActiveCaptioner:
    """Writes a caption of each window, inspecting the file where the draft cannot be trusted.

    With `models`, the captioner's model drafts, checks and plans; without, the embedded observers
    do. `budget` holds for each window; `cost` is in US dollars for all of them together: once it is
    spent, no request is sent (ConfigError if the price is unknown). `max_tokens`: of one reply. If
    the file cannot be opened, inspections use the window's frames.
    """

    def __init__(
        self,
        models: ModelClient | None = None,
        *,
        window: float | None = None,
        fps: float = DEFAULT_FPS,
        budget: CaptionBudget | None = None,
        cost: float | None = None,
        detector: ObjectFinder | None = None,
        reader: TextReader | None = None,
        listener: SoundObserver | None = None,
        max_tokens: int = MAX_TOKENS,
    ) -> None:
        if models and cost is not None:
            check_priced(models.spec(Role.CAPTIONER), "leave it out; the plan tells the requests")
        self.budget = budget or CaptionBudget()
        self.max_tokens = max_tokens
        self._models = models
        self._cost, self._spent = cost, 0.0
        self._detector, self._reader, self._listener = detector, reader, listener
        self.stops: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()
        self.usage = Usage()
        self._backend: CaptionBackend = (
            VlmBackend(models, tokens=self.budget.tokens, max_tokens=max_tokens)
            if models
            else EmbeddedBackend()
        )
        settings = hash_text(self.budget.model_dump_json() + _other_models(models))[:TRACK_LENGTH]
        parts = [name for name, tool in (("objects", detector), ("text", reader)) if tool]
        self._track = Track(
            source="caption",
            observer="active",
            model=self._backend.name,
            prompt=prompts.VERSION if models else None,
            window=window,
            # A model drafts from all frames of a window; without one, the coarse view is all.
            sampling="+".join([*(["draft:all"] if models else []), f"{COARSE_STEP:g}s", *parts])
            + f",{settings}"
            # The coarse view is taken from the window's frames.
            + ("" if fps == DEFAULT_FPS else f",{fps:g}fps"),
        )

    @property
    def track(self) -> Track:
        return self._track

    @property
    def asks(self) -> bool:
        return self._models is not None

    @property
    def concurrency(self) -> int:
        return self._models.policy.concurrency if self._models else 1

    @property
    def stats(self) -> CaptionerStats:
        """Windows by the reason that their run stopped, and the cost."""
        return CaptionerStats(windows=dict(self.stops), usage=self.usage)

    def plan(self, recordings: Iterable[Recording], window: float) -> str:
        """The most that these recordings will take, in a line; "" if no model is asked."""
        if self._backend.name == "embedded":
            return ""
        count = sum(len(windows(r.duration, window)) for r in recordings)
        b = self.budget
        return (
            f"active captions by {self._backend.name}: {count} windows, each with at most "
            f"{b.rounds} rounds, {b.looks} looks, {b.frames} extra frames and {b.tokens:,} tokens"
        )

    async def observe(self, window: Window) -> list[Observation]:
        """The window's caption; none if nothing could be established.

        Raises WindowFailed if the reply is no draft (refused, cut off, unreadable twice), and
        ModelError if there was no reply, a request failed and nothing was established, or the
        budget in dollars is spent.
        """
        if not window.frames and window.recording.path is None:
            return []
        self._hold_cost()
        run = await caption_actively(self._tools(window), self._backend, budget=self.budget)
        self._count(run)
        if run.state.stop is StopReason.FAILED:
            raise self._no_caption(run)
        if not run.caption and (failed := first_without_reply(run.state.faults)):
            raise ModelError(f"no caption: {failed}")
        return [self._observation(window, run)] if run.caption else []

    def _no_caption(self, run: CaptionRun) -> ModelError:
        message = f"no caption: {run.state.stop_detail}"
        status = next(e.status for e in run.log.events if isinstance(e, Drafted))
        if status is None or status is Status.ERROR:
            return ModelError(message)
        cut = status is Status.TRUNCATED
        return WindowFailed(
            message,
            MORE_TOKENS_REMEDY if cut else "",
            status=status,
            tokens=self.max_tokens if cut else None,
            usage=run.usage,
        )

    def _tools(self, window: Window) -> Tools:
        path = Path(window.recording.path) if window.recording.path else None
        opened = path is not None and path.is_file()
        scene = Scene(recording=window.recording.id, name=window.recording.name, span=window.span)
        return Tools(
            scene,
            file_frames(path) if opened and path else decoded_frames(window.frames),
            path=path if opened else None,
            detector=self._detector,
            reader=self._reader,
            listener=self._listener,
            gaze=gaze_points(window),
            context=window.finished("speech"),
            given=window.frames,
        )

    def _observation(self, window: Window, run: CaptionRun) -> Observation:
        state = run.state
        used = {id for c in state.claims for id in (*c.supports, *c.hints)}
        findings = [f for f in state.findings if f.id in used]
        events: list[JsonValue] = [
            {"start": c.span.start, "end": c.span.end, "text": c.text} for c in state.asserted
        ]
        hedged = sum(c.standing is ClaimStatus.UNCERTAIN for c in state.claims)
        data: dict[str, JsonValue] = {
            "events": events,
            "hedged": hedged,
            "looks": state.looks,
            "rounds": state.round,
            "stop": str(state.stop),
        }
        return Observation(
            recording=window.recording.id,
            wearer=window.recording.wearer,
            span=window.span,
            text=run.caption,
            source="caption",
            track=self._track.id,
            data=data,
            provenance=Provenance(
                frames=tuple(
                    sorted(
                        {t for f in findings for t in f.frames}
                        | set(_coarse(run))
                        | {round(f.time, 3) for f in (window.frames if self._models else ())}
                    )
                ),
                rests_on=tuple(o.id for o in window.finished("speech")),
                note=f"active observation: {len(findings)} findings, {_by_tool(findings)}",
            ),
        )

    def _count(self, run: CaptionRun) -> None:
        self.stops[str(run.state.stop)] += 1
        self.refused.update(run.state.refused)
        self.usage += run.usage
        self._spent += run.usage.cost or 0.0

    def _hold_cost(self) -> None:
        if self._cost is not None and self._spent >= self._cost:
            raise ModelError(
                f"the budget of ${self._cost:.2f} is spent (${self._spent:.2f})",
                "raise --budget and run the same command again; it goes on where it stopped",
            )


def _other_models(models: ModelClient | None) -> str:
    """The models of the roles that check and plan; "" where the captioner's model fills them."""
    roles = (Role.ATOMIZER, Role.VERIFIER, Role.PLANNER)
    named = [r for r in roles if models is not None and models.has(r)]
    return "".join(f";{role.value}={models.spec(role)}" for role in named if models is not None)


def _coarse(run: CaptionRun) -> tuple[float, ...]:
    return run.log.scene.coarse


def _by_tool(findings: list[Finding]) -> str:
    counts = Counter(f.tool for f in findings)
    return ", ".join(f"{n} {tool}" for tool, n in sorted(counts.items())) or "none"


def gaze_points(window: Window) -> list[tuple[float, float, float]]:
    """(time, x, y) of the window's gaze: observations of the source "gaze" with `data["point"]`."""
    points = []
    for o in window.context:
        point = o.data.get("point")
        if o.source == "gaze" and isinstance(point, list) and len(point) == 2:
            x, y = (float(v) for v in point if isinstance(v, int | float))
            points.append((Span(o.span.start, o.span.end).middle, x, y))
    return points


def _make(setup: ObserverSetup, settings: CaptionBudget) -> ActiveCaptioner:
    """The captioner, with the earlier observers as its tools."""
    captions = setup.models is not None and setup.models.has(Role.CAPTIONER)
    detects = any(isinstance(observer, Objects) for observer in setup.earlier)
    return ActiveCaptioner(
        setup.models if captions else None,
        window=setup.window,
        fps=setup.fps,
        budget=settings,
        cost=setup.budget,
        max_tokens=max(setup.max_tokens, MAX_TOKENS),
        # It cuts out its own regions, so squares would cost and find nothing more.
        detector=Detector(squares=False) if detects else None,
        reader=next((o for o in setup.earlier if isinstance(o, ScreenText)), None),
    )


ACTIVE = ObserverPlugin(
    summary="A caption of each window that is checked, and looks again where it must.",
    source="caption",
    reads=("frames", "object", "screen_text", "speech", "gaze"),
    make=_make,
    settings=CaptionBudget,
)
