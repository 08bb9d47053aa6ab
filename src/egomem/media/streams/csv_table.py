"""Tables of numbers in text files, read in stretches: CSV and its kin, also gzipped.

A stretch without a fault is converted by pyarrow where that is installed, by numpy otherwise; only
a stretch in which they meet something else is read row by row, so that the fault gets its line.
"""

from __future__ import annotations

import csv
import gzip
import io
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np

from egomem.errors import MediaError, reason
from egomem.extras import are_installed
from egomem.media.streams.problems import ProblemLog
from egomem.media.streams.samples import Values
from egomem.media.streams.time_text import posix_seconds

STRETCH_BYTES = 4 << 20
"""Bytes of text that are converted at once."""

MAX_HEADER_BYTES = 1 << 20
"""A header ends within this; a file without a line end up to here is no table."""

EMPTY = ("", "nan", "NaN", "NAN", "null", "NULL", "NA", "N/A", "None", "none", "-", "--")
"""Fields that stand for no value."""

_DELIMITERS = (",", ";", "\t", "|", " ")


@dataclass(frozen=True, slots=True)
class CsvHeader:
    """How a table is written.

    `names`: the columns as written. `delimiter`: that of the rows. `lines`, `size`: lines and bytes
    before the first row. `first`: the fields of the first row, empty where there is none.
    `decimal_comma`: numbers are written as 0,5. `note`: a line on what is odd; "" where nothing is.
    """

    names: tuple[str, ...]
    delimiter: str
    lines: int
    size: int
    first: tuple[str, ...] = ()
    decimal_comma: bool = False
    note: str = ""


def open_text(path: Path) -> BinaryIO:
    """The bytes of a file, unpacked where it is gzipped."""
    with path.open("rb") as file:
        is_gzip = file.read(2) == b"\x1f\x8b"
    return cast(BinaryIO, gzip.open(path, "rb")) if is_gzip else path.open("rb")


def read_header(path: Path) -> CsvHeader:
    """The header of a table. Raises MediaError where the file cannot be read or is no table."""
    try:
        with open_text(path) as file:
            begin = file.read(MAX_HEADER_BYTES)
    except (OSError, EOFError, gzip.BadGzipFile) as error:
        raise MediaError(
            f"{path} cannot be read: {reason(error)}", "check the path and its permissions"
        ) from None
    if not begin.strip():
        raise MediaError(f"{path.name} is empty", "export it again")
    if begin.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise MediaError(f"{path.name} is UTF-16 text", "save it as UTF-8")
    if b"\0" in begin[:4096]:
        raise MediaError(f"{path.name} is no text file", "name a CSV file with a header line")
    start = 3 if begin.startswith(b"\xef\xbb\xbf") else 0
    lines = begin[start:].splitlines(keepends=True)
    number, size = 0, start
    header = b""
    for number, line in enumerate(lines, 1):
        size += len(line)
        # A comment line before the columns is passed over; the last one may be the header itself,
        # as trajectories of the TUM form write it.
        header = line
        following = lines[number] if number < len(lines) else b""
        if line.strip() and not (line.lstrip().startswith((b"#", b"%")) and not _is_row(following)):
            break
    text = header.decode("utf-8", "replace").strip().lstrip("#%").strip()
    delimiter = next((d for d in _DELIMITERS if d in text), ",")
    names = tuple(field.strip() for field in _split(text, delimiter))
    first_line = next((line for line in lines[number:] if line.strip()), b"")
    first_text = first_line.decode("utf-8", "replace").strip()
    row_delimiter = delimiter
    note = ""
    if first_text and len(_split(first_text, delimiter)) < len(names):
        others = (d for d in _DELIMITERS if len(_split(first_text, d)) == len(names))
        if (other := next(others, None)) is not None and len(names) > 1:
            row_delimiter = other
            note = f"its header is separated by {delimiter!r}, its rows by {other!r}"
    return CsvHeader(
        names=names,
        delimiter=row_delimiter,
        lines=number,
        size=size,
        first=tuple(_split(first_text, row_delimiter)) if first_text else (),
        decimal_comma=row_delimiter in ";\t|" and _has_decimal_comma(first_text, row_delimiter),
        note=note,
    )


def _values(column: Any) -> Values:
    """A column of doubles as an array, NaN for nulls. (pyarrow's own way imports pandas.)"""
    array = column.combine_chunks()
    if array.null_count:
        array = array.fill_null(math.nan)
    values = np.frombuffer(array.buffers()[1], dtype=np.float64)
    return values[array.offset : array.offset + len(array)]


def _is_row(line: bytes) -> bool:
    """Whether a line begins with a number or a date, as rows do."""
    begin = line.lstrip()[:1]
    return begin.isdigit() or begin in (b"-", b"+", b".")


def _has_decimal_comma(line: str, delimiter: str) -> bool:
    return "," in line and "." not in line.replace("...", "")


def _split(line: str, delimiter: str) -> list[str]:
    if delimiter == " ":
        return line.split()
    row = next(csv.reader([line], delimiter=delimiter, skipinitialspace=True), [])
    return [field.strip() for field in row]


def value_stretches(
    path: Path,
    header: CsvHeader,
    columns: Sequence[int],
    problems: ProblemLog,
    *,
    instants: int | None = None,
) -> Iterator[list[Values]]:
    """Yield the named columns, in their order, as arrays of equal length, a stretch at a time.

    `columns` are indexes of `header.names`; `instants` is one of them that holds dates and times
    (ISO 8601), which become POSIX seconds. A field without a number is NaN. A row whose fields do
    not fit the header is left out. Raises MediaError where the file ends in the middle of its gzip
    stream or cannot be read.
    """
    line = header.lines + 1
    parse = _Parser(header, tuple(columns), instants)
    try:
        with open_text(path) as file:
            file.read(header.size)
            for text in _whole_lines(file, path):
                yield parse.stretch(text, line, problems)
                line += text.count(b"\n")
    except (OSError, EOFError) as error:
        # What came before the damage was yielded and counts.
        problems.add(f"the file ends in damage ({reason(error)})", line=line)


def _whole_lines(file: BinaryIO, path: Path) -> Iterator[bytes]:
    """Stretches of a file that end with a line."""
    rest = b""
    while block := file.read(STRETCH_BYTES):
        end = block.rfind(b"\n") + 1
        if not end:
            rest += block
            if len(rest) > 4 * STRETCH_BYTES:
                raise MediaError(f"{path.name} has lines without an end", "is it a table?")
            continue
        yield rest + block[:end]
        rest = block[end:]
    if rest:
        yield rest


@dataclass(slots=True)
class _Parser:
    header: CsvHeader
    columns: tuple[int, ...]
    instants: int | None

    def stretch(self, text: bytes, line: int, problems: ProblemLog) -> list[Values]:
        """The columns of a stretch that begins at a line."""
        is_plain = self.instants is None and self.header.delimiter != " "
        converted = text.replace(b",", b".") if self.header.decimal_comma else text
        if is_plain and are_installed("pyarrow"):
            values = self._by_pyarrow(converted)
        elif is_plain:
            values = self._by_numpy(converted)
        else:
            values = None
        return self._by_row(text, line, problems) if values is None else values

    def _by_pyarrow(self, text: bytes) -> list[Values] | None:
        import pyarrow
        from pyarrow import csv as arrow

        names = [str(index) for index in range(len(self.header.names))]
        wanted_names = [str(index) for index in self.columns]
        try:
            table = arrow.read_csv(
                pyarrow.BufferReader(text),
                arrow.ReadOptions(use_threads=False, column_names=names, block_size=len(text) + 1),
                arrow.ParseOptions(delimiter=self.header.delimiter),
                arrow.ConvertOptions(
                    include_columns=wanted_names,
                    column_types=dict.fromkeys(wanted_names, pyarrow.float64()),
                    null_values=list(EMPTY),
                ),
            )
        except pyarrow.ArrowInvalid:
            return None
        return [_values(table.column(name)) for name in wanted_names]

    def _by_numpy(self, text: bytes) -> list[Values] | None:
        count = text.count(b"\n") + (not text.endswith(b"\n"))
        delimiter = self.header.delimiter.encode()
        # numpy takes rows with more fields than the header, and no empty fields.
        if b'"' in text or text.count(delimiter) != count * (len(self.header.names) - 1):
            return None
        try:
            table = np.loadtxt(
                io.BytesIO(text),
                delimiter=self.header.delimiter,
                usecols=self.columns,
                ndmin=2,
                comments=None,
            )
        except ValueError:
            return None
        return list(table.T)

    def _by_row(self, text: bytes, line: int, problems: ProblemLog) -> list[Values]:
        names = self.header.names
        rows: list[list[float]] = []
        for offset, raw in enumerate(text.decode("utf-8", "replace").split("\n")):
            if not raw.strip() or raw.lstrip().startswith(("#", "%")):
                continue
            number = line + offset
            try:
                fields = _split(raw.rstrip("\r"), self.header.delimiter)
            except csv.Error:
                problems.add("a row that cannot be read", line=number)
                continue
            while len(fields) > len(names) and not fields[-1]:
                fields.pop()
            if tuple(fields) == names:
                problems.add("the header stands between the rows again", line=number)
            elif len(fields) < len(names):
                problems.add(f"a row with fewer than {len(names)} fields", line=number)
            elif len(fields) > len(names):
                problems.add(f"a row with more than {len(names)} fields", line=number)
            else:
                rows.append([self._value(fields, i, number, problems) for i in self.columns])
        table = np.array(rows, dtype=np.float64).reshape(len(rows), len(self.columns))
        return list(table.T)

    def _value(self, fields: list[str], index: int, line: int, problems: ProblemLog) -> float:
        field = fields[index]
        if field in EMPTY:
            return math.nan
        if index == self.instants:
            seconds = posix_seconds(field)
            if seconds is None:
                problems.add(
                    f"no date and time in the column {self.header.names[index]}", line=line
                )
            return math.nan if seconds is None else seconds
        try:
            if "_" in field:  # Python takes 1_000 for a number
                raise ValueError
            return float(field.replace(",", ".") if self.header.decimal_comma else field)
        except ValueError:
            problems.add(f"no number in the column {self.header.names[index]}", line=line)
            return math.nan
