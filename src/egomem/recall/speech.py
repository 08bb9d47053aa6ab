"""Who said what: the speaker of a line of speech, and the speakers a question names."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from egomem.memory import View
from egomem.recall.view_cache import ViewCache
from egomem.recall.words import PLAIN
from egomem.records import Observation

_NAMED = re.compile(
    r"\s*(?P<name>[^\W\d_][\w'.-]*(?: [^\W\d_][\w'.-]*){0,2}):\s+(?P<words>\S.*)", re.S
)
_WORD = re.compile(r"[^\W\d_]+")


def said(o: Observation) -> tuple[str, str]:
    """The speaker ("" if not named) and the words of an observation.

    A speaker is `data["speaker"]`, or in speech a leading `Name:`.
    """
    if o.source != "speech":
        return "", o.text
    speaker = o.data.get("speaker")
    match = _NAMED.fullmatch(o.text)
    if match and (speaker is None or match["name"] == speaker):
        return match["name"], match["words"]
    return (speaker if isinstance(speaker, str) else ""), o.text


_speakers: ViewCache[tuple[str, ...]] = ViewCache()


def speakers_of(view: View) -> tuple[str, ...]:
    """Everybody whom the speech of a view names as its speaker, in order of name."""

    def make() -> tuple[str, ...]:
        fields = view.speaker_fields()
        names = {who if isinstance(who, str) else _leading_name(before) for who, before in fields}
        return tuple(sorted(names - {""}))

    return _speakers.get(view, make)


def _leading_name(text: str | None) -> str:
    match = _NAMED.fullmatch(f"{text}: -") if text else None
    return match["name"] if match else ""


def names_in(text: str, speakers: Iterable[str]) -> dict[str, str]:
    """The speakers that a text names: each as it is written there -> the speaker, in order.

    A speaker goes by the whole name or by a part of it that no other speaker has. Capitals count
    ("will" is not Will), unless the text has none after its first letter.
    """
    called: dict[str, set[str]] = {}
    for speaker in filter(None, speakers):
        for name in {speaker, *_WORD.findall(speaker)}:
            if name == speaker or len(name) > 1:
                called.setdefault(name, set()).add(speaker)
    one = {name: min(who) for name, who in called.items() if len(who) == 1 or name in who}
    if not one:
        return {}
    lower = text[1:] == text[1:].lower()
    if lower:
        one |= {name.lower(): who for name, who in one.items() if name.lower() not in PLAIN}
    pattern = _any_of(tuple(sorted(one, key=len, reverse=True)))
    return {m.group(1): one[m.group(1)] for m in pattern.finditer(text)}


def without(text: str, parts: Iterable[str]) -> str:
    """A text without some words of it, such as names, and their genitive."""
    longest_first = sorted({part for part in parts if part}, key=len, reverse=True)
    return " ".join(_any_of(tuple(longest_first)).sub(" ", text).split()) if longest_first else text


@lru_cache(maxsize=256)
def _any_of(names: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)({'|'.join(map(re.escape, names))})(?!\w)(?:['’]s\b)?")
