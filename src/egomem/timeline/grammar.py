"""One grammar of time for commands, prompts, files and pages.

It reads times of a recording (`75:30`, `1:02:03`, `12.5s`, `3 min 20 s`, `1:02-1:05`) and of the
wall clock (`10 to 11 am`, `noon`, `yesterday evening`, `an hour ago`, `last Tuesday`, `between
lunch and four`, `DAY1 11210217`, ISO 8601), and says which of the two it is. docs/reference/time.md
lists what it reads and how. `egomem.timeline.format` is its inverse.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date, datetime, timedelta, tzinfo
from typing import Literal, NamedTuple

from egomem.errors import TimeError
from egomem.timeline.clock import Moment, RecordingTime
from egomem.timeline.expressions import Context, TimeExpression, UnresolvedError
from egomem.timeline.mentions import DEFAULT_CONVENTIONS, Conventions, Relation, TimeMention
from egomem.timeline.parse import Parser
from egomem.timeline.resolve import ResolvedTime, relate, resolve, resolve_range, widen
from egomem.timeline.wordlists import MONTHS, VAGUE, Token, tokens

_REMEDY = "write it like 75:30, 10:30 am, yesterday evening or 2026-03-02T08:10+01:00"
_INTROS = ("at", "on", "in", "during", "by", "around", "about", "over", "within")
_RELATIONS: dict[str, Literal["before", "after", "since"]] = {
    "before": "before", "until": "before", "till": "before", "after": "after", "since": "since",
}  # fmt: skip
_FOLLOWS = re.compile(
    "on|in|at|yesterday|today|this|last|that|and|or|when|while|where|what|who|which|how|before|"
    "after|to|until|till|did|was|were|is|do|does|had|have|i|we|he|she|they"
)
"""A word after a bare hour that leaves it one: "at four yesterday", but not "at four houses"."""


_ONE_DAY = timedelta(days=1)
_VAGUE = frozenset(cue[0] for cue in VAGUE)


class _ParsedTime(NamedTuple):
    """A time, or why there is none (`problem`; or `error` where it is impossible).

    `evident`: it is a time even in the middle of a sentence. `whole`: it is one where it is all the
    text. `begin` and `after` are token indices.
    """

    placed: ResolvedTime | None
    problem: str
    error: TimeError | None
    relation: Relation
    evident: bool
    whole: bool
    begin: int
    after: int


def read_time(
    text: str,
    *,
    now: datetime | None = None,
    zone: tzinfo | None = None,
    day_one: date | None = None,
    conventions: Conventions = DEFAULT_CONVENTIONS,
) -> TimeMention:
    """Read a text that is one time.

    `now` (aware) is the question's time, which relative words count from; `zone` the recording's,
    in which local times are read (default: the question's); `day_one` the date of EgoLife's DAY1.
    Raises TimeError for a text that cannot be read, is impossible (a local time that the clocks
    skip, an end before a start, four segments), or lacks a clock, zone or first day.
    """
    context = _context(now, zone, day_one, conventions)
    words = tokens(text)
    while words and words[-1].text in (".", "?", "!", ",", ";"):
        words.pop()
    if not words:
        raise TimeError("there is no time in an empty text", _REMEDY)
    if _vague(words, 0) == len(words):
        raise TimeError(f"{text.strip()!r} names no time that could be worked out", _REMEDY)
    result = _expression(Parser(words, context), 0)
    if result is None or result.after < len(words) or not result.whole:
        raise TimeError(f"cannot read {text.strip()!r} as a time", _REMEDY)
    if result.error is not None:
        raise result.error
    if result.placed is None:
        raise TimeError(
            f"cannot place {text.strip()!r}: {result.problem}", _missing(result.problem)
        )
    return _when(text, words, result)


def find_times(
    text: str,
    *,
    now: datetime | None = None,
    zone: tzinfo | None = None,
    day_one: date | None = None,
    conventions: Conventions = DEFAULT_CONVENTIONS,
    here: tzinfo | None = None,
) -> list[TimeMention]:
    """Find the times inside a sentence, in order, with their character offsets.

    A time that cannot be resolved (relative words without a clock, an impossible time) is a
    `TimeMention` with a `problem`. Never raises. Arguments are those of `read_time`. A range is one
    mention, and so is everything that belongs to one time ("last Tuesday at ten past four").
    `here` is where the question is asked, and "today" counted from, if that is not `zone`.
    """
    context = _context(now, zone, day_one, conventions, here)
    words = tokens(text)
    parser = Parser(words, context)
    cues: list[TimeMention] = []
    i = 0
    while i < len(words):
        if not parser.begins(i) and words[i].text not in _VAGUE:
            i += 1
            continue
        if vague := _vague(words, i):
            cues.append(
                _problem(text, words, i, vague, "it names no time that could be worked out")
            )
            i = vague
            continue
        try:
            result = _expression(parser, i)
        except TimeError as error:
            # An impossible time in a question ("at 25:99") is worth a word: without it the question
            # would be answered as if no time had been given.
            after = _extent(words, i)
            if after > i:
                cues.append(_problem(text, words, i, after, error.message))
            i = max(after, i + 1)
            continue
        # "may", "second" and "one" are mostly no times: in a sentence only evident ones count.
        if result is None or not result.evident:
            i += 1
            continue
        cues.append(_when(text, words, result))
        i = result.after
    return cues


def read_start(text: str, *, zone: tzinfo | None = None) -> datetime:
    """Read the start of a recording, such as `2026-03-02T08:10+01:00`, for `--start`.

    The zone is an offset, an IANA name after the time (`2026-03-02 08:10 Europe/Berlin`), or
    `zone`. Raises TimeError where there is none, or where the text is not one date and time.
    """
    remedy = "write it like 2026-03-02T08:10+01:00 or 2026-03-02 08:10 Europe/Berlin"
    words = tokens(text.strip())
    if not words or words[0].kind != "iso" or ":" not in words[0].text:
        raise TimeError(f"cannot read the start {text.strip()!r}", remedy)
    context = _context(None, zone, None, DEFAULT_CONVENTIONS)
    read = Parser(words, context).combination(0)
    after = read[1] if read else 0
    expression = read[0] if read else TimeExpression()
    if after < len(words):
        raise TimeError(f"cannot read the start {text.strip()!r}", remedy)
    try:
        placed = resolve(expression, context)
    except UnresolvedError:
        raise TimeError(f"the start {text.strip()!r} has no zone", remedy) from None
    assert placed.instants is not None
    return placed.instants.start


def read_moment(
    text: str,
    *,
    now: datetime | None = None,
    zone: tzinfo | None = None,
    day_one: date | None = None,
    recording: str | None = None,
    conventions: Conventions = DEFAULT_CONVENTIONS,
    edge: Literal["start", "end"] = "end",
) -> Moment:
    """Read a moment, as for `--at`; of a stretch ("yesterday") the `edge`, its end by default.

    `75:30` is a time of `recording`; without one, `10:30` is a time of the day, and a time that can
    only be of a recording raises TimeError, as does everything that `read_time` raises for.
    """
    # Without a recording, 10:30 cannot be minutes and seconds of one.
    if recording is None:
        conventions = replace(conventions, bare="wall")
    when = read_time(text, now=now, zone=zone, day_one=day_one, conventions=conventions)
    if when.instants is not None:
        return when.instants.start if edge == "start" else when.instants.end
    assert when.span is not None
    if recording is None:
        raise TimeError(
            f"{text.strip()!r} is a time of a recording, but not which one's",
            "name the recording, or give a wall-clock time",
        )
    return RecordingTime(recording, when.span.start if edge == "start" else when.span.end)


def _context(
    now: datetime | None,
    zone: tzinfo | None,
    day_one: date | None,
    conventions: Conventions,
    here: tzinfo | None = None,
) -> Context:
    if now is not None and now.utcoffset() is None:
        raise TimeError("the question's time has no zone", "give an aware datetime")
    return Context(now, zone or (now.tzinfo if now else None), day_one, conventions, here)


def _expression(parser: Parser, i: int) -> _ParsedTime | None:
    """A time at token i. Raises TimeError for what no calendar has."""
    try:
        return _read(parser, i)
    except (ValueError, OverflowError):
        raise TimeError("the time lies outside the calendar") from None


def _read(parser: Parser, i: int, day: TimeExpression | None = None) -> _ParsedTime | None:
    """A time with the words that introduce it: "after", "around", "from X to Y".

    After a `day`, only a time of that day is read.
    """
    if day is None and (result := _on_a_day(parser, i)):
        return result
    if parser.word(i) in ("from", "between"):
        between = parser.word(i) == "between"
        # "from ten to eleven" is a range; elsewhere "ten to eleven" is 10:50.
        parser.idiom = False
        result = _range(parser, i + 1, between=between, begin=i, day=day)
        parser.idiom = True
        return result or (None if between or day else _read(parser, i + 1))
    j = i + int(parser.word(i) in ("shortly", "just", "right") and parser.word(i + 1) in _RELATIONS)
    relation = _RELATIONS.get(parser.word(j))
    j += int(relation is not None)
    around = False
    for intro in _INTROS if not relation else ("about", "around"):
        if parser.word(j) == intro:
            around, j = intro in ("around", "about"), j + 1
            break
    if parser.word(j) in ("around", "about") and j == i + 1:
        around, j = True, j + 1
    # "after 10 to 11" is no range: the relation takes the first time.
    if not relation and not around and (ranged := _range(parser, j, day=day)):
        return ranged
    if day and not relation and not around:
        return None
    led = j > i
    if (read := parser.atom(j)) is None and led and parser.word(j) == "the":
        j += 1
        read = parser.atom(j)
    if read is None:
        return None
    expression, after = read
    if day:
        if (of_day := _of_day(expression, day)) is None:
            return None
        expression = of_day
    evident = (expression.evident and not expression.bare) or (
        led and _leads(parser, i, j, expression, after)
    )
    whole = led or not expression.bare
    kind: Relation = "at" if not relation else "before" if relation == "before" else "after"
    first = i if relation or around else j
    try:
        placed = resolve(expression, parser.context)
        if around:
            placed = widen(placed, parser.context)
        if relation:
            placed = relate(placed, relation, parser.context)
    except UnresolvedError as missing:
        return _ParsedTime(None, str(missing), None, kind, evident, whole, first, after)
    except TimeError as error:
        return _ParsedTime(None, error.message, error, kind, evident, whole, first, after)
    return _ParsedTime(placed, "", None, kind, evident, whole, first, after)


def _on_a_day(parser: Parser, i: int) -> _ParsedTime | None:
    """A day, and then a time of it: "yesterday from 10 to 11 am", "on Monday after lunch"."""
    j = i + int(parser.word(i) == "on")
    read = parser.atom(j)
    if read is None or not read[0].days or read[0].clock or read[0].absolute:
        return None
    day, after = read
    # "in May after lunch" names no one day whose lunch it could be.
    if read[0].days[1] - read[0].days[0] != _ONE_DAY:
        return None
    result = _read(parser, after + int(parser.word(after) == ","), day)
    if result is None or (result.placed and result.placed.span):
        return None
    return result._replace(evident=True, whole=True, begin=j)


def _of_day(expression: TimeExpression, day: TimeExpression) -> TimeExpression | None:
    """A clock time or a part of a day, on the given day; None for anything else."""
    if expression.days or expression.absolute or expression.elapsed or expression.problem:
        return None
    part = expression.part or (day.part if expression.clock else None)
    return replace(expression, days=day.days, part=part, zone=expression.zone or day.zone)


def _range(
    parser: Parser,
    i: int,
    *,
    between: bool = False,
    begin: int | None = None,
    day: TimeExpression | None = None,
) -> _ParsedTime | None:
    """X to Y; with `begin` (the token of "from" or "between"), what follows that word."""
    if (left := parser.atom(i)) is None:
        return None
    joints = ("and",) if between else ("to", "-", "until", "till", "through", "/")
    if parser.word(left[1]) not in joints:
        return None
    j = left[1] + 1
    if (right := parser.atom(j)) is None and parser.word(j) == "the":
        right = parser.atom(j + 1)
    if right is None:
        return None
    if day:
        bare = left[0].bare and right[0].bare
        if (bare and not _ends(parser, right[1])) or not (expression := _of_day(left[0], day)):
            return None
        left = expression, left[1]
    sides = (left[0], right[0])
    evident = any(side.evident or (begin is not None and side.elapsed) for side in sides)
    first, after = (i if begin is None else begin), right[1]
    whole = begin is not None or any(not side.bare for side in sides)
    try:
        placed = resolve_range(left[0], right[0], between, parser.context)
    except UnresolvedError as missing:
        return _ParsedTime(None, str(missing), None, "at", evident, whole, first, after)
    except TimeError as error:
        return _ParsedTime(None, error.message, error, "at", evident, whole, first, after)
    return _ParsedTime(placed, "", None, "at", evident, whole, first, after)


def _leads(parser: Parser, i: int, j: int, expression: TimeExpression, after: int) -> bool:
    """Whether the words from i to j make a time of what would not be one alone."""
    intro = parser.word(i)
    if expression.elapsed:
        # "after 5 minutes" is a time of the recording, "after a minute" a mere manner of speaking.
        article = parser.word(j) in ("a", "an")
        return not article and (intro == "at" or intro in _RELATIONS)
    if expression.bare and not expression.days:
        if intro in ("on", "in", "over", "within", "during", "by", "about"):
            return False
        return _ends(parser, after)
    return True


def _ends(parser: Parser, after: int) -> bool:
    """Whether a bare number that ends before a token may be an hour."""
    rest = parser.tokens[after:]
    return not rest or rest[0].text in ".,;:?!)" or _FOLLOWS.fullmatch(rest[0].text) is not None


def _vague(words: list[Token], i: int) -> int:
    """The token after a cue that names no time, such as "a while ago"; else 0."""
    for cue in VAGUE:
        if tuple(token.text for token in words[i : i + len(cue)]) == cue:
            return i + len(cue)
    return 0


def _extent(words: list[Token], i: int) -> int:
    """The token after an impossible time that begins at i; i where none begins there."""
    # A word in front (such as "at") is kept out of the mention, so that the number is marked alone.
    if words[i].kind == "word" and words[i].text not in MONTHS:
        return i
    j = i + 1
    while j < len(words) and (words[j].kind != "word" or words[j].text in ("am", "pm")):
        j += 1
    while words[j - 1].kind == "mark" and j - 1 > i:
        j -= 1
    return j


def _when(text: str, words: list[Token], result: _ParsedTime) -> TimeMention:
    begin, end = words[result.begin].start, words[result.after - 1].end
    span = result.placed.span if result.placed else None
    instants = result.placed.instants if result.placed else None
    note = result.placed.note if result.placed else ""
    return TimeMention(
        text[begin:end], (begin, end), span, instants, result.problem, note, result.relation
    )


def _problem(text: str, words: list[Token], i: int, after: int, problem: str) -> TimeMention:
    begin, end = words[i].start, words[after - 1].end
    return TimeMention(text[begin:end], (begin, end), problem=problem)


def _missing(problem: str) -> str:
    if "zone" in problem:
        return "give the zone, or write the time with its offset"
    if "first day" in problem:
        return "give the date of DAY1"
    return "give the question's time, or write a date"
