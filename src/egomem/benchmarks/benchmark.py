"""A benchmark as values: its videos, its questions, and what is wrong with its rows."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from pathlib import Path

from egomem.records import Question, Record, Video


class Fault(Record):
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
    faults: tuple[Fault, ...] = ()
    licence: str = ""
    provenance: str = ""

    @cached_property
    def by_id(self) -> dict[str, Video]:
        """The videos by id."""
        return {video.id: video for video in self.videos}

    def video_of(self, question: Question) -> Video | None:
        return self.by_id.get(question.recording or "")

    def with_media(self, folder: Path) -> Benchmark:
        """The same with `path` set for each video whose file lies in `folder`.

        A file belongs to a video where its name, or its name without its ending, is the video's
        path's name, id or source uid. Subfolders are looked through.
        """
        found: dict[str, Path] = {}
        for path in sorted(p for p in folder.rglob("*") if p.is_file()):
            found.setdefault(path.name, path)
            found.setdefault(path.stem, path)
        videos = [v.model_copy(update={"path": _file(v, found)}) for v in self.videos]
        return self.model_copy(update={"videos": tuple(videos)})

    def only(self, ids: Iterable[str]) -> Benchmark:
        """The questions of these ids, in the benchmark's order, and the videos they are about."""
        wanted = set(ids)
        questions = tuple(q for q in self.questions if q.id in wanted)
        about = {q.recording for q in questions}
        videos = tuple(v for v in self.videos if v.id in about)
        return self.model_copy(update={"questions": questions, "videos": videos})


def _file(video: Video, found: dict[str, Path]) -> str | None:
    names = [Path(video.path).name] if video.path else []
    for name in (*names, video.id, video.source_uid):
        if name and name in found:
            return str(found[name])
    return video.path
