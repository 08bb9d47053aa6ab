"""Who observes: the embedded observers, and a captioner where a model fills that role."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from egomem.errors import EgomemError
from egomem.extras import install_line
from egomem.ingest.run import Observers
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
    """The observers, how many windows they may see at once, and what a user should know of them."""

    observers: Observers
    ahead: int
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
    found = embedded_observers(window=window, fps=fps, speech_model=whisper)
    notes = new_notices(found.origins)
    notes += [f"without {m.part}: {m.detail}; {m.remedy}" for m in found.missing]
    if caption == "active":
        return _active(found, models, notes, window=window, budget=budget, max_tokens=max_tokens)
    if models is None or not models.has(Role.CAPTIONER):
        if found.speech is None and not found.observers:
            lacking = "; ".join(f"{m.part}: {m.detail}" for m in found.missing)
            raise EgomemError(
                f"there is nobody to observe ({lacking})",
                f"run: {install_line('embedded')}, or give a --model captioner=SPEC",
            )
        return ObserverSet(Observers(found.speech, found.observers), 1, (*notes, VLM_SEES_MORE))
    from egomem.observe.captioner import Captioner

    ahead = models.conduct.concurrency
    captioner = Captioner(models, window=window, fps=fps, max_tokens=max_tokens, budget=budget)
    seeing = [o for o in found.observers if not isinstance(o, TemplateCaptioner)]
    return ObserverSet(
        Observers(found.speech, (*seeing, captioner)), ahead, tuple(notes), captioner
    )


def _active(
    found: Embedded,
    models: ModelClient | None,
    notes: Sequence[str],
    *,
    window: float,
    budget: float | None,
    max_tokens: int,
) -> ObserverSet:
    """An active captioner in the place of the other one; its tools are those that are installed."""
    from egomem.observe.active import ActiveCaptioner
    from egomem.observe.active.vlm_backend import MAX_TOKENS as ACTIVE_TOKENS
    from egomem.observe.object_detector import Detector

    asked = models if models is not None and models.has(Role.CAPTIONER) else None
    seeing = [o for o in found.observers if not isinstance(o, TemplateCaptioner)]
    detects = any(isinstance(o, Objects) for o in seeing)
    captioner = ActiveCaptioner(
        asked,
        window=window,
        cost=budget,
        max_tokens=max(max_tokens, ACTIVE_TOKENS),
        detector=Detector(squares=False) if detects else None,
        reader=next((o for o in seeing if isinstance(o, ScreenText)), None),
    )
    ahead = asked.conduct.concurrency if asked else 1
    told = notes if asked else (*notes, VLM_SEES_MORE)
    return ObserverSet(Observers(found.speech, (*seeing, captioner)), ahead, tuple(told), captioner)
