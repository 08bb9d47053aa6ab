"""Questions, answers and sheets in few words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from egomem.records import Answer, Evidence, Question, Status, Video
from egomem.score import ScoredAnswers, score_answers
from egomem.timeline import Span

Ask = Callable[..., Question]
Say = Callable[..., Answer]


@pytest.fixture
def ask() -> Ask:
    """`ask("q1", key="B", video="v", at=12.0)`: four options, evidence at a second or span."""

    def make(
        id: str = "q",
        key: str | None = "A",
        *,
        video: str | None = "v",
        options: Sequence[str] = ("one", "two", "three", "four"),
        at: float | tuple[float, float] | None = None,
        **fields: Any,
    ) -> Question:
        if at is not None:
            start, end = at if isinstance(at, tuple) else (at, at)
            fields["evidence"] = (Evidence(recording=video, span=Span(start, end)),)
        return Question.of(f"text of {id}", list(options), id=id, answer=key, recording=video,
                           **fields)  # fmt: skip

    return make


@pytest.fixture
def say() -> Say:
    """`say("B")` chose B; `say(status=Status.REFUSED)` chose nothing."""

    def make(choice: str | None = None, *, status: Status | None = None, **fields: Any) -> Answer:
        ended = status or (Status.PARSED if choice or fields.get("text") else Status.ABSTAINED)
        return Answer(**{"text": "", "strategy": "test", **fields, "choice": choice,
                         "status": ended})  # fmt: skip

    return make


@pytest.fixture
def graded(
    ask: Ask, say: Say
) -> Callable[[Sequence[tuple[str, float, str, str | None]]], ScoredAnswers]:
    """A sheet of `(video, seconds, key, choice)`: question k is `q<k>`."""

    def make(rows: Sequence[tuple[str, float, str, str | None]]) -> ScoredAnswers:
        questions = [ask(f"q{k}", key, video=video) for k, (video, _, key, _) in enumerate(rows)]
        answers = {f"q{k}": say(choice) for k, (*_, choice) in enumerate(rows)}
        videos = {v: Video(id=v, duration=seconds) for v, seconds, *_ in rows}
        return score_answers(questions, answers, videos=videos.values())

    return make
