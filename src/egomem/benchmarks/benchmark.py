"""A benchmark as values: its videos, its questions, and what is wrong with its rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path

from egomem.errors import UsageError
from egomem.records import Question, Record, Video

MEDIA_ENDINGS = (
    ".mp4", ".m4v", ".mov", ".mkv", ".webm", ".avi", ".ts", ".mts", ".mpg", ".mpeg", ".3gp",
    ".flv", ".wmv", ".ogv", ".wav", ".flac", ".mp3", ".m4a", ".ogg", ".opus",
)  # fmt: skip
"""Endings of video and audio files: a subtitle or a caption file of the same name is none."""


class BenchmarkFault(Record):
    """Something wrong with one row, or with the whole (`id` "" then).

    `id` is the question's or video's. `line` counts from 1 in `file` (an entry's number where the
    file has no lines). `dropped`: the row was left out of the benchmark.
    """

    id: str
    kind: str
    message: str
    file: str = ""
    line: int | None = None
    dropped: bool = False

    def __str__(self) -> str:
        place = ":".join(str(p) for p in (self.file, self.line) if p)
        return ": ".join(p for p in (place, self.id, self.message) if p)


class Benchmark(Record):
    """Questions about videos. `faults` are those of loading; `validate` finds more.

    `format` names the adapter that read it. `licence` is of the annotations; that of each video is
    the video's own. `provenance` says where the files came from.
    """

    name: str
    format: str
    videos: tuple[Video, ...]
    questions: tuple[Question, ...]
    faults: tuple[BenchmarkFault, ...] = ()
    licence: str = ""
    provenance: str = ""

    @cached_property
    def by_id(self) -> dict[str, Video]:
        """The videos by id."""
        return {video.id: video for video in self.videos}

    @property
    def left_out(self) -> int:
        """How many rows loading left out; a row may have several faults."""
        dropped = (f for f in self.faults if f.dropped and f.line is not None)
        return len({(f.file, f.line, f.id) for f in dropped})

    def video_of(self, question: Question) -> Video | None:
        return self.by_id.get(question.recording or "")

    def with_media(self, folder: Path | str) -> Benchmark:
        """The same with `path` set for each video whose file lies in `folder`.

        A file belongs to a video where its name, or its name without a video's ending, is the
        video's path's name, id or source uid. Subfolders are looked through; of several such files,
        those in a folder that the path or id names go first, and where more than one is left, which
        of them is meant is a fault. Raises UsageError where there is no such folder.
        """
        folder = Path(folder)
        if not folder.is_dir():
            raise UsageError(
                f"there is no folder of media at {folder}", "name the folder that holds the videos"
            )
        found: dict[str, list[Path]] = {}
        for path in sorted(p for p in folder.rglob("*") if p.is_file()):
            found.setdefault(path.name, []).append(path)
            if path.suffix.lower() in MEDIA_ENDINGS:
                found.setdefault(path.stem, []).append(path)
        videos, faults = [], list(self.faults)
        for video in self.videos:
            files = _files(video, found, folder)
            if len(files) == 1:
                video = video.model_copy(update={"path": str(files[0])})
            elif files:
                said = f"{len(files)} files have its name: {files[0]}, {files[1]}"
                said += " ..." if len(files) > 2 else ""
                faults.append(BenchmarkFault(id=video.id, kind="media", message=said))
            videos.append(video)
        if self.videos and not any(video.path for video in videos):
            said = f"none of the {len(videos)} videos has a file in {folder}"
            faults.append(BenchmarkFault(id="", kind="media", message=said))
        return self.model_copy(update={"videos": tuple(videos), "faults": tuple(faults)})

    def with_lengths(self, lengths: Mapping[str, float]) -> Benchmark:
        """The same with the length (seconds) of each video that states none and is in `lengths`."""
        videos = tuple(
            v.model_copy(update={"duration": lengths[v.id]})
            if v.duration is None and v.id in lengths
            else v
            for v in self.videos
        )
        return self.model_copy(update={"videos": videos})

    def only(self, ids: Iterable[str]) -> Benchmark:
        """The questions of these ids, in the benchmark's order, and the videos they are about."""
        wanted = set(ids)
        questions = tuple(q for q in self.questions if q.id in wanted)
        about = {q.recording for q in questions}
        videos = tuple(v for v in self.videos if v.id in about)
        return self.model_copy(update={"questions": questions, "videos": videos})


def _files(video: Video, found: dict[str, list[Path]], folder: Path) -> list[Path]:
    for name in (video.path, video.id, video.source_uid):
        files = found.get(Path(name).name, []) if name else []
        if files:
            named = set(_parts(Path(name or "").parent))
            near = [f for f in files if named & set(_parts(f.relative_to(folder).parent))]
            return near or files
    return []


def _parts(path: Path) -> list[str]:
    return [part.casefold() for part in path.parts]
