"""What a look at the frames did to the caption answers: fixed, broken, blocked, by support."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from egomem.records import Answer, Record
from egomem.score.scored_answers import ScoredAnswers


class OverrideCounts(Record):
    """Counts over `n` questions. `blocked_*`: a change that the rule forbade, and what it would
    have done; the rest was left as it was. `blocked_clock`: of those, forbidden because the
    question or an option names a clock time. `right_before`, `right_after`: right answers of
    captions alone and after verification."""

    n: int = 0
    right_before: int = 0
    right_after: int = 0
    overridden: int = 0
    fixed: int = 0
    broken: int = 0
    blocked: int = 0
    blocked_clock: int = 0
    blocked_fix: int = 0
    blocked_break: int = 0

    @property
    def gain(self) -> float | None:
        """Accuracy after less accuracy before, in points; None over no question."""
        return 100 * (self.right_after - self.right_before) / self.n if self.n else None


SUPPORT_LEVELS = ("strong", "partial", "weak", "none")
"""Levels of support, from what may override an answer to what speaks for nothing."""

NO_VERDICT = "no verdict"


def effects_by_support(scored: ScoredAnswers) -> dict[str, OverrideCounts]:
    """By level of support, `all` first, then those of LEVELS, others by name, and UNREAD last.

    Levels that do not occur, and questions whose trace holds no decision, are left out.
    """
    outcomes_by_level: dict[str, list[_Outcome]] = {}
    for question, answer in zip(scored.questions, scored.answers, strict=True):
        decision = _last_step(answer, "decision")
        if decision is None:
            continue
        # A verifier's reply that could not be read is no weak support: it is shown by itself.
        support = str(decision.get("support") or NO_VERDICT)
        was_right = decision.get("before") == question.answer
        outcome = _Outcome(
            str(decision.get("outcome")),
            # 1 mends, -1 breaks, 0 changes one wrong answer into another (or nothing).
            (decision.get("proposed") == question.answer) - was_right,
            was_right,
            answer is not None and answer.choice == question.answer,
            "clock" in str(decision.get("why")),
        )
        for level in ("all", support):
            outcomes_by_level.setdefault(level, []).append(outcome)
    return {
        level: _count_outcomes(outcomes_by_level[level])
        for level in sorted(outcomes_by_level, key=_level_order)
    }


class _Outcome(NamedTuple):
    """One decision. `gain`: of right answers, by what was proposed (1, 0 or -1)."""

    outcome: str
    gain: int
    was_right: bool
    is_right: bool
    by_clock: bool


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


def _count_outcomes(outcomes: Sequence[_Outcome]) -> OverrideCounts:
    def count(outcome: str, *gains: int) -> int:
        return sum(o.outcome == outcome and o.gain in gains for o in outcomes)

    return OverrideCounts(
        n=len(outcomes),
        right_before=sum(o.was_right for o in outcomes),
        right_after=sum(o.is_right for o in outcomes),
        overridden=count("overridden", -1, 0, 1),
        fixed=count("overridden", 1),
        broken=count("overridden", -1),
        blocked=count("blocked", -1, 0, 1),
        blocked_clock=sum(o.outcome == "blocked" and o.by_clock for o in outcomes),
        blocked_fix=count("blocked", 1),
        blocked_break=count("blocked", -1),
    )
