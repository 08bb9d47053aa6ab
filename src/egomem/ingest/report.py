"""Progress and results of an ingest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from egomem.ingest.digests.build import DigestReport
from egomem.records import Record, Usage

FileStatus = Literal["done", "partial", "updated", "unchanged", "failed"]


class FileOutcome(Record):
    """Result of one file. `seconds` is the recording's duration, `observations` counts new ones.

    `partial`: some of it could not be used, as `faults` say; the same command again tries the
    unfinished parts. `updated`: its name, file or start changed, as `notes` say, and nothing was
    left to observe. `failed`: nothing of it was stored.
    """

    path: str
    status: FileStatus
    recording: str | None = None
    seconds: float = 0.0
    windows: int = 0
    observations: int = 0
    notes: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
    remedy: str = ""


class IngestReport(Record):
    """Results of all files, in the order given; `notes`, `usage` and `digests` are of the whole
    run."""

    outcomes: tuple[FileOutcome, ...]
    notes: tuple[str, ...] = ()
    usage: Usage = Usage()
    digests: DigestReport = DigestReport()

    @property
    def counts(self) -> dict[FileStatus, int]:
        return dict(Counter(outcome.status for outcome in self.outcomes))

    @property
    def faulty(self) -> tuple[FileOutcome, ...]:
        return tuple(o for o in self.outcomes if o.status in ("partial", "failed"))


Stage = Literal["reading", "listening", "following", "watching"]


@dataclass(frozen=True, slots=True)
class Step:
    """Progress: `done` of `total` seconds of a file's `stage`."""

    path: str
    stage: Stage
    done: float
    total: float


OnStep = Callable[[Step], None]
