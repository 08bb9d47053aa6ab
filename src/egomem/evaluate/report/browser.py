"""The questions as data for the page: evidence, pictures, replies and traces, trimmed to what is
read."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from egomem.evaluate.load import Loaded
from egomem.evaluate.report.entries import Entry
from egomem.evaluate.report.grid import Section, grid
from egomem.memory.thumbnails import FOLDER, start_of
from egomem.records import Answer, Evidence, Question
from egomem.score import Explanation, Why, duration, is_right, tally, why_wrong
from egomem.timeline import format_span

LONGEST = 1500
"""Characters shown of one text of a trace."""
PICTURES = 300
"""Pictures in a page at most; the first questions have them."""
EACH = 2
"""Pictures of one piece of evidence."""

_LEFT_OUT = ("frames", "usage", "key", "parts")
"""Fields of a trace that say nothing to a reader of the page."""


def explained(entry: Entry, entries: Sequence[Entry]) -> dict[str, Explanation | None]:
    """Why each answer of a column is wrong, by question; from its trace and the oracle settings of
    the same reader."""

    def oracle(setting: str) -> dict[str, Answer]:
        for other in entries:
            same = other.run is entry.run and other.column.reader == entry.column.reader
            by = other.column.captioner in ("", entry.column.captioner)
            if same and by and other.column.setting == setting:
                return other.answers
        return {}

    name = "caption" if entry.way.strategy in ("caption", "verify") else entry.column.setting
    captions = oracle(f"{name}@evidence") if entry.way.captions != "none" else {}
    frames = oracle("video@evidence")
    return {
        q.id: why_wrong(
            q,
            entry.answers.get(q.id),
            oracle_captions=captions.get(q.id),
            oracle_frames=frames.get(q.id),
        )
        for q in entry.sheet.questions
    }


def reasons(entries: Sequence[Entry]) -> Section:
    """How many wrong answers fall under each reason."""
    rows = []
    for entry in entries:
        if entry.way.strategy == "clean" or entry.column.setting.endswith("@evidence"):
            continue
        found = explained(entry, entries)
        counts = tally(found.values())
        sure = sum(e.sure for e in found.values() if e is not None)
        wrong = sum(e is not None for e in found.values())
        rows.append([entry.name, wrong, *counts.values(), sure])
    heads = ("setting", "wrong", *(why.value for why in Why), "of these shown, not inferred")
    note = (
        "From the trace and the oracle settings (NAME@evidence), where the run has them; "
        "without them a reason is what is left."
    )
    parts = (grid("", heads, rows, note),) if rows else ()
    return Section(title="Why wrong", parts=parts)


def browser(entries: Sequence[Entry]) -> dict[str, Any]:
    """What the page's script shows: the columns, and a record for each question."""
    why = {e.name: explained(e, entries) for e in entries}
    regimes = duration()
    pictures = _Pictures()
    held: dict[str, dict[str, Any]] = {}
    for entry in entries:
        videos = entry.run.benchmark.by_id
        for question in entry.run.questions:
            record = held.get(question.id)
            if record is None:
                video = videos.get(question.recording or "")
                record = held[question.id] = {
                    "id": question.id,
                    "text": question.text,
                    "options": [[o.label, o.text] for o in question.options],
                    "key": question.answer,
                    "answerable": question.answerable,
                    "video": question.recording or "",
                    "regime": (regimes.labels(question, video) or ("not stated",))[0],
                    "tags": _tags(question),
                    "evidence": [_place(e) for e in question.evidence],
                    "pictures": pictures.of(entry.run, question),
                    "said": {},
                }
            said = entry.answers.get(question.id)
            record["said"][entry.name] = _said(question, said, why[entry.name].get(question.id))
    return {"columns": [e.name for e in entries], "questions": list(held.values())}


def _said(question: Question, said: Answer | None, why: Explanation | None) -> dict[str, Any]:
    if said is None:
        return {"status": "missing", "right": False}
    shown: dict[str, Any] = {
        "status": said.status.value,
        "right": is_right(question, said) >= 0.5,
        "choice": said.choice,
        "text": said.text,
        "reason": said.reason[:LONGEST],
        "evidence": [_place(e) for e in said.evidence[:5]],
        "trace": [_trimmed(step) for step in said.trace],
    }
    if why is not None:
        shown["why"] = f"{why.why.value}: {why.because}{'' if why.sure else ' (inferred)'}"
    return shown


def _tags(question: Question) -> list[str]:
    found = []
    for name, value in question.tags.items():
        if name == "abstain_option":
            continue
        values = value if isinstance(value, list) else [value]
        found += [f"{name}: {v}" for v in values if isinstance(v, str | int | float | bool)]
    return found


def _place(piece: Evidence) -> str:
    where = f"{piece.recording} " if piece.recording else ""
    quote = f' "{piece.quote[:200]}"' if piece.quote else ""
    return f"{where}{format_span(piece.span)}{quote}"


def _trimmed(value: JsonValue) -> JsonValue:
    if isinstance(value, str):
        return value if len(value) <= LONGEST else value[:LONGEST] + " ..."
    if isinstance(value, list):
        return [_trimmed(v) for v in value[:30]]
    if isinstance(value, dict):
        return {k: _trimmed(v) for k, v in value.items() if k not in _LEFT_OUT}
    return value


class _Pictures:
    """Pictures of the evidence out of the memory's thumbnails, as data URLs; none where none is."""

    def __init__(self) -> None:
        self._left = PICTURES
        self._starts: dict[Path, list[tuple[float, Path]]] = {}

    def of(self, run: Loaded, question: Question) -> list[str]:
        recordings = run.about.get("recordings", {})
        memory = Path(str(run.about.get("memory") or run.folder / "memory"))
        found: list[str] = []
        for piece in question.evidence:
            folder = memory / FOLDER / str(recordings.get(piece.recording or "", "-"))
            held = self._held(folder)
            last = [p for s, p in held if s <= piece.span.start][-1:]
            inside = [p for s, p in held if piece.span.start < s < piece.span.end]
            for path in [*last, *inside][:EACH]:
                if self._left <= 0:
                    return found
                self._left -= 1
                data = base64.b64encode(path.read_bytes()).decode()
                found.append(f"data:image/jpeg;base64,{data}")
        return found

    def _held(self, folder: Path) -> list[tuple[float, Path]]:
        if folder not in self._starts:
            files = folder.glob("*.jpg") if folder.is_dir() else []
            self._starts[folder] = sorted((start_of(f), f) for f in files)
        return self._starts[folder]
