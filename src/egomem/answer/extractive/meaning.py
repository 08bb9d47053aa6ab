"""What options mean, by an embedder: for questions whose options share no word with the memory."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from egomem.answer.extractive.view_index import IndexedObservation, ViewIndex
from egomem.memory import View
from egomem.models.embedders import Embedder, Vectors


def by_meaning(
    view: View, scene: ViewIndex, question: str, options: Sequence[str], embedder: Embedder
) -> list[tuple[float, IndexedObservation | None]]:
    """How much nearer the nearest observation is to question and option than the memory at large.

    Cosines, one value an option and the nearest observation: the largest over the scene, less that
    of the mean vector of the view. What is near to everything tells nothing. Vectors that the store
    lacks are made.
    """
    if not scene.seen or not options:
        return [(0.0, None)] * len(options)
    ids, kept = view.vectors(embedder.name)
    place = {id: row for row, id in enumerate(ids)}
    held = [s for s in scene.seen if s.observation.id in place]
    lacking = [s for s in scene.seen if s.observation.id not in place]
    parts: list[Vectors] = []
    if held:
        parts.append(kept[[place[s.observation.id] for s in held]])
    if lacking:
        parts.append(embedder.embed([s.observation.text for s in lacking]))
    here = np.concatenate(parts)
    usual = (kept if len(kept) else here).mean(axis=0)
    asked = embedder.embed([f"{question} {option}" for option in options], query=True)
    cosines = here @ asked.T
    near = cosines.max(axis=0) - asked @ usual
    seen = [*held, *lacking]
    return [(float(n), seen[i]) for n, i in zip(near, cosines.argmax(axis=0), strict=True)]
