"""The answer that a cell's raw replies give now: as its strategy would read them, nothing asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from pydantic import JsonValue

from egomem.answer.reader import read_reply, schema_for
from egomem.answer.strategy import get
from egomem.answer.verdict import SCHEMA, Verdict, decide, has_clock_cue, read_verdict, unread
from egomem.answer.verify import (
    NO_BASE,
    NO_CANDIDATE,
    NO_LOOK,
    VerifySettings,
    decided,
    failed,
    settled,
)
from egomem.evaluate import oracle
from egomem.evaluate.config import Config
from egomem.evaluate.results import Finished
from egomem.models import Reply, TokenLogprob
from egomem.models.reply_parsing import parse_reply
from egomem.records import Answer, Evidence, Question, Status

Step = Mapping[str, Any]

ONE_REPLY = ("clean", "video", "caption", oracle.CAPTIONS, oracle.FRAMES)
"""Strategies whose answer is one reader's reply. Of other packages' strategies nothing is known."""


def reread(
    question: Question, cell: Finished, config: Config, base: Answer | None
) -> Finished | None:
    """The cell with what its raw replies say now; None where it holds none that can be read.

    `base` is the caption answer that `verify` starts from, as it now reads, where another cell
    holds it.
    """
    strategy = config.way(cell.column).strategy
    if strategy in ONE_REPLY:
        said = _one(question, cell.answer, config, evidence=strategy != "clean")
        return None if said is None else cell.model_copy(update={"answer": said})
    if strategy != "verify":
        return None
    own = None
    if base is None and cell.base is not None:
        own = _one(question, cell.base, config, evidence=True) or cell.base
    said = _verified(question, cell, config, base or own)
    return None if said is None else cell.model_copy(update={"answer": said, "base": own})


def _one(question: Question, said: Answer, config: Config, *, evidence: bool) -> Answer | None:
    """An answer that is one reply, from that reply."""
    asked = next((s for s in reversed(_steps(said)) if s.get("step") == "asked"), None)
    if asked is None:
        return None
    again = _reader(question, asked, config, said.strategy, evidence=evidence)
    kept = {"evidence", "usage", "trace", "confidence"}
    return again.model_copy(update={k: getattr(said, k) for k in kept})


def _reader(
    question: Question, asked: Step, config: Config, strategy: str, *, evidence: bool
) -> Answer:
    schema = None
    if config.format == "scores" or not question.options:
        schema = schema_for(question, abstain=config.abstain, evidence=evidence)
    return read_reply(question, _reply(asked, schema), strategy=strategy)


class _Look(NamedTuple):
    """One look at frames in a trace: the verifier's reply, and what was seen."""

    asked: Step
    seen: tuple[Evidence, ...]


def _verified(
    question: Question, cell: Finished, config: Config, base: Answer | None
) -> Answer | None:
    """The decision again, from the verdicts' replies and the caption answer as they now read."""
    steps = _steps(cell.answer)
    if base is None or not any(s.get("step") == "decision" for s in steps):
        return None
    settings = get("verify").configure(config.strategy_settings(cell.column, None)["verify"])
    assert isinstance(settings, VerifySettings)
    if why := _failed(steps, base):
        # Not a result, whatever was made of it: a decision that nobody checked is taken back.
        trace = tuple(s for s in cell.answer.trace if s and _name(s) not in ("verdict", "decision"))
        return failed(*why, cell.answer.usage).model_copy(update={"trace": trace})
    asked = next((s for s in steps if s.get("step") == "asked" and s["role"] == "reader"), None)
    candidate = Answer(text="", status=Status.ABSTAINED, strategy="candidate")
    if asked is not None:
        candidate = _reader(question, asked, config, "candidate", evidence=True)
    looks = _looks(steps)
    replies = [look and _reply(look.asked, SCHEMA) for look in looks]
    verdicts = [read_verdict(question, reply) if reply else None for reply in replies]
    verdict = verdicts[0] if verdicts else None
    decision = decide(
        question,
        base,
        verdict,
        clock_cue=has_clock_cue(question),
        why_not=unread(replies[0] if replies else None),
    )
    used = 0
    if len(verdicts) > 1 and decision.outcome != "overridden":
        other = decide(question, base, verdicts[1], clock_cue=False)
        if other.outcome == "overridden":
            verdict, decision, used = verdicts[1], other, 1
    final = settled(question, settings, base, candidate, verdict, decision)
    if decision.outcome == "overridden" and verdict and (look := looks[used]):
        seen = tuple(e.model_copy(update={"quote": verdict.reason}) for e in look.seen)
        final = final.model_copy(update={"evidence": seen})
    told: dict[str, dict[str, Any]] = {
        "baseline": {"choice": base.choice, "text": base.text, "status": base.status.value},
        "candidate": {"choice": candidate.choice, "text": candidate.text},
        "decision": decided(question, base, verdict, decision, final),
    }
    said = iter([v for look, v in zip(looks, verdicts, strict=True) if look])
    return final.model_copy(
        update={
            "strategy": "verify",
            "usage": cell.answer.usage,
            "trace": tuple(_retold(step, told, said) for step in cell.answer.trace),
        }
    )


def _failed(steps: list[Step], base: Answer) -> tuple[str, str] | None:
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


def _looks(steps: list[Step]) -> list[_Look | None]:
    """The looks in order; None for one that found no frame, so that nothing was asked."""
    found: list[_Look | None] = []
    for k, step in enumerate(steps):
        if step.get("step") == "looked":
            found.append(None)
        elif step.get("step") == "asked" and step["role"] == "verifier" and found:
            held = next((s for s in steps[k:] if s.get("step") == "verdict"), {})
            seen = tuple(Evidence.model_validate(e) for e in held.get("evidence", ()))
            found[-1] = _Look(step, seen)
    return found


def _retold(
    step: JsonValue, told: Mapping[str, dict[str, Any]], verdicts: Iterator[Verdict | None]
) -> JsonValue:
    """A step of the trace as it would be noted now."""
    if not isinstance(step, dict):
        return step
    name = _name(step)
    if name != "verdict":
        return {**step, **told.get(name, {})}
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


def _steps(said: Answer) -> list[Step]:
    return [step if isinstance(step, dict) else {} for step in said.trace]


def _reply(asked: Step, schema: Any) -> Reply:
    """The reply of a trace's step, its text read out of the raw one as it is now."""
    status = Status(asked["status"])
    raw = str(asked.get("raw") or "")
    detail = str(asked.get("detail") or "")
    thoughts = str(asked.get("reasoning") or "")
    if status not in (Status.PARSED, Status.UNPARSABLE) or not (raw or thoughts):
        return Reply(status=status, raw=raw, detail=detail)
    found = parse_reply(raw, thoughts, asked.get("finish"), schema)
    tokens = asked.get("logprobs")
    return Reply(
        status=found.status,
        text=found.text,
        raw=raw,
        data=found.data,
        detail=found.detail,
        logprobs=tuple(TokenLogprob.model_validate(t) for t in tokens) if tokens else None,
    )
