"""Active captions as an observer of windows, through ingest and through the command line."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from egomem.cli import main
from egomem.errors import ConfigError, ModelError
from egomem.ingest import Observers, SamplingOptions, ingest
from egomem.media import Frame
from egomem.memory import Store
from egomem.models import ModelClient, Reply
from egomem.observe import TemplateCaptioner, Window, WindowFailed
from egomem.observe.active import ActiveCaptioner, CaptionBudget
from egomem.observe.active.files import InstalledTools
from egomem.observe.active.observer import gaze_points
from egomem.observe.object_detector import Detection
from egomem.records import Observation, Recording, Status, Usage
from egomem.testing import Rule, Script, ScriptedServer
from egomem.timeline import Span

Make = Callable[..., Any]


class Bottle:
    """Sees one bottle in every picture."""

    def detect(self, image: Any, least: float) -> list[Detection]:
        return [Detection("bottle", 0.9, (0.1, 0.2, 0.3, 0.8))]


def window(path: str | None = None, **fields: Any) -> Window:
    recording = Recording(id="rec", wearer="ann", name="rec.mp4", duration=60.0, path=path)
    frames = tuple(
        Frame(float(t), float(t), np.full((48, 64, 3), 40, np.uint8)) for t in range(30, 60)
    )
    return Window(recording, Span(30, 60), frames, **fields)


def test_a_window_becomes_a_caption_with_its_provenance() -> None:
    captioner = ActiveCaptioner(window=30, detector=Bottle())
    (caption,) = asyncio.run(captioner.observe(window()))
    assert caption.text == "[0:30-0:59] In view: 1 bottle (left)."
    assert (caption.span, caption.wearer, caption.source) == (Span(30, 60), "ann", "caption")
    assert caption.track == captioner.track.id
    assert captioner.track.id.startswith("caption/active=embedded@30s~5s+objects,")
    assert caption.provenance.frames[0] == 30
    assert all(30 <= t < 60 for t in caption.provenance.frames)
    assert caption.data["stop"] == "no open gap"
    other = ActiveCaptioner(window=30, detector=Bottle(), budget=CaptionBudget(looks=3))
    assert other.track.id != captioner.track.id, "another budget is another track"


def test_nothing_established_is_no_caption() -> None:
    assert asyncio.run(ActiveCaptioner(window=30).observe(window())) == []


@pytest.mark.parametrize(
    ("status", "requests", "tokens"),
    [
        (Status.REFUSED, 1, None),
        (Status.TRUNCATED, 1, 700),
        (Status.UNPARSABLE, 2, None),
        (Status.ERROR, 1, None),
    ],
)
def test_a_reply_that_is_no_draft_settles_the_window_and_an_error_does_not(
    scripted: Make, status: Status, requests: int, tokens: int | None
) -> None:
    reply = Reply(status=status, detail="so it was", usage=Usage(requests=1, tokens_out=9))
    _, models = scripted(draft=lambda asked: reply)
    captioner = ActiveCaptioner(cast(ModelClient, models), window=30, max_tokens=700)
    with pytest.raises(ModelError, match=f"no caption: captioner: {status.value}") as raised:
        asyncio.run(captioner.observe(window()))
    assert captioner.stats.windows == {"no draft": 1}
    assert len(models.asked) == requests
    assert {r.max_tokens for r in models.asked} == {700}
    error = raised.value
    assert isinstance(error, WindowFailed) == (status is not Status.ERROR)
    if isinstance(error, WindowFailed):
        assert (error.status, error.tokens) == (status, tokens)
        assert error.usage.tokens_out == 9 * requests
        assert ("--caption-tokens" in error.remedy) == (tokens is not None)


def test_a_server_that_goes_after_the_draft_leaves_the_window_unfinished(scripted: Make) -> None:
    """Where a reply is none, nothing is established, and that is how the window ends."""

    def observed(status: Status, detail: str) -> list[Observation]:
        reply = Reply(status=status, detail=detail)
        _, models = scripted(draft=lambda asked: "A red ball.", check=lambda asked: reply)
        return asyncio.run(ActiveCaptioner(cast(ModelClient, models), window=30).observe(window()))

    with pytest.raises(ModelError, match="no caption: verifier: error: gone") as raised:
        observed(Status.ERROR, "gone")
    assert not isinstance(raised.value, WindowFailed)
    assert observed(Status.UNPARSABLE, "verifier: error: of its own") == []


def test_a_draft_that_can_be_read_the_second_time_is_a_draft(scripted: Make) -> None:
    replies = iter([Reply(status=Status.UNPARSABLE, detail="empty"), "[0:31] A grey wall."])
    _, models = scripted(draft=lambda asked: next(replies))
    captioner = ActiveCaptioner(cast(ModelClient, models), window=30)
    asyncio.run(captioner.observe(window()))
    assert "no draft" not in captioner.stats.windows


def test_what_is_no_draft_is_no_gap_where_nothing_was_sent(scripted: Make) -> None:
    _, models = scripted()
    captioner = ActiveCaptioner(
        cast(ModelClient, models), window=30, budget=CaptionBudget(tokens=10)
    )
    with pytest.raises(ModelError, match="token budget") as raised:
        asyncio.run(captioner.observe(window()))
    assert not isinstance(raised.value, WindowFailed)
    assert not models.asked


def test_a_refusal_is_paid_once_and_a_cut_off_one_again_where_more_is_allowed(
    scripted: Make, make_video: Make, tmp_path: Path
) -> None:
    def asked(status: Status, tokens: int) -> int:
        _, models = scripted(draft=lambda asked: Reply(status=status, detail="so it was"))
        captioner = ActiveCaptioner(cast(ModelClient, models), window=4, max_tokens=tokens)
        report = asyncio.run(
            ingest(
                store, [video], Observers(frames=(captioner,)), sampling=SamplingOptions(window=4)
            )
        )
        assert report.outcomes[0].status == "partial"
        return len(models.asked)

    video = make_video("a.mp4", seconds=8)
    with Store.open(tmp_path / "memory", create=True) as store:
        errors = [asked(Status.ERROR, 100) for _ in range(2)]
        cut_off = [asked(Status.TRUNCATED, tokens) for tokens in (100, 100, 200)]
        refused = [asked(Status.REFUSED, tokens) for tokens in (300, 400)]
    assert (errors, cut_off, refused) == ([2, 2], [2, 0, 2], [2, 0])


def test_a_spent_budget_asks_nobody(scripted: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    _, models = scripted()
    with pytest.raises(ConfigError, match="no price is known"):
        ActiveCaptioner(cast(ModelClient, models), window=30, cost=0.0)
    monkeypatch.setattr("egomem.models.prices.price", lambda *_: 0.01)
    captioner = ActiveCaptioner(cast(ModelClient, models), window=30, cost=0.0)
    with pytest.raises(ModelError, match="raise --budget"):
        asyncio.run(captioner.observe(window()))
    assert not models.asked


def test_words_said_after_the_window_are_not_told() -> None:
    words = [
        Observation(recording="rec", span=Span(a, b), text=text, source="speech", track="speech/x")
        for a, b, text in ((40, 44, "The keys."), (58, 63, "Tomorrow."))
    ]
    words_of_window = tuple(words)
    recording = Recording(id="rec", name="rec.mp4", duration=90.0)
    window_seen = window()
    later = Window(recording, window_seen.span, window_seen.frames, words_of_window)
    (caption,) = asyncio.run(ActiveCaptioner(window=30).observe(later))
    assert "The keys." in caption.text
    assert "Tomorrow" not in caption.text
    assert caption.provenance.rests_on == (words[0].id,)


def test_gaze_that_is_held_is_used() -> None:
    look = Observation(recording="rec", span=Span(31, 31), text="looks left", source="gaze",
                       track="gaze/x", data={"point": [0.2, 0.6]})  # fmt: skip
    assert gaze_points(window(context=(look,))) == [(31.0, 0.2, 0.6)]


def test_ingest_captions_every_window_and_goes_on_where_it_stopped(
    make_video: Make, tmp_path: Path
) -> None:
    path = make_video("a.mp4", seconds=8)
    captioner = ActiveCaptioner(window=4, detector=Bottle())
    with Store.open(tmp_path / "memory", create=True) as store:
        for _ in range(2):
            report = asyncio.run(
                ingest(
                    store,
                    [path],
                    Observers(frames=(captioner,)),
                    sampling=SamplingOptions(window=4),
                )
            )
        captions = store.view().observations(sources=["caption"])
    assert [o.status for o in report.outcomes] == ["unchanged"]
    assert [o.span for o in captions] == [Span(0, 4), Span(4, 8)]
    assert captioner.stats.windows == {"no open gap": 2}


def test_active_captions_take_the_place_of_the_others() -> None:
    from egomem.ingest import choose_observers

    def limit(chosen: Any) -> int:
        return int(chosen.observers.frames[-1].max_tokens)

    assert (
        limit(choose_observers(None, window=30, fps=1, caption="active", max_tokens=9000)) == 9000
    )
    chosen = choose_observers(None, window=30, fps=1, caption="active")
    assert limit(chosen) == 2048, "its replies are longer than a direct caption"
    names = [type(o).__name__ for o in chosen.observers.frames]
    assert names[-1] == "ActiveCaptioner"
    assert not any(isinstance(o, TemplateCaptioner) for o in chosen.observers.frames)
    assert chosen.plan([window().recording], 30) == ""


# -- the command ---------------------------------------------------------------------------------


def run_json(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict[str, Any]]:
    code = main(["caption", *words, "--json"])
    return code, json.loads(capsys.readouterr().out)


@pytest.fixture(autouse=True)
def _nothing_is_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tools that are installed here are not these tests' concern, nor are their weights."""
    none = InstalledTools(None, None, None, ())
    monkeypatch.setattr("egomem.observe.active.files.installed_tools", lambda: none)
    monkeypatch.setattr("egomem.ingest.observer_set.DEFAULT_OBSERVERS", ())


@pytest.fixture
def server() -> Any:
    draft = Rule(when="You describe a video", reply="[0:01-0:03] A grey picture.")
    with ScriptedServer(Script(rules=(draft,))) as running:
        yield running


def test_the_command_with_a_model_compares_three_ways(
    make_video: Make, server: ScriptedServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, page, log = make_video("a.mp4", seconds=4), tmp_path / "a.html", tmp_path / "a.json"
    words = [str(path), "--model", f"openai-compatible:fake@{server.url}", "--compare"]
    code, body = run_json(capsys, *words, "--html", str(page), "--log", str(log))
    assert code == 0
    assert list(body["result"]) == ["active", "random", "direct"]
    direct, active = body["result"]["direct"], body["result"]["active"]
    assert body["result"]["random"]["draft"] == active["draft"]
    assert body["result"]["random"]["usage"]["frames"] <= active["usage"]["frames"]
    assert direct["caption"] == "[0:01-0:03] A grey picture."
    assert active["draft"] == direct["caption"]
    assert active["caption"] == "", "nothing confirmed it"
    assert active["usage"]["requests"] > direct["usage"]["requests"] - 1
    assert "<h2>Round 1</h2>" in page.read_text()
    asked = len(server.requests)
    code, again = run_json(capsys, *words[:-1], "--log", str(log))
    assert again["result"]["claims"] == active["claims"]
    assert len(server.requests) == asked, "a finished run is not run again"


def test_the_log_of_another_video_is_not_taken_for_this_one(
    make_video: Make, server: ScriptedServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = ["--model", f"openai-compatible:fake@{server.url}", "--log", str(tmp_path / "a.json")]
    run_json(capsys, str(make_video("a.mp4", seconds=4)), *model)
    code, body = run_json(capsys, str(make_video("b.mp4", seconds=4, level=90)), *model)
    assert code == 2
    assert "another run" in body["problems"][0]["what"]


def test_wrong_usage_and_files_without_a_picture(
    make_video: Make, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(make_video("a.mp4", seconds=2))
    code, body = run_json(capsys, path, "--direct", "--compare")
    assert (code, body["ok"]) == (2, False)
    code, body = run_json(capsys, str(tmp_path / "none.mp4"))
    assert code == 3
    assert len(body["problems"]) == 1


def test_the_command_prints_each_round(
    make_video: Make, server: ScriptedServer, capsys: pytest.CaptureFixture[str]
) -> None:
    path = make_video("a.mp4", seconds=4)
    model = f"openai-compatible:fake@{server.url}"
    assert main(["caption", str(path), "--explain", "--model", model]) == 0
    out = capsys.readouterr().out
    for part in ("Draft from 4 coarse frames", "Round 1", "claim c1 unsupported", "Look for g"):
        assert part in out
    assert "Nothing could be established." in out
