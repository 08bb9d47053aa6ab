"""What a person reads before a run begins: its plan, line by line."""

from __future__ import annotations

from collections.abc import Iterator

from egomem.evaluate.plan import PlanLine, RunPlan
from egomem.text import plural


def plan_lines(plan: RunPlan) -> Iterator[str]:
    """The plan for a person."""
    note = f" ({plural(plan.left_out, 'row')} of the data could not be used)"
    yield f"{plural(plan.questions, 'question')}{note if plan.left_out else ''}"
    for part in (*plan.captions, *plan.columns):
        kept = f", {part.kept} done" if part.kept else ""
        unable = f", {part.unable} without their video" if part.unable else ""
        yield f"  {part.label}: {part.cells} to do{kept}{unable}{_takes(part)}"
        if part.changed:
            why = ", ".join(f"{n} {name}" for name, n in sorted(part.changed.items()))
            yield f"    asked again: {why}"
    total = plan.total
    bound = ", at least" if plan.money_is_lower_bound and total.cost is not None else ""
    yield f"in all: {plural(total.cells, 'answer')}{_takes(total) or ', no request'}{bound}"
    if plan.spent.requests:
        cost = plan.spent.cost
        bound = "at least " if plan.spent.unpriced else ""
        money = "price unknown" if cost is None else f"{bound}${cost:.4f}"
        yield (
            f"sent so far: {plural(plan.spent.requests, 'request')}, {plan.spent.tokens_in:,} "
            f"tokens in and {plan.spent.tokens_out:,} out, {money}; "
            f"{plural(plan.replies_cached, 'reply is', 'replies are')} kept"
        )
    if plan.changed_questions:
        ids = ", ".join(plan.changed_questions[:10])
        more = len(plan.changed_questions) - 10
        yield f"changed questions: {ids}{f' and {more} more' if more > 0 else ''}"
    if plan.missing:
        id, why = next(iter(plan.missing.items()))
        note = plural(len(plan.missing), "video is", "videos are")
        yield f"{note} not at hand, for example {id}: {why}"
    yield from plan.notes


def _takes(part: PlanLine) -> str:
    kept = f"{plural(part.cached, 'reply', 'replies')} out of the cache" if part.cached else ""
    if not part.requests:
        return f"; {kept}, nothing to send" if kept else ""
    money = "price unknown" if part.cost is None else _about(part.cost)
    return (
        f"; {plural(part.requests, 'request')}, {plural(part.frames, 'frame')}, about "
        f"{part.tokens_in:,} tokens in and {part.tokens_out:,} out, {money}"
        f"{', ' + kept if kept else ''}"
    )


def _about(cost: float) -> str:
    return f"about ${cost:.2f}" if cost >= 0.005 else "less than $0.01"
