"""Reading a choice: explicit statements first, and no reading where they disagree."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from egomem.answer.choice.abstentions import ABSTENTION, REFUSAL
from egomem.answer.choice.keywords import named_by_words
from egomem.answer.choice.marks import plain_marks
from egomem.answer.choice.mentions import EncodedReply, encode_mentions
from egomem.answer.choice.normalise import strip_markup, strip_thinking
from egomem.answer.choice.options import LabelledText, OptionMatcher
from egomem.answer.choice.scene_orders import without_scene_orders
from egomem.answer.choice.scored_rows import parse_score
from egomem.answer.choice.statements import (
    ReplyStatements,
    Statement,
    Strength,
    correction_of,
    ends_on_open_cue,
    extract_statements,
    find_ranking,
    find_scores,
    is_retracted,
    names_no_option,
)
from egomem.answer.choice.structured import StructuredParts, extract_structured
from egomem.answer.choice.tokens import fold
from egomem.records import Option, Status


@dataclass(frozen=True, slots=True)
class ChoiceReading:
    """Which option a reply chooses.

    `letter` is the option's label, and None unless `status` is `parsed`. `ranking` holds the labels
    that the reply orders, best first; a reply that only names an option has that one. Options that
    are not in it share the last place. `scores` are the reply's own numbers, where it gives any:
    equal scores are ties.
    """

    status: Status
    letter: str | None = None
    ranking: tuple[str, ...] = ()
    scores: Mapping[str, float] = field(default_factory=dict)


_OPTION_LABEL = re.compile(r"\s*\(?([A-Za-z0-9]{1,2})\s*[.):]\s+")
_HEAD_CHARS, _TAIL_CHARS = 4_000, 16_000
"""Characters read of a reply, thinking apart: the middle of a longer one is left out.

Answers stand at the beginning or, more often, at the end.
"""

_CUT_JSON = re.compile(r"\A\s*(?:```\w*\s*)?[{\[]\s*[\"'{\[]")


def read_choice(reply: str, options: Sequence[Option] | Sequence[str]) -> ChoiceReading:
    """Read which of the options a reply chooses.

    `options` are Option values, or texts that are labelled A, B, C ... in the order given. The
    reading is `parsed` with a letter, or its status says why there is none: `abstained` (the reply
    says that the answer cannot be told), `refused`, `truncated` (cut off before an answer), or
    `unparsable` (it names no option, several, or two that contradict each other). Never raises,
    whatever the reply.
    """
    labelled = _labelled_texts(options)
    visible = strip_thinking(reply)
    # A letter in unfinished thinking is a thought, not an answer.
    if visible.cut_off:
        return ChoiceReading(Status.TRUNCATED)
    text = visible.text
    if len(text) > _HEAD_CHARS + _TAIL_CHARS:
        text = f"{text[:_HEAD_CHARS]}\n…\n{text[-_TAIL_CHARS:]}"
    return _ReplyReader(OptionMatcher(labelled)).read(text).with_labels(labelled)


def _labelled_texts(options: Sequence[Option] | Sequence[str]) -> list[LabelledText]:
    """Labels and texts. Texts that carry their own labels ("A. a cup") lose them."""
    given: list[Option | str] = [*options]
    labelled = [
        LabelledText(option.label, option.text)
        if isinstance(option, Option)
        else LabelledText(_letter(index), option)
        for index, option in enumerate(given)
    ]
    prefixes = [_OPTION_LABEL.match(option.text) for option in labelled]
    # All or none: "A. Lincoln" among other names is a text that begins with a letter and a dot.
    if labelled and all(
        prefix and fold(prefix[1]) == fold(option.label)
        for prefix, option in zip(prefixes, labelled, strict=True)
    ):
        return [
            LabelledText(option.label, option.text[prefix.end() :])
            for prefix, option in zip(prefixes, labelled, strict=True)
            if prefix
        ]
    return [
        LabelledText(o.label.strip() or o.label, strip_markup(o.text).strip()) for o in labelled
    ]


def _letter(index: int) -> str:
    """A, B, ... Z, AA, AB, ..."""
    return chr(65 + index) if index < 26 else _letter(index // 26 - 1) + chr(65 + index % 26)


@dataclass(frozen=True)
class _OptionReading:
    """A reading in indices of options."""

    status: Status
    option: int | None = None
    order: tuple[int, ...] = ()
    scores: Mapping[int, float] = field(default_factory=dict)

    def with_labels(self, options: Sequence[LabelledText]) -> ChoiceReading:
        order = self.order or (() if self.option is None else (self.option,))
        return ChoiceReading(
            self.status,
            None if self.option is None else options[self.option].label,
            tuple(options[i].label for i in order),
            {options[i].label: score for i, score in self.scores.items()},
        )


_UNPARSABLE = _OptionReading(Status.UNPARSABLE)
_ABSTAINED = _OptionReading(Status.ABSTAINED)


def _chosen(option: int, order: tuple[int, ...] = ()) -> _OptionReading:
    return _OptionReading(Status.PARSED, option, order)


def _says_something(value: Any) -> bool:
    """Whether a value of an answer field names anything: it is a number or a text."""
    if isinstance(value, (int, float)):
        return not isinstance(value, bool)
    return isinstance(value, str) and any(char.isalnum() for char in value)


def _union(sets: Iterable[frozenset[int]]) -> frozenset[int]:
    return frozenset[int]().union(*sets)


class _ReplyReader:
    """Reads replies to one question: structured answers, then scores and rankings, then text."""

    def __init__(self, options: OptionMatcher) -> None:
        self.options = options

    def read(self, text: str) -> _OptionReading:
        """The reading without the orders that the reply quotes from the scene, if there is one."""
        plain = plain_marks(text)
        obeying_none = without_scene_orders(plain)
        if obeying_none != plain:
            reading = self._read_reply(obeying_none)
            if reading.status is Status.PARSED:
                return reading
        return self._read_reply(plain)

    def _read_reply(self, text: str) -> _OptionReading:
        parts = extract_structured(text)
        rest = self.options.amounts.rewrite(strip_markup(parts.rest))
        encoded = encode_mentions(rest, self.options)
        declared = self._read_structured(parts)
        if declared is not None:
            return self._unless_contradicted(declared, encoded)
        if names_no_option(encoded):
            return _UNPARSABLE  # whatever scores it gives beside
        scores = find_scores(encoded)
        # Numbers and orders are explicit, so they count before sentences.
        if scores:
            return self._untie(self._best_scored(scores, None), encoded)
        order = find_ranking(encoded)
        if order:
            return _chosen(order[0], order)
        return self._read_text(rest, encoded, parts)

    def _untie(self, scored: _OptionReading, encoded: EncodedReply) -> _OptionReading:
        """Scores whose best are equal leave it to a statement: "A 40%, B 40%. I choose B"."""
        if scored.option is not None or not scored.scores:
            return scored
        says = extract_statements(encoded)
        firm = [s for s in says.statements if s.strength >= Strength.STATED and not s.is_head]
        stated = self._read_statements(says._replace(statements=firm), encoded.text)
        best = max(scored.scores.values())
        if stated is None or stated.option is None or scored.scores.get(stated.option) != best:
            return scored
        order = (stated.option, *(o for o in scored.order if o != stated.option))
        return replace(scored, status=Status.PARSED, option=stated.option, order=order)

    def _read_structured(self, parts: StructuredParts) -> _OptionReading | None:
        """What JSON fields, boxes and tags state together; None where they hold no answer."""
        values = [self._read_value(value) for value in parts.answers]
        answers = [value for value in values if value is not None]
        tables = [t for t in (self._read_scores(table) for table in parts.score_tables) if t]
        order: tuple[int, ...] = ()
        for ranking in parts.rankings:
            entries = [self._read_value(entry) for entry in ranking]
            if all(entry is not None and entry.option is not None for entry in entries):
                order = tuple(e.option for e in entries if e and e.option is not None)
        names_none = not answers and any(map(_says_something, parts.answers))
        if names_none and tables:
            # The answer that is named is no option, whatever the scores beside it say.
            return replace(
                self._best_scored(tables[0], None), status=Status.UNPARSABLE, option=None
            )
        # Two tables of scores, or an option twice in a ranking: nobody can say which one holds.
        if len(tables) > 1 or len(set(order)) < len(order):
            return _UNPARSABLE
        if not answers and not tables and not order:
            return None
        # Never guess: two answers that differ are no answer.
        if len({(answer.status, answer.option) for answer in answers}) > 1:
            return _UNPARSABLE
        answer = answers[0] if answers else None
        if tables:
            return self._best_scored(tables[0], answer)
        if order:
            agrees = answer is None or answer.option == order[0]
            return _chosen(order[0], order) if agrees else _UNPARSABLE
        return answer

    def _read_scores(self, table: Mapping[str, Any]) -> dict[int, float]:
        """Scores by option, or {}. A single score must be all that the table holds."""
        scores: dict[int, float] = {}
        for name, value in table.items():
            reading, score = self._read_value(name), parse_score(value)
            if reading is None or reading.option is None or score is None:
                continue
            # One option twice, under its label and its text: which number counts is not ours to
            # choose.
            if reading.option in scores or not math.isfinite(score):
                return {}
            scores[reading.option] = score
        return scores if len(scores) > 1 or len(scores) == len(table) else {}

    def _best_scored(
        self, scores: dict[int, float], answer: _OptionReading | None
    ) -> _OptionReading:
        """The option with the highest score; none where two share it, or the answer is another."""
        best = max(scores.values())
        top = [option for option, score in scores.items() if score == best]
        order = tuple(sorted(scores, key=lambda option: (-scores[option], option)))
        # An abstention stands, whatever scores are given beside it.
        if answer is not None and answer.option is None:
            return _OptionReading(answer.status, None, order, scores)
        if len(top) > 1 and answer is not None and answer.option in top:
            order = (answer.option, *(option for option in order if option != answer.option))
            return _OptionReading(Status.PARSED, answer.option, order, scores)
        # Scores of 0 for all speak for none of them.
        if len(top) > 1 or best <= 0 or (answer is not None and answer.option != top[0]):
            return _OptionReading(Status.UNPARSABLE, None, order, scores)
        return _OptionReading(Status.PARSED, top[0], order, scores)

    def _read_value(self, value: Any) -> _OptionReading | None:
        """The reading of an answer field's value; None where it cannot be read."""
        if value is None:
            return _ABSTAINED
        if isinstance(value, list):
            if len(value) == 1:
                return self._read_value(value[0])
            return _UNPARSABLE if value else None
        # A truth value judges something, it is no label; an object has fields of its own.
        if isinstance(value, bool) or not isinstance(value, (str, int, float)):
            return None
        text = self.options.amounts.rewrite(strip_markup(str(value)).strip()).strip()
        amount = self.options.with_amount(text)
        if amount is not None:
            return _chosen(amount)
        matches = self.options.with_text(text) if text else frozenset[int]()
        label = self.options.with_label(text.strip("()[]{}.:\"' "))
        if label is not None:
            matches = matches | {label}
        if len(matches) == 1:
            return _chosen(next(iter(matches)))
        if len(matches) > 1 or not text:
            return None
        if not isinstance(value, str):
            return None
        reading = self._read_text(text, encode_mentions(text, self.options), None)
        if reading.status is Status.UNPARSABLE and self._names_several(text):
            return _UNPARSABLE
        return None if reading.status in (Status.UNPARSABLE, Status.TRUNCATED) else reading

    def _names_several(self, text: str) -> bool:
        mentions = encode_mentions(text, self.options).mentions
        return len(_union(mention.options for mention in mentions)) > 1

    def _unless_contradicted(
        self, declared: _OptionReading, encoded: EncodedReply
    ) -> _OptionReading:
        """The declared answer, unless the text around it states another one after all."""
        if declared.option is None:
            return declared
        for statement in extract_statements(encoded).statements:
            is_explicit = statement.strength >= Strength.STATED and not statement.is_head
            # Text before a declared answer may still have been undecided.
            comes_last = (
                encoded.text[: statement.start].strip() == ""
                or statement.strength == Strength.FINAL
            )
            if is_explicit and comes_last and declared.option not in statement.options:
                return _UNPARSABLE
        return declared

    def _read_text(
        self, text: str, encoded: EncodedReply, parts: StructuredParts | None
    ) -> _OptionReading:
        """The reading of free text."""
        amount = self.options.with_amount(text)
        if amount is not None:
            return _chosen(amount)
        # The whole reply may be an option in another form (two for 2), which is no mention.
        matches = self.options.with_text(text)
        if len(matches) == 1 and not encoded.mentions:
            return _chosen(next(iter(matches)))
        folded = encoded.text
        statements = extract_statements(encoded)
        stated = self._read_statements(statements, folded)
        if stated is not None and stated.option is not None:
            return stated
        # "I cannot tell, but the answer is B" is an answer: refusals and abstentions come after.
        if REFUSAL.search(folded):
            return _OptionReading(Status.REFUSED)
        if ABSTENTION.search(folded):
            return _ABSTAINED
        if stated is not None:
            return stated
        indirect = self._read_indirect(statements, encoded)
        if indirect is not None:
            return indirect
        if not encoded.mentions:
            texts = [option.text for option in self.options.options]
            last_sentence = re.split(r"[.!?]\s+|\n+", text.strip(" .!?\n"))[-1]
            named = named_by_words(last_sentence, texts)
            if named is not None:
                return _chosen(named)
        if ends_on_open_cue(folded) or (parts and not parts.has_json and _CUT_JSON.match(text)):
            return _OptionReading(Status.TRUNCATED)
        return _UNPARSABLE

    def _read_statements(self, says: ReplyStatements, text: str) -> _OptionReading | None:
        """The reading of the strongest statements; None where nothing is stated."""
        for strength in sorted(Strength, reverse=True):
            statements = [s for s in says.statements if s.strength == strength]
            if statements:
                last = max(statements, key=lambda s: s.start)
                corrected = correction_of(says.statements, text, last)
                if corrected is not None and len(corrected.options) == 1:
                    return _chosen(next(iter(corrected.options)))
                return self._agreed(sorted(statements, key=lambda s: s.start), text)
        return None

    def _agreed(self, statements: list[Statement], text: str) -> _OptionReading:
        """The option that statements of one strength agree on, or that the last one settles."""
        options = _union(s.options for s in statements)
        if len(options) == 1:
            return _chosen(next(iter(options)))
        # They disagree. A last word may still settle it: it narrows "B or C", or takes B back.
        last = statements[-1]
        others = [s for s in statements if s.options != last.options]
        if len(last.options) == 1 and others:
            narrows = last.strength > Strength.LOOSE and all(
                last.options < s.options for s in others
            )
            if narrows or is_retracted(text, others[-1].start, last.start):
                return _chosen(next(iter(last.options)))
        return _UNPARSABLE

    def _read_indirect(
        self, statements: ReplyStatements, encoded: EncodedReply
    ) -> _OptionReading | None:
        """An option that nothing states: the only one that is not ruled out, or that is named."""
        candidates = statements.mentioned - statements.ruled_out
        # A lone letter in running text is often the article "a" or a name; an option's text is
        # seldom there by chance.
        by_text = _union(m.options for m in encoded.mentions if m.form != "label")
        if len(candidates) == 1 and (statements.ruled_out or candidates <= by_text):
            return _chosen(next(iter(candidates)))
        everything = frozenset(range(len(self.options.options)))
        # "None of them" in as many words.
        if statements.ruled_out == everything and everything:
            return _ABSTAINED
        remaining = everything - statements.ruled_out
        if not candidates and statements.ruled_out and len(remaining) == 1:
            return _chosen(next(iter(remaining)))
        return None
