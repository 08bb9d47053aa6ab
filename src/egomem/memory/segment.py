"""A piece of the inverted index: which of its observations hold a term, and how often.

A segment is made once and never changed, so that readers need no lock. Its arrays:

    terms    u64  sorted 64-bit hashes of the terms: the index holds no words
    offsets  i64  term i has the postings [offsets[i], offsets[i + 1])
    peak          the largest frequency among a term's postings
    docs     i32  postings: the place of the observation in the columns below, ascending
    tf            postings: how often the term is in it
    by_key   i32  the places of the observations, in order of their `key`
    n, line, track, start, end, length, key
                  columns: one entry an observation, in order of its row `n` in memory.db; `key` is
                  the first 64 bits of its id

On disk it is one file: a magic, the length of a JSON header that lists the arrays, the header, and
the arrays, each aligned to 64 bytes; it is read through a memory map.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt

from egomem.errors import DamagedError
from egomem.memory.permissions import open_private

Array = npt.NDArray[Any]

_MAGIC = b"EGOMSEG1"
_ALIGN = 64
_SIDES: tuple[Literal["left", "right"], ...] = ("left", "right")
_COLUMNS = ("n", "line", "track", "start", "end", "length", "key")
_NAMES = ("terms", "offsets", "peak", "docs", "tf", "by_key", *_COLUMNS)

ROW_COLUMNS = "o.n, o.recording, o.track, o.start, o.end, o.length, o.id, o.terms"
"""What `Segment.build` reads of an observation."""


@lru_cache(maxsize=1 << 16)
def term_hash(term: str) -> int:
    """64 bits of BLAKE2b. Two of a million terms share a hash once in 40 million memories."""
    return int.from_bytes(blake2b(term.encode(), digest_size=8).digest(), "little")


def id_keys(ids: Iterable[str]) -> npt.NDArray[np.uint64]:
    """The first 64 bits of ids, which are hexadecimal."""
    return np.array([int(id[:16], 16) for id in ids], dtype=np.uint64)


def _order(key: Array) -> npt.NDArray[np.int32]:
    return np.argsort(key, kind="stable").astype(np.int32)


class Segment:
    """One segment, as described above. `arrays` has every array named there."""

    def __init__(self, arrays: dict[str, Array]) -> None:
        self.arrays = arrays
        self.terms, self.offsets, self.peak = (arrays[a] for a in ("terms", "offsets", "peak"))
        self.docs, self.tf = arrays["docs"], arrays["tf"]
        self.rowid, self.timeline, self.track = arrays["n"], arrays["line"], arrays["track"]
        self.start, self.end, self.length = arrays["start"], arrays["end"], arrays["length"]
        self.key, self.by_key = arrays["key"], arrays["by_key"]

    def __len__(self) -> int:
        return len(self.rowid)

    @cached_property
    def shortest(self) -> float:
        return float(self.length.min()) if len(self) else 0.0

    @property
    def last(self) -> int:
        return int(self.rowid[-1]) if len(self) else 0

    @cached_property
    def runs(self) -> npt.NDArray[np.int64]:
        """Where stretches of observations of one timeline begin, and the end of the last one."""
        changes = np.flatnonzero(np.diff(self.timeline)) + 1
        return np.concatenate([[0], changes, [len(self)]]) if len(self) else np.zeros(1, np.int64)

    @classmethod
    def build(cls, rows: Sequence[tuple[Any, ...]]) -> Self:
        """Build a segment from rows of `ROW_COLUMNS` in order of row id."""
        split = [row[7].split(" ") if row[7] else [] for row in rows]
        counts = np.fromiter(map(len, split), dtype=np.int64, count=len(rows))
        hashes = np.fromiter(
            (term_hash(term) for words in split for term in words),
            dtype=np.uint64,
            count=int(counts.sum()),
        )
        docs = np.repeat(np.arange(len(rows), dtype=np.int32), counts)
        # Stable: within a term the documents stay in order.
        order = np.argsort(hashes, kind="stable")
        hashes, docs = hashes[order], docs[order]
        is_first = np.ones(len(hashes), dtype=bool)
        is_first[1:] = (hashes[1:] != hashes[:-1]) | (docs[1:] != docs[:-1])
        at = np.flatnonzero(is_first)
        tf = np.diff(np.append(at, len(hashes)))
        terms, first = np.unique(hashes[at], return_index=True)
        columns = list(zip(*(row[:6] for row in rows), strict=True)) or [()] * 6
        try:
            key = id_keys(row[6] for row in rows)
        except ValueError:
            raise DamagedError(
                "memory.db is damaged: the id of an observation is not one",
                "restore it from a backup; run: egomem check",
            ) from None
        kinds = (np.int64, np.int32, np.int32, np.float64, np.float64, np.float32)
        return cls(
            {
                "terms": terms,
                "offsets": np.append(first, len(at)).astype(np.int64),
                "peak": _small(np.maximum.reduceat(tf, first) if len(first) else tf),
                "docs": docs[at],
                "tf": _small(tf),
                **{
                    name: np.array(column, dtype=kind)
                    for name, column, kind in zip(_COLUMNS[:-1], columns, kinds, strict=True)
                },
                "key": key,
                "by_key": _order(key),
            }
        )

    def find(self, key: npt.NDArray[np.uint64]) -> npt.NDArray[np.int32]:
        """The positions of the observations that have one of some keys, ascending."""
        low, high = (np.searchsorted(self.key, key, side, self.by_key) for side in _SIDES)
        places = [self.by_key[a:b] for a, b in zip(low.tolist(), high.tolist(), strict=True)]
        return np.unique(np.concatenate(places)) if places else np.zeros(0, np.int32)

    # --------------------------------------------------------------------------------- on disk

    def write(self, path: Path) -> int:
        """Write the segment durably under a name that appears only when complete; returns the
        checksum.
        """
        header: dict[str, list[Any]] = {}
        at = 0
        for name in _NAMES:
            array = self.arrays[name]
            header[name] = [array.dtype.str, len(array), at]
            at += -(-array.nbytes // _ALIGN) * _ALIGN
        packed = json.dumps(header).encode()
        # Arrays that begin on 64 bytes are mapped as they are, without a copy.
        packed += b" " * (-(len(_MAGIC) + 8 + len(packed)) % _ALIGN)
        checksum = 0
        draft = path.with_suffix(".part")
        try:
            with open(open_private(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), "wb") as file:
                for piece in self._pieces(packed):
                    checksum = zlib.crc32(piece, checksum)
                    file.write(piece)
                # On the disk before it gets its name: after a power cut a listed segment is whole.
                file.flush()
                os.fsync(file.fileno())
        except OSError:
            draft.unlink(missing_ok=True)  # a full disk has better uses for it
            raise
        os.replace(draft, path)
        # A rename is durable only when its folder is.
        sync_folder(path.parent)
        return checksum

    def _pieces(self, header: bytes) -> Iterable[bytes | memoryview]:
        yield _MAGIC + len(header).to_bytes(8, "little") + header
        for name in _NAMES:
            array = np.ascontiguousarray(self.arrays[name])
            yield array.view(np.uint8).data if len(array) else b""
            yield b"\0" * (-array.nbytes % _ALIGN)

    @classmethod
    def read(cls, path: Path, checksum: int) -> Self:
        """Map the file of a segment that was written with a checksum.

        Raises FileNotFoundError, and DamagedError where it is not what was written.
        """
        # As a plain array: slicing a memmap object costs several times as much.
        empty = path.stat().st_size == 0
        raw = np.zeros(0, "u1") if empty else np.memmap(path, np.uint8, "r").view(np.ndarray)
        try:
            # Read as a whole, once for each opening: a changed bit would change what is found.
            if zlib.crc32(raw.data) != checksum:
                raise ValueError("not what was written")
            if raw[:8].tobytes() != _MAGIC:
                raise ValueError("not a segment")
            size = int.from_bytes(raw[8:16].tobytes(), "little")
            header = json.loads(raw[16 : 16 + size].tobytes())
            arrays = {}
            for name in _NAMES:
                kind, count, at = header[name]
                dtype = np.dtype(kind)
                start = 16 + size + at
                piece = raw[start : start + count * dtype.itemsize]
                if len(piece) != count * dtype.itemsize:
                    raise ValueError("cut short")
                arrays[name] = piece.view(dtype)
        except (ValueError, KeyError, TypeError) as fault:
            raise DamagedError(
                f"{path} is damaged ({fault})", "run: egomem check --repair"
            ) from None
        return cls(arrays)


def sync_folder(folder: Path) -> None:
    """Make a rename durable. Windows needs and offers no such call."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def merge(segments: Sequence[Segment], forgotten: npt.NDArray[np.int64] | None = None) -> Segment:
    """Merge segments into one, in the order given, without the rows `forgotten`."""
    keeps = [
        np.ones(len(s), dtype=bool) if forgotten is None else ~np.isin(s.rowid, forgotten)
        for s in segments
    ]
    terms = np.unique(np.concatenate([s.terms for s in segments]))
    places = [np.searchsorted(terms, s.terms) for s in segments]
    counts = np.zeros(len(terms), dtype=np.int64)
    kept = []
    for s, keep, place in zip(segments, keeps, places, strict=True):
        postings = keep[s.docs]
        kept_postings = np.diff(np.append(0, np.cumsum(postings))[s.offsets])
        counts[place] += kept_postings
        kept.append((postings, kept_postings))
    offsets = np.append(0, np.cumsum(counts))
    docs = np.empty(offsets[-1], dtype=np.int32)
    tf = np.empty(offsets[-1], dtype=np.result_type(*(s.tf.dtype for s in segments)))
    peak = np.zeros(len(terms), dtype=tf.dtype)
    free = offsets[:-1].copy()
    base = 0
    for s, keep, place, (postings, kept_postings) in zip(
        segments, keeps, places, kept, strict=True
    ):
        # Where each kept posting goes: on from the first free place of its term.
        before = np.append(0, np.cumsum(kept_postings))[:-1]
        to = np.repeat(free[place] - before, kept_postings) + np.arange(kept_postings.sum())
        docs[to] = (np.cumsum(keep, dtype=np.int32) - 1 + base)[s.docs[postings]]
        tf[to] = s.tf[postings]
        free[place] += kept_postings
        peak[place] = np.maximum(peak[place], s.peak)
        base += int(keep.sum())
    used = counts > 0
    columns = {
        name: np.concatenate(
            [s.arrays[name][keep] for s, keep in zip(segments, keeps, strict=True)]
        )
        for name in _COLUMNS
    }
    return Segment(
        {
            "terms": terms[used],
            "offsets": np.append(offsets[:-1][used], offsets[-1]),
            "peak": peak[used],
            "docs": docs,
            "tf": tf,
            "by_key": _order(columns["key"]),
            **columns,
        }
    )


def _small(values: Array) -> Array:
    """The values in the smallest unsigned type that holds them."""
    return values.astype(np.min_scalar_type(int(values.max()) if len(values) else 0))
