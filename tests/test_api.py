import asyncio
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

import egomem
from egomem.errors import LockedError, MediaError, TimeError, UsageError
from egomem.memory import Store
from egomem.memory.replies import ReplyCache
from egomem.models import ModelClient
from egomem.records import Observation, Recording, Track
from egomem.testing import Script, ScriptedServer
from egomem.timeline import Clock, RecordingTime, Span

MakeVideo = Callable[..., Path]
ZONE = timezone(timedelta(hours=1))
BEGAN = datetime(2026, 3, 2, 8, 10, tzinfo=ZONE)
TRACK = Track(source="caption", observer="hand", window=30)


def caption(recording: str, start: float, text: str) -> Observation:
    return Observation(
        recording=recording,
        span=Span(start, start + 30),
        text=text,
        source="caption",
        track=TRACK.id,
    )


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[egomem.Memory]:
    with egomem.open(tmp_path / "memory") as opened:
        store = opened.store
        store.put_track(TRACK)
        for id, minutes in (("kitchen", 0), ("garden", 30)):
            clock = Clock(BEGAN + timedelta(minutes=minutes))
            store.put_recording(Recording(id=id, name=f"{id}.mp4", duration=120, clock=clock))
        store.put_recording(Recording(id="attic", name="attic.mp4", duration=60))
        store.add(
            [
                caption("kitchen", 0, "I put the red cup on the shelf"),
                caption("kitchen", 30, "I wash the dishes in the sink"),
                caption("garden", 0, "I water the roses with a green can"),
                caption("attic", 0, "I open an old suitcase full of letters"),
            ]
        )
        yield opened


def test_search_finds_the_moment_with_its_time(memory: egomem.Memory) -> None:
    (hit, *_) = memory.search("red cup", k=3)
    assert (hit.recording, hit.span, hit.when) == ("kitchen", Span(0, 30), BEGAN)
    assert hit.observations[0].text == "I put the red cup on the shelf"
    assert hit.parts


def test_ask_answers_with_evidence_or_abstains(memory: egomem.Memory) -> None:
    answer = memory.ask("Where did I put the red cup?")
    assert not answer.abstained
    assert answer.evidence[0].recording == "kitchen"
    assert "shelf" in answer.evidence[0].quote
    assert answer.evidence[0].when == BEGAN
    assert memory.ask("Where did I leave my umbrella?").abstained


def test_ask_chooses_an_option(memory: egomem.Memory) -> None:
    answer = memory.ask("What did I water?", options=["the tomatoes", "the roses", "the lawn"])
    assert answer.choice == "B"
    assert max(answer.scores, key=lambda label: answer.scores[label]) == "B"
    assert set(answer.scores) == {"A", "B", "C"}


@pytest.mark.parametrize(
    ("at", "texts"),
    [
        (BEGAN + timedelta(seconds=45), {"kitchen"}),
        ("2026-03-02 08:30", {"kitchen"}),
        ("kitchen.mp4 0:45", {"kitchen"}),
        (RecordingTime("attic", 60), {"attic"}),
        (None, {"kitchen", "garden", "attic"}),
    ],
)
def test_until_sees_the_past_and_nothing_else(
    memory: egomem.Memory, at: datetime | str | RecordingTime | None, texts: set[str]
) -> None:
    assert {o.recording for o in memory.until(at).observations()} == texts


def test_nothing_after_the_questions_time_is_used(memory: egomem.Memory) -> None:
    assert memory.ask("What did I water?", at="2026-03-02 08:30").abstained
    assert not memory.search("roses", at="2026-03-02 08:30")


def test_a_time_that_cannot_be_read_is_said(memory: egomem.Memory) -> None:
    with pytest.raises(TimeError):
        memory.until("the day after never")


def test_the_async_twins_give_the_same(memory: egomem.Memory) -> None:
    async def both() -> tuple[list[egomem.Hit], egomem.Answer, egomem.Answer]:
        # the plain call works inside a running loop, too, as in a notebook
        return (
            await memory.asearch("red cup"),
            await memory.aask("Where did I put the red cup?"),
            memory.ask("Where did I put the red cup?"),
        )

    hits, awaited, plain = asyncio.run(both())
    assert hits == memory.search("red cup")
    assert awaited.text == plain.text


@pytest.mark.parametrize(("question", "options"), [("", ()), ("  ", ()), ("x?", ("a", ""))])
def test_a_question_or_option_without_text_is_a_usage_error(
    memory: egomem.Memory, question: str, options: tuple[str, ...]
) -> None:
    with pytest.raises(UsageError, match="empty"):
        memory.ask(question, options=options)
    with pytest.raises(UsageError, match="empty"):
        memory.compare(question, options=options)


def test_frames_of_a_file_that_was_put_in_the_place_of_another_are_refused(
    memory: egomem.Memory, make_video: MakeVideo
) -> None:
    path = make_video("day.mp4")
    recording = Recording(
        id="day", name="day.mp4", path=str(path), duration=4, facts={"bytes": path.stat().st_size}
    )
    memory.store.put_recording(recording)
    assert [f.time for f in memory._frames("day", [1.0])] == [1.0]
    make_video("day.mp4", seconds=9)
    with pytest.raises(MediaError, match="not the file that was remembered"):
        memory._frames("day", [1.0])


def test_an_unknown_strategy_is_a_usage_error(memory: egomem.Memory) -> None:
    with pytest.raises(UsageError, match="no strategy named guess"):
        memory.ask("what?", strategy="guess")


def test_the_summary_counts_and_names_gaps(memory: egomem.Memory) -> None:
    summary = memory.summary()
    assert [r.name for r in summary.recordings] == ["kitchen.mp4", "garden.mp4", "attic.mp4"]
    assert summary.hours == pytest.approx(300 / 3600)
    assert summary.observations == {"caption": 4}
    assert len(summary.gaps) == 1
    assert "28:00" in summary.gaps[0]


def test_opening_where_nothing_is(tmp_path: Path) -> None:
    with pytest.raises(egomem.EgomemError, match="there is no memory at"):
        egomem.open(tmp_path / "nothing", create=False)


def test_closing_a_memory_closes_its_record_and_its_replies(tmp_path: Path) -> None:
    with ScriptedServer(Script()) as server:
        memory = egomem.open(tmp_path / "m", models={"reader": server.spec})
        assert memory.models is not None
        assert isinstance(memory.models.cache, ReplyCache)
        memory.close()
        memory.close()
    with pytest.raises(UsageError, match="closed"):
        memory.store.connection.select("SELECT 1")
    with pytest.raises(UsageError, match="closed"):
        memory.models.cache.stats()


def test_a_memory_whose_index_cannot_be_brought_up_to_date_is_closed_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = egomem.open(tmp_path / "m")
    memory.store.put_recording(Recording(id="attic", name="attic.mp4", duration=60))
    memory.store.add([caption("attic", 0, "a suitcase")])

    def locked(store: Store) -> None:
        raise LockedError("another program writes")

    monkeypatch.setattr(Store, "flush", locked)
    with pytest.raises(LockedError):
        memory.close()
    with pytest.raises(UsageError, match="closed"):
        memory.store.recordings()


def test_each_ingest_has_its_own_cost_and_keeps_its_connections_to_its_end(
    tmp_path: Path, make_video: MakeVideo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("egomem.ingest.observer_set.DEFAULT_OBSERVERS", ())
    monkeypatch.setenv("EGOMEM_CONCURRENCY", "1")  # or the requests overlap, and hold them open
    closed = []
    close = ModelClient.close

    async def counted(models: ModelClient) -> None:
        closed.append(1)
        await close(models)

    monkeypatch.setattr(ModelClient, "close", counted)
    with ScriptedServer(Script()) as server:
        spec = f"openai-compatible:fake@{server.url}"
        with egomem.open(tmp_path / "m", models={"captioner": spec}) as opened:
            first = opened.ingest(make_video("a.mp4", seconds=6), window=2)
            second = opened.ingest(make_video("b.mp4", seconds=4, level=50), window=2)
    assert (first.usage.requests, second.usage.requests) == (3, 2)
    assert len(closed) == 2


@pytest.mark.parametrize(
    ("question", "options", "explanation"),
    [
        ("  ", (), "the question is empty"),
        ("Which cup?", ("red", " "), "an option is empty"),
        ("Which cup?", ("red", "green", "Red "), "two options are the same"),
    ],
)
def test_questions_that_cannot_be_answered_are_said_to_be_so(
    memory: egomem.Memory, question: str, options: tuple[str, ...], explanation: str
) -> None:
    with pytest.raises(UsageError, match=explanation):
        memory.ask(question, options=options)


def test_an_empty_query_is_refused(memory: egomem.Memory) -> None:
    with pytest.raises(UsageError, match="the query is empty"):
        memory.search(" ")
