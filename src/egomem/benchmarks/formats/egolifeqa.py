"""EgoLifeQA: questions asked at times of numbered days, over a week of one wearer.

The days have no dates. As with EgoLife's captions, the user gives the date of DAY1 and the zone, so
that a question's time and the memory's are on one timeline.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from egomem.benchmarks.benchmark import BenchmarkFault
from egomem.benchmarks.fields import matching_label, options_from_texts, select_tags, text_field
from egomem.benchmarks.format import BenchmarkFormat, FormatField, ReadOptions
from egomem.benchmarks.rows import (
    Fields,
    InvalidRowError,
    LoadedItem,
    ParsedRow,
    SourceRow,
    parse_rows,
    read_rows,
)
from egomem.errors import TimeError, UsageError
from egomem.records import Evidence, Question
from egomem.timeline import DEFAULT_CONVENTIONS, Span, read_time
from egomem.timeline.clock_times import egolife_frame_base

_TIME = re.compile(r"\d{8}")
_DAY_OR_TIME = re.compile(r"DAY[\s_]*(\d{1,2}?)(?=\d{8}(?!\d)|\D|$)|(\d+)", re.IGNORECASE)

ReadInstant = Callable[[str, str], datetime]
"""Reads a day such as DAY2 and a time HHMMSSFF as an instant."""


def detect(row: Fields) -> bool:
    return {"query_time", "choice_a", "question"} <= row.keys()


def read(files: Sequence[Path], options: ReadOptions) -> Iterator[LoadedItem]:
    """A target time that cannot be read is a fault, and its question stays.

    Raises UsageError without a zone and a first day: a question at no time would see the future.
    """
    for path in files:
        rows = list(read_rows(path))
        # Of the whole file: a single time below 20 tells nothing of its base.
        base = options.frame_base or egolife_frame_base(_times(rows))
        yield from _items(rows, _instant_reader(replace(options, frame_base=base)))


def _items(rows: Sequence[SourceRow], read_instant: ReadInstant) -> Iterator[LoadedItem]:
    unread_targets: list[str] = []

    def question(row: Fields) -> Question:
        instants, unread_targets[:] = _target_times(row.get("target_time"), read_instant)
        return _question(row, instants, read_instant)

    for row in rows:
        item = next(parse_rows(iter([row]), question, key="ID"))
        yield item
        if isinstance(item, ParsedRow):
            for message in unread_targets:
                yield BenchmarkFault(
                    id=item.item.id,
                    kind="evidence",
                    message=message,
                    file=row.file,
                    line=row.line,
                )


def _times(rows: Sequence[SourceRow]) -> Iterator[str]:
    """All times HHMMSSFF of a file; several may be run together."""
    for row in rows:
        texts = (_joined(row.fields.get(k)) for k in ("query_time", "target_time"))
        for text in texts:
            yield from (_eight_digits(time) for _, time in _DAY_OR_TIME.findall(text) if time)


def _eight_digits(time: str) -> str:
    """A time whose leading zero a JSON number has lost."""
    return time.zfill(8) if len(time) == 7 else time


def _instant_reader(options: ReadOptions) -> ReadInstant:
    # The releases name days (DAY1) and no dates.
    if options.zone is None or options.day_one is None:
        raise UsageError(
            "EgoLifeQA asks at times of numbered days",
            "give the zone and the date of DAY1, as for its captions",
        )
    conventions = replace(DEFAULT_CONVENTIONS, frames_per_second=options.frame_base)

    def read_instant(day: str, time: str) -> datetime:
        time = _eight_digits(time)
        text = f"{day} {time}"
        instants = None
        if _TIME.fullmatch(time):
            instants = read_time(
                text, zone=options.zone, day_one=options.day_one, conventions=conventions
            ).instants
        if instants is None:
            raise InvalidRowError(f"the time {text} is not a day and HHMMSSFF")
        return instants.start

    return read_instant


def _question(row: Fields, targets: Sequence[datetime], read_instant: ReadInstant) -> Question:
    choices = options_from_texts(row.get(f"choice_{k}") for k in "abcd")
    asked_at = row.get("query_time")
    if not isinstance(asked_at, Mapping):
        raise InvalidRowError(f"query_time is {asked_at!r}, not a date and a time")
    return Question(
        id=text_field(row, "ID"),
        text=text_field(row, "question"),
        options=choices,
        at=read_instant(text_field(asked_at, "date"), text_field(asked_at, "time")),
        answer=matching_label(text_field(row, "answer"), choices),
        answerable=True,
        evidence=tuple(_evidence(when) for when in targets),
        tags=select_tags(
            row, "type", "need_audio", "need_name", "last_time", "trigger", "keywords", "reason"
        ),
    )


def _evidence(when: datetime) -> Evidence:
    seconds = when.timestamp()
    return Evidence(recording=None, span=Span(seconds, seconds), when=when)


def _target_times(value: object, read_instant: ReadInstant) -> tuple[list[datetime], list[str]]:
    """Target times in the forms that are released, and messages about what cannot be read.

    The forms: `{"date", "time"}`, `{"date", "time_list"}`, a list of these, or a string. A `time`
    may hold several, run together: 10203004DAY4_15120006. A time belongs to the day before it.
    """
    instants: list[datetime] = []
    messages: list[str] = []
    day = ""
    for number, time in _DAY_OR_TIME.findall(_joined(value)):
        if number:
            day = f"DAY{int(number)}"
            continue
        try:
            if not day:
                raise InvalidRowError(f"the target time {time} has no day")
            instants.append(read_instant(day, time))
        except (InvalidRowError, TimeError) as error:
            messages.append(f"{error}: it is left out of the evidence")
    return list(dict.fromkeys(instants)), messages


def _joined(value: object) -> str:
    """All texts in a value of target_time, days before their times."""
    if isinstance(value, Mapping):
        order = ("date", "time", "time_list")
        return " ".join(_joined(value[k]) for k in order if k in value)
    if isinstance(value, list | tuple):
        return " ".join(_joined(v) for v in value)
    return "" if value is None else str(value)


FORMAT = BenchmarkFormat(
    name="egolifeqa",
    summary="EgoLifeQA; needs a zone and the date of DAY1.",
    detect=detect,
    read=read,
    published={"A1_JAKE": 500},
    fields=(
        FormatField("ID", "id", "the question's id", "7", required=True),
        FormatField("question", "question", "the text", "Who brought the cake?", required=True),
        FormatField("choice_a", "options", "option A", "Ann", required=True),
        FormatField("choice_b", "options", "option B", "Bo", required=True),
        FormatField("choice_c", "options", "option C", "Cy", required=True),
        FormatField("choice_d", "options", "option D", "Di", required=True),
        FormatField("answer", "answer", "the label of the right option", "B", required=True),
        FormatField("query_time", "time", "when it is asked: a day and HHMMSSFF",
                    {"date": "DAY2", "time": "11210217"}, required=True),
        FormatField("target_time", "evidence", "when the evidence is, in one of several forms",
                    {"date": "DAY1", "time": "20000000"}),
        FormatField("type", "tag", "the kind of question", "EventRecall"),
        FormatField("need_audio", "tag", "whether sound is needed"),
        FormatField("need_name", "tag", "whether a name is needed"),
        FormatField("last_time", "tag", "whether the last occurrence is asked for"),
        FormatField("trigger", "tag", "what brought the question up"),
        FormatField("keywords", "tag", "words that EgoRAG searches for"),
        FormatField("reason", "tag", "why the answer is right"),
    ),
)  # fmt: skip
