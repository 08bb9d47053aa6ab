"""Frames of remembered recordings, read from their files: a memory keeps none itself."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from egomem.errors import MediaError, UsageError
from egomem.media import Frame, frames
from egomem.memory.reader import MemoryReader
from egomem.records import Recording


def recorded_frames(
    store: MemoryReader, recording: str, times: Sequence[float], side: int | None = None
) -> Iterable[Frame]:
    """Frames of a recording at ascending `times` (s), their longest side in pixels `side`.

    Raises UsageError for a recording without a file, MediaError where the file is gone or another
    one lies in its place.
    """
    return frames(recorded_file(store, recording), times, side=side)


def recorded_file(store: MemoryReader, recording: str) -> Path:
    """The file of a recording. Errors as of `recorded_frames`."""
    remembered = store.recording(recording)
    if remembered is None or remembered.path is None:
        raise UsageError(f"the memory holds no video for the recording {recording}")
    path = Path(remembered.path)
    if not path.is_file():
        raise MediaError(
            f"the file of {remembered.name} is gone: there is no file {path}",
            "put it back, or ingest it from where it lies now",
        )
    _check_same_file(remembered, path)
    return path


def _check_same_file(recording: Recording, path: Path) -> None:
    """The size alone is compared: hashing hours of video would take longer than an answer."""
    size = recording.facts.get("bytes")
    if size is not None and path.is_file() and path.stat().st_size != size:
        raise MediaError(
            f"{path} is not the file that was remembered as {recording.name} any more",
            "ingest the right one from where it lies now",
        )
