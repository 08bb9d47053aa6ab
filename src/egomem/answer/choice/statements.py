"""What a reply states about the options: patterns over an encoded reply.

A statement has a strength. Where strong statements disagree, or one of them names two options,
there is no reading; weaker ones are looked at only where there are no stronger.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import IntEnum
from typing import NamedTuple

from egomem.answer.choice import words
from egomem.answer.choice.mentions import LABEL, MENTION, TEXT, EncodedReply
from egomem.answer.choice.words import word_pattern


class Strength(IntEnum):
    LOOSE = 1  # a clause or a list's head that is a label: "Hmm. B, I think."
    STATED = 2  # "the answer is B", "B is correct", a line that is a label
    FINAL = 3  # "final answer: B"


class Statement(NamedTuple):
    strength: Strength
    at: int
    end: int
    options: frozenset[int]
    negated: bool = False
    head: bool = False


class ReplyStatements(NamedTuple):
    statements: list[Statement]
    ruled_out: frozenset[int]
    others: frozenset[int]
    """Options that are mentioned apart from what is ruled out: by label (set apart), or by text."""


_GAP = r"[\s:：=—–\"'(\[{<>|,\]】」-]"
_JOIN = (
    rf"(?:\s*[,/&+、，|]\s*(?:{word_pattern(words.CONJUNCTIONS)})?\s*|\s*{word_pattern(words.CONJUNCTIONS)}\s*)"
    rf"(?:{word_pattern(['option', 'either', '选项'])}\s*)?"
)
_ATTACHED = (
    rf"(?:(?<={LABEL})[ .):：,\-–—(\"'\]]{{0,4}}(?=[(\[\"']*{TEXT})"
    rf"|(?<={TEXT})[\"']? ?(?=[(\[]{LABEL}))"
)
_MORE = rf"(?:(?:{_JOIN}|{_ATTACHED})[(\[\"']{{0,4}}{MENTION}){{0,40}}"
_GROUP = rf"(?P<group>(?>[(\[{{\"'<]{{0,4}}{MENTION}{_MORE}))"
_FILLER = (
    rf"(?:{_GAP}|…|{word_pattern([*words.FILLERS, 'either', 'both'])}"
    rf"|{word_pattern(words.NEGATORS)}|'t)"
)
_CUES = word_pattern(words.ANSWER_NOUNS + words.CHOOSING_VERBS + words.RIGHT_OPTION_CUES)

_CUED = re.compile(rf"(?P<cue>{_CUES}){_FILLER}{{0,24}}?{_GROUP}")
_CUED_BETWEEN = re.compile(
    rf"{word_pattern(['between'])}\s+{MENTION}{_JOIN}{MENTION}[^.!?\n]{{0,40}}?{_CUES}\s+{_GROUP}"
)
_PREDICATE = (
    rf"(?:{word_pattern(words.PREDICATE_FILLERS)}|{word_pattern(words.NEGATORS)}"
    r"|n't|[\s:：|.)\]\"'>=–—-])"
)
_NOT_SPATIAL = r"(?!\s+(?:next|now|there|here|hand|side|after|before)\b)"
_RIGHT = (
    rf"(?:{word_pattern(words.AFFIRMING_PHRASES)}{_NOT_SPATIAL}"
    rf"|{word_pattern(words.AFFIRMATIONS)}{_NOT_SPATIAL}(?!\s+(?:answer|option|choice)\b))"
)
_WRONG = word_pattern(words.REJECTIONS)
_JUDGED = re.compile(
    rf"{_GROUP}(?P<between>{_PREDICATE}{{0,12}}?)"
    rf"(?:(?P<right>{_RIGHT})|(?P<wrong>{_WRONG}))"
)
_EVERY_OPTION = ["everything", "all", "every option", "each option", "all options", "any option"]
_ALL_BUT = re.compile(
    rf"{word_pattern(_EVERY_OPTION)}"
    rf"\s+(?:{word_pattern(['options', 'others'])}\s+)?"
    rf"{word_pattern(['except', 'but', 'other than', 'apart from', 'besides'])}\s+{_GROUP}"
    rf"[^.\n]{{0,20}}?{_WRONG}"
)
_ONLY_FITS = re.compile(rf"{word_pattern(['only'])}\s+{_GROUP}\s+\w+")
_GUESSED = re.compile(rf"{word_pattern(words.GUESS_CUES)}{_FILLER}{{0,10}}?{_GROUP}")
_LINE = re.compile(
    rf"(?m)^(?P<line>[\s#\"'(\[{{<>|→✅>=-]*"
    rf"(?:{word_pattern(words.LABEL_PREFIXES)}[\s.]*)*"
    rf"{_GROUP}[\s.!)\]}}\"'>|:,;✅。，．!-]*)$"
)
_HEAD = re.compile(
    rf"(?m)^[\s\"'(\[{{<>|→-]*(?:{word_pattern(['option'])}\s*)?{_GROUP}(?P<sep>[\s.():：,\-–—|\"'。，]*)(?P<next>\w*)"
)
_THEN = word_pattern(["so", "no", "then", "hence", "thus", "therefore", "rather"])
_CLAUSE = re.compile(
    rf"(?:^|[.!?。！？;:；…]\s*|(?<!{MENTION})[,，]\s*|[,，]\s*(?={_THEN}))"
    rf"(?:(?:{_THEN}|{word_pattern(['option'])})[\s,]*)*"
    rf"{_GROUP}(?=[\s\"')\]]*(?:[.!?。！？]|$|,\s*i\s|\n))"
)
_RANKED = re.compile(rf"{MENTION}(?:\s*(?:>|≻|»|→)\s*{MENTION}){{1,40}}")
_RANKING = re.compile(
    rf"(?:{word_pattern(['ranking', 'ranked', 'order', 'rank'])})"
    rf"[^\n\U000f0000-\U000ffffd]{{0,40}}?"
    rf"(?P<list>(?:[\s,;>]*(?:\d[.):]\s*)?{MENTION}){{1,40}})"
)
_SCORED = re.compile(
    rf"(?P<one>{MENTION})(?:[\s.):]*{MENTION})?\s*[:=–—-]\s*(?P<number>-?\d+(?:[.,]\d+)?)\s*(?P<unit>%?)(?![\w:])"
)
_HEDGE = re.compile(rf"{word_pattern(words.HEDGES)}\W+(?:\w+\s+){{0,3}}?(?P<one>{MENTION})")
_NEGATOR = re.compile(word_pattern(words.NEGATORS, start=True) + r"|n't(?!\w)")
_NEGATED_AFTER = re.compile(rf"\s*{word_pattern(words.POSTPOSED_NEGATORS)}")
_CLAUSE_BREAK = re.compile(rf"[.!?;:\n。！？；,，、]|{word_pattern(words.NEGATION_SCOPE_ENDS)}")
_MENTION = re.compile(MENTION)
_HEAD_CONTINUATIONS = (words.CAUSAL_WORDS - {"is"}) | {
    "but",
    "not",
    "rather",
    "instead",
    "fits",
    "matches",
}
"""Words by which a label at the start of a line is a choice: `B because ...`; not `B is ...`."""
_BOUND_AFTER = re.compile(
    rf"[\s\"')\]]*(?:$|[.,;:!?。，！？；、\n]|{word_pattern([*words.CONTINUATIONS])})|[^\x00-\u024f]"
)
_OPEN_CUE = re.compile(rf"{_CUES}(?:{_GAP}|{word_pattern(words.FILLERS)}){{0,24}}$")
_OPEN_END = re.compile(
    rf"(?:{word_pattern(['is', 'be', 'option', 'likely', 'the', 'ist', 'es', 'est', 'é'])}"
    r"|[:：=]|是|は)"
    r"[\s\"'({\[]*$"
)
_FIRST_MENTION_CHAR = "\U000f0000"


def extract_statements(encoded: EncodedReply) -> ReplyStatements:
    """The statements of a reply, and the options that it rules out or otherwise mentions."""
    text = encoded.text
    everything = list(_all_statements(encoded))
    denied = {(s.at, s.strength) for s in everything if s.negated}
    ruled_out = {option for s in everything if s.negated for option in s.options}
    found = [
        s
        for s in everything
        if not s.negated
        and not any(s.at == at and s.strength <= hard for at, hard in denied)
        and not any(other.at < s.at < other.end for other in everything)
    ]
    others: set[int] = set()
    negated_spots = _negated_positions(encoded)
    for spot in _MENTION.finditer(text):
        options = encoded.at(spot[0]).options
        if spot.start() in negated_spots:
            ruled_out |= options
        elif encoded.at(spot[0]).form == "text" or _BOUND_AFTER.match(text, spot.end()):
            others |= options
    return ReplyStatements(_drop_option_list(found), frozenset(ruled_out), frozenset(others))


def _all_statements(encoded: EncodedReply) -> Iterator[Statement]:
    text = encoded.text
    for match in _CUED.finditer(text):
        inside = len(_NEGATOR.findall(text, match.end("cue"), match.start("group")))
        negated = _is_negated(text, match.start(), match.start()) != (inside % 2 == 1)
        nearby = text[max(0, match.start() - 12) : match.start("group")]
        final = re.search(word_pattern(words.FINALITY_WORDS), nearby) is not None
        strength = Strength.FINAL if final else Strength.STATED
        yield _statement(encoded, match, strength, negated)
    for match in _CUED_BETWEEN.finditer(text):
        yield _statement(encoded, match, Strength.FINAL, False)
    for match in _JUDGED.finditer(text):
        if "." in match["between"] and " " in (match["right"] or ""):
            continue  # "... C. The correct answer is D"
        before = _is_negated(text, match.start(), match.start("group"))
        flipped = _NEGATOR.search(match["between"]) is not None
        negated = (match["wrong"] is not None) != (flipped or before)
        yield _statement(encoded, match, Strength.STATED, negated)
    for match in _ALL_BUT.finditer(text):
        yield _statement(encoded, match, Strength.STATED, False)
    for match in _ONLY_FITS.finditer(text):
        yield _statement(encoded, match, Strength.LOOSE, False)
    for match in _GUESSED.finditer(text):
        if _BOUND_AFTER.match(text, match.end("group")):
            negated = _is_negated(text, match.start(), match.start("group"))
            yield _statement(encoded, match, Strength.LOOSE, negated)
    for match in _LINE.finditer(text):
        yield _statement(
            encoded, match, Strength.STATED, False, head=_has_label_and_text(encoded, match)
        )
    for match in _HEAD.finditer(text):
        if _is_answer_head(encoded, match):
            yield _statement(encoded, match, Strength.LOOSE, False, head=True)
    for match in _CLAUSE.finditer(text):
        if _ends_sentence(encoded, match.end("group")):
            head = _has_label_and_text(encoded, match)
            yield _statement(encoded, match, Strength.LOOSE, False, head=head)


def _statement(
    encoded: EncodedReply,
    match: re.Match[str],
    strength: Strength,
    negated: bool,
    head: bool = False,
) -> Statement:
    options = _options_of_group(encoded, match["group"])
    after = _NEGATED_AFTER.match(encoded.text, match.end("group")) is not None
    if not negated and not after:
        tail = re.split(r"[.!?\n]", encoded.text[match.end("group") :], maxsplit=1)[0]
        for other in _HEDGE.finditer(tail):
            options |= encoded.at(other["one"]).options
    start, end = match.span("group")
    return Statement(strength, start, end, options, negated or after, head)


def _options_of_group(encoded: EncodedReply, group: str) -> frozenset[int]:
    """The options that a group of mentions names; `2. 3` names the option that both name."""
    sets = [encoded.at(char).options for char in group if char >= _FIRST_MENTION_CHAR]
    common = frozenset.intersection(*sets)
    return common if len(common) == 1 else frozenset().union(*sets)


def _has_label_and_text(encoded: EncodedReply, match: re.Match[str]) -> bool:
    forms = [encoded.at(char).form for char in match["group"] if char >= _FIRST_MENTION_CHAR]
    return "text" in forms and len(forms) > 1


def _is_answer_head(encoded: EncodedReply, match: re.Match[str]) -> bool:
    """`B. She opens ...`, `B: ...`, `B because ...`; not `C. picks up ...`, nor `A kettle ...`."""
    separator, following = match["sep"].strip(" \"'"), match["next"]
    if _has_label_and_text(encoded, match):
        return True
    if not following or following in words.CONTINUATIONS:
        return following in _HEAD_CONTINUATIONS or encoded.text[match.end() : match.end() + 1] in (
            "",
            "\n",
        )
    if separator in ("", ",", "|"):
        return False
    first = encoded.at(match["group"].strip("([{\"'<")[0])
    if first.form != "label":
        return True
    if set(separator) & set("):：-–—(["):
        return True
    return encoded.capital_at(match.end("sep"))


def _ends_sentence(encoded: EncodedReply, at: int) -> bool:
    """`... B.` at the end, before a new line or a capital; not `C. picks up`."""
    rest = re.match(r"[\s\"')\].!?。！？]*", encoded.text[at:])
    end = at + (rest.end() if rest else 0)
    skipped = encoded.text[at:end]
    if "?" in skipped:
        return False
    return (
        end == len(encoded.text)
        or "\n" in skipped
        or encoded.text[end] == ","
        or encoded.capital_at(end)
        or encoded.text[end] >= _FIRST_MENTION_CHAR
    )


def _drop_option_list(found: list[Statement]) -> list[Statement]:
    """Heads of several options are a list of the options, and no statement."""
    heads = {option for s in found if s.head for option in s.options}
    if len(heads) < 2 or all(len(s.options) > 1 for s in found if s.head):
        return found
    if len([s for s in found if s.head]) == 1:
        return found
    return [s for s in found if not s.head]


def _is_negated(text: str, start: int, end: int) -> bool:
    """A negation in the clause before `start`, or between `start` and `end`."""
    breaks = [b.end() for b in _CLAUSE_BREAK.finditer(text, max(0, start - 160), start)]
    clause = text[breaks[-1] if breaks else max(0, start - 160) : end]
    return len(_NEGATOR.findall(clause)) % 2 == 1


def _negated_positions(encoded: EncodedReply) -> set[int]:
    """Positions of mentions that are negated, alone or as one of a group."""
    text = encoded.text
    spots: set[int] = set()
    for match in re.finditer(_GROUP, text):
        after = _NEGATED_AFTER.match(text, match.end("group"))
        if after or _is_negated(text, match.start(), match.start("group")):
            spots |= {m.start() for m in _MENTION.finditer(text, match.start(), match.end())}
    return spots


def find_ranking(encoded: EncodedReply) -> tuple[int, ...]:
    """An order of the options that is written out (`B > C > A`, `Ranking: B, C, A`), or ()."""
    for found in (_RANKED.search(encoded.text), _RANKING.search(encoded.text)):
        if found:
            sets = [encoded.at(char).options for char in found[0] if char >= _FIRST_MENTION_CHAR]
            order = [next(iter(options)) for options in sets if len(options) == 1]
            if len(order) == len(sets) == len(set(order)) > 1:
                return tuple(order)
    return ()


def find_scores(encoded: EncodedReply) -> dict[int, float]:
    """Scores written as `A: 0.1, B: 70%` for two options or more, or {}."""
    found: dict[int, float] = {}
    for match in _SCORED.finditer(encoded.text):
        options = encoded.at(match["one"]).options
        if len(options) != 1 or (option := next(iter(options))) in found:
            return {}
        value = float(match["number"].replace(",", "."))
        found[option] = value / 100 if match["unit"] else value
    return found if len(found) > 1 else {}


def is_retracted(text: str, first: int, last: int) -> bool:
    """Whether something between two statements takes the first one back."""
    return re.search(word_pattern(words.RETRACTIONS), text[first:last]) is not None


def ends_on_open_cue(text: str) -> bool:
    """Whether a reply ends on a cue that nothing follows: it was cut off."""
    return _OPEN_CUE.search(text) is not None and _OPEN_END.search(text) is not None
