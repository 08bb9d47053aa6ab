"""Each row of the table of errors has an answer that a server gave; each has one meaning."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from egomem.errors import ConfigError
from egomem.models import ErrorKind, ModelSpec, Request, Role, TextPart
from egomem.models.error_body import read_error_body
from egomem.models.error_rules import RULES, matching_rule
from egomem.models.http_errors import explain_body, explain_redirect, explain_status
from egomem.models.image_limits import max_images
from egomem.models.servers import SERVERS
from egomem.models.transport import http_client
from egomem.records import Status
from egomem.testing import Rule

from .error_examples import EXAMPLES, Example

Fixture = Callable[..., Any]


def body_of(example: Example) -> bytes:
    body = example.body
    return (body if isinstance(body, str) else json.dumps(body)).encode()


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda e: f"{e.source} {e.status}")
def test_what_an_error_means(example: Example) -> None:
    outcome = explain_status(
        example.status,
        {},
        body_of(example),
        role="reader",
        server=SERVERS["openai"],
        key=None,
        images=31,
    )
    assert outcome.fault is example.fault, outcome.detail
    assert (outcome.retry, outcome.max_images) == (example.retry, example.limit)
    assert outcome.retry_after == example.wait


def test_each_row_of_the_table_has_an_example() -> None:
    rules = {matching_rule(e.status, read_error_body(body_of(e))) for e in EXAMPLES}
    assert [rule for rule in RULES if rule not in rules] == []


@pytest.mark.parametrize("name", ["openai-compatible", "openai", "vllm"])
def test_what_a_filter_stopped_is_refused_and_not_asked_again(
    serve: Fixture, models: Fixture, ask: Fixture, name: str
) -> None:
    server = serve(Rule(status=400, error="blocked by our content filter"))
    request = Request(Role.READER, (TextPart("What?"),), "t@1")
    [reply] = ask(models(server, name), request)
    assert (reply.status, reply.fault) == (Status.REFUSED, ErrorKind.FILTER)
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("body", "fault", "retry"),
    [
        ({"error": {"code": 429, "message": "slow down"}}, ErrorKind.RATE, True),
        ({"error": {"code": 400, "message": "prompt is too long"}}, ErrorKind.CONTEXT, False),
        ({"error": {"code": "content_filter", "message": "no"}}, ErrorKind.FILTER, False),
        ({"promptFeedback": {"blockReason": "SAFETY"}}, ErrorKind.FILTER, False),
        ({"error": "it broke"}, ErrorKind.SERVER, True),
        ({"choices": [], "usage": {"prompt_tokens": 3}}, ErrorKind.EMPTY, True),
    ],
)
def test_an_error_in_the_body_of_a_success(body: Any, fault: ErrorKind, retry: bool) -> None:
    outcome = explain_body(
        json.dumps(body).encode(),
        "KeyError",
        role="reader",
        server=SERVERS["openrouter"],
        key=None,
        images=0,
    )
    assert (outcome.fault, outcome.retry) == (fault, retry)


def test_a_redirect_names_its_target_without_secrets() -> None:
    address = "https://user:pw@other.example:8443/v1/chat?token=abc123"
    outcome = explain_redirect(307, address, SERVERS["vllm"])
    assert "HTTP 307" in outcome.detail
    assert "https://other.example:8443/v1/chat" in outcome.detail
    assert "abc123" not in outcome.detail
    assert "pw" not in outcome.detail
    assert not outcome.retry


@pytest.mark.parametrize(
    ("message", "limit"),
    [
        ("image exceeds 5 MB maximum", None),
        ("exceeds the limit of 1,000 pixels", None),
        ("This model only supports one image, got 31", 1),
        ("Expected <= 18 images, got 31", 18),
        ("You may send between 1 and 13 images", 13),
        ("image count 31 > 14", 14),
        ("no more than 99 images", None),  # 31 were sent
    ],
)
def test_the_number_of_images_in_words(message: str, limit: int | None) -> None:
    assert max_images(message, 31) == limit


@pytest.mark.parametrize(
    "url",
    [
        "http://h/v1?api_key=hunter22",
        "http://h/v1?hunter22",
        "http://h/v1?k=hunter22&api-version=3",
        "http://u:hunter22@h/v1",
        "http://h:70001/v1",
        "http://h:port/v1",
        "http://[::1/v1",
        "http:///v1",
        "http://a..b/v1",
        "http://h/v1#hunter22",
    ],
)
def test_addresses_that_cannot_be_used(url: str) -> None:
    for environ in ({}, {"OPENAI_BASE_URL": url}):
        text = "openai:m" if environ else f"openai-compatible:m@{url}"
        with pytest.raises(ConfigError) as caught:
            ModelSpec.parse(text, environ)
        assert "hunter22" not in str(caught.value)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("url", ["http://h/v1", "http://[::1]:8000/v1", "https://é.de/v1"])
def test_addresses_that_can_be_used(url: str) -> None:
    assert ModelSpec.parse(f"openai-compatible:m@{url}", {}).url == url


@pytest.mark.parametrize("proxy", ["ftp://h", "http://h:70001", "http://[::1", "http://u:pw@h:x"])
def test_impossible_proxies_are_usage_errors(monkeypatch: pytest.MonkeyPatch, proxy: str) -> None:
    monkeypatch.setenv("https_proxy", proxy)
    with pytest.raises(ConfigError, match="HTTPS_PROXY") as caught:
        http_client("https://server.example")
    assert "pw" not in str(caught.value)
