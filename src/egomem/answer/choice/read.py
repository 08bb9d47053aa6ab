"""From a reply to a reading: explicit statements first, and no reading where they disagree."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from egomem.answer.choice import words
from egomem.answer.choice.mentions import EncodedReply, LabelledText, OptionMatcher, encode_mentions
from egomem.answer.choice.normalise import strip_markup, strip_thinking
from egomem.answer.choice.statements import (
    ReplyStatements,
    Statement,
    Strength,
    ends_on_open_cue,
    extract_statements,
    find_ranking,
    find_scores,
    is_retracted,
)
from egomem.answer.choice.structured import StructuredParts, extract_structured, parse_score
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


_ABSTENTIONS = words.phrase_pattern(words.ABSTENTIONS)
_REFUSALS = words.phrase_pattern(words.REFUSALS)
_OPTION_LABEL = re.compile(r"\s*\(?([A-Za-z0-9]{1,2})\s*[.):]\s+")
_HEAD, _TAIL = 4_000, 16_000
"""Characters read of a reply, thinking apart: of a longer one, the middle is left out."""

_CUT_JSON = re.compile(r"\A\s*(?:```\w*\s*)?[{\[]\s*[\"'{\[]")


def read_choice(reply: str, options: Sequence[Option] | Sequence[str]) -> ChoiceReading:
    """Read which of the options a reply chooses.

    `options` are Option values, or texts that are labelled A, B, C ... in the order given. The
    reading is `parsed` with a letter, or says why there is none: `abstained` (the reply says that
    it cannot be told), `refused`, `truncated` (cut off before it said so), or `unparsable` (it
    names no option, several, or two that contradict each other). Never raises on any reply.
    """
    choices = _choices(options)
    reader = _ReplyReader(OptionMatcher(choices))
    seen = strip_thinking(reply)
    if seen.cut_off:
        return ChoiceReading(Status.TRUNCATED)
    said = seen.text
    if len(said) > _HEAD + _TAIL:
        said = f"{said[:_HEAD]}\n…\n{said[-_TAIL:]}"
    result = reader.read(said)
    return result.named(choices)


def _choices(options: Sequence[Option] | Sequence[str]) -> list[LabelledText]:
    """Labels and texts. Texts that carry their own labels ("A. a cup") lose them."""
    given: list[Option | str] = [*options]
    named = [
        LabelledText(option.label, option.text)
        if isinstance(option, Option)
        else LabelledText(_letter(index), option)
        for index, option in enumerate(given)
    ]
    found = [_OPTION_LABEL.match(choice.text) for choice in named]
    if named and all(m and fold(m[1]) == fold(c.label) for m, c in zip(found, named, strict=True)):
        return [
            LabelledText(c.label, c.text[m.end() :]) for m, c in zip(found, named, strict=True) if m
        ]
    return [LabelledText(c.label.strip() or c.label, strip_markup(c.text).strip()) for c in named]


def _letter(index: int) -> str:
    return chr(65 + index) if index < 26 else _letter(index // 26 - 1) + chr(65 + index % 26)


@dataclass(frozen=True)
class _OptionReading:
    """A reading in indices of options."""

    status: Status
    option: int | None = None
    order: tuple[int, ...] = ()
    scores: Mapping[int, float] = field(default_factory=dict)

    def named(self, choices: Sequence[LabelledText]) -> ChoiceReading:
        order = self.order or (() if self.option is None else (self.option,))
        return ChoiceReading(
            self.status,
            None if self.option is None else choices[self.option].label,
            tuple(choices[i].label for i in order),
            {choices[i].label: score for i, score in self.scores.items()},
        )


_UNPARSABLE = _OptionReading(Status.UNPARSABLE)
_ABSTAINED = _OptionReading(Status.ABSTAINED)
_NONE = frozenset[int]()


def _chosen(option: int, order: tuple[int, ...] = ()) -> _OptionReading:
    return _OptionReading(Status.PARSED, option, order)


class _ReplyReader:
    def __init__(self, options: OptionMatcher) -> None:
        self.options = options

    def read(self, said: str) -> _OptionReading:
        found = extract_structured(said)
        rest = strip_markup(found.rest)
        encoded = encode_mentions(rest, self.options)
        declared = self._declared(found)
        if declared is not None:
            return self._unless_contradicted(declared, encoded)
        weighed = find_scores(encoded)
        if weighed:
            return self._weighed(weighed, None)
        order = find_ranking(encoded)
        if order:
            return _chosen(order[0], order)
        return self._told(rest, encoded, found)

    def _declared(self, found: StructuredParts) -> _OptionReading | None:
        """What JSON fields, boxes and tags say together; None where they hold no answer."""
        answers = [self._value(value) for value in found.answers]
        named = [a for a in answers if a is not None]
        weights = [w for w in (self._weights(m) for m in found.maps) if w]
        order: tuple[int, ...] = ()
        for listed in found.lists:
            ranked = [self._value(item) for item in listed]
            if all(r is not None and r.option is not None for r in ranked):
                order = tuple(r.option for r in ranked if r and r.option is not None)
        if len(weights) > 1 or len(set(order)) < len(order):
            return _UNPARSABLE
        if not named and not weights and not order:
            return None
        if len({(n.status, n.option) for n in named}) > 1:
            return _UNPARSABLE
        answer = named[0] if named else None
        if weights:
            return self._weighed(weights[0], answer)
        if order:
            agrees = answer is None or answer.option == order[0]
            return _chosen(order[0], order) if agrees else _UNPARSABLE
        return answer

    def _weights(self, table: Mapping[str, Any]) -> dict[int, float]:
        """Scores by option. A name alone must be all there is; with several, others may stand."""
        read: dict[int, float] = {}
        for name, value in table.items():
            option, number = self._value(name), parse_score(value)
            if option is None or option.option is None or number is None:
                continue
            if option.option in read or not math.isfinite(number):
                return {}
            read[option.option] = number
        return read if len(read) > 1 or len(read) == len(table) else {}

    def _weighed(self, weights: dict[int, float], answer: _OptionReading | None) -> _OptionReading:
        """The option with the highest score; none where two share it, or the answer is another."""
        best = max(weights.values())
        top = [i for i, w in weights.items() if w == best]
        order = tuple(sorted(weights, key=lambda i: (-weights[i], i)))
        if answer is not None and answer.option is None:
            return _OptionReading(answer.status, None, order, weights)
        if len(top) > 1 and answer is not None and answer.option in top:
            order = (answer.option, *(i for i in order if i != answer.option))
            return _OptionReading(Status.PARSED, answer.option, order, weights)
        if len(top) > 1 or best <= 0 or (answer is not None and answer.option != top[0]):
            return _OptionReading(Status.UNPARSABLE, None, order, weights)
        return _OptionReading(Status.PARSED, top[0], order, weights)

    def _value(self, value: Any) -> _OptionReading | None:
        """What the value of an answer field says; None where it says nothing that can be read."""
        if value is None:
            return _ABSTAINED
        if isinstance(value, list):
            return self._value(value[0]) if len(value) == 1 else _UNPARSABLE if value else None
        if isinstance(value, bool) or not isinstance(value, (str, int, float)):
            return None
        text = strip_markup(str(value)).strip()
        exact = self.options.exact(text) if text else _NONE
        label = self.options.label(text.strip("()[]{}.:\"' "))
        if label is not None:
            exact = exact | {label}
        if len(exact) == 1:
            return _chosen(next(iter(exact)))
        if len(exact) > 1 or not text:
            return None
        if not isinstance(value, str):
            return None
        result = self._told(text, encode_mentions(text, self.options), None)
        if result.status is Status.UNPARSABLE and self._names_several(text):
            return _UNPARSABLE
        return None if result.status in (Status.UNPARSABLE, Status.TRUNCATED) else result

    def _names_several(self, text: str) -> bool:
        mentions = encode_mentions(text, self.options).mentions
        return len(frozenset[int]().union(*(m.options for m in mentions))) > 1

    def _unless_contradicted(
        self, declared: _OptionReading, encoded: EncodedReply
    ) -> _OptionReading:
        """The declared answer, unless the text around it states another one after all."""
        if declared.option is None:
            return declared
        for statement in extract_statements(encoded).statements:
            explicit = statement.strength >= Strength.STATED and not statement.head
            later = (
                encoded.text[: statement.at].strip() == "" or statement.strength == Strength.FINAL
            )
            if explicit and later and declared.option not in statement.options:
                return _UNPARSABLE
        return declared

    def _told(
        self, text: str, encoded: EncodedReply, found: StructuredParts | None
    ) -> _OptionReading:
        """What free text says."""
        whole = self.options.exact(text)
        if len(whole) == 1 and not encoded.mentions:
            return _chosen(next(iter(whole)))
        folded = encoded.text
        says = extract_statements(encoded)
        abstains = _ABSTENTIONS.search(folded) is not None
        verdict = self._verdict(says, folded)
        if verdict is not None and verdict.option is not None:
            return verdict
        if _REFUSALS.search(folded):
            return _OptionReading(Status.REFUSED)
        if abstains:
            return _ABSTAINED
        if verdict is not None:
            return verdict
        indirect = self._indirect(says, encoded)
        if indirect is not None:
            return indirect
        if ends_on_open_cue(folded) or (found and not found.any and _CUT_JSON.match(text)):
            return _OptionReading(Status.TRUNCATED)
        return _UNPARSABLE

    def _verdict(self, says: ReplyStatements, text: str) -> _OptionReading | None:
        """The strongest statements, if they agree; None where nothing is stated."""
        for strength in sorted(Strength, reverse=True):
            told = sorted(
                (s for s in says.statements if s.strength == strength), key=lambda s: s.at
            )
            if told:
                return self._agreed(told, text)
        return None

    def _agreed(self, told: list[Statement], text: str) -> _OptionReading:
        options = frozenset[int]().union(*(s.options for s in told))
        if len(options) == 1:
            return _chosen(next(iter(options)))
        last = told[-1]
        earlier = [s for s in told if s.options != last.options]
        if len(last.options) == 1 and earlier:
            narrowed = last.strength > Strength.LOOSE and all(
                last.options < s.options for s in earlier
            )
            if narrowed or is_retracted(text, earlier[-1].at, last.at):
                return _chosen(next(iter(last.options)))
        return _UNPARSABLE

    def _indirect(self, says: ReplyStatements, encoded: EncodedReply) -> _OptionReading | None:
        """What is left: an option set against others, the only one not ruled out, a text alone."""
        left = says.others - says.ruled_out
        texts = frozenset[int]().union(*(m.options for m in encoded.mentions if m.form != "label"))
        if len(left) == 1 and (says.ruled_out or left <= texts):
            return _chosen(next(iter(left)))
        everything = frozenset(range(len(self.options.choices)))
        if says.ruled_out == everything and everything:
            return _ABSTAINED
        if not left and says.ruled_out and len(everything - says.ruled_out) == 1:
            return _chosen(next(iter(everything - says.ruled_out)))
        return None
