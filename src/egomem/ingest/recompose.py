"""Making anew what rested on something that was forgotten."""

from __future__ import annotations

from collections.abc import Iterable

from egomem.memory import Store
from egomem.observe.template_captioner import compose
from egomem.records import Observation


def recompose(store: Store, gone: Iterable[Observation]) -> int:
    """Composed captions among `gone` are composed from what is left of their parts.

    Returns how many could be. Captions that a model wrote cannot be made without watching again.
    """
    made = []
    for old in gone:
        if old.source != "caption" or not old.track.startswith("caption/composed"):
            continue
        left = store.view().observations(ids=old.provenance.rests_on)
        text = compose(sorted(left, key=lambda o: (o.span, o.text)))
        if text and store.recording(old.recording or ""):
            rests_on = tuple(o.id for o in left)
            provenance = old.provenance.model_copy(update={"rests_on": rests_on})
            made.append(old.model_copy(update={"text": text, "provenance": provenance}))
    return store.add(made) if made else 0
