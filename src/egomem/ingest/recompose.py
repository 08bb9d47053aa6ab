"""Composing a caption again after something that it rested on was forgotten."""

from __future__ import annotations

from collections.abc import Sequence

from egomem.observe.template_captioner import compose
from egomem.records import Observation


def recompose(caption: Observation, parts: Sequence[Observation]) -> Observation | None:
    """The composed caption of the parts that remain of one; None where there is none.

    A caption by a model would need the video to be observed again.
    """
    if caption.source != "caption" or not caption.track.startswith("caption/composed"):
        return None
    text = compose(sorted(parts, key=lambda o: (o.span, o.text)))
    # Nothing remains that it could rest on, so it goes with its parts.
    if not text:
        return None
    rests_on = tuple(o.id for o in parts)
    provenance = caption.provenance.model_copy(update={"rests_on": rests_on})
    return caption.model_copy(update={"text": text, "provenance": provenance})
