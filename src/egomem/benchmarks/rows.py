"""Files -> rows, whatever holds them: JSON Lines, JSON, CSV, TSV or Parquet, gzipped or not."""

from __future__ import annotations

import ast
import csv
import gzip
import io
import json
from collections.abc import Callable, Iterator, Mapping
from datetime import date, time
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from egomem.benchmarks.benchmark import Fault
from egomem.errors import EgomemError, MissingExtraError, UsageError, reason
from egomem.records import Question, Video

Fields = Mapping[str, Any]


class Placed(NamedTuple):
    """A question or video, and the row that it was made from."""

    made: Question | Video
    file: str
    line: int


Part = Placed | Video | Fault
"""What an adapter yields; a video that has no row of its own comes bare."""

LINES = (".jsonl", ".ndjson")
ENDINGS = (*LINES, ".json", ".csv", ".tsv", ".parquet")

_STRUCTURED = ("options", "option", "choices", "candidates", "evidence", "tags")
"""Columns whose cells hold a list or a map; in CSV it is written out, as JSON or as Python does."""


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
    elif name.endswith(LINES):
        yield from _lines(path)
    elif name.endswith((".csv", ".tsv")):
        yield from _cells(path)
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
        raise UsageError(
            f"{path} cannot be read: {reason(error)}", "check its permissions, or fetch it again"
        ) from None


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


def _cells(path: Path) -> Iterator[Row]:
    """Rows of CSV, also with tabs or semicolons: cells may span lines; an empty one is None."""
    text = _text(path)
    header = text.partition("\n")[0]
    csv.field_size_limit(2**31 - 1)  # else one long cell hides the rest of the file
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=max(",\t;", key=header.count))
    try:
        for cells in reader:
            line = reader.line_num - sum(v.count("\n") for k, v in cells.items() if k and v)
            told: dict[str, Any] = {k: _cell(k, v) for k, v in cells.items() if k}
            fault = "it has more cells than the first line names" if None in cells else ""
            yield Row(path.name, line, told, fault)
    except csv.Error as error:
        raise UsageError(f"{path} cannot be read as CSV: {error}") from None


def _cell(name: str, value: str | None) -> Any:
    if not value or name not in _STRUCTURED or value.lstrip()[:1] not in ("[", "{"):
        return value or None
    for read in (json.loads, ast.literal_eval):
        try:
            return read(value)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
    return value


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
                    yield Row(path.name, number, {k: _plain(v) for k, v in fields.items()})
    except (OSError, ValueError) as error:  # pyarrow's faults derive from ValueError
        raise UsageError(
            f"{path} cannot be read as Parquet: {reason(error)}", "fetch it again, or leave it out"
        ) from None


def _plain(value: Any) -> Any:
    """As JSON would hold it: times as ISO 8601; bytes, such as a hub's media, are left behind."""
    match value:
        case list():
            return [_plain(v) for v in value]
        case dict():
            return {k: _plain(v) for k, v in value.items()}
        case date() | time():
            return value.isoformat()
        case Decimal():
            return float(value)
        case bytes():
            return None
    return value
