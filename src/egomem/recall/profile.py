"""How signals become a ranking: profiles are values, made to be changed (`replace(DEFAULT, k1=1.2)`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from egomem.errors import ConfigError


@dataclass(frozen=True)
class Profile:
    """Weights of the signals on their min-max scores, and which of the ranked windows are kept.

    `seeds` is the most windows chosen by score (None: as many as asked for); `apart` is the least
    distance in seconds between the centres of two seeds of one recording; `neighbours` windows are
    added on each side of a seed. Equal scores go to the earlier window.
    """

    name: str
    weights: Mapping[str, float] = field(default_factory=dict)
    k1: float = 0.9
    b: float = 0.4
    pairs: float = 0.0
    hash_dimensions: int = 1024
    seeds: int | None = None
    apart: float = 0.0
    neighbours: int = 0


DEFAULT = Profile("default", {"bm25": 1.0, "time": 0.2}, pairs=0.5)
"""Ours, without any model."""

HYBRID = Profile("hybrid", {"bm25": 0.30, "best": 0.35, "mean": 0.35, "time": 0.2}, pairs=0.5)
"""Ours, with an embedder: the best caption of a window, and the mean of its captions."""

CAPMEM = Profile(
    "capmem",
    {"bm25": 0.45, "hash": 0.25, "overlap": 0.20, "time": 0.10},
    k1=1.5,
    b=0.75,
    seeds=3,
    apart=45.0,
    neighbours=1,
)
"""CapMem's four signals, three seeds 45 s apart and a neighbour on each side: at most nine windows.

The paper states the signals, seeds, suppression and neighbours. Weights, normalisation, k1 and b,
hash dimensions and how the 45 s are measured (between centres) are our reconstruction.
"""

PROFILES = {p.name: p for p in (DEFAULT, HYBRID, CAPMEM)}


def profile_of(profile: str | Profile, *, embedder: bool) -> Profile:
    """A profile by name; "default" is HYBRID where an embedder is set."""
    if isinstance(profile, Profile):
        return profile
    if profile == "default" and embedder:
        return HYBRID
    try:
        return PROFILES[profile]
    except KeyError:
        names = ", ".join(PROFILES)
        raise ConfigError(
            f"no recall profile is called {profile!r}", f"use one of {names}"
        ) from None
