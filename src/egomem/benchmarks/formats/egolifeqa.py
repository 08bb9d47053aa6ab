"""EgoLifeQA: questions asked at times of numbered days, over a week of one wearer.

The days have no dates. As with EgoLife's captions, the date of DAY1 and the zone are given by the
user, so that a question's time and the memory's are on one timeline.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, tzinfo
from pathlib import Path

from egomem.benchmarks.benchmark import BenchmarkFault
from egomem.benchmarks.fields import matching_label, options_from_texts, select_tags, text_field
from egomem.benchmarks.rows import (
    Fields,
    InvalidRowError,
    LoadedItem,
    ParsedRow,
    parse_rows,
    read_rows,
)
from egomem.errors import TimeError, UsageError
from egomem.records import Evidence, Question
from egomem.timeline import DEFAULT_CONVENTIONS, Span, read_time

_TIME = re.compile(r"\d{8}")
_DAY_OR_TIME = re.compile(r"DAY[\s_]*(\d{1,2}?)(?=\d{8}(?!\d)|\D|$)|(\d+)", re.IGNORECASE)


def detect(row: Fields) -> bool:
    return {"query_time", "choice_a", "question"} <= row.keys()


def read(
    files: Sequence[Path], *, zone: tzinfo | None, day_one: date | None, frame_base: int
) -> Iterator[LoadedItem]:
    """A target time that cannot be read is a fault, and its question stays.

    Raises UsageError without a zone and a first day: a question at no time sees the future.
    """
    if zone is None or day_one is None:
        raise UsageError(
            "EgoLifeQA asks at times of numbered days",
            "give the zone and the date of DAY1, as for its captions",
        )
    conventions = replace(DEFAULT_CONVENTIONS, frames_per_second=frame_base)

    def instant(day: str, time: str) -> datetime:
        time = f"0{time}" if len(time) == 7 else time  # a number lost its leading zero
        told = f"{day} {time}"
        found = None
        if _TIME.fullmatch(time):
            found = read_time(told, zone=zone, day_one=day_one, conventions=conventions).instants
        if found is None:
            raise InvalidRowError(f"the time {told} is not a day and HHMMSSFF")
        return found.start

    odd: list[str] = []

    def question(row: Fields) -> Question:
        found, faults = _targets(row.get("target_time"), instant)
        odd[:] = faults
        choices = options_from_texts(row.get(f"choice_{k}") for k in "abcd")
        asked = row.get("query_time")
        if not isinstance(asked, Mapping):
            raise InvalidRowError(f"query_time is {asked!r}, not a date and a time")
        return Question(
            id=text_field(row, "ID"),
            text=text_field(row, "question"),
            options=choices,
            at=instant(text_field(asked, "date"), text_field(asked, "time")),
            answer=matching_label(text_field(row, "answer"), choices),
            answerable=True,
            evidence=tuple(_evidence(when) for when in found),
            tags=select_tags(
                row, "type", "need_audio", "need_name", "last_time", "trigger", "keywords", "reason"
            ),
        )

    for path in files:
        for row in read_rows(path):
            made = next(parse_rows(iter([row]), question, key="ID"))
            yield made
            if isinstance(made, ParsedRow):
                id, place = made.made.id, {"file": row.file, "line": row.line}
                yield from (BenchmarkFault(id=id, kind="evidence", message=m, **place) for m in odd)


def _evidence(when: datetime) -> Evidence:
    seconds = when.timestamp()
    return Evidence(recording=None, span=Span(seconds, seconds), when=when)


def _targets(
    value: object, instant: Callable[[str, str], datetime]
) -> tuple[list[datetime], list[str]]:
    """Target times as they are released, and what cannot be read of them.

    `{"date", "time"}`, `{"date", "time_list"}`, a list of these, or a string. A `time` may hold
    more of them, run together: 10203004DAY4_15120006. A time belongs to the day before it.
    """
    found: list[datetime] = []
    faults: list[str] = []
    day = ""
    for number, time in _DAY_OR_TIME.findall(_joined(value)):
        if number:
            day = f"DAY{int(number)}"
            continue
        try:
            if not day:
                raise InvalidRowError(f"the target time {time} has no day")
            found.append(instant(day, time))
        except (InvalidRowError, TimeError) as error:
            faults.append(f"{error}: it is left out of the evidence")
    return list(dict.fromkeys(found)), faults


def _joined(value: object) -> str:
    """Everything that is said of times, days before their times."""
    if isinstance(value, Mapping):
        order = ("date", "time", "time_list")
        return " ".join(_joined(value[k]) for k in order if k in value)
    if isinstance(value, list | tuple):
        return " ".join(_joined(v) for v in value)
    return "" if value is None else str(value)
