"""What options mean, by an embedder: for questions whose options share no word with the memory."""

from __future__ import annotations

from collections.abc import Sequence

from egomem.answer.extractive.view_index import IndexedObservation, ViewIndex
from egomem.memory import View
from egomem.models.embedders import Embedder
from egomem.recall.vectors import mean_vector, nearest_observations


def by_meaning(
    view: View, index: ViewIndex, question: str, options: Sequence[str], embedder: Embedder
) -> list[tuple[float, IndexedObservation | None]]:
    """How much nearer the nearest observation is to question and option than the memory at large.

    Cosines, one value an option and the nearest observation: the largest over the scope, less that
    of the mean vector of the view. What is near to everything tells nothing.
    """
    scope = index.matches.view
    if not scope.count() or not options:
        return [(0.0, None)] * len(options)
    asked = embedder.embed([f"{question} {option}" for option in options], query=True)
    # Options differ in how near they lie to any text; without this the blandest would win.
    usual = asked @ mean_vector(view, embedder)
    nearest = nearest_observations(scope, embedder, asked)
    return [
        (cosine - base, index.entry(view, observation))
        for (cosine, observation), base in zip(nearest, usual.tolist(), strict=True)
    ]
