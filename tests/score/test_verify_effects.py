"""What verification changed, and what its rule held back."""

from __future__ import annotations

from typing import Any

from egomem.score import effects, sheet


def test_fixed_broken_and_blocked_by_support(ask: Any, say: Any) -> None:
    # (before, proposed, outcome, support); the key is A throughout.
    cases = [
        ("B", "A", "overridden", "strong"),
        ("A", "C", "overridden", "strong"),
        ("B", "C", "overridden", "strong"),
        ("B", "A", "blocked", "partial"),
        ("A", "D", "blocked", "weak"),
        ("A", "A", "kept", "strong"),
        ("B", None, "kept", None),
    ]
    questions, answers = [ask("plain")], {"plain": say("A")}
    for k, (before, proposed, outcome, support) in enumerate(cases):
        after = proposed if outcome == "overridden" else before
        decision = {"outcome": outcome, "before": before, "proposed": proposed, "support": support}
        # A second look whose verdict did not count is no level of support.
        trace = (
            {"step": "verdict", "verdict": {"answer": "D", "support": "none"}},
            {"step": "decision", **decision},
        )
        questions.append(ask(f"q{k}"))
        answers[f"q{k}"] = say(after, trace=trace)
    got = effects(sheet(questions, answers))
    assert got["all"].model_dump() == {
        "n": 7, "overridden": 3, "fixed": 1, "broken": 1, "blocked": 2, "blocked_fix": 1,
        "blocked_break": 1,
    }  # fmt: skip
    assert (got["strong"].n, got["strong"].overridden) == (4, 3)
    assert (got["partial"].blocked_fix, got["weak"].blocked_break) == (1, 1)
    assert got["no verdict"].n == 1
