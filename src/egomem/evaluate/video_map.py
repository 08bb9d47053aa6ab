"""Which recording of a memory each video of a benchmark is."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from egomem.benchmarks import Benchmark
from egomem.ingest import Observers, ingest
from egomem.memory import Store, View
from egomem.records import Answer, Question, Recording, Video
from egomem.text import plural
from egomem.timeline import Moment, RecordingTime

NAME = "videos.json"


@dataclass
class VideoMap:
    """Video id -> its recording; `missing` says of the others why they are not at hand."""

    recordings: dict[str, Recording] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)

    def localised(self, question: Question) -> Question:
        """The question with the recordings' ids in the place of the videos'."""
        at = question.at
        if isinstance(at, RecordingTime) and at.recording in self.recordings:
            at = RecordingTime(self.recordings[at.recording].id, at.seconds)
        evidence = tuple(
            e.model_copy(update={"recording": self._id(e.recording)}) for e in question.evidence
        )
        return question.model_copy(
            update={"recording": self._id(question.recording), "at": at, "evidence": evidence}
        )

    def lost(self, question: Question) -> str:
        """Why a question cannot be placed: the video that it is about, or at whose seconds it is
        asked, is not at hand. "" where it can."""
        about, at = question.recording, question.at
        if about is not None and about not in self.recordings:
            return self._not_at_hand(about)
        # Asked at a second of a video that nobody has, a question has no past.
        if isinstance(at, RecordingTime) and at.recording in self.missing:
            return self._not_at_hand(at.recording)
        # A question about all videos can be asked of those that are there, but not of none.
        if self.missing and not self.recordings:
            return self._not_at_hand(next(iter(self.missing)))
        return ""

    def _not_at_hand(self, video: str) -> str:
        return f"video {video} is not at hand: {self.missing.get(video, 'unknown')}"

    def named(self, answer: Answer) -> Answer:
        """An answer that speaks of videos again: in its evidence, and in its trace."""
        names = {r.id: video for video, r in self.recordings.items()}
        evidence = tuple(
            e.model_copy(update={"recording": names.get(e.recording or "", e.recording)})
            for e in answer.evidence
        )
        trace = tuple(_renamed(step, names) for step in answer.trace)
        return answer.model_copy(update={"evidence": evidence, "trace": trace})

    def _id(self, video: str | None) -> str | None:
        recording = self.recordings.get(video or "")
        return recording.id if recording else video


class BlindViews:
    """Views of no memory at all, for what is asked without one.

    A moment in seconds of a video is placed by the video's name, and a memory knows the names of
    its own recordings alone: this one, in a temporary folder, learns each as it is asked for.
    """

    def __init__(self) -> None:
        self._open = ExitStack()

    @cached_property
    def _store(self) -> Store:
        folder = self._open.enter_context(tempfile.TemporaryDirectory(prefix="egomem-"))
        return self._open.enter_context(Store.open(folder, create=True))

    def view(self, at: Moment | None) -> View:
        if isinstance(at, RecordingTime) and self._store.recording(at.recording) is None:
            self._store.put_recording(Recording(id=at.recording, name=at.recording, duration=0.0))
        return self._store.view(at)

    def close(self) -> None:
        self._open.close()


def videos_in_memory(benchmark: Benchmark, store: Store) -> VideoMap:
    """The videos in a memory that exists: by the recording's id, hash or name."""
    by_name: dict[str, Recording] = {}
    for r in store.recordings():
        stem = r.name.rpartition(".")[0]
        # Ids and hashes before names: they cannot be those of another file.
        for name in (r.id, r.sha256, r.name, stem):
            if name:
                by_name.setdefault(name, r)
    video_map = VideoMap()
    for video in benchmark.videos:
        names = (video.id, video.sha256, Path(video.path).name if video.path else None)
        recording = next(
            (by_name[n] for n in (*names, video.source_uid) if n and n in by_name), None
        )
        if recording is None:
            video_map.missing[video.id] = "the memory holds no recording of this id or name"
        else:
            video_map.recordings[video.id] = recording
    return video_map


async def videos_from_files(
    benchmark: Benchmark,
    store: Store,
    folder: Path,
    on_note: Callable[[str], None] = lambda line: None,
) -> VideoMap:
    """The videos by their files, which are put into the store; one that was read before and has
    not changed since is not read again."""
    stamped = _known(folder)
    video_map = VideoMap()
    stamps = {video.id: _stamp(video) for video in benchmark.videos}
    new = sum(s is not None and stamped.get(id, {}).get("stamp") != s for id, s in stamps.items())
    if new:
        on_note(f"reading {plural(new, 'video file')} for what is in them")
    for video in benchmark.videos:
        stamp = stamps[video.id]
        if stamp is None:
            video_map.missing[video.id] = f"{video.path} is not there" if video.path else "no file"
            continue
        before: Mapping[str, Any] = stamped.get(video.id, {})
        recording = store.recording(str(before.get("recording")))
        if recording is None or before.get("stamp") != stamp:
            start = video.clock.start if video.clock else None
            report = await ingest(store, [Path(video.path or "")], Observers(), start=start)
            outcome = report.outcomes[0]
            recording = store.recording(outcome.recording) if outcome.recording else None
            if recording is None:
                video_map.missing[video.id] = "; ".join(outcome.faults)
                continue
            stamped[video.id] = {"stamp": stamp, "recording": recording.id}
            # After each file: reading hundreds takes long, and may be interrupted.
            _write(folder, stamped)
        video_map.recordings[video.id] = recording
    return video_map


def _renamed(value: JsonValue, names: Mapping[str, str]) -> JsonValue:
    if isinstance(value, list):
        return [_renamed(v, names) for v in value]
    if not isinstance(value, dict):
        return value
    fields = {k: _renamed(v, names) for k, v in value.items()}
    if isinstance(recording := fields.get("recording"), str):
        fields["recording"] = names.get(recording, recording)
    return fields


def _stamp(video: Video) -> list[Any] | None:
    if video.path is None:
        return None
    try:
        file = Path(video.path).stat()
    except OSError:
        return None
    # Size and time, not the content: hashing hours of video at each start takes minutes.
    return [str(Path(video.path).resolve()), file.st_size, file.st_mtime_ns]


def _known(folder: Path) -> dict[str, Any]:
    try:
        stamped = json.loads((folder / NAME).read_text())
    except (OSError, ValueError):
        return {}
    return stamped if isinstance(stamped, dict) else {}


def _write(folder: Path, stamped: Mapping[str, Any]) -> None:
    part = folder / (NAME + ".part")
    part.write_text(json.dumps(stamped, indent=1))
    part.replace(folder / NAME)
