"""What follows from the status of claims: new gaps, obsolete gaps, and the text for a model."""

from __future__ import annotations

from collections.abc import Sequence

from egomem.observe.active.actions import Dense
from egomem.observe.active.state import CaptionGap, CaptionState, ClaimStatus


def status_gaps(state: CaptionState, planned: Sequence[CaptionGap]) -> list[CaptionGap]:
    """Return the gaps that follow from the claims, whatever the planner says.

    A contradicted claim is to be rewritten; one that nothing supports is to be inspected.
    """
    planned_claims = {g.claim for g in planned}
    gaps = []
    for claim in state.claims:
        if claim.id in planned_claims or claim.standing is ClaimStatus.SUPPORTED:
            continue
        # The evidence is there: rewriting needs no further look. An unsupported one may be true,
        # and gets one.
        if claim.standing is ClaimStatus.CONTRADICTED:
            gaps.append(
                CaptionGap(
                    id="",
                    kind="revision",
                    concern="conflict",
                    change=f"rewrite or remove: {claim.text}",
                    claim=claim.id,
                    priority=0.6,
                    evidence=claim.denies,
                )
            )
        else:
            look = Dense(start=claim.span.start, end=claim.span.end, count=6)
            gaps.append(
                CaptionGap(
                    id="",
                    kind="observation",
                    concern="unsupported",
                    change=f"keep or remove: {claim.text}",
                    claim=claim.id,
                    priority=0.3,
                    look=look,
                )
            )
    return gaps


def is_obsolete(gap: CaptionGap, state: CaptionState) -> bool:
    """True if the gap's claim is gone, or is supported without the inspection."""
    if gap.claim is None or gap.kind == "revision":
        return False
    claim = state.claim(gap.claim)
    return claim is None or claim.standing is ClaimStatus.SUPPORTED


def describe_state(state: CaptionState) -> str:
    """Return the state as text for a model: claims with their status, evidence, gaps."""
    claims = "\n".join(
        f"{c.id} [{c.span.start:g}-{c.span.end:g} s] {c.standing.value} "
        f"({', '.join((*c.supports, *c.denies)) or 'no evidence'}): {c.text}"
        for c in state.claims
    )
    evidence = "\n".join(
        f"{f.id} [{f.span.start:g}-{f.span.end:g} s] {f.tool}, "
        f"{'conclusive' if f.conclusive else 'inconclusive'}: {f.text}"
        for f in state.findings
    )
    gaps = "\n".join(f"{g.id} {g.state}: {g.change}" for g in state.gaps)
    return f"Claims:\n{claims}\n\nEvidence held:\n{evidence}\n\nGaps:\n{gaps or 'none yet'}"
