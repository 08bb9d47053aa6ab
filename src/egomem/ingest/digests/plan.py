"""Which digests of a level are current, out of date, missing, or of windows that are gone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from egomem.ingest.digests.levels import Level, WindowKey
from egomem.ingest.digests.material import Windows, basis_of, material, windows_of_level
from egomem.ingest.digests.tracks import chain_of, digest_tracks
from egomem.memory import MemoryReader
from egomem.memory.exchange import ObservationKey, observation_keys
from egomem.records import Recording, Track


@dataclass(frozen=True)
class StoredDigest:
    """A digest that a memory has: its row, its id, and the hash of what it was made of."""

    n: int
    id: str
    basis: str


@dataclass(frozen=True)
class LevelPlan:
    """The windows of a level with what the memory has of them.

    `children` are the windows of the level `below` that make up each window. `surplus` are digests
    of a window that has another one, or that holds nothing any more.
    """

    level: Level
    track: Track
    windows: Windows
    stored: dict[WindowKey, StoredDigest]
    surplus: tuple[StoredDigest, ...]
    below: LevelPlan | None = None
    children: Mapping[WindowKey, Sequence[WindowKey]] = field(default_factory=dict)

    @cached_property
    def bases(self) -> dict[WindowKey, str]:
        """What the digest of each window would be made of now; without windows that wait.

        A window waits while a shorter digest in it is missing.
        """
        if self.below is None:
            return {w: basis_of(key.id for key in keys) for w, keys in self.windows.items()}
        below = self.below.stored
        return {
            window: basis_of(below[child].id for child in children)
            for window, children in self.children.items()
            if all(child in below for child in children)
        }

    @cached_property
    def stale(self) -> list[WindowKey]:
        """Windows whose digest is missing or of another content."""
        return [
            window
            for window, basis in self.bases.items()
            if window not in self.stored or self.stored[window].basis != basis
        ]


def plan_level(
    store: MemoryReader,
    keys: Iterable[ObservationKey],
    recordings: Mapping[str, Recording],
    track: Track,
    level: Level,
    below: LevelPlan | None,
) -> LevelPlan:
    """What there is and what there should be of a level; `keys` are its material."""
    windows = windows_of_level(keys, recordings, level)
    stored: dict[WindowKey, StoredDigest] = {}
    surplus = []
    for window, digest in _stored(store, track):
        if window in stored or window not in windows:
            surplus.append(digest)
        else:
            stored[window] = digest
    children = _children(windows, below.windows) if below else {}
    return LevelPlan(level, track, windows, stored, tuple(surplus), below, children)


def plans(store: MemoryReader, only: Iterable[str] | None = None) -> list[LevelPlan]:
    """The plans of all tracks of digests that a memory keeps, lower levels first.

    `only`: as if the memory held these recordings alone.
    """
    tracks = store.tracks()
    ordered = sorted(digest_tracks(tracks), key=lambda t: (len(chain_of(t)), t.id))
    if not ordered:
        return []
    recordings = {r.id: r for r in store.recordings()}
    keys = material(observation_keys(store, only), tracks)
    by_chain: dict[tuple[object, ...], LevelPlan] = {}
    for track in ordered:
        chain = chain_of(track)
        maker = track.observer, track.model
        below = by_chain.get((*maker, chain[:-1]))
        if len(chain) == 1 or below is not None:
            plan = plan_level(store, keys, recordings, track, chain[-1], below)
            by_chain[*maker, chain] = plan
    return list(by_chain.values())


def stale_ids(store: MemoryReader, only: Iterable[str] | None = None) -> tuple[set[str], int]:
    """Ids of digests that are out of date, and how many digests are missing.

    `only`: recordings; then it is right of the digests that lie on these alone.
    """
    stale: set[str] = set()
    missing = 0
    changed: dict[str, set[WindowKey]] = {}
    for plan in plans(store, only):
        above = changed.get(plan.below.track.id, set()) if plan.below else set()
        windows = {w for w, children in plan.children.items() if above.intersection(children)}
        windows |= set(plan.stale) | (plan.windows.keys() - plan.bases.keys())
        changed[plan.track.id] = windows
        stale |= {plan.stored[w].id for w in windows if w in plan.stored}
        stale |= {digest.id for digest in plan.surplus}
        missing += sum(w not in plan.stored for w in windows)
    return stale, missing


def _stored(store: MemoryReader, track: Track) -> list[tuple[WindowKey, StoredDigest]]:
    """The digests of a track with their windows, in the order in which they were stored."""
    rows = store.connection.select(
        "SELECT o.n, o.id, o.wearer, r.id, json_extract(o.data, '$.level'), "
        "json_extract(o.data, '$.day'), json_extract(o.data, '$.window'), "
        "json_extract(o.data, '$.basis') FROM observation o "
        "JOIN recording r ON r.number = o.recording JOIN track t ON t.number = o.track "
        "WHERE t.source = 'digest' AND t.id = ? ORDER BY o.n",
        (track.id,),
    )
    return [
        (
            WindowKey(wearer, recording, str(level), day or "", str(window)),
            StoredDigest(n, id, str(basis)),
        )
        for n, id, wearer, recording, level, day, window, basis in rows
    ]


def _children(windows: Windows, below: Windows) -> dict[WindowKey, list[WindowKey]]:
    """The windows of the level below that make up each window."""
    window_by_row = {key.n: window for window, keys in windows.items() for key in keys}
    children: dict[WindowKey, list[WindowKey]] = defaultdict(list)
    for child, keys in below.items():
        # All of a shorter window lies in one longer one: both are of one zone and date.
        children[window_by_row[keys[0].n]].append(child)
    return children
