"""What a memory holds of the evidence: pictures of its windows, and the captions over it."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from egomem.evaluate.run_reader import Run
from egomem.memory import Store
from egomem.memory.thumbnails import FOLDER, thumbnail_start
from egomem.records import Evidence, Observation, Question
from egomem.report.columns import ReportColumn, short_model
from egomem.report.trace_view import truncate
from egomem.timeline import Span, format_span, format_time

MAX_PICTURE_BYTES = 6_000_000
"""Of the pictures in a page; the first questions have them."""
MAX_EVIDENCE = 3
"""Pieces of evidence of one question that have pictures."""
MAX_PICTURES = 2
"""Pictures of one piece."""
MAX_CAPTIONS = 8
"""Captions shown of one track over the evidence of one question."""


class EvidencePicture(NamedTuple):
    """`label` says where it is from; `data` is a JPEG in base64."""

    label: str
    data: str


class EvidenceReader:
    """Pictures and captions of the evidence, read from the runs' memories; `left_out` counts the
    pictures that had no room."""

    def __init__(self) -> None:
        self.left_out = 0
        self._room = MAX_PICTURE_BYTES
        self._starts: dict[Path, list[tuple[float, Path]]] = {}
        self._captions: dict[tuple[int, str], dict[str, list[Observation]]] = {}

    def pictures(self, run: Run, question: Question) -> list[EvidencePicture]:
        """The last window's picture before each piece of evidence, and those within it."""
        found: list[EvidencePicture] = []
        for piece in question.evidence[:MAX_EVIDENCE]:
            recording = _recording(run, piece)
            held = self._held(run.memory / FOLDER / recording) if recording else []
            last = [p for p in held if p[0] <= piece.span.start][-1:]
            inside = [p for p in held if piece.span.start < p[0] < piece.span.end]
            for start, path in [*last, *inside][:MAX_PICTURES]:
                data = path.read_bytes()
                if len(data) > self._room:
                    self.left_out += 1
                    continue
                self._room -= len(data)
                label = f"{piece.recording or ''} {format_time(start)}".strip()
                found.append(EvidencePicture(label, base64.b64encode(data).decode()))
        return list(dict.fromkeys(found))

    def captions(
        self, run: Run, question: Question, own: Sequence[ReportColumn]
    ) -> dict[str, list[str]]:
        """The captions that overlap the evidence, by who made them: of the tracks that the
        question's answers were read from, or the settings read; of all where a setting chooses by
        itself and its answers do not tell."""
        found: dict[str, list[str]] = {}
        readers = [e for e in own if e.way.captions != "none"]
        if not readers:
            return {}
        tracks = run.about.get("tracks", {})
        wanted = {_read(e, question) or tracks.get(e.column.label) for e in readers}
        for piece in question.evidence:
            for track, held in self._over(run, _recording(run, piece)).items():
                if track not in wanted and None not in wanted:
                    continue
                over = [o for o in held if _overlaps(o.span, piece.span)]
                lines = found.setdefault(_name(track), [])
                lines += [f"{format_span(o.span)} {truncate(o.text)}" for o in over]
        return {k: list(dict.fromkeys(v))[:MAX_CAPTIONS] for k, v in found.items() if v}

    def _over(self, run: Run, recording: str) -> dict[str, list[Observation]]:
        key = (id(run), recording)
        if key not in self._captions:
            by_track: dict[str, list[Observation]] = {}
            if recording:
                with Store.open(run.memory) as store:
                    known = store.recording(recording) is not None
                    held = store.view().observations(recording=recording) if known else []
                    for o in held:
                        if o.source == "caption":
                            by_track.setdefault(o.track, []).append(o)
            self._captions[key] = by_track
        return self._captions[key]

    def _held(self, folder: Path) -> list[tuple[float, Path]]:
        if folder not in self._starts:
            files = folder.glob("*.jpg") if folder.is_dir() else []
            self._starts[folder] = sorted((thumbnail_start(f), f) for f in files)
        return self._starts[folder]


def _recording(run: Run, piece: Evidence) -> str:
    """Its id in the run's memory; "" where that does not hold it, or is gone."""
    if not run.remembers:
        return ""
    return str(run.about.get("recordings", {}).get(piece.recording or "", ""))


def _read(entry: ReportColumn, question: Question) -> str:
    """The track that the answer says it was read from; "" where it says none. Aligned captions of
    what a single question may see have another than their setting."""
    answer = entry.answers.get(question.id)
    steps = [s for s in answer.trace if isinstance(s, dict)] if answer else []
    return next((str(s["track"]) for s in steps if s.get("track")), "")


def _overlaps(one: Span, other: Span) -> bool:
    """A moment without length is overlapped by what holds it."""
    if other.start == other.end:
        return one.start <= other.start < one.end
    return one.start < other.end and other.start < one.end


def _name(track: str) -> str:
    """`caption/vlm=ollama:qwen3-vl:8b#caption@1@30s~1fps` as `qwen3-vl:8b, caption@1@30s~1fps`."""
    head, _, tail = track.rpartition("#")
    _, _, model = head.partition("=")
    return ", ".join(filter(None, (short_model(model) if model else head, tail)))
