"""Who said what: the speaker of a line of speech, and the speakers a question names."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from egomem.records import Observation

_NAMED = re.compile(
    r"\s*(?P<name>[^\W\d_][\w'.-]*(?: [^\W\d_][\w'.-]*){0,2}):\s+(?P<words>\S.*)", re.S
)


def said(o: Observation) -> tuple[str, str]:
    """The speaker ("" if not named) and the words of an observation.

    A speaker is `data["speaker"]`, or in speech a leading `Name:`.
    """
    if o.source != "speech":
        return "", o.text
    told = o.data.get("speaker")
    match = _NAMED.fullmatch(o.text)
    if match and (told is None or match["name"] == told):
        return match["name"], match["words"]
    return (told if isinstance(told, str) else ""), o.text


def without_names(text: str, names: Iterable[str]) -> tuple[str, list[str]]:
    """A question without the speakers it names, and their names in order.

    Whoever is named is a matter of who speaks, not of the words: the other one says the name.
    """
    wanted = sorted({name for name in names if name}, key=len, reverse=True)
    if not wanted:
        return text, []
    pattern = _any_of(tuple(wanted))
    named = list(dict.fromkeys(m.group(1) for m in pattern.finditer(text)))
    return (" ".join(pattern.sub(" ", text).split()) if named else text), named


@lru_cache(maxsize=256)
def _any_of(names: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(rf"\b({'|'.join(map(re.escape, names))})\b(?:['’]s\b)?")
