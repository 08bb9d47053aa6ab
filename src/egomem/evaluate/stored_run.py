"""What a run has stored, as values: its answers, their measures, and the usage of its captions.

`run_db` reads and writes it in `run.db`; `legacy_run` reads it out of folders of earlier versions.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from pydantic import ConfigDict, Field

from egomem.evaluate.config import Arm
from egomem.evaluate.measures import ascii_json, measures_of, reply_keys
from egomem.records import Answer, Record, Status, Usage

TrialKey = tuple[str, Arm]
"""A trial: a question's id and an arm."""

Place = tuple[TrialKey, str]
"""A trial and what its answer rests on, see `place`."""


class Finished(Record):
    """A trial's answer, with what it rests on.

    `parts` are hashes of the question, setting, prompt, model and memory that it was made from.
    `base` is the caption answer that a look at the frames started from, where no other trial has
    it. `usage` is what the trial costs by itself: replies that came out of a cache count in full.
    `at` is when it was finished, `version` the egomem that did it. `at` is "" where what was
    measured of it is lost.
    """

    model_config = ConfigDict(populate_by_name=True)

    question: str
    # Stored runs of earlier releases, and programs that read `answers.jsonl`, call it "column".
    arm: Arm = Field(alias="column")
    parts: dict[str, str]
    answer: Answer
    base: Answer | None = None
    usage: Usage = Usage()
    at: str = ""
    version: str = ""

    @property
    def key(self) -> TrialKey:
        return self.question, self.arm

    @property
    def failed(self) -> bool:
        """An error is tried again by the next run; every other status is a result."""
        return self.answer.status is Status.ERROR


class EarlierMeasures(NamedTuple):
    """What was measured of an answer that another one has replaced since: its replies may still be
    cached. The last four are JSON."""

    key: TrialKey
    parts: dict[str, str]
    at: str
    usage: str
    answer: str
    base: str | None
    reply_keys: str


@dataclass
class StoredRun:
    """The answers of a run in their order, measures of replaced answers, and caption usage by the
    key of its request.

    Of a folder of an earlier version, `unreadable` are the numbers of lines in `answers.jsonl` that
    are no answer, and `unreadable_lines` those lines.
    """

    cells: dict[TrialKey, Finished] = field(default_factory=dict)
    earlier: dict[Place, EarlierMeasures] = field(default_factory=dict)
    caption_usage: dict[str, Usage] = field(default_factory=dict)
    unreadable: tuple[int, ...] = ()
    unreadable_lines: tuple[bytes, ...] = ()

    @property
    def unmeasured(self) -> int:
        """How many answers have lost what was measured of them."""
        return sum(not cell.at for cell in self.cells.values())

    def reply_keys(self, key: TrialKey, parts: Mapping[str, str]) -> list[str]:
        """The cache keys of a trial's requests, where it was ever answered with these parts."""
        cell = self.cells.get(key)
        if cell is not None and cell.parts == parts:
            return reply_keys(cell.answer, cell.base)
        row = self.earlier.get(place(key, parts))
        keys: list[str] = json.loads(row.reply_keys) if row else []
        return keys


def place(key: TrialKey, parts: Mapping[str, str]) -> Place:
    """A trial with its parts, as a key that does not depend on their order."""
    return key, ascii_json(sorted(parts.items()))


def earlier_measures(cell: Finished) -> EarlierMeasures:
    """What was measured of an answer, as it is kept when the answer is replaced."""
    return EarlierMeasures(
        key=cell.key,
        parts=cell.parts,
        at=cell.at,
        usage=ascii_json(cell.usage.model_dump(mode="json")),
        answer=ascii_json(measures_of(cell.answer)),
        base=ascii_json(measures_of(cell.base)) if cell.base else None,
        reply_keys=ascii_json(reply_keys(cell.answer, cell.base)),
    )
