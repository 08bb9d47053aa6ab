"""What digests say of a question, as support for the observations that they rest on.

A digest is never found itself where it names what it rests on: a match of one of its lines, or of
an exact attribute that it carries, speaks for the windows of the observations behind it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from egomem.memory import View
from egomem.records import Observation
from egomem.text import terms
from egomem.text.stop_words import STOP_WORDS

MAX_DIGESTS = 10
"""Digests that are looked into for a question; our choice."""
MAX_SUPPORTED = 60
"""Observations that digests speak for, for a question; our choice."""


def searched_view(view: View) -> View:
    """A view without the digests that name what they rest on: those are looked into instead."""
    if view.filter.tracks is not None:
        return view
    unfounded = view.store.unfounded_digest_tracks()
    if not unfounded:
        return view.observed()
    sources = {source for _, source in view.filter.catalog.tracks.values()} - {"digest"}
    chosen = {id for id, source in view.filter.catalog.tracks.values() if source in sources}
    return view.narrow(tracks=chosen | unfounded)


def digest_support(view: View, text: str) -> dict[str, float]:
    """Observation id -> how well a digest that rests on it matches a text, in (0, 1].

    Of the view's digests alone, with their own word statistics; {} where none matches.
    """
    digests = view.narrow(sources=["digest"])
    words = [w for w in dict.fromkeys(terms(text)[0]) if w not in STOP_WORDS]
    if not words:
        return {}
    matches = digests.search(" ".join(words), k=MAX_DIGESTS)
    lines = [line for match in matches for line in _lines(match.observation)]
    if not lines:
        return {}
    frequency = Counter(w for _, bag in lines for w in bag)
    weight = {w: math.log1p(len(lines) / frequency[w]) for w in words if frequency[w]}
    support: dict[str, float] = {}
    for ids, bag in lines:
        score = sum(value for w, value in weight.items() if w in bag) / sum(weight.values())
        for id in ids if score else ():
            support[id] = max(support.get(id, 0.0), score)
    ranked = sorted(support.items(), key=lambda item: (-item[1], item[0]))
    return dict(ranked[:MAX_SUPPORTED])


def _lines(digest: Observation) -> list[tuple[tuple[str, ...], frozenset[str]]]:
    """The lines and facts of a digest: ids of observations, and the terms of what is said.

    One that egomem did not make is a single line over all that it rests on.
    """
    rows = [
        (_ids(row.get("rests_on")), f"{row.get('speaker', '')} {row.get('text', '')}")
        for row in _rows(digest.data.get("lines"))
        if not row.get("problem")
    ]
    rows += [
        ((str(row["source"]),), str(row.get("text", "")))
        for row in _rows(digest.data.get("facts"))
        if "source" in row and row.get("kind") != "name"
    ]
    if not rows:
        rows = [(digest.provenance.rests_on, digest.text)]
    return [(ids, frozenset(terms(text)[0])) for ids, text in rows if ids]


def _rows(value: object) -> Iterable[Mapping[str, Any]]:
    return (row for row in value if isinstance(row, dict)) if isinstance(value, list) else ()


def _ids(value: object) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list) else ()
