"""What a look at the frames may change: a verdict, and the rule that it has to pass (CapMem).

Pure functions: no model, no memory. `decide` is the paper's rule; `effect` compares with a key.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Literal, NamedTuple

from pydantic import JsonValue

from egomem.answer.choice import is_no_answer, read_choice
from egomem.answer.reply_fields import listed_evidence, reply_fields
from egomem.models import Reply
from egomem.records import Answer, Question, Record, Status
from egomem.timeline import names_time_of_day

CAVEAT = (
    "The rule for overriding was chosen after seeing the test questions (post hoc, as in CapMem): "
    "gains measured on those questions are not those to be expected on new ones."
)
"""Stands in every report of a run with this strategy."""


class Support(StrEnum):
    """How well frames show an answer. The four levels are our reconstruction."""

    STRONG = "strong"
    PARTIAL = "partial"
    WEAK = "weak"
    NONE = "none"


class Verdict(Record):
    """What a verifier saw. `answer`: an option's label (free text of an open question), or None.

    `cited`: the times of frames that show it, as they were written.
    """

    answer: str | None
    support: Support
    reason: str = ""
    cited: tuple[str, ...] = ()


class Decision(NamedTuple):
    """`kept`: nothing spoke for a change. `blocked`: something did, and the rule forbade it."""

    outcome: Literal["kept", "blocked", "overridden"]
    why: str


SCHEMA: dict[str, JsonValue] = {
    "type": "object",
    "properties": {
        "answer": {"type": "string"},
        "support": {"type": "string", "enum": [s.value for s in Support]},
        "reason": {"type": ["string", "null"]},
        "evidence": {"type": ["array", "null"], "items": {"type": ["number", "string"]}},
    },
    "required": ["answer", "support", "reason", "evidence"],
    "additionalProperties": False,
}


def has_clock_cue(question: Question) -> bool:
    """A time of day in the question or an option: frames show no wall clock, notes may tell it.

    What counts as one is decided by the time grammar (`egomem.timeline.names_time_of_day`); the
    paper gives no list, so it is our reconstruction.
    """
    return any(names_time_of_day(t) for t in (question.text, *(o.text for o in question.options)))


def read_verdict(question: Question, reply: Reply) -> Verdict | None:
    """The verdict in a reply; None for one that is malformed, which can change nothing.

    Only the answer and the support have to be there: a reason that is missing, or a field more, is
    no reason to drop the verdict.
    """
    fields = reply_fields(reply)
    try:
        support = Support(str(fields.get("support")).strip().lower())
    except ValueError:
        return None
    if "answer" not in fields:
        return None
    given = fields["answer"]
    answer = "" if given is None else str(given).strip()
    reason = str(fields.get("reason") or "")
    cited = tuple(str(item) for item in listed_evidence(fields, ""))
    if not question.options:
        answer = "" if is_no_answer(answer) else answer
        return Verdict(answer=answer or None, support=support, reason=reason, cited=cited)
    if not answer:
        return Verdict(answer=None, support=support, reason=reason, cited=cited)
    reading = read_choice(answer, question.options)
    if reading.status not in (Status.PARSED, Status.ABSTAINED):
        return None
    return Verdict(answer=reading.letter, support=support, reason=reason, cited=cited)


def unread(reply: Reply | None) -> str:
    """Why a look gave no verdict; None: there was nothing to look at."""
    if reply is None:
        return "there was no frame to look at"
    ends = {Status.REFUSED: "the verifier refused", Status.TRUNCATED: "the verdict was cut off"}
    return ends.get(reply.status, "the verdict could not be read")


def decide(
    question: Question,
    base: Answer,
    verdict: Verdict | None,
    *,
    clock_cue: bool,
    why_not: str = "the verdict could not be read",
) -> Decision:
    """Whether a verdict replaces the answer that stands: only on strong support for a listed
    option, and not where a clock time is asked about. `why_not`: why there is no verdict."""
    if verdict is None:
        return Decision("kept", why_not)
    if not question.options:
        return Decision("kept", "an open answer is never replaced")
    if verdict.answer is None:
        return Decision("kept", "the frames show no listed option")
    if verdict.answer == base.choice:
        return Decision("kept", "the frames show the same option")
    if verdict.support is not Support.STRONG:
        return Decision("blocked", f"the support is {verdict.support.value}, not strong")
    if clock_cue:
        return Decision("blocked", "the question or an option names a clock time")
    return Decision("overridden", "strong support for a listed option")


def effect(
    question: Question, before: str | None, after: str | None
) -> Literal["fixed", "broken", "none", "unknown"]:
    """What a change did to the answer's rightness, where the key is known.

    For reports alone: it is worked out after the decision and never enters it.
    """
    if question.answer is None:
        return "unknown"
    was, now = before == question.answer, after == question.answer
    return "none" if was == now else "fixed" if now else "broken"
