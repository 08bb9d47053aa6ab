"""The decision again, from the verdicts' replies and the caption answer as they now read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from pydantic import JsonValue

from egomem.answer.reread import Step, read_step, reply_of, steps_of
from egomem.answer.verify.decision import (
    NO_BASE,
    NO_CANDIDATE,
    NO_LOOK,
    decision_step,
    failed,
    settled,
)
from egomem.answer.verify.settings import VerifySettings
from egomem.answer.verify.verdict import (
    SCHEMA,
    Verdict,
    decide,
    has_clock_cue,
    read_verdict,
    unread,
)
from egomem.records import Answer, Evidence, Question, Status


def reread_decision(
    question: Question, answer: Answer, settings: VerifySettings, starts: Mapping[str, Answer]
) -> Answer | None:
    """A verified answer as its stored replies read now; None without a decision or caption answer.

    A check of which a part failed is no result, whatever was made of it then.
    """
    steps, base = steps_of(answer), starts.get("caption")
    if base is None or not any(s.get("step") == "decision" for s in steps):
        return None
    if why := _failure(steps, base):
        undecided = tuple(s for s in answer.trace if s and _name(s) not in ("verdict", "decision"))
        return failed(*why, answer.usage).model_copy(update={"trace": undecided})
    step = next((s for s in steps if s.get("step") == "asked" and s["role"] == "reader"), None)
    candidate = Answer(text="", status=Status.ABSTAINED, strategy="candidate")
    if step is not None:
        candidate = read_step(question, step, settings, "candidate", evidence=True)
    checks = _checks(steps)
    replies = [check and reply_of(check.step, SCHEMA) for check in checks]
    verdicts = [read_verdict(question, reply) if reply else None for reply in replies]
    verdict = verdicts[0] if verdicts else None
    decision = decide(
        question,
        base,
        verdict,
        clock_cue=has_clock_cue(question),
        why_not=unread(replies[0] if replies else None),
    )
    decisive = 0
    if len(verdicts) > 1 and decision.outcome != "overridden":
        # The second look is at the times that the question names: a clock time is no bar there.
        second = decide(question, base, verdicts[1], clock_cue=False)
        if second.outcome == "overridden":
            verdict, decision, decisive = verdicts[1], second, 1
    final = settled(question, settings, base, candidate, verdict, decision)
    if decision.outcome == "overridden" and verdict and (check := checks[decisive]):
        evidence = tuple(e.model_copy(update={"quote": verdict.reason}) for e in check.evidence)
        final = final.model_copy(update={"evidence": evidence})
    notes: dict[str, dict[str, Any]] = {
        "baseline": {"choice": base.choice, "text": base.text, "status": base.status.value},
        "candidate": {"choice": candidate.choice, "text": candidate.text},
        "decision": decision_step(question, base, verdict, decision, final),
    }
    given = iter([v for check, v in zip(checks, verdicts, strict=True) if check])
    trace = tuple(_step_now(step, notes, given) for step in answer.trace)
    return final.model_copy(update={"strategy": "verify", "usage": answer.usage, "trace": trace})


class _Check(NamedTuple):
    """One look at frames in a trace: the step of the verifier's reply, and what was looked at."""

    step: Step
    evidence: tuple[Evidence, ...]


def _failure(steps: list[Step], base: Answer) -> tuple[str, str] | None:
    """What of a check failed and why; None where it was done."""
    if base.status is Status.ERROR:
        return NO_BASE, base.reason
    for step in steps:
        if step.get("step") == "asked" and step["status"] == Status.ERROR:
            what = NO_CANDIDATE if step["role"] == "reader" else NO_LOOK
            return what, str(step.get("detail") or "no reply")
        if step.get("step") == "looked" and step["missing"] and not step["frames"]:
            return NO_LOOK, "; ".join(map(str, step["missing"]))
    return None


def _checks(steps: list[Step]) -> list[_Check | None]:
    """The looks in order; None for one that had no frame, so that nothing was asked."""
    checks: list[_Check | None] = []
    for k, step in enumerate(steps):
        if step.get("step") == "looked":
            checks.append(None)
        elif step.get("step") == "asked" and step["role"] == "verifier" and checks:
            verdict = next((s for s in steps[k:] if s.get("step") == "verdict"), {})
            evidence = tuple(Evidence.model_validate(e) for e in verdict.get("evidence", ()))
            checks[-1] = _Check(step, evidence)
    return checks


def _step_now(
    step: JsonValue, notes: Mapping[str, dict[str, Any]], verdicts: Iterator[Verdict | None]
) -> JsonValue:
    """A step of the trace as it would be noted now."""
    if not isinstance(step, dict):
        return step
    name = _name(step)
    if name != "verdict":
        return {**step, **notes.get(name, {})}
    verdict = next(verdicts, None)
    evidence: Any = step.get("evidence", [])
    quote = verdict.reason if verdict else ""
    return {
        **step,
        "verdict": verdict.model_dump(mode="json") if verdict else None,
        "evidence": [{**piece, "quote": quote} for piece in evidence],
    }


def _name(step: JsonValue) -> str:
    return str(step.get("step")) if isinstance(step, dict) else ""
