"""EgoSchema: five options per question, one video each; keys for the 500-question subset only.

Read in three forms: `questions.json` with `subset_answers.json` beside it, rows of the hub's
Parquet or JSON (`video_idx`, `option`), and a map of video to question with `truth`. A question's
id is its video's, as in submissions, whatever the form.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from egomem.benchmarks.fields import label_at_index, options_from_lettered_texts, text_field
from egomem.benchmarks.format import BenchmarkFormat, FormatField, ReadOptions, Submission
from egomem.benchmarks.rows import (
    Fields,
    LoadedItem,
    SourceRow,
    base_name,
    parse_rows,
    read_json,
    read_rows,
)
from egomem.records import Answer, Question, Video

_ANSWERS_FILE = "subset_answers.json"
_MAX_OPTIONS = 9
_NO_KEY = ("", "None", "-1")
"""What stands for a key where it is not public."""


def detect(row: Fields) -> bool:
    return "option 0" in row or {"video_idx", "option"} <= row.keys()


def read(files: Sequence[Path], options: ReadOptions) -> Iterator[LoadedItem]:
    """Questions of all files, with the keys of any of them.

    The hub's folder has the full set several times, and the keys in its subset alone.
    """
    keys: dict[str, Any] = {}
    for path in files:
        if base_name(path) == _ANSWERS_FILE:
            answers = read_json(path)
            keys |= answers if isinstance(answers, dict) else {}
    question_files = [
        (path, [_in_one_form(row) for row in read_rows(path)])
        for path in files
        if base_name(path) != _ANSWERS_FILE
    ]
    for _, rows in question_files:
        keys |= {str(r.fields["id"]): k for r in rows if (k := r.fields["index"]) is not None}
    first_places: dict[str, tuple[Path, object]] = {}
    for path, rows in question_files:
        for row in rows:
            id = str(row.fields["id"] or "")
            content = (row.fields["question"], row.fields["choices"])
            place, first_content = first_places.setdefault(id, (path, content))
            if id and place != path and first_content == content:
                continue
            if id and place == path and first_content is content:
                yield Video(id=id, source_dataset="EgoSchema", source_uid=id)
            fields = {**row.fields, "index": keys.get(id)}
            yield from parse_rows(iter([row._replace(fields=fields)]), _question)


def _in_one_form(row: SourceRow) -> SourceRow:
    """The row with the fields `id`, `question`, `choices` and `index` (None without a key)."""
    fields = row.fields
    listed = fields.get("option")
    choices: list[Any] = list(listed) if isinstance(listed, list | tuple) else []
    choices += [fields[f"option {k}"] for k in range(_MAX_OPTIONS) if f"option {k}" in fields]
    keys = [str(v).strip() for k in ("truth", "answer") if (v := fields.get(k)) is not None]
    same_form = {
        "id": fields.get("q_uid") or fields.get("video_idx") or fields.get("key"),
        "question": fields.get("question"),
        "choices": choices,
        "index": next((key for key in keys if key not in _NO_KEY), None),
    }
    return row._replace(fields=same_form)


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


def _numbers_by_id(answers: Iterable[tuple[Question, Answer]]) -> dict[str, int]:
    return {
        question.id: [option.label for option in question.options].index(answer.choice)
        for question, answer in answers
        if answer.choice is not None
    }


FORMAT = BenchmarkFormat(
    name="egoschema",
    summary="EgoSchema.",
    detect=detect,
    read=read,
    companions=("subset_answers.",),
    published={"full": 5031, "subset": 500},
    submission=Submission(
        "a JSON map of q_uid to the option's number, from 0", document=_numbers_by_id
    ),
    fields=(
        FormatField("q_uid", "id", "the question's and the video's id; video_idx in the hub's rows",
                    "u", required=True),
        FormatField("question", "question", "the text", "Why does C wash it?", required=True),
        FormatField("option 0", "options", "the first option, and so on", "it is dirty"),
        FormatField("option 1", "options", "the second", "it is hot"),
        FormatField("option 2", "options", "the third", "it is new"),
        FormatField("option", "options", "the hub's rows: a list of all options"),
        FormatField("truth", "answer", "the right option's number, from 0; the hub: answer", 1),
    ),
)  # fmt: skip
