"""What a reply says once thinking, markup and look-alike letters are out of the way."""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

_NAMES = r"think|thinking|thought|thoughts|reasoning|analysis|scratchpad"
_OPEN = rf"<(?:{_NAMES})>|\[THINK\]|◁think▷|<\|channel\|>(?:analysis|commentary)(?:<\|message\|>)?"
_CLOSE = rf"</(?:{_NAMES})>|\[/THINK\]|◁/think▷|<\|end\|>|<\|channel\|>final"
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
_MATH = re.compile(r"\\[()\[\]]|\$+")
_HEADING = re.compile(r"(?m)^[ \t]*(?:#{1,6}[ \t]+|>[ \t]*|[-*•][ \t]+(?=\S))+")
_EMPHASIS = re.compile(r"\*+|__+|`+")
_HIDDEN = re.compile(
    "[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff\ufe00-\ufe0f\U000e0100-\U000e01ef]"
)
_PRIVATE = re.compile("[\ue000-\uf8ff\U000f0000-\U0010ffff]")
_QUOTES = str.maketrans("‘’‛´“”„‟«»「」『』", "''''" + '"' * 10)


class VisibleText(NamedTuple):
    """`text`: what is said outside of thinking. `cut_off`: a thinking block never ended."""

    text: str
    cut_off: bool


def strip_thinking(reply: str) -> VisibleText:
    """Part thinking from what is said. Nested blocks end with the outermost one.

    A closing tag without an opening one ends thinking that began in the prompt.
    """
    said: list[str] = []
    depth = 0
    at = 0
    for bound in _THINKING_TAG.finditer(reply):
        if bound["open"]:
            if depth == 0:
                said.append(reply[at : bound.start()])
            depth += 1
        elif depth > 0 and (depth := depth - 1) == 0:
            at = bound.end()
        elif depth == 0 and bound["close"].startswith(("</", "[/", "◁/")):
            said.clear()
            at = bound.end()
    if depth:
        return VisibleText("".join(said), True)
    said.append(reply[at:])
    return VisibleText("".join(said), False)


def strip_markup(text: str) -> str:
    """The text without markup: Markdown, HTML, LaTeX, addresses, struck-out words, hidden signs.

    Compatibility forms become plain letters (Ｂ, ⓑ, 𝐁, ②, 🅱); boxes and answer tags are left in.
    """
    text = _PRIVATE.sub(" ", _HIDDEN.sub("", text))
    text = "".join(_unframe_letter(char) for char in text)
    text = unicodedata.normalize("NFKC", text).translate(_QUOTES)
    text = _SPECIAL.sub(" ", _ROLE.sub(" ", text))
    text = _LINK.sub(r"\1", _URL.sub(" ", text))
    text = _STRUCK.sub(" ", text)
    text = _FENCE.sub("\n", _BREAK.sub("\n", text))
    for wrapped, inside in ((_HTML, r" \2 "), (_LATEX, r"\1")):
        while (shorter := wrapped.sub(inside, text)) != text:
            text = shorter
    text = _MATH.sub(" ", text)
    return _EMPHASIS.sub("", _HEADING.sub("", text))


def _unframe_letter(char: str) -> str:
    """Squared and circled letters that have no compatibility form in Unicode."""
    code = ord(char)
    for first in (0x1F150, 0x1F170):
        if first <= code < first + 26:
            return chr(65 + code - first)
    return char
