"""EgoMemReason: questions of 4 to 10 options over EgoLife's week, asked at times of numbered days.

The public split has no key: answers are handed in. Version 1.1 of July 2026 shuffled the letters,
so answers to rows of an earlier release cannot be handed in with these.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from egomem.benchmarks.fields import matching_label, parse_options, select_tags, text_field
from egomem.benchmarks.format import BenchmarkFormat, FormatField, ReadOptions, Submission
from egomem.benchmarks.rows import Fields, InvalidRowError, LoadedItem, parse_rows, read_rows
from egomem.errors import TimeError, UsageError
from egomem.records import Answer, Question
from egomem.timeline import read_time

_DAY_AND_TIME = re.compile(r"(DAY)\s*_?(\d{1,2})\s*[,_]?\s*(\d{1,2}:\d\d(?::\d\d)?)", re.IGNORECASE)


def detect(row: Fields) -> bool:
    return {"example_id", "query_time", "options"} <= row.keys()


def read(files: Sequence[Path], options: ReadOptions) -> Iterator[LoadedItem]:
    """Raises UsageError without a zone and a first day: a question at no time would see the
    future.
    """
    if options.zone is None or options.day_one is None:
        raise UsageError(
            "EgoMemReason asks at times of numbered days",
            "give the zone and the date of DAY1, as for EgoLife's captions",
        )
    for path in files:
        yield from parse_rows(read_rows(path), partial(_question, options), key="example_id")


def _question(options: ReadOptions, row: Fields) -> Question:
    choices = parse_options(row.get("options"))
    key = row.get("correct_answer")
    return Question(
        id=text_field(row, "example_id"),
        text=text_field(row, "question"),
        options=choices,
        at=_instant(text_field(row, "query_time"), options),
        answer=None if key in (None, "") else matching_label(key, choices),
        answerable=True,
        tags=select_tags(row, "p_id", "identity", type="query_type"),
    )


def _instant(text: str, options: ReadOptions) -> datetime:
    """The instant of a text such as `DAY7, 19:00:00`. Raises InvalidRowError."""
    match = _DAY_AND_TIME.fullmatch(text.strip())
    if match is None:
        raise InvalidRowError(f"query_time is {text!r}, not a day and a time: DAY7, 19:00:00")
    try:
        when = read_time(
            f"DAY{match[2]} {match[3]}", zone=options.zone, day_one=options.day_one
        ).instants
    except TimeError as error:
        raise InvalidRowError(str(error)) from None
    if when is None:
        raise InvalidRowError(f"query_time is {text!r}, which is no moment of a day")
    return when.start


def _submission_rows(answers: Iterable[tuple[Question, Answer]]) -> list[dict[str, Any]]:
    return [
        {
            "example_id": int(question.id) if question.id.isdecimal() else question.id,
            "predicted_answer": answer.choice,
        }
        for question, answer in answers
    ]


def _read_entry(entry: Any) -> list[dict[str, Any]] | None:
    if not isinstance(entry, Mapping) or not {"example_id", "predicted_answer"} <= entry.keys():
        return None
    return [{"id": str(entry["example_id"]), "choice": entry["predicted_answer"]}]


FORMAT = BenchmarkFormat(
    name="egomemreason",
    summary="EgoMemReason; needs a zone and the date of DAY1.",
    detect=detect,
    read=read,
    published={"public": 500},
    submission=Submission(
        "a JSON list of {example_id, predicted_answer}",
        read_entry=_read_entry,
        document=_submission_rows,
    ),
    fields=(
        FormatField("example_id", "id", "the question's id, from 1", "1", required=True),
        FormatField("question", "question", "the text", "Who cooked most often?", required=True),
        FormatField("options", "options", "a map of label to text, A to J at most",
                    {"A": "Ann", "B": "Bo", "C": "Cy", "D": "Di"}, required=True),
        FormatField("query_time", "time", "when it is asked", "DAY7, 19:00:00", required=True),
        FormatField("correct_answer", "answer", "the label of the right option; not public",
                    "B"),
        FormatField("query_type", "tag", "the kind of question; the tag is `type`",
                    "Event Ordering"),
        FormatField("identity", "tag", "whose memory it is", "A1_JAKE"),
        FormatField("p_id", "tag", "the person's number"),
    ),
)  # fmt: skip
