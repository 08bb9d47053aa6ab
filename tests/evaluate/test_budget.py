"""A run keeps to its budget: it stops cleanly, what is finished stays, and it goes on."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from egomem.benchmarks import Benchmark
from egomem.errors import ConfigError
from egomem.evaluate import Config, RunSummary, load_run, opened, run
from egomem.evaluate.budget import BudgetExhausted, RunBudget
from egomem.memory import Store
from egomem.models import ModelSpec, Request, Role, TextPart, estimate_tokens
from egomem.models.prices import price
from egomem.records import Usage
from egomem.testing import Rule, Script, ScriptedServer

Go = Callable[..., RunSummary]

PRICED = "openai:gpt-4o-mini"


@pytest.fixture
def run_once(benchmark: Benchmark, tmp_path: Path) -> Callable[..., RunSummary]:
    """Run in one folder with limits: `held(config, budget=0.1)`."""

    def go(config: Config, **limits: Any) -> RunSummary:
        async def whole() -> RunSummary:
            keys = {"OPENAI_API_KEY": "sk-none"}
            folder = tmp_path / "run"
            async with opened(benchmark, config, folder, environ=keys, **limits) as work:
                return await run(work)

        return asyncio.run(whole())

    return go


def test_each_call_goes_on_and_nothing_is_asked_twice(
    run_once: Callable[..., RunSummary], config: Config, server: ScriptedServer, tmp_path: Path
) -> None:
    """4 windows and 25 requests of answers, some five at a time: captions first, then cells."""
    for most in (0, 3, 11, 28):
        outcome = run_once(config, max_requests=most)
        assert len(server.requests) == most
        assert outcome.halted == f"all of --max-requests {most} are sent"
        assert "raise --max-requests" in outcome.remedy
        assert (outcome.errors, outcome.faults) == (0, ())
        assert outcome.left == 20 - len(load_run(tmp_path / "run").cells) > 0
    last = run_once(config, max_requests=29)
    assert (last.halted, last.left, last.by_status) == ("", 0, {"parsed": 20})
    assert last.spent_in_all.requests == 29
    assert set(Counter((s.text, s.images) for s in server.requests).values()) == {1}


def test_captions_that_were_paid_for_are_kept(
    run_once: Callable[..., RunSummary], config: Config, server: ScriptedServer, tmp_path: Path
) -> None:
    only = config.model_copy(update={"settings": ("caption@2", "aligned@2"), "frames": 3})
    assert run_once(only, max_requests=3).halted
    with Store.open(tmp_path / "run" / "memory") as store:
        assert len(list(store.view().observations())) == 3
    assert not load_run(tmp_path / "run").cells
    # The fourth window, then the four of the aligned track, of which one is left.
    assert run_once(only, max_requests=7).halted
    with Store.open(tmp_path / "run" / "memory") as store:
        assert len(list(store.view().observations())) == 7
    assert run_once(only).by_status == {"parsed": 10}
    # Both tracks say the same here, so that one reply answers each question in both columns.
    assert len(server.requests) == 4 + 4 + 5


def test_the_gate_is_not_judged_before_stage_1_is_finished(
    run_once: Callable[..., RunSummary], config: Config
) -> None:
    """The reader of the fixture is always right: the gate would stop it."""
    stop = config.model_copy(update={"gate": "stop", "settings": ("clean", "video")})
    outcome = run_once(stop, max_requests=3)
    assert (outcome.gates, outcome.stopped) == ((), ())
    assert run_once(stop, max_requests=9).stopped == stop.readers


def test_money_is_held_to_and_used(
    run_once: Callable[..., RunSummary], config: Config, tmp_path: Path
) -> None:
    pytest.importorskip("genai_prices")
    with ScriptedServer(Script(delay=0.01, rules=(Rule(reply="B"),))) as server:
        spec = f"{PRICED}@{server.url}"
        only = config.model_copy(update={"readers": (spec,), "settings": ("clean", "video")})
        whole = run_once(only)
        cost = whole.spent.cost
        assert cost is not None
        assert whole.unpriced == 0
        each = cost / 10
    (tmp_path / "run").rename(tmp_path / "whole")
    with ScriptedServer(Script(delay=0.01, rules=(Rule(reply="B"),))) as server:
        spec = f"{PRICED}@{server.url}"
        again = only.model_copy(update={"readers": (spec,)})
        half = run_once(again, budget=cost / 2)
        assert half.halted
        assert half.spent.cost is not None
        assert 0 < half.spent.cost <= cost / 2
        sent = len(server.requests)
        same = run_once(again, budget=cost / 2)
        assert (same.asked, len(server.requests)) == (0, sent)
        assert f"(${half.spent.cost:.4f} spent)" in same.halted
        done = run_once(again, budget=cost + 4 * each)
        assert (done.halted, done.by_status) == ("", {"parsed": 10})
        assert len(server.requests) == 10
        assert done.spent_in_all.cost == pytest.approx(cost)


def test_a_guess_that_is_far_off_is_mended_by_the_first_reply(
    run_once: Callable[..., RunSummary], config: Config, tmp_path: Path
) -> None:
    """The server counts 300 tokens for a picture of 64 pixels, which we guess at four."""
    pytest.importorskip("genai_prices")
    with ScriptedServer(Script(delay=0.01, rules=(Rule(reply="B"),))) as server:
        only = config.model_copy(
            update={"readers": (f"{PRICED}@{server.url}",), "settings": ("video",)}
        )
        each = run_once(only, max_requests=1).spent.cost
        assert each is not None
        outcome = run_once(only, budget=3.5 * each)
        assert len(server.requests) == 3
        assert outcome.spent_in_all.cost == pytest.approx(3 * each, rel=0.05)
        assert outcome.spent_in_all.cost < 3.5 * each
        assert "would go over the budget" in outcome.halted


def test_a_budget_without_a_known_price_is_refused(
    run_once: Callable[..., RunSummary], config: Config, server: ScriptedServer
) -> None:
    with pytest.raises(ConfigError, match=r"no price is known for openai-compatible.*requests"):
        run_once(config, budget=5.0)
    assert not server.requests


def test_a_verifier_that_is_not_asked_needs_no_price(
    run_once: Callable[..., RunSummary], config: Config
) -> None:
    pytest.importorskip("genai_prices")
    with ScriptedServer(Script(rules=(Rule(reply="B"),))) as server:
        update = {"readers": (f"{PRICED}@{server.url}",), "verifier": "ollama:x"}
        clean = config.model_copy(update={**update, "settings": ("clean",)})
        assert run_once(clean, budget=1.0).by_status == {"parsed": 5}
        look = config.model_copy(update={**update, "settings": ("verify@2",)})
        with pytest.raises(ConfigError, match="no price is known for ollama:x"):
            run_once(look, budget=1.0)


def request(words: int) -> Request:
    return Request(role=Role.READER, parts=(TextPart("word " * words),), prompt="p@1")


def test_who_might_go_over_waits_for_what_is_under_way() -> None:
    """Two requests of 10,000 words fit in turn, as each costs less than it might; not at once."""
    pytest.importorskip("genai_prices")
    spec = ModelSpec.parse(PRICED)
    tokens = estimate_tokens(request(10_000))
    likely = price(spec, Usage(tokens_in=tokens, tokens_out=250))
    assert likely is not None
    purse = RunBudget(budget=1.5 * likely)
    order: list[str] = []

    async def send(name: str) -> None:
        async with purse.hold(request(10_000), spec):
            order.append(f"{name} begins")
            await asyncio.sleep(0)
            order.append(f"{name} ends")

    async def both() -> None:
        await asyncio.gather(send("a"), send("b"))

    asyncio.run(both())
    assert order == ["a begins", "a ends", "b begins", "b ends"]
    assert purse.closed is None

    async def dear() -> None:
        async with purse.hold(request(20_000), spec):
            order.append("never")

    with pytest.raises(BudgetExhausted, match="would go over the budget"):
        asyncio.run(dear())
    with pytest.raises(BudgetExhausted):  # and then nothing more is sent, however cheap
        asyncio.run(send("c"))
    assert len(order) == 4


def test_only_the_first_of_a_kind_goes_alone() -> None:
    """Its price mends the guess at the others'; these, and other kinds, go at once."""
    pytest.importorskip("genai_prices")
    reader, other = ModelSpec.parse(PRICED), ModelSpec.parse("openai:gpt-4o")
    purse = RunBudget(budget=5.0)
    order: list[str] = []

    async def send(name: str, spec: ModelSpec, turns: int) -> None:
        async with purse.hold(request(10), spec) as on_spent:
            order.append(f"{name} begins")
            for _ in range(turns):
                await asyncio.sleep(0)
            order.append(f"{name} ends")
            on_spent(Usage(requests=1, tokens_in=10, tokens_out=2, cost=0.00001))

    async def all_of_them() -> None:
        await asyncio.gather(
            send("a", reader, 5), send("x", other, 20), send("b", reader, 9), send("c", reader, 9)
        )

    asyncio.run(all_of_them())
    assert order == [
        "a begins", "x begins", "a ends", "b begins", "c begins", "b ends", "c ends", "x ends",
    ]  # fmt: skip


def test_retries_count_as_requests(run_once: Callable[..., RunSummary], config: Config) -> None:
    """Five answers, of which the server loses the first attempts at three."""
    rules = (Rule(status=503, retry_after=0.001, times=3), Rule(reply="B"))
    with ScriptedServer(Script(rules=rules)) as server:
        spec = f"openai-compatible:m@{server.url}"
        only = config.model_copy(update={"readers": (spec,), "settings": ("clean",)})
        outcome = run_once(only, max_requests=4)
        assert len(server.requests) == 4
        assert outcome.halted
        assert run_once(only, max_requests=8).by_status == {"parsed": 5}
        assert len(server.requests) == 8
        assert run_once(only, max_requests=8).spent_in_all.requests == 8


def test_replies_that_are_lost_count_towards_the_budget_by_an_estimate(
    run_once: Callable[..., RunSummary], config: Config
) -> None:
    pytest.importorskip("genai_prices")
    with ScriptedServer(Script(rules=(Rule(fault="drop"),))) as server:
        only = config.model_copy(
            update={"readers": (f"{PRICED}@{server.url}",), "settings": ("clean",)}
        )
        likely = price(ModelSpec.parse(PRICED), Usage(tokens_in=60, tokens_out=250))
        assert likely is not None
        outcome = run_once(only, budget=3.5 * likely)
        assert 1 <= len(server.requests) <= 3
        assert "estimated" in outcome.halted
        assert outcome.spent_in_all.cost is None
        sent = len(server.requests)
        assert run_once(only, budget=3.5 * likely).halted
        assert len(server.requests) <= sent + 1
