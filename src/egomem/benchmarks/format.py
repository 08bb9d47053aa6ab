"""What the plug-in of a benchmark format declares.

A format says by what its files are recognised, how they are read, and what its fields mean; nothing
outside asks for a format by name. Another package adds one by an entry point:

    # my_package/quizzes.py
    FORMAT = BenchmarkFormat(name="quizzes", summary="Quizzes", detect=detect, read=read, ...)

    # pyproject.toml
    [project.entry-points."egomem.benchmarks"]
    quizzes = "my_package.quizzes:FORMAT"
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, tzinfo
from pathlib import Path
from typing import Any, Literal

from egomem.benchmarks.rows import Fields, LoadedItem
from egomem.records import Answer, Question

Holds = Literal["id", "video", "question", "options", "answer", "time", "evidence", "tag", "fact"]
"""What a field is read as; "fact" is something about the video."""


@dataclass(frozen=True, slots=True)
class FormatField:
    """A field of a row: what it holds and means, and the value that it has in a minimal file.

    A row without a `required` field is a fault.
    """

    name: str
    holds: Holds
    meaning: str
    example: Any = None
    required: bool = False


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """What a user states beside the files.

    `zone` and `day_one` place numbered days on the calendar; `frame_base` is how many to a second
    the last two digits of a time such as 11210217 count; None: the file's times tell it.
    """

    zone: tzinfo | None = None
    day_one: date | None = None
    frame_base: int | None = None


@dataclass(frozen=True, slots=True)
class Submission:
    """The form in which answers to this benchmark are handed in.

    `read_entry` gives the rows of predictions in one entry of such a file, or None where the entry
    is of another form; a map of id to answer is read without it. `document` gives the JSON value of
    a whole file of answers that have a choice, in the order of the questions.
    """

    summary: str
    read_entry: Callable[[Any], list[dict[str, Any]] | None] | None = None
    document: Callable[[Sequence[tuple[Question, Answer]]], Any] | None = None


@dataclass(frozen=True, slots=True)
class BenchmarkFormat:
    """A format of benchmark files.

    `detect` says whether a row is in this format; where several formats detect a row, those of the
    highest `priority` count. `read` turns files into questions, videos and faults, in order.
    `companions`: how the names of files begin that belong to the questions and are not detected by
    their rows. `published`: number of questions by split, as the authors state it.
    `states_media_licences`: videos without a licence are a fault, as rows have a place for it.
    """

    name: str
    summary: str
    detect: Callable[[Fields], bool]
    read: Callable[[Sequence[Path], ReadOptions], Iterator[LoadedItem]]
    fields: tuple[FormatField, ...]
    priority: int = 0
    companions: tuple[str, ...] = ()
    licence: str = ""
    published: Mapping[str, int] = field(default_factory=dict)
    submission: Submission | None = None
    states_media_licences: bool = False

    def sample_rows(self, count: int = 3) -> list[dict[str, Any]]:
        """Rows of a minimal file, made from the examples of the fields; no two are alike."""
        rows = []
        for number in range(count):
            row = {f.name: f.example for f in self.fields if f.example is not None}
            for f in self.fields:
                if f.holds in ("id", "question") and f.name in row:
                    row[f.name] = f"{f.example}{number}"
            rows.append(row)
        return rows
