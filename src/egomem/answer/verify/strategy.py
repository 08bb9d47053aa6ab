"""Retrieve and verify: a look at the frames of the moments found, which may correct CaptionQA.

The full-coverage CaptionQA answer stands unless the frames of at most three moments strongly show
another option (CapMem). What the paper does not state is a named setting.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, NamedTuple

from pydantic import JsonValue

from egomem.answer import prompts
from egomem.answer.context import chosen_track, notes, scope
from egomem.answer.estimate import Effort, Outlook
from egomem.answer.frames import FrameTimes, ShownFrames, show_frames
from egomem.answer.reader import ask_reader, counted, models_of, send
from egomem.answer.strategy import Task, register
from egomem.answer.verify.decision import (
    NO_BASE,
    NO_CANDIDATE,
    NO_LOOK,
    decision_step,
    failed,
    settled,
)
from egomem.answer.verify.moments import by_recording, intervals, merged, named_moments, within
from egomem.answer.verify.reread import reread_decision
from egomem.answer.verify.settings import VerifySettings
from egomem.answer.verify.verdict import (
    SCHEMA,
    Verdict,
    decide,
    has_clock_cue,
    read_verdict,
    unread,
)
from egomem.errors import UsageError
from egomem.memory import View
from egomem.models import Request, RequestTags, Role, TextPart
from egomem.observe.caption_cost import TOKENS_OUT
from egomem.recall import Hit, Query, explain, find, read_for
from egomem.recall.reading import instant_of
from egomem.records import Answer, Evidence, Question, Status, Usage

CANDIDATE_CAPTIONS = 9
VERDICT_TOKENS = 80
"""What a plan counts for one question; our guesses."""


def _texts(question: Question, settings: VerifySettings) -> list[str]:
    read = prompts.reader_texts(prompts.CAPTION, prompts.CANDIDATE, prompts.VERIFY)
    return [*read(question, settings), prompts.verdict_wanted(question, "-")]


def _effort(outlook: Outlook) -> Effort:
    """The candidate and the verdict; the caption answer is counted where it is given."""
    settings, images = outlook.settings, outlook.limits[Role.VERIFIER].images
    whole = min(settings.intervals, images // settings.frames) * settings.frames
    return Effort(
        2,
        whole or min(settings.frames, images),
        CANDIDATE_CAPTIONS * TOKENS_OUT,
        outlook.reply_tokens + VERDICT_TOKENS,
    )


@register(
    "verify",
    VerifySettings,
    reads=("caption", "frames"),
    version="2",  # one recording is headed without its name, above frames too
    roles=(Role.READER, Role.VERIFIER),
    looker=Role.VERIFIER,
    starts_from=("caption",),
    run_decides=("track", "window"),
    prompts=_texts,
    reread=reread_decision,
    estimate=_effort,
)
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
    # Without the caption answer there is nothing to keep or replace.
    if base.status is Status.ERROR:
        return failed(NO_BASE, base.reason, base.usage)
    view = scope(task.view, question)
    options = [o.text for o in question.options]
    # Its moments are captions: who speaks in the memory does not matter.
    query = read_for(view, question.text, options, now=instant_of(view, question.at), speakers=())
    task.note("read", **explain(query))
    hits, remarks = await asyncio.to_thread(_find, task, view, query)
    task.note("found", hits=[_hit_step(hit) for hit in hits], notes=list(remarks))
    # CapMem's harness checks an intermediate answer from the windows found, not the answer over all
    # captions, which it may only replace.
    candidate = await _candidate(task, view, hits)
    usage = base.usage + candidate.usage
    if candidate.status is Status.ERROR:
        return failed(NO_CANDIDATE, candidate.reason, usage)
    task.note("candidate", choice=candidate.choice, text=candidate.text)
    recordings = {r.id: r for r in view.recordings()}
    looks = intervals(
        hits, recordings, most=settings.intervals, count=settings.frames, pad=settings.pad
    )
    check, evidence = await _look(task, looks, candidate)
    usage += check.usage
    if check.fault:
        return failed(NO_LOOK, check.fault, usage)
    verdict = check.verdict
    decision = decide(
        question, base, verdict, clock_cue=has_clock_cue(question), why_not=check.why_not
    )
    # Ours, not CapMem's: it is off unless it is set.
    if settings.second_look and decision.outcome != "overridden":
        again = named_moments(task, query, recordings)
        if again:
            recheck, evidence_again = await _look(task, again, candidate)
            usage += recheck.usage
            if recheck.fault:
                return failed(NO_LOOK, recheck.fault, usage)
            task.note("second_look", times=[list(one.times) for one in again])
            # The second look is at the very times that the question names, so a clock time in it
            # blocks no longer.
            other = decide(question, base, recheck.verdict, clock_cue=False)
            if other.outcome == "overridden":
                verdict, evidence, decision = recheck.verdict, evidence_again, other
    final = settled(question, settings, base, candidate, verdict, decision)
    if decision.outcome == "overridden":
        final = final.model_copy(update={"evidence": evidence})
    task.note("decision", **decision_step(question, base, verdict, decision, final))
    return final.model_copy(update={"strategy": "verify", "usage": usage})


def _find(
    task: Task[VerifySettings], view: View, query: Query
) -> tuple[list[Hit], tuple[str, ...]]:
    """The moments found, and what recall has to say of the question's times."""
    settings = task.settings
    track = chosen_track(view, settings.track)
    if track is None:
        return [], ()
    result = find(
        view.narrow(tracks=[track]),
        query,
        k=settings.windows,
        window=settings.window,
        profile=settings.profile,
        embedder=task.embedder,
    )
    return result.hits, result.notes


async def _candidate(task: Task[VerifySettings], view: View, hits: Sequence[Hit]) -> Answer:
    """What a reader answers from the notes found alone; it is checked, and never the answer."""
    matched = {o.id: o for hit in hits for o in hit.observations}
    in_time = view.observations(ids=list(matched)) if matched else []
    if not in_time:
        return Answer(text="", status=Status.ABSTAINED, strategy="candidate")
    context = notes(view, in_time)
    return await ask_reader(
        task,
        task.settings,
        prompts.CANDIDATE,
        [TextPart(context.text)],
        evidence="the numbers of the notes that the answer rests on",
        parse_evidence=context.parse_evidence,
        strategy="candidate",
    )


class _Check(NamedTuple):
    """What came of a look. `why_not`: why there is no verdict. `fault`: why it could not be done,
    which is no result; "" where it was."""

    verdict: Verdict | None = None
    why_not: str = ""
    fault: str = ""
    usage: Usage = Usage()


async def _look(
    task: Task[VerifySettings], looks: Sequence[FrameTimes], candidate: Answer
) -> tuple[_Check, tuple[Evidence, ...]]:
    """What the verifier says of frames of the moments, and the evidence for it.

    Moments for which the verifier takes no more frames are left out, the best ones are kept.
    """
    limits = models_of(task).limits(Role.VERIFIER)
    images = limits.images
    if task.budget.frames is not None:
        images = min(images, max(1, task.budget.frames))
    # The best seeds come first: what is left out is what recall trusted least.
    kept = within(looks, images)
    task.note(
        "intervals",
        looked_at=[_interval_step(one) for one in kept],
        left_out=[_interval_step(one) for one in looks[len(kept) :]],
    )
    recordings = {one.recording.id: one.recording for one in kept}
    looked = await show_frames(task, by_recording(kept, recordings), limits)
    if not looked.images:
        return _Check(why_not=unread(None), fault="; ".join(looked.missing)), ()
    question = task.question
    claim = f"{candidate.choice}. {candidate.text}" if candidate.choice else candidate.text
    asked = prompts.asked(question, task.view.until)
    instructions = prompts.verdict_wanted(question, claim)
    reply = await send(
        task,
        Request(
            role=Role.VERIFIER,
            parts=(*looked.parts, TextPart(f"{asked}\n\n{instructions}")),
            prompt=prompts.VERIFY.name,
            system=prompts.VERIFY.system,
            schema=SCHEMA,
            max_tokens=task.settings.max_tokens,
            tags=RequestTags(question.recording, question.id or None),
        ),
    )
    if reply.status is Status.ERROR:
        return _Check(fault=reply.detail or "no reply", usage=counted(reply)), ()
    verdict = read_verdict(question, reply)
    evidence = _evidence(kept, looked, verdict)
    task.note(
        "verdict",
        verdict=verdict.model_dump(mode="json") if verdict else None,
        evidence=[e.model_dump(mode="json") for e in evidence],
    )
    return _Check(verdict, unread(reply), usage=counted(reply)), evidence


def _read(base: Answer) -> dict[str, JsonValue]:
    """The notes that a caption answer was read from, and the stretches of which it lacked any."""
    read = next((s for s in base.trace if isinstance(s, dict) and s.get("step") == "notes"), {})
    return {name: read[name] for name in ("track", "sources", "without") if read.get(name)}


def _evidence(
    looks: Sequence[FrameTimes], looked: ShownFrames, verdict: Verdict | None
) -> tuple[Evidence, ...]:
    """The frames that the verifier cites; where it cites none, the stretches that it was shown."""
    quote = verdict.reason if verdict else ""
    cited = looked.parse_evidence(list(verdict.cited)) if verdict else []
    if cited:
        return tuple(piece.model_copy(update={"quote": quote}) for piece in cited)
    recordings = {recording.id: recording for recording, _ in looked.images}
    return tuple(
        Evidence(recording=recording.id, span=span, quote=quote, when=recording.instant(span.start))
        for recording in recordings.values()
        for span in merged([one.span for one in looks if one.recording.id == recording.id])
    )


def _interval_step(one: FrameTimes) -> dict[str, JsonValue]:
    return {
        "recording": one.recording.id,
        "start": one.span.start,
        "end": one.span.end,
        "times": list(one.times),
    }


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
