"""What one file's ingest needs and has done: the options, the observers, the progress."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from egomem.defaults import DEFAULT_FPS, DEFAULT_WINDOW
from egomem.ingest.report import OnStep, Stage, Step
from egomem.media import MediaInfo
from egomem.media.streams import RecordingStreams
from egomem.memory import Store
from egomem.memory.failed_windows import window_unit
from egomem.observe import FrameObserver, SoundObserver, StreamObserver
from egomem.records import Observation, Recording
from egomem.text import plural
from egomem.timeline import Span, format_time, sample_times, windows

DAMAGE = "damage"
"""The recording's fact that says which part of its picture could not be decoded."""

STREAMS = "streams"
"""The recording's fact that holds what is known of the streams beside it (`StreamInfo`s)."""

SOUND_DAMAGE = "sound_damage"
"""The recording's fact that says which part of its sound could not be decoded."""


@dataclass(frozen=True, slots=True)
class SamplingOptions:
    """How recordings are sampled.

    `window`: length in seconds (CapMem: 30 or 60). `fps`: frames a second for observers (CapMem:
    1). `side`: longest side of a frame in pixels. `concurrency`: windows observed at once, for
    observers that wait on a server; their frames are held in memory. `thumbnail`: longest side of
    the picture kept of each window, 0 for none.
    """

    window: float = DEFAULT_WINDOW
    fps: float = DEFAULT_FPS
    side: int = 1280
    concurrency: int = 1
    thumbnail: int = 320

    def __post_init__(self) -> None:
        # Impossible values are refused before anything is decoded.
        windows(1.0, self.window)
        sample_times(Span(0.0, 1.0), self.fps)


@dataclass(frozen=True, slots=True)
class Observers:
    """The observers: `sound` hear the whole recording first, then `streams` follow the streams
    beside it, then `frames` see each window."""

    sound: Sequence[SoundObserver] = ()
    frames: Sequence[FrameObserver] = ()
    streams: Sequence[StreamObserver] = ()


@dataclass(slots=True)
class FileProgress:
    """What has been done on one file so far; becomes its FileOutcome.

    `times_outside`, `times_unread`: times that captions wrote, outside of their window or not to be
    read.
    """

    observations: int = 0
    windows: int = 0
    times_outside: int = 0
    times_unread: int = 0
    faults: list[str] = field(default_factory=list)
    failed: dict[str, list[Span]] = field(default_factory=dict)

    def count_times(self, observations: Sequence[Observation]) -> None:
        """Count the written times that could not be used (see `observe.caption_times`)."""
        for observation in observations:
            outside, unread = (observation.data.get(name) for name in ("outside", "times_unread"))
            self.times_outside += len(outside) if isinstance(outside, list) else 0
            self.times_unread += unread if isinstance(unread, int) else 0

    def time_notes(self) -> list[str]:
        """A line on the written times that could not be used; none where all could."""
        parts = []
        if self.times_outside:
            parts.append(f"{plural(self.times_outside, 'time')} outside of the window")
        if self.times_unread:
            parts.append(f"{plural(self.times_unread, 'time')} that could not be read")
        lines = "their lines are kept without a time"
        return [f"captions wrote {' and '.join(parts)}: {lines}"] if parts else []

    def error_lines(self) -> tuple[str, ...]:
        """All errors; one repeated over many windows (a dead server) becomes a single line."""
        lines = list(self.faults)
        for fault, spans in self.failed.items():
            first = min(spans)
            where = f"{window_unit(first)} s" if len(spans) == 1 else f"{len(spans)} windows"
            since = "" if len(spans) == 1 else f" from {format_time(first.start)} on"
            lines.append(f"{where}{since}, {fault}")
        return tuple(lines)


@dataclass(frozen=True, slots=True)
class FileJob:
    """One file to ingest, and where its results go."""

    store: Store
    path: Path
    info: MediaInfo
    recording: Recording
    observers: Observers
    sampling: SamplingOptions
    progress: FileProgress
    on_step: OnStep
    streams: RecordingStreams = field(default_factory=RecordingStreams)

    def step(self, stage: Stage, second: float) -> None:
        """Report how far a stage has come."""
        total = self.recording.duration
        self.on_step(Step(str(self.path), stage, min(second, total), total))

    def record_damage(self, fact: str, damage: str) -> None:
        """Report damage of the file, and keep it as a fact of the recording."""
        self.progress.faults.append(f"{self.path.name}: {damage}")
        with self.store.writing():
            stored = self.store.recording(self.recording.id)
            if stored is not None:  # it may have been forgotten
                facts = {**stored.facts, fact: damage}
                self.store.put_recording(stored.model_copy(update={"facts": facts}))


def damages(recording: Recording) -> list[str]:
    """What of a recording could not be decoded, as earlier runs have noted."""
    return [
        str(recording.facts[fact]) for fact in (DAMAGE, SOUND_DAMAGE) if fact in recording.facts
    ]
