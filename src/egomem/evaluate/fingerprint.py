"""A cell is a question in a column; what its answer depends on, as hashes that say what changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from egomem.answer import prompts
from egomem.evaluate import oracle
from egomem.evaluate.config import Arm, Config
from egomem.evaluate.results import Finished
from egomem.hashing import FINGERPRINT_LENGTH, hash_json
from egomem.memory import View
from egomem.memory.failed_windows import failed_windows_in_view
from egomem.models import Role
from egomem.records import Answer, Question, Status

_PROMPTS: dict[str, tuple[prompts.Prompt, ...]] = {
    "clean": (prompts.CLEAN,),
    "video": (prompts.VIDEO,),
    "caption": (prompts.CAPTION,),
    "verify": (prompts.CAPTION, prompts.CANDIDATE, prompts.VERIFY),
    oracle.CAPTIONS: (prompts.CAPTION,),
    oracle.FRAMES: (prompts.VIDEO,),
}
"""The prompts of each strategy that asks a reader."""

PARTS = ("question", "setting", "prompt", "model", "memory", "baseline")
"""What an answer depends on, in the order in which a change is told. `baseline` is of `verify`
alone: the caption answer of another column that it starts from."""


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
    way = config.way(column)
    limits = config.limits(column.reader)
    given = config.strategy_settings(column, track)
    looker = Role.VERIFIER if way.strategy == "verify" else Role.READER
    sent = limits[looker].model_dump(mode="json") if way.looks else {}
    if way.strategy == oracle.FRAMES:
        # A limit that the evidence does not reach makes no other request.
        wanted = oracle.FramesSettings.model_validate(given[way.strategy]).frames
        sent["images"] = oracle.frames_each(wanted, sent["images"], len(question.evidence))
    asked: Any = [question.text, [[o.label, o.text] for o in question.options], str(question.at)]
    if way.evidence or way.strategy in (oracle.CAPTIONS, oracle.FRAMES):
        asked.append([[e.recording, e.span.start, e.span.end] for e in question.evidence])
    models = [column.reader]
    if way.strategy == "verify":
        models.append(config.verifier or column.reader)
    parts = {
        "question": digest(asked),
        "setting": digest([config.strategy_hash(column, track), sent]),
        "prompt": digest(_prompt_texts(question, config, way.strategy)),
        "model": digest(models),
        "memory": memory,
    }
    if baseline is not None:
        parts["baseline"] = baseline
    return Trial(question, column, parts)


def answer_digest(said: Answer) -> str:
    """Of all of an answer that another one takes over from it."""
    evidence = [[e.recording, e.span.start, e.span.end, e.quote] for e in said.evidence]
    return digest([said.status.value, said.choice, said.text, said.scores, evidence])


def prompt_hash(config: Config) -> str:
    """Of all prompts that a run uses, for telling whether two runs are comparable."""
    names = sorted({way.strategy for way in config.ways})
    texts = [[p.name, p.system] for n in names for p in _PROMPTS.get(n, ())]
    example = Question.of("?", ("a", "b"))
    return digest([texts, [_prompt_texts(example, config, n) for n in names]])


def _prompt_texts(question: Question, config: Config, strategy: str) -> list[str]:
    used = _PROMPTS.get(strategy, ())
    if not used:
        return []
    # The words that follow a prompt depend on the options and on how the reply is wanted.
    wanted = prompts.how_to_answer(
        question, format=config.format, abstain=config.abstain, evidence="-"
    )
    more = [prompts.verdict_wanted(question, "-")] if strategy == "verify" else []
    return [*(t for p in used for t in (p.name, p.system)), wanted, *more]


def memory_digest(view: View, recordings: Sequence[str], tracks: Sequence[str] | None) -> str:
    """Of what a view holds: the recordings, and the observations of these tracks (None: of all)."""
    held: list[Any] = sorted([r.id, r.duration] for r in view.recordings() if r.id in recordings)
    if tracks is None or tracks:
        held.append([o.id for o in view.observations(tracks=tracks)])
    lost = [
        [track, id, gap.span.start, gap.span.end]
        for track in tracks or ()
        for id, found in failed_windows_in_view(view, track).items()
        for gap in found
    ]
    if lost:  # a reader is told where nothing could be noted
        held.append(lost)
    return digest(held)


def digest(content: Any) -> str:
    """16 hex digits of SHA-256 over JSON."""
    return hash_json(content, ascii=True)[:FINGERPRINT_LENGTH]
