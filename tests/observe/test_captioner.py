"""Captions through real HTTP: what is asked, what is kept, and what is not."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from egomem.errors import ConfigError, ModelError
from egomem.models import (
    ImagePart,
    Limits,
    ModelClient,
    ModelSpec,
    Request,
    RequestPolicy,
    Role,
    TextPart,
)
from egomem.observe import Window, WindowFailed
from egomem.observe.caption_cost import estimate_captions
from egomem.observe.caption_prompt import PROMPT
from egomem.observe.captioner import Captioner, spread
from egomem.observe.frame_encoding import check_frame_labels, encode_frames
from egomem.records import Observation, Recording
from egomem.testing import Rule, Script, ScriptedServer
from egomem.timeline import Span

CAPTION = "[0:31-0:33] The wearer opens a drawer.\n[0:34] Keys go in."


@pytest.fixture
def serve() -> Iterator[Callable[..., ScriptedServer]]:
    started: list[ScriptedServer] = []

    def start(*rules: Rule, **fields: Any) -> ScriptedServer:
        started.append(ScriptedServer(Script(rules=rules, **fields)).start())
        return started[-1]

    yield start
    for server in started:
        server.stop()


def models_of(server: ScriptedServer, **fields: Any) -> ModelClient:
    policy = RequestPolicy(deadline=10, backoff=0.01, max_attempts=1)
    return ModelClient(
        {"captioner": f"openai-compatible:fake@{server.url}"}, policy=policy, environ={}, **fields
    )


def grey(count: int, size: tuple[int, int] = (36, 64)) -> list[np.ndarray]:
    return [np.full((*size, 3), 20 * k % 250, np.uint8) for k in range(count)]


def speech(text: str, start: float, end: float, **data: Any) -> Observation:
    return Observation(
        recording="rec", span=Span(start, end), text=text, source="speech", track="speech/x",
        data=data,
    )  # fmt: skip


def observe(captioner: Captioner, *windows: Window) -> list[Observation]:
    async def work() -> list[Observation]:
        observations = await asyncio.gather(*(captioner.observe(w) for w in windows))
        return [o for each in observations for o in each]

    return asyncio.run(work())


def test_a_window_becomes_one_caption_with_its_provenance(serve: Any, make_window: Any) -> None:
    server = serve(Rule(reply=CAPTION))
    captioner = Captioner(models_of(server), window=30, fps=1)
    (caption,) = observe(captioner, make_window(grey(5), start=30, end=60))
    assert caption.text == CAPTION
    assert (caption.span, caption.recording, caption.wearer) == (Span(30, 60), "rec", "ann")
    assert caption.track == captioner.track.id
    assert captioner.track.model == f"openai-compatible:fake@{server.url}"
    assert (captioner.track.prompt, captioner.track.window) == (PROMPT, 30)
    assert caption.provenance.frames == (30.0, 31.0, 32.0, 33.0, 34.0)
    assert caption.provenance.request
    assert caption.data["events"] == [
        {"start": 31.0, "end": 33.0, "text": "The wearer opens a drawer."},
        {"start": 34.0, "end": 34.0, "text": "Keys go in."},
    ]
    assert captioner.stats.windows == {"parsed": 1}
    assert captioner.stats.usage.frames == 5


def test_the_times_told_are_those_of_the_frames_sent(serve: Any, make_window: Any) -> None:
    server = serve(Rule(reply=CAPTION))
    observe(Captioner(models_of(server)), make_window(grey(4), start=30, end=60, step=1.25))
    (request,) = server.requests
    assert len(request.images) == 4
    order = [request.text.index(t) for t in ("[0:30]", "[0:31.25]", "[0:32.5]", "[0:33.75]")]
    assert order == sorted(order)
    assert "0:30-1:00 of the recording" in request.text


def test_a_false_time_is_never_sent(make_window: Any) -> None:
    images = encode_frames(make_window(grey(2), start=30).frames, Limits())
    good = Request(role=Role.CAPTIONER, parts=images, prompt=PROMPT)
    assert check_frame_labels(good) is good
    false = ImagePart(images[0].data, 31.0, "[0:30]")
    with pytest.raises(AssertionError, match="would be labelled"):
        check_frame_labels(Request(role=Role.CAPTIONER, parts=(false,), prompt=PROMPT))
    with pytest.raises(AssertionError, match="comes after"):
        check_frame_labels(Request(role=Role.CAPTIONER, parts=images[::-1], prompt=PROMPT))
    parts = (images[1], TextPart("another recording"), images[0])
    assert check_frame_labels(Request(role=Role.CAPTIONER, parts=parts, prompt=PROMPT))


def test_the_same_prompt_for_both_window_lengths_and_no_question_in_it(
    serve: Any, make_window: Any
) -> None:
    server = serve(Rule(reply=CAPTION))
    models = models_of(server)
    short, long = Captioner(models, window=30), Captioner(models, window=60)
    assert short.track.id != long.track.id
    observe(short, make_window(grey(2), start=0, end=30))
    observe(long, make_window(grey(2), start=0, end=60))
    first, second = (
        s.text.replace("0:00-0:30", "*").replace("0:00-1:00", "*") for s in server.requests
    )
    assert first == second
    assert "?" not in first


def test_frames_are_made_small_enough_for_the_role(serve: Any, make_window: Any) -> None:
    limits = Limits(side=100, pixels=3000)
    (image,) = encode_frames(make_window(grey(1, (300, 400))).frames, limits)
    width, height = image.size or (0, 0)
    assert max(width, height) <= 100
    assert 2400 <= width * height <= 3000
    assert image.sha256 == hashlib.sha256(image.data).hexdigest()
    server = serve(Rule(reply=CAPTION))
    models = models_of(server, limits={Role.CAPTIONER: limits})
    assert observe(Captioner(models), make_window(grey(1, (300, 400)), start=30, end=60))


def test_speech_that_was_over_by_then_goes_with_the_frames(serve: Any, make_window: Any) -> None:
    server = serve(Rule(reply=CAPTION))
    spoken = [
        speech("The keys are here.", 31.0, 33.0, speaker="B"),
        speech("Tomorrow I leave.", 58.0, 63.0),
    ]
    window = make_window(grey(2), start=30, end=60, context=spoken)
    (caption,) = observe(Captioner(models_of(server)), window)
    assert "[0:31] B: The keys are here." in server.requests[0].text
    assert "Tomorrow" not in server.requests[0].text
    assert caption.provenance.rests_on == (spoken[0].id,)
    observe(Captioner(models_of(server), transcript=False), window)
    assert "keys are here" not in server.requests[1].text


def test_times_outside_of_the_window_are_flagged_and_counted(serve: Any, make_window: Any) -> None:
    captioner = Captioner(models_of(serve(Rule(reply="[0:31] Walks.\n[7:00] Sits."))))
    (caption,) = observe(captioner, make_window(grey(2), start=30, end=60))
    assert caption.text == "[0:31] Walks.\nSits."
    assert caption.data["outside"] == [{"written": "7:00", "text": "Sits."}]
    assert captioner.stats.outside == 1


def test_unread_times_are_counted_and_frame_numbers_are_placed(
    serve: Any, make_window: Any
) -> None:
    captioner = Captioner(models_of(serve(Rule(reply="[frame 1] Walks.\n[0:99] Sits."))))
    (caption,) = observe(captioner, make_window(grey(2), start=30, end=60))
    assert caption.data["events"] == [{"start": 31.0, "end": 31.0, "text": "Walks."}]
    assert (caption.data["times_unread"], captioner.stats.unread) == (1, 1)


@pytest.mark.parametrize(
    ("rule", "status"),
    [
        (Rule(reply=CAPTION, finish="length"), "truncated"),
        (Rule(refusal="I will not look."), "refused"),
        (Rule(null=True), "unparsable"),
        (Rule(status=500), "error"),
        (Rule(reply="<think>I see a drawer"), "truncated"),
        (Rule(reply=CAPTION, finish="strange"), "unparsable"),
    ],
)
def test_no_caption_out_of_anything_but_a_clean_reply(
    serve: Any, make_window: Any, rule: Rule, status: str
) -> None:
    server = serve(rule)
    captioner = Captioner(models_of(server), max_tokens=77)
    with pytest.raises(ModelError, match=f"no caption: {status}") as caught:
        observe(captioner, make_window(grey(2), start=30, end=60))
    assert captioner.stats.windows == {status: 1}
    # What is settled is told from what may go well another time.
    assert isinstance(caught.value, WindowFailed) == (status != "error")
    if isinstance(caught.value, WindowFailed):
        assert caught.value.status == status
        assert caught.value.tokens == (77 if status == "truncated" else None)
        assert ("--caption-tokens" in str(caught.value)) == (status == "truncated")
    assert len(server.requests) == (2 if status == "unparsable" else 1)


@pytest.mark.parametrize("rule", [Rule(reply=""), Rule(reply=CAPTION, finish="strange")])
def test_an_empty_reply_is_asked_for_once_more(serve: Any, make_window: Any, rule: Rule) -> None:
    server = serve(rule.model_copy(update={"times": 1}), Rule(reply=CAPTION))
    captioner = Captioner(models_of(server))
    (caption,) = observe(captioner, make_window(grey(2), start=30, end=60))
    assert caption.text == CAPTION
    assert captioner.stats.windows == {"parsed": 1}
    assert captioner.stats.usage.requests == 2


def test_frames_over_the_limit_are_left_out_evenly_and_it_is_recorded(
    serve: Any, make_window: Any
) -> None:
    server = serve(Rule(reply=CAPTION), max_images=8)
    window = make_window(grey(30), start=30, end=60)
    models = models_of(server, limits={Role.CAPTIONER: Limits(images=8)})
    captioner = Captioner(models, window=30, fps=1)
    (caption,) = observe(captioner, window)
    assert caption.provenance.frames == (31.0, 35.0, 39.0, 43.0, 46.0, 50.0, 54.0, 58.0)
    assert caption.data["frames_left_out"] == 22
    assert captioner.track.sampling == "1fps-max8+speech"
    assert len(server.requests[0].images) == 8
    whole = Captioner(models, window=8, fps=1)
    assert whole.track.sampling == "1fps+speech"  # nothing is left out
    spec = ModelSpec.parse("ollama:qwen3-vl:8b", {})
    estimate = estimate_captions([window.recording], spec, Limits(images=8), window=30, fps=1)
    assert estimate.frames == 8 * estimate.requests


@pytest.mark.parametrize(("count", "most"), [(5, 1), (5, 4), (5, 5), (5, 9), (1, 1), (3, 0)])
def test_so_many_frames_in_order_and_none_twice(make_window: Any, count: int, most: int) -> None:
    frames = make_window(grey(count), start=0).frames
    kept = [f.time for f in spread(frames, most)]
    assert kept == sorted(set(kept))
    assert len(kept) == max(1, min(count, most))


def test_too_many_frames_are_left_out_only_where_that_is_asked(
    serve: Any, make_window: Any
) -> None:
    server = serve(Rule(reply=CAPTION), max_images=3)
    window = make_window(grey(8), start=30, end=60)
    with pytest.raises(ModelError, match="3 images"):
        observe(Captioner(models_of(server)), window)
    fitting = models_of(server, limits={Role.CAPTIONER: Limits(fit=True)})
    (caption,) = observe(Captioner(fitting), window)
    assert caption.data["frames_left_out"] == 5
    assert len(caption.provenance.frames) == 3
    assert set(caption.provenance.frames) <= {30.0 + k for k in range(8)}


def test_a_window_without_frames_asks_nobody(serve: Any, make_window: Any) -> None:
    server = serve(Rule(reply=CAPTION))
    assert observe(Captioner(models_of(server)), make_window([], start=30, end=60)) == []
    assert not server.requests


def test_a_spent_budget_asks_nobody(
    serve: Any, make_window: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve(Rule(reply=CAPTION))
    with pytest.raises(ConfigError, match=r"no price is known for .*--budget cannot be kept"):
        Captioner(models_of(server), budget=0.0)
    monkeypatch.setattr("egomem.models.prices.price", lambda *_: 0.01)
    with pytest.raises(ModelError, match=r"budget of \$0.00 is spent.*raise --budget"):
        observe(Captioner(models_of(server), budget=0.0), make_window(grey(1), start=0, end=30))
    assert not server.requests


def test_without_a_captioner_one_line_says_what_to_do() -> None:
    with pytest.raises(ConfigError, match="--model captioner="):
        Captioner(ModelClient({"reader": "ollama:qwen3"}, environ={}))


def test_an_estimate_counts_what_is_asked(serve: Any, make_window: Any) -> None:
    recording = Recording(
        id="r", name="r", duration=75.0, facts={"video": {"width": 640, "height": 480}}
    )
    spec, limits = ModelSpec.parse("ollama:qwen3-vl:8b", {}), Limits(side=512, pixels=512 * 512)
    estimate = estimate_captions([recording, recording], spec, limits, window=30, fps=1)
    assert (estimate.requests, estimate.frames) == (6, 150)
    assert 150 * 250 < estimate.tokens_in < 150 * 250 + 150 * 10 + 6 * 600
    assert estimate.cost is None
    assert "6 requests, 150 frames" in str(estimate)
    half = estimate_captions([recording], spec, limits, window=60, fps=0.5)
    assert (half.requests, half.frames) == (2, 38)
    few = estimate_captions([recording], spec, Limits(images=10, fit=True), window=30, fps=1)
    assert few.frames == 30
    smaller = estimate_captions([recording, recording], spec, Limits(side=256, pixels=256 * 256))
    assert smaller.tokens_in < estimate.tokens_in / 2
