"""Digests as an outline: days, in them hours, in them ten minutes."""

from __future__ import annotations

from datetime import date

from egomem.ingest.digests.facts import DigestFigures, Fact
from egomem.ingest.digests.levels import LEVELS, RECORDING
from egomem.ingest.digests.parts import Statement
from egomem.ingest.digests.plan import stale_ids
from egomem.ingest.digests.record import facts_in, figures_in, label, statements_in, stretch
from egomem.memory import View
from egomem.records import Observation, Record

_ORDER = {level.name: number for number, level in enumerate(LEVELS)} | {RECORDING: len(LEVELS)}


class OutlineLine(Record):
    """A line of a digest: `when` on the wearer's wall, or in its recording; `problem` says what no
    observation bears out; `rests_on` are ids of observations."""

    when: str
    text: str
    rests_on: tuple[str, ...] = ()
    problem: str = ""


class OutlineFact(Record):
    """An exact attribute, when it was first observed, and by which observation (`source`)."""

    kind: str
    text: str
    value: str
    when: str
    source: str
    count: int = 1


class DigestOutline(Record):
    """A digest with those of shorter levels that lie in it.

    `title` names its stretch; `stale` says that what it covers has changed since it was written.
    """

    id: str
    level: str
    title: str
    day: str
    wearer: str
    recording: str | None
    track: str
    stale: bool
    lines: tuple[OutlineLine, ...]
    facts: tuple[OutlineFact, ...]
    figures: DigestFigures
    parts: tuple[DigestOutline, ...] = ()


def outlines(view: View, *, day: date | None = None) -> list[DigestOutline]:
    """The digests of a view, in order of time, the longest first and shorter ones within.

    `day`: only of this date on the wearer's wall. Digests of each track stand by themselves.
    """
    stale, _ = stale_ids(view.store, None if day is None else _recordings_of(view, day))
    digests = [o for o in view.observations(sources=["digest"]) if o.data.get("level") in _ORDER]
    if day is not None:
        digests = [o for o in digests if o.data.get("day") == day.isoformat()]
    names = {r.id: r.name for r in view.recordings()}
    by_id = {o.id: o for o in digests}
    children: dict[str, list[Observation]] = {}
    inner: set[str] = set()
    for o in sorted(digests, key=lambda o: (o.span, o.id)):
        below = [by_id[id] for id in o.provenance.rests_on if id in by_id]
        children[o.id] = sorted(below, key=lambda o: (o.span, o.id))
        inner |= {child.id for child in below}

    def outline(o: Observation) -> DigestOutline:
        return DigestOutline(
            id=o.id,
            level=str(o.data["level"]),
            title=_title(o, names),
            day=str(o.data.get("day", "")),
            wearer=o.wearer,
            recording=o.recording,
            track=o.track,
            stale=o.id in stale,
            lines=tuple(map(_line, statements_in(o))),
            facts=tuple(map(_fact, facts_in(o))),
            figures=figures_in(o),
            parts=tuple(outline(child) for child in children[o.id]),
        )

    tops = [o for o in digests if o.id not in inner]
    tops.sort(key=lambda o: (o.recording or "", o.span.start, -_ORDER[str(o.data["level"])], o.id))
    return [outline(o) for o in tops]


def _recordings_of(view: View, day: date) -> list[str]:
    """The recordings that run on a date of the wearer's wall."""
    return [
        r.id
        for r in view.store.recordings()
        if r.clock is not None and r.clock.start.date() <= day <= r.clock.at(r.duration).date()
    ]


def _title(o: Observation, names: dict[str, str]) -> str:
    """`Saturday 2025-01-04`, `10:00-11:00`, or the stretch of a recording."""
    statements = statements_in(o)
    offset = statements[0].offset if statements else None
    if o.data.get("level") == "day":
        day = date.fromisoformat(str(o.data["day"]))
        return f"{day:%A} {day.isoformat()}"
    covered = stretch(o.span.start, o.span.end, offset)
    if o.recording is not None:
        return f"{names.get(o.recording, o.recording)} {covered}"
    return covered


def _line(s: Statement) -> OutlineLine:
    when = stretch(s.start, s.end, s.offset)
    return OutlineLine(when=when, text=s.line, rests_on=s.ids, problem=s.problem)


def _fact(f: Fact) -> OutlineFact:
    return OutlineFact(
        kind=f.kind,
        text=f.text,
        value=f.value,
        when=label(f.start, f.offset),
        source=f.source,
        count=f.count,
    )
