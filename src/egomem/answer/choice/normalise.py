"""A reply without thinking, markup and look-alike letters."""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

_NAMES = r"think|thinking|thought|thoughts|reasoning|analysis|scratchpad"
_OPEN = rf"<(?:{_NAMES})>|\[THINK\]|◁think▷|<\|channel\|>(?:analysis|commentary)(?:<\|message\|>)?"
_CLOSE = rf"</(?:{_NAMES})>|\[/THINK\]|◁/think▷|<\|end\|>|<\|channel\|>final|assistantfinal:?"
_THINKING_TAG = re.compile(rf"(?P<open>{_OPEN})|(?P<close>{_CLOSE})", re.IGNORECASE)

_SPECIAL = re.compile(r"<\|[^|<>]{0,40}\|>|</?s>")
_ROLE = re.compile(r"<\|(?:start|channel|im_start|start_header_id)\|>\w+")
_URL = re.compile(r"\b(?:https?://|www\.)\S+", re.IGNORECASE)
_LINK = re.compile(r"\[([^\[\]]*)\]\([^()\s]*\)")
_STRUCK = re.compile(r"~~.*?~~|<(s|del|strike)>.*?</\1>", re.IGNORECASE | re.DOTALL)
_HTML = re.compile(
    r"<(b|i|u|em|strong|p|span|div|code|pre|li|ul|ol|h[1-6]|mark|sub|sup)\b[^<>]*>(.*?)</\1>",
    re.IGNORECASE | re.DOTALL,
)
_BREAK = re.compile(r"<br\s*/?>|</?p>", re.IGNORECASE)
_FENCE = re.compile(r"```[A-Za-z]*[ \t]*\n?|~~~")
_LATEX = re.compile(
    r"\\(?:text|textbf|textit|textrm|mathbf|mathrm|mathit|mathsf|mathtt|bf|rm|mathbb|operatorname)"
    r"\s*\{([^{}]*)\}"
)
# A dollar sign before a number is a price.
_MATH = re.compile(r"\\[()\[\]]|\$+(?!\s?\d)|(?<=\d)\$")
_HEADING = re.compile(r"(?m)^[ \t]*(?:#{1,6}[ \t]+|>[ \t]*|[-*•][ \t]+(?=\S))+")
_EMPHASIS = re.compile(r"\*+|__+|`+")
_HIDDEN = re.compile(
    "[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff\ufe00-\ufe0f\U000e0100-\U000e01ef]"
)
_PRIVATE = re.compile("[\ue000-\uf8ff\U000f0000-\U0010ffff]")
_QUOTES = str.maketrans("‘’‛´“”„‟«»「」『』", "''''" + '"' * 10)


class VisibleText(NamedTuple):
    """`text`: the reply outside of its thinking. `cut_off`: a thinking block never ended."""

    text: str
    cut_off: bool


def strip_thinking(reply: str) -> VisibleText:
    """The reply without its thinking blocks. Nested blocks end with the outermost one.

    A closing tag without an opening one ends thinking that began in the prompt: some chat templates
    write the opening tag there.
    """
    pieces: list[str] = []
    depth = 0
    start = 0
    for tag in _THINKING_TAG.finditer(reply):
        if tag["open"]:
            if depth == 0:
                pieces.append(reply[start : tag.start()])
            depth += 1
        elif depth > 0 and (depth := depth - 1) == 0:
            start = tag.end()
        elif depth == 0 and tag["close"].lower().startswith(("</", "[/", "◁/", "assistantfinal")):
            pieces.clear()
            start = tag.end()
    if depth:
        return VisibleText("".join(pieces), True)
    pieces.append(reply[start:])
    return VisibleText("".join(pieces), False)


def strip_markup(text: str) -> str:
    """The text without Markdown, HTML, LaTeX, URLs, struck-out words and invisible characters.

    Compatibility forms become plain letters (Ｂ, ⓑ, 𝐁, ②, 🅱); boxes and answer tags stay.
    """
    # Private-use characters stand for mentions later on (`mentions`): a reply must not hold any.
    text = _PRIVATE.sub(" ", _HIDDEN.sub("", text))
    text = "".join(_unframe_letter(char) for char in text)
    text = unicodedata.normalize("NFKC", text).translate(_QUOTES)
    text = _SPECIAL.sub(" ", _ROLE.sub(" ", text))
    # A letter within an address is no label.
    text = _LINK.sub(r"\1", _URL.sub(" ", text))
    text = _STRUCK.sub(" ", text)  # what is struck out is taken back
    text = _FENCE.sub("\n", _BREAK.sub("\n", text))
    for wrapper, content in ((_HTML, r" \2 "), (_LATEX, r"\1")):
        # Wrappers nest: each pass unwraps one level.
        while (unwrapped := wrapper.sub(content, text)) != text:
            text = unwrapped
    text = _MATH.sub(" ", text)
    return _EMPHASIS.sub("", _HEADING.sub("", text))


def _unframe_letter(char: str) -> str:
    """The plain letter of a squared or circled one that has no compatibility form in Unicode."""
    code = ord(char)
    for first in (0x1F150, 0x1F170):
        if first <= code < first + 26:
            return chr(65 + code - first)
    return char
