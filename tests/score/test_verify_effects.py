"""What verification changed, and what its rule held back."""

from __future__ import annotations

from typing import Any

from egomem.answer.verify.verdict import Support
from egomem.score import effects_by_support, score_answers
from egomem.score.verify_effects import SUPPORT_LEVELS


def test_fixed_broken_and_blocked_by_support(ask: Any, say: Any) -> None:
    # (before, proposed, outcome, support); the key is A throughout.
    cases = [
        ("B", "A", "overridden", "strong"),
        ("A", "C", "overridden", "strong"),
        ("B", "C", "overridden", "strong"),
        ("B", "A", "blocked", "partial"),
        ("A", "D", "blocked", "strong"),
        ("B", "C", "blocked", "weak"),
        ("A", "A", "kept", "strong"),
        ("B", None, "kept", None),
    ]
    questions, answers = [ask("plain")], {"plain": say("A")}
    for k, (before, proposed, outcome, support) in enumerate(cases):
        after = proposed if outcome == "overridden" else before
        why = "a clock time" if (outcome, support) == ("blocked", "strong") else "too weak"
        decision = {
            "outcome": outcome, "before": before, "proposed": proposed, "support": support,
            "why": why,
        }  # fmt: skip
        # A second look whose verdict did not count is no level of support.
        trace = (
            {"step": "verdict", "verdict": {"answer": "D", "support": "none"}},
            {"step": "decision", **decision},
        )
        questions.append(ask(f"q{k}"))
        answers[f"q{k}"] = say(after, trace=trace)
    got = effects_by_support(score_answers(questions, answers))
    assert got["all"].model_dump() == {
        "n": 8, "right_before": 3, "right_after": 3, "overridden": 3, "fixed": 1, "broken": 1,
        "blocked": 3, "blocked_clock": 1, "blocked_fix": 1, "blocked_break": 1,
    }  # fmt: skip
    assert got["all"].gain == 0
    assert got["partial"].gain == 0
    assert (got["strong"].n, got["strong"].overridden, got["strong"].blocked_clock) == (5, 3, 1)
    assert (got["partial"].blocked_fix, got["strong"].blocked_break) == (1, 1)
    assert got["no verdict"].n == 1


def test_levels_stand_from_strong_to_none_in_whatever_order_they_occur(ask: Any, say: Any) -> None:
    assert tuple(level.value for level in Support) == SUPPORT_LEVELS
    met = (None, "weak", "odd", "none", "strong", "partial")
    questions = [ask(f"q{k}") for k in range(len(met))]
    answers = {}
    for question, support in zip(questions, met, strict=True):
        decision = {"outcome": "kept", "before": "A", "proposed": None, "support": support}
        answers[question.id] = say("A", trace=({"step": "decision", **decision},))
    for ordered in (questions, questions[::-1]):
        order = list(effects_by_support(score_answers(ordered, answers)))
        assert order == ["all", "strong", "partial", "weak", "none", "odd", "no verdict"]
