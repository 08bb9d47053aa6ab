"""A completion's text, thinking, JSON and status, before an answer is read in it.

Names of finish reasons differ between servers; those in `FINISH_STATUSES` are known. Any other
reason is not a clean end: the text is kept in `raw` and never read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from pydantic import JsonValue

from egomem.models.json_extract import find_json
from egomem.models.reply import ErrorKind
from egomem.records import Status

FINISH_STATUSES: dict[str, Status] = {
    **dict.fromkeys(
        ("stop", "end_turn", "stop_sequence", "eos", "eos_token", "completed"), Status.PARSED
    ),
    **dict.fromkeys(
        ("length", "max_tokens", "max_output_tokens", "model_context_window_exceeded", "abort"),
        Status.TRUNCATED,
    ),
    **dict.fromkeys(
        (
            "content_filter",
            "refusal",
            "safety",
            "recitation",
            "blocklist",
            "prohibited_content",
            "spii",
            "image_safety",
        ),
        Status.REFUSED,
    ),
    "error": Status.ERROR,
}

# Blocks begin at the start of a line: a tag that the text only talks about does not.
_NAMES = "think|thinking|thought|reasoning"
_OPENED = re.compile(rf"(?:\A|(?<=\n))[ \t]*<({_NAMES})>", re.IGNORECASE)
_CLOSED = re.compile(rf"(?:\A|(?<=\n))[ \t]*<({_NAMES})>(.*?)</\1>", re.IGNORECASE | re.DOTALL)
_CLOSED_ONLY = re.compile(rf"\A(.*)</({_NAMES})>", re.IGNORECASE | re.DOTALL)


class ThinkingSplit(NamedTuple):
    """A text without its thinking. `open`: a thinking block never ended."""

    text: str
    thinking: str
    open: bool


def split_thinking(raw: str) -> ThinkingSplit:
    """Split a completion into its text and its `<think>…</think>` blocks.

    A block begins at the start of the text or of a line. Some chat templates write the opening tag
    into the prompt: then everything up to the closing tag is thinking.
    """
    thoughts: list[str] = []

    def keep(match: re.Match[str]) -> str:
        thoughts.append(match[2].strip())
        return ""

    text = _CLOSED.sub(keep, raw)
    opened = _OPENED.search(text)
    closed_only = _CLOSED_ONLY.match(text)
    if closed_only and not opened:
        thoughts.insert(0, closed_only[1].strip())
        text = text[closed_only.end() :]
    elif opened:
        thoughts.append(text[opened.end() :].strip())
        text = text[: opened.start()]
    return ThinkingSplit(text.strip(), "\n".join(thoughts), opened is not None)


class ParsedReply(NamedTuple):
    status: Status
    text: str = ""
    reasoning: str = ""
    data: JsonValue = None
    source: str = "content"
    detail: str = ""
    fault: ErrorKind | None = None


def parse_reply(
    raw: str,
    reasoning: str,
    finish: str | None,
    schema: Mapping[str, JsonValue] | None,
    refusal: str = "",
) -> ParsedReply:
    """Read a completion: its text, reasoning and JSON, with a status.

    The reasoning field is read only if the content is empty and the reply ended cleanly: cut-off
    thoughts hold letters that the model was about to reject. A missing finish reason counts as a
    clean end (Ollama and some gateways leave it out); an unknown one does not.
    """
    # Order matters: a refusal may have an end of any kind, and a cut-off text must not be read.
    finish_status = FINISH_STATUSES.get((finish or "stop").lower())
    split = split_thinking(raw)
    thinking = "\n".join(t for t in (reasoning.strip(), split.thinking) if t)
    if refusal or finish_status is Status.REFUSED:
        reason = refusal or "stopped by the provider's content filter"
        return ParsedReply(Status.REFUSED, "", thinking, detail=f"refused: {reason}")
    if finish_status is Status.ERROR:
        return ParsedReply(
            Status.ERROR, "", thinking, detail="the server ended the reply with an error"
        )
    if finish_status is Status.TRUNCATED:
        return ParsedReply(
            Status.TRUNCATED,
            "",
            thinking,
            detail=f"cut off (finish reason {finish}); raise max_tokens",
        )
    # Some servers report a clean end for a reply that was cut off while thinking.
    if split.open:
        return ParsedReply(
            Status.TRUNCATED, "", thinking, detail="cut off inside its thinking; raise max_tokens"
        )
    if finish_status is None:
        return ParsedReply(
            Status.UNPARSABLE, "", thinking, detail=f"ended for an unknown reason: {finish}"
        )
    text, source = split.text, "content"
    if not text and reasoning.strip():
        text, source = split_thinking(reasoning).text, "reasoning"
    if not text:
        return ParsedReply(
            Status.UNPARSABLE, "", thinking, detail="the reply is empty", fault=ErrorKind.EMPTY
        )
    if schema is None:
        return ParsedReply(Status.PARSED, text, thinking, source=source)
    extracted = find_json(text, schema)
    if extracted.value is None:
        return ParsedReply(
            Status.UNPARSABLE, text, thinking, source=source, detail=extracted.problem
        )
    return ParsedReply(Status.PARSED, text, thinking, extracted.value, source)
