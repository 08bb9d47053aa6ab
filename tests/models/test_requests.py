"""What goes over the wire, and the limits on it."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import av
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from egomem.models import (
    AudioPart,
    ContentPart,
    ErrorKind,
    ImagePart,
    Limits,
    ModelClient,
    Request,
    Role,
    TextPart,
    VideoPart,
    estimate_tokens,
)
from egomem.models.limits import fit_request, keep_images, payload_bytes
from egomem.models.transport import HttpExchange, _LateBody
from egomem.records import Status
from egomem.testing import Rule

Fixture = Callable[..., Any]


def jpeg(width: int, height: int) -> bytes:
    codec = av.CodecContext.create("mjpeg", "w")
    assert isinstance(codec, av.VideoCodecContext)
    codec.width, codec.height, codec.pix_fmt = width, height, "yuvj420p"
    codec.framerate = Fraction(25)
    frame = av.VideoFrame.from_ndarray(np.zeros((height, width, 3), np.uint8), format="rgb24")
    packets = [*codec.encode(frame.reformat(format="yuvj420p")), *codec.encode(None)]
    return b"".join(bytes(p) for p in packets)


def frames(count: int) -> tuple[ImagePart, ...]:
    return tuple(
        ImagePart(b"\xff\xd8" + bytes([i]) * 99, float(i), f"[{i} s]") for i in range(count)
    )


def test_order_labels_and_bytes(serve: Fixture, models: Fixture, ask: Fixture) -> None:
    server = serve(Rule(reply="ok"))
    images = frames(3)
    request = Request(
        Role.CAPTIONER,
        (TextPart("Context."), *images, AudioPart(b"RIFFsound"), TextPart("Question?")),
        "t@1",
        system="You caption.",
        temperature=0.5,
        max_tokens=77,
        seed=5,
    )
    [reply] = ask(models(server), request)
    body = server.requests[0].body
    system, user = body["messages"]
    assert system == {"role": "system", "content": "You caption."}
    sent_parts = [p.get("text") or p.get("image_url") or p["input_audio"] for p in user["content"]]
    encoded = ["data:image/jpeg;base64," + base64.b64encode(i.data).decode() for i in images]
    assert sent_parts == [
        "Context.",
        *[t for label, e in zip("012", encoded, strict=True) for t in (f"[{label} s]", {"url": e})],
        {"data": base64.b64encode(b"RIFFsound").decode(), "format": "wav"},
        "Question?",
    ]
    assert (body["temperature"], body["max_tokens"], body["seed"]) == (0.5, 77, 5)
    assert list(server.requests[0].images) == [i.sha256 for i in images]
    assert reply.frames == (0.0, 1.0, 2.0)
    assert reply.usage.frames == 3
    assert server.requests[0].headers["content-length"]


def test_text_alone_is_a_plain_string(serve: Fixture, models: Fixture, ask: Fixture) -> None:
    server = serve(Rule(reply="ok"))
    ask(models(server), Request(Role.READER, (TextPart("Captions."), TextPart("Question?")), "t@1"))
    assert server.requests[0].body["messages"] == [
        {"role": "user", "content": "Captions.\n\nQuestion?"}
    ]


def test_video_mode_sends_the_frames_as_one_part(
    serve: Fixture, models: Fixture, ask: Fixture
) -> None:
    server = serve(Rule(reply="ok"))
    images = frames(4)
    request = Request(Role.CAPTIONER, (VideoPart(images), TextPart("What?")), "t@1")
    [reply] = ask(models(server, "vllm"), request)
    [clip, _] = server.requests[0].body["messages"][0]["content"]
    pieces = ",".join(base64.b64encode(i.data).decode() for i in images)
    assert clip == {"type": "video_url", "video_url": {"url": f"data:video/jpeg;base64,{pieces}"}}
    assert reply.frames == (0.0, 1.0, 2.0, 3.0)
    mp4_clip = Request(Role.CAPTIONER, (VideoPart(data=b"mp4 bytes"), TextPart("What?")), "t@1")
    environ = {"OPENROUTER_API_KEY": "k"}
    [reply] = ask(ModelClient({"all": f"openrouter:a/b@{server.url}"}, environ=environ), mp4_clip)
    assert reply.ok
    [clip, _] = server.requests[1].body["messages"][0]["content"]
    assert (
        clip["video_url"]["url"]
        == "data:video/mp4;base64," + base64.b64encode(b"mp4 bytes").decode()
    )


def test_log_probabilities(serve: Fixture, models: Fixture, ask: Fixture) -> None:
    server = serve(Rule(reply="B", logprobs={"B": -0.2, "A": -1.9, "C": float("-1e308")}))
    [reply] = ask(models(server), Request(Role.READER, (TextPart("?"),), "t@1", logprobs=3))
    assert server.requests[0].body["top_logprobs"] == 3
    [first] = reply.logprobs
    assert (first.token, first.top) == ("B", {"B": -0.2, "A": -1.9, "C": -9999.0})
    [plain] = ask(models(server), Request(Role.READER, (TextPart("?"),), "t@1"))
    assert plain.logprobs is None


def test_many_waiting_requests_hold_one_copy_of_an_image(serve: Fixture, models: Fixture) -> None:
    """Bodies are built late: 30 requests of 0.4 MB wait, and nothing like 12 MB is held."""
    import tracemalloc

    server = serve(Rule(reply="ok"))
    client: ModelClient = models(server)
    images = tuple(ImagePart(b"\xff\xd8" + bytes([i]) * 100_000) for i in range(4))

    async def work() -> int:
        async with client:
            await client.ask(Request(Role.READER, (*images, TextPart("first")), "t@1"))
            # The server sits in this process and decodes what arrives, so what is measured is the
            # requests that wait for a slot: all but four.
            tracemalloc.start()
            asks = [
                asyncio.create_task(
                    client.ask(Request(Role.READER, (*images, TextPart(f"{i}")), "t@1"))
                )
                for i in range(30)
            ]
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            size = tracemalloc.get_traced_memory()[0]
            tracemalloc.stop()
            assert all(r.ok for r in await asyncio.gather(*asks))
            return size

    assert asyncio.run(work()) < 2_000_000


def test_marks_of_others_are_left_alone() -> None:
    exchange = HttpExchange()
    image = frames(1)[0]
    mark = base64.b64encode(exchange.add(image.sha256, image.data))
    foreign = b"egomemBytes" + b"0" * 53
    body = _LateBody(b'{"a":"' + mark + b'","b":"' + foreign + b'"}', exchange)

    async def read() -> bytes:
        return b"".join([piece async for piece in body])

    sent = asyncio.run(read())
    assert sent == b'{"a":"' + base64.b64encode(image.data) + b'","b":"' + foreign + b'"}'
    assert body.length == len(sent)


@pytest.mark.parametrize(("width", "height"), [(64, 48), (320, 240), (448, 448)])
def test_size_of_a_jpeg(width: int, height: int) -> None:
    assert ImagePart(jpeg(width, height)).size == (width, height)


def test_what_is_no_jpeg_has_no_size() -> None:
    for data in (b"", b"\xff\xd8", b"\x89PNG....", b"\xff\xd8\xff\xe0\x00\x04ab", b"\xff\xd8" * 9):
        assert ImagePart(data).size is None


@pytest.mark.parametrize(
    ("limits", "name"),
    [
        (Limits(side=200), "side"),
        (Limits(pixels=50_000), "pixels"),
        (Limits(bytes=1000), "bytes"),
        (Limits(images=1), "images"),
    ],
)
def test_each_limit_names_its_setting(
    models: Fixture, serve: Fixture, ask: Fixture, limits: Limits, name: str
) -> None:
    server = serve()
    image = ImagePart(jpeg(320, 240))
    client = models(server, limits={Role.JUDGE: limits})
    [reply] = ask(client, Request(Role.JUDGE, (image, image, TextPart("?")), "t@1"))
    assert (reply.status, reply.fault) == (Status.ERROR, ErrorKind.IMAGES)
    assert f"limits.judge.{name}" in reply.detail
    assert not server.requests


@given(st.integers(1, 70), st.integers(1, 70), st.booleans())
def test_thinning_keeps_exactly_so_many_in_order(total: int, keep: int, clip: bool) -> None:
    images = frames(total)
    parts: tuple[ContentPart, ...] = (
        (TextPart("a"), VideoPart(images)) if clip else (TextPart("a"), *images, TextPart("b"))
    )
    kept_images = keep_images(Request(Role.READER, parts, "t@1"), keep).images
    assert len(kept_images) == min(keep, total)
    times = [i.time or 0.0 for i in kept_images]
    assert times == sorted(set(times))
    if keep > 1:
        assert (times[0], times[-1]) == (0.0, total - 1)


@given(st.integers(1, 40), st.integers(1, 40), st.integers(1, 5000))
def test_fitting_obeys_count_and_bytes(total: int, max_images: int, size: int) -> None:
    request = fit_request(
        Request(Role.READER, frames(total), "t@1"), Limits(images=max_images, bytes=size)
    )
    assert len(request.images) == 1 or (
        len(request.images) <= max_images and payload_bytes(request) <= size
    )
    assert request.images


def test_estimated_tokens() -> None:
    request = Request(Role.READER, (ImagePart(jpeg(448, 448)), TextPart("x" * 400)), "t@1")
    assert estimate_tokens(request) == 256 + 100
