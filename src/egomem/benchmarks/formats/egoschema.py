"""EgoSchema: five options a question, one video each; keys for the 500-question subset only.

Read in three shapes: `questions.json` with `subset_answers.json` beside it, rows of the hub's
Parquet or JSON (`video_idx`, `option`), and a map of video to question with `truth`. A question's
id is its video's, as in submissions, whatever the shape.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from egomem.benchmarks.fields import label_at_index, options_from_lettered_texts, text_field
from egomem.benchmarks.rows import (
    Fields,
    LoadedItem,
    SourceRow,
    base_name,
    parse_rows,
    read_json,
    read_rows,
)
from egomem.records import Question, Video

_ANSWERS = "subset_answers.json"
_MOST = 9
_UNTOLD = ("", "None", "-1")
"""What stands for a key where it is not public."""


def detect(row: Fields) -> bool:
    return "option 0" in row or {"video_idx", "option"} <= row.keys()


def read(files: Sequence[Path]) -> Iterator[LoadedItem]:
    """The hub's folder holds the full set several times, and the keys in its subset alone."""
    keys: dict[str, Any] = {}
    for path in files:
        if base_name(path) == _ANSWERS:
            held = read_json(path)
            keys |= held if isinstance(held, dict) else {}
    found = [(p, [_flat(row) for row in read_rows(p)]) for p in files if base_name(p) != _ANSWERS]
    for _, listed in found:
        keys |= {str(r.fields["id"]): k for r in listed if (k := r.fields["index"]) is not None}
    first: dict[str, tuple[Path, object]] = {}
    for path, listed in found:
        for row in listed:
            id = str(row.fields["id"] or "")
            content = (row.fields["question"], row.fields["choices"])
            place, held = first.setdefault(id, (path, content))
            if id and place != path and held == content:
                continue
            if id and place == path and held is content:
                yield Video(id=id, source_dataset="EgoSchema", source_uid=id)
            fields = {**row.fields, "index": keys.get(id)}
            yield from parse_rows(iter([row._replace(fields=fields)]), _question)


def _flat(row: SourceRow) -> SourceRow:
    """One shape for the three: `id`, `choices` and `index` (None where it is not told)."""
    fields = row.fields
    listed = fields.get("option")
    choices: list[Any] = list(listed) if isinstance(listed, list | tuple) else []
    choices += [fields[f"option {k}"] for k in range(_MOST) if f"option {k}" in fields]
    told = [str(v).strip() for k in ("truth", "answer") if (v := fields.get(k)) is not None]
    flat = {
        "id": fields.get("q_uid") or fields.get("video_idx") or fields.get("key"),
        "question": fields.get("question"),
        "choices": choices,
        "index": next((key for key in told if key not in _UNTOLD), None),
    }
    return row._replace(fields=flat)


def _question(row: Fields) -> Question:
    choices = options_from_lettered_texts(row["choices"])
    index = row["index"]
    return Question(
        id=text_field(row, "id"),
        text=text_field(row, "question"),
        options=choices,
        recording=text_field(row, "id"),
        answer=None if index is None else label_at_index(index, choices),
        answerable=True,
    )
