"""Reading an open answer: whether it is one, by the phrases that choices are read by."""

from __future__ import annotations

import re

from egomem.answer.choice import words
from egomem.answer.choice.abstentions import ABSTENTION, REFUSAL
from egomem.answer.choice.normalise import strip_markup, strip_thinking
from egomem.answer.choice.tokens import fold
from egomem.answer.choice.words import word_pattern
from egomem.records import Status

_SENTENCE = re.compile(r"[^.!?;。！？；\n]+")
_APOLOGY = re.compile(r"\b(?:sorry|apolog|unfortunately|leider|désolé|lo siento)|抱歉|申し訳")
_STILL_ANSWERS = re.compile(word_pattern([*words.CONTRASTS, *words.GUESS_NOUNS]))
"""A word by which an answer follows after all: "not stated, but probably on the shelf"."""
_LABEL = re.compile(r"\A\s*(?:final\s+)?answer\s*[:：]\s*", re.IGNORECASE)


def open_answer_status(text: str) -> Status:
    """Whether an open answer is one: `parsed`, `abstained`, `refused`, `truncated`, `unparsable`.

    It abstains or refuses where its first sentence does and no answer follows in spite of that.
    Never raises.
    """
    visible = strip_thinking(text)
    if visible.cut_off:
        return Status.TRUNCATED
    folded = fold(_LABEL.sub("", strip_markup(visible.text)).strip())
    if not any(char.isalnum() for char in folded):
        return Status.UNPARSABLE
    first = next((s for s in _SENTENCE.findall(folded) if s.strip(" \"'")), folded).strip()
    for pattern, status in ((REFUSAL, Status.REFUSED), (ABSTENTION, Status.ABSTAINED)):
        match = pattern.search(first)
        if match and not _answers_beside(folded, first, match):
            return status
    return Status.PARSED


def _answers_beside(text: str, first: str, phrase: re.Match[str]) -> bool:
    """Whether an answer stands beside a phrase that says that there is none."""
    before, after = first[: phrase.start()], text[text.find(phrase[0]) + len(phrase[0]) :]
    if _STILL_ANSWERS.search(after):
        return True
    return _STILL_ANSWERS.search(before) is not None and not _APOLOGY.search(before)


def is_no_answer(text: str) -> bool:
    """Whether the text of an answer field gives none: "", "none", "cannot be determined"."""
    return open_answer_status(text) is not Status.PARSED
