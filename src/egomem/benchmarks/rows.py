"""Files -> rows, whatever holds them: JSON Lines, JSON, CSV or Parquet, gzipped or not."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from egomem.benchmarks.benchmark import Fault
from egomem.errors import EgomemError, MissingExtraError, UsageError
from egomem.records import Question, Video

Fields = Mapping[str, Any]


class Placed(NamedTuple):
    """A question or video, and the row that it was made from."""

    made: Question | Video
    file: str
    line: int


Part = Placed | Video | Fault
"""What an adapter yields; a video that has no row of its own comes bare."""

ENDINGS = (".jsonl", ".ndjson", ".json", ".csv", ".parquet")


class Row(NamedTuple):
    """One row of a file: `fields`, or `fault` where it cannot be read."""

    file: str
    line: int
    fields: Fields
    fault: str = ""


class RowError(ValueError):
    """A row that cannot become a question; its text says why. Caught by `each`."""


def base(path: Path) -> str:
    """A file's name without `.gz`, in lower case."""
    return path.name.lower().removesuffix(".gz")


def rows(path: Path) -> Iterator[Row]:
    """The rows of a file, each with its line (its number in a JSON list or Parquet file).

    A JSON object of objects gives one row for each key, which becomes the field `key`. Raises
    UsageError where the file as a whole cannot be read.
    """
    name = base(path)
    if name.endswith(".parquet"):
        yield from _parquet(path)
    elif name.endswith((".jsonl", ".ndjson")):
        yield from _lines(path)
    elif name.endswith(".csv"):
        for number, fields in enumerate(csv.DictReader(io.StringIO(_text(path))), 2):
            yield Row(path.name, number, fields)
    else:
        yield from _entries(path)


def document(path: Path) -> Any:
    """A whole JSON file. Raises UsageError where it is not JSON."""
    try:
        return json.loads(_text(path))
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} is not JSON: {error}") from None


def each(
    found: Iterator[Row], make: Callable[[Fields], Question | Video], *, key: str = "id"
) -> Iterator[Part]:
    """What `make` gives for each row; a row that it cannot read becomes a fault by id and line."""
    for row in found:
        if row.fault:
            yield Fault(
                id="",
                kind="unreadable",
                message=row.fault,
                file=row.file,
                line=row.line,
                dropped=True,
            )
            continue
        try:
            yield Placed(make(row.fields), row.file, row.line)
        except (RowError, ValidationError, EgomemError) as error:
            yield Fault(
                id=str(row.fields.get(key) or ""),
                kind="row",
                message=_why(error),
                file=row.file,
                line=row.line,
                dropped=True,
            )


def _why(error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        place = ".".join(str(p) for p in first["loc"])
        return f"{place}: {first['msg']}" if place else first["msg"].removeprefix("Value error, ")
    return str(error)


def _open(path: Path) -> io.BufferedIOBase:
    return gzip.open(path) if path.name.lower().endswith(".gz") else path.open("rb")


def _text(path: Path) -> str:
    try:
        with _open(path) as file:
            return file.read().decode("utf-8-sig")
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from None


def _lines(path: Path) -> Iterator[Row]:
    # By newline alone: other characters that str.splitlines() cuts at may stand inside JSON.
    for number, line in enumerate(_text(path).split("\n"), 1):
        if not line.strip():
            continue
        try:
            held = json.loads(line)
        except (ValueError, RecursionError) as error:
            yield Row(path.name, number, {}, f"it is not JSON ({error})")
            continue
        if isinstance(held, dict):
            yield Row(path.name, number, held)
        else:
            yield Row(path.name, number, {}, "it is not a JSON object")


def _entries(path: Path) -> Iterator[Row]:
    held = document(path)
    if isinstance(held, dict):
        if not all(isinstance(value, dict) for value in held.values()):
            lists = [value for value in held.values() if isinstance(value, list)]
            held = lists[0] if len(lists) == 1 else [held]
        else:
            held = [{"key": key, **value} for key, value in held.items()]
    if not isinstance(held, list):
        raise UsageError(f"{path} holds no rows")
    for number, value in enumerate(held, 1):
        if isinstance(value, dict):
            yield Row(path.name, number, value)
        else:
            yield Row(path.name, number, {}, "it is not a JSON object")


def _parquet(path: Path) -> Iterator[Row]:
    try:
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtraError("pyarrow, which reads Parquet,", "parquet") from None
    number = 0
    try:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches():
                for fields in batch.to_pylist():
                    number += 1
                    yield Row(path.name, number, fields)
    except (OSError, ValueError) as error:  # pyarrow's faults derive from ValueError
        raise UsageError(f"{path} cannot be read as Parquet: {error}") from None
