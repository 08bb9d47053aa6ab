"""Where a reply mentions an option: by its label, its text, or its place in the list.

`encode_mentions` replaces every mention by one private-use character, so that the patterns of
`statements` match `the answer is ▢` whichever way the option was named.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

from egomem.answer.choice import words
from egomem.answer.choice.labels import CUE_BEFORE, is_label
from egomem.answer.choice.options import NUMBER_WORDS, OptionMatcher, match_length
from egomem.answer.choice.tokens import char_class, fold, tokenize
from egomem.answer.choice.words import word_pattern

_FIRST_LABEL, _FIRST_TEXT = 0xF0000, 0xF8000
LABEL = "[\U000f0000-\U000f7fff]"
TEXT = "[\U000f8000-\U000ffffd]"
MENTION = "[\U000f0000-\U000ffffd]"

Form = Literal["label", "text", "place"]


@dataclass(frozen=True)
class Mention:
    """`options`: indices of the options meant, two where a word names both. `form`: named how."""

    options: frozenset[int]
    form: Form
    raw: str


@dataclass
class EncodedReply:
    """A folded reply in which a private-use character stands for each mention."""

    text: str = ""
    mentions: list[Mention] = field(default_factory=list)
    capitals: set[int] = field(default_factory=set)

    def mention(self, char: str) -> Mention:
        """The mention that a private-use character stands for."""
        return self.mentions[ord(char) & 0x7FFF]

    def is_capital(self, position: int) -> bool:
        """Whether the token at a position began with a capital, or a letter that has no case."""
        return position in self.capitals

    def add(self, options: frozenset[int], form: Form, raw: str) -> str:
        """Add a mention; returns its private-use character."""
        self.mentions.append(Mention(options, form, raw))
        first = _FIRST_TEXT if form == "text" else _FIRST_LABEL
        return chr(first + len(self.mentions) - 1)


_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")
_FUNCTION_WORDS = frozenset(
    ("yes", "no", "none", "both", "in", "on", "off", "up", "down", "one", "it", "he", "she", "all")
)
"""Option texts that running prose is full of: they count only where they stand apart."""

_AFTER_CONJUNCTION = re.compile(f"{MENTION}\\s+{word_pattern(words.CONJUNCTIONS)}$")
_LABEL_HEAD = re.compile(f"(?P<one>{LABEL})[\\s.):(]+$")


def encode_mentions(text: str, options: OptionMatcher) -> EncodedReply:
    """Replace mentions by private-use characters, fold the rest, make spaces single."""
    encoded = EncodedReply()
    tokens = tokenize(text)
    pieces: list[str] = []
    length = 0
    index = 0
    while index < len(tokens):
        size, char = _mention_at(tokens, index, pieces, options, encoded)
        if size:
            pieces.append(char)
        else:
            token, size = tokens[index], 1
            if token[0] != token[0].lower() or token[0] == token[0].upper():
                encoded.capitals.add(length)
            pieces.append(("\n" if "\n" in token else " ") if token.isspace() else fold(token))
        length += len(pieces[-1])
        index += size
    encoded.text = "".join(pieces)
    return encoded


def _mention_at(
    tokens: list[str],
    index: int,
    pieces: list[str],
    options: OptionMatcher,
    encoded: EncodedReply,
) -> tuple[int, str]:
    """How many tokens from `index` are a mention, and the character that stands for it."""
    token = tokens[index]
    if token.isspace():
        return 0, ""
    size, place = _ordinal_mention(tokens, index, options)
    if size:
        raw = "".join(tokens[index : index + size])
        number = tokens[index + size - 1]
        # "option 2" may be the label 2, the second option or the option whose text is 2.
        same_text = options.with_text(number) if number.isdecimal() else frozenset()
        label = options.with_label(number)
        meant = frozenset({label}) if label is not None else frozenset({place}) | same_text
        return size, encoded.add(meant, "label" if label is not None else "place", raw)
    label = options.with_label(token)
    for text, indices in options.texts:
        size = match_length(tokens, index, text)
        if not size:
            continue
        if label is not None and len(text) == 1:
            break  # a word that is a label and a text
        if (
            text[0] in _FUNCTION_WORDS
            and len(text) == 1
            and not _stands_apart(tokens, index, size, _recent_text(pieces))
        ):
            continue
        return size, encoded.add(indices, "text", "".join(tokens[index : index + size]))
    if label is None:
        return 0, ""
    before = _recent_text(pieces)
    if not is_label(tokens, index, before, label, options):
        return 0, ""
    meant = frozenset({label})
    if not re.search(word_pattern(["option", "choice"]) + r"[\s:(]*$|[(\[]$", before):
        same_text = frozenset(
            option
            for text, indices in options.texts
            if text == (fold(token),)
            for option in indices
        )
        head = _LABEL_HEAD.search(before)
        # In "B. 2" the 2 is the text of B, though it may be a label elsewhere.
        if same_text and head and encoded.mention(head["one"]).options <= same_text:
            return 1, encoded.add(same_text, "text", token)
        if same_text and not options.text_follows(tokens, index, label):
            meant |= same_text
    return 1, encoded.add(meant, "label", token)


def _recent_text(pieces: list[str]) -> str:
    """The end of the text encoded so far: enough for a cue and its fillers."""
    return "".join(pieces[-48:])


def _stands_apart(tokens: list[str], index: int, size: int, recent: str) -> bool:
    """Whether tokens start a sentence or follow a cue, and a sign or nothing follows them."""
    before = recent.rstrip(" \"'([{|")
    end = index + size
    ends = end >= len(tokens) or char_class(tokens[end][0]) == "sign"
    if not ends and "\n" not in tokens[end] and tokens[end].strip(" |"):
        ends = False
    elif not ends:
        next_token = next((t for t in tokens[end:] if not t.isspace()), "")
        ends = "\n" in tokens[end] or char_class(next_token[0]) == "sign" if next_token else True
        if not ends:
            ends = fold(next_token) in words.CONTINUATIONS
    starts = not before or before[-1] in ".!?\n:,|)-" or before[-1] >= "\U000f0000"
    return bool(ends and (starts or _AFTER_CONJUNCTION.search(before) or CUE_BEFORE.search(recent)))


def _ordinal_mention(tokens: list[str], index: int, options: OptionMatcher) -> tuple[int, int]:
    """`Option 2`, `option two`, `second option`, `last choice`: (tokens, option) or (0, 0)."""
    if index + 2 >= len(tokens) or tokens[index + 1] != " ":
        return 0, 0
    first, second = fold(tokens[index]), fold(tokens[index + 2])
    count = len(options.options)
    if first in ("option", "choice"):
        number = int(second) if second.isdecimal() and len(second) < 4 else 0
        number = number or (NUMBER_WORDS.index(second) + 1 if second in NUMBER_WORDS else 0)
        label = options.with_label(second)
        if label is not None and second.isdecimal():
            return 3, label
        if 1 <= number <= count:
            return 3, number - 1
    elif second in ("option", "choice") and not (
        index > 1 and fold(tokens[index - 2]) in ("my", "his")
    ):  # "my first choice" is a preference
        if first == "last":
            return 3, count - 1
        if first in _ORDINALS[:count]:
            return 3, _ORDINALS.index(first)
    return 0, 0
