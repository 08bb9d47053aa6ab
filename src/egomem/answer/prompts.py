"""Every text that a reader or verifier is given, with its version.

Shared context comes first and the question last, so that a server's prefix cache can keep what
several questions share. A changed text is a new version: the version is part of the cache key and
of every run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from egomem.records import Question
from egomem.timeline import Moment, format_instant, format_time


@dataclass(frozen=True, slots=True)
class Prompt:
    """`name` is the name and version that goes into the request; `system` is its first text."""

    name: str
    system: str


CLEAN = Prompt(
    "clean@1",
    "You answer questions about what happened to the wearer of a camera. You are shown nothing of "
    "the recording: answer from the question and its options alone.",
)

VIDEO = Prompt(
    "video@1",
    "You answer questions about what happened to the wearer of a camera. You get frames of the "
    "recording in order of time; before each stands its time. Answer from these frames alone.",
)

CAPTION = Prompt(
    "caption-qa@1",
    "You answer questions about what happened to the wearer of a camera. You get notes that were "
    "written while watching the recording, numbered and in order of time. You cannot see the "
    "recording: answer from these notes alone.",
)

CANDIDATE = Prompt(
    "candidate@1",
    "You answer questions about what happened to the wearer of a camera. You get the few notes of "
    "the recording that seem to matter, numbered and in order of time. Answer from them alone.",
)

RETRIEVE = Prompt(
    "retrieve@1",
    "You answer questions about what happened to the wearer of a camera. You get the notes of the "
    "moments that seem to matter, numbered and in order of time; between them other things "
    "happened that you are not told. Answer from these notes alone, and where they do not tell, "
    "say so.",
)

VERIFY = Prompt(
    "verify@2",
    "You check answers to questions about what happened to the wearer of a camera. You get frames "
    "from the moments that seem to matter, in order of time; before each stands its time. Say "
    "which answer these frames show, and how well they show it. Support is\n"
    "strong: the frames plainly show it, and show that the other answers are wrong;\n"
    "partial: they show part of it, or it is likely but could be otherwise;\n"
    "weak: hardly anything in them speaks for it;\n"
    "none: nothing in them does.\n"
    "What is blurred, hidden or not in the frames is no support.",
)


def asked(question: Question, until: Moment | None) -> str:
    """The end of every request: the time, where it is known, the question and its options."""
    lines = []
    if isinstance(until, datetime):
        lines.append(f"It is now {until:%A} {format_instant(until)}.")
    elif until is not None:
        lines.append(f"It is now {format_time(until.seconds)} of the recording.")
    lines.append(f"Question: {question.text}")
    lines += [f"{o.label}. {o.text}" for o in question.options]
    return "\n".join(lines)


def how_to_answer(question: Question, *, format: str, abstain: bool, evidence: str) -> str:
    """What the reply shall look like. `evidence` says what to name as evidence; "" for nothing."""
    labels = ", ".join(o.label for o in question.options)
    lines: list[str] = []
    if not question.options:
        lines.append('Reply with JSON: "answer" is the answer in one short sentence.')
        if abstain:
            lines.append('Where it cannot be told from what you were given, "answer" is null.')
    elif format == "scores":
        lines.append(
            f'Reply with JSON: "answer" is the letter of the right option ({labels}); "scores" '
            "gives each option a number from 0 to 1 for how likely it is right, no two the same."
        )
        if abstain:
            lines.append(
                'Where it cannot be told from what you were given, "answer" is null; give the '
                "scores all the same."
            )
    else:
        alone = "alone on the first line" if evidence else "and nothing else"
        lines.append(f"Reply with the letter of the right option ({labels}) {alone}.")
        if abstain:
            lines.append('Where it cannot be told from what you were given, reply "none".')
    if evidence and (format == "scores" or not question.options):
        lines.append(f'"evidence" lists {evidence}; an empty list where there is none.')
    elif evidence:
        lines.append(
            f'On a second line write "Evidence:" and then {evidence}, with commas between.'
        )
    return " ".join(lines)


def reader_texts(
    *prompts: Prompt, evidence: bool = True
) -> Callable[[Question, Any], Sequence[str]]:
    """What a strategy declares that gives these prompts to a reader, with `ReaderSettings`.

    `evidence`: whether the reader is asked to list some.
    """

    def texts(question: Question, settings: Any) -> list[str]:
        # The words that follow a prompt depend on the options and on how the reply is wanted.
        instructions = how_to_answer(
            question,
            format=settings.format,
            abstain=settings.abstain,
            evidence="-" if evidence and settings.cite else "",
        )
        return [*(t for p in prompts for t in (p.name, p.system)), instructions]

    return texts


def verdict_wanted(question: Question, candidate: str) -> str:
    """What the verifier shall reply; `candidate` is what a reader of notes had answered."""
    labels = ", ".join(o.label for o in question.options)
    answer = f"the letter ({labels})" if question.options else "the answer in one short sentence"
    lines = [f"A reader of notes, who has not seen the frames, answered: {candidate}"] * bool(
        candidate
    )
    lines.append(
        f'Reply with JSON: "answer" is {answer} of what the frames show, or "none"; "support" is '
        '"strong", "partial", "weak" or "none"; "reason" says in one sentence what can be seen; '
        '"evidence" lists the times of the frames that show it, as they stand before the frames, '
        "and is empty where none does."
    )
    return "\n".join(lines)
