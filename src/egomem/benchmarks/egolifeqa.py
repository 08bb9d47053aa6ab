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

from egomem.benchmarks.fields import by_label, lettered, tags, text
from egomem.benchmarks.rows import Fields, Part, RowError, each, rows
from egomem.errors import UsageError
from egomem.records import Evidence, Question
from egomem.timeline import HABITS, Span, read_time

_DAY_OR_TIME = re.compile(r"DAY\s*(\d+)|(?<!\d)(\d{8})(?!\d)", re.IGNORECASE)


def detect(row: Fields) -> bool:
    return {"query_time", "choice_a", "question"} <= row.keys()


def read(
    files: Sequence[Path], *, zone: tzinfo | None, day_one: date | None, frame_base: int
) -> Iterator[Part]:
    """Raises UsageError without a zone and a first day: a question at no time sees the future."""
    if zone is None or day_one is None:
        raise UsageError(
            "EgoLifeQA asks at times of numbered days",
            "give the zone and the date of DAY1, as for its captions",
        )
    habits = replace(HABITS, frames_per_second=frame_base)

    def instant(day: str, time: str) -> datetime:
        found = read_time(f"{day} {time}", zone=zone, day_one=day_one, habits=habits).instants
        if found is None:
            raise RowError(f"the time {day} {time} cannot be placed")
        return found.start

    def question(row: Fields) -> Question:
        choices = lettered(row.get(f"choice_{k}") for k in "abcd")
        asked = row.get("query_time")
        if not isinstance(asked, Mapping):
            raise RowError(f"query_time is {asked!r}, not a date and a time")
        return Question(
            id=text(row, "ID"),
            text=text(row, "question"),
            options=choices,
            at=instant(text(asked, "date"), text(asked, "time")),
            answer=by_label(text(row, "answer"), choices),
            answerable=True,
            evidence=tuple(_evidence(when) for when in _targets(row.get("target_time"), instant)),
            tags=tags(
                row, "type", "need_audio", "need_name", "last_time", "trigger", "keywords", "reason"
            ),
        )

    for path in files:
        yield from each(rows(path), question, key="ID")


def _evidence(when: datetime) -> Evidence:
    seconds = when.timestamp()
    return Evidence(recording=None, span=Span(seconds, seconds), when=when)


def _targets(value: object, instant: Callable[[str, str], datetime]) -> list[datetime]:
    """Target times as they are released: a map, a list of maps, or a string of days and times.

    A time belongs to the day before it. Raises RowError for a time before any day.
    """
    found: list[datetime] = []
    day = ""
    for number, time in _DAY_OR_TIME.findall(_joined(value)):
        if number:
            day = f"DAY{int(number)}"
        elif not day:
            raise RowError(f"the target time {time} has no day")
        else:
            found.append(instant(day, time))
    return list(dict.fromkeys(found))


def _joined(value: object) -> str:
    """Everything that is said of times, days before their times."""
    if isinstance(value, Mapping):
        order = ("date", "time", "time_list")
        return " ".join(_joined(value[k]) for k in order if k in value)
    if isinstance(value, list | tuple):
        return " ".join(_joined(v) for v in value)
    return "" if value is None else str(value)
