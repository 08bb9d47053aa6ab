"""Why an answer is wrong: not observed, not retrieved, misread, or wrongly abstained.

Pure: from the question's evidence, the answer's trace, and the answers of oracle settings, which
were given the evidence's captions or frames.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any

from egomem.records import Answer, Question, Record, Status
from egomem.score.ranking import Place, touches
from egomem.score.sheet import abstains, is_right
from egomem.timeline import Span


class Why(StrEnum):
    NOT_OBSERVED = "not observed"
    NOT_RETRIEVED = "not retrieved"
    MISREAD = "misread"
    WRONGLY_ABSTAINED = "wrongly abstained"
    NO_READING = "no reading"
    """The reply itself failed: refused, cut off, unreadable, an error, or none."""


class Explanation(Record):
    """`sure` where an oracle setting or the trace shows it; else it is what is left."""

    why: Why
    because: str
    sure: bool


def why_wrong(
    question: Question,
    answer: Answer | None,
    *,
    oracle_captions: Answer | None = None,
    oracle_frames: Answer | None = None,
    verdict: float | None = None,
    slack: float = 1.0,
) -> Explanation | None:
    """Why an answer is wrong; None where it is right.

    In this order: a reply without a reading; an item that cannot be answered, which was (misread);
    evidence that the oracle of captions cannot answer from (not observed, unless the oracle of
    frames cannot either: misread); evidence that the trace shows was not before the reader (not
    retrieved); then wrongly abstained, or misread. An oracle whose reply failed says nothing.
    `slack`: seconds by which a frame may miss.
    """
    if is_right(question, answer, verdict) >= 0.5:
        return None
    if answer is None or answer.status not in (Status.PARSED, Status.ABSTAINED):
        status = answer.status.value if answer else "there is no answer"
        return _said(Why.NO_READING, status, True)
    if question.answerable is False:
        return _said(Why.MISREAD, "it cannot be answered, and an answer was given", True)
    seen, shown = _told(question, oracle_captions), _told(question, oracle_frames)
    if seen is False and shown is True:
        return _said(Why.NOT_OBSERVED, "the evidence's frames show it, its captions do not", True)
    if seen is False and shown is None:
        return _said(Why.NOT_OBSERVED, "the evidence's captions do not tell it", False)
    if seen is False:
        return _said(Why.MISREAD, "it was misread from the evidence's own frames, too", True)
    found = retrieved(question, answer, slack=slack)
    if found is False:
        return _said(Why.NOT_RETRIEVED, "nothing that was read overlaps the evidence", True)
    if abstains(question, answer):
        return _said(Why.WRONGLY_ABSTAINED, _held(found), seen is True)
    return _said(Why.MISREAD, _held(found), seen is True and found is True)


def _told(question: Question, oracle: Answer | None) -> bool | None:
    """Whether an oracle answered rightly; None where it did not run, or its reply failed."""
    if oracle is None or oracle.status not in (Status.PARSED, Status.ABSTAINED):
        return None
    return is_right(question, oracle) >= 0.5


def _said(why: Why, because: str, sure: bool) -> Explanation:
    return Explanation(why=why, because=because, sure=sure)


def _held(found: bool | None) -> str:
    return "the evidence was before the reader" if found else "what was read is not known"


def retrieved(question: Question, answer: Answer, *, slack: float = 1.0) -> bool | None:
    """Whether the trace shows the evidence before the reader; None where it does not tell.

    A strategy that reads all notes of the question's part of the memory has it.
    """
    gold: list[Place] = [(e.recording, e.span) for e in question.evidence]
    if not gold:
        return None
    full, places = before_reader(answer, slack)
    if full:
        return True
    if places is None:
        return None
    return any(touches(place, g) for place in places for g in gold)


def before_reader(answer: Answer, slack: float = 1.0) -> tuple[bool, list[Place] | None]:
    """What a trace says was read: everything (True), or these places; None where it is silent.

    Read are the steps `notes` (everything, where it has any), `found` (`hits`) and `looked`
    (`frames`, each widened by `slack`), and the evidence that the answer names. An answer of
    `verify` that was not overridden is the one read from all notes.
    """
    places: list[Place] = []
    told = False
    steps = [step for step in answer.trace if isinstance(step, dict)]
    outcomes = [step.get("outcome") for step in steps if step.get("step") == "decision"]
    for step in steps:
        if step.get("step") == "notes" and step.get("observations"):
            return True, None
        if step.get("step") == "baseline" and "overridden" not in outcomes:
            return True, None
        for hit in _maps(step.get("hits")):
            told = True
            places.append((_id(hit), Span(_time(hit, "start"), _time(hit, "end"))))
        told = told or "hits" in step
        for frame in _maps(step.get("frames")) if step.get("step") == "looked" else ():
            told = True
            time = _time(frame, "time")
            places.append((_id(frame), Span(max(0.0, time - slack), time + slack)))
    places += [(e.recording, e.span) for e in answer.evidence]
    return False, places if told or places else None


def _maps(value: object) -> list[Mapping[str, Any]]:
    return [v for v in value if isinstance(v, Mapping)] if isinstance(value, Sequence) else []


def _id(fields: Mapping[str, Any]) -> str | None:
    held = fields.get("recording")
    return None if held is None else str(held)


def _time(fields: Mapping[str, Any], name: str) -> float:
    return float(fields.get(name) or 0.0)


def tally(found: Iterable[Explanation | None]) -> dict[str, int]:
    """How many wrong answers fall under each reason, in the order of `Why`."""
    counts = Counter(e.why for e in found if e is not None)
    return {why.value: counts[why] for why in Why}
