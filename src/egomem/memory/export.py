"""Export a memory, or a part of it: WebVTT, SRT, JSON Lines, Parquet.

A Parquet file is complete (see `exported_memory`). The other formats hold what they can express.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryDirectory
from typing import Any, Literal, cast, get_args

from egomem.errors import StoreError, UsageError, reason
from egomem.media.cue import Cue
from egomem.media.subtitle_writer import write_srt, write_webvtt
from egomem.memory.exported_memory import write_exported_memory
from egomem.memory.view import View
from egomem.paths import file_name
from egomem.records import Observation, Record, Recording, Source
from egomem.timeline import format_instant

Format = Literal["webvtt", "srt", "jsonl", "parquet"]
FORMATS: tuple[Format, ...] = get_args(Format)


class ExportReport(Record):
    """What was written: the files, and the number of observations in them.

    `left_out` counts digests, which lie on no recording: subtitles have no place for them.
    """

    files: tuple[str, ...]
    observations: int
    left_out: int = 0


def export(
    view: View,
    target: str | Path,
    format: Format,
    *,
    sources: Iterable[str] | None = None,
    tracks: Iterable[str] | None = None,
) -> ExportReport:
    """Write what a view sees to `target`; an interrupted export leaves no partial file.

    JSON Lines and Parquet are one file. Subtitles are one file for each recording, in the folder
    `target`; with one recording, `target` may be a file. Raises UsageError, MissingExtraError for
    Parquet without pyarrow, StoreError where it cannot be written.
    """
    format = format_of(target, format)
    view = view.narrow(sources=None if sources is None else _known(sources), tracks=tracks)
    target = Path(target)
    try:
        if format == "jsonl":
            return _export_jsonl(view, target)
        if format == "parquet":
            with _whole(target) as part:
                count = write_exported_memory(view, _by_recording(view), part)
            return ExportReport(files=(str(target),), observations=count)
        return _export_subtitles(view, target, format)
    except OSError as error:
        raise StoreError(f"cannot write {target}: {reason(error)}") from None


_ENDINGS: dict[str, Format] = {
    ".vtt": "webvtt", ".srt": "srt", ".jsonl": "jsonl", ".parquet": "parquet",
}  # fmt: skip


def format_of(target: str | Path, name: str | None = None) -> Format:
    """The export format: the one named, else the one of the target's suffix. Raises UsageError."""
    format_name = name or _ENDINGS.get(Path(target).suffix.lower())
    for format in FORMATS:
        if format == format_name:
            return format
    what = f"cannot export as {name!r}" if name else f"{target} does not say its format"
    raise UsageError(what, f"give --format with one of: {', '.join(FORMATS)}")


def _known(sources: Iterable[str]) -> list[Source]:
    all_sources = get_args(Source)
    for source in (sources := list(sources)):
        if source not in all_sources:
            raise UsageError(f"{source!r} is not a source", f"known: {', '.join(all_sources)}")
    return cast(list[Source], sources)


@contextmanager
def _whole(path: Path) -> Iterator[Path]:
    """A temporary path whose contents become those of `path` once everything is written.

    Raises UsageError for a folder.
    """
    if path.is_dir():
        raise UsageError(f"{path} is a folder", "name a file in it")
    if path.exists() and not path.is_file():
        # A pipe or a device, such as /dev/stdout: a file in its place would break it for everybody.
        with TemporaryDirectory() as folder:
            yield (part := Path(folder) / "part")
            with part.open("rb") as source, path.open("wb") as sink:
                copyfileobj(source, sink)
        return
    path = path.resolve()  # a link stays one, and its file is replaced
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.part")
    try:
        yield part
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def _by_recording(view: View) -> Iterator[tuple[Recording | None, list[Observation]]]:
    """Every recording with its observations in time order, then the digests."""
    for recording in view.recordings():
        yield recording, view.observations(recording=recording.id)
    digests = view.observations(sources=["digest"])
    yield None, [o for o in digests if o.recording is None]


# -- subtitles -------------------------------------------------------------------------------------

_SUFFIX = {"webvtt": ".vtt", "srt": ".srt"}


def _export_subtitles(view: View, target: Path, format: Literal["webvtt", "srt"]) -> ExportReport:
    suffix = _SUFFIX[format]
    parts = [(r, observations) for r, observations in _by_recording(view) if observations]
    recordings = [(r, observations) for r, observations in parts if r is not None]
    left_out = sum(len(observations) for r, observations in parts if r is None)
    single = target.suffix.lower() == suffix
    if single and len(recordings) != 1:
        raise UsageError(
            f"{len(recordings)} recordings do not go into the one file {target}", "name a folder"
        )
    names = Counter(Path(r.name).stem for r, _ in recordings)
    names_used: set[str] = set()
    files, count = [], 0
    for recording, observations in recordings:
        stem = Path(recording.name).stem
        name = f"{stem}.{recording.id}" if names[stem] > 1 else stem
        path = target if single else target / f"{_unique_name(name, names_used)}{suffix}"
        cues = [_cue(o) for o in observations]
        text = (
            write_srt(cues)
            if format == "srt"
            else write_webvtt(cues, notes=_notes(recording, observations))
        )
        with _whole(path) as part:
            part.write_text(text, encoding="utf-8")
        files.append(str(path))
        count += len(observations)
    return ExportReport(files=tuple(files), observations=count, left_out=left_out)


def _cue(o: Observation) -> Cue:
    speaker = o.data.get("speaker")
    return Cue(
        o.span, o.text, str(speaker) if speaker is not None else None, id=f"{o.id} {o.track}"
    )


def _notes(recording: Recording, observations: Iterable[Observation]) -> list[str]:
    """The NOTE block of a WebVTT file: recording, start, tracks and provenance notes."""
    lines = [f"recording: {recording.id} {recording.name} of {recording.wearer}"]
    if recording.clock:
        lines.append(f"starts: {format_instant(recording.clock.start)}")
    lines.append("each cue is named by its observation's id and track")
    tracks = dict.fromkeys(o.track for o in observations)
    notes = dict.fromkeys(o.provenance.note for o in observations if o.provenance.note)
    return ["\n".join([*lines, *(f"track: {t}" for t in tracks), *(f"note: {n}" for n in notes)])]


def _unique_name(name: str, names_used: set[str]) -> str:
    """A file name that is not used yet, also where upper and lower case are one."""
    safe = unique = file_name(name, "recording")
    number = 2
    while unique.casefold() in names_used:
        unique, number = f"{safe}-{number}", number + 1
    names_used.add(unique.casefold())
    return unique


# -- JSON Lines ------------------------------------------------------------------------------------


def _export_jsonl(view: View, target: Path) -> ExportReport:
    count = 0
    with _whole(target) as part, part.open("w", encoding="utf-8") as file:
        for recording, observations in _by_recording(view):
            for o in observations:
                row = _row(view, recording, o)
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
                count += 1
    return ExportReport(files=(str(target),), observations=count)


def _row(view: View, recording: Recording | None, o: Observation) -> dict[str, Any]:
    when = view.when(o)
    row: dict[str, Any] = {"id": o.id, "video_id": o.recording}
    if recording is not None:
        row["name"] = recording.name
        row["duration"] = recording.duration
        row["recording_start"] = _zoned(recording.clock.start) if recording.clock else None
    return row | {
        "wearer": o.wearer,
        "start": o.span.start,
        "end": o.span.end,
        "when": format_instant(when) if when else None,
        "text": o.text,
        "source": o.source,
        "track": o.track,
        "data": o.data,
        "provenance": o.provenance.model_dump(mode="json", exclude_defaults=True),
    }


def _zoned(start: datetime) -> str:
    key = getattr(start.tzinfo, "key", None)
    return format_instant(start) + (f"[{key}]" if key else "")
