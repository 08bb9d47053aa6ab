"""`answers.jsonl` of a run: one line for each finished cell, on the disk as soon as it is there.

A file may end in a torn line, hold lines that some editor or disk made, or hold a cell twice: the
last good line of a cell counts, and lines that cannot be read are counted and told, never guessed.

While a run goes on, a line holds all of a cell, so that one write makes it durable. At its end the
file is put in order, question by question, and what was measured goes to `usage.jsonl`: two runs
that say the same then have the same bytes, in however many shards they were made.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from egomem.errors import FullError
from egomem.evaluate import usage_log
from egomem.evaluate.config import Arm
from egomem.records import Answer, Record, Status, Usage

NAME = "answers.jsonl"
UNREADABLE = "answers.unreadable"
"""Where lines that are no cell go when the file is put in order."""

Key = tuple[str, Arm]
"""A cell: a question's id and a column."""


class Finished(Record):
    """A cell's answer, with what it rests on.

    `parts` are hashes of the question, setting, prompt, model and memory that it was made from.
    `base` is the caption answer that a look at the frames started from, where no other cell holds
    it. `usage` is what the cell costs by itself: replies that came out of a cache count in full.
    `at` is when it was finished, `version` the egomem that did it.
    """

    question: str
    column: Arm
    parts: dict[str, str]
    answer: Answer
    base: Answer | None = None
    usage: Usage = Usage()
    at: str = ""
    version: str = ""

    @property
    def key(self) -> Key:
        return self.question, self.column

    @property
    def failed(self) -> bool:
        """An error is tried again by the next run; every other status is a result."""
        return self.answer.status is Status.ERROR


@dataclass
class Results:
    """The finished cells of one file. `unreadable` are the numbers of lines that are no cell,
    `unmeasured` counts cells whose line in usage.jsonl is lost.

    `measures` holds what each cell took, also of answers that others have replaced since: their
    replies may still be cached.
    """

    path: Path
    cells: dict[Key, Finished] = field(default_factory=dict)
    unreadable: list[int] = field(default_factory=list)
    repeated: int = 0
    unmeasured: int = 0
    measures: dict[tuple[Key, str], Mapping[str, Any]] = field(default_factory=dict)
    _lost: list[bytes] = field(default_factory=list)
    _loose: bool = False

    @classmethod
    def read(cls, folder: Path) -> Results:
        """What a run's folder holds; nothing where there is no file yet."""
        found = cls(folder / NAME)
        for line in _lines(folder / usage_log.NAME):
            found._recall(line)
        for number, line in enumerate(_lines(found.path), 1):
            if not line.strip():
                continue
            try:
                cell = Finished.model_validate_json(line)
            except (ValidationError, RecursionError):
                found.unreadable.append(number)
                found._lost.append(line)
                continue
            found.repeated += cell.key in found.cells
            found.cells[cell.key] = found._whole(cell)
        found._loose |= bool(found.unreadable or found.repeated)
        return found

    def measure(self, key: Key, parts: Mapping[str, str]) -> Mapping[str, Any] | None:
        """What a cell of these parts took when it was answered; None where it never was."""
        return self.measures.get((key, usage_log.packed(sorted(parts.items()))))

    def add(self, cell: Finished) -> None:
        """Append a cell; it is on the disk when this returns. Raises FullError."""
        stamped = cell.model_copy(
            update={
                "at": cell.at or datetime.now(UTC).isoformat(timespec="milliseconds"),
                "version": cell.version or version(),
            }
        )
        line = usage_log.packed(stamped.model_dump(mode="json")).encode() + b"\n"
        try:
            handle = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
            try:
                size = os.fstat(handle).st_size
                if size and os.pread(handle, 1, size - 1) != b"\n":
                    line = b"\n" + line  # a torn line stays alone
                written = os.write(handle, line)
                if written != len(line):
                    raise OSError(28, "No space left on device")
                os.fsync(handle)
            finally:
                os.close(handle)
        except OSError as fault:
            raise _full(self.path, fault) from fault
        self.put(stamped)

    def put(self, cell: Finished) -> None:
        """Hold a cell that is not in the file, or not in its place there; `settle` writes it."""
        self.cells[cell.key] = cell
        self._note(cell)
        self._loose = True

    def settle(self, order: Iterable[Key]) -> None:
        """Put the file in order: these cells first, then what else there is; all or nothing.

        What was measured goes to usage.jsonl, and lines that are no cell to answers.unreadable.
        Raises FullError.
        """
        wanted = [key for key in order if key in self.cells]
        known = set(wanted)
        keys = [*wanted, *(key for key in self.cells if key not in known)]
        if keys == list(self.cells) and not self._loose:
            return
        cells = {key: self.cells[key] for key in keys}
        current = {_place(cell): self.measures[_place(cell)] for cell in cells.values()}
        earlier = {place: row for place, row in self.measures.items() if place not in current}
        if self._lost:
            torn = self.path.with_name(UNREADABLE)
            held = torn.read_bytes() if torn.exists() else b""
            _replace(torn, [held, *(line + b"\n" for line in self._lost)])
        rows = [*current.values(), *earlier.values()]
        usage = self.path.with_name(usage_log.NAME)
        _replace(usage, (usage_log.packed(row).encode() + b"\n" for row in rows))
        _replace(self.path, (_said(cell) for cell in cells.values()))
        self.cells = cells
        self._lost, self._loose = [], False

    def _whole(self, cell: Finished) -> Finished:
        """A cell with what was measured of it, which a file in order keeps apart."""
        if cell.at:
            self._note(cell)
            self._loose = True
            return cell
        row = self.measures.get(_place(cell))
        if row is None:
            self.unmeasured += 1
            self._note(cell)
            return cell
        base = cell.base and usage_log.put_back(cell.base, row.get("base") or {})
        return cell.model_copy(
            update={
                "at": str(row["at"]),
                "usage": Usage.model_validate(row["usage"]),
                "answer": usage_log.put_back(cell.answer, row["answer"]),
                "base": base,
            }
        )

    def _note(self, cell: Finished) -> None:
        self.measures[_place(cell)] = {
            "question": cell.question,
            "column": cell.column.model_dump(mode="json"),
            "parts": cell.parts,
            "at": cell.at,
            "usage": cell.usage.model_dump(mode="json"),
            "answer": usage_log.taken_out(cell.answer),
            "base": usage_log.taken_out(cell.base) if cell.base else None,
            "keys": usage_log.keys_of(cell.answer, cell.base),
        }

    def _recall(self, line: bytes) -> None:
        """A line of usage.jsonl; one that is damaged leaves its cell unmeasured."""
        try:
            row = json.loads(line)
            key = str(row["question"]), Arm.model_validate(row["column"])
            parts = usage_log.packed(sorted(row["parts"].items()))
            Usage.model_validate(row["usage"])
            str(row["at"]), row["answer"]["usage"], list(row["keys"])
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            return
        self.measures[key, parts] = row


def _place(cell: Finished) -> tuple[Key, str]:
    return cell.key, usage_log.packed(sorted(cell.parts.items()))


def _said(cell: Finished) -> bytes:
    held = cell.model_dump(mode="json", exclude={"at", "usage", "answer", "base"})
    held["answer"] = usage_log.without(cell.answer)
    if cell.base is not None:
        held["base"] = usage_log.without(cell.base)
    return usage_log.packed(held).encode() + b"\n"


def _lines(path: Path) -> Sequence[bytes]:
    """By newline alone: other separators of Unicode may stand inside a text."""
    try:
        return path.read_bytes().removeprefix(b"\xef\xbb\xbf").split(b"\n")
    except FileNotFoundError:
        return ()


def _replace(path: Path, lines: Iterable[bytes]) -> None:
    """Write a file anew, all or nothing."""
    part = path.with_name(path.name + ".part")
    try:
        with part.open("wb") as file:
            file.writelines(lines)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except OSError as fault:
        raise _full(path, fault) from fault


def _full(path: Path, fault: OSError) -> FullError:
    return FullError(
        f"cannot write to {path}: {fault.strerror}",
        "nothing that was finished is lost; make room and run the same command again",
    )


def version() -> str:
    from importlib.metadata import version as installed

    return installed("egomem")
