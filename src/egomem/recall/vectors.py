"""Vectors of observations: how near each is to a text."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

import numpy as np

from egomem.memory import View
from egomem.models.embedders import Embedder, Vectors
from egomem.recall.corpus import Scores
from egomem.recall.speech import said
from egomem.records import Observation

_KEPT = 50_000
_vectors: OrderedDict[tuple[str, str], Vectors] = OrderedDict()


def embedded_text(o: Observation) -> str:
    """What of an observation is embedded: what was said, without who said it."""
    return said(o)[1]


def similarities(
    view: View, embedder: Embedder, text: str, observations: Sequence[Observation]
) -> Scores:
    """The cosine of each observation's vector with the text's."""
    rows = _of_texts(embedder, [embedded_text(o) for o in observations])
    return (rows @ _query(embedder, text)).astype(np.float64)


def nearest(view: View, embedder: Embedder, text: str, k: int) -> list[Observation]:
    """The `k` observations of a view that are nearest to a text, nearest first."""
    observations = view.observations()
    near = similarities(view, embedder, text, observations)
    return [observations[i] for i in np.argsort(-near, kind="stable")[:k]]


def _query(embedder: Embedder, text: str) -> Vectors:
    vector: Vectors = embedder.embed([text], query=True)[0]
    return vector


def _of_texts(embedder: Embedder, texts: Sequence[str]) -> Vectors:
    """Vectors of texts, made once while they are kept."""
    keys = [(embedder.name, text) for text in texts]
    missing = list(
        dict.fromkeys(text for key, text in zip(keys, texts, strict=True) if key not in _vectors)
    )
    if missing:
        for text, vector in zip(missing, embedder.embed(missing), strict=True):
            _vectors[embedder.name, text] = vector
    rows = np.array([_vectors[key] for key in keys], dtype=np.float32)
    while len(_vectors) > _KEPT:
        _vectors.popitem(last=False)
    return (
        rows.reshape(len(texts), -1)
        if len(texts)
        else np.zeros((0, embedder.dimensions), np.float32)
    )
