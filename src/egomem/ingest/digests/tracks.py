"""The tracks of digests: one for each level, summarizer and prompt, and for what lies below it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from egomem.ingest.digests.extractive import Summarizer
from egomem.ingest.digests.levels import LEVELS, Level
from egomem.records import Track

MODEL_OBSERVER = "summary"
"""The observer of digests that a model writes."""


def track_of(summarizer: Summarizer, chain: Sequence[Level]) -> Track:
    """The track of the last level of a chain; the others are what its digests are made of."""
    below = "+".join(f"{level.seconds:g}s" for level in chain[:-1])
    return Track(
        source="digest",
        observer=summarizer.observer,
        model=summarizer.model,
        prompt=summarizer.prompt(chain[-1].name),
        window=chain[-1].seconds,
        sampling=below or None,
    )


def chain_of(track: Track) -> tuple[Level, ...]:
    """The levels of a track's chain; () for a track that egomem did not make."""
    by_seconds = {f"{level.seconds:g}s": level for level in LEVELS}
    names = [*(track.sampling or "").split("+"), f"{track.window or 0:g}s"]
    levels = [by_seconds.get(name) for name in names if name]
    return tuple(level for level in levels if level) if all(levels) else ()


def digest_tracks(tracks: Iterable[Track]) -> list[Track]:
    """The tracks of digests that egomem makes."""
    return [t for t in tracks if t.source == "digest" and chain_of(t)]


def longest_chains(tracks: Iterable[Track]) -> list[tuple[Level, ...]]:
    """The chains of levels of some tracks, without those that another one goes on from."""
    chains = {chain_of(track) for track in tracks}
    return sorted(
        (
            chain
            for chain in chains
            if not any(other[: len(chain)] == chain and other != chain for other in chains)
        ),
        key=str,
    )
