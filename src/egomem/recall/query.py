"""What a question says of time: an event to start from, which of several, and clock times.

after washing the cup / before I went out / while cooking    find that event first
the last time, most recently / the first time                order what is found
at 10:30, yesterday evening, at 3:20                         bound the search
at the beginning, halfway, near the end                      prefer a place of the recording
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from egomem.timeline import TimeMention

Relation = Literal["after", "before", "while"]
Order = Literal["first", "last"]

_RELATIONS: dict[str, Relation] = {
    "after": "after", "since": "after", "once": "after", "as soon as": "after",
    "before": "before", "until": "before", "till": "before",
    "while": "while", "during": "while", "when": "while", "as": "while",
}  # fmt: skip
_CLAUSE = re.compile(
    r"\b(?:right |just |immediately |shortly |directly |soon )?"
    r"(?P<relation>after|since|as soon as|before|until|till|while|during|(?<=\S\s)when)\s+"
    r"(?P<event>[^,;?!]+)",
    re.IGNORECASE,
)
_LEADING = re.compile(
    r"^\s*(?:right |just |immediately |shortly )?(?P<relation>after|before|while|during|when|once)"
    r"\s+(?P<event>[^,;?!]+),\s*(?P<rest>\S.*)$",
    re.IGNORECASE | re.DOTALL,
)
_LAST = re.compile(
    r"\b(?:the )?(?:last|latest|most recent) time\b|\bmost recently\b|\blast(?= (?:see|saw|seen|"
    r"use|used|put|leave|left|have|had|hold|held|wear|wore|touch|touched|open|opened|place|placed|eat|"
    r"ate|meet|met|talk|talked|speak|spoke|take|took)\b)",
    re.IGNORECASE,
)
_FIRST = re.compile(
    r"\b(?:the )?first time\b|\b(?:did|do) \w+ first\b|\bfirst(?= (?:see|saw|use|used|put|open|"
    r"opened|take|took|meet|met|touch|touched|place|placed)\b)",
    re.IGNORECASE,
)
_LEFT = re.compile(
    r"^\s*where (?:did|have|had) (?:i|we) (?:\w+ )?(?:leave|left|put|place|placed)\b|"
    r"^\s*where (?:is|are) my\b|^\s*where's my\b",
    re.IGNORECASE,
)
_HINTS = (
    (0.0, re.compile(r"\b(?:at|in|near) the (?:very )?(?:beginning|start)\b", re.IGNORECASE)),
    (0.5, re.compile(r"\bin the middle of the (?:video|recording|clip)\b|\bhalfway\b", re.I)),
    (1.0, re.compile(r"\b(?:at|in|near|towards) the (?:very )?end\b", re.IGNORECASE)),
)


@dataclass(frozen=True, slots=True)
class Anchor:
    """An event that the question starts from, in the question's words."""

    relation: Relation
    event: str


@dataclass(frozen=True, slots=True)
class QueryPlan:
    """How a question is searched for.

    `text` is what is matched: the question without its times, "last" and the like; `rest` is that
    without the anchor's clause. `order` says which of several matches is meant. `bounds` are times
    that limit the search; `hints` are places of a recording (0 its start, 1 its end). `notes` say
    what could not be resolved, in words for the asker.
    """

    text: str
    rest: str = ""
    anchor: Anchor | None = None
    order: Order | None = None
    bounds: tuple[TimeMention, ...] = ()
    hints: tuple[float, ...] = ()
    notes: tuple[str, ...] = ()


def plan(question: str, *, now: datetime | None = None, zone: tzinfo | None = None) -> QueryPlan:
    """Reads a question's time language. `now` is the instant it is asked at, where that is known.

    Never raises on any text. A time that cannot be resolved is left out, and noted.
    """
    from egomem.timeline import find_times  # the grammar of time is loaded by the first question

    text = question
    times = find_times(question, now=now, zone=zone)
    bounds = tuple(t for t in times if not t.unresolved)
    notes = tuple(f"“{t.text}” was not used: {t.problem}" for t in times if t.unresolved)
    for t in reversed(bounds):
        text = text[: t.text_span[0]] + " " + text[t.text_span[1] :]
    order: Order | None = None
    if _LAST.search(text):
        order = "last"
    elif _FIRST.search(text):
        order = "first"
    elif _LEFT.search(text):  # what was left is where it was left last
        order = "last"
    text = _FIRST.sub(" ", _LAST.sub(" ", text))
    hints = []
    for place, pattern in _HINTS:
        if pattern.search(text):
            hints.append(place)
            text = pattern.sub(" ", text)
    text = " ".join(text.split()) or question
    rest, anchor = _anchored(text)
    return QueryPlan(text, " ".join(rest.split()), anchor, order, bounds, tuple(hints), notes)


def _anchored(text: str) -> tuple[str, Anchor | None]:
    """The question without its anchor clause, and the anchor."""
    if match := _LEADING.match(text):
        return match["rest"], _anchor(match)
    for match in _CLAUSE.finditer(text):
        rest = text[: match.start()] + " " + text[match.end() :]
        if len(rest.split()) > 2:
            return rest, _anchor(match)
    return text, None


def _anchor(match: re.Match[str]) -> Anchor:
    return Anchor(_RELATIONS[match["relation"].lower()], match["event"].strip())


_PLACES = (
    (0.0, re.compile(r"\b(?:beginning|start|started|first|initially|earliest)\b", re.IGNORECASE)),
    (0.25, re.compile(r"\b(?:before|earlier|second)\b", re.IGNORECASE)),
    (0.5, re.compile(r"\b(?:middle|halfway|midway|third)\b", re.IGNORECASE)),
    (0.75, re.compile(r"\b(?:after|later|afterwards)\b", re.IGNORECASE)),
    (1.0, re.compile(r"\b(?:end|ending|last|finally|final|latest)\b", re.IGNORECASE)),
)


def places(text: str, duration: float) -> tuple[float, ...]:
    """CapMem's time hints as shares of a recording of `duration` seconds (our reconstruction).

    Words for beginning, middle and end, first and last, before and after, and times of the
    recording such as 12:30.
    """
    found = [place for place, words in _PLACES if words.search(text)]
    if duration > 0:
        from egomem.timeline import find_times

        spans = [t.span for t in find_times(text) if t.span is not None]
        found += [span.middle / duration for span in spans if span.middle <= duration]
    return tuple(found)
