"""Readers of existing captions and transcripts: any format -> rows -> observations."""

from egomem.ingest.readers.files import file_rows
from egomem.ingest.readers.options import FIELDS, ImportOptions, read_map, read_options
from egomem.ingest.readers.rows import Row, RowReader

__all__ = [
    "FIELDS",
    "ImportOptions",
    "Row",
    "RowReader",
    "file_rows",
    "read_map",
    "read_options",
]
