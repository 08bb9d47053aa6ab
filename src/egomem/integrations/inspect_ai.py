# mypy: disable-error-code="import-not-found, untyped-decorator"
"""A task of inspect_ai: its models, logs and viewer with egomem's memory and strategies.

    inspect eval egomem/memory_qa -T data=questions.jsonl -T memory=my-memory --model openai/gpt-5

inspect_ai asks the model (and caches, limits and logs the requests); the strategy decides what is
asked. Registered by the entry point `egomem` of the group `inspect_ai`.
"""

from __future__ import annotations

import atexit
import base64
from collections import Counter
from pathlib import Path
from typing import Any

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import (
    ChatMessage,
    ChatMessageSystem,
    ChatMessageUser,
    Content,
    ContentImage,
    ContentText,
    GenerateConfig,
    get_model,
)
from inspect_ai.scorer import (
    CORRECT,
    INCORRECT,
    Metric,
    SampleScore,
    Score,
    Scorer,
    Target,
    Value,
    accuracy,
    metric,
    scorer,
    stderr,
)
from inspect_ai.solver import Generate, Solver, TaskState, solver

from egomem.integrations.harness import (
    BenchmarkSession,
    HarnessClient,
    read_benchmark,
    request_parts,
)
from egomem.models import Reply, Request
from egomem.models.reply_parsing import parse_reply
from egomem.records import Answer, Question, Status, Usage
from egomem.score import correctness
from egomem.score.scored_answers import has_key

_FINISHES = {"max_tokens": "length", "model_length": "length", "stop": "stop"}
"""inspect_ai's stop reasons in the words of OpenAI's protocol; the others are left as they are."""


@task
def memory_qa(
    data: str,
    memory: str = "",
    strategy: str = "caption",
    format: str | None = None,
    settings: dict[str, Any] | None = None,
) -> Task:
    """The questions of a benchmark in any format that egomem reads, asked of a memory.

    `data` may be "demo"; `memory` can be left out for the strategy `clean` alone. Questions without
    a key are not asked; how many, and how many rows could not be read, stands in the metadata.
    `settings` are the strategy's: `-T settings='{"format": "letter", "abstain": false}'`.
    """
    benchmark = read_benchmark(data, format)
    asked = BenchmarkSession.of(benchmark, Path(memory) if memory else None, strategy)
    atexit.register(asked.close)
    keyed = [q for q in benchmark.questions if has_key(q)]
    samples = [
        Sample(
            id=q.id,
            input=q.text,
            choices=[o.text for o in q.options] or None,
            target=q.answer or "",
            metadata={
                "question": q.model_dump(mode="json"),
                "video": q.recording or f"question {q.id}",
            },
        )
        for q in keyed
    ]
    return Task(
        dataset=MemoryDataset(samples, name=benchmark.name),
        solver=memory_strategy(asked, strategy, settings or {}),
        scorer=right(),
        metadata={
            "dropped_questions": benchmark.left_out,
            "unscored_questions": len(benchmark.questions) - len(keyed),
        },
    )


@solver
def memory_strategy(asked: BenchmarkSession, strategy: str, settings: dict[str, Any]) -> Solver:
    """Answer with a strategy; the whole answer with its trace goes into the sample's metadata."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        question = Question.model_validate(state.metadata["question"])
        answer = await asked.answer(question, strategy, settings, InspectClient())
        state.output.completion = answer.choice or answer.text
        state.metadata["answer"] = answer.model_dump(mode="json")
        state.completed = True
        return state

    return solve


@metric
def statuses() -> Metric:
    """How many answers ended in each status."""

    def counted(scores: list[SampleScore]) -> Value:
        counts = Counter((s.score.metadata or {}).get("status") for s in scores)
        return {f"n_{status}": counts[status.value] for status in Status}

    return counted


@scorer(metrics=[accuracy(), stderr(cluster="video"), statuses()])
def right() -> Scorer:
    """Strict accuracy: an abstention or an unreadable reply is not right; its status is recorded.

    The standard error is clustered by video.
    """

    async def score(state: TaskState, target: Target) -> Score:
        question = Question.model_validate(state.metadata["question"])
        answer = Answer.model_validate(state.metadata["answer"])
        return Score(
            value=CORRECT if correctness(question, answer) >= 0.5 else INCORRECT,
            answer=answer.choice or answer.text,
            explanation=answer.reason,
            metadata={"status": answer.status.value, "strategy": answer.strategy},
        )

    return score


class InspectClient(HarnessClient):
    """The model that inspect_ai runs the task with."""

    async def pass_on(self, request: Request) -> Reply:
        model = get_model()
        config = GenerateConfig(
            temperature=request.temperature, max_tokens=request.max_tokens, seed=request.seed
        )
        output = await model.generate(messages(request), config=config)
        if output.error:
            return Reply(status=Status.ERROR, detail=output.error, model=output.model)
        reason = output.stop_reason
        parsed = parse_reply(output.completion, "", _FINISHES.get(reason, reason), request.schema)
        usage = output.usage
        return Reply(
            status=parsed.status,
            text=parsed.text,
            raw=output.completion,
            data=parsed.data,
            detail=parsed.detail,
            finish=reason,
            model=output.model,
            usage=Usage(
                requests=1,
                tokens_in=usage.input_tokens if usage else 0,
                tokens_out=usage.output_tokens if usage else 0,
                frames=len(request.images),
                seconds=output.time or 0.0,
            ),
            frames=tuple(i.time for i in request.images if i.time is not None),
            attempts=1,
        )


def messages(request: Request) -> list[ChatMessage]:
    """A request as messages of inspect_ai, each frame after its time."""
    content: list[Content] = []
    for part in request_parts(request):
        text = part if isinstance(part, str) else part.label
        content += [ContentText(text=text)] if text else []
        if not isinstance(part, str):
            data = base64.b64encode(part.data).decode()
            content.append(ContentImage(image=f"data:image/jpeg;base64,{data}"))
    system: list[ChatMessage] = [ChatMessageSystem(content=request.system)]
    return [*(system if request.system else []), ChatMessageUser(content=content)]
