"""Asking a reader one question, and reading its reply into an Answer.

All strategies that ask a model share this: how the reply is wanted, ordered scores over the options
(JSON or log-probabilities; the wanted form is our reconstruction, see methods B.5), and statuses.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from pydantic import JsonValue

from egomem.answer import prompts
from egomem.answer.choice import ChoiceReading, open_answer_status, read_choice
from egomem.answer.prompts import Prompt
from egomem.answer.reply_fields import listed_evidence, reply_fields, without_evidence_line
from egomem.answer.strategy import ReaderSettings, Task
from egomem.errors import ConfigError
from egomem.models import (
    ContentPart,
    ModelClient,
    Reply,
    Request,
    RequestTags,
    Role,
    TextPart,
    TokenLogprob,
    estimate_tokens,
)
from egomem.observe.frame_encoding import check_frame_labels
from egomem.records import Answer, Evidence, Question, Status, Usage

ParseEvidence = Callable[[JsonValue], Sequence[Evidence]]
"""From what a reply lists as evidence to the moments meant; what cannot be placed is left out."""

_ALTERNATIVES = 20
"""Log-probabilities asked for: the most that OpenAI's protocol gives."""


def models_of(task: Task[Any]) -> ModelClient:
    if task.models is None:
        raise ConfigError(
            "this strategy asks a model, and none is set",
            "give one, for example --model reader=ollama:qwen3-vl:8b, or use --strategy extractive",
        )
    return task.models


async def ask_reader(
    task: Task[Any],
    settings: ReaderSettings,
    prompt: Prompt,
    context: Sequence[ContentPart],
    *,
    evidence: str = "",
    parse_evidence: ParseEvidence = lambda listed: (),
    strategy: str,
) -> Answer:
    """One request to the reader: `context` first, then the question. One reply, one Answer.

    `evidence` tells the reader what to list as evidence, unless its settings ask for none;
    `parse_evidence` reads that list.
    """
    question = task.question
    evidence = evidence if settings.cite else ""
    instructions = prompts.how_to_answer(
        question, format=settings.format, abstain=settings.abstain, evidence=evidence
    )
    schema = None
    if settings.format == "scores" or not question.options:
        schema = schema_for(question, abstain=settings.abstain, evidence=bool(evidence))
    request = Request(
        role=Role.READER,
        parts=(*context, TextPart(f"{prompts.asked(question, task.view.until)}\n\n{instructions}")),
        prompt=prompt.name,
        system=prompt.system,
        schema=schema,
        max_tokens=settings.max_tokens,
        logprobs=_ALTERNATIVES if settings.format == "logprobs" and question.options else 0,
        tags=RequestTags(question.recording, question.id or None),
    )
    reply = await send(task, request)
    return read_reply(question, reply, strategy=strategy, parse_evidence=parse_evidence)


async def send(task: Task[Any], request: Request) -> Reply:
    """Ask, within the task's budget, and note in the trace what was asked and came back."""
    over = over_budget(task, request)
    if over:
        reply = Reply(status=Status.ERROR, detail=over)
    else:
        reply = await models_of(task).ask(check_frame_labels(request))
    task.note(
        "asked",
        role=request.role.value,
        prompt=request.prompt,
        status=reply.status.value,
        model=reply.model,
        key=reply.key,
        cached=reply.cached,
        frames=list(reply.frames),
        dropped=reply.dropped,
        usage=reply.usage.model_dump(mode="json"),
        raw=reply.raw,
        finish=reply.finish,
        detail=reply.detail,
        **_more(task.question, reply),
    )
    return reply


def _more(question: Question, reply: Reply) -> dict[str, JsonValue]:
    """What else an answer was read from, so that a trace holds all that reading it again takes."""
    extra: dict[str, JsonValue] = {}
    if reply.version:
        extra["server_version"] = reply.version
    if reply.source == "reasoning":
        extra["reasoning"] = reply.text
    if (token := label_token(question, reply.logprobs)) is not None:
        extra["logprobs"] = [token.model_dump(mode="json")]
    return extra


def over_budget(task: Task[Any], request: Request) -> str:
    """Why a request would go over the task's budget; "" where it does not."""
    budget = task.budget
    spent = Usage()
    for step in task.trace:
        if isinstance(step, dict) and step.get("step") == "asked":
            spent += Usage.model_validate(step["usage"]) + Usage(requests=1)
    if budget.requests is not None and spent.requests + 1 > budget.requests:
        return f"the budget of {budget.requests} requests for this question is used up"
    if budget.frames is not None and spent.frames + len(request.images) > budget.frames:
        return f"{len(request.images)} frames more would go over the budget of {budget.frames}"
    if budget.cost is not None and (spent.cost or 0.0) >= budget.cost:
        return f"the budget of ${budget.cost:.2f} for this question is spent"
    tokens = estimate_tokens(request)
    if budget.tokens is not None and spent.tokens_in + spent.tokens_out + tokens > budget.tokens:
        return f"about {tokens} tokens more would go over the budget of {budget.tokens}"
    return ""


def schema_for(question: Question, *, abstain: bool, evidence: bool) -> dict[str, JsonValue]:
    """The JSON schema of a reply with scores, or of an open answer."""
    labels: list[JsonValue] = [o.label for o in question.options]
    kinds: JsonValue = ["string", "null"] if abstain else "string"
    answer: dict[str, JsonValue] = {"type": kinds}
    if labels:
        answer["enum"] = [*labels, None] if abstain else labels
    properties: dict[str, JsonValue] = {"answer": answer}
    if labels:
        number: dict[str, JsonValue] = {"type": "number", "minimum": 0, "maximum": 1}
        properties["scores"] = {
            "type": ["object", "null"],
            "properties": {str(label): number for label in labels},
            "required": labels,
            "additionalProperties": False,
        }
    if evidence:
        properties["evidence"] = {
            "type": ["array", "null"],
            "items": {"type": ["integer", "string"]},
        }
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def read_reply(
    question: Question,
    reply: Reply,
    *,
    strategy: str,
    parse_evidence: ParseEvidence = lambda listed: (),
) -> Answer:
    """An Answer out of a reply, whatever its status.

    A reply that does not fit the schema is still read as text: a letter is a letter.
    """
    fields: dict[str, Any] = {"strategy": strategy, "usage": counted(reply)}
    if reply.status not in (Status.PARSED, Status.UNPARSABLE) or not reply.text:
        return Answer(text="", status=reply.status, reason=reply.detail, **fields)
    data = reply_fields(reply)
    fields["evidence"] = tuple(parse_evidence(listed_evidence(data, reply.text)))
    if question.options:
        return _chosen(question, reply, fields)
    text = data.get("answer") if data else without_evidence_line(reply.text)
    if "answer" in data and text is None:
        return Answer(text="", status=Status.ABSTAINED, reason="the reader abstained", **fields)
    text = str(text if text is not None else "").strip()
    status = open_answer_status(text)
    if status is not Status.PARSED:
        reason = _REASONS.get(status, reply.detail or status.value)
        return Answer(text="", status=status, reason=reason, **fields)
    if reply.status is Status.UNPARSABLE:
        fields["reason"] = f"read as it stands: {reply.detail}"
    return Answer(text=text, status=Status.PARSED, **fields)


_REASONS = {
    Status.ABSTAINED: "the reader abstained",
    Status.REFUSED: "the reader refused",
    Status.UNPARSABLE: "no answer could be read from the reply",
}


def _chosen(question: Question, reply: Reply, fields: dict[str, Any]) -> Answer:
    reading = read_choice(without_evidence_line(reply.text), question.options)
    scores = dict(reading.scores) or token_scores(question, reply.logprobs) or ordered(reading)
    fields["scores"] = {o.label: scores[o.label] for o in question.options if o.label in scores}
    if reading.letter is None:
        reasons = {**_REASONS, Status.UNPARSABLE: "no choice could be read from the reply"}
        reason = reasons.get(reading.status, reply.detail or reading.status.value)
        return Answer(text="", status=reading.status, reason=reason, **fields)
    text = next(o.text for o in question.options if o.label == reading.letter)
    return Answer(text=text, status=Status.PARSED, choice=reading.letter, **fields)


def ordered(reading: ChoiceReading) -> dict[str, float]:
    """Scores that keep a reply's order: a lone letter has 1, the k-th of n in a ranking 1 - k/n."""
    count = len(reading.ranking)
    return {label: 1 - k / count for k, label in enumerate(reading.ranking)}


def token_scores(question: Question, tokens: Sequence[TokenLogprob] | None) -> dict[str, float]:
    """Each option's probability at the first token that is a label, among the labels; or {}.

    Labels that the server did not list there get nothing: they share the last place.
    """
    token = label_token(question, tokens)
    if token is None:
        return {}
    labels = {o.label for o in question.options}
    weights: dict[str, float] = {}
    for text, logprob in {token.token: token.logprob, **token.top}.items():
        if _bare(text) in labels:
            weights[_bare(text)] = weights.get(_bare(text), 0.0) + math.exp(logprob)
    total = sum(weights.values())
    return {label: weight / total for label, weight in weights.items()} if total else {}


def label_token(question: Question, tokens: Sequence[TokenLogprob] | None) -> TokenLogprob | None:
    """The first token that is a label."""
    labels = {o.label for o in question.options}
    return next((t for t in tokens or () if _bare(t.token) in labels), None)


def _bare(token: str) -> str:
    return token.strip(" \n\t()[].:*\"'")


def counted(reply: Reply) -> Usage:
    """What a reply cost; one from the cache costs nothing, and counts as no request."""
    if reply.cached:
        return Usage()
    return reply.usage.model_copy(update={"requests": max(1, reply.usage.requests)})


def option_text(question: Question, label: str | None) -> str:
    return next((o.text for o in question.options if o.label == label), "")
