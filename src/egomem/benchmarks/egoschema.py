"""EgoSchema: five options a question, one video each; keys for the 500-question subset only.

Read in three shapes: `questions.json` with `subset_answers.json` beside it, rows of the hub's
Parquet or JSON (`video_idx`, `option`), and a map of video to question with `truth`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from egomem.benchmarks.fields import by_index, text, unlettered
from egomem.benchmarks.rows import Fields, Part, Row, base, document, each, rows
from egomem.records import Question, Video

_ANSWERS = "subset_answers.json"
_MOST = 9


def detect(row: Fields) -> bool:
    return "option 0" in row or {"video_idx", "option"} <= row.keys()


def read(files: Sequence[Path]) -> Iterator[Part]:
    keys: dict[str, Any] = {}
    for path in files:
        if base(path) == _ANSWERS:
            held = document(path)
            keys = held if isinstance(held, dict) else {}
    for path in files:
        if base(path) != _ANSWERS:
            found = [row._replace(fields=_flat(row, keys)) for row in rows(path)]
            yield from (Video(id=v) for v in _videos(found))
            yield from each(iter(found), _question)


def _flat(row: Row, keys: dict[str, Any]) -> dict[str, Any]:
    """One shape for the three: `id`, `video`, `choices` and `index` (None where it is not told)."""
    fields = row.fields
    video = fields.get("q_uid") or fields.get("video_idx") or fields.get("key")
    choices: list[Any] = list(fields.get("option") or ())
    choices += [fields[f"option {k}"] for k in range(_MOST) if f"option {k}" in fields]
    told = fields.get("truth", fields.get("answer"))
    return {
        "id": fields.get("question_idx") or video,
        "video": video,
        "question": fields.get("question"),
        "choices": choices,
        "index": keys.get(str(video)) if told in (None, "") else told,
    }


def _videos(found: list[Row]) -> list[str]:
    return list(dict.fromkeys(str(v) for row in found if (v := row.fields.get("video"))))


def _question(row: Fields) -> Question:
    choices = unlettered(row["choices"])
    index = row.get("index")
    return Question(
        id=text(row, "id"),
        text=text(row, "question"),
        options=choices,
        recording=text(row, "video"),
        answer=None if index in (None, "") else by_index(index, choices),
        answerable=True,
    )
