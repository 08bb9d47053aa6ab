"""The ledger of requests: usage and cost per role, recording and question."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from egomem.models.roles import Role
from egomem.records import Record, Status, Usage


class LedgerEntry(Record):
    """One request, with all its HTTP attempts. A reply from the cache has `cached` set and a usage
    of zero: it cost nothing. `estimate` (US dollars) stands for the attempts of unknown cost."""

    role: Role
    model: str
    recording: str | None = None
    question: str | None = None
    status: Status
    cached: bool = False
    usage: Usage = Usage()
    estimate: float | None = None


class LedgerTotal(NamedTuple):
    """`asked` counts requests, `cached` those answered from the cache, `failed` the errors.

    `unpriced` counts HTTP attempts whose cost is not known: the cost does not include them;
    `estimated` is our estimate of theirs, in US dollars. `usage.requests` counts all attempts.
    """

    asked: int
    cached: int
    failed: int
    unpriced: int
    usage: Usage
    estimated: float = 0.0


class Ledger:
    """The entries of one client, in the order of their requests."""

    def __init__(self) -> None:
        self.entries: list[LedgerEntry] = []

    def add(self, entry: LedgerEntry) -> None:
        """Append an entry."""
        self.entries.append(entry)

    def total(
        self, *, role: Role | None = None, recording: str | None = None, question: str | None = None
    ) -> LedgerTotal:
        """The total over all requests, or over those of a role, a recording or a question."""
        return sum_entries(
            e
            for e in self.entries
            if (role is None or e.role is role)
            and (recording is None or e.recording == recording)
            and (question is None or e.question == question)
        )

    def by_role(self) -> dict[Role, LedgerTotal]:
        """The total of each role that was asked."""
        return {role: self.total(role=role) for role in sorted({e.role for e in self.entries})}


def sum_entries(entries: Iterable[LedgerEntry]) -> LedgerTotal:
    """The total over entries."""
    asked = cached = failed = unpriced = 0
    estimated = 0.0
    usage = Usage()
    for entry in entries:
        asked += 1
        cached += entry.cached
        failed += entry.status is Status.ERROR
        unpriced += entry.usage.without_price
        estimated += entry.estimate or 0.0
        usage += entry.usage
    return LedgerTotal(asked, cached, failed, unpriced, usage, estimated)
