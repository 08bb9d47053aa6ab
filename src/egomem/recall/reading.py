"""Reading a question: the only place that does. Rules over English question forms.

What is not understood is asked by its words alone: a question of another language, or of no known
form, is of kind "what", and is answered by what shares its words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING

from egomem.errors import UsageError
from egomem.recall.asked_source import QUOTED, asked_source
from egomem.recall.instructions import without_instructions
from egomem.recall.local_times import zones_of
from egomem.recall.query import Anchor, Kind, Order, Part, Query, Relation
from egomem.recall.speech import names_in, speakers_of, without
from egomem.recall.terms import telling
from egomem.recall.words import heavy_words_of, says, stem_set, words_of

if TYPE_CHECKING:
    from egomem.memory import View
    from egomem.timeline import Conventions, Moment

_KINDS: tuple[tuple[Kind, str], ...] = (
    ("times", r"\bhow (many times|often)\b"),
    ("how_long", r"\b(how long|for how many (seconds|minutes|hours)|what duration)\b"),
    ("count", r"\b(how many|what number of)\b"),
    ("when", r"^(and |so |but )?(when|at (what|which) (time|moment|point|second|minute))\b"),
    ("when", r"\b(what time|when (did|was|were|is|does|do)|(which|what) (day|date|month|year))\b"),
    ("where", r"^(and |so |but )?where\b|\b(in (which|what) (room|place))\b"),
    ("who", r"^(and |so |but )?(who|whom|whose)\b"),
    ("whether", r"^(did|do|does|was|were|is|are|has|have|had|can|could|will|would|any)\b"),
)
_STATE = re.compile(r"\s*(?:where|is|are)\b", re.IGNORECASE)
_NOW = re.compile(r"\b(?:right now|just now|now|currently|at the moment)\b", re.IGNORECASE)
_SINCE = re.compile(
    r"^\s*how long (?:has it been |is it |was it )?since (?=(?:i|we|you|he|she|they|the|my|\w+) )",
    re.IGNORECASE,
)
_AGO = re.compile(r"\bhow long ago\b", re.IGNORECASE)
_ORDERING = re.compile(
    r"(?P<list>\b(in )?(which|what) order\b|\b(what|which|who) (\w+ ){0,3}?first\b)"
    r"|^(did|was|were|is|does)\b.*\b(before|after)\b"
)
_LIST_WORDS = re.compile(
    r"^(did|was|were|is|does)\b|\b(did|do|does|were|was|are|is|happen|happened|appear|appeared|come|"
    r"came|said|seen|shown)\b"
)
_LEAVING = re.compile(r"\b(disappear\w*|leave|leaves|left|gone|vanish\w*|stop\w*|end|ends|ended)\b")
_VISIBLE = re.compile(
    r"\b(was|were|is|are) there\b|\b(did|have|had|do) (i|we|you) (ever )?(see|seen|look at)\b"
    r"|\b(appear\w*|visible|in view|in sight|disappear\w*)\b"
)
_SAYING = re.compile(r"\b(say|says|said|saying|reads?|written|tell|tells|told|shows?|shown)\b")
_COMES = re.compile(r"\b(come|comes|came|coming) (in|into) (view|sight)\b")
_NAME_OF = re.compile(r"\bthe (exact )?names? of\b")
_GOES = re.compile(r"\b(go|goes|went|going) out of (view|sight)\b|\bgo(es)? away\b|\bwent away\b")

_PLACE = r"\b(?:at|in|near|towards?|during) the (?:very )?"
_OF_VIDEO = r"(?: of the (?:video|recording|clip|footage))?\b"
_PARTS: tuple[tuple[Part, re.Pattern[str]], ...] = (
    ("start", re.compile(rf"{_PLACE}(?:beginning|start){_OF_VIDEO}", re.I)),
    # "In the middle of the road" is a place, not a time.
    ("middle", re.compile(rf"{_PLACE}middle{_OF_VIDEO}(?! of\b)|\bhalfway\b", re.I)),
    ("end", re.compile(rf"{_PLACE}end{_OF_VIDEO}", re.I)),
)

_DONE = (
    "see|saw|seen|use|used|put|leave|left|have|had|hold|held|wear|wore|touch|touched|open|opened|"
    "place|placed|eat|ate|meet|met|talk|talked|speak|spoke|take|took"
)
_NOT_ORDER = "name|names|aid|floor|class|person|minute|resort|language|ladies|lady"
_ORDERS: tuple[tuple[Order, re.Pattern[str]], ...] = (
    ("last", re.compile(
        r"\b(?:the )?(?:last|latest|most recent) time\b|\bmost recently\b|\b(?:latest|most recent|"
        rf"finally|final)\b|\blast(?= (?:{_DONE})\b)|\blast\b(?! (?:{_NOT_ORDER})\b)", re.I)),
    ("first", re.compile(
        r"\b(?:the )?first time\b|\bearliest\b|\binitially\b|"
        rf"\bfirst\b(?! (?:{_NOT_ORDER})\b)", re.I)),
)  # fmt: skip
_LEFT_SOMEWHERE = re.compile(
    r"^\s*where (?:did|have|had) (?:i|we) (?:\w+ )?(?:leave|left|put|place|placed)\b|"
    r"^\s*where (?:is|are) my\b|^\s*where's my\b",
    re.IGNORECASE,
)
"""Questions for a thing's place: what was left is where it was left last."""

_RELATIONS: dict[str, Relation] = {
    "after": "after", "since": "after", "once": "after", "as soon as": "after",
    "before": "before", "until": "before", "till": "before",
    "while": "while", "during": "while", "when": "while", "as": "while",
}  # fmt: skip
_SOON = r"(?:right |just |immediately |shortly |directly |soon )?"
_CLAUSE = re.compile(
    rf"\b{_SOON}(?P<relation>after|since|as soon as|before|until|till|while|during|"
    r"(?<=\S\s)(?:when|as(?=[^,;?!]*\b(?:is|are|was|were)\b)))\s+(?P<event>[^,;?!]+)",
    re.IGNORECASE,
)
_LEADING = re.compile(
    rf"^\s*{_SOON}(?P<relation>after|before|while|during|when|as|once)\s+"
    r"(?P<event>(?!(?:did|do|does|was|were|is|are|has|have|will)\b)[^,;?!]+),\s*(?P<rest>\S.*)$",
    re.IGNORECASE | re.DOTALL,
)
_NO_EVENT = re.compile(
    r"(?:right |just |even |up to )?(?:now|then|this|that|it|today|tonight|here|all|long)\W*", re.I
)
"""What follows "before" or "since" and names no event: "before now", "since then"."""
_ASKS = re.compile(r"\s*(what|who|where|how|why|which)\b", re.IGNORECASE)


MAX_QUESTION_CHARS = 10_000
"""Of a question with its options. No question of a person is that long, and reading takes time."""


def check_length(text: str, options: Sequence[str] = ()) -> None:
    """Raises UsageError for a question that is too long to be read."""
    length = len(text) + sum(map(len, options))
    if length > MAX_QUESTION_CHARS:
        raise UsageError(
            f"the question has {length:,} characters; the limit is {MAX_QUESTION_CHARS:,}",
            "ask in fewer words; a file's content goes in with: egomem import",
        )


def read_query(
    text: str,
    options: Sequence[str] = (),
    *,
    now: datetime | None = None,
    zones: Sequence[tzinfo] = (),
    conventions: Conventions | None = None,
    speakers: Sequence[str] = (),
) -> Query:
    """Reads a question. Never raises on any text.

    `now` is the instant that it is asked at, where that is known; `zones` are those in which was
    recorded, first the one where the wearer is then: each has days and hours of its own;
    `conventions` say how bare times are read; `speakers` are the people who speak in the memory.
    """
    # The grammar of time is loaded when needed.
    from egomem.timeline import DEFAULT_CONVENTIONS
    from egomem.timeline.local_times import find_local_times

    as_written, text = text, without_instructions(text)
    # "Since" is what is asked for here, and places nothing.
    text = _SINCE.sub("How long ago was it that ", text)
    is_now = bool(_STATE.match(text) and _NOW.search(text))
    # A state that holds now was observed before: "now" is no bound, but asks for the latest.
    text = _NOW.sub(" ", text) if is_now else text
    conventions = conventions or DEFAULT_CONVENTIONS
    times = tuple(find_local_times(text, zones, now=now, conventions=conventions))
    # Times are taken out first: "last Tuesday" is a time, and "last" in it no order.
    plain = _cut(text, [t.text_span for t in times if not t.unresolved])
    part = next((part for part, pattern in _PARTS if pattern.search(plain)), None)
    for _, pattern in _PARTS:
        plain = pattern.sub(" ", plain)
    target, anchor = _split(plain)
    # "Most recently" is an order, though as a time it cannot be worked out.
    lost = [t.text for t in times if t.unresolved and t.text.lower() != "recently"]
    placed_text = without(target, lost)
    if anchor is not None:
        anchor = replace(anchor, words=words_of(without(anchor.event, lost)))
    order = _order(placed_text) or ("last" if is_now else None)
    search_text, target_text = (" ".join(_without_order(t).split()) for t in (plain, target))
    # Two words for one event: "go" and "come" alone would match every walk.
    low = _GOES.sub("disappear", _COMES.sub("appear", _lowered(placed_text)))
    low = _NAME_OF.sub(" ", low)
    kind: Kind = next((kind for kind, form in _KINDS if re.search(form, low)), "what")
    items: tuple[str, ...] = ()
    whole = _lowered(without(plain, lost))
    if ordering := _ORDERING.search(whole):
        items = _items(whole[ordering.end() :] if ordering.group("list") else whole)
        kind = "order" if len(items) > 1 else kind
    sources, topic, carrier_text = asked_source(low)
    if sources and kind in ("what", "count", "where"):
        kind = "read" if sources == ("screen_text",) else "said"
    words, carrier = heavy_words_of(topic), heavy_words_of(carrier_text)
    # Anything to hold on to is better than an empty search.
    if not (words or anchor or sources or times or part or order):
        words = words_of(low)
    names = names_in(text, speakers)
    carried = {word.stem for word in carrier}
    # "What did Ana say about Ben": Ana speaks, and both are named.
    by_carrier = [who for name, who in names.items() if not carried.isdisjoint(stem_set(name))]
    return Query(
        text=as_written,
        search_text=search_text or text,
        target_text=target_text,
        kind=kind,
        words=words,
        phrases=tuple(m.group(1).strip() for m in QUOTED.finditer(text)),
        speakers=tuple(dict.fromkeys(by_carrier or names.values())),
        items=items,
        options=tuple(options),
        anchor=anchor,
        times=times,
        order=order,
        part=part,
        leaving=bool(_LEAVING.search(low)),
        sources=sources,
        carrier=carrier,
        caption_words=(*heavy_words_of(_SAYING.sub(" ", low)), says()) if sources else (),
        visible=bool(_VISIBLE.search(low)) and not sources,
        name_texts=tuple(names),
    )


def is_ago(text: str) -> bool:
    """True where a question asks how long ago something was."""
    return bool(_AGO.search(text) or _SINCE.match(text))


def read_for(
    view: View,
    text: str,
    options: Sequence[str] = (),
    *,
    now: datetime | None = None,
    speakers: Sequence[str] | None = None,
    at_end: bool = True,
) -> Query:
    """Reads a question that is asked of a view; `speakers` are the view's, unless given.

    Without `now` it is asked at the moment that the view ends, or (with `at_end`) at the end of
    what the view holds; else relative times stay unresolved. A bare time such as 8:25 is one of the
    recording, unless no recording is that long.
    """
    speakers = speakers_of(view) if speakers is None else speakers
    recordings = view.recordings()
    ends = [end for r in recordings if (end := r.instant(r.duration))]
    now = now or instant_of(view, view.until)
    if now is None and at_end:
        now = max(ends, key=datetime.timestamp, default=None)
    zones = zones_of(recordings)
    query = read_query(text, options, now=now, zones=zones, speakers=speakers)
    longest = max((r.duration for r in recordings), default=0.0)
    # "At 8:25" in clips of 30 s can only be the clock on the wall.
    if now is not None and query.at is not None and query.at > longest:
        from egomem.timeline import DEFAULT_CONVENTIONS

        on_the_clock = replace(DEFAULT_CONVENTIONS, bare="wall")
        return read_query(
            text, options, now=now, zones=zones, conventions=on_the_clock, speakers=speakers
        )
    return query


def instant_of(view: View, moment: Moment | None) -> datetime | None:
    """The wall clock at a moment, where it is known."""
    if moment is None or isinstance(moment, datetime):
        return moment
    recordings = (r for r in view.recordings() if r.id == moment.recording)
    return next((r.instant(moment.seconds) for r in recordings), None)


def _cut(text: str, spans: Sequence[tuple[int, int]]) -> str:
    for start, end in reversed(spans):
        # Its preposition goes with it, or "at" would be left behind as a word of place.
        before = re.sub(r"\b(?:at|on|around)\s+$", "", text[:start], flags=re.IGNORECASE)
        text = f"{before} {text[end:]}"
    return text


def _lowered(text: str) -> str:
    return " ".join(text.lower().split()).strip(" ?!.")


def _order(target: str) -> Order | None:
    """The first or the last of several; "last Tuesday" was taken out as a time before."""
    for order, pattern in _ORDERS:
        if pattern.search(target):
            return order
    return "last" if _LEFT_SOMEWHERE.search(target) else None


def _without_order(text: str) -> str:
    for _, pattern in _ORDERS:
        text = pattern.sub(" ", text)
    return text


def _split(text: str) -> tuple[str, Anchor | None]:
    """What is asked, and the event that it is placed by."""
    if (match := _LEADING.match(text)) and words_of(match["event"]):
        return match["rest"], _anchor(match)
    for match in _CLAUSE.finditer(text):
        before = text[: match.start()]
        # "Stirred until it was smooth" says how it was stirred, not when.
        if match["relation"].lower() in ("until", "till") and telling(before):
            continue
        rest = f"{before} {text[match.end() :]}"
        # "Who looks after" is no anchor: something has to be asked beside the event.
        if len(rest.split()) > 2 and (words_of(before) or _ASKS.match(before)):
            return rest, None if _NO_EVENT.fullmatch(match["event"]) else _anchor(match)
    return text, None


def _anchor(match: re.Match[str]) -> Anchor:
    return Anchor(_RELATIONS[match["relation"].lower()], match["event"].strip())


def _items(body: str) -> tuple[str, ...]:
    """The things that a question wants in order: a list with commas, "and", "or", "before"."""
    body = _LIST_WORDS.sub(" ", body)
    parts = re.split(r"\s*(?:,|;|:|\bor\b|\band\b|\bbefore\b|\bafter\b)\s*", body)
    return tuple(p.strip() for p in parts if heavy_words_of(p))
