# mypy: disable-error-code="import-not-found"
"""Tasks of lmms-eval: its models and logs with egomem's memory, prompts and scoring.

    export EGOMEM_DATA=questions.jsonl EGOMEM_MEMORY=my-memory
    lmms-eval --include_path "$(egomem eval lmms-tasks)" --tasks egomem_caption --model ...

The YAML files in `FOLDER` name the functions below; what a task asks, of which questions and which
memory, stands in the JSON file beside each (see `TaskConfig`). lmms-eval asks a model once for each
question, so a strategy that asks more often is refused. A strategy is run twice: with a stand-in
for the model, to see what it asks, and with the model's reply, to see what it answers.
"""

from __future__ import annotations

import asyncio
import atexit
import io
import math
import os
import threading
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import Field, JsonValue, ValidationError

from egomem.answer import FrameSource, get, settings_hash
from egomem.config import load_settings as load_settings
from egomem.errors import ConfigError, EgomemError, UsageError
from egomem.evaluate.predictions import prediction_row
from egomem.evaluate.versions import version
from egomem.integrations.harness import (
    BenchmarkSession,
    HarnessClient,
    read_benchmark,
    request_parts,
)
from egomem.media import Frame
from egomem.models import ImagePart, Reply, Request
from egomem.models.reply_parsing import parse_reply
from egomem.records import Answer, Question, Record, Status, Usage
from egomem.score import correctness
from egomem.score.scored_answers import has_key

FOLDER = Path(__file__).with_name("lmms_tasks")
"""What `--include_path` is given."""

DATA, FORMAT = "EGOMEM_DATA", "EGOMEM_DATA_FORMAT"

_FAILED = ("[LMMS_EVAL_REQUEST_FAILED", "[LMMS_EVAL_BUDGET_EXCEEDED")
"""How lmms-eval marks a request without a reply, in the place of the reply's text."""

_NOTHING = 'There is nothing to answer from. Reply with the word "none".'
"""Sent where a strategy asks nothing, as lmms-eval asks for every question; it is never read."""

Doc = Mapping[str, Any]


class TaskConfig(Record):
    """The one row of a task's JSON file.

    `data` (with `format`, where the rows do not show it) and `memory` are left out of the files
    that come with egomem: then EGOMEM_DATA, EGOMEM_DATA_FORMAT and EGOMEM_MEMORY say where.
    """

    strategy: str
    settings: dict[str, JsonValue] = Field(default_factory=dict)
    data: str | None = None
    format: str | None = None
    memory: str | None = None


def docs(dataset: Sequence[Doc]) -> Any:
    """lmms-eval's `process_docs`: the questions in the place of the JSON file's row."""
    from datasets import Dataset

    return Dataset.from_list(rows(dataset[0]))


def rows(place: Doc) -> list[dict[str, str]]:
    """A row for each question, or one row that holds a fault.

    lmms-eval retries whatever fails here five times and hides the reason. A fault that is raised at
    the first question instead is the last line that it prints.
    """
    given = {k: v for k, v in place.items() if v is not None}
    settings = {k: v for k, v in given.get("settings", {}).items() if v is not None}
    fields = ("id", "video", "target", "question", "place", "dropped")
    try:
        config = _task_config({**given, "settings": settings})
        benchmark = _run(config).asked.benchmark
    except EgomemError as fault:
        return [{**dict.fromkeys(fields, ""), "fault": str(fault)}]
    return [
        {
            "id": q.id,
            "video": q.recording or "",
            "target": q.answer or "",
            "question": q.model_dump_json(),
            "place": config,
            "fault": "",
            "dropped": "" if k else str(benchmark.left_out),
        }
        for k, q in enumerate(benchmark.questions)
    ]


def doc_to_text(doc: Doc, lmms_eval_specific_kwargs: Any = None) -> str:
    """All that is asked as one text, for models that take pictures apart from it."""
    request = _asked_of(doc)
    if request is None:
        return _NOTHING
    texts = [request.system]
    for pictures, parts in groupby(
        request_parts(request), lambda part: isinstance(part, ImagePart)
    ):
        if pictures:
            times = [part.label for part in parts if isinstance(part, ImagePart) and part.label]
            texts += [f"Frames of the recording, taken at {', '.join(times)}."] * bool(times)
        else:
            texts += [str(part) for part in parts]
    return "\n\n".join(text for text in texts if text)


def doc_to_visual(doc: Doc, lmms_eval_specific_kwargs: Any = None) -> list[Any]:
    """The frames in the order in which `doc_to_text` tells their times, as PIL images."""
    request = _asked_of(doc)
    return [] if request is None else [_picture(i) for i in request.images]


def doc_to_messages(doc: Doc, lmms_eval_specific_kwargs: Any = None) -> list[dict[str, Any]]:
    """The same as messages: each frame's time stands right before it."""
    request = _asked_of(doc)
    if request is None:
        return [{"role": "user", "content": [{"type": "text", "text": _NOTHING}]}]
    content: list[dict[str, Any]] = []
    for part in request_parts(request):
        text = part.label if isinstance(part, ImagePart) else part
        content += [{"type": "text", "text": text}] if text else []
        content += [{"type": "image", "url": _picture(part)}] if isinstance(part, ImagePart) else []
    system = {"role": "system", "content": [{"type": "text", "text": request.system}]}
    return [*([system] if request.system else []), {"role": "user", "content": content}]


def process_results(doc: Doc, results: Sequence[str | None]) -> dict[str, Any]:
    """One question's figures, and under `prediction` a row that `egomem score` reads.

    A question without a key counts in `n` and `n_unscored`; every other one in the accuracy,
    whatever became of its reply. Rows of the data that could not be read count with the first.
    """
    question = Question.model_validate_json(doc["question"])
    run = _run(doc["place"])
    answer, sent = run.answered(question, results[0] or "")
    keyed = has_key(question)
    cluster = {"video": question.recording or f"question {question.id}"}
    guess = {"guess": 1 / len(question.options)} if keyed and question.options else {}
    return {
        "accuracy": {**cluster, "score": correctness(question, answer)} if keyed else cluster,
        "chance": guess,
        "n": {"count": 1},
        "n_unscored": {"count": int(not keyed)},
        "n_dropped": {"count": int(doc["dropped"] or 0)},
        **{f"n_{status}": {"count": int(answer.status is status)} for status in Status},
        "prediction": prediction_row(question.id, answer),
        "request": {
            "prompt": sent.prompt if sent else "",
            "frames": len(sent.images) if sent else 0,
            "settings": run.settings_hash,
            "reason": answer.reason,
        },
    }


def accuracy(items: Iterable[Mapping[str, Any]]) -> float:
    """The mean over every question that has a key."""
    return _mean([i["score"] for i in items if "score" in i])


def guessing(items: Iterable[Mapping[str, float]]) -> float:
    """The accuracy of a guess: the mean over the questions with a key and options."""
    return _mean([i["guess"] for i in items if "guess" in i])


def count(items: Iterable[Mapping[str, int]]) -> int:
    return sum(i["count"] for i in items)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else math.nan


def about() -> dict[str, Any]:
    """What lmms-eval's results keep of where the questions and the memory came from."""
    return {
        "version": 1.0,
        "egomem": version(),
        "data": os.environ.get(DATA, ""),
        "memory": str(load_settings().memory),
    }


def __getattr__(name: str) -> Any:
    """`ABOUT`: a YAML file can name a value of a module, and cannot call a function."""
    if name == "ABOUT":
        return about()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class _OneReplyClient(HarnessClient):
    """In the model's place: the reply that is given, or a stand-in to see what is asked."""

    def __init__(self, strategy: str, reply: str | None = None) -> None:
        super().__init__()
        self.strategy = strategy
        self.reply = reply
        self.sent: Request | None = None

    async def pass_on(self, request: Request) -> Reply:
        # lmms-eval asks a model once for each question.
        if self.sent is not None:
            raise UsageError(
                f"strategy {self.strategy} asks more than once for a question, lmms-eval does not",
                "use clean, caption or video here, or egomem eval or inspect_ai for this strategy",
            )
        self.sent = request
        if self.reply is None:
            return Reply(status=Status.PARSED, text="A")
        # It marks a failed request in the reply's text, which would be read as an answer.
        if self.reply.startswith(_FAILED):
            return Reply(status=Status.ERROR, raw=self.reply, detail=self.reply)
        parsed = parse_reply(self.reply, "", None, request.schema)
        return Reply(
            status=parsed.status,
            text=parsed.text,
            raw=self.reply,
            data=parsed.data,
            detail=parsed.detail,
            usage=Usage(requests=1, frames=len(request.images)),
            frames=tuple(i.time for i in request.images if i.time is not None),
            attempts=1,
        )


class _ReplayedFrames:
    """Frames of the memory that remember their times: reading a reply needs no picture again."""

    def __init__(self, source: FrameSource) -> None:
        self._source = source
        self._times: dict[tuple[str, tuple[float, ...]], list[tuple[float, float]]] = {}

    def __call__(
        self, recording: str, times: Sequence[float], side: int | None = None
    ) -> Iterable[Frame]:
        times_read = []
        for frame in self._source(recording, times, side=side):
            times_read.append((frame.time, frame.requested))
            yield frame
        self._times[recording, tuple(times)] = times_read

    def blank(
        self, recording: str, times: Sequence[float], side: int | None = None
    ) -> Iterable[Frame]:
        pairs = self._times.get((recording, tuple(times)))
        if pairs is None:
            return self(recording, times, side)
        return [Frame(time, requested, np.zeros((1, 1, 3), np.uint8)) for time, requested in pairs]


class _StrategyRun:
    """A strategy over the questions and the memory of one place."""

    def __init__(self, place: TaskConfig) -> None:
        if not place.data:
            raise UsageError(
                "no questions are named", f"set {DATA}, or data in the task's JSON file"
            )
        strategy = get(place.strategy)
        if not strategy.roles:
            raise UsageError(
                f"strategy {place.strategy} asks no model", "run it with: egomem eval capmem"
            )
        self.settings_hash = settings_hash(place.strategy, strategy.configure(place.settings))
        self.place = place
        memory = None if strategy.blind else Path(place.memory or "")
        self.asked = BenchmarkSession.of(
            read_benchmark(place.data, place.format), memory, place.strategy
        )
        self._frames = _ReplayedFrames(self.asked.frames)

    def request(self, question: Question) -> Request | None:
        """What the strategy asks; None where it answers without a model."""
        model = _OneReplyClient(self.place.strategy)
        _wait(self._answer(question, model, self._frames))
        return model.sent

    def answered(self, question: Question, reply: str) -> tuple[Answer, Request | None]:
        """What the strategy makes of a reply, and the request (without its pictures)."""
        model = _OneReplyClient(self.place.strategy, reply)
        try:
            answer = _wait(self._answer(question, model, self._frames.blank))
        except EgomemError as fault:
            answer = Answer(
                text="",
                status=Status.ERROR,
                strategy=self.place.strategy,
                reason=str(fault),
            )
        return answer, model.sent

    async def _answer(
        self, question: Question, model: _OneReplyClient, frames: FrameSource
    ) -> Answer:
        place = self.place
        return await self.asked.answer(question, place.strategy, place.settings, model, frames)


def _task_config(row: Doc) -> str:
    """The configuration of a task as JSON: its row, and the environment for what the row lacks."""
    given = {
        "data": os.environ.get(DATA),
        "format": os.environ.get(FORMAT),
        "memory": str(load_settings().memory),
        **row,
    }
    try:
        return TaskConfig.model_validate(given).model_dump_json()
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(step) for step in first["loc"])
        raise ConfigError(f"the task's JSON file: {where}: {first['msg'].lower()}") from None


_lock = threading.Lock()


@lru_cache
def _opened(place: str) -> _StrategyRun:
    run = _StrategyRun(TaskConfig.model_validate_json(place))
    atexit.register(run.asked.close)
    return run


def _run(place: str) -> _StrategyRun:
    with _lock:
        return _opened(place)


@lru_cache
def _thread() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, thread_name_prefix="egomem")


def _wait(answer: Any) -> Any:
    """Wait for a coroutine in a thread of our own: the caller may be inside a running loop."""
    return _thread().submit(asyncio.run, answer).result()


def _asked_of(doc: Doc) -> Request | None:
    if doc["fault"]:
        raise UsageError(doc["fault"])
    return _run(doc["place"]).request(Question.model_validate_json(doc["question"]))


def _picture(image: ImagePart) -> Any:
    from PIL import Image as Pictures

    return Pictures.open(io.BytesIO(image.data)).convert("RGB")
