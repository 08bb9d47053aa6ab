"""`answers.jsonl` of a run: one line for each finished cell, on the disk as soon as it is there.

A file may end in a torn line, hold lines that some editor or disk made, or hold a cell twice: the
last good line of a cell counts, and lines that cannot be read are counted and told, never guessed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from pydantic import ValidationError

from egomem.errors import FullError
from egomem.evaluate.config import Column
from egomem.records import Answer, Record, Status, Usage

NAME = "answers.jsonl"

Key = tuple[str, Column]
"""A cell: a question's id and a column."""


class Finished(Record):
    """A cell's answer, with what it rests on.

    `parts` are hashes of the question, setting, prompt, model and memory that it was made from.
    `usage` is what the cell costs by itself: replies that came out of a cache count in full. `at`
    is when it was finished, `version` the egomem that did it.
    """

    question: str
    column: Column
    parts: dict[str, str]
    answer: Answer
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
    """The finished cells of one file. `unreadable` are the numbers of lines that are no cell."""

    path: Path
    cells: dict[Key, Finished] = field(default_factory=dict)
    unreadable: list[int] = field(default_factory=list)
    repeated: int = 0

    @classmethod
    def read(cls, folder: Path) -> Results:
        """What a run's folder holds; nothing where there is no file yet."""
        found = cls(folder / NAME)
        try:
            data = found.path.read_bytes()
        except FileNotFoundError:
            return found
        # By newline alone: other separators of Unicode may stand inside a text.
        for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
            if not line.strip():
                continue
            try:
                cell = Finished.model_validate_json(line)
            except (ValidationError, RecursionError):
                found.unreadable.append(number)
                continue
            found.repeated += cell.key in found.cells
            found.cells[cell.key] = cell
        return found

    def add(self, cell: Finished) -> None:
        """Append a cell; it is on the disk when this returns. Raises FullError."""
        stamped = cell.model_copy(
            update={
                "at": cell.at or datetime.now(UTC).isoformat(timespec="milliseconds"),
                "version": cell.version or version(),
            }
        )
        # As ASCII: no character of a reply can end the line for any reader.
        line = json.dumps(stamped.model_dump(mode="json"), ensure_ascii=True).encode() + b"\n"
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
            raise FullError(
                f"cannot write to {self.path}: {fault.strerror}",
                "nothing that was finished is lost; make room and run the same command again",
            ) from fault
        self.cells[stamped.key] = stamped

    def rewrite(self, cells: Iterable[Finished]) -> None:
        """Replace the file, all or nothing, by these cells."""
        part = self.path.with_suffix(".part")
        part.unlink(missing_ok=True)
        fresh = Results(part)
        part.touch()
        for cell in cells:
            fresh.add(cell)
        os.replace(part, self.path)
        self.cells = fresh.cells


def version() -> str:
    from importlib.metadata import version as installed

    return installed("egomem")
