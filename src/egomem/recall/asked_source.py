"""Where a question says that the answer is to be looked for: what was said, or what was read."""

from __future__ import annotations

import re

from egomem.recall.wordlists import MEDIA
from egomem.records import Source

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
_ASIDE = re.compile(r"\bas (was |were )?(said|told|mentioned|heard)\b|\bso to (say|speak)\b")
QUOTED = re.compile(r"[\"\u201c\u201e]([^\"\u201d]+)[\"\u201d]")
_WHAT = re.compile(
    r"(?:what|which)\b(.*?)\b(?:did|do|does|was|were|is|are|has|have|had|am)\b(.*)", re.DOTALL
)
"""The thing of "what kind of thing did he say ...", and the clause."""
_PLACE = re.compile(r"\s*(in|at|on|from|to|into|during|by|near|inside|outside)\b")


def asked_source(target: str) -> tuple[tuple[Source, ...], str, str]:
    """The source that a question (in lower case) names, what it is about, and what carries the
    words.

    "What did the man say about a fox": speech, about a fox, by the man. With a question of *when*
    something was said or read, all of its words are what it is about.
    """
    quote = QUOTED.search(target)
    if _READ.search(target):
        if quote:
            return ("screen_text",), quote.group(1), ""
        # The words that only say how something was read would match every other sign, too.
        rest = _READ_CUES.sub(" ", target)
        return ("screen_text",), *(("", rest) if target.startswith("what") else (rest, ""))
    # "As I said, where is the cup?" does not ask for speech.
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
    # "What did he say in the kitchen": where it was said, not what it was about.
    if _PLACE.match(behind):
        return ("speech",), thing, f"{subject} {behind}"
    return ("speech",), f"{_SAID.sub(' ', thing)} {behind}", subject
