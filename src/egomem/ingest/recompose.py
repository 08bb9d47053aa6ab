"""Composing captions again after something that they rested on was forgotten."""

from __future__ import annotations

from collections.abc import Iterable

from egomem.memory import Store
from egomem.observe.template_captioner import compose
from egomem.records import Observation


def recompose(store: Store, forgotten: Iterable[Observation]) -> int:
    """Compose the composed captions among `forgotten` again, from the parts that remain.

    Returns how many could be. A caption by a model would need the video to be observed again.
    """
    captions = []
    for caption in forgotten:
        if caption.source != "caption" or not caption.track.startswith("caption/composed"):
            continue
        parts = store.view().observations(ids=caption.provenance.rests_on)
        text = compose(sorted(parts, key=lambda o: (o.span, o.text)))
        if text and store.recording(caption.recording or ""):
            rests_on = tuple(o.id for o in parts)
            provenance = caption.provenance.model_copy(update={"rests_on": rests_on})
            captions.append(caption.model_copy(update={"text": text, "provenance": provenance}))
    return store.add(captions) if captions else 0
