"""What a question asks for: its kind, what it is about, and where in time it points.

Rules over English question forms. A question of another language, or of no known form, is of kind
"what": it is still answered by quoting what speaks to it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from egomem.answer.extractive.wordlists import MEDIA
from egomem.answer.extractive.words import Word, heavy_words_of, says, words_of
from egomem.records import Source
from egomem.timeline import DEFAULT_CONVENTIONS, Conventions, TimeMention, find_times

Kind = Literal[
    "what", "when", "where", "who", "said", "read", "times", "count", "how_long", "order", "whether"
]
Relation = Literal["before", "after", "while"]

_KINDS: tuple[tuple[Kind, str], ...] = (
    ("times", r"\bhow (many times|often)\b"),
    ("how_long", r"\b(how long|for how many (seconds|minutes|hours)|what duration)\b"),
    ("count", r"\b(how many|what number of)\b"),
    ("when", r"^(and |so |but )?(when|at (what|which) (time|moment|point|second|minute))\b"),
    ("when", r"\b(what time|when (did|was|were|is|does|do)|(which|what) (day|date|month|year))\b"),
    ("where", r"^(and |so |but )?where\b|\b(in (which|what) (room|place))\b"),
    ("who", r"^(and |so |but )?(who|whom|whose)\b"),
    ("whether", r"^(did|do|does|was|were|is|are|has|have|had|can|could|will|would|any)\b"),
)  # fmt: skip
_ORDERING = re.compile(
    r"(?P<list>\b(in )?(which|what) order\b|\b(what|which|who) (\w+ ){0,3}?first\b)"
    r"|^(did|was|were|is|does)\b.*\b(before|after)\b"
)
_ANCHOR = re.compile(
    r"\b(right |just |immediately |soon |shortly )?(before|after|while|during|when|as)\b"
)
_PART = re.compile(
    r"\b(?:at|in|near|towards?|during)\s+the\s+(?:very\s+)?(start|beginning|middle|end)\b"
)
_FIRST = re.compile(r"\b(first|earliest|initially)\b")
_LAST = re.compile(r"\b(last|latest|most recent|most recently|final|finally)\b")
_LEAVING = re.compile(r"\b(disappear\w*|leave|leaves|left|gone|vanish\w*|stop\w*|end|ends|ended)\b")
_MEDIUM = "|".join(MEDIA.split())
_READ = re.compile(
    rf"\b({_MEDIUM})s?\b.*\b(say|says|said|read|reads|show|shows|showed|shown)\b"
    rf"|\b(read|text|words|shown|it say)\b.*\b(on|in) (the|a|an|that|my) ([\w-]+ ){{0,3}}"
    rf"({_MEDIUM})s?\b"
    r"|\bwhat (text|words?) (was|were|did i) (seen|shown|visible|written|see|read)\b|\bwritten\b"
)
_SAID = re.compile(
    r"\b(say|says|said|saying|tell|told|talk\w*|mention\w*|speak\w*|spoke|spoken|heard|hear)\b"
)
_READ_CUES = re.compile(
    rf"\b({_MEDIUM}|say|says|said|read|reads|show|shows|showed|shown|written|words?|seen|visible)s?\b"
)
_SEEN = re.compile(
    r"\b(was|were|is|are) there\b|\b(did|have|had|do) (i|we|you) (ever )?(see|seen|look at)\b"
    r"|\b(appear\w*|visible|in view|in sight|disappear\w*)\b"
)
_SAYING = re.compile(r"\b(say|says|said|saying|reads?|written|tell|tells|told|shows?|shown)\b")
_ASIDE = re.compile(r"\bas (was |were )?(said|told|mentioned|heard)\b|\bso to (say|speak)\b")
_WHAT = re.compile(
    r"(?:what|which)\b(.*?)\b(?:did|do|does|was|were|is|are|has|have|had|am)\b(.*)", re.DOTALL
)
"""The thing of "what kind of thing did he say ...", and the clause."""

_PLACE = re.compile(r"\s*(in|at|on|from|to|into|during|by|near|inside|outside)\b")
_COMES = re.compile(r"\b(come|comes|came|coming) (in|into) (view|sight)\b")
_GOES = re.compile(r"\b(go|goes|went|going) out of (view|sight)\b|\bgo(es)? away\b|\bwent away\b")


@dataclass(frozen=True, slots=True)
class ParsedQuestion:
    """A question, read.

    `words`: content words of what is asked about. `anchor`: those of the event that it is placed
    by, with `relation`. `at`: seconds of a recording. `times`: all times that it names. `which`:
    the first or the last of several. `part`: where in the recording. `leaving`: the end of
    something is asked for. `items`: the things to be put in order. `sources`: where the answer is
    to be looked for, if the question says so; then `words` are what was said or read about, and
    `carrier` who said it or what it stood on; `plain` are the words to ask of a memory that has no
    such source. `seen`: something that was only spoken of is no
    answer.
    """

    kind: Kind
    text: str
    words: tuple[Word, ...]
    anchor: tuple[Word, ...] = ()
    anchor_text: str = ""
    relation: Relation | None = None
    at: float | None = None
    times: tuple[TimeMention, ...] = ()
    which: Literal["first", "last"] | None = None
    part: Literal["start", "middle", "end"] | None = None
    leaving: bool = False
    items: tuple[str, ...] = ()
    sources: tuple[Source, ...] = ()
    carrier: tuple[Word, ...] = ()
    seen: bool = False
    plain: tuple[Word, ...] = ()


def read_question(
    text: str, *, now: datetime | None = None, habits: Conventions = DEFAULT_CONVENTIONS
) -> ParsedQuestion:
    """Reads a question. Never raises: what is not understood is asked by its words alone.

    `now` is the question's time, which relative times count from; `habits` say how bare ones are
    read.
    """
    times = tuple(find_times(text, now=now, habits=habits))
    plain = _without(text, times)
    low = " ".join(plain.lower().split()).strip(" ?!.")
    low = _GOES.sub("disappear", _COMES.sub("appear", low))
    part = _PART.search(low)
    rest = _PART.sub(" ", low)
    target, relation, anchor = _split(rest)
    kind: Kind = next((kind for kind, form in _KINDS if re.search(form, target)), "what")
    items: tuple[str, ...] = ()
    if ordering := _ORDERING.search(rest):
        items = _items(rest[ordering.end() :] if ordering.group("list") else rest)
        kind = "order" if len(items) > 1 else kind
    sources, about, carrier = _sourced(target)
    if sources and kind in ("what", "count", "where"):
        kind = "read" if sources == ("screen_text",) else "said"
    words = heavy_words_of(about)
    which: Literal["first", "last"] | None = (
        "first" if _FIRST.search(target) else "last" if _LAST.search(target) else None
    )
    if not (words or anchor or sources or times or part or which):
        words = words_of(target)
    at = next((t.span.start for t in times if t.span is not None), None)
    return ParsedQuestion(
        kind=kind,
        text=text,
        words=words,
        anchor=words_of(anchor),
        anchor_text=anchor,
        relation=relation or _relation(times),
        at=at,
        times=times,
        which=which,
        part=_part(part.group(1)) if part else None,
        leaving=bool(_LEAVING.search(target)),
        items=items,
        sources=sources,
        carrier=heavy_words_of(carrier),
        seen=bool(_SEEN.search(target)) and not sources,
        plain=(*heavy_words_of(_SAYING.sub(" ", target)), says()) if sources else (),
    )


def _sourced(target: str) -> tuple[tuple[Source, ...], str, str]:
    """The source that a question names, what it is about, and what carries the words.

    "What did the man say about a fox": speech, about a fox, by the man. With a question of *when*
    something was said or read, all of its words are what it is about.
    """
    quote = re.search(r"[\"\u201c\u201e]([^\"\u201d]+)[\"\u201d]", target)
    if _READ.search(target):
        if quote:
            return ("screen_text",), quote.group(1), ""
        rest = _READ_CUES.sub(" ", target)
        return ("screen_text",), *(("", rest) if target.startswith("what") else (rest, ""))
    target = _ASIDE.sub(" ", target)
    if not _SAID.search(target):
        return (), target, ""
    if quote:
        return ("speech",), quote.group(1), target.replace(quote.group(0), " ")
    clause = _WHAT.match(target)
    if clause is None:
        return ("speech",), _SAID.sub(" ", target), ""
    thing, rest = clause.groups()
    cue = _SAID.search(rest)
    subject, behind = (rest[: cue.start()], rest[cue.end() :]) if cue else (rest, "")
    if _PLACE.match(behind):
        return ("speech",), thing, f"{subject} {behind}"
    return ("speech",), f"{_SAID.sub(' ', thing)} {behind}", subject


def _without(text: str, times: tuple[TimeMention, ...]) -> str:
    for time in reversed(times):
        begin, end = time.text_span
        text = f"{text[:begin]} {text[end:]}"
    return text


def _relation(times: tuple[TimeMention, ...]) -> Relation | None:
    for time in times:
        if time.span is not None and time.relation != "at":
            return time.relation
    return None


def _part(word: str) -> Literal["start", "middle", "end"]:
    return "middle" if word == "middle" else "end" if word == "end" else "start"


def _split(low: str) -> tuple[str, Relation | None, str]:
    """What is asked, how it is placed, and the event that it is placed by."""
    for cue in _ANCHOR.finditer(low):
        word = cue.group(2)
        before, behind = low[: cue.start()].strip(" ,"), low[cue.end() :].strip(" ,")
        relation: Relation = (
            "before" if word == "before" else "after" if word == "after" else "while"
        )
        if not before:
            if word == "when" and re.match(
                r"(did|was|were|is|does|do|will|has|have|are)\b", behind
            ):
                continue
            anchor, comma, target = behind.partition(",")
            if comma and words_of(anchor):
                return target.strip(), relation, anchor.strip()
            continue
        if word == "as" and not re.search(r"\b(is|are|was|were)\b", behind):
            continue
        if words_of(before) or re.match(r"(what|who|where|how|why|which)\b", before):
            return before, relation, behind
    return low, None, ""


_LIST_WORDS = re.compile(
    r"^(did|was|were|is|does)\b|\b(did|do|does|were|was|are|is|happen|happened|appear|appeared|come|"
    r"came|said|seen|shown)\b"
)


def _items(body: str) -> tuple[str, ...]:
    """The things that a question wants in order: a list with commas, "and", "or", "before"."""
    body = _LIST_WORDS.sub(" ", body)
    parts = re.split(r"\s*(?:,|;|:|\bor\b|\band\b|\bbefore\b|\bafter\b)\s*", body)
    return tuple(p.strip() for p in parts if heavy_words_of(p))
