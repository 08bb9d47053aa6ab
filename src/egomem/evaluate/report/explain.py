"""What a look at the frames changed, and why answers are wrong."""

from __future__ import annotations

from collections.abc import Sequence

from egomem.answer.verdict import CAVEAT
from egomem.evaluate.report.entries import Entry
from egomem.evaluate.report.grid import Section, grid
from egomem.records import Answer
from egomem.score import Explanation, Why, effects, tally, why_wrong


def verified(entries: Sequence[Entry]) -> Section:
    """What the look at the frames did to the caption answers, by level of support."""
    rows: list[list[object]] = []
    for entry in entries:
        if entry.way.strategy != "verify":
            continue
        for level, made in effects(entry.sheet).items():
            rows.append(
                [
                    entry.name,
                    level,
                    made.n,
                    made.overridden,
                    made.fixed,
                    made.broken,
                    made.blocked,
                    made.blocked_fix,
                    made.blocked_break,
                ]
            )
    heads = (
        "setting", "support", "n", "overridden", "fixed", "broken", "blocked",
        "would have fixed", "would have broken",
    )  # fmt: skip
    note = (
        "Questions. Overridden: the caption answer was replaced, which fixed a wrong one, broke a "
        "right one, or neither. Blocked: the rule forbade another answer; what it would have done."
    )
    return Section(
        title="Retrieve and verify",
        text=(CAVEAT,) if rows else (),
        parts=(grid("Effects", heads, rows, note),) if rows else (),
    )


def is_explained(entry: Entry) -> bool:
    """Whether wrong answers of a column have a reason: not where nothing is read, and not of the
    oracles, which give the reasons."""
    return entry.way.strategy != "clean" and not entry.column.setting.endswith("@evidence")


def explained(entry: Entry, entries: Sequence[Entry]) -> dict[str, Explanation | None]:
    """Why each answer of a column is wrong, by question; from its trace and the oracle settings of
    the same reader."""

    def oracle(setting: str) -> dict[str, Answer]:
        for other in entries:
            same = other.run is entry.run and other.column.reader == entry.column.reader
            by = other.column.captioner in ("", entry.column.captioner)
            if same and by and other.column.setting == setting:
                return other.answers
        return {}

    name = "caption" if entry.way.strategy in ("caption", "verify") else entry.column.setting
    captions = oracle(f"{name}@evidence") if entry.way.captions != "none" else {}
    frames = oracle("video@evidence")
    return {
        q.id: why_wrong(
            q,
            entry.answers.get(q.id),
            oracle_captions=captions.get(q.id),
            oracle_frames=frames.get(q.id),
        )
        for q in entry.sheet.questions
    }


def reasons(entries: Sequence[Entry]) -> Section:
    """How many wrong answers fall under each reason."""
    rows: list[list[object]] = []
    for entry in entries:
        if not is_explained(entry):
            continue
        found = explained(entry, entries)
        counts = tally(found.values())
        sure = sum(e.sure for e in found.values() if e is not None)
        wrong = sum(e is not None for e in found.values())
        rows.append([entry.name, len(found), wrong, *counts.values(), sure])
    heads = ("setting", "n", "wrong", *(why.value for why in Why), "of these shown, not inferred")
    note = (
        "Questions. From the trace and the oracle settings (NAME@evidence), where the run has "
        "them; without them a reason is what is left."
    )
    parts = (grid("Wrong answers by reason", heads, rows, note),) if rows else ()
    return Section(title="Why wrong", parts=parts)
