import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.ingest.digests.conftest import caption, digests_in, remember

import egomem
from egomem.errors import ConfigError
from egomem.ingest.digests import DigestReport, build_digests, read_levels
from egomem.ingest.digests.record import statements_in
from egomem.ingest.digests.summarizer import ModelSummarizer
from egomem.memory import Store
from egomem.memory.replies import ReplyCache
from egomem.models import ModelClient
from egomem.testing import ReceivedRequest, Rule, Script, ScriptedServer

GOOD = {"statements": [{"text": "I chop onions on the board.", "notes": [1]}]}
WRONG = {"statements": [{"text": "I chop 5 leeks on the board.", "notes": [1]}]}


def server_of(*rules: Rule, answer: Callable[[ReceivedRequest], str | None] | None = None):
    return ScriptedServer(Script(rules=rules or (Rule(reply=json.dumps(GOOD)),)), answer=answer)


def write(
    store: Store, server: ScriptedServer, *, levels=("hour", "day"), **options
) -> DigestReport:
    cached = options.pop("cache", None)

    async def run() -> DigestReport:
        async with ModelClient({"summarizer": server.spec}, cache=cached) as models:
            return await build_digests(
                store, ModelSummarizer(models, **options), read_levels(levels)
            )

    return asyncio.run(run())


def test_a_model_writes_days_from_hours(store: Store) -> None:
    remember(store, "a", "2026-05-04T09:40:00+00:00", seconds=2400)
    with server_of() as server:
        report = write(store, server)
        texts = [request.text for request in server.requests]
    assert [(r.level, r.built, r.failed) for r in report.levels] == [("hour", 2, 0), ("day", 1, 0)]
    assert report.usage.requests == 3
    assert len(texts) == 3
    assert "[1] 09:40-09:42 I chop onions on the board, a (4 times)" in texts[0] + texts[1]
    # The day is told of the hours' statements.
    assert "notes of a day" in texts[2]
    assert "[2] 10:00-10:02 I chop onions on the board." in texts[2]
    digests = digests_in(store)
    assert {o.track for o in digests} == {
        f"digest/summary={server.spec}#digest-hour@1@3600s",
        f"digest/summary={server.spec}#digest-day@1@86400s~3600s",
    }
    assert all(o.provenance.request for o in digests)
    day = next(o for o in digests if o.data["level"] == "day")
    assert day.text.splitlines()[0] == "09:40-09:42 I chop onions on the board."
    # Evidence of a day is what its hours rest on.
    ids = {o.id for o in store.view().observations(sources=["caption"])}
    assert all(set(s.ids) <= ids and s.ids for s in statements_in(day))


def test_what_no_note_holds_is_asked_again(store: Store) -> None:
    remember(store, "a", "2026-05-04T09:00:00+00:00")
    with server_of(Rule(reply=json.dumps(WRONG), times=1), Rule(reply=json.dumps(GOOD))) as server:
        report = write(store, server, levels=["hour"])
        again = server.requests[1].text
    assert report.usage.requests == 2
    assert "“I chop 5 leeks on the board.”: no note holds “5”" in again
    (hour,) = digests_in(store)
    assert hour.text == "09:00-09:02 I chop onions on the board."
    assert report.levels[0].figures.unsupported == 0


def test_what_stays_wrong_is_marked_and_not_in_the_text(store: Store) -> None:
    remember(store, "a", "2026-05-04T09:00:00+00:00")
    both = {"statements": [*WRONG["statements"], *GOOD["statements"]]}
    with server_of(Rule(reply=json.dumps(both))) as server:
        report = write(store, server)
    hour, *_ = (o for o in digests_in(store) if o.data["level"] == "hour")
    assert "leeks" not in hour.text
    assert [s.problem for s in statements_in(hour)] == ["no note holds “5”", ""]
    assert report.levels[0].figures.unsupported == 1
    # It is not told on to the day.
    (day_notes, *_) = (r.text for r in server.requests if "notes of a day" in r.text)
    assert "onions" in day_notes
    assert "leeks" not in day_notes


def test_an_invented_note_number_is_no_source(store: Store) -> None:
    remember(store, "a", "2026-05-04T09:00:00+00:00")
    row = {"text": "I walk to the station.", "notes": [99, 0, -1]}
    with server_of(Rule(reply=json.dumps({"statements": [row]}))) as server:
        write(store, server, levels=["hour"])
    (hour,) = digests_in(store)
    assert [s.problem for s in statements_in(hour)] == ["it names no note that it rests on"]
    assert hour.text == ""


@pytest.mark.parametrize(
    ("rule", "fault"),
    [
        (Rule(status=400, error="no such thing"), "no digest: error: "),
        (Rule(reply='{"statements": [', finish="length"), "the reply was cut off at 4096 tokens"),
        (Rule(refusal="I will not"), "no digest: refused"),
        (Rule(reply="Dear diary, I chopped onions."), "no digest: unparsable"),
        (Rule(reply='{"statements": []}'), "no digest: the reply holds no statement"),
        (Rule(reply='{"statements": [{"text": "", "notes": [1]}]}'), "holds no statement"),
    ],
)
def test_a_failed_window_is_counted_and_the_next_call_tries_it_again(
    store: Store, rule: Rule, fault: str
) -> None:
    remember(store, "a", "2026-05-04T09:40:00+00:00", seconds=2400)
    bad = rule.model_copy(update={"when": "[1] 10:00"})
    with server_of(bad, Rule(reply=json.dumps(GOOD))) as server:
        report = write(store, server)
    assert [(r.level, r.built, r.failed, r.waiting) for r in report.levels] == [
        ("hour", 1, 1, 0),
        ("day", 0, 0, 1),
    ]
    assert len(report.faults) == 1
    assert fault in report.faults[0]
    with server_of() as server:
        spec = server.spec
        # Of another server the digests would be another track.
        moved = [o for o in digests_in(store) if spec in o.track]
        report = write(store, server)
    assert [r.built for r in report.levels] == [2 - len(moved), 1]


def test_a_second_call_asks_nothing(store: Store, tmp_path: Path) -> None:
    remember(store, "a", "2026-05-04T09:40:00+00:00", seconds=2400)
    with server_of() as server:
        write(store, server)
        asked = len(server.requests)
        report = write(store, server)
        assert len(server.requests) == asked
        assert [(r.built, r.current) for r in report.levels] == [(0, 2), (0, 1)]
        # What touches an hour is asked anew, with the day above it.
        store.add([caption("a", 10.0, "I sharpen the knife", length=2.0)])
        write(store, server)
        assert len(server.requests) == asked + 2


def test_replies_come_from_the_cache_until_forgotten(tmp_path: Path) -> None:
    folder = tmp_path / "memory"
    with Store.open(folder, create=True) as store, ReplyCache(folder) as cache:
        remember(store, "a", "2026-05-04T09:00:00+00:00")
        with server_of() as server:
            write(store, server, cache=cache, levels=["hour"])
            store.exchange([(o.n, o.id) for o in _keys(store)], [])
            write(store, server, cache=cache, levels=["hour"])
            assert len(server.requests) == 1
            store.add([caption("a", 10.0, "the pin is 8265", length=2.0)])
            assert cache.stats().replies == 1
            store.forget(match="8265")
            assert cache.stats().replies == 0


def _keys(store: Store):
    from egomem.memory.exchange import observation_keys

    return [key for key in observation_keys(store) if key.source == "digest"]


def test_long_notes_are_thinned_and_it_is_said(store: Store) -> None:
    store_lines = [f"I pass house {k} with {word} door" for k in range(200) for word in ("a red",)]
    remember(store, "a", "2026-05-04T09:00:00+00:00", seconds=30)
    store.add([caption("a", 10 + k, text, length=1.0) for k, text in enumerate(store_lines)])
    with server_of() as server:
        write(store, server, levels=["hour"], max_note_tokens=500)
        assert len(server.requests[0].text) < 8_000
    (hour,) = digests_in(store)
    assert hour.provenance.note is not None
    assert hour.provenance.note.endswith("of 201 notes, chosen by words")
    # Facts are of all notes, whatever the model was given.
    assert sum(f["kind"] == "number" for f in hour.data["facts"]) == 200  # type: ignore[union-attr,index,call-overload]


def test_a_budget_needs_a_price_and_holds(store: Store, tmp_path: Path) -> None:
    with server_of() as server:
        models = ModelClient({"summarizer": server.spec})
        with pytest.raises(ConfigError, match="no price is known"):
            ModelSummarizer(models, budget=1.0)
        asyncio.run(models.close())


def test_a_spent_budget_stops_and_keeps_what_is_there(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    from egomem.ingest.digests import summarizer

    monkeypatch.setattr(summarizer, "check_priced", lambda spec, instead: None)
    remember(store, "a", "2026-05-04T09:40:00+00:00", seconds=2400)
    with server_of() as server:
        report = write(store, server, budget=0.0)
        assert server.requests == []
    assert report.faults == ("the budget of $0.00 is spent ($0.00) (2 times)",)
    assert digests_in(store) == []


def test_memory_takes_the_model_of_the_role(tmp_path: Path) -> None:
    with server_of() as server:
        models = {"summarizer": server.spec}
        with egomem.open(tmp_path / "m", create=True, models=models) as memory:
            remember(memory.store, "a", "2026-05-04T09:00:00+00:00")
            assert memory.digest().usage.requests == 2
            assert memory.digest(summarizer="extractive").built == 2
            remember(memory.store, "b", "2026-05-05T09:00:00+00:00")
            # Without asking anybody, those of a model stay out of date and are told of.
            memory.keep_digests()
            assert memory.digest_notes() == ["digests: 2 missing; run: egomem digest"]
            assert len(server.requests) == 2
    with (
        egomem.open(tmp_path / "m") as memory,
        pytest.raises(ConfigError, match="role summarizer has no model"),
    ):
        memory.digest(summarizer="model")
