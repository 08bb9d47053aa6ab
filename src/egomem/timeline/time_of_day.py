"""Whether a text names a time of day: what the one grammar of time reads as a clock time."""

from __future__ import annotations

from dataclasses import replace

from egomem.errors import TimeError
from egomem.timeline.expressions import Context
from egomem.timeline.grammar import find_times
from egomem.timeline.mentions import DEFAULT_CONVENTIONS
from egomem.timeline.parse import Parser
from egomem.timeline.wordlists import tokens

_WALL = replace(DEFAULT_CONVENTIONS, bare="wall")


def names_time_of_day(text: str) -> bool:
    """Whether a text names a time of a clock: `10:30`, `half past three`, `17h30`, `midday`.

    `10:30` counts, although it may be a time of the recording. Days and parts of a day ("yesterday
    evening") are no clock time.
    """
    return any(_is_time_of_day(mention.text) for mention in find_times(text, conventions=_WALL))


def _is_time_of_day(mention: str) -> bool:
    words = tokens(mention)
    parser = Parser(words, Context(None, None, None, _WALL))
    has_day = False
    i = 0
    while i < len(words):
        if words[i].kind == "iso" and ":" in words[i].text:
            return True
        try:
            read = parser.atom(i)
        except TimeError:
            return words[i].kind == "colon"
        if read is None:
            i += 1
            continue
        expression, i = read
        # In "March 3 or 5" the 5 is a day.
        if expression.clock and not (has_day and expression.bare):
            return True
        has_day = has_day or bool(expression.days)
    return False
