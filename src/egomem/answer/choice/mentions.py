"""Where a reply mentions an option: by its label, its text, or its place in the list.

`encode_mentions` replaces every mention by one private character, so that the patterns of
`statements` see `the answer is ▢` in the same way whatever was written.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from egomem.answer.choice import words
from egomem.answer.choice.tokens import char_class, fold, is_spaced, tokenize
from egomem.answer.choice.words import word_pattern

_FIRST_LABEL, _FIRST_TEXT = 0xF0000, 0xF8000
LABEL = "[\U000f0000-\U000f7fff]"
TEXT = "[\U000f8000-\U000ffffd]"
MENTION = "[\U000f0000-\U000ffffd]"

Form = Literal["label", "text", "place"]


class LabelledText(NamedTuple):
    label: str
    text: str


@dataclass(frozen=True)
class Mention:
    """`options`: indices of the options meant (two where a word names both). `form`: named how."""

    options: frozenset[int]
    form: Form
    raw: str


@dataclass
class EncodedReply:
    """A folded reply in which a private character stands for each mention."""

    text: str = ""
    mentions: list[Mention] = field(default_factory=list)
    capitals: set[int] = field(default_factory=set)

    def at(self, char: str) -> Mention:
        return self.mentions[ord(char) & 0x7FFF]

    def capital_at(self, position: int) -> bool:
        """Whether what stands there began with a capital, or with a letter that has no case."""
        return position in self.capitals

    def add(self, options: frozenset[int], form: Form, raw: str) -> str:
        self.mentions.append(Mention(options, form, raw))
        first = _FIRST_TEXT if form == "text" else _FIRST_LABEL
        return chr(first + len(self.mentions) - 1)


_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")
_NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_FUNCTION_WORDS = frozenset(
    ("yes", "no", "none", "both", "in", "on", "off", "up", "down", "one", "it", "he", "she", "all")
)
"""Option texts that running prose is full of: they count only where they stand apart."""

_ONE_LETTER_WORDS = frozenset("aeiouyаеиіоуявксб")
"""Single letters that are words in some language."""

_CUE_BEFORE = re.compile(
    f"(?:{word_pattern(words.ANSWER_NOUNS + words.CHOOSING_VERBS)}|{word_pattern(['option'])})"
    f"(?:[\\s:：=—\"'(\\[-]|{word_pattern(words.FILLERS)})*$"
)
_AFTER_CONJUNCTION = re.compile(f"{MENTION}\\s+{word_pattern(words.CONJUNCTIONS)}$")
_LABEL_HEAD = re.compile(f"(?P<one>{LABEL})[\\s.):(]+$")
_NEXT_WORD = re.compile(r"[\s\"']*([^\W\d_]+)?")


class OptionMatcher:
    """The options of one question, cut and folded once."""

    def __init__(self, choices: Sequence[LabelledText]) -> None:
        self.choices = list(choices)
        self.labels: dict[str, int] = {}
        lower = [c.label.casefold() for c in choices]
        self.cased = len(set(lower)) < len(lower)
        for index, choice in enumerate(choices):
            self.labels[choice.label if self.cased else lower[index]] = index
        self.upper = {index for index, c in enumerate(choices) if c.label != c.label.lower()}
        self.texts: list[tuple[tuple[str, ...], frozenset[int]]] = self._texts()

    def label(self, token: str) -> int | None:
        return self.labels.get(token if self.cased else token.casefold())

    def exact(self, text: str) -> frozenset[int]:
        """The options whose whole text this is (signs, accents and number words aside)."""
        wanted = _digits_for_number_words(_content_tokens(text))
        return frozenset(
            i
            for i, c in enumerate(self.choices)
            if c.text and _digits_for_number_words(_content_tokens(c.text)) == wanted
        )

    def _texts(self) -> list[tuple[tuple[str, ...], frozenset[int]]]:
        found: dict[tuple[str, ...], set[int]] = {}
        for index, choice in enumerate(self.choices):
            tokens = _content_tokens(choice.text)
            if tokens:
                found.setdefault(tokens, set()).add(index)
        ordered = sorted(found.items(), key=lambda item: -len(item[0]))
        return [(tokens, frozenset(indices)) for tokens, indices in ordered]


def _content_tokens(text: str) -> tuple[str, ...]:
    """The folded tokens that carry meaning; signs alone are kept where there is nothing else."""
    tokens = [fold(t) for t in tokenize(text) if not t.isspace()]
    return tuple(t for t in tokens if char_class(t[0]) != "sign") or tuple(tokens)


def _digits_for_number_words(tokens: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(str(_NUMBERS.index(t) + 1) if t in _NUMBERS else t for t in tokens)


def encode_mentions(text: str, options: OptionMatcher) -> EncodedReply:
    """Replace mentions by private characters and fold the rest. Spaces are made single."""
    encoded = EncodedReply()
    tokens = tokenize(text)
    out: list[str] = []
    length = 0
    at = 0
    while at < len(tokens):
        size, mark = _mention_at(tokens, at, out, options, encoded)
        if size:
            out.append(mark)
        else:
            token, size = tokens[at], 1
            if token[0] != token[0].lower() or token[0] == token[0].upper():
                encoded.capitals.add(length)
            out.append(("\n" if "\n" in token else " ") if token.isspace() else fold(token))
        length += len(out[-1])
        at += size
    encoded.text = "".join(out)
    return encoded


def _recent_text(out: list[str]) -> str:
    """The end of what is encoded so far: enough for a cue and its fillers."""
    return "".join(out[-48:])


def _mention_at(
    tokens: list[str], at: int, out: list[str], options: OptionMatcher, encoded: EncodedReply
) -> tuple[int, str]:
    """How many tokens from `at` are a mention, and the character that stands for it."""
    token = tokens[at]
    if token.isspace():
        return 0, ""
    size, places = _ordinal_mention(tokens, at, options)
    if size:
        raw = "".join(tokens[at : at + size])
        number = tokens[at + size - 1]
        same = options.exact(number) if number.isdecimal() else frozenset()
        label = options.label(number)
        meant = frozenset({label}) if label is not None else frozenset({places}) | same
        return size, encoded.add(meant, "label" if label is not None else "place", raw)
    label = options.label(token)
    for text, indices in options.texts:
        size = _match_length(tokens, at, text)
        if not size:
            continue
        if label is not None and len(text) == 1:
            break  # a word that is a label and a text
        if (
            text[0] in _FUNCTION_WORDS
            and len(text) == 1
            and not _stands_apart(tokens, at, size, out)
        ):
            continue
        return size, encoded.add(indices, "text", "".join(tokens[at : at + size]))
    if label is None or not _is_label(tokens, at, out, label, options):
        return 0, ""
    meant = frozenset({label})
    if not re.search(word_pattern(["option", "choice"]) + r"[\s:(]*$|[(\[]$", _recent_text(out)):
        also = frozenset(i for text, ids in options.texts if text == (fold(token),) for i in ids)
        headed = _LABEL_HEAD.search(_recent_text(out))
        if also and headed and encoded.at(headed["one"]).options <= also:
            return 1, encoded.add(also, "text", token)
        if also and not _text_follows(tokens, at, options, label):
            meant |= also
    return 1, encoded.add(meant, "label", token)


def _match_length(tokens: list[str], at: int, text: tuple[str, ...]) -> int:
    """How many tokens from `at` spell the text (signs and spaces between them aside), or 0."""
    found = 0
    for size in range(1, len(tokens) - at + 1):
        token = tokens[at + size - 1]
        folded = fold(token)
        if folded == text[found]:
            found += 1
            if found == len(text):
                return size if _is_whole_number(tokens, at, at + size) else 0
        elif (
            char_class(token[0]) not in ("space", "sign")
            or not found
            or _ends_sentence(token, text[found - 1])
        ):
            return 0
    return 0


def _ends_sentence(sign: str, word: str) -> bool:
    """A sign that ends a sentence, and is no abbreviation's point (`Mr. Adams`)."""
    return sign in "!?;" or "\n" in sign or (sign == "." and len(word) > 3)


def _is_whole_number(tokens: list[str], start: int, end: int) -> bool:
    """A number's neighbours must not make it another number (`-3`, `3%` of 3, `3/4`)."""
    after = tokens[end] if end < len(tokens) else " "
    before = tokens[start - 1] if start else " "
    follower = tokens[end + 1] if end + 1 < len(tokens) else " "
    if tokens[end - 1][-1].isdecimal() and (
        after == "%" or (after in "/:" and follower[0].isdecimal())
    ):
        return False
    if tokens[start][0].isdecimal() and before in "/:-":
        return not (start > 1 and tokens[start - 2][-1].isdecimal()) and before != "-"
    return True


def _stands_apart(tokens: list[str], at: int, size: int, out: list[str]) -> bool:
    """At the start of a sentence or after a cue, and followed by a sign or nothing."""
    before = _recent_text(out).rstrip(" \"'([{|")
    ends = at + size >= len(tokens) or char_class(tokens[at + size][0]) == "sign"
    if not ends and "\n" not in tokens[at + size] and tokens[at + size].strip(" |"):
        ends = False
    elif not ends:
        nxt = next((t for t in tokens[at + size :] if not t.isspace()), "")
        ends = "\n" in tokens[at + size] or char_class(nxt[0]) == "sign" if nxt else True
        if not ends:
            ends = fold(nxt) in words.CONTINUATIONS
    opened = not before or before[-1] in ".!?\n:,|)-" or before[-1] >= "\U000f0000"
    return bool(
        ends
        and (opened or _AFTER_CONJUNCTION.search(before) or _CUE_BEFORE.search(_recent_text(out)))
    )


def _ordinal_mention(tokens: list[str], at: int, options: OptionMatcher) -> tuple[int, int]:
    """`Option 2`, `option two`, `second option`, `last choice`: (tokens, index) or (0, 0)."""
    if at + 2 >= len(tokens) or tokens[at + 1] != " ":
        return 0, 0
    first, second = fold(tokens[at]), fold(tokens[at + 2])
    count = len(options.choices)
    if first in ("option", "choice"):
        number = int(second) if second.isdecimal() and len(second) < 4 else 0
        number = number or (_NUMBERS.index(second) + 1 if second in _NUMBERS else 0)
        label = options.label(second)
        if label is not None and second.isdecimal():
            return 3, label
        if 1 <= number <= count:
            return 3, number - 1
    elif second in ("option", "choice") and not (at > 1 and fold(tokens[at - 2]) in ("my", "his")):
        if first == "last":
            return 3, count - 1
        if first in _ORDINALS[:count]:
            return 3, _ORDINALS.index(first)
    return 0, 0


def _text_follows(
    tokens: list[str], at: int, options: OptionMatcher, label: int | None = None
) -> bool:
    """Whether an option's text stands right after a sign (`2. 3`); the label's own, if given."""
    after = at + 1
    while (
        after < len(tokens) and after < at + 4 and char_class(tokens[after][0]) in ("space", "sign")
    ):
        after += 1
    if after >= len(tokens) or not "".join(tokens[at + 1 : after]).strip():
        return False
    return any(
        (label is None or label in ids) and _match_length(tokens, after, text)
        for text, ids in options.texts
    )


def _is_label(
    tokens: list[str], at: int, out: list[str], label: int, options: OptionMatcher
) -> bool:
    """Whether a token that spells a label is one, and no article, initial, grade or count."""
    token = tokens[at]
    before = tokens[at - 1] if at else ""
    after = tokens[at + 1] if at + 1 < len(tokens) else ""
    beyond = tokens[at + 2] if at + 2 < len(tokens) else ""
    previous = tokens[at - 2] if at > 1 else ""

    def foreign(other: str) -> bool:
        return _is_word(other) and options.label(other) is None

    if before == "#" and token.isdecimal():
        return at < 2 or previous.isspace()
    if before in ("#", "@", "\\") or (before in _JOINING_SIGNS and foreign(previous)):
        return False  # #C, USB-C, N/A
    if (after in _JOINING_SIGNS[:5] and foreign(beyond)) or (
        after in ("+", "#", "%", "°") and options.label(beyond) is None
    ):
        return False  # D-shaped, B+
    if after == "=" and beyond[:1].isdecimal():
        return True  # A=0.2
    if after == "=" or (after == " " and beyond == "=") or (before == "=" and previous == " "):
        return _CUE_BEFORE.search(_recent_text(out)) is not None
    if before == "." and len(previous) == 1 and _is_word(previous):
        return False  # A.D.
    if after == "'" and _is_word(beyond) and fold(beyond) not in _TURKISH_SUFFIXES:
        return False  # C'mon, B's
    if after == "." and _is_word(beyond) and (len(beyond) == 1 or token.isdecimal()):
        return False  # A.M., B.C.
    if token.isdecimal():
        return _number_is_label(tokens, at, out)
    if len(token) > 1 or not _may_be_word(token, label, options):
        return True
    return _text_follows(tokens, at, options) or _is_set_apart(tokens, at, out)


_JOINING_SIGNS = ("-", "_", "/", "&", "·", "'", "+", ".")
"""Signs that tie a letter to a word on its other side."""

_TURKISH_SUFFIXES = frozenset(
    f"{stem}{rest}"
    for stem in ("d", "t")
    for rest in ("ir", "ır", "ur", "ür", "e", "a", "en", "an")
) | frozenset(("yi", "yı", "i", "ı", "nin", "nın", "yu", "yü"))


def _is_word(token: str) -> bool:
    return bool(token) and is_spaced(token[0])


def _may_be_word(token: str, label: int, options: OptionMatcher) -> bool:
    """A lower-case letter for an upper-case label, or a letter that is a word in some language."""
    if token != token.upper() and label in options.upper:
        return True
    return fold(token) in _ONE_LETTER_WORDS or token != token.upper()


def _is_set_apart(tokens: list[str], at: int, out: list[str]) -> bool:
    """Whether a letter that could be a word is set apart as a label."""
    before = _recent_text(out)
    rest = "".join(tokens[at + 1 : at + 12])
    opened = before.rstrip(" ")[-1:]
    closed = rest.lstrip(" ")[:1]
    following = _NEXT_WORD.match(rest)
    word = fold(following[1]) if following and following[1] else ""
    ended = (
        not closed
        or closed in ".,;:!?)]}\"'。，、：；！？）」|/&✓✗✅❌>=–—-\n"
        or char_class(closed) == "single"
    )
    ended = ended or (closed.isdecimal() and re.search(r"\d[.):]\s*$", before) is not None)
    proper = tokens[at] == tokens[at].upper()
    if opened and opened in "([{<" and closed and closed in ")]}>.:":
        return True
    if _CUE_BEFORE.search(before):
        return ended or (word in words.CONTINUATIONS and word != "")
    if not before.strip(" \n\"'|->→✅"):  # the reply begins with it
        if proper and word in (
            words.CAUSAL_WORDS if fold(tokens[at]) == "i" else words.CONTINUATIONS
        ):
            return True
        return ended and (proper or closed != "," or not word)
    if opened in ("\n", "|") or before.endswith("\n"):
        return ended
    if proper:
        return ended or word in words.CONTINUATIONS
    return closed == ")" and opened == "("


def _number_is_label(tokens: list[str], at: int, out: list[str]) -> bool:
    """A numeral is a label where it stands apart, not where it counts something."""
    before = _recent_text(out)
    after = tokens[at + 1] if at + 1 < len(tokens) else ""
    beyond = tokens[at + 2] if at + 2 < len(tokens) else ""
    if after in ("/", ":", "-", "%") and beyond[:1].isdecimal():
        return False
    if after == " " and _is_word(beyond) and fold(beyond) not in words.CONTINUATIONS:
        return False
    return not (before and before[-1] in "/:-" and before[-2:-1].isdecimal())
