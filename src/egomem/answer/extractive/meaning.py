"""What options mean, by an embedder: for questions whose options share no word with the memory."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from egomem.answer.extractive.scene import Scene
from egomem.memory import View
from egomem.models.embedders import Embedder, Vectors


def by_meaning(
    view: View, scene: Scene, question: str, options: Sequence[str], embedder: Embedder
) -> list[float]:
    """How much nearer the nearest observation is to question and option than the memory at large.

    Cosines, one value an option: the largest over the scene, less that of the mean vector of the
    view. What is near to everything tells nothing. Vectors that the store lacks are made.
    """
    if not scene.seen or not options:
        return [0.0] * len(options)
    ids, kept = view.vectors(embedder.name)
    place = {id: row for row, id in enumerate(ids)}
    held = [place[s.observation.id] for s in scene.seen if s.observation.id in place]
    lacking = [s.observation.text for s in scene.seen if s.observation.id not in place]
    parts: list[Vectors] = [kept[held]] if held else []
    if lacking:
        parts.append(embedder.embed(lacking))
    here = np.concatenate(parts)
    usual = (kept if len(kept) else here).mean(axis=0)
    asked = embedder.embed([f"{question} {option}" for option in options], query=True)
    near = (here @ asked.T).max(axis=0) - asked @ usual
    return [float(n) for n in near]
