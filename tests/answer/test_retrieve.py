"""retrieve: what it sends, under which budget, and what it does where nothing is found."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

import egomem
from egomem.answer import answer
from egomem.memory import Store
from egomem.models import ModelClient, RequestPolicy
from egomem.records import Answer, Observation, Question, Recording, Status, Track
from egomem.testing import Rule, Script, ScriptedServer
from egomem.timeline import Clock, RecordingTime, Span

TRACK = Track(source="caption", observer="vlm", model="m", prompt="p@1", window=30.0)
LINES = [f"The wearer sorts box number {n} in the shed." for n in range(40)]
LINES[7] = "The wearer hangs the spare torch on a nail."
LINES[8] = "A goat looks over the hedge."
LINES[25] = "The torch lies on the wheelbarrow."


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "memory", create=True) as memory:
        start = datetime.fromisoformat("2026-04-07T09:00:00+02:00")
        memory.put_recording(
            Recording(id="shed", name="shed.mp4", duration=1200.0, clock=Clock(start), path="x")
        )
        memory.put_track(TRACK)
        memory.add(
            Observation(
                recording="shed",
                span=Span(30.0 * k, 30.0 * (k + 1)),
                text=text,
                source="caption",
                track=TRACK.id,
            )
            for k, text in enumerate(LINES)
        )
        yield memory


def ask(
    store: Store, script: str, question: Question, until: float | None = None, **settings: Any
) -> tuple[Answer, list[str]]:
    """The answer, and the texts that the reader was sent."""

    with ScriptedServer(Script(rules=(Rule(reply=script),))) as server:
        models = ModelClient(
            {"all": f"openai-compatible:fake@{server.url}"},
            policy=RequestPolicy(deadline=10, max_attempts=1),
            environ={},
        )
        moment = RecordingTime("shed", until) if until is not None else None
        reply = asyncio.run(
            answer(question, store.view(moment), "retrieve", settings=settings, models=models)
        )
        return reply, [request.text for request in server.requests]


def test_it_sends_the_moments_found_with_their_neighbours_in_order_of_time(store: Store) -> None:
    question = Question.of("Where did I leave the torch?", recording="shed")
    script = '{"answer": "on the wheelbarrow", "evidence": [5], "scores": {}}'
    reply, (text,) = ask(store, script, question, moments=2)
    lines = [line for line in text.splitlines() if line.startswith("[")]
    assert [n for n, text in enumerate(LINES) if any(text in line for line in lines)] == [
        6, 7, 8, 24, 25, 26,
    ]  # fmt: skip
    assert [line.split()[0] for line in lines] == [f"[{k}]" for k in range(1, 7)]
    assert (reply.text, reply.strategy) == ("on the wheelbarrow", "retrieve")
    (evidence,) = reply.evidence
    assert (evidence.quote, evidence.span) == (LINES[25], Span(750, 780))


def test_nothing_after_the_moment_of_the_question_is_sent(store: Store) -> None:
    question = Question.of("Where is the torch?", recording="shed")
    _, (text,) = ask(store, '{"answer": "on a nail", "evidence": [1]}', question, until=600.0)
    assert LINES[7] in text
    assert LINES[25] not in text


def test_the_notes_stay_within_the_budget_and_the_best_come_first(store: Store) -> None:
    question = Question.of("Who sorts boxes in the shed, near the torch?", recording="shed")
    reply, (text,) = ask(store, '{"answer": "I do", "evidence": [1]}', question, budget=200)
    (step,) = [step for step in reply.trace if step["step"] == "notes"]  # type: ignore[index,call-overload]
    assert 3 <= step["observations"] <= 9  # type: ignore[index,call-overload,operator]
    assert sum(line in text for line in LINES) == step["observations"]  # type: ignore[index,call-overload]
    assert any("torch" in line for line in LINES if line in text)


def test_where_nothing_speaks_for_the_question_no_model_is_asked(store: Store) -> None:
    question = Question.of("Which violin did the plumber tune?", recording="shed")
    reply, requests = ask(store, "{}", question)
    assert (reply.status, requests) == (Status.ABSTAINED, [])
    assert reply.reason == "nothing in the memory speaks for the question"


def test_it_is_what_a_reader_is_asked_by_unless_another_strategy_is_named(tmp_path: Path) -> None:
    with ScriptedServer(Script(rules=(Rule(reply='{"answer": "on a hook"}'),))) as server:
        models = {"reader": server.spec}
        with egomem.open(tmp_path / "m", create=True, models=models) as memory:
            assert memory.ask("Where is the rope?").strategy == "retrieve"
            assert memory.ask("Where is the rope?", strategy="caption").strategy == "caption"
    with egomem.open(tmp_path / "m") as memory:
        assert memory.ask("Where is the rope?").strategy == "extractive"
