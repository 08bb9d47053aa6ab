"""How signals become a ranking. Profiles are values to change: `replace(DEFAULT, k1=1.2)`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from egomem.errors import ConfigError

SIGNALS = {
    "bm25": "BM25 of the window",
    "best": "BM25 of its best observation",
    "pairs": "BM25 of words that stand together",
    "nearest": "cosines of its nearest observations' vectors (with an embedder)",
    "mean": "mean cosine of its observations' vectors (with an embedder)",
    "speaker": "the named speaker speaks",
    "reply": "it answers a question that matches",
    "order": "it lies before, after or in what the question's anchor names",
    "fullness": "how much was observed",
    "hash": "hash-cosine",
    "digest": "a digest that rests on it matches (where digests are asked for)",
    "overlap": "share of the question's words",
    "time": "beginning, middle, end, and times of the recording",
}


@dataclass(frozen=True)
class Profile:
    """Weights of the signals (see SIGNALS) on their min-max scores, and what follows the ranking.

    `k1`, `b` are the window's BM25, `best_k1`, `best_b` that of an observation; with `by_lines`,
    `b` shrinks to 0 where windows hold a single line. `forms` lets a word match in its other forms
    (sat, sit); `like` is what a word much like the one asked for counts,
    `options` what a word of the options counts, `asking` a word that asks ("see", "use").
    `time_language` reads anchors, order and clock times out of the question (see recall.reading).
    `softness` is how far behind the nearest vector others still count with it (0: the nearest
    alone). `spreads` are the least ranges that are stretched to `[0, 1]`: cosines that differ by
    less tell less. Both are shares of the embedder's contrast (see recall.vectors).
    `same` is what a neighbour of a better window loses for saying the same (see recall.seeds).
    `seeds` is the most windows chosen by score (None: as many as asked for); `apart` is the least
    distance in seconds between the centres of two seeds; `neighbours` are added on each side of a
    seed. `unmatched` keeps windows that no signal but fullness and time speaks for. Equal scores go
    to the earlier window.
    """

    name: str
    weights: Mapping[str, float] = field(default_factory=dict)
    k1: float = 1.5
    b: float = 0.4
    by_lines: bool = True
    best_k1: float = 0.9
    best_b: float = 0.6
    forms: bool = True
    like: float = 0.4
    options: float = 0.6
    asking: float = 0.3
    hash_dimensions: int = 1024
    time_language: bool = True
    softness: float = 0.2
    spreads: Mapping[str, float] = field(default_factory=lambda: {"nearest": 1.3, "mean": 0.7})
    same: float = 0.3
    seeds: int | None = None
    apart: float = 0.0
    neighbours: int = 0
    unmatched: bool = False

    def __post_init__(self) -> None:
        if unknown := self.weights.keys() - SIGNALS.keys():
            names = ", ".join(SIGNALS)
            raise ConfigError(f"no signal is called {min(unknown)!r}", f"use some of {names}")


DEFAULT = Profile(
    "default",
    # Round numbers on purpose. How they were compared, and on which half of the rows, stands in
    # docs/explanation/recall.md.
    {"bm25": 0.7, "best": 0.3, "pairs": 0.2, "speaker": 0.15, "reply": 0.3, "order": 0.15,
     "fullness": 0.03, "time": 0.2, "digest": 0.15},
)  # fmt: skip
"""Ours, without any model."""

HYBRID = Profile(
    "hybrid",
    # Vectors take over what words did, and the signals that have no words keep their weights.
    {"bm25": 0.2, "best": 0.2, "pairs": 0.08, "nearest": 0.3, "mean": 0.35, "speaker": 0.15,
     "reply": 0.3, "order": 0.15, "fullness": 0.1, "time": 0.2, "digest": 0.15},
    same=0.5,
)  # fmt: skip
"""Ours, with an embedder."""

CAPMEM = Profile(
    "capmem",
    # Not stated in the paper: .45, .25, .20 and .10 are our reconstruction, as are the values
    # below.
    {"bm25": 0.45, "hash": 0.25, "overlap": 0.20, "time": 0.10},
    b=0.75,
    by_lines=False,
    forms=False,
    like=0.0,
    options=1.0,
    asking=1.0,
    time_language=False,
    same=0.0,
    seeds=3,
    apart=45.0,
    neighbours=1,
    unmatched=True,
)
"""CapMem's four signals, three seeds 45 s apart and a neighbour on each side: at most nine windows.

The paper states the signals, the query (question and options), seeds, suppression and neighbours.
Weights, normalisation, k1 and b, hash dimensions, the time hints and how the 45 s are measured
(between centres) are our reconstruction.
"""

PROFILES = {p.name: p for p in (DEFAULT, HYBRID, CAPMEM)}


def profile_of(profile: str | Profile, *, embedder: bool) -> Profile:
    """A profile by name; "default" is HYBRID where an embedder is set."""
    if isinstance(profile, Profile):
        return profile
    if profile == "default" and embedder:
        return HYBRID
    if profile not in PROFILES:
        raise ConfigError(
            f"no recall profile is called {profile!r}", f"use one of {', '.join(PROFILES)}"
        )
    return PROFILES[profile]
