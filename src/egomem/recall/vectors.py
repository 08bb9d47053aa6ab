"""Vectors of observations: making them, reading them, and how near each is to a text."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from egomem.memory import Store, View
from egomem.recall.corpus import Corpus, Scores
from egomem.recall.speech import said
from egomem.recall.view_cache import ViewCache
from egomem.records import Observation

if TYPE_CHECKING:
    from egomem.models.embedders import Embedder, Vectors

_KEPT = 20_000
"""Vectors of observations that the store has none of, kept in memory."""
_BATCH = 1_024
_made: OrderedDict[tuple[str, str], Vectors] = OrderedDict()


def embedded_text(o: Observation) -> str:
    """What of an observation is embedded: what was said, without who said it."""
    return said(o)[1]


def add_vectors(store: Store, embedder: Embedder) -> int:
    """Gives every observation that has none a vector of this embedder; returns how many.

    A search makes missing vectors itself, again for every process: this is what makes it fast.
    """
    view = store.view()
    have = set(view.vectors(embedder.name)[0])
    missing = [o for o in view.observations() if o.id not in have]
    # The store writes vectors a recording at a time.
    missing.sort(key=lambda o: o.recording or "")
    added = 0
    for recording, group in groupby(missing, key=lambda o: o.recording):
        row = list(group)
        for at in range(0, len(row), _BATCH):
            some = row[at : at + _BATCH]
            matrix = embedder.embed([embedded_text(o) for o in some])
            added += store.add_vectors(embedder.name, recording, [o.id for o in some], matrix)
    return added


def similarities(
    corpus: Corpus, view: View, embedder: Embedder, text: str
) -> tuple[Scores, Scores]:
    """The cosine of each observation's vector with the text's, and the length of each window's
    mean vector (the mean of a window's cosines over it is the cosine with the mean)."""
    if embedder.name not in corpus.vectors:
        rows = _rows(embedder, corpus.observations, view)
        corpus.vectors[embedder.name] = rows, np.maximum(corpus.norms(rows), 1e-9)
    rows, norms = corpus.vectors[embedder.name]
    return (rows @ query_vector(embedder, text)).astype(np.float64), norms


_means: ViewCache[Vectors] = ViewCache()


def mean_vector(view: View, embedder: Embedder) -> Vectors:
    """The mean of the vectors of all that a view holds; of vectors made now where it has none."""

    def make() -> Vectors:
        mean = view.mean_vector(embedder.name)
        if mean is None:
            texts = [embedded_text(o) for o in view.observations()]
            mean = np.mean(_embedded(embedder, texts), axis=0)
        return mean

    return _means.get(view, make, embedder.name)


def nearest_observations(
    view: View, embedder: Embedder, vectors: Vectors
) -> list[tuple[float, Observation]]:
    """The cosine of the nearest observation of a view with each of some vectors, and that.

    Vectors that the store lacks are made. Raises ValueError where the view is empty.
    """
    lacking = np.setdiff1d(view.columns.rows, view.vector_rows(embedder.name))
    without_vector = view.read(lacking.tolist())
    matrix = np.array(_embedded(embedder, [embedded_text(o) for o in without_vector]))
    nearest = []
    for vector in vectors:
        best = [(s.score, s.observation) for s in view.nearest(embedder.name, vector, 1)]
        if without_vector:
            cosines = matrix @ vector
            at = int(np.argmax(cosines))
            best.append((float(cosines[at]), without_vector[at]))
        nearest.append(max(best, key=lambda pair: pair[0]))
    return nearest


_SAME = (
    ("I wash the cup in the sink", "rinsing a mug under the tap"),
    ("she buys bread at the bakery", "paying for a loaf at the baker's"),
    ("he parks the car in front of the house", "the car is left outside the home"),
    ("a dog runs across the lawn", "a puppy races over the grass"),
    ("the phone rings on the table", "a mobile on the desk starts ringing"),
    ("they talk about the holidays", "a conversation about a vacation"),
    ("I open the window", "letting fresh air into the room"),
    ("writing a letter with a pen", "he writes a note by hand"),
)
_contrasts: dict[str, float] = {}


def contrast(embedder: Embedder) -> float:
    """By how much the cosine of two wordings of one event exceeds that of two events.

    Embedders differ in this (all of some models' cosines lie between .7 and 1), so what is said of
    cosines is said in shares of it. Measured once for each, on eight pairs of everyday sentences
    of ours; .01 at least.
    """
    if embedder.name not in _contrasts:
        wordings, rewordings = zip(*_SAME, strict=True)
        # One side as a query: some embedders put another prefix before questions than before texts.
        cosines = embedder.embed(wordings, query=True) @ embedder.embed(rewordings).T
        one = np.eye(len(_SAME), dtype=bool)
        _contrasts[embedder.name] = max(0.01, float(cosines[one].mean() - cosines[~one].mean()))
    return _contrasts[embedder.name]


def query_vector(embedder: Embedder, text: str) -> Vectors:
    vector: Vectors = embedder.embed([text], query=True)[0]
    return vector


def _rows(embedder: Embedder, observations: Sequence[Observation], view: View) -> Vectors:
    """The observations' vectors, a row each: the store's, and those that it lacks made now."""
    place = {o.id: i for i, o in enumerate(observations)}
    rows = np.zeros((len(observations), embedder.dimensions), dtype=np.float32)
    lacking = np.ones(len(observations), dtype=bool)
    # Reading all is faster than asking for all by their ids.
    ids, matrix = view.vectors(embedder.name, place if len(observations) < view.count() else None)
    if ids:
        here = [place[id] for id in ids]
        rows[here] = matrix
        lacking[here] = False
    for i, vector in zip(
        np.flatnonzero(lacking).tolist(),
        _embedded(
            embedder, [embedded_text(o) for o, no in zip(observations, lacking, strict=True) if no]
        ),
        strict=True,
    ):
        rows[i] = vector
    return rows


def _embedded(embedder: Embedder, texts: Sequence[str]) -> list[Vectors]:
    """Vectors of texts, made once while they are kept."""
    keys = [(embedder.name, text) for text in texts]
    missing = list(dict.fromkeys(text for _, text in keys if (embedder.name, text) not in _made))
    if missing:
        for text, vector in zip(missing, embedder.embed(missing), strict=True):
            _made[embedder.name, text] = vector
    vectors = [_made[key] for key in keys]
    while len(_made) > _KEPT:
        _made.popitem(last=False)
    return vectors
