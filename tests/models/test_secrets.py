"""C9, C10: no key, header or image byte in a log, a listing, an exception or a folder."""

from __future__ import annotations

import base64
import logging
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from egomem.cli import main
from egomem.errors import ConfigError, ModelError
from egomem.memory.replies import ReplyCache
from egomem.models import ErrorKind, ImagePart, ModelClient, ModelSpec, Request, Role, TextPart
from egomem.models.http_errors import redacted
from egomem.testing import Rule

Fixture = Callable[..., Any]
KEY = "sk-TEST-1234abcd"
PIXELS = b"\xff\xd8" + b"pixels of a private kitchen" * 3
ENVIRON = {"VLLM_API_KEY": KEY}


def request() -> Request:
    return Request(Role.READER, (ImagePart(PIXELS, 1.0), TextPart("What?")), "secret@1")


@pytest.mark.parametrize(
    "rule",
    [
        Rule(fault="echo"),
        Rule(status=400, error=f"bad header Authorization: Bearer {KEY} for image {{images}}"),
        Rule(status=500, error=f"proxy failed: x-api-key={KEY}"),
        Rule(fault="error_body", error=f"{KEY} is out of credit"),
        Rule(
            status=422,
            error="cannot read data:image/jpeg;base64," + base64.b64encode(PIXELS).decode(),
        ),
        Rule(reply="ok"),
    ],
    ids=["echo", "400", "500", "200", "422", "fine"],
)
def test_a_run_folder_holds_no_secret(
    serve: Fixture,
    models: Fixture,
    ask: Fixture,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    capsys: pytest.CaptureFixture[str],
    rule: Rule,
) -> None:
    caplog.set_level(logging.DEBUG)
    server = serve(rule)
    cache = ReplyCache(tmp_path)
    client: ModelClient = models(server, "vllm", environ=ENVIRON, cache=cache)
    [reply] = ask(client, request())
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"  # it was sent
    (tmp_path / "run.log").write_text(caplog.text)
    (tmp_path / "reply.json").write_text(reply.model_dump_json())
    (tmp_path / "held.txt").write_text(
        f"{client!r} {client.specs!r} {request()!r} {client.ledger.entries!r}"
    )
    try:
        reply.raise_for_error()
    except ModelError:
        (tmp_path / "error.txt").write_text(traceback.format_exc())
    main(["cache", "explain", "--memory", str(tmp_path)])
    main(["cache", "stats", "--memory", str(tmp_path), "--json"])
    (tmp_path / "listing.txt").write_text("".join(capsys.readouterr()))
    cache.close()
    everything = b"".join(p.read_bytes() for p in tmp_path.iterdir())
    encoded = base64.b64encode(PIXELS)
    for secret in (KEY.encode(), b"1234abcd", b"private kitchen", encoded[8:40], b"Bearer sk"):
        assert everything.count(secret) == 0, secret


def test_a_refused_key_says_which_variable(serve: Fixture, models: Fixture, ask: Fixture) -> None:
    [reply] = ask(models(serve(Rule(fault="echo")), "vllm", environ=ENVIRON), request())
    assert reply.fault is ErrorKind.KEY
    assert "VLLM_API_KEY" in reply.detail


@pytest.mark.parametrize(
    ("spec", "names"),
    [
        ("openai:gpt-5-mini", "OPENAI_API_KEY"),
        ("openrouter:qwen/qwen3-vl-32b-instruct", "OPENROUTER_API_KEY"),
    ],
)
def test_a_missing_key_is_said_before_anything_is_sent(ask: Fixture, spec: str, names: str) -> None:
    with pytest.raises(ConfigError, match=names):
        ask(ModelClient({"reader": spec}, environ={}), request())


def test_a_password_in_an_address_is_refused_and_not_repeated() -> None:
    with pytest.raises(ConfigError) as caught:
        ModelSpec.parse("vllm:qwen@http://me:hunter2@host:8000/v1", {})
    assert "hunter2" not in str(caught.value)
    assert "VLLM_API_KEY" in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "Authorization: Bearer abc.def-123",
        '{"api_key": "abc.def-123"}',
        "token=abc.def-123 and more",
        "sk-proj-abc.def-123",
        "AIzaSyabcdef-123abc",
        "data:image/png;base64,abc/def+123==",
    ],
)
def test_redaction(text: str) -> None:
    redacted_text = redacted(text)
    assert "def-123" not in redacted_text
    assert "def+123" not in redacted_text


def test_a_key_of_any_shape_is_redacted() -> None:
    assert "opensesame" not in redacted("we do not know opensesame here", "opensesame")


def test_plain_words_are_not_redacted() -> None:
    text = "At most 8 image(s) may be given; max tokens: 4096, the context is 32768 tokens long"
    assert redacted(text) == text
