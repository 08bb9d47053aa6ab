"""Who observes: the embedded observers, and a captioner where a model fills that role."""

from __future__ import annotations

from dataclasses import dataclass

from egomem.ingest.run import Observers
from egomem.models import Models, Role
from egomem.observe import Composed, Embedded, embedded_observers

AHEAD = 8
"""Windows whose captions are asked for at once where a captioner is set."""

VLM_SEES_MORE = (
    "captions are composed from detected objects, read text and recognised speech; a vision-"
    "language model would see more (--model captioner=SPEC, see docs/how-to/models.md)"
)


@dataclass(frozen=True, slots=True)
class Chosen:
    """The observers, how many windows they may see at once, and what a user should know of them."""

    observers: Observers
    ahead: int
    notes: tuple[str, ...]
    embedded: Embedded


def choose(models: Models | None, *, window: float, fps: float) -> Chosen:
    """With a captioner, its captions take the place of the composed ones; speech, screen text and
    objects are observed beside it wherever they can run."""
    found = embedded_observers(window=window, fps=fps)
    notes = [str(origin) for origin in found.origins]
    notes += [f"without {m.part}: {m.detail}; {m.remedy}" for m in found.missing]
    seeing = found.observers
    if models is not None and models.has(Role.CAPTIONER):
        from egomem.observe.captioner import Captioner

        captioner = Captioner(models, window=window, fps=fps)
        seeing = (*(o for o in seeing if not isinstance(o, Composed)), captioner)
        return Chosen(Observers(found.speech, seeing), AHEAD, tuple(notes), found)
    return Chosen(Observers(found.speech, seeing), 1, (*notes, VLM_SEES_MORE), found)
