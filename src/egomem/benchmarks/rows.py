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

from egomem.benchmarks.benchmark import BenchmarkFault
from egomem.errors import EgomemError, MissingExtraError, UsageError, reason
from egomem.records import Question, Video

Fields = Mapping[str, Any]


class ParsedRow(NamedTuple):
    """A question or video, and the place of the row that it was made from."""

    item: Question | Video
    file: str
    line: int


LoadedItem = ParsedRow | Video | BenchmarkFault
"""What a format yields; a video that has no row of its own comes bare."""

JSON_LINES_ENDINGS = (".jsonl", ".ndjson")
FILE_ENDINGS = (*JSON_LINES_ENDINGS, ".json", ".csv", ".tsv", ".parquet")

_STRUCTURED_COLUMNS = ("options", "option", "choices", "candidates", "evidence", "tags")
"""Columns whose cells hold a list or a map; in CSV it is written as JSON or as Python does."""


class SourceRow(NamedTuple):
    """One row of a file: `fields`, or `fault` where it cannot be read."""

    file: str
    line: int
    fields: Fields
    fault: str = ""


class InvalidRowError(ValueError):
    """A row that cannot become a question; its text says why. Caught by `parse_rows`."""


def base_name(path: Path) -> str:
    """A file's name without `.gz`, in lower case."""
    return path.name.lower().removesuffix(".gz")


def read_rows(path: Path) -> Iterator[SourceRow]:
    """The rows of a file, each with its line (its number in a JSON list or Parquet file).

    A JSON object of objects gives one row for each key, which becomes the field `key`. Raises
    UsageError where the file as a whole cannot be read.
    """
    name = base_name(path)
    if name.endswith(".parquet"):
        yield from _parquet_rows(path)
    elif name.endswith(JSON_LINES_ENDINGS):
        yield from _json_lines(path)
    elif name.endswith((".csv", ".tsv")):
        yield from _csv_rows(path)
    else:
        yield from _json_rows(path)


def read_json(path: Path) -> Any:
    """A whole JSON file. Raises UsageError where it is not JSON."""
    try:
        return json.loads(_read_text(path))
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} is not JSON: {error}") from None


def parse_rows(
    rows: Iterator[SourceRow], make: Callable[[Fields], Question | Video], *, key: str = "id"
) -> Iterator[LoadedItem]:
    """What `make` returns for each row; a row that it cannot read becomes a fault by id and line.

    `key` is the field that holds a row's id.
    """
    for row in rows:
        if row.fault:
            yield BenchmarkFault(
                id="",
                kind="unreadable",
                message=row.fault,
                file=row.file,
                line=row.line,
                dropped=True,
            )
            continue
        try:
            yield ParsedRow(make(row.fields), row.file, row.line)
        except (InvalidRowError, ValidationError, EgomemError) as error:
            yield BenchmarkFault(
                id=str(row.fields.get(key) or ""),
                kind="row",
                message=_error_text(error),
                file=row.file,
                line=row.line,
                dropped=True,
            )


def _error_text(error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        place = ".".join(str(p) for p in first["loc"])
        return f"{place}: {first['msg']}" if place else first["msg"].removeprefix("Value error, ")
    return str(error)


def _open(path: Path) -> io.BufferedIOBase:
    return gzip.open(path) if path.name.lower().endswith(".gz") else path.open("rb")


def _read_text(path: Path) -> str:
    try:
        with _open(path) as file:
            # Editors on Windows write a byte-order mark, which is no JSON.
            return file.read().decode("utf-8-sig")
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise UsageError(
            f"{path} cannot be read: {reason(error)}", "check its permissions, or fetch it again"
        ) from None


def _json_lines(path: Path) -> Iterator[SourceRow]:
    # By newline alone: other characters that str.splitlines() cuts at may stand inside JSON.
    for number, line in enumerate(_read_text(path).split("\n"), 1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            yield SourceRow(path.name, number, {}, f"it is not JSON ({error})")
            continue
        if isinstance(value, dict):
            yield SourceRow(path.name, number, value)
        else:
            yield SourceRow(path.name, number, {}, "it is not a JSON object")


def _csv_rows(path: Path) -> Iterator[SourceRow]:
    """Rows of CSV, also with tabs or semicolons: cells may span lines; an empty one is None."""
    text = _read_text(path)
    header = text.partition("\n")[0]
    csv.field_size_limit(2**31 - 1)  # else one long cell hides the rest of the file
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=max(",\t;", key=header.count))
    try:
        for cells in reader:
            # The reader counts to the end of a row; a fault names where it begins.
            line = reader.line_num - sum(v.count("\n") for k, v in cells.items() if k and v)
            fields: dict[str, Any] = {k: _parse_cell(k, v) for k, v in cells.items() if k}
            fault = "it has more cells than the first line names" if None in cells else ""
            yield SourceRow(path.name, line, fields, fault)
    except csv.Error as error:
        raise UsageError(f"{path} cannot be read as CSV: {error}") from None


def _parse_cell(name: str, value: str | None) -> Any:
    if not value or name not in _STRUCTURED_COLUMNS or value.lstrip()[:1] not in ("[", "{"):
        return value or None
    # Data frames write lists into CSV as Python shows them, with single quotes.
    for read in (json.loads, ast.literal_eval):
        try:
            return read(value)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
    return value


def _json_rows(path: Path) -> Iterator[SourceRow]:
    document = read_json(path)
    if isinstance(document, dict):
        if not all(isinstance(value, dict) for value in document.values()):
            # Many releases wrap their rows: {"version": ..., "data": [...]}.
            lists = [value for value in document.values() if isinstance(value, list)]
            document = lists[0] if len(lists) == 1 else [document]
        else:
            document = [{"key": key, **value} for key, value in document.items()]
    if not isinstance(document, list):
        raise UsageError(f"{path} holds no rows")
    for number, value in enumerate(document, 1):
        if isinstance(value, dict):
            yield SourceRow(path.name, number, value)
        else:
            yield SourceRow(path.name, number, {}, "it is not a JSON object")


def _parquet_rows(path: Path) -> Iterator[SourceRow]:
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
                    yield SourceRow(path.name, number, {k: _as_json(v) for k, v in fields.items()})
    except (OSError, ValueError) as error:  # pyarrow's faults derive from ValueError
        raise UsageError(
            f"{path} cannot be read as Parquet: {reason(error)}", "fetch it again, or leave it out"
        ) from None


def _as_json(value: Any) -> Any:
    """As JSON would hold it: times as ISO 8601; bytes, such as a hub's media, are left behind."""
    match value:
        case list():
            return [_as_json(v) for v in value]
        case dict():
            return {k: _as_json(v) for k, v in value.items()}
        case date() | time():
            return value.isoformat()
        case Decimal():
            return float(value)
        case bytes():
            return None
    return value
