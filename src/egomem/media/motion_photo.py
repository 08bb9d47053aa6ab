"""The moving part of a motion photo: a short MP4 behind the picture in one JPEG file.

Pixel (`PXL_...MP.jpg`, `MVIMG_...jpg`) and Samsung phones write them so.
"""

from __future__ import annotations

import io
import os
from pathlib import Path

MAX_BYTES = 64 << 20
"""A file beyond this size is no photo."""

_BOX = b"ftyp"
_END_OF_PICTURE = b"\xff\xd9"


class FileTail(io.RawIOBase):
    """A file from an offset on, as a file of its own; for reading."""

    def __init__(self, path: Path, offset: int) -> None:
        self._file = path.open("rb")
        self._offset = offset
        self._file.seek(offset)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        return self._file.readinto(buffer)

    def seek(self, position: int, whence: int = os.SEEK_SET) -> int:
        start = self._offset if whence == os.SEEK_SET else 0
        return self._file.seek(start + position, whence) - self._offset

    def tell(self) -> int:
        return self._file.tell() - self._offset

    def close(self) -> None:
        self._file.close()
        super().close()


def moving_part(path: Path) -> int | None:
    """Where the video of a motion photo begins in its file; None where a file is none."""
    if path.suffix.lower() not in (".jpg", ".jpeg") or path.stat().st_size > MAX_BYTES:
        return None
    content = path.read_bytes()
    if not content.startswith(b"\xff\xd8"):
        return None
    # The box's length stands before its name; "ftyp" inside of the picture is chance.
    place = content.find(_BOX, content.find(_END_OF_PICTURE))
    while place >= 4:
        length = int.from_bytes(content[place - 4 : place], "big")
        if 8 <= length <= 256:
            return place - 4
        place = content.find(_BOX, place + 4)
    return None
