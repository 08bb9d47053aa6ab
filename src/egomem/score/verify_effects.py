"""What a look at the frames did to the caption answers: fixed, broken, blocked, by support."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from egomem.records import Answer, Record
from egomem.score.scored_answers import ScoredAnswers


class OverrideCounts(Record):
    """Counts over `n` questions. `blocked_*`: a change that the rule forbade, and what it would
    have done; the rest was left as it was."""

    n: int = 0
    overridden: int = 0
    fixed: int = 0
    broken: int = 0
    blocked: int = 0
    blocked_fix: int = 0
    blocked_break: int = 0


SUPPORT_LEVELS = ("strong", "partial", "weak", "none")
"""Levels of support, from what may override an answer to what speaks for nothing."""

NO_VERDICT = "no verdict"


def effects_by_support(scored: ScoredAnswers) -> dict[str, OverrideCounts]:
    """By level of support, `all` first, then those of LEVELS, others by name, and UNREAD last.

    Levels that do not occur, and questions whose trace holds no decision, are left out.
    """
    outcomes_by_level: dict[str, list[tuple[str, int]]] = {}
    for question, answer in zip(scored.questions, scored.answers, strict=True):
        decision = _last_step(answer, "decision")
        if decision is None:
            continue
        # A verifier's reply that could not be read is no weak support: it is shown by itself.
        support = str(decision.get("support") or NO_VERDICT)
        before, proposed = decision.get("before"), decision.get("proposed")
        outcome = str(decision.get("outcome"))
        # 1 mends, -1 breaks, 0 changes one wrong answer into another (or nothing).
        gain = (proposed == question.answer) - (before == question.answer)
        for level in ("all", support):
            outcomes_by_level.setdefault(level, []).append((outcome, gain))
    return {
        level: _count_outcomes(outcomes_by_level[level])
        for level in sorted(outcomes_by_level, key=_level_order)
    }


def _level_order(level: str) -> tuple[int, str]:
    ranked = ("all", *SUPPORT_LEVELS)
    if level in ranked:
        return ranked.index(level), ""
    return len(ranked) + (level == NO_VERDICT), level


def _last_step(answer: Answer | None, name: str) -> Mapping[str, Any] | None:
    """The last step of that name."""
    for step in reversed(answer.trace if answer else ()):
        if isinstance(step, dict) and step.get("step") == name:
            return step
    return None


def _count_outcomes(rows: Iterable[tuple[str, int]]) -> OverrideCounts:
    outcomes = list(rows)

    def count(outcome: str, *gains: int) -> int:
        return sum(o == outcome and g in gains for o, g in outcomes)

    return OverrideCounts(
        n=len(outcomes),
        overridden=count("overridden", -1, 0, 1),
        fixed=count("overridden", 1),
        broken=count("overridden", -1),
        blocked=count("blocked", -1, 0, 1),
        blocked_fix=count("blocked", 1),
        blocked_break=count("blocked", -1),
    )
