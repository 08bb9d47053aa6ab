"""Import existing captions and transcripts into a memory, with or without the video.

Bad rows are skipped, counted and reported with their line. Importing the same file again adds
nothing, because an observation's id follows from its content.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import InitVar, dataclass, field, replace
from itertools import islice
from pathlib import Path

from egomem.errors import EgomemError, ForgottenError, MediaError, StoreError, UsageError
from egomem.hashing import recording_id
from egomem.ingest.readers import ImportOptions, RowReader, file_rows
from egomem.ingest.readers.files import stem_of
from egomem.ingest.sidecars import sidecar_times
from egomem.ingest.sources import MEDIA_SUFFIXES
from egomem.ingest.start_times import find_start
from egomem.ingest.stream_files import device_start_of
from egomem.media import LineWarning, content_hash, probe
from egomem.memory import Store
from egomem.memory.exported_memory import read_exported_memory, restore
from egomem.records import Observation, Record, Recording, Track
from egomem.timeline import Clock

BATCH_SIZE = 2000
"""Observations a transaction."""

MAX_PROBLEMS = 100
"""Problems of one file that are listed; all are counted."""


class ImportOutcome(Record):
    """Result of one file.

    Of `rows` read, `observations` are new in the memory, `known` were there before, and
    `passed_over` could not be used. `problems` are lines for the user, the first 100 of them.
    """

    path: str
    rows: int = 0
    observations: int = 0
    known: int = 0
    passed_over: int = 0
    recordings: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    fault: str = ""
    remedy: str = ""


@dataclass(slots=True)
class ObservationReader:
    """The observations of a file, to be iterated once; its other fields are complete after that."""

    path: Path
    reader: RowReader
    rows: int = 0
    file_problems: list[LineWarning] = field(default_factory=list)
    _source: Iterator[Observation] = field(default_factory=lambda: iter(()))

    def __iter__(self) -> Iterator[Observation]:
        return self._source

    @property
    def recordings(self) -> list[Recording]:
        """The recordings of the rows; their durations grow while rows are read."""
        return self.reader.recordings

    @property
    def tracks(self) -> list[Track]:
        return list(self.reader.tracks.values())

    @property
    def problems(self) -> list[LineWarning]:
        return sorted(self.file_problems + self.reader.problems)


def read_observations(
    path: str | Path,
    options: ImportOptions | None = None,
    *,
    find: Callable[[str], Recording | None] = lambda video: None,
    clock_of: Callable[[str], Clock | None] = lambda video: None,
) -> ObservationReader:
    """Read JSONL, JSON, SRT, WebVTT, WhisperX JSON, EgoLife caption JSON or Parquet, also gzipped.

    `find` returns the recording that a video id stands for; for None, a recording without a file is
    made, with the clock that `clock_of` returns. A file without video ids is about the video of its
    own name. Raises MediaError where the file cannot be read at all, MissingExtraError for Parquet
    without pyarrow.
    """
    path = Path(path)
    options = options or ImportOptions()
    if options.recording is None:
        options = replace(options, recording=stem_of(path))
    problems: list[LineWarning] = []
    rows, source = file_rows(path, options, problems)
    reader = RowReader(options, source, find, clock_of)
    reading = ObservationReader(path, reader, file_problems=problems)

    def observations() -> Iterator[Observation]:
        for number, row in rows:
            reading.rows += 1
            if (observation := reading.reader.read(number, row)) is not None:
                yield observation

    reading._source = observations()
    return reading


def import_files(
    store: Store,
    paths: Iterable[str | Path],
    options: ImportOptions | None = None,
    *,
    videos: str | Path | None = None,
    on_file: Callable[[ImportOutcome], None] = lambda done: None,
) -> list[ImportOutcome]:
    """Import files one by one; one that cannot be read is reported, and the rest are imported.

    A row goes to the recording that the memory holds by that id or name, else to the video of that
    name in `videos` or beside the file, else to a recording without a file. A Parquet file that
    egomem exported is restored as it was. A StoreError ends the run; what was stored stays. Raises
    UsageError where `videos` is no folder.
    """
    if videos and not Path(videos).is_dir():
        raise UsageError(f"there is no folder of videos at {videos}", "check the path")
    outcomes = []
    for name in paths:
        path = Path(name)
        try:
            done = _import(
                store, path, options or ImportOptions(), Path(videos) if videos else None
            )
        except ForgottenError as error:  # while it was being imported, which ends this file alone
            done = ImportOutcome(path=str(path), fault=error.message, remedy=error.remedy)
        except StoreError:
            raise
        except EgomemError as error:
            done = ImportOutcome(path=str(path), fault=error.message, remedy=error.remedy)
        on_file(done)
        outcomes.append(done)
    return outcomes


def _import(store: Store, path: Path, options: ImportOptions, videos: Path | None) -> ImportOutcome:
    if path.is_dir():
        raise UsageError(f"{path} is a folder", "name its files, for example with a pattern: *.srt")
    if not path.is_file():
        raise UsageError(f"there is no file {path}", "check the path")
    # Our own export knows its clocks and tracks exactly; reading it as rows would lose them.
    if (exported := read_exported_memory(path)) is not None:
        rows, new = restore(store, exported)
        names = tuple(r.id for r in exported.recordings)
        return ImportOutcome(
            path=str(path), rows=rows, observations=new, known=rows - new, recordings=names
        )
    folders = [folder for folder in (videos, path.parent) if folder is not None]
    finder = _RecordingFinder(store.recordings(), folders, options)
    options = finder.with_device_start(options.recording or stem_of(path))
    reading = read_observations(path, options, find=finder.find, clock_of=finder.clock_of)
    new = read = 0
    stored: dict[str, Recording] = {}
    observations = iter(reading)
    # In batches: a file of a year of captions need not fit into memory.
    while batch := list(islice(observations, BATCH_SIZE)):
        _put(store, reading, stored)  # observations need their recording in the memory
        new += store.add(batch)
        read += len(batch)
    _put(store, reading, stored)
    problems = [LineWarning(0, what) for what in finder.notes] + reading.problems
    listed = tuple(map(str, problems[:MAX_PROBLEMS]))
    if len(problems) > MAX_PROBLEMS:
        listed += (f"and {len(problems) - MAX_PROBLEMS} more",)
    return ImportOutcome(
        path=str(path),
        rows=reading.rows,
        observations=new,
        known=read - new,
        passed_over=reading.reader.passed_over,
        recordings=tuple(stored),
        problems=listed,
    )


def _put(store: Store, reading: ObservationReader, stored: dict[str, Recording]) -> None:
    """Store the recordings and tracks that are new or have changed."""
    for track in reading.tracks:
        if track.id not in stored:
            store.put_track(track)
    for recording in reading.recordings:
        if stored.get(recording.id) != recording:
            if store.recording(recording.id) != recording:
                store.put_recording(recording)
            stored[recording.id] = recording


@dataclass(slots=True)
class _RecordingFinder:
    """Finds what a video id stands for: a recording of the memory, or a video file nearby."""

    recordings: InitVar[Sequence[Recording]]
    folders: Sequence[Path]
    options: ImportOptions
    notes: list[str] = field(default_factory=list)
    _by_id: dict[str, Recording] = field(init=False)
    _by_name: dict[str, list[Recording]] = field(default_factory=dict)

    def __post_init__(self, recordings: Sequence[Recording]) -> None:
        self._by_id = {r.id: r for r in recordings}
        for recording in recordings:
            for name in {recording.name, Path(recording.name).stem}:
                self._by_name.setdefault(name, []).append(recording)

    def find(self, video: str) -> Recording | None:
        if video in self._by_id:
            return self._by_id[video]
        named = self._by_name.get(video, [])
        # Choosing one of several would put the rows into the wrong recording without a word.
        if len(named) > 1:
            self.notes.append(
                f"the memory holds {len(named)} recordings named {video}; a new one is made"
            )
            return None
        if named:
            return named[0]
        for folder in self.folders:
            if (path := _video(folder, video)) is not None:
                return self._probed(path)
        return None

    def clock_of(self, video: str) -> Clock | None:
        """The clock of a video whose file is not here, by its sidecar (`walk.vrs.json`)."""
        name = Path(video).name
        if not name or name != video:
            return None
        for folder in self.folders:
            for time in sidecar_times(folder / f"{name}.mp4", None, self.options.zone, self.notes):
                if time.start.tzinfo is not None:
                    if time.doubt:
                        self.notes.append(f"the sidecar of {name} tells an instant; {time.doubt}")
                    return Clock(time.start, "sidecar")
        return None

    def with_device_start(self, video: str) -> ImportOptions:
        """The options with what the memory, or the video, tells of its device's own time."""
        names = self._by_name.get(video, [])
        recording = self._by_id.get(video) or (names[0] if len(names) == 1 else None)
        start = None if recording is None else device_start_of(recording)
        return replace(self.options, device_start=start)

    def _probed(self, path: Path) -> Recording | None:
        try:
            facts = probe(path)
        except MediaError as error:
            self.notes.append(str(error))
            return None
        digest = content_hash(path)
        # The same bytes under another name are the same recording.
        if recording_id(digest) in self._by_id:
            return self._by_id[recording_id(digest)]
        options = self.options
        start = find_start(path, facts, zone=options.zone, day_one=options.day_one)
        return Recording(
            id=recording_id(digest),
            wearer=options.wearer,
            name=path.name,
            path=str(path.resolve()),
            sha256=digest,
            duration=facts.duration,
            clock=start.clock,
            facts=facts.model_dump(mode="json", exclude={"path"}),
        )


def _video(folder: Path, video: str) -> Path | None:
    """The media file of a video id in a folder; an id never leads out of the folder."""
    name = Path(video).name
    if not name or name != video:
        return None
    candidates = [folder / name] if Path(name).suffix.lower() in MEDIA_SUFFIXES else []
    candidates += [folder / f"{name}{suffix}" for suffix in sorted(MEDIA_SUFFIXES)]
    return next((path for path in candidates if path.is_file()), None)
