"""Ticks, boxes, arrows and questions to oneself, brought to the one form that statements read.

`✓ B`, `- [x] B` and `B <- correct` become `B ✓`; `B? Yes.` becomes `B: Yes.`, `A 2, B 9` becomes
`A: 2, B: 9`, and so does `A (2 %), B (9 %)`. A comma too many is taken out of JSON.
"""

from __future__ import annotations

import re

from egomem.answer.choice.tables import judged_rows

_GOOD, _BAD = "✓✔✅☑🗹", "✗✘❌✖☐☒×"
_BOX_ON = re.compile(r"(?m)^([ \t]{0,40}(?:[-*+•]|\d{1,3}[.)])?[ \t]{0,8})\[[xX✓✔]\][ \t]*")
_BOX_OFF = re.compile(r"(?m)^([ \t]{0,40}(?:[-*+•]|\d{1,3}[.)])?[ \t]{0,8})\[[ _]?\][ \t]+")
_LEADING = re.compile(rf"(?m)^[ \t]*([{_GOOD}{_BAD}])️?[ \t]*(\S.*?)[ \t]*$")
_POINTED = re.compile(
    r"(?<![ \t])[ \t]*(?:←|⟵|⇐|👈|<={1,2}(?!\d)|<-{1,3})[ \t]*"
    r"(?:(?:the |my |this is (?:the )?)?(?:correct|right|this(?: one)?|answer|here|choice|chosen|"
    r"yes|best|pick|selected)(?: answer| option| one| choice)?[ \t.!]*)?$",
    re.IGNORECASE | re.MULTILINE,
)
_ARROWS = re.compile(r"[→⇒⟶⟹➜➡➔➤▶👉]\ufe0f?|=>|-->|->")
_ASKED = re.compile(
    r"(?<![\w'])([A-Za-z0-9]{1,2})\)?\?[ \t]+(?=(?:yes|no|nope|yep|yeah|possibly|perhaps|maybe|"
    r"unlikely|likely|true|false|correct|incorrect|wrong|right|not)\b)",
    re.IGNORECASE,
)
_PAIR = re.compile(
    r"(?<![\w'])([A-Z])[ \t]+(?:=[ \t]*)?(\d+(?:[.,]\d+)?\s*%?)(?=\s*(?:[,;，；\n]|and\b|$|\.\s*$))"
)
_IN_BRACKETS = re.compile(
    r"(?<![\w'])([A-Z])[ \t]*\("
    r"(?:(?:confidence|probability|likelihood|score|certainty)\s*[:=]?\s*)?"
    r"(\d+(?:[.,]\d+)?\s*%|[01]?\.\d+|high|medium|low)(?:\s*\w+)?\)"
)
_PROBABILITY = re.compile(r"\b[Pp](?:rob)?\(([A-Z])\)\s*(?=[=:≈]\s*\d)")
_PLACE = re.compile(
    r"(?<!\w)(?:1st|2nd|3rd|[4-9]th)(?:[ \t]+(?:place|choice|pick))?[ \t]*[:=–—-][ \t]*"
    r"(?=\W{0,3}[A-Za-z])"
)
_TRAILING_COMMA = re.compile(r",(?=\s*[}\]])")


def plain_marks(text: str) -> str:
    """The text with its marks behind what they mark, and arrows of one kind."""
    text = _places(judged_rows(text))
    text = _POINTED.sub(" ✓", text)
    text = _BOX_OFF.sub(r"\1✗ ", _BOX_ON.sub(r"\1✓ ", text))
    text = _PROBABILITY.sub(r"\1", text)
    text = _ASKED.sub(r"\1: ", text)
    text = re.sub(r"(?m)^([ \t]*)[-*+•][ \t]+(?=[✓✗])", r"\1", text)
    if len(_LEADING.findall(text)) > 1 or _LEADING.fullmatch(text.strip()):
        text = _LEADING.sub(r"\2 \1", text)
    if len({match[1] for match in _PAIR.finditer(text)}) > 1:
        text = _PAIR.sub(r"\1: \2", text)
    if len({match[1] for match in _IN_BRACKETS.finditer(text)}) > 1:
        text = _IN_BRACKETS.sub(r"\1: \2", text)
    else:
        text = _IN_BRACKETS.sub(r"(\1)", text)
    if "{" in text:
        text = _TRAILING_COMMA.sub("", text)
    return _ARROWS.sub("→", text)


def _places(text: str) -> str:
    """`1st: B, 2nd: A` as `Ranking: B, A`; places that do not begin with the first stay."""
    places = [match[0][0] for match in _PLACE.finditer(text)]
    if len(places) < 2 or places != [str(k + 1) for k in range(len(places))]:
        return text
    return _PLACE.sub(lambda match: "Ranking: " if match[0][0] == "1" else "", text)
