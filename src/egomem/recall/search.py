"""A question and a view in, the moments that speak to it out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np

from egomem.memory import View
from egomem.models.embedders import Embedder
from egomem.records import Observation
from egomem.recall.moments import Window, windows_of
from egomem.recall.profile import Profile, profile_of
from egomem.recall.seeds import beside, choose
from egomem.recall.signals import Scores, bm25, hash_cosine, minmax, overlap
from egomem.recall.terms import bag_of, merged, query_of
from egomem.timeline import Span


@dataclass(frozen=True)
class Hit:
    """A moment found: where, when, what was observed there (best first), and why it was found.

    `span` is in seconds of `recording`, or POSIX seconds where `recording` is None (a digest).
    `when` is the wall clock of the span's start, where known. `score` is the weighted sum of
    `parts`, the signals' scores by name. `seed` is False for a neighbour that was added.
    """

    recording: str | None
    span: Span
    when: datetime | None
    observations: tuple[Observation, ...]
    score: float
    parts: dict[str, float] = field(default_factory=dict)
    seed: bool = True

    @property
    def text(self) -> str:
        """What was observed, in time order, a line each."""
        return "\n".join(o.text for o in sorted(self.observations, key=lambda o: o.span))


def search(
    view: View,
    query: str,
    *,
    options: Sequence[str] = (),
    k: int = 10,
    window: float = 30.0,
    profile: str | Profile = "default",
    embedder: Embedder | None = None,
) -> list[Hit]:
    """The `k` windows of `window` seconds that speak most for a question and its options.

    What is found follows from the view's content alone: a view until `t` finds what a memory cut at
    `t` finds, with the same scores. An empty view finds nothing. Raises ConfigError for an unknown
    profile.
    """
    recipe = profile_of(profile, embedder=embedder is not None)
    observations = view.observations()
    durations = {r.id: r.duration for r in view.recordings()}
    windows = windows_of(observations, window, durations)
    if not windows:
        return []
    asked = query_of(query, *options)
    bags = [merged([bag_of(o.text) for o in w.observations]) for w in windows]
    frequency: Counter[str] = Counter()
    for bag in bags:
        frequency.update(set(bag.words))
    parts: dict[str, Scores] = {
        "bm25": bm25(
            asked,
            bags,
            frequency=frequency,
            count=len(bags),
            mean_length=float(np.mean([bag.length for bag in bags])),
            k1=recipe.k1,
            b=recipe.b,
            pairs=recipe.pairs,
        )
    }
    if "hash" in recipe.weights:
        parts["hash"] = hash_cosine(asked, bags, dimensions=recipe.hash_dimensions)
    if "overlap" in recipe.weights:
        parts["overlap"] = overlap(asked, bags)
    total = np.zeros(len(windows))
    for name, scores in parts.items():
        total += recipe.weights[name] * minmax(scores)
    order = sorted(
        range(len(windows)), key=lambda i: (-total[i], windows[i].span.start, windows[i].line)
    )
    ranked = [windows[i] for i in order]
    place = {id(w): i for i, w in enumerate(windows)}
    seeds = choose(ranked, most=min(k, recipe.seeds or k), apart=recipe.apart)
    shown = {id(w): (w, True) for w in seeds}
    for seed in seeds:
        for neighbour in beside(seed, windows, recipe.neighbours):
            if len(shown) < k:
                shown.setdefault(id(neighbour), (neighbour, False))

    def hit(w: Window, seed: bool) -> Hit:
        i = place[id(w)]
        return Hit(
            recording=w.recording,
            span=w.span,
            when=view.when(w.observations[0]),
            observations=w.observations,
            score=float(total[i]),
            parts={name: float(scores[i]) for name, scores in parts.items()},
            seed=seed,
        )

    return [hit(w, seed) for w, seed in shown.values()]
