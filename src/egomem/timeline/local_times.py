"""Times of a sentence in several zones: "29 March" is a day of each place that was recorded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime, tzinfo

from egomem.timeline.grammar import find_times
from egomem.timeline.mentions import DEFAULT_CONVENTIONS, Conventions, TimeMention


def find_local_times(
    text: str,
    zones: Iterable[tzinfo | None],
    *,
    now: datetime | None = None,
    conventions: Conventions = DEFAULT_CONVENTIONS,
) -> list[TimeMention]:
    """Find the times inside a sentence as the clocks of each zone tell them.

    The first zone is where the question is asked: "today" is counted from there. What the words
    name in the others is `TimeMention.by_zone`. Never raises.
    """
    here, *others = [*zones] or [None]
    mentions = find_times(text, now=now, zone=here, conventions=conventions)
    for zone in others if mentions else ():
        there = find_times(text, now=now, zone=zone, conventions=conventions, here=here)
        by_text = {mention.text_span: mention for mention in there}
        mentions = [_also_in(zone, here, mention, by_text) for mention in mentions]
    return mentions


def _also_in(
    zone: tzinfo | None,
    here: tzinfo | None,
    mention: TimeMention,
    there: Mapping[tuple[int, int], TimeMention],
) -> TimeMention:
    """A mention with what it names in another zone, where that is another time."""
    other = there.get(mention.text_span)
    if other is None or mention.span is not None or other.instants == mention.instants:
        return mention
    reading = (str(zone), other.instants)
    if mention.instants is not None or other.instants is None:
        return replace(mention, by_zone=(*mention.by_zone, reading))
    # A time that the clocks skip here may well be one there.
    return replace(
        mention,
        instants=other.instants,
        problem="",
        note=mention.problem,
        by_zone=((str(here), None), *mention.by_zone, reading),
    )
