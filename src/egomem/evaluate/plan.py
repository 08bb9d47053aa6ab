"""What a run will take, told before anything is sent: requests, frames, tokens, money, and what is
finished already. Tokens are right within a factor of two or so."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable

from pydantic import Field

from egomem.answer.estimate import Outlook
from egomem.evaluate.captions import caption_windows
from egomem.evaluate.config import Arm
from egomem.evaluate.fingerprint import Trial
from egomem.evaluate.run_folder import OpenRun
from egomem.models import ModelSpec, Role
from egomem.models.limits import BYTES_PER_TOKEN, PIXELS_PER_TOKEN
from egomem.models.prices import price
from egomem.observe.caption_cost import LABEL_TOKENS, TOKENS_OUT
from egomem.observe.caption_prompt import INSTRUCTIONS, WHOLE_INSTRUCTIONS
from egomem.records import Question, Record, Recording, Usage
from egomem.text import plural

PROMPT_TOKENS = 200
"""Of a question, its options and how to reply; our guess."""
STAMP_TOKENS = 10
"""Of the times before a caption; our guess."""
WIDE = 9 / 16
"""Height over width of a frame whose shape is not known."""


class PlanLine(Record):
    """One line of a plan. `cells` and `kept` are cells (or windows of captions) to make and made
    before; `requests`, `frames`, tokens and `cost` are what is left to send for them, beside
    `cached` requests whose replies are kept; `changed` says why cells are asked again."""

    label: str
    cells: int
    kept: int
    requests: int = 0
    cached: int = 0
    frames: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float | None = None
    unable: int = 0
    changed: dict[str, int] = Field(default_factory=dict)


class RunPlan(Record):
    """`captions` and `columns` in the order in which they are made. `spent` is what the run has
    sent so far, `replies_cached` how many replies are kept of it. `left_out` rows of the data could
    not be used. `missing` are videos that are not at hand, with why; `changed_questions` are asked
    again as their text changed."""

    captions: tuple[PlanLine, ...]
    columns: tuple[PlanLine, ...]
    questions: int
    replies_cached: int
    left_out: int = 0
    spent: Usage = Usage()
    missing: dict[str, str] = Field(default_factory=dict)
    changed_questions: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def total(self) -> PlanLine:
        parts = [*self.captions, *self.columns]
        costs = [p.cost for p in parts if p.cost is not None]
        return PlanLine(
            label="total",
            cells=sum(p.cells for p in self.columns),
            kept=sum(p.kept for p in self.columns),
            requests=sum(p.requests for p in parts),
            cached=sum(p.cached for p in parts),
            frames=sum(p.frames for p in parts),
            tokens_in=sum(p.tokens_in for p in parts),
            tokens_out=sum(p.tokens_out for p in parts),
            cost=sum(costs) if costs else None,
            unable=sum(p.unable for p in self.columns),
        )

    @property
    def money_is_lower_bound(self) -> bool:
        return any(p.requests and p.cost is None for p in (*self.captions, *self.columns))


def plan(run: OpenRun) -> RunPlan:
    """The plan of a run as it stands. The gate may make it shorter."""
    notes = []
    if lost := run.record.stored.unmeasured:
        notes.append(f"what {plural(lost, 'answer')} took is lost; it counts as nothing")
    undeclared = {
        s.name
        for c in run.arms
        for s in run.config.condition(c).lineage
        if s.roles and s.reads is None
    }
    if undeclared:
        notes.append(
            f"{', '.join(sorted(undeclared))}: does not declare what it reads; counted as one "
            "request with all observations and as many frames as it takes"
        )
    changed: dict[str, None] = {}
    columns = [_column(run, arm, changed) for arm in run.arms]
    return RunPlan(
        captions=tuple(_captions(run)),
        columns=tuple(columns),
        questions=len(run.questions),
        left_out=run.benchmark.left_out,
        replies_cached=run.cache.stats().replies,
        spent=run.budget.earlier.model_copy(update={"requests": run.budget.requests_earlier}),
        missing=dict(run.videos.missing),
        changed_questions=tuple(changed),
        notes=tuple(notes),
    )


def _captions(run: OpenRun) -> Iterable[PlanLine]:
    """A part for each track that is to be built; aligned captions of what single questions may see
    of a recording count with those of whole ones."""
    done: set[str] = set()
    for arm in run.arms:
        track = run.inputs.track(arm) if run.inputs.makes_captions(arm) else None
        if track is None or track in done:
            continue
        done.add(track)
        condition, limits = run.config.condition(arm), run.config.limits(arm.reader)[Role.CAPTIONER]
        todo = kept = frames = 0
        for question, recording in _built(run, arm):
            every = len(caption_windows(recording, condition.window))
            missing = run.inputs.windows_to_caption(arm, recording, question)
            todo, kept = todo + missing, kept + every - missing
            # A window that is longer than a request has room for is thinned out, not split.
            whole = min(int(recording.duration * run.config.fps), every * limits.images)
            if condition.captions == "aligned":
                whole = min(whole, run.config.frame_limit(arm.reader))
            elif condition.captions == "whole":
                whole = min(whole, run.config.whole_frame_limit(arm.reader))
            frames += round(whole * missing / max(1, every))
        instructions = WHOLE_INSTRUCTIONS if condition.captions == "whole" else INSTRUCTIONS
        text = todo * math.ceil(len(instructions.encode()) / BYTES_PER_TOKEN)
        tokens = text + frames * _frame_tokens(limits.side)
        yield _priced(
            PlanLine(
                label=f"captions {track}",
                cells=todo,
                kept=kept,
                requests=todo,
                frames=frames,
                tokens_in=tokens,
                tokens_out=todo * TOKENS_OUT,
            ),
            arm.captioner,
        )


def _built(run: OpenRun, arm: Arm) -> Iterable[tuple[Question, Recording]]:
    """Each recording that is captioned for a column, in each of its tracks, with one question."""
    built: dict[tuple[str | None, str], tuple[Question, Recording]] = {}
    for question in run.questions:
        for recording in run.inputs.captioned_recordings(question, arm):
            place = run.inputs.track(arm, question), recording.id
            # One question for each track is enough: the captions do not depend on it.
            built.setdefault(place, (question, recording))
    return built.values()


def _column(run: OpenRun, arm: Arm, changed: dict[str, None]) -> PlanLine:
    todo = kept = unable = cached = 0
    why: Counter[str] = Counter()
    usage = Usage()
    for question in run.questions:
        trial = run.fingerprints.trial(question, arm)
        before = run.record.stored.cells.get((question.id, arm))
        parts = trial.changed(before)
        if not parts:
            kept += 1
            continue
        todo += 1
        if before is not None:
            why.update(parts)
            if "question" in parts:
                changed[question.id] = None
        # Captions that are still to be made are no obstacle.
        lost = not run.inputs.makes_captions(arm) and bool(run.inputs.obstacle(question, arm))
        unable += lost
        if arm.reader and not lost:
            whole = _ask(run, question, arm)
            # More may be kept than this asks for, where an earlier configuration asked more often.
            replies = min(whole.requests, _cached(run, trial))
            cached += replies
            usage += _remaining(whole, replies)
    part = PlanLine(
        label=arm.label,
        cells=todo,
        kept=kept,
        requests=usage.requests,
        cached=cached,
        frames=usage.frames,
        tokens_in=usage.tokens_in,
        tokens_out=usage.tokens_out,
        unable=unable,
        changed=dict(why),
    )
    return _priced(part, arm.reader)


def _cached(run: OpenRun, trial: Trial) -> int:
    """How many of a trial's requests have a reply that is kept: of one that was answered before,
    and has been changed or lost since."""
    keys = run.record.stored.reply_keys((trial.question.id, trial.arm), trial.parts)
    return sum(run.cache.get(key) is not None for key in keys)


def _remaining(whole: Usage, cached: int) -> Usage:
    """What is to be sent where the replies to `cached` requests are kept."""
    # All requests of a trial are taken to be of one size: the plan is a guess, and says "about".
    share = 1 - cached / whole.requests if whole.requests else 0.0
    return Usage(
        requests=whole.requests - cached,
        frames=round(whole.frames * share),
        tokens_in=round(whole.tokens_in * share),
        tokens_out=round(whole.tokens_out * share),
    )


def _ask(run: OpenRun, question: Question, arm: Arm) -> Usage:
    """What one trial takes, roughly."""
    config, recordings = run.config, run.inputs.recordings(question)
    settings, limits = config.configured(arm, None), config.limits(arm.reader)
    text = _read_tokens(run, question, arm, recordings)
    bases, usage = config.bases(arm), Usage()
    for strategy in run.config.condition(arm).lineage:
        if strategy.name in bases:
            continue  # counted in that arm
        outlook = Outlook(question, recordings, settings[strategy.name], limits, text, config.fps)
        effort = strategy.effort(outlook)
        tokens = effort.requests * PROMPT_TOKENS + effort.text_tokens
        tokens += effort.frames * _frame_tokens(limits[strategy.looker].side)
        usage += Usage(
            requests=effort.requests,
            frames=effort.frames,
            tokens_in=tokens,
            tokens_out=effort.tokens_out,
        )
    return usage


def _read_tokens(run: OpenRun, question: Question, arm: Arm, recordings: list[Recording]) -> int:
    """Of the observations that a question is asked with: counted where they are there."""
    condition = run.config.condition(arm)
    if condition.captions == "none":
        return 0
    if not run.inputs.makes_captions(arm):
        observations = run.inputs.observations(question, arm) or ()
        return sum(
            math.ceil(len(o.text.encode()) / BYTES_PER_TOKEN) + STAMP_TOKENS for o in observations
        )
    return TOKENS_OUT * sum(len(caption_windows(r, condition.window)) for r in recordings)


def _frame_tokens(side: int) -> int:
    return math.ceil(side * side * WIDE / PIXELS_PER_TOKEN) + LABEL_TOKENS


def _priced(part: PlanLine, spec: str) -> PlanLine:
    if not spec or not part.requests:
        return part
    usage = Usage(tokens_in=part.tokens_in, tokens_out=part.tokens_out)
    return part.model_copy(update={"cost": price(ModelSpec.parse(spec), usage)})
