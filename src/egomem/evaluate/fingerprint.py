"""A cell is a question in a column; what its answer depends on, as hashes that say what changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from pydantic import BaseModel

from egomem.evaluate.conditions import Condition
from egomem.evaluate.config import Arm, Config
from egomem.evaluate.results import Finished
from egomem.hashing import FINGERPRINT_LENGTH, hash_json
from egomem.memory import View
from egomem.memory.failed_windows import failed_windows_in_view
from egomem.records import Answer, Question, Status

PARTS = ("question", "setting", "prompt", "strategy", "model", "memory", "baseline")
"""What an answer depends on, in the order in which a change is told. `strategy` is the code of
those that say which it is; `baseline` the answers of other columns that it starts from."""


class Trial(NamedTuple):
    """`question` names the benchmark's videos; `parts` are hashes, see PARTS."""

    question: Question
    column: Arm
    parts: dict[str, str]

    def changed(self, before: Finished | None) -> tuple[str, ...]:
        """Which parts differ from those of an answer; () where it still holds."""
        if before is None:
            return ("new",)
        found = tuple(p for p in PARTS if self.parts.get(p) != before.parts.get(p))
        if len(found) > 1:  # another caption answer follows from the rest
            found = tuple(p for p in found if p != "baseline")
        return found or (("failed",) if before.failed else ())

    def kept_base(self, before: Finished) -> Answer | None:
        """The caption answer of its own that a failed cell started from, where that still holds."""
        base = before.base if self.changed(before) == ("failed",) else None
        return None if base is None or base.status is Status.ERROR else base


def cell(
    question: Question,
    column: Arm,
    config: Config,
    track: str | None,
    memory: str,
    baseline: str | None = None,
) -> Trial:
    """The cell of a question; `memory` is the digest of what is read or looked at, `baseline` that
    of the answer of another column that it starts from."""
    condition = config.way(column)
    settings = config.configured(column, track)
    asked: Any = [question.text, [[o.label, o.text] for o in question.options], str(question.at)]
    if condition.evidence or condition.oracle:
        asked.append([[e.recording, e.span.start, e.span.end] for e in question.evidence])
    models = [column.reader]
    if condition.verifies:
        models.append(config.verifier or column.reader)
    parts = {
        "question": digest(asked),
        "setting": digest([config.strategy_hash(column, track), _sent(question, column, config)]),
        "prompt": digest(_texts(question, condition, settings)),
        "model": digest(models),
        "memory": memory,
    }
    if identities := [[s.name, s.identity] for s in condition.lineage if s.identity]:
        parts["strategy"] = digest(identities)
    if baseline is not None:
        parts["baseline"] = baseline
    return Trial(question, column, parts)


def _sent(question: Question, column: Arm, config: Config) -> dict[str, Any]:
    """The limits of the frames that are sent for a question; {} where none are."""
    limits = config.limits(column.reader)
    settings = config.configured(column, None)
    sent: dict[str, Any] = {}
    for strategy in config.way(column).lineage:
        if strategy.may_look:
            each = limits[strategy.looker]
            if strategy.needed_limits is not None:
                each = strategy.needed_limits(question, settings[strategy.name], each)
            sent[strategy.name] = each.model_dump(mode="json")
    # One strategy that looks is the rule, and was all that there was: its hash stays.
    return sent if len(sent) > 1 else next(iter(sent.values()), {})


def answer_digest(said: Answer) -> str:
    """Of all of an answer that another one takes over from it."""
    evidence = [[e.recording, e.span.start, e.span.end, e.quote] for e in said.evidence]
    return digest([said.status.value, said.choice, said.text, said.scores, evidence])


def baseline_digest(answers: Sequence[Answer]) -> str:
    """Of the answers of other columns that one starts from."""
    digests = [answer_digest(answer) for answer in answers]
    return digests[0] if len(digests) == 1 else digest(digests)


def prompt_hash(config: Config) -> str:
    """Of all prompts that a run uses, for telling whether two runs are comparable."""
    example = Question.of("?", ("a", "b"))
    texts = {
        c.setting: _texts(example, config.way(c), config.configured(c, None))
        for c in config.columns()
    }
    return digest(sorted(texts.items()))


def _texts(
    question: Question, condition: Condition, settings: Mapping[str, BaseModel]
) -> list[str]:
    """All that is written to models beside the question, each text once."""
    own, *starts = reversed(condition.lineage)
    texts = list(own.texts(question, settings[own.name])) if own.texts else []
    for strategy in starts:
        if strategy.texts is not None:
            given = strategy.texts(question, settings[strategy.name])
            texts += [text for text in given if text not in texts]
    return texts


def memory_digest(
    view: View,
    recordings: Sequence[str],
    observations: Iterable[str] | None,
    track: str | None = None,
) -> str:
    """Of what is read of a view: the recordings, the ids of the observations (None where none can
    be), and the windows of which a track has no caption."""
    content: list[Any] = sorted([r.id, r.duration] for r in view.recordings() if r.id in recordings)
    if observations is not None:
        content.append(list(observations))
    gaps = [
        [track, id, gap.span.start, gap.span.end]
        for id, windows in (failed_windows_in_view(view, track) if track else {}).items()
        for gap in windows
    ]
    if gaps:  # a reader is told where nothing could be noted
        content.append(gaps)
    return digest(content)


def digest(content: Any) -> str:
    """16 hex digits of SHA-256 over JSON."""
    return hash_json(content, ascii=True)[:FINGERPRINT_LENGTH]
