"""The options of a question, prepared for finding their labels and texts in a reply's tokens."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from egomem.answer.choice.amounts import AmountMatcher
from egomem.answer.choice.tokens import char_class, fold, tokenize

NUMBER_WORDS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


_NUMBER_SIGN = re.compile(r"[-−](?=\d)|(?<=\d)[%°$€£]|[$€£](?=\d)")
"""Signs that make another number: `-3` and `3%` are not 3. One that is left out is forgiven."""
_ARTICLES = ("a", "an", "the", "some")


class LabelledText(NamedTuple):
    """An option: its label and its text, both without markup."""

    label: str
    text: str


class OptionMatcher:
    """The options of one question, tokenized and folded once.

    `texts` are the options' tokens with the options that have them, longest first: the longest text
    that fits wins. `case_sensitive`: two labels differ in case alone. `upper_case`: the options
    whose labels are written in capitals.
    """

    def __init__(self, options: Sequence[LabelledText]) -> None:
        self.options = list(options)
        self.labels: dict[str, int] = {}
        folded_labels = [option.label.casefold() for option in options]
        self.case_sensitive = len(set(folded_labels)) < len(folded_labels)
        for index, option in enumerate(options):
            label = option.label if self.case_sensitive else folded_labels[index]
            self.labels[label] = index
        self.upper_case = {i for i, o in enumerate(options) if o.label != o.label.lower()}
        self.amounts = AmountMatcher([o.text for o in options], [o.label for o in options])
        self.texts: list[tuple[tuple[str, ...], frozenset[int]]] = self._texts()

    def with_label(self, token: str) -> int | None:
        """The option whose label a token is."""
        return self.labels.get(token if self.case_sensitive else token.casefold())

    def with_text(self, text: str) -> frozenset[int]:
        """The options whose whole text this is, signs, accents and number words aside."""
        tokens = _digits_for_number_words(_content_tokens(text))
        return frozenset(
            index
            for index, option in enumerate(self.options)
            if option.text
            and _digits_for_number_words(_content_tokens(option.text)) == tokens
            and set(_NUMBER_SIGN.findall(text)) <= set(_NUMBER_SIGN.findall(option.text))
        )

    def with_amount(self, text: str) -> int | None:
        """The option whose amount a rewritten text is, and nothing else."""
        tokens = {token: index for index, token in self.amounts.tokens.items()}
        return tokens.get(text.strip(" .!\n"))

    def text_follows(self, tokens: list[str], index: int, label: int | None = None) -> bool:
        """Whether an option's text follows after a sign (`2. 3`): any text, or that of `label`."""
        after = index + 1
        while (
            after < len(tokens)
            and after < index + 4
            and char_class(tokens[after][0]) in ("space", "sign")
        ):
            after += 1
        if after >= len(tokens) or not "".join(tokens[index + 1 : after]).strip():
            return False
        return any(
            (label is None or label in options) and match_length(tokens, after, text)
            for text, options in self.texts
        )

    def _texts(self) -> list[tuple[tuple[str, ...], frozenset[int]]]:
        options_by_text: dict[tuple[str, ...], set[int]] = {}
        for index, option in enumerate(self.options):
            tokens = _content_tokens(option.text)
            if tokens:
                options_by_text.setdefault(tokens, set()).add(index)
            # "the oven mitt" for "an oven mitt"; a lone word is too common to be a mention.
            if len(tokens) in (3, 4) and tokens[0] in _ARTICLES:
                options_by_text.setdefault(tokens[1:], set()).add(index)
        for index, token in self.amounts.tokens.items():
            options_by_text[(token,)] = {index}
        longest_first = sorted(options_by_text.items(), key=lambda item: -len(item[0]))
        return [(tokens, frozenset(options)) for tokens, options in longest_first]


def match_length(tokens: list[str], index: int, text: tuple[str, ...]) -> int:
    """How many tokens from `index` spell a text, signs and spaces in between too; 0 if none."""
    matched = 0
    for length in range(1, len(tokens) - index + 1):
        token = tokens[index + length - 1]
        if fold(token) == text[matched]:
            matched += 1
            if matched == len(text):
                return length if _is_whole_number(tokens, index, index + length) else 0
        elif (
            char_class(token[0]) not in ("space", "sign")
            or not matched
            or _ends_sentence(token, text[matched - 1])
        ):
            return 0
    return 0


def _content_tokens(text: str) -> tuple[str, ...]:
    """The folded tokens without signs; a text of signs alone keeps them."""
    tokens = [fold(token) for token in tokenize(text) if not token.isspace()]
    return tuple(t for t in tokens if char_class(t[0]) != "sign") or tuple(tokens)


def _digits_for_number_words(tokens: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(str(NUMBER_WORDS.index(t) + 1) if t in NUMBER_WORDS else t for t in tokens)


def _ends_sentence(sign: str, word: str) -> bool:
    """Whether a sign ends a sentence, and is no abbreviation's point (`Mr. Adams`)."""
    return sign in "!?;" or "\n" in sign or (sign == "." and len(word) > 3)


def _is_whole_number(tokens: list[str], start: int, end: int) -> bool:
    """Whether the neighbours leave a number what it is, unlike in `-3`, `3%` and `3/4` for 3."""
    after = tokens[end] if end < len(tokens) else " "
    before = tokens[start - 1] if start else " "
    second_after = tokens[end + 1] if end + 1 < len(tokens) else " "
    if tokens[end - 1][-1].isdecimal() and (
        after == "%" or (after in "/:" and second_after[0].isdecimal())
    ):
        return False
    if tokens[start][0].isdecimal() and before in "/:-":
        return not (start > 1 and tokens[start - 2][-1].isdecimal()) and before != "-"
    return True
