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
from egomem.score.scored_answers import abstains, is_right
from egomem.text import plural
from egomem.timeline import Span


class FailureMode(StrEnum):
    NOT_OBSERVED = "not observed"
    NOT_RETRIEVED = "not retrieved"
    MISREAD = "misread"
    MISREAD_BY_LOOK = "misread by the look"
    """A look at the frames replaced an answer by a wrong one."""
    WRONGLY_ABSTAINED = "wrongly abstained"
    NO_READING = "no reading"
    """The reply itself failed: refused, cut off, unreadable, an error, or none."""


class Explanation(Record):
    """`because` names the oracles that it rests on. `sure` where they and the trace show it; else
    it is what is left."""

    why: FailureMode
    because: str
    sure: bool


class Oracle(Record):
    """An answer from the evidence alone. `name` is its setting.

    `other`: how what it read differs from what the answer rests on that is explained; "" where
    both read the same. An oracle of something else shows nothing for sure.
    """

    answer: Answer
    name: str = ""
    other: str = ""

    @property
    def said(self) -> str:
        return f" ({', '.join(filter(None, (self.name, self.other)))})" if self.name else ""


def why_wrong(
    question: Question,
    answer: Answer | None,
    *,
    oracle_captions: Oracle | Answer | None = None,
    oracle_frames: Oracle | Answer | None = None,
    verdict: float | None = None,
    slack: float = 1.0,
) -> Explanation | None:
    """Why an answer is wrong; None where it is right.

    In this order: a reply without a reading; an answer that a look at the frames put in the place
    of another (misread by the look); an item that cannot be answered, which was (misread). Then,
    of an answer from captions: evidence that lies in stretches without a caption (not observed);
    evidence that the oracle of captions cannot answer from (not observed, unless the oracle of
    frames cannot either: misread); evidence that was not before the reader by the trace (not
    retrieved). Of an answer from frames alone: no frame in the evidence (not observed). Then
    wrongly abstained, or misread. An oracle whose reply failed says nothing. `slack`: seconds by
    which a frame may miss.
    """
    if is_right(question, answer, verdict) >= 0.5:
        return None
    if answer is None or answer.status not in (Status.PARSED, Status.ABSTAINED):
        status = answer.status.value if answer else "there is no answer"
        return _said(FailureMode.NO_READING, status, True)
    if _overridden(answer):
        return _said(FailureMode.MISREAD_BY_LOOK, _replaced(question, answer, slack), True)
    if question.answerable is False:
        return _said(FailureMode.MISREAD, "it cannot be answered, and an answer was given", True)
    captions, frames = _oracle(oracle_captions), _oracle(oracle_frames)
    if _sees_frames_alone(answer):
        return _of_frames(question, answer, frames, slack)
    return _of_captions(question, answer, captions, frames, slack)


def _of_captions(
    question: Question,
    answer: Answer,
    captions: Oracle | None,
    frames: Oracle | None,
    slack: float,
) -> Explanation:
    seen, shown = _told(question, captions), _told(question, frames)
    same = captions is not None and not captions.other
    alone, lost = _unnoted(question, answer)
    if lost and (alone or seen is not True):
        return _said(FailureMode.NOT_OBSERVED, f"the evidence has no caption: {lost}", alone)
    by_captions, by_frames = captions.said if captions else "", frames.said if frames else ""
    if seen is False and shown is True:
        why = f"the evidence's frames show it{by_frames}, its captions do not{by_captions}"
        return _said(FailureMode.NOT_OBSERVED, why, same)
    if seen is False and shown is None:
        why = f"the evidence's captions do not tell it{by_captions}; its frames were not tried"
        return _said(FailureMode.NOT_OBSERVED, why, False)
    if seen is False:
        why = f"it was misread from the evidence's own frames{by_frames}, too"
        return _said(FailureMode.MISREAD, f"{why}, and from its captions{by_captions}", same)
    found = retrieved(question, answer, slack=slack)
    told = seen is True and same
    ground = f"the evidence's captions tell it{by_captions}" if seen else _NOT_TRIED
    if found is False:
        why = f"nothing that was read overlaps the evidence; {ground}"
        return _said(FailureMode.NOT_RETRIEVED, why, told)
    kind = FailureMode.WRONGLY_ABSTAINED if abstains(question, answer) else FailureMode.MISREAD
    return _said(kind, f"{_held(found)}; {ground}", told and found is True)


_NOT_TRIED = "no oracle says whether its captions tell it"


def _of_frames(
    question: Question, answer: Answer, frames: Oracle | None, slack: float
) -> Explanation:
    """Of an answer that rests on frames alone: nothing was noted, and nothing retrieved."""
    shown, by = _told(question, frames), frames.said if frames else ""
    found = retrieved(question, answer, slack=slack)
    if found is False:
        return _said(FailureMode.NOT_OBSERVED, "no frame that was shown lies in the evidence", True)
    if shown is False:
        why = f"it was misread from the evidence's own frames{by}, too"
        return _said(FailureMode.MISREAD, f"{_held(found)}; {why}", found is True)
    kind = FailureMode.WRONGLY_ABSTAINED if abstains(question, answer) else FailureMode.MISREAD
    if shown is None or frames is None:
        why = f"{_held(found)}; no oracle says whether its frames show it"
        return _said(kind, why, False)
    had, had_there = (_frames_in(question, a, slack) for a in (answer, frames.answer))
    why = f"{_held(found)}; the evidence's frames show it{by}"
    if had < had_there:
        here = f"{had} were" if had > 1 else "one was" if had else "none was"
        why += f", with {plural(had_there, 'frame')} of it where {here} shown here"
    return _said(kind, why, found is True and had >= had_there and not frames.other)


def _oracle(given: Oracle | Answer | None) -> Oracle | None:
    return Oracle(answer=given) if isinstance(given, Answer) else given


def _told(question: Question, oracle: Oracle | None) -> bool | None:
    """Whether an oracle answered rightly; None where it did not run, or its reply failed."""
    if oracle is None or oracle.answer.status not in (Status.PARSED, Status.ABSTAINED):
        return None
    return is_right(question, oracle.answer) >= 0.5


def _said(why: FailureMode, because: str, sure: bool) -> Explanation:
    return Explanation(why=why, because=because, sure=sure)


def _held(found: bool | None) -> str:
    return "the evidence was before the reader" if found else "what was read is not known"


def _overridden(answer: Answer) -> bool:
    decisions = [s.get("outcome") for s in _steps(answer) if s.get("step") == "decision"]
    return "overridden" in decisions


def _replaced(question: Question, answer: Answer, slack: float) -> str:
    """What a look did that replaced an answer by a wrong one."""
    before = next((s.get("before") for s in _steps(answer) if s.get("step") == "decision"), None)
    status = Status.ABSTAINED if before is None else Status.PARSED
    base = Answer(text="", status=status, choice=before, strategy="caption")
    was = "right" if is_right(question, base) >= 0.5 else "wrong, too"
    why = f"a look at the frames replaced the caption answer, which was {was}"
    if question.evidence and not _frames_in(question, answer, slack):
        why += "; no frame that was looked at lies in the evidence"
    return why


def _sees_frames_alone(answer: Answer) -> bool:
    steps = _steps(answer)
    names = {step.get("step") for step in steps}
    noted = names & {"notes", "found", "baseline"} or any("hits" in step for step in steps)
    return "looked" in names and not noted


def _frames_in(question: Question, answer: Answer, slack: float) -> int:
    """Frames that the trace shows in the evidence, or within `slack` seconds of it."""
    gold: list[Place] = [(e.recording, e.span) for e in question.evidence]
    return sum(any(touches(place, g) for g in gold) for place in _looked(answer, slack))


def _steps(answer: Answer) -> list[Mapping[str, Any]]:
    return [step for step in answer.trace if isinstance(step, dict)]


def _looked(answer: Answer, slack: float) -> list[Place]:
    """The frames that were looked at, each widened by `slack`."""
    times = [
        (_id(frame), _time(frame, "time"))
        for step in _steps(answer)
        if step.get("step") == "looked"
        for frame in _maps(step.get("frames"))
    ]
    return [(id, Span(max(0.0, time - slack), time + slack)) for id, time in times]


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


def _unnoted(question: Question, answer: Answer) -> tuple[bool, str]:
    """Whether captions alone were read, and where all of the evidence lies in stretches that the
    trace says are without one, how the replies ended there (`refused, truncated`); else ""."""
    step = next((s for s in _steps(answer) if s.get("without")), {})
    missing = [
        ((_id(g), Span(_time(g, "start"), _time(g, "end"))), str(g.get("status")))
        for g in _maps(step.get("without"))
    ]
    ended: dict[str, None] = {}
    for piece in question.evidence:
        gold: Place = (piece.recording, piece.span)
        over = sorted((place[1], status) for place, status in missing if touches(place, gold))
        reached = piece.span.start
        for span, status in over:
            if span.start <= reached:
                reached = max(reached, span.end)
                ended[status] = None
        if not over or reached < piece.span.end:
            return False, ""
    return step.get("sources") == ["caption"], ", ".join(ended)


def before_reader(answer: Answer, slack: float = 1.0) -> tuple[bool, list[Place] | None]:
    """What a trace says was read: everything (True), or these places; None where it is silent.

    Read are the steps `notes` (everything, where it has any), `found` (`hits`) and `looked`
    (`frames`, each widened by `slack`), and the evidence that the answer names. An answer of
    `verify` that was not overridden is the one read from all notes.
    """
    places = _looked(answer, slack)
    told = bool(places)
    for step in _steps(answer):
        if step.get("step") == "notes" and step.get("observations"):
            return True, None
        if step.get("step") == "baseline" and not _overridden(answer):
            return True, None
        for hit in _maps(step.get("hits")):
            places.append((_id(hit), Span(_time(hit, "start"), _time(hit, "end"))))
        told = told or "hits" in step
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
    """How many wrong answers fall under each reason, in the order of `FailureMode`."""
    counts = Counter(e.why for e in found if e is not None)
    return {why.value: counts[why] for why in FailureMode}
