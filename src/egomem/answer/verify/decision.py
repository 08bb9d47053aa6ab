"""The answer that a decision leaves, and what a trace says of it; pure functions."""

from __future__ import annotations

from pydantic import JsonValue

from egomem.answer.reader import option_text
from egomem.answer.verify.settings import VerifySettings
from egomem.answer.verify.verdict import CAVEAT, Decision, Verdict, effect
from egomem.records import Answer, Question, Status, Usage

NO_BASE = "the caption answer failed"
NO_CANDIDATE = "the answer from the notes found failed"
NO_LOOK = "the frames were not checked"


def failed(what: str, why: str, usage: Usage) -> Answer:
    """An answer that could not be checked."""
    reason = f"{what}: {why}" if why else what
    return Answer(text="", status=Status.ERROR, strategy="verify", reason=reason, usage=usage)


def decision_step(
    question: Question, base: Answer, verdict: Verdict | None, decision: Decision, final: Answer
) -> dict[str, JsonValue]:
    """What the trace says of a decision."""
    proposed = verdict.answer if verdict else None
    return {
        "outcome": decision.outcome,
        "why": decision.why,
        "before": base.choice,
        "proposed": proposed,
        "support": verdict.support.value if verdict else None,
        "after": final.choice,
        "effect": effect(question, base.choice, final.choice),
        "would_have": effect(question, base.choice, proposed if verdict else base.choice),
        "caveat": CAVEAT,
    }


def settled(
    question: Question,
    settings: VerifySettings,
    base: Answer,
    candidate: Answer,
    verdict: Verdict | None,
    decision: Decision,
) -> Answer:
    """The answer that a decision leaves; one that replaces the base has its evidence still."""
    if decision.outcome == "overridden" and verdict is not None and verdict.answer is not None:
        label = verdict.answer
        return base.model_copy(
            update={
                "text": option_text(question, label),
                "choice": label,
                "status": Status.PARSED,
                "scores": raised(base.scores, label),
                "reason": f"{decision.why}: {verdict.reason}",
            }
        )
    unsupported = candidate.status is Status.ABSTAINED and (
        verdict is not None and verdict.answer is None
    )
    if settings.abstain_unsupported and unsupported:
        return base.model_copy(
            update={
                "text": "",
                "choice": None,
                "status": Status.ABSTAINED,
                "evidence": (),
                "reason": "neither the notes found nor the frames support any answer",
            }
        )
    return base


def raised(scores: dict[str, float], label: str) -> dict[str, float]:
    """The scores with one option put first, the others as they were."""
    top = max(scores.values(), default=0.0)
    return {**scores, label: max(1.0, top + 1.0) if label in scores or scores else 1.0}
