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
from egomem.score.ranking import RecordingSpan, overlap_in_time
from egomem.score.scored_answers import abstains, correctness
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


class OracleAnswer(Record):
    """An answer from the evidence alone. `name` is its setting.

    `other`: how what it read differs from what the answer rests on that is explained; "" where
    both read the same. An oracle of something else shows nothing for sure.
    """

    answer: Answer
    name: str = ""
    other: str = ""

    @property
    def label(self) -> str:
        """` (name, difference)`, or "" without a name."""
        return f" ({', '.join(filter(None, (self.name, self.other)))})" if self.name else ""


def explain_failure(
    question: Question,
    answer: Answer | None,
    *,
    oracle_captions: OracleAnswer | Answer | None = None,
    oracle_frames: OracleAnswer | Answer | None = None,
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
    # A judge may give part marks; from half on an answer needs no explanation.
    if correctness(question, answer, verdict) >= 0.5:
        return None
    if answer is None or answer.status not in (Status.PARSED, Status.ABSTAINED):
        status = answer.status.value if answer else "there is no answer"
        return _explanation(FailureMode.NO_READING, status, True)
    # Before everything that rests on captions: the answer that stands is the look's, whatever was
    # read.
    if _was_overridden(answer):
        return _explanation(
            FailureMode.MISREAD_BY_LOOK, _override_reason(question, answer, slack), True
        )
    if question.answerable is False:
        return _explanation(
            FailureMode.MISREAD, "it cannot be answered, and an answer was given", True
        )
    captions, frames = _as_oracle(oracle_captions), _as_oracle(oracle_frames)
    if _read_frames_alone(answer):
        return _explain_frame_answer(question, answer, frames, slack)
    return _explain_caption_answer(question, answer, captions, frames, slack)


def _explain_caption_answer(
    question: Question,
    answer: Answer,
    captions: OracleAnswer | None,
    frames: OracleAnswer | None,
    slack: float,
) -> Explanation:
    captions_right, frames_right = (
        _oracle_is_right(question, captions),
        _oracle_is_right(question, frames),
    )
    same_captions = captions is not None and not captions.other
    # Where other sources were read too, a missing caption proves nothing: speech may have told it.
    captions_alone, gap_statuses = _caption_gap(question, answer)
    if gap_statuses and (captions_alone or captions_right is not True):
        return _explanation(
            FailureMode.NOT_OBSERVED, f"the evidence has no caption: {gap_statuses}", captions_alone
        )
    by_captions, by_frames = captions.label if captions else "", frames.label if frames else ""
    # Only the two oracles together tell a fact that was never written down from one that no reader
    # of this kind gets: frames show it, captions of the same seconds do not.
    if captions_right is False and frames_right is True:
        why = f"the evidence's frames show it{by_frames}, its captions do not{by_captions}"
        return _explanation(FailureMode.NOT_OBSERVED, why, same_captions)
    if captions_right is False and frames_right is None:
        why = f"the evidence's captions do not tell it{by_captions}; its frames were not tried"
        return _explanation(FailureMode.NOT_OBSERVED, why, False)
    if captions_right is False:
        why = f"it was misread from the evidence's own frames{by_frames}, too"
        return _explanation(
            FailureMode.MISREAD, f"{why}, and from its captions{by_captions}", same_captions
        )
    was_read = evidence_was_read(question, answer, slack=slack)
    # An oracle of another window or captioner read other sentences; it hints, and proves nothing.
    is_sure = captions_right is True and same_captions
    caption_clause = (
        f"the evidence's captions tell it{by_captions}"
        if captions_right
        else _NO_ORACLE_OF_CAPTIONS
    )
    if was_read is False:
        why = f"nothing that was read overlaps the evidence; {caption_clause}"
        return _explanation(FailureMode.NOT_RETRIEVED, why, is_sure)
    mode = FailureMode.WRONGLY_ABSTAINED if abstains(question, answer) else FailureMode.MISREAD
    return _explanation(
        mode, f"{_evidence_clause(was_read)}; {caption_clause}", is_sure and was_read is True
    )


_NO_ORACLE_OF_CAPTIONS = "no oracle says whether its captions tell it"


def _explain_frame_answer(
    question: Question, answer: Answer, frames: OracleAnswer | None, slack: float
) -> Explanation:
    """Of an answer that rests on frames alone: nothing was noted, and nothing retrieved."""
    frames_right, by_frames = _oracle_is_right(question, frames), frames.label if frames else ""
    was_read = evidence_was_read(question, answer, slack=slack)
    if was_read is False:
        return _explanation(
            FailureMode.NOT_OBSERVED, "no frame that was shown lies in the evidence", True
        )
    if frames_right is False:
        why = f"it was misread from the evidence's own frames{by_frames}, too"
        return _explanation(
            FailureMode.MISREAD, f"{_evidence_clause(was_read)}; {why}", was_read is True
        )
    mode = FailureMode.WRONGLY_ABSTAINED if abstains(question, answer) else FailureMode.MISREAD
    if frames_right is None or frames is None:
        why = f"{_evidence_clause(was_read)}; no oracle says whether its frames show it"
        return _explanation(mode, why, False)
    frames_seen, frames_of_oracle = (
        _count_evidence_frames(question, a, slack) for a in (answer, frames.answer)
    )
    why = f"{_evidence_clause(was_read)}; the evidence's frames show it{by_frames}"
    # The oracle spends all its frames on the evidence, so it may see what fewer missed.
    if frames_seen < frames_of_oracle:
        seen_clause = (
            f"{frames_seen} were" if frames_seen > 1 else "one was" if frames_seen else "none was"
        )
        why += f", with {plural(frames_of_oracle, 'frame')} of it where {seen_clause} shown here"
    return _explanation(
        mode, why, was_read is True and frames_seen >= frames_of_oracle and not frames.other
    )


def _as_oracle(given: OracleAnswer | Answer | None) -> OracleAnswer | None:
    return OracleAnswer(answer=given) if isinstance(given, Answer) else given


def _oracle_is_right(question: Question, oracle: OracleAnswer | None) -> bool | None:
    """Whether an oracle answered rightly; None where it did not run, or its reply failed."""
    if oracle is None or oracle.answer.status not in (Status.PARSED, Status.ABSTAINED):
        return None
    return correctness(question, oracle.answer) >= 0.5


def _explanation(why: FailureMode, because: str, sure: bool) -> Explanation:
    return Explanation(why=why, because=because, sure=sure)


def _evidence_clause(was_read: bool | None) -> str:
    return "the evidence was before the reader" if was_read else "what was read is not known"


def _was_overridden(answer: Answer) -> bool:
    decisions = [s.get("outcome") for s in _trace_steps(answer) if s.get("step") == "decision"]
    return "overridden" in decisions


def _override_reason(question: Question, answer: Answer, slack: float) -> str:
    """What a look did that replaced an answer by a wrong one."""
    # A trace keeps what stood before the look, so the report can tell whether it did harm.
    before = next(
        (s.get("before") for s in _trace_steps(answer) if s.get("step") == "decision"), None
    )
    status = Status.ABSTAINED if before is None else Status.PARSED
    base = Answer(text="", status=status, choice=before, strategy="caption")
    verdict = "right" if correctness(question, base) >= 0.5 else "wrong, too"
    why = f"a look at the frames replaced the caption answer, which was {verdict}"
    if question.evidence and not _count_evidence_frames(question, answer, slack):
        why += "; no frame that was looked at lies in the evidence"
    return why


def _read_frames_alone(answer: Answer) -> bool:
    steps = _trace_steps(answer)
    # `verify` looks at frames, too, but starts from an answer out of notes.
    names = {step.get("step") for step in steps}
    note_steps = names & {"notes", "found", "baseline"} or any("hits" in step for step in steps)
    return "looked" in names and not note_steps


def _count_evidence_frames(question: Question, answer: Answer, slack: float) -> int:
    """Frames that the trace shows in the evidence, or within `slack` seconds of it."""
    gold: list[RecordingSpan] = [(e.recording, e.span) for e in question.evidence]
    return sum(
        any(overlap_in_time(place, g) for g in gold) for place in _frame_spans(answer, slack)
    )


def _trace_steps(answer: Answer) -> list[Mapping[str, Any]]:
    return [step for step in answer.trace if isinstance(step, dict)]


def _frame_spans(answer: Answer, slack: float) -> list[RecordingSpan]:
    """The frames that were looked at, each widened by `slack`."""
    times = [
        (_recording_of(frame), _seconds_of(frame, "time"))
        for step in _trace_steps(answer)
        if step.get("step") == "looked"
        for frame in _mappings(step.get("frames"))
    ]
    return [(id, Span(max(0.0, time - slack), time + slack)) for id, time in times]


def evidence_was_read(question: Question, answer: Answer, *, slack: float = 1.0) -> bool | None:
    """Whether the trace shows the evidence before the reader; None where it does not tell.

    A strategy that reads all notes of the question's part of the memory has it.
    """
    gold: list[RecordingSpan] = [(e.recording, e.span) for e in question.evidence]
    if not gold:
        return None
    everything, spans = places_read(answer, slack)
    if everything:
        return True
    if spans is None:
        return None
    return any(overlap_in_time(place, g) for place in spans for g in gold)


def _caption_gap(question: Question, answer: Answer) -> tuple[bool, str]:
    """Whether captions alone were read, and where all of the evidence lies in stretches that the
    trace says are without one, how the replies ended there (`refused, truncated`); else ""."""
    step = next((s for s in _trace_steps(answer) if s.get("without")), {})
    missing = [
        (
            (_recording_of(g), Span(_seconds_of(g, "start"), _seconds_of(g, "end"))),
            str(g.get("status")),
        )
        for g in _mappings(step.get("without"))
    ]
    statuses: dict[str, None] = {}
    for piece in question.evidence:
        gold: RecordingSpan = (piece.recording, piece.span)
        overlapping = sorted(
            (place[1], status) for place, status in missing if overlap_in_time(place, gold)
        )
        reached = piece.span.start
        for span, status in overlapping:
            # Stretches without a caption may touch or overlap; only where they cover the evidence
            # without a hole did no caption tell of it.
            if span.start <= reached:
                reached = max(reached, span.end)
                statuses[status] = None
        if not overlapping or reached < piece.span.end:
            return False, ""
    return step.get("sources") == ["caption"], ", ".join(statuses)


def places_read(answer: Answer, slack: float = 1.0) -> tuple[bool, list[RecordingSpan] | None]:
    """What a trace says was read: everything (True), or these places; None where it is silent.

    Read are the steps `notes` (everything, where it has any), `found` (`hits`) and `looked`
    (`frames`, each widened by `slack`), and the evidence that the answer names. An answer of
    `verify` that was not overridden is the one read from all notes.
    """
    places = _frame_spans(answer, slack)
    is_stated = bool(places)
    for step in _trace_steps(answer):
        if step.get("step") == "notes" and step.get("observations"):
            return True, None
        # Looks that changed nothing explain nothing: the answer that stands was read from all
        # notes.
        if step.get("step") == "baseline" and not _was_overridden(answer):
            return True, None
        for hit in _mappings(step.get("hits")):
            places.append(
                (_recording_of(hit), Span(_seconds_of(hit, "start"), _seconds_of(hit, "end")))
            )
        is_stated = is_stated or "hits" in step
    # What an answer cites it has read, even where its strategy keeps no trace.
    places += [(e.recording, e.span) for e in answer.evidence]
    return False, places if is_stated or places else None


def _mappings(value: object) -> list[Mapping[str, Any]]:
    return [v for v in value if isinstance(v, Mapping)] if isinstance(value, Sequence) else []


def _recording_of(fields: Mapping[str, Any]) -> str | None:
    recording = fields.get("recording")
    return None if recording is None else str(recording)


def _seconds_of(fields: Mapping[str, Any], name: str) -> float:
    return float(fields.get(name) or 0.0)


def count_failure_modes(explanations: Iterable[Explanation | None]) -> dict[str, int]:
    """How many wrong answers fall under each reason, in the order of `FailureMode`."""
    counts = Counter(e.why for e in explanations if e is not None)
    return {why.value: counts[why] for why in FailureMode}
