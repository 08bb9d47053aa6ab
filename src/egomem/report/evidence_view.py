"""The evidence of a question as the memory has it: pictures of its windows, captions over it."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from egomem.evaluate.run_reader import Run
from egomem.memory import Store
from egomem.memory.thumbnails import thumbnail_files, thumbnail_folder
from egomem.records import Evidence, Observation, Question
from egomem.report.columns import ReportColumn, short_model
from egomem.report.trace_view import truncate
from egomem.timeline import Span, format_span, format_time

MAX_PICTURE_BYTES = 6_000_000
"""Bytes of pictures in a page, given to its first questions: it is to load fast and to be sent by
mail."""
MAX_EVIDENCE = 3
"""Pieces of evidence of one question that have pictures."""
MAX_PICTURES = 2
"""Pictures of one piece of evidence."""
MAX_CAPTIONS = 8
"""Captions of one track over the evidence of one question."""

CaptionsByTrack = dict[str, list[Observation]]


class EvidencePicture(NamedTuple):
    """`label` is recording and time; `data` is a JPEG in base64."""

    label: str
    data: str


class EvidenceReader:
    """Reads pictures and captions of evidence from the runs' memories.

    It counts the bytes of the pictures: `pictures_left_out` is how many had no room in the page.
    """

    def __init__(self) -> None:
        self.pictures_left_out = 0
        self._room = MAX_PICTURE_BYTES
        self._thumbnails: dict[Path, list[tuple[float, Path]]] = {}
        self._captions: dict[tuple[int, str], CaptionsByTrack] = {}

    def pictures(self, run: Run, question: Question) -> list[EvidencePicture]:
        """The pictures of the windows in which each piece of evidence lies.

        A picture is of a window's start, so the last one before the evidence is of its window, too.
        """
        pictures: list[EvidencePicture] = []
        for piece in question.evidence[:MAX_EVIDENCE]:
            recording = _recording_id(run, piece)
            folder = thumbnail_folder(run.memory, recording)
            files = self._thumbnail_files(folder) if recording else []
            before = [item for item in files if item[0] <= piece.span.start][-1:]
            inside = [item for item in files if piece.span.start < item[0] < piece.span.end]
            for start, path in [*before, *inside][:MAX_PICTURES]:
                data = path.read_bytes()
                if len(data) > self._room:
                    self.pictures_left_out += 1
                    continue
                self._room -= len(data)
                label = f"{piece.recording or ''} {format_time(start)}".strip()
                pictures.append(EvidencePicture(label, base64.b64encode(data).decode()))
        return list(dict.fromkeys(pictures))

    def captions(
        self, run: Run, question: Question, columns: Sequence[ReportColumn]
    ) -> dict[str, list[str]]:
        """The captions that overlap the evidence, by the name of their track.

        Only tracks that the columns read: the one named in an answer's trace, or else that of the
        setting. A setting that picks captions by itself, and whose answer names none, may have read
        any: then all tracks are given.
        """
        readers = [column for column in columns if column.condition.captions != "none"]
        if not readers:
            return {}
        tracks_read = {_answer_track(column, question) or column.track for column in readers}
        lines_by_track: dict[str, list[str]] = {}
        for piece in question.evidence:
            by_track = self._captions_of(run, _recording_id(run, piece))
            for track, captions in by_track.items():
                if track not in tracks_read and None not in tracks_read:
                    continue
                overlapping = [o for o in captions if _overlaps(o.span, piece.span)]
                lines = lines_by_track.setdefault(_track_name(track), [])
                lines += [f"{format_span(o.span)} {truncate(o.text)}" for o in overlapping]
        # Pieces of evidence may lie in one window: each caption once.
        return {
            name: list(dict.fromkeys(lines))[:MAX_CAPTIONS]
            for name, lines in lines_by_track.items()
            if lines
        }

    def _captions_of(self, run: Run, recording: str) -> CaptionsByTrack:
        key = (id(run), recording)
        if key not in self._captions:
            by_track: CaptionsByTrack = {}
            if recording:
                with Store.open(run.memory) as store:
                    exists = store.recording(recording) is not None
                    observations = store.view().observations(recording=recording) if exists else []
                    for observation in observations:
                        if observation.source == "caption":
                            by_track.setdefault(observation.track, []).append(observation)
            self._captions[key] = by_track
        return self._captions[key]

    def _thumbnail_files(self, folder: Path) -> list[tuple[float, Path]]:
        """The pictures of a recording as (start in seconds, file), in order."""
        if folder not in self._thumbnails:
            self._thumbnails[folder] = thumbnail_files(folder)
        return self._thumbnails[folder]


def _recording_id(run: Run, piece: Evidence) -> str:
    """The recording's id in the run's memory; "" where the memory lacks it, or is gone."""
    if not run.remembers:
        return ""
    return str(run.about.get("recordings", {}).get(piece.recording or "", ""))


def _answer_track(column: ReportColumn, question: Question) -> str:
    """The track that an answer's trace names; "" where it names none.

    Aligned captions of a question that may see only a part of the video have a track of their own.
    """
    answer = column.answers.get(question.id)
    steps = [step for step in answer.trace if isinstance(step, dict)] if answer else []
    return next((str(step["track"]) for step in steps if step.get("track")), "")


def _overlaps(span: Span, evidence: Span) -> bool:
    """Whether spans overlap; evidence without length overlaps the span that contains it."""
    if evidence.start == evidence.end:
        return span.start <= evidence.start < span.end
    return span.start < evidence.end and evidence.start < span.end


def _track_name(track: str) -> str:
    """`caption/vlm=ollama:qwen3-vl:8b#caption@1@30s~1fps` as `qwen3-vl:8b, caption@1@30s~1fps`."""
    head, _, recipe = track.rpartition("#")
    _, _, model = head.partition("=")
    return ", ".join(filter(None, (short_model(model) if model else head, recipe)))
