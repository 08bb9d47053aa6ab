"""Choosing the observers: the embedded ones, and a captioner where a model fills that role."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from egomem.errors import EgomemError
from egomem.extras import install_line
from egomem.ingest.job import Observers
from egomem.models import ModelClient, Role
from egomem.models.weights import new_notices
from egomem.observe import Embedded, Objects, ScreenText, TemplateCaptioner, embedded_observers
from egomem.observe.captioner import MAX_TOKENS
from egomem.records import Recording

if TYPE_CHECKING:
    from egomem.observe.active import ActiveCaptioner
    from egomem.observe.captioner import Captioner

Caption = Literal["direct", "active"]
"""How windows are captioned: in a single pass, or with looks where that cannot be trusted."""

VLM_SEES_MORE = (
    "captions are composed from detected objects, read text and recognised speech; a vision-"
    "language model would see more (--model captioner=SPEC, see docs/how-to/models.md)"
)


@dataclass(frozen=True, slots=True)
class ObserverSet:
    """The observers, how many windows they may process at once, and notes for the user."""

    observers: Observers
    concurrency: int
    notes: tuple[str, ...]
    captioner: Captioner | ActiveCaptioner | None = None

    def plan(
        self,
        recordings: Sequence[Recording],
        models: ModelClient | None,
        *,
        window: float,
        fps: float,
    ) -> str:
        """What captioning these recordings will take, in a line; "" where nothing is asked."""
        if self.captioner is None or models is None:
            return ""
        from egomem.observe.caption_cost import estimate_captions
        from egomem.observe.captioner import Captioner

        if not isinstance(self.captioner, Captioner):
            return self.captioner.plan(recordings, window)

        spec, limits = models.spec(Role.CAPTIONER), models.limits(Role.CAPTIONER)
        cost = estimate_captions(recordings, spec, limits, window=window, fps=fps)
        return f"captions by {spec}: {cost}"


def choose_observers(
    models: ModelClient | None,
    *,
    window: float,
    fps: float,
    budget: float | None = None,
    caption: Caption = "direct",
    max_tokens: int = MAX_TOKENS,
    transcriber: str = "embedded",
) -> ObserverSet:
    """With a captioner, its captions take the place of the composed ones; speech, screen text and
    objects are observed beside it wherever they can run. `budget`: US dollars for captions.
    `caption` "active": every window's caption is checked, and what is missing looked for.
    `max_tokens`: of a caption; replies of an active one may have more (see `vlm.MAX_TOKENS`).
    `transcriber`: `whisper:NAME`, a folder with a Whisper model, or `embedded` for the default."""
    whisper = "base" if transcriber == "embedded" else transcriber.removeprefix("whisper:")
    embedded = embedded_observers(window=window, fps=fps, speech_model=whisper)
    notes = new_notices(embedded.origins)
    notes += [f"without {m.part}: {m.detail}; {m.remedy}" for m in embedded.missing]
    if caption == "active":
        return _active(embedded, models, notes, window=window, budget=budget, max_tokens=max_tokens)
    if models is None or not models.has(Role.CAPTIONER):
        if embedded.speech is None and not embedded.observers:
            lacking = "; ".join(f"{m.part}: {m.detail}" for m in embedded.missing)
            raise EgomemError(
                f"no observer is available: {lacking}",
                f"run: {install_line('embedded')}, or give a --model captioner=SPEC",
            )
        return ObserverSet(
            Observers(embedded.speech, embedded.observers), 1, (*notes, VLM_SEES_MORE)
        )
    from egomem.observe.captioner import Captioner

    concurrency = models.policy.concurrency
    captioner = Captioner(models, window=window, fps=fps, max_tokens=max_tokens, budget=budget)
    # The model's captions replace the composed ones: two captions of a window would count twice.
    frame_observers = [o for o in embedded.observers if not isinstance(o, TemplateCaptioner)]
    return ObserverSet(
        Observers(embedded.speech, (*frame_observers, captioner)),
        concurrency,
        tuple(notes),
        captioner,
    )


def _active(
    embedded: Embedded,
    models: ModelClient | None,
    notes: Sequence[str],
    *,
    window: float,
    budget: float | None,
    max_tokens: int,
) -> ObserverSet:
    """The same with an active captioner, whose tools are those that are installed."""
    from egomem.observe.active import ActiveCaptioner
    from egomem.observe.active.vlm_backend import MAX_TOKENS as ACTIVE_TOKENS
    from egomem.observe.object_detector import Detector

    captioning_models = models if models is not None and models.has(Role.CAPTIONER) else None
    frame_observers = [o for o in embedded.observers if not isinstance(o, TemplateCaptioner)]
    detects = any(isinstance(o, Objects) for o in frame_observers)
    captioner = ActiveCaptioner(
        captioning_models,
        window=window,
        cost=budget,
        max_tokens=max(max_tokens, ACTIVE_TOKENS),
        detector=Detector(squares=False) if detects else None,
        reader=next((o for o in frame_observers if isinstance(o, ScreenText)), None),
    )
    concurrency = captioning_models.policy.concurrency if captioning_models else 1
    all_notes = notes if captioning_models else (*notes, VLM_SEES_MORE)
    return ObserverSet(
        Observers(embedded.speech, (*frame_observers, captioner)),
        concurrency,
        tuple(all_notes),
        captioner,
    )
