"""Export a memory, or a part of it: WebVTT, SRT, JSON Lines, Parquet.

A Parquet file is complete: imported again, it is the same memory (ids, recordings with their
clocks, tracks, finished work). The other formats hold what they can express.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any, Literal, cast, get_args

from egomem.errors import MediaError, MissingExtraError, StoreError, TimeError, UsageError, reason
from egomem.media.cue import Cue
from egomem.media.subtitle_writer import write_srt, write_webvtt
from egomem.memory.reader import Completed
from egomem.memory.store import Store
from egomem.memory.view import View, view_of
from egomem.paths import file_name
from egomem.records import Observation, Provenance, Record, Recording, Source, Track
from egomem.timeline import Clock, Span, format_instant, zone_of

Format = Literal["webvtt", "srt", "jsonl", "parquet"]
FORMATS: tuple[Format, ...] = get_args(Format)

FORMAT_VERSION = 1
"""The form of an exported Parquet file; a newer one is refused by an older egomem."""

_KEY = b"egomem"
_BATCH = 5000


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
            return _export_parquet(view, target)
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
    """A temporary path that replaces `path` once everything is written."""
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


# -- Parquet ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ExportedMemory:
    """Contents of an exported Parquet file; `observations` can be iterated once."""

    recordings: tuple[Recording, ...]
    tracks: tuple[Track, ...]
    done: tuple[Completed, ...]
    observations: Iterator[Observation]


def _export_parquet(view: View, target: Path) -> ExportReport:
    pyarrow, parquet = _pyarrow()
    text = pyarrow.string()
    schema = pyarrow.schema(
        [("id", text), ("recording", text), ("wearer", text)]
        + [("start", pyarrow.float64()), ("end", pyarrow.float64())]
        + [("when", pyarrow.timestamp("us", tz="UTC"))]
        + [(name, text) for name in ("text", "source", "track", "data", "provenance")]
    )
    store, count = view.store, 0
    track_ids: set[str] = set()
    with (
        _whole(target) as part,
        parquet.ParquetWriter(part, schema, compression="zstd") as writer,
    ):
        for _, observations in _by_recording(view):
            for at in range(0, len(observations), _BATCH):
                rows = [_columns(view, o) for o in observations[at : at + _BATCH]]
                writer.write_table(pyarrow.Table.from_pylist(rows, schema))
            count += len(observations)
            track_ids |= {o.track for o in observations}
        recordings = view.recordings()
        # What is finished, and a track that nothing was observed on yet, are only true of a memory
        # that is whole: a part of it, or its past, knew less.
        whole = count == view_of(store).count() and recordings == store.recordings()
        done = [d for r in recordings for d in sorted(store.completed(r.id))] if whole else []
        tracks = [t for t in store.tracks() if whole or t.id in track_ids]
        head = {
            "form": FORMAT_VERSION,
            "recordings": [_to_json(r) for r in recordings],
            "tracks": [t.model_dump(mode="json") for t in tracks],
            "done": done,
        }
        writer.add_key_value_metadata({_KEY: json.dumps(head, ensure_ascii=False)})
    return ExportReport(files=(str(target),), observations=count)


def _columns(view: View, o: Observation) -> dict[str, Any]:
    return {
        "id": o.id,
        "recording": o.recording,
        "wearer": o.wearer,
        "start": o.span.start,
        "end": o.span.end,
        "when": view.when(o),
        "text": o.text,
        "source": o.source,
        "track": o.track,
        "data": json.dumps(o.data, ensure_ascii=False),
        "provenance": json.dumps(
            o.provenance.model_dump(mode="json", exclude_defaults=True), ensure_ascii=False
        ),
    }


def read_exported_memory(path: str | Path) -> ExportedMemory | None:
    """Read a Parquet file that `export` wrote; None for any other file.

    Raises UsageError where a newer egomem wrote it, MissingExtraError without pyarrow, and
    MediaError where the file is damaged or (during iteration) an observation does not match its id.
    """
    path = Path(path)
    with path.open("rb") as file:
        if file.read(4) != b"PAR1":
            return None
    _, parquet = _pyarrow()
    try:
        file = parquet.ParquetFile(path)
    except Exception as error:
        raise MediaError(f"{path} is not a Parquet file: {reason(error)}") from None
    head = (file.metadata.metadata or {}).get(_KEY)
    if head is None:
        file.close()
        return None
    contents = json.loads(head)
    if contents["form"] > FORMAT_VERSION:
        raise UsageError(
            f"{path} was written by a newer egomem", "run: pip install --upgrade egomem"
        )
    return ExportedMemory(
        recordings=tuple(_from_json(r) for r in contents["recordings"]),
        tracks=tuple(Track.model_validate(t) for t in contents["tracks"]),
        done=tuple(Completed(*d) for d in contents["done"]),
        observations=_observations(file, path),
    )


def _observations(file: Any, path: Path) -> Iterator[Observation]:
    with file:
        for batch in file.iter_batches(batch_size=_BATCH):
            for row in batch.to_pylist():
                o = Observation(
                    recording=row["recording"],
                    wearer=row["wearer"],
                    span=Span(row["start"], row["end"]),
                    text=row["text"],
                    source=row["source"],
                    track=row["track"],
                    data=json.loads(row["data"]),
                    provenance=Provenance.model_validate_json(row["provenance"]),
                )
                if o.id != row["id"]:
                    raise MediaError(f"{path}: observation {row['id']} is not what was exported")
                yield o


def restore(store: Store, exported: ExportedMemory) -> tuple[int, int]:
    """Put an exported memory into a store; returns how many observations it has, and how many new.

    A recording that the store already holds keeps what it knows, and gets what it lacks: an export
    of a part, or of the past, knows less than the whole.
    """
    for recording in exported.recordings:
        stored = store.recording(recording.id)
        merged = recording if stored is None else _merged(stored, recording)
        if merged != stored:
            store.put_recording(merged)
    for track in exported.tracks:
        store.put_track(track)
    read = new = 0
    while batch := list(islice(exported.observations, _BATCH)):
        new += store.add(batch)
        read += len(batch)
    store.add([], completed=exported.done)
    return read, new


def _merged(stored: Recording, exported: Recording) -> Recording:
    """What two states of one recording say together; the stored one where they differ."""
    return stored.model_copy(
        update={
            "duration": max(stored.duration, exported.duration),
            "clock": stored.clock or exported.clock,
            "path": stored.path or exported.path,
            "sha256": stored.sha256 or exported.sha256,
            "facts": {**exported.facts, **stored.facts},
        }
    )


def _to_json(recording: Recording) -> dict[str, Any]:
    clock = recording.clock
    body = recording.model_dump(mode="json", exclude={"clock"})
    if clock is not None:
        zone = getattr(clock.start.tzinfo, "key", None)
        body["clock"] = {"start": clock.start.isoformat(), "zone": zone, "source": clock.source}
    return body


def _from_json(body: Mapping[str, Any]) -> Recording:
    clock = None
    if values := body.get("clock"):
        start = datetime.fromisoformat(values["start"])
        if values["zone"]:
            with suppress(TimeError):  # the offset is right even where the zone is not known here
                start = start.astimezone(zone_of(values["zone"]))
        clock = Clock(start, values["source"])
    return Recording.model_validate({**body, "clock": clock})


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet as parquet
    except ImportError:
        raise MissingExtraError("pyarrow", "parquet") from None
    return pyarrow, parquet
