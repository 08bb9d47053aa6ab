"""Statements about the options in an encoded reply.

A statement has a strength. Where the strongest statements disagree, or one of them names two
options, the reply has no reading; weaker ones count only where there are no stronger.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import IntEnum
from typing import NamedTuple

from egomem.answer.choice import patterns, words
from egomem.answer.choice.mentions import EncodedReply
from egomem.answer.choice.words import word_pattern


class Strength(IntEnum):
    LOOSE = 1  # a clause or a line's head that is a label: "Hmm. B, I think."
    STATED = 2  # "the answer is B", "B is correct", a line that is a label
    FINAL = 3  # "final answer: B"


class Statement(NamedTuple):
    """A statement that the options are the answer, or are not (`negated`).

    `start` and `end` are positions in the encoded text. `is_head`: a label at a line's start, which
    may be an entry of a list of the options.
    """

    strength: Strength
    start: int
    end: int
    options: frozenset[int]
    negated: bool = False
    is_head: bool = False


class ReplyStatements(NamedTuple):
    """The affirmative statements of a reply, and the options that it rules out or else mentions.

    `mentioned` are options named without a negation: by text, or by a label that is set apart.
    """

    statements: list[Statement]
    ruled_out: frozenset[int]
    mentioned: frozenset[int]


def extract_statements(encoded: EncodedReply) -> ReplyStatements:
    """The statements of a reply, and the options that it rules out or otherwise mentions."""
    text = encoded.text
    statements = list(_all_statements(encoded))
    denials = {(s.start, s.strength) for s in statements if s.negated}
    ruled_out = {option for s in statements if s.negated for option in s.options}
    affirmations = [
        s
        for s in statements
        if not s.negated
        # A stronger pattern may read the same mention as denied, or within a larger group.
        and not any(s.start == start and s.strength <= strength for start, strength in denials)
        and not any(
            other.start < s.start < other.end
            for other in statements
            if s.strength < Strength.FINAL or other.strength == Strength.FINAL
        )
    ]
    mentioned: set[int] = set()
    negated_positions = _negated_positions(encoded)
    for match in patterns.ANY_MENTION.finditer(text):
        mention = encoded.mention(match[0])
        if match.start() in negated_positions:
            ruled_out |= mention.options
        elif mention.form == "text" or patterns.BOUND_AFTER.match(text, match.end()):
            mentioned |= mention.options
    return ReplyStatements(
        _drop_option_list(affirmations), frozenset(ruled_out), frozenset(mentioned)
    )


def _all_statements(encoded: EncodedReply) -> Iterator[Statement]:
    """Every match of every pattern, negated ones too."""
    text = encoded.text
    for match in patterns.CUED.finditer(text):
        if patterns.FORMER.search(text[max(0, match.start() - 60) : match.start()]) or _is_asked(
            text, match.end()
        ):
            continue
        negators = len(patterns.NEGATOR.findall(text, match.end("cue"), match.start("group")))
        negated = _is_negated(text, match.start(), match.start()) != (negators % 2 == 1)
        nearby = text[max(0, match.start() - 12) : match.start("group")]
        is_final = re.search(word_pattern(words.FINALITY_WORDS), nearby) is not None
        strength = Strength.FINAL if is_final else Strength.STATED
        yield _statement(encoded, match, strength, negated)
    for match in patterns.CUED_BETWEEN.finditer(text):
        yield _statement(encoded, match, Strength.FINAL, False)
    for match in patterns.JUDGED.finditer(text):
        if "." in match["between"] and " " in (match["right"] or ""):
            continue  # "... C. The correct answer is D"
        negated_before = _is_negated(text, match.start(), match.start("group"))
        negated_between = patterns.NEGATOR.search(match["between"]) is not None
        negated = (match["wrong"] is not None) != (negated_between or negated_before)
        if match["wrong"] and negated_before and len(match["group"]) > 1:
            negated = True  # "not A, and B is impossible" rules both out
        yield _statement(encoded, match, Strength.STATED, negated)
    for match in patterns.ALL_BUT.finditer(text):
        # Stronger than the judgement "B can be ruled out" that it holds.
        yield _statement(encoded, match, Strength.FINAL, False)
    for match in patterns.ONLY_FITS.finditer(text):
        yield _statement(encoded, match, Strength.LOOSE, False)
    for match in patterns.GUESSED.finditer(text):
        if patterns.BOUND_AFTER.match(text, match.end("group")):
            negated = _is_negated(text, match.start(), match.start("group"))
            yield _statement(encoded, match, Strength.LOOSE, negated)
    for pattern, strength in (
        (patterns.PREFERRED, Strength.FINAL),
        (patterns.PREFERRED_AFTER, Strength.FINAL),
        (patterns.PROBABLY_BEFORE_POSSIBLY, Strength.FINAL),
        (patterns.LESS_LIKELY_THAN, Strength.FINAL),
        (patterns.RATHER_THAN, Strength.FINAL),
        (patterns.BETTER_IN_CHINESE, Strength.FINAL),
        (patterns.BETTER_OF_TWO, Strength.FINAL),
        (patterns.ARROW_END, Strength.STATED),
        (patterns.NAMED_OPTION, Strength.LOOSE),
        (patterns.OPENING_OPTION, Strength.LOOSE),
        (patterns.BRACKETED_END, Strength.LOOSE),
    ):
        for match in pattern.finditer(text):
            if not _is_negated(text, match.start(), match.start("group")):
                start, end = match.span("group")
                yield Statement(strength, start, end, _options_of_group(encoded, match["group"]))
    for match in patterns.LINE.finditer(text):
        is_head = _has_label_and_text(encoded, match)
        yield _statement(encoded, match, Strength.STATED, False, is_head=is_head)
    for match in patterns.HEAD.finditer(text):
        if _is_answer_head(encoded, match):
            yield _statement(encoded, match, Strength.LOOSE, False, is_head=True)
    for match in patterns.CLAUSE.finditer(text):
        if _ends_sentence(encoded, match.end("group")):
            is_head = _has_label_and_text(encoded, match)
            yield _statement(encoded, match, Strength.LOOSE, False, is_head=is_head)


def _is_asked(text: str, end: int) -> bool:
    """Whether a statement stands in a question that leaves it open: "choose A or choose B?"."""
    start = max(text.rfind(sign, 0, end) for sign in ".!?。！？\n") + 1
    return patterns.QUESTION.match(text, start) is not None


def _statement(
    encoded: EncodedReply,
    match: re.Match[str],
    strength: Strength,
    negated: bool,
    is_head: bool = False,
) -> Statement:
    options = _options_of_group(encoded, match["group"])
    negated_after = patterns.NEGATED_AFTER.match(encoded.text, match.end("group")) is not None
    if not negated and not negated_after:
        # "B, or maybe C" names both.
        tail = re.split(r"[.!?\n]", encoded.text[match.end("group") :][:400], maxsplit=1)[0]
        for hedge in patterns.HEDGE.finditer(tail):
            options |= encoded.mention(hedge["one"]).options
    start, end = match.span("group")
    return Statement(strength, start, end, options, negated or negated_after, is_head)


def _options_of_group(encoded: EncodedReply, group: str) -> frozenset[int]:
    """The options that a group of mentions names; `2. 3` names the option that both name."""
    named = [encoded.mention(char).options for char in group if char >= patterns.FIRST_MENTION_CHAR]
    common = frozenset.intersection(*named)
    return common if len(common) == 1 else frozenset().union(*named)


def _has_label_and_text(encoded: EncodedReply, match: re.Match[str]) -> bool:
    forms = [encoded.mention(c).form for c in match["group"] if c >= patterns.FIRST_MENTION_CHAR]
    return "text" in forms and len(forms) > 1


def _is_answer_head(encoded: EncodedReply, match: re.Match[str]) -> bool:
    """`B. She opens ...`, `B: ...`, `B because ...`; not `C. picks up ...`, nor `A kettle ...`."""
    separator, next_word = match["sep"].strip(" \"'"), match["next"]
    if _has_label_and_text(encoded, match):
        return True
    if separator == "," and (
        next_word in words.ASIDES or next_word.startswith(("因为", "因為", "由于", "由於"))
    ):
        return True
    if not next_word or next_word in words.CONTINUATIONS:
        next_char = encoded.text[match.end() : match.end() + 1]
        return next_word in patterns.HEAD_CONTINUATIONS or next_char in ("", "\n")
    if separator in ("", ",", "|"):
        return False
    first = encoded.mention(match["group"].strip("([{\"'<")[0])
    if first.form != "label":
        return True
    if set(separator) & set("):：-–—(["):
        return True
    return encoded.is_capital(match.end("sep"))


def _ends_sentence(encoded: EncodedReply, position: int) -> bool:
    """`... B.` at the end, before a new line or a capital; not `C. picks up`."""
    rest = re.match(r"[\s\"')\].!?。！？]*", encoded.text[position:])
    end = position + (rest.end() if rest else 0)
    signs = encoded.text[position:end]
    if "?" in signs:
        return False
    return (
        end == len(encoded.text)
        or "\n" in signs
        or encoded.text[end] == ","
        or encoded.is_capital(end)
        or encoded.text[end] >= patterns.FIRST_MENTION_CHAR
    )


def _drop_option_list(statements: list[Statement]) -> list[Statement]:
    """The statements without a list of the options: heads that name several options."""
    heads = [s for s in statements if s.is_head]
    options = {option for s in heads for option in s.options}
    if len(options) < 2 or all(len(s.options) > 1 for s in heads):
        return statements
    if len(heads) == 1:
        return statements
    return [s for s in statements if not s.is_head]


def _is_negated(text: str, start: int, end: int) -> bool:
    """Whether the clause before `start`, and up to `end`, holds an odd number of negators."""
    search_from = max(0, start - 160)
    breaks = [match.end() for match in patterns.CLAUSE_BREAK.finditer(text, search_from, start)]
    clause = text[breaks[-1] if breaks else search_from : end]
    return len(patterns.NEGATOR.findall(clause)) % 2 == 1


def _negated_positions(encoded: EncodedReply) -> set[int]:
    """Positions of mentions that are negated, alone or as one of a group."""
    text = encoded.text
    positions: set[int] = set()
    for match in re.finditer(patterns.GROUP, text):
        negated_after = patterns.NEGATED_AFTER.match(text, match.end("group"))
        if negated_after or _is_negated(text, match.start(), match.start("group")):
            mentions = patterns.ANY_MENTION.finditer(text, match.start(), match.end())
            positions |= {mention.start() for mention in mentions}
    return positions


def find_ranking(encoded: EncodedReply) -> tuple[int, ...]:
    """An order of the options that is written out (`B > C > A`, `Ranking: B, C, A`), or ()."""
    for match in (patterns.RANKED.search(encoded.text), patterns.RANKING.search(encoded.text)):
        if match:
            named = [
                encoded.mention(char).options
                for char in match[0]
                if char >= patterns.FIRST_MENTION_CHAR
            ]
            order = [next(iter(options)) for options in named if len(options) == 1]
            if len(order) == len(named) == len(set(order)) > 1:
                return tuple(order)
    return ()


def find_scores(encoded: EncodedReply) -> dict[int, float]:
    """Scores written as `A: 0.1, B: 70%`, `A 10%`, `10% A` or `A: 3/10` for two options or more."""
    for pattern in (patterns.OUT_OF, patterns.SCORED, patterns.SHARED_OUT, patterns.SHARE_FIRST):
        scores = _read_scores(encoded, pattern, encoded.text)
        if scores is None:
            return {}
        if len(scores) > 1:
            return scores
    for rated in patterns.RATED_LIST.finditer(encoded.text):
        scores = _read_scores(encoded, patterns.RATED, rated["list"])
        if scores and len(scores) > 1:
            return scores
    return {}


def _read_scores(
    encoded: EncodedReply, pattern: re.Pattern[str], text: str
) -> dict[int, float] | None:
    """Scores by option in one form of writing; None where an option has two."""
    scores: dict[int, float] = {}
    for match in pattern.finditer(text):
        options = encoded.mention(match["one"]).options
        if len(options) != 1 or (option := next(iter(options))) in scores:
            return None
        value = float(match["number"].replace(",", "."))
        parts = match.groupdict()
        is_percent = parts.get("unit") or pattern in (patterns.SHARED_OUT, patterns.SHARE_FIRST)
        whole = float(parts.get("whole") or (100 if is_percent else 1)) or 1.0
        scores[option] = value / whole
    return scores


def names_no_option(encoded: EncodedReply) -> bool:
    """Whether an answer is named that is the label of no option ("Answer: E")."""
    return any(
        match["label"].isdecimal() or encoded.is_capital(match.start("label"))
        for match in patterns.NO_OPTION.finditer(encoded.text)
    )


def is_retracted(text: str, first: int, last: int) -> bool:
    """Whether the text between two statements takes the first one back ("wait", "actually")."""
    return re.search(word_pattern(words.RETRACTIONS), text[first:last]) is not None


def correction_of(statements: list[Statement], text: str, first: Statement) -> Statement | None:
    """The last statement after words that take `first` back ("actually no"), if there is one."""
    taken_back = re.search(rf"{word_pattern(words.CORRECTIONS)}[^.!?\n]{{0,60}}", text[first.end :])
    if taken_back is None:
        return None
    start = first.end + taken_back.start()
    later = [s for s in statements if s.start > start and not s.is_head]
    return max(later, key=lambda s: s.start) if later else None


def ends_on_open_cue(text: str) -> bool:
    """Whether a reply ends on a cue that no option follows ("The answer is"): it was cut off."""
    return patterns.OPEN_CUE.search(text) is not None and patterns.OPEN_END.search(text) is not None
