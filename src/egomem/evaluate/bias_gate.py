"""Stage 1 of CapMem: a reader that answers without the video too well, or worse than by chance,
tells nothing about memory. The outcome is a result with its reason, not a failure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from egomem.evaluate.config import Arm, Config
from egomem.evaluate.stored_run import Finished, TrialKey
from egomem.records import Question, Record, Status
from egomem.score.scored_answers import MISSING, score_answers
from egomem.text import plural


class BiasGate(Record):
    """`accuracy` is strict: over all `n` questions, wherever the replies ended.

    `passed` is None where it cannot be judged yet: questions that ended in an error, or have no
    answer, could still put the reader on either side of a bound.
    """

    reader: str
    accuracy: float | None
    n: int
    by_status: dict[str, int]
    low: float
    high: float
    passed: bool | None
    reason: str

    @property
    def verdict(self) -> str:
        return "not judged" if self.passed is None else "passes" if self.passed else "fails"


def gate_text(gate: BiasGate, config: Config) -> str:
    """The reason, and what follows from a gate that was not passed."""
    if gate.passed:
        return gate.reason
    text = gate.reason + "; it fails" * (gate.passed is False)
    if config.gate == "report":
        return f"{text}, which is reported and stops nothing" if gate.passed is False else text
    return f"{text}; its other settings are held back (--gate report lets them go on)"


def bias_gates(
    questions: Sequence[Question], config: Config, cells: Mapping[TrialKey, Finished]
) -> list[BiasGate]:
    """A gate for each reader, where the run has the setting `clean`."""
    names = [w.name for w in config.conditions if w.judges_bias]
    return [
        _gate(questions, Arm(setting=names[0], reader=r), config, cells)
        for r in config.readers
        if names
    ]


def _gate(
    questions: Sequence[Question], arm: Arm, config: Config, cells: Mapping[TrialKey, Finished]
) -> BiasGate:
    answers = {q.id: cells[q.id, arm].answer for q in questions if (q.id, arm) in cells}
    scored = score_answers(questions, answers)
    statuses = scored.by_status()
    accuracy = float(scored.right.mean()) if len(scored) else None
    # A refusal or a cut reply is a result of the reader; an error is one of the line, and may turn
    # out either way.
    unsure = statuses.get(Status.ERROR.value, 0) + statuses.get(MISSING, 0)
    passed, reason = _judged(scored.right.sum(), unsure, len(scored), config)
    return BiasGate(
        reader=arm.reader,
        accuracy=accuracy,
        n=len(scored),
        by_status=statuses,
        low=config.gate_low,
        high=config.gate_high,
        passed=passed,
        reason=reason,
    )


def _judged(right: float, unsure: int, n: int, config: Config) -> tuple[bool | None, str]:
    """Whether a reader passes and why, whatever becomes of the `unsure` of `n` questions."""
    low, high = config.gate_low, config.gate_high
    bounds = f"the {low:.0%} to {high:.0%} that pass (both included)"
    if not n:
        return True, "no question has a key, so nothing can be judged"
    # Judged only where every outcome of the open questions gives the same verdict.
    least, most = right / n, (right + unsure) / n
    text = f"{least:.1%} right without the video"
    if unsure:
        text = f"{least:.1%} to {most:.1%} right without the video ({unsure} of {n} not answered)"
    if least > high:
        return (
            False,
            f"{text} is above {bounds}: the reader knows the answers, or sees them in the words",
        )
    if most < low:
        return False, f"{text} is below {bounds}: fewer than guessing gives"
    # Both bounds pass: CapMem writes 15 %-35 % and does not say so (our reading).
    if low <= least and most <= high:
        return True, f"{text} lies within {bounds}"
    return None, (
        f"not judged: {unsure} of {plural(n, 'question')} ended in an error or without an "
        f"answer, and could put it on either side of {bounds}"
    )
