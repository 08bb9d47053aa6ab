"""What a view sees as columns: where and when everything was observed, without its text.

They come out of the index's segments, so that a question about time or about words reads only the
few texts that it needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from egomem.memory.catalog import Catalog, Flags, Floats, Integers
from egomem.memory.top_k import QueryPostings, VisibleSegment


@dataclass(frozen=True, eq=False)
class ViewColumns:
    """One entry an observation, in no order.

    `rows` in memory.db; `lines`: numbers of timelines; `starts`, `ends` in seconds of those;
    `zeros`: POSIX seconds of their second 0, NaN where the clock is not known; `sources`.
    """

    rows: Integers
    lines: Integers
    starts: Floats
    ends: Floats
    zeros: Floats
    sources: npt.NDArray[np.str_]

    @classmethod
    def of(cls, parts: Sequence[VisibleSegment], catalog: Catalog) -> Self:
        def column(name: str, kind: type[Any]) -> npt.NDArray[Any]:
            empty = np.zeros(0, dtype=kind)
            return np.concatenate([empty, *(part.column(name) for part in parts)]).astype(kind)

        lines = column("line", np.int64)
        zeros = np.full(int(catalog.numbers.max(initial=0)) + 1, np.nan)
        zeros[catalog.numbers] = catalog.starts
        names = np.full(max(catalog.tracks, default=0) + 1, "", dtype="U16")
        for number, (_, source) in catalog.tracks.items():
            names[number] = source
        return cls(
            column("n", np.int64),
            lines,
            column("start", np.float64),
            column("end", np.float64),
            zeros[lines],
            names[column("track", np.int64)],
        )

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def instants(self) -> Floats:
        """When each began, in POSIX seconds; inf where the clock is not known."""
        return np.where(np.isnan(self.zeros), np.inf, self.zeros + self.starts)

    def first(
        self, among: Flags, count: int, *, score: Floats | None = None, latest: bool = False
    ) -> Integers:
        """The places of the earliest (or latest) `count` of some; with `score`, of those with the
        highest, earliest among equals."""
        places = np.flatnonzero(among)
        if len(places) <= count:
            return places
        sign = -1.0 if latest else 1.0
        rank = np.zeros(len(places)) if score is None else -score[places]
        starts, instants = sign * self.starts[places], sign * self.instants[places]
        return places[np.lexsort((self.rows[places], starts, instants, rank))[:count]]


def holding(parts: Sequence[VisibleSegment], groups: Sequence[Sequence[str]]) -> Flags:
    """Whether each observation of the columns holds a term of each group: (groups, columns)."""
    terms = list(dict.fromkeys(term for group in groups for term in group))
    pieces = []
    for part in parts:
        postings = QueryPostings(part, terms)
        flags = np.zeros((len(groups), part.seen_count), dtype=bool)
        for group, members in enumerate(groups):
            for term in members:
                if term in postings.docs:
                    flags[group, part.ranks(postings.docs[term])] = True
        pieces.append(flags)
    return np.concatenate([np.zeros((len(groups), 0), dtype=bool), *pieces], axis=1)
