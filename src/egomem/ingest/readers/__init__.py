"""Readers of existing captions and transcripts: any format -> rows -> observations."""

from egomem.ingest.readers.files import file_rows
from egomem.ingest.readers.rows import (
    FIELDS,
    ImportOptions,
    Row,
    RowReader,
    read_map,
    read_options,
)

__all__ = [
    "FIELDS",
    "ImportOptions",
    "Row",
    "RowReader",
    "file_rows",
    "read_map",
    "read_options",
]
