"""Retrieve and verify: a look at the frames of the moments found, which may correct CaptionQA.

The full-coverage CaptionQA answer stands unless the frames of at most three moments strongly show
another option (CapMem). What the paper does not state is a named setting.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from pydantic import Field, JsonValue

from egomem.answer import prompts
from egomem.answer.context import chosen_track, notes, scope
from egomem.answer.frames import Look, Looked, look
from egomem.answer.reader import ReaderSettings, ask_reader, counted, models_of, option_text, send
from egomem.answer.strategy import Task, register
from egomem.answer.verdict import (
    CAVEAT,
    SCHEMA,
    Decision,
    Verdict,
    decide,
    effect,
    has_clock_cue,
    read_verdict,
    unread,
)
from egomem.errors import UsageError
from egomem.memory import View
from egomem.models import Request, RequestTags, Role, TextPart
from egomem.recall import Hit, find
from egomem.records import Answer, Evidence, Question, Recording, Status, Usage
from egomem.timeline import RecordingTime, Span, find_times, uniform_times

NO_BASE = "the caption answer failed"
NO_CANDIDATE = "the answer from the notes found failed"
NO_LOOK = "the frames were not checked"


class VerifySettings(ReaderSettings):
    """How moments are found and looked at (methods A.6); `format` and the like are the reader's.

    `profile`: of recall. `window`: seconds of a moment. `windows`: with neighbours, at most.
    `intervals`, `frames`: at most so many stretches, with so many frames each, and no more in all
    than the verifier takes (limits.verifier.images). `pad`: seconds added on each side. `track`: of
    captions.

    Two extensions of ours, off by default. `abstain_unsupported`: answer nothing where neither the
    notes found nor the frames support any option. `second_look`: where the question names a time
    that can be placed in the memory, look there too; strong support from that look may replace the
    answer although a clock time is named.
    """

    profile: str = "capmem"
    window: float = Field(default=30.0, gt=0)
    windows: int = Field(default=9, ge=1)
    intervals: int = Field(default=3, ge=1)
    frames: int = Field(default=4, ge=1)
    pad: float = Field(default=5.0, ge=0)
    track: str | None = None
    abstain_unsupported: bool = False
    second_look: bool = False


@register("verify", VerifySettings)
async def verify(task: Task[VerifySettings]) -> Answer:
    """Corrects the caption answer where frames of the moments found strongly show another.

    Where a request of it fails, or no frame can be had, it has failed: an answer that nobody
    checked is not one that was checked and stands.
    """
    if task.memo is None:
        raise UsageError("verify starts from the answer of caption, which cannot be had here")
    settings, question = task.settings, task.question
    base = await task.memo("caption")
    status, read = base.status.value, _read(base)
    task.note("baseline", choice=base.choice, text=base.text, status=status, **read)
    if base.status is Status.ERROR:
        return failed(NO_BASE, base.reason, base.usage)
    view = scope(task.view, question)
    hits, remarks = await asyncio.to_thread(_find, task, view)
    task.note("found", hits=[_hit_step(hit) for hit in hits], notes=list(remarks))
    candidate = await _candidate(task, view, hits)
    usage = base.usage + candidate.usage
    if candidate.status is Status.ERROR:
        return failed(NO_CANDIDATE, candidate.reason, usage)
    task.note("candidate", choice=candidate.choice, text=candidate.text)
    held = {r.id: r for r in view.recordings()}
    looks = intervals(hits, held, most=settings.intervals, count=settings.frames, pad=settings.pad)
    said, looked = await _look(task, looks, candidate)
    usage += said.usage
    if said.fault:
        return failed(NO_LOOK, said.fault, usage)
    verdict = said.verdict
    decision = decide(
        question, base, verdict, clock_cue=has_clock_cue(question), why_not=said.why_not
    )
    if settings.second_look and decision.outcome != "overridden":
        again = named_moments(task, view, held)
        if again:
            second, looked_again = await _look(task, again, candidate)
            usage += second.usage
            if second.fault:
                return failed(NO_LOOK, second.fault, usage)
            task.note("second_look", times=[list(one.times) for one in again])
            other = decide(question, base, second.verdict, clock_cue=False)
            if other.outcome == "overridden":
                verdict, looked, decision = second.verdict, looked_again, other
    final = settled(question, settings, base, candidate, verdict, decision)
    if decision.outcome == "overridden":
        final = final.model_copy(update={"evidence": _seen(looked, verdict)})
    task.note("decision", **decided(question, base, verdict, decision, final))
    return final.model_copy(update={"strategy": "verify", "usage": usage})


def failed(what: str, why: str, usage: Usage) -> Answer:
    """An answer that could not be checked."""
    reason = f"{what}: {why}" if why else what
    return Answer(text="", status=Status.ERROR, strategy="verify", reason=reason, usage=usage)


def _find(task: Task[VerifySettings], view: View) -> tuple[list[Hit], tuple[str, ...]]:
    """The moments found, and what recall has to say of the question's times."""
    settings = task.settings
    track = chosen_track(view, settings.track)
    if track is None:
        return [], ()
    found = find(
        view.narrow(tracks=[track]),
        task.question.text,
        options=[o.text for o in task.question.options],
        k=settings.windows,
        window=settings.window,
        profile=settings.profile,
        embedder=task.embedder,
    )
    return found.hits, found.notes


async def _candidate(task: Task[VerifySettings], view: View, hits: Sequence[Hit]) -> Answer:
    """What a reader answers from the notes found alone; it is checked, and never the answer."""
    found = {o.id: o for hit in hits for o in hit.observations}
    in_time = view.observations(ids=list(found)) if found else []
    if not in_time:
        return Answer(text="", status=Status.ABSTAINED, strategy="candidate")
    held = notes(view, in_time)
    return await ask_reader(
        task,
        task.settings,
        prompts.CANDIDATE,
        [TextPart(held.text)],
        evidence="the numbers of the notes that the answer rests on",
        evident=held.evident,
        strategy="candidate",
    )


class _Said(NamedTuple):
    """What came of a look. `why_not`: why there is no verdict. `fault`: why it could not be done,
    which is no result; "" where it was."""

    verdict: Verdict | None = None
    why_not: str = ""
    fault: str = ""
    usage: Usage = Usage()


async def _look(
    task: Task[VerifySettings], looks: Sequence[Look], candidate: Answer
) -> tuple[_Said, Looked]:
    """Frames of the moments, and what the verifier says of them."""
    limits = models_of(task).limits(Role.VERIFIER)
    looked = await look(task, within(looks, limits.images), limits)
    if not looked.images:
        return _Said(why_not=unread(None), fault="; ".join(looked.missing)), looked
    question = task.question
    said = f"{candidate.choice}. {candidate.text}" if candidate.choice else candidate.text
    wanted = prompts.verdict_wanted(question, said)
    reply = await send(
        task,
        Request(
            role=Role.VERIFIER,
            parts=(
                *looked.parts,
                TextPart(f"{prompts.asked(question, task.view.until)}\n\n{wanted}"),
            ),
            prompt=prompts.VERIFY.name,
            system=prompts.VERIFY.system,
            schema=SCHEMA,
            max_tokens=task.settings.max_tokens,
            about=RequestTags(question.recording, question.id or None),
        ),
    )
    if reply.status is Status.ERROR:
        return _Said(fault=reply.detail or "no reply", usage=counted(reply)), looked
    verdict = read_verdict(question, reply)
    task.note(
        "verdict",
        verdict=verdict.model_dump(mode="json") if verdict else None,
        evidence=[e.model_dump(mode="json") for e in _seen(looked, verdict)],
    )
    return _Said(verdict, unread(reply), usage=counted(reply)), looked


def within(looks: Sequence[Look], images: int) -> list[Look]:
    """The looks with so many frames in all that one request may hold, the same for each."""
    most = max(1, images // max(1, len(looks)))
    return [
        one if len(one.times) <= most else replace(one, times=tuple(uniform_times(one.span, most)))
        for one in looks
    ]


def _read(base: Answer) -> dict[str, JsonValue]:
    """The notes that a caption answer was read from, and the stretches of which it lacked any."""
    read = next((s for s in base.trace if isinstance(s, dict) and s.get("step") == "notes"), {})
    return {name: read[name] for name in ("track", "sources", "without") if read.get(name)}


def decided(
    question: Question, base: Answer, verdict: Verdict | None, decision: Decision, final: Answer
) -> dict[str, JsonValue]:
    """What the trace says of a decision."""
    proposed = verdict.answer if verdict else None
    return {
        "outcome": decision.outcome,
        "why": decision.why,
        "before": base.choice,
        "proposed": proposed,
        "support": verdict.support.value if verdict else None,
        "after": final.choice,
        "effect": effect(question, base.choice, final.choice),
        "would_have": effect(question, base.choice, proposed if verdict else base.choice),
        "caveat": CAVEAT,
    }


def settled(
    question: Question,
    settings: VerifySettings,
    base: Answer,
    candidate: Answer,
    verdict: Verdict | None,
    decision: Decision,
) -> Answer:
    """The answer that a decision leaves; one that replaces the base has its evidence still."""
    if decision.outcome == "overridden" and verdict is not None and verdict.answer is not None:
        label = verdict.answer
        return base.model_copy(
            update={
                "text": option_text(question, label),
                "choice": label,
                "status": Status.PARSED,
                "scores": raised(base.scores, label),
                "reason": f"{decision.why}: {verdict.reason}",
            }
        )
    unsupported = candidate.status is Status.ABSTAINED and (
        verdict is not None and verdict.answer is None
    )
    if settings.abstain_unsupported and unsupported:
        return base.model_copy(
            update={
                "text": "",
                "choice": None,
                "status": Status.ABSTAINED,
                "evidence": (),
                "reason": "neither the notes found nor the frames support any answer",
            }
        )
    return base


def raised(scores: dict[str, float], label: str) -> dict[str, float]:
    """The scores with one option put first, the others as they were."""
    top = max(scores.values(), default=0.0)
    return {**scores, label: max(1.0, top + 1.0) if label in scores or scores else 1.0}


def _seen(looked: Looked, verdict: Verdict | None) -> tuple[Evidence, ...]:
    """The stretches whose frames were looked at."""
    return tuple(
        Evidence(
            recording=one.recording.id,
            span=one.span,
            quote=verdict.reason if verdict else "",
            when=one.recording.instant(one.span.start),
        )
        for one in looked.looks
    )


def intervals(
    hits: Sequence[Hit], held: dict[str, Recording], *, most: int, count: int, pad: float
) -> list[Look]:
    """At most `most` stretches: each seed with the neighbours that adjoin it and `pad` seconds on
    each side, clipped to what has passed of the recording; those that overlap are one.

    Frame times are the centres of `count` equal parts. In order of recording and time. Digests are
    no moments of a recording and are not looked at.
    """
    seeds = [h for h in hits if h.seed and h.recording in held][:most]
    spans: dict[str, list[Span]] = {}
    for seed in seeds:
        beside = [h.span for h in hits if not h.seed and h.recording == seed.recording]
        start, end = seed.span.start, seed.span.end
        for span in sorted(beside):
            if abs(span.end - seed.span.start) < _NOTHING:
                start = span.start
            if abs(span.start - seed.span.end) < _NOTHING:
                end = span.end
        whole = Span(0.0, held[seed.recording or ""].duration)
        wide = Span(max(0.0, start - pad), end + pad).clip(whole)
        if wide is not None:
            spans.setdefault(seed.recording or "", []).append(wide)
    return [
        Look(recording, span, tuple(uniform_times(span, count)))
        for id, recording in held.items()
        for span in merged(spans.get(id, ()))
    ]


_NOTHING = 1e-6


def merged(spans: Sequence[Span]) -> list[Span]:
    """Spans in order of time, those that overlap or touch joined."""
    joined: list[Span] = []
    for span in sorted(spans):
        if joined and span.start <= joined[-1].end:
            joined[-1] = Span(joined[-1].start, max(joined[-1].end, span.end))
        else:
            joined.append(span)
    return joined


def named_moments(task: Task[VerifySettings], view: View, held: dict[str, Recording]) -> list[Look]:
    """Where the times that the question names lie in the recordings: stretches to look at."""
    until = view.until
    if isinstance(until, RecordingTime):
        own = held.get(until.recording)
        until = own.instant(until.seconds) if own else None
    spans: dict[str, list[Span]] = {}
    for when in find_times(task.question.text, now=until):
        for recording in held.values():
            span = None
            if when.span is not None and len(held) == 1:
                span = when.span
            elif when.instants is not None and recording.clock is not None:
                clock = recording.clock
                first, last = when.instants.start, when.instants.end
                span = Span(clock.seconds(first), clock.seconds(last))
            if span is None:
                continue
            pad = task.settings.pad
            inside = Span(span.start - pad, span.end + pad).clip(Span(0.0, recording.duration))
            if inside is not None:
                spans.setdefault(recording.id, []).append(inside)
    settings = task.settings
    looks = [
        Look(held[id], span, tuple(uniform_times(span, settings.frames)))
        for id in held
        for span in merged(spans.get(id, ()))
    ]
    return looks[: settings.intervals]


def _hit_step(hit: Hit) -> dict[str, JsonValue]:
    step: dict[str, Any] = {
        "recording": hit.recording,
        "start": hit.span.start,
        "end": hit.span.end,
        "seed": hit.seed,
        "score": hit.score,
        "parts": dict(hit.parts),
    }
    return step
