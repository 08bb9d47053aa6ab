"""A trial is a question in an arm; what its answer depends on, as hashes that say what changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from pydantic import BaseModel

from egomem.evaluate.conditions import Condition
from egomem.evaluate.config import Arm, Config
from egomem.evaluate.stored_run import Finished, StoredRun, TrialKey
from egomem.evaluate.trial_inputs import TrialInputs
from egomem.hashing import FINGERPRINT_LENGTH, hash_json
from egomem.memory import View
from egomem.memory.failed_windows import failed_windows_in_view
from egomem.records import Answer, Question, Status

PARTS = ("question", "setting", "prompt", "strategy", "model", "memory", "baseline")
"""What an answer depends on, in the order in which a change is told. `strategy` is the code of
those that say which it is; `baseline` the answers of other arms that it starts from."""

LOST = "not at hand"
"""The memory part of a trial whose video is not there."""
UNBUILT = "not built yet"
"""The memory part of a trial whose captions are still to be made."""
UNANSWERED = "not answered yet"
"""The baseline part of a trial that starts from an answer which is still to be given."""

StaleAnswers = Mapping[str, Mapping[str, str]]
"""Label of an arm -> id of a question -> digest of the parts of the answer that is there."""


class Trial(NamedTuple):
    """`question` names the benchmark's videos; `parts` are hashes, see PARTS."""

    question: Question
    arm: Arm
    parts: dict[str, str]

    def changed(self, before: Finished | None) -> tuple[str, ...]:
        """Which parts differ from those of an answer; () where it still holds."""
        if before is None:
            return ("new",)
        changed = tuple(p for p in PARTS if self.parts.get(p) != before.parts.get(p))
        # Told as "prompt", not as "prompt, baseline": the second is a consequence, and would be
        # counted as a reason of its own.
        if len(changed) > 1:  # another caption answer follows from the rest
            changed = tuple(p for p in changed if p != "baseline")
        return changed or (("failed",) if before.failed else ())

    def kept_base(self, before: Finished) -> Answer | None:
        """The caption answer of its own that a failed trial started from, where it still holds."""
        # Only where nothing else changed: after another prompt the old caption answer is of the old
        # prompt.
        base = before.base if self.changed(before) == ("failed",) else None
        return None if base is None or base.status is Status.ERROR else base


def fingerprint(
    question: Question,
    arm: Arm,
    config: Config,
    track: str | None,
    memory: str,
    baseline: str | None = None,
) -> dict[str, str]:
    """The parts of a trial; `memory` is the digest of what is read or looked at, `baseline` that of
    the answers of other arms that it starts from."""
    condition = config.condition(arm)
    settings = config.configured(arm, track)
    asked: Any = [question.text, [[o.label, o.text] for o in question.options], str(question.at)]
    # Evidence is the key's: what does not read it must not be asked again when a benchmark mends
    # it.
    if condition.evidence or condition.oracle:
        asked.append([[e.recording, e.span.start, e.span.end] for e in question.evidence])
    models = [arm.reader]
    if condition.verifies:
        models.append(config.verifier or arm.reader)
    parts = {
        "question": digest(asked),
        "setting": digest([config.strategy_hash(arm, track), _sent(question, arm, config)]),
        "prompt": digest(_texts(question, condition, settings)),
        "model": digest(models),
        "memory": memory,
    }
    # Left out where nobody declares one, so that answers from before there was such a part still
    # hold.
    if identities := [[s.name, s.identity] for s in condition.lineage if s.identity]:
        parts["strategy"] = digest(identities)
    if baseline is not None:
        parts["baseline"] = baseline
    return parts


def _sent(question: Question, arm: Arm, config: Config) -> dict[str, Any]:
    """The limits of the frames that are sent for a question; {} where none are."""
    limits = config.limits(arm.reader)
    settings = config.configured(arm, None)
    sent: dict[str, Any] = {}
    for strategy in config.condition(arm).lineage:
        if strategy.may_look:
            each = limits[strategy.looker]
            if strategy.needed_limits is not None:
                each = strategy.needed_limits(question, settings[strategy.name], each)
            sent[strategy.name] = each.model_dump(mode="json")
    # One strategy that looks is the rule, and was all that there was: its hash stays.
    return sent if len(sent) > 1 else next(iter(sent.values()), {})


class Fingerprints:
    """The trials of a run, each with its parts as they are now. `stored` has the answers so far.

    An answer that another arm starts from is a part of that arm's trial, so the parts of a trial
    change while the run goes on.
    """

    def __init__(self, config: Config, inputs: TrialInputs, stored: StoredRun) -> None:
        self._config = config
        self._inputs = inputs
        self._stored = stored
        self._memory_digests: dict[Any, str] = {}

    def trial(self, question: Question, arm: Arm) -> Trial:
        """The trial with the hashes of all that its answer depends on."""
        track = self._inputs.track(arm, question)
        memory = self._memory(question, arm, track)
        baseline = self._baseline(question, arm)
        parts = fingerprint(question, arm, self._config, track, memory, baseline)
        return Trial(question, arm, parts)

    def stale(self, questions: Sequence[Question], arms: Sequence[Arm]) -> StaleAnswers:
        """The answers that this configuration asks again."""
        answers = self._stored.cells
        stale: dict[str, dict[str, str]] = {}
        for arm in arms:
            for question in questions:
                answer = answers.get((question.id, arm))
                # An error is tried again, and stands until then.
                if answer and self.trial(question, arm).changed(answer) not in ((), ("failed",)):
                    stale.setdefault(arm.label, {})[question.id] = digest(answer.parts)
        return stale

    def current(self, stale: StaleAnswers) -> dict[TrialKey, Finished]:
        """The answers without those that are `stale`."""
        return {
            (id, arm): answer
            for (id, arm), answer in self._stored.cells.items()
            if id not in stale.get(arm.label, {})
        }

    def _baseline(self, question: Question, arm: Arm) -> str | None:
        """The digest of the answers of other arms that a trial starts from; None where there are
        none."""
        answers = []
        for base in self._config.bases(arm).values():
            answer = self._stored.cells.get((question.id, base))
            if answer is None or self.trial(question, base).changed(answer):
                return UNANSWERED
            answers.append(answer.answer)
        return baseline_digest(answers) if answers else None

    def _memory(self, question: Question, arm: Arm, track: str | None) -> str:
        condition, inputs = self._config.condition(arm), self._inputs
        if condition.blind:
            return ""
        if inputs.videos.lost(question):
            return LOST
        if inputs.missing_captions(question, arm):
            return UNBUILT
        localised = inputs.videos.localised(question)
        ids = tuple(r.id for r in inputs.recordings(question))
        evidence = localised.evidence if condition.evidence else ()
        key = (str(localised.at), ids, localised.recording, track, inputs.sources(arm), evidence)
        # Many questions share a video, and its notes are read once.
        if key not in self._memory_digests:
            read = inputs.observations(question, arm)
            observations = None if read is None else [o.id for o in read]
            view = inputs.view(question, condition)
            self._memory_digests[key] = memory_digest(view, ids, observations, track)
        return self._memory_digests[key]


def answer_digest(answer: Answer) -> str:
    """Of all of an answer that another one takes over from it."""
    # Without trace and usage: a reply from the cache has another usage and is the same answer.
    evidence = [[e.recording, e.span.start, e.span.end, e.quote] for e in answer.evidence]
    return digest([answer.status.value, answer.choice, answer.text, answer.scores, evidence])


def baseline_digest(answers: Sequence[Answer]) -> str:
    """Of the answers of other arms that one starts from."""
    digests = [answer_digest(answer) for answer in answers]
    # One is the rule and was all there was: old runs keep their hash.
    return digests[0] if len(digests) == 1 else digest(digests)


def prompt_hash(config: Config) -> str:
    """Of all prompts that a run uses, for telling whether two runs are comparable."""
    # Texts may depend on the question; one with options stands for all, as it decides no more than
    # whether runs may be compared.
    example = Question.of("?", ("a", "b"))
    texts = {
        c.setting: _texts(example, config.condition(c), config.configured(c, None))
        for c in config.arms()
    }
    return digest(sorted(texts.items()))


def _texts(
    question: Question, condition: Condition, settings: Mapping[str, BaseModel]
) -> list[str]:
    """All that is written to models beside the question, each text once."""
    strategy, *starts = reversed(condition.lineage)
    texts = list(strategy.texts(question, settings[strategy.name])) if strategy.texts else []
    for start in starts:
        if start.texts is not None:
            given = start.texts(question, settings[start.name])
            # Each once, as before strategies declared their prompts: the hashes of old runs stay.
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
