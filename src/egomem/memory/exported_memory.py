"""A whole memory in one Parquet file: write it, read it, put it into a store.

Imported again, it is the same memory: ids, recordings with their clocks, tracks, finished work.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any

from egomem.errors import MediaError, MissingExtraError, TimeError, UsageError, reason
from egomem.memory.reader import Completed
from egomem.memory.store import Store
from egomem.memory.view import View, view_of
from egomem.records import Observation, Provenance, Recording, Track
from egomem.timeline import Clock, Span, zone_of

FORMAT_VERSION = 1
"""The form of an exported Parquet file; a newer one is refused by an older egomem."""

_KEY = b"egomem"
_BATCH = 5000


@dataclass(frozen=True, slots=True)
class ExportedMemory:
    """Contents of an exported Parquet file; `observations` can be iterated once."""

    recordings: tuple[Recording, ...]
    tracks: tuple[Track, ...]
    done: tuple[Completed, ...]
    observations: Iterator[Observation]


def write_exported_memory(
    view: View, parts: Iterable[tuple[Recording | None, Sequence[Observation]]], path: Path
) -> int:
    """Write what a view sees to a Parquet file, `parts` in order; returns how many observations.

    Raises MissingExtraError without pyarrow.
    """
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
    with parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        for _, observations in parts:
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
    return count


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
