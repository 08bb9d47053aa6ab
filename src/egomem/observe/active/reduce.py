"""Events -> state. All rules that keep an unproven claim out of a caption are here, in code.

    fold(log)                the state that a run's events add up to
    apply(state, event, ..)  one step of it

What a backend proposes is data: a verdict without conclusive evidence, a gap without a look, an
edit without proof is counted in `CaptionState.refused` and changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from egomem.observe.active.claims import content, missing_support
from egomem.observe.active.merge import merge
from egomem.observe.active.state import (
    CaptionBudget,
    CaptionEvent,
    CaptionGap,
    CaptionLog,
    CaptionState,
    Claim,
    ClaimStatus,
    ClaimVerdict,
    Diagnosed,
    Drafted,
    Finding,
    Inspected,
    Revised,
    Stopped,
)

MAX_GAPS = 8
"""Gaps that one diagnosis may open; the rest are counted. Our choice."""


def fold(log: CaptionLog) -> CaptionState:
    """Return the state that a log adds up to; no model is asked."""
    state = CaptionState()
    for event in log.events:
        state = apply(state, event, log.budget)
    return state


def states(log: CaptionLog) -> list[CaptionState]:
    """Return the state after each event of a log."""
    history = [CaptionState()]
    for event in log.events:
        history.append(apply(history[-1], event, log.budget))
    return history[1:]


def apply(state: CaptionState, event: CaptionEvent, budget: CaptionBudget) -> CaptionState:
    if isinstance(event, Stopped):
        return state.model_copy(update={"stop": event.reason, "stop_detail": event.detail})
    state = state.model_copy(
        update={"usage": state.usage + event.usage, "faults": (*state.faults, *event.faults)}
    )
    if isinstance(event, Revised):
        if event.lines is None:
            return _tried(state.model_copy(update={"edits": (), "quiet": state.quiet + 1}), budget)
        return _tried(merge(state, event.lines), budget)
    if isinstance(event, Drafted):
        return merge(_with(state, event.findings), event.lines, first=True)
    if isinstance(event, Diagnosed):
        state = _judged(_with(state, event.findings), event.verdicts)
        state = state.model_copy(update={"round": state.round + 1})
        for id in event.obsolete:
            state = _changed(state, id, lambda g: g.model_copy(update={"state": "resolved"}))
        return _opened(state, event.gaps)
    return _looked(state, event, budget)


def count_refusal(state: CaptionState, why: str) -> CaptionState:
    return state.model_copy(
        update={"refused": state.refused | {why: state.refused.get(why, 0) + 1}}
    )


def _with(state: CaptionState, findings: Iterable[Finding]) -> CaptionState:
    for finding in findings:
        # Ids are what claims cite: a second finding of one would change what was proven.
        if state.finding(finding.id) is not None:
            state = count_refusal(state, "finding with a known id")
            continue
        state = state.model_copy(update={"findings": (*state.findings, finding)})
    return state


def _looked(state: CaptionState, event: Inspected, budget: CaptionBudget) -> CaptionState:
    state = _judged(_with(state, event.findings), event.verdicts)
    # A sure line beside an unsure one says nothing of what was to be settled.
    settled = bool(event.findings) and all(f.conclusive for f in event.findings)
    if event.refused:
        state = count_refusal(state, "look out of bounds or budget")
    # A look that was carried out before costs nothing again.
    elif not event.cached:
        state = state.model_copy(
            update={"looks": state.looks + 1, "pictures": state.pictures + event.pictures}
        )
    if event.clamped:
        state = count_refusal(state, "look's arguments out of range, brought in")
    return _changed(state, event.gap, lambda g: _after_try(g, settled, budget))


def _after_try(gap: CaptionGap, settled: bool, budget: CaptionBudget) -> CaptionGap:
    tries = gap.attempts + 1
    ended = "resolved" if settled else "unresolved" if tries >= budget.tries else "open"
    return gap.model_copy(update={"attempts": tries, "state": ended})


def _changed(
    state: CaptionState, id: str, change: Callable[[CaptionGap], CaptionGap]
) -> CaptionState:
    gaps = tuple(change(g) if g.id == id and g.state == "open" else g for g in state.gaps)
    return state.model_copy(update={"gaps": gaps})


def _tried(state: CaptionState, budget: CaptionBudget) -> CaptionState:
    """The state after a revision: revision gaps that it closed, and those that it did not."""
    used = {
        id
        for edit, claim in zip(state.edits, _of(state), strict=True)
        if edit.accepted and claim is not None
        for id in claim.supports
    }
    changed_texts = {edit.before for edit in state.edits if edit.accepted}
    gaps = []
    for gap in state.gaps:
        if gap.kind == "revision" and gap.state == "open":
            claim = state.claim(gap.claim)
            closed = bool(used & set(gap.evidence)) or (gap.claim is not None and claim is None)
            closed = closed or (claim is not None and claim.text in changed_texts)
            gap = _after_try(gap, closed, budget)
        gaps.append(gap)
    return state.model_copy(update={"gaps": tuple(gaps)})


def _of(state: CaptionState) -> list[Claim | None]:
    by_text = {c.text: c for c in state.claims}
    return [by_text.get(edit.after or "") for edit in state.edits]


def _judged(state: CaptionState, verdicts: Iterable[ClaimVerdict]) -> CaptionState:
    for verdict in verdicts:
        claim = state.claim(verdict.claim)
        if claim is None:
            state = count_refusal(state, "verdict on no claim")
            continue
        cited = [f for f in map(state.finding, verdict.evidence) if f is not None]
        proof = [f for f in cited if f.conclusive]
        if verdict.stance == "silent":
            continue
        if verdict.stance == "supports":
            # A model's word that evidence supports a claim is not taken for it: the evidence has to
            # say it.
            lacking = missing_support(claim.text, claim.span, cited, conclusive=False)
            supports = _union(claim.supports, (f.id for f in proof))
            if lacking:
                state = count_refusal(state, "verdict whose evidence lacks what the claim says")
            elif proof and not missing_support(claim.text, claim.span, _found(state, supports)):
                state = _set(state, claim.model_copy(update={"supports": supports}))
            else:
                hints = _union(claim.hints, (f.id for f in cited))
                state = _set(state, claim.model_copy(update={"hints": hints}))
        else:
            claim_words = content(claim.text).all
            # "I saw no dog" cited against a claim about a cup denies nothing.
            about = [f for f in proof if claim_words & content(f.text).all]
            if not about:
                state = count_refusal(state, "denial without conclusive evidence on it")
                continue
            denies = _union(claim.denies, (f.id for f in about))
            state = _set(state, claim.model_copy(update={"denies": denies}))
    return state


def _union(a: Iterable[str], b: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*a, *b)))


def _found(state: CaptionState, ids: Iterable[str]) -> list[Finding]:
    return [f for f in map(state.finding, ids) if f is not None]


def _set(state: CaptionState, claim: Claim) -> CaptionState:
    claim = claim.model_copy(update={"standing": claim_status(state, claim)})
    claims = tuple(claim if c.id == claim.id else c for c in state.claims)
    return state.model_copy(update={"claims": claims})


def claim_status(state: CaptionState, claim: Claim) -> ClaimStatus:
    """Return the status that a claim's evidence gives it.

    An inspection is closer than the coarse view and outweighs it; if two of one kind disagree, the
    claim is uncertain.
    """
    rank = {
        stance: max((_close(f) for f in _found(state, ids)), default=-1)
        for stance, ids in (("for", claim.supports), ("against", claim.denies))
    }
    if rank["for"] < 0 and rank["against"] < 0:
        return ClaimStatus.UNCERTAIN if claim.hints else ClaimStatus.UNSUPPORTED
    # Two looks of one kind that disagree: neither is better, so nothing is stated.
    if rank["for"] == rank["against"]:
        return ClaimStatus.UNCERTAIN
    return ClaimStatus.SUPPORTED if rank["for"] > rank["against"] else ClaimStatus.CONTRADICTED


def _close(finding: Finding) -> int:
    return 0 if finding.tool in ("coarse", "check") else 1


def _opened(state: CaptionState, proposed: Sequence[CaptionGap]) -> CaptionState:
    """The state with new gaps, the most urgent first.

    A settled gap is not opened again; an open one may get another inspection.
    """
    by_priority = sorted(proposed, key=lambda g: -g.priority)
    for _ in by_priority[MAX_GAPS:]:
        state = count_refusal(state, f"more than {MAX_GAPS} gaps in a round")
    for gap in by_priority[:MAX_GAPS]:
        if gap.claim is not None and state.claim(gap.claim) is None:
            state = count_refusal(state, "gap of no claim")
        elif gap.kind == "observation" and gap.look is None:
            state = count_refusal(state, "gap without a look")
        elif gap.kind == "revision" and not any(f.conclusive for f in _found(state, gap.evidence)):
            state = count_refusal(state, "revision gap without conclusive evidence")
        else:
            state = _opened_one(state, gap)
    return state


def _opened_one(state: CaptionState, gap: CaptionGap) -> CaptionState:
    for old in state.gaps:
        # Models ask for the same thing in other words in each round.
        if old.kind == gap.kind and (_topic(old) == _topic(gap) or _same_look(old, gap)):
            if old.state != "open":
                return count_refusal(state, "gap that was settled before")
            again = {"look": gap.look, "evidence": gap.evidence, "priority": gap.priority}
            return _changed(state, old.id, partial(_updated, again))
    number = state.made + 1
    fresh = gap.model_copy(update={"id": f"g{number}", "attempts": 0, "state": "open"})
    return state.model_copy(update={"gaps": (*state.gaps, fresh), "made": number})


def _updated(update: Mapping[str, Any], gap: CaptionGap) -> CaptionGap:
    return gap.model_copy(update=update)


def _topic(gap: CaptionGap) -> tuple[str, str | None, frozenset[str]]:
    return gap.concern, gap.claim, content(gap.change).all


def _same_look(a: CaptionGap, b: CaptionGap) -> bool:
    return a.look is not None and a.look == b.look and a.claim == b.claim
