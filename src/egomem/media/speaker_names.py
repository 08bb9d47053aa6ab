"""Names of speakers that a transcript writes before their words: `Ana Lopez: it is in the garage`.

Meeting software and people who transcribe write them so. Words before a colon may also be a part
of the sentence ("Remember: two eggs"). What tells a name: how it is written, and that the file
does so again. The rules are our reconstruction.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

Turn = tuple[str | None, str]
"""A speaker, None where nobody is named, and what they say."""

MIN_SHARE = 0.5
"""Share of cues that must begin so for a single word to be a name, unless it comes again."""

MIN_SHARE_OF_FULL_NAMES = 0.2
"""The same for several words: they open a sentence more rarely."""

_WORD = r"[^\W\d_](?:[\w.'’·-]*[\w.])?"
_PREFIX = re.compile(
    r"^(?:[-–—•]\s*|>{2,3}\s*)?"
    rf"(?:\[(?P<bracketed>[^\[\]:]{{1,40}})\]|(?P<name>{_WORD}(?:\s{_WORD}|\s\d{{1,3}}){{0,4}}"
    r"(?:\s[(\[][^()\[\]:]{1,30}[)\]])?))"
    r"\s?(?::(?=\s|$)|：)\s*(?P<words>.*)$"
)
_PARTICLE_WORDS = (
    "al ap bin bint da das de del della den der di do dos du el la le of ten ter und van von y "
    "e ibn"
)
_PARTICLES = frozenset(_PARTICLE_WORDS.split())
_OPENING_WORDS = (
    "a also answer attention because but caution chapter conclusion danger e.g example fact "
    "finally first for hint i i.e important ingredients it item last lastly list music next no "
    "nb note notes now ok okay one or part please plus problem ps p.s question re reason recipe "
    "remember reminder result rule scene second section so solution song step subject summary that "
    "the then there third this tip title today tomorrow topic two update warning well what when "
    "where which who why yes yesterday you"
)
_NO_NAMES = frozenset(_OPENING_WORDS.split())
"""First words that open a sentence or a label."""


def split_turns(cues: Sequence[Turn]) -> list[list[Turn]]:
    """The turns of each cue: a line that begins with a speaker's name begins a turn.

    A cue whose speaker is given otherwise (a voice tag) stays whole.
    """
    lines = [[] if speaker else text.split("\n") for speaker, text in cues]
    names = _names(lines, {speaker for speaker, _ in cues if speaker})
    return [
        _turns(of_cue, names) if of_cue else [cue] for cue, of_cue in zip(cues, lines, strict=True)
    ]


def _names(cues: Sequence[Sequence[str]], voices: set[str]) -> set[str]:
    """The prefixes of a file's lines that are speakers' names."""
    prefixes = [[name for line in lines if (name := _prefix(line))] for lines in cues]
    counts = Counter(name for of_cue in prefixes for name in set(of_cue))
    untagged = [lines for lines in cues if lines]
    share = sum(map(bool, prefixes)) / max(1, len(untagged))
    return {
        name
        for name, count in counts.items()
        if name in voices
        or _is_label(name)
        or count > 1
        or share >= (MIN_SHARE_OF_FULL_NAMES if len(name.split()) > 1 else MIN_SHARE)
    }


def _is_label(name: str) -> bool:
    """Whether a prefix is a speaker's without more evidence: in capitals, or with a number."""
    return name.isupper() or any(c.isdigit() for c in name)


def _turns(lines: Sequence[str], names: set[str]) -> list[Turn]:
    turns: list[tuple[str | None, list[str]]] = []
    for line in lines:
        name = _prefix(line)
        if name in names:
            match = _PREFIX.match(line)
            assert match is not None
            turns.append((name, [match["words"]]))
        elif turns:
            turns[-1][1].append(line)
        else:
            turns.append((None, [line]))
    spoken = [(name, "\n".join(words).strip()) for name, words in turns]
    return [turn for turn in spoken if turn[1]]


def _prefix(line: str) -> str | None:
    """What may be a name before a line's colon: capitalised words, none of which opens a label."""
    match = _PREFIX.match(line)
    if match is None:
        return None
    name: str = (match["bracketed"] or match["name"]).strip()
    words = [word for word in re.sub(r"[(\[].*", "", name).split() if word]
    if not words or words[0].casefold().rstrip(".") in _NO_NAMES:
        return None
    written_as_names = all(
        not word[0].islower() or word.casefold() in _PARTICLES or match["bracketed"]
        for word in words
    )
    return name if written_as_names and not words[0][0].isdigit() else None
