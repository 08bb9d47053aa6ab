"""Each fact of a strategy, changed once, asks again exactly what it touches: of every registered
strategy, and of strategies that another package installs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import BaseModel

import egomem
from egomem.answer import answer, get, strategies
from egomem.answer.strategy import STRATEGIES, ReaderSettings, Strategy, lineage
from egomem.benchmarks import Benchmark
from egomem.errors import ConfigError
from egomem.evaluate import Arm, Config, RunPlan, opened, plan
from egomem.evaluate.stored_run import Finished
from egomem.memory import Store
from egomem.records import (
    Answer,
    Evidence,
    Observation,
    Question,
    Recording,
    Source,
    Status,
    Track,
    Video,
)
from egomem.timeline import Span

READER = "openai-compatible:reader@http://127.0.0.1:1/v1"
STRICT = "openai-compatible:strict@http://127.0.0.1:1/v1"
FOREIGN = '''
from egomem.answer import ReaderSettings, Task, register
from egomem.records import Answer, Status


class Stills(ReaderSettings):
    contrast: float = 1.0
    frames: int = 8


class Sage(ReaderSettings):
    track: str | None = None
    depth: int = 2


PROMPT = "Look at these stills."


def nothing(name):
    return Answer(text="", status=Status.ABSTAINED, strategy=name)


@register("silent", ReaderSettings)
async def silent(task):
    """Declares nothing, and asks a reader."""
    return nothing("silent")


@register("stills", Stills, reads=("frames",), run_decides=("frames",), prompts=(PROMPT,))
async def stills(task):
    """Looks at frames, and declares its prompt."""
    return nothing("stills")


@register("sage", Sage, reads=("caption", "speech"), starts_from=("caption",),
          run_decides=("track",), prompts=("Think twice.",), version="1")
async def sage(task):
    """Starts from the caption answer, and declares a version."""
    return await task.memo("caption")


@register("echo")
async def echo(task):
    """Asks no model, and declares nothing."""
    return nothing("echo")
'''
POINTS = "\n".join(f"{name} = foreign" for name in ("silent", "stills", "sage", "echo"))
NAMES = [*STRATEGIES.builtin, "silent", "stills", "sage", "echo"]
SETTINGS = {"evidence-captions": "caption@evidence", "evidence-frames": "video@evidence"}
"""What an evaluation calls a strategy, where that is another name."""


@pytest.fixture(autouse=True)
def _foreign(install: Any) -> None:
    install("foreign", FOREIGN, STRATEGIES.group, POINTS)


class World:
    """Four questions about two recordings, all answered; and what a change asks again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.benchmark = Benchmark(
            name="tiny",
            format="native",
            videos=tuple(Video(id=f"v{k}", duration=4) for k in range(2)),
            questions=tuple(self.question(k) for k in range(4)),
        )
        settings = tuple(SETTINGS.get(name, name) for name in NAMES)
        self.config = Config(settings=settings, readers=(READER,), gate="report")
        with Store.open(folder / "memory", create=True) as store:
            for source in ("caption", "speech", "sound"):
                store.put_track(Track(source=source, observer="made", window=2.0, model="m"))
            for k in range(2):
                path = folder / f"v{k}.mp4"
                path.touch()
                store.put_recording(Recording(id=f"v{k}", name=f"v{k}", duration=4, path=str(path)))
        self.remember("caption", "v0", "A red drawer.")
        self.remember("caption", "v1", "A green drawer.")

    def question(self, k: int, text: str = "Which drawer?", option: str = "red") -> Question:
        return Question.of(
            f"{k}: {text}",
            [option, "green"],
            id=f"q{k}",
            recording=f"v{k % 2}",
            answer="A",
            evidence=(Evidence(recording=f"v{k % 2}", span=Span(0.5, 1.5)),),
        )

    def remember(self, source: Source, recording: str, text: str) -> None:
        with Store.open(self.folder / "memory") as store:
            track = next(t.id for t in store.tracks() if t.source == source)
            row = {"source": source, "track": track, "text": text}
            store.add([Observation(recording=recording, span=Span(0, 2), **row)])

    def asked_again(self) -> dict[str, set[str]]:
        """Strategy -> the questions that are asked again."""
        again: dict[str, set[str]] = {}

        async def look() -> None:
            async with opened(
                self.benchmark, self.config, self.folder / "run",
                memory=self.folder / "memory", environ={},
            ) as run:  # fmt: skip
                for arm in run.arms:
                    for question in run.questions:
                        before = run.record.stored.cells.get((question.id, arm))
                        if run.fingerprints.trial(question, arm).changed(before):
                            name = run.config.condition(arm).strategy
                            again.setdefault(name, set()).add(question.id)

        asyncio.run(look())
        return again

    def answer_all(self, choice: str = "A", only: str = "") -> None:
        """Store an answer to each question, as a run would; `only`: of one strategy."""

        async def store() -> None:
            async with opened(
                self.benchmark, self.config, self.folder / "run",
                memory=self.folder / "memory", environ={},
            ) as run:  # fmt: skip
                for arm in run.config.in_order(run.arms):
                    for question in run.questions:
                        if only in ("", run.config.condition(arm).strategy):
                            self._store(run, question, arm, choice)

        asyncio.run(store())

    def _store(self, run: Any, question: Question, arm: Arm, choice: str) -> None:
        answer = Answer(text="red", status=Status.PARSED, choice=choice, strategy="made")
        parts = run.fingerprints.trial(question, arm).parts
        done = Finished(question=question.id, arm=arm, parts=parts, answer=answer)
        run.record.add(done)

    def change(self, **fields: Any) -> None:
        self.config = self.config.model_copy(update=fields)


@pytest.fixture
def world(tmp_path: Path) -> World:
    new_world = World(tmp_path / "world")
    new_world.answer_all()
    assert new_world.asked_again() == {}
    return new_world


ALL = {f"q{k}" for k in range(4)}


def each(*, of: Callable[[Strategy], bool], questions: set[str] = ALL) -> dict[str, set[str]]:
    """The strategies that rest on one for which `of` holds, with the questions."""
    return {name: questions for name in NAMES if any(of(s) for s in lineage(name))}


@contextmanager
def other(name: str, **fields: Any) -> Iterator[None]:
    """A strategy as another release has it."""
    strategy = get(name)
    STRATEGIES.discard(name)
    STRATEGIES.add(name, replace(strategy, **fields), strategy.run.__module__)
    try:
        yield
    finally:
        STRATEGIES.discard(name)
        STRATEGIES.add(name, strategy, strategy.run.__module__)


def another(settings: type[BaseModel], field: str) -> Any:
    """A value that a setting does not have."""
    value = settings().model_dump()[field]
    kind = settings.model_fields[field].annotation
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return value + type(value)(1) if value >= 1 else value + 0.25
    if isinstance(value, tuple):
        return [*value, "screen_text"]
    return next((v for v in get_args(kind) if v != value and isinstance(v, str)), f"not {value}")


def test_every_strategy_is_in_the_contract() -> None:
    assert set(strategies()) <= {*NAMES, "whole"}


@pytest.mark.parametrize("name", NAMES)
def test_a_setting_asks_again_what_rests_on_it(name: str, world: World) -> None:
    strategy = get(name)
    free = [f for f in strategy.settings.model_fields if f not in strategy.run_decides]
    for field in free:
        value = another(strategy.settings, field)
        world.change(strategies={name: {field: value}})
        assert world.asked_again() == each(of=lambda s: s.name == name), field
    if free:
        world.change(strategies={})
        assert world.asked_again() == {}


def test_a_built_in_strategy_without_prompts_declares_its_version() -> None:
    strategies = [get(name) for name in STRATEGIES.builtin]
    assert [s.name for s in strategies if s.texts is None and not s.version] == []
    assert any(s.texts is None for s in strategies)


@pytest.mark.parametrize("name", NAMES)
def test_a_prompt_or_a_version_asks_again_what_rests_on_it(name: str, world: World) -> None:
    with other(name, texts=lambda question, settings: ["Another prompt."]):
        assert world.asked_again() == each(of=lambda s: s.name == name)
    with other(name, version="another"):
        assert world.asked_again() == each(of=lambda s: s.name == name)
    assert world.asked_again() == {}


@pytest.mark.parametrize(
    ("fields", "touched"),
    [
        ({"side": 128}, lambda s: s.may_look and s.looker == "reader"),
        ({"frames": 2}, lambda s: s.may_look and s.looker == "reader"),
        ({"fps": 2.0}, lambda s: "fps" in s.run_decides),
        ({"verifier": STRICT}, lambda s: "verifier" in s.roles),
        ({"format": "scores"}, lambda s: issubclass(s.settings, ReaderSettings)),
        ({"given_limits": {"verifier": {"side": 64}}}, lambda s: s.looker == "verifier"),
        ({"given_limits": {"captioner": {"side": 64}}}, lambda s: False),
        ({"gate_low": 0.2}, lambda s: False),
    ],
)  # fmt: skip
def test_what_the_run_decides_asks_again_who_gets_it(
    fields: dict[str, Any], touched: Callable[[Strategy], bool], world: World
) -> None:
    world.change(**fields)
    assert world.asked_again() == each(of=touched)


def test_another_reader_asks_all_that_ask_one(world: World) -> None:
    world.change(readers=("openai-compatible:other@http://127.0.0.1:1/v1",))
    assert world.asked_again() == each(of=lambda s: bool(s.roles))


def reads(source: Source) -> Callable[[Strategy], bool]:
    def read(strategy: Strategy) -> bool:
        sources = strategy.sources(strategy.configure())
        return sources is None or source in sources

    return read


@pytest.mark.parametrize("source", ["caption", "speech", "sound"])
def test_an_observation_asks_again_who_reads_it_about_its_recording(
    source: Source, world: World
) -> None:
    world.remember(source, "v1", "Something more.")
    assert world.asked_again() == each(of=reads(source), questions={"q1", "q3"})


def test_a_source_that_a_setting_adds_is_read_too(world: World) -> None:
    world.change(strategies={"caption": {"sources": ["caption", "speech"]}})
    world.answer_all()
    world.remember("speech", "v0", "Here it is.")
    again = world.asked_again()
    for name in ("caption", "verify", "sage"):
        assert again[name] == {"q0", "q2"}, name
    assert "evidence-captions" not in again


def test_another_answer_asks_again_what_starts_from_it(world: World) -> None:
    world.answer_all("B", only="caption")
    assert world.asked_again() == {"verify": ALL, "sage": ALL}


def test_a_question_or_an_option_asks_again_that_question(world: World) -> None:
    for changed in (world.question(2, text="Which shelf?"), world.question(2, option="blue")):
        questions = list(world.benchmark.questions)
        questions[2] = changed
        world.benchmark = world.benchmark.model_copy(update={"questions": tuple(questions)})
        assert world.asked_again() == {name: {"q2"} for name in NAMES}


def test_where_the_evidence_lies_asks_again_the_oracles_and_the_key_nobody(world: World) -> None:
    first, *rest = world.benchmark.questions
    first = first.model_copy(update={"answer": "B", "tags": {"visual": ["Text"]}})
    world.benchmark = world.benchmark.model_copy(update={"questions": (first, *rest)})
    assert world.asked_again() == {}
    moved = (Evidence(recording="v0", span=Span(2.5, 3.5)),)
    first = first.model_copy(update={"evidence": moved})
    world.benchmark = world.benchmark.model_copy(update={"questions": (first, *rest)})
    assert world.asked_again() == each(of=lambda s: s.oracle, questions={"q0"})


def test_a_release_of_a_foreign_package_asks_again_those_that_do_not_say_their_version(
    install: Any, world: World
) -> None:
    def release(text: str, version: str) -> set[str]:
        install("foreign", text, STRATEGIES.group, POINTS, version)
        return set(world.asked_again())

    assert release(FOREIGN, "1.0") == set()
    # Nothing but the package's number.
    assert release(FOREIGN, "1.1") == {"silent", "stills", "echo"}
    # A line of code under the same number: only who declares neither prompts nor a version.
    assert release(f"{FOREIGN}\nMORE = 1\n", "1.0") == {"silent", "echo"}
    # A prompt that is declared.
    changed = FOREIGN.replace("Look at these stills.", "Look well at these stills.")
    assert release(changed, "1.0") == {"silent", "stills", "echo"}
    changed = FOREIGN.replace("Think twice.", "Think thrice.")
    assert release(changed, "1.0") == {"silent", "sage", "echo"}


def test_a_plan_counts_the_frames_of_foreign_strategies(world: World) -> None:
    """Of one that declares frames, and of one that does not say what it reads."""
    world.benchmark = world.benchmark.model_copy(
        update={"questions": tuple(world.question(k, text="Which door?") for k in range(4))}
    )

    async def planned() -> RunPlan:
        async with opened(
            world.benchmark, world.config, world.folder / "run",
            memory=world.folder / "memory", environ={},
        ) as run:  # fmt: skip
            return plan(run)

    estimate = asyncio.run(planned())
    frames = {line.label.partition(" ")[0]: line.frames for line in estimate.columns}
    assert {name: frames[name] for name in ("stills", "silent", "sage", "echo", "video")} == {
        "stills": 16, "silent": 16, "sage": 0, "echo": 0, "video": 16,
    }  # fmt: skip
    assert any(note.startswith("silent: does not declare what it reads") for note in estimate.notes)


def test_compare_asks_the_foreign_strategies_that_can_run_and_no_oracle(world: World) -> None:
    with egomem.open(world.folder / "memory") as memory:
        results = memory.compare("Which drawer?", options=["red", "green"])
    assert [result.strategy for result in results] == ["extractive", "echo"]
    assert not any(result.failed for result in results)


def test_an_answer_that_is_not_declared_cannot_be_started_from(world: World) -> None:
    with other("sage", starts_from=()), Store.open(world.folder / "memory") as store:
        question = world.benchmark.questions[0]
        with pytest.raises(ConfigError, match=r'register it with starts_from=\("caption",\)'):
            asyncio.run(answer(question, store.view(), "sage"))
