"""What a look at the frames did to the caption answers: fixed, broken, blocked, by support."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from egomem.records import Answer, Record
from egomem.score.scored_answers import ScoredAnswers


class Effects(Record):
    """Counts over `n` questions. `blocked_*`: a change that the rule forbade, and what it would
    have done; the rest was left as it was."""

    n: int = 0
    overridden: int = 0
    fixed: int = 0
    broken: int = 0
    blocked: int = 0
    blocked_fix: int = 0
    blocked_break: int = 0


LEVELS = ("strong", "partial", "weak", "none")
"""Levels of support, from what may override an answer to what speaks for nothing."""

UNREAD = "no verdict"


def effects(sheet: ScoredAnswers) -> dict[str, Effects]:
    """By level of support, `all` first, then those of LEVELS, others by name, and UNREAD last.

    Levels that do not occur, and questions whose trace holds no decision, are left out.
    """
    found: dict[str, list[tuple[str, int]]] = {}
    for question, answer in zip(sheet.questions, sheet.answers, strict=True):
        decision = _step(answer, "decision")
        if decision is None:
            continue
        support = str(decision.get("support") or UNREAD)
        before, proposed = decision.get("before"), decision.get("proposed")
        outcome = str(decision.get("outcome"))
        gain = (proposed == question.answer) - (before == question.answer)
        for level in ("all", support):
            found.setdefault(level, []).append((outcome, gain))
    return {level: _counted(found[level]) for level in sorted(found, key=_place)}


def _place(level: str) -> tuple[int, str]:
    ranked = ("all", *LEVELS)
    if level in ranked:
        return ranked.index(level), ""
    return len(ranked) + (level == UNREAD), level


def _step(answer: Answer | None, name: str) -> Mapping[str, Any] | None:
    """The last step of that name."""
    for step in reversed(answer.trace if answer else ()):
        if isinstance(step, dict) and step.get("step") == name:
            return step
    return None


def _counted(rows: Iterable[tuple[str, int]]) -> Effects:
    held = list(rows)

    def count(outcome: str, *gains: int) -> int:
        return sum(o == outcome and g in gains for o, g in held)

    return Effects(
        n=len(held),
        overridden=count("overridden", -1, 0, 1),
        fixed=count("overridden", 1),
        broken=count("overridden", -1),
        blocked=count("blocked", -1, 0, 1),
        blocked_fix=count("blocked", 1),
        blocked_break=count("blocked", -1),
    )
