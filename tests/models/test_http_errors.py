"""What servers and models do wrong, over real HTTP: each ends in a typed status."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from egomem.models import (
    ErrorKind,
    ImagePart,
    InMemoryReplyStore,
    Limits,
    Reply,
    Request,
    RequestPolicy,
    Role,
    TextPart,
)
from egomem.models.error_body import retry_after
from egomem.models.http_errors import explain_status
from egomem.models.servers import SERVERS
from egomem.records import Status
from egomem.testing import Rule

Fixture = Callable[..., Any]


def question(text: str = "Where are the keys?", **fields: Any) -> Request:
    return Request(Role.READER, (TextPart(text),), "test@1", **fields)


def look(count: int, **fields: Any) -> Request:
    images = tuple(ImagePart(bytes([255, 216, i]), float(i), f"[{i} s]") for i in range(count))
    return Request(Role.READER, (*images, TextPart("What is seen?")), "test@1", **fields)


ENDS: list[tuple[Rule, Status, str]] = [
    (Rule(reply="B"), Status.PARSED, "B"),
    (Rule(reply="error"), Status.PARSED, "error"),  # C8: from a model it is just text
    (Rule(reply="B", finish="none"), Status.PARSED, "B"),
    (Rule(reply="B", finish="eos"), Status.PARSED, "B"),
    (Rule(reply="B", finish="wandered_off"), Status.UNPARSABLE, ""),
    (Rule(reply="Maybe A", finish="length"), Status.TRUNCATED, ""),
    (Rule(reply="Sorry", finish="content_filter"), Status.REFUSED, ""),
    (Rule(reply="", refusal="I cannot look at this."), Status.REFUSED, ""),
    (Rule(null=True), Status.UNPARSABLE, ""),
    (Rule(null=True, reasoning="So it is B"), Status.PARSED, "So it is B"),
    (Rule(null=True, reasoning="It is C", reasoning_field="reasoning"), Status.PARSED, "It is C"),
    (Rule(null=True, reasoning="Maybe A", finish="length"), Status.TRUNCATED, ""),
    (Rule(reply="D", reasoning="Maybe A"), Status.PARSED, "D"),
    (Rule(reply="<think>Maybe A. No</think>B"), Status.PARSED, "B"),
    (Rule(reply="Maybe A. No</think>\n\nB"), Status.PARSED, "B"),
    (Rule(reply="<think>Maybe A"), Status.TRUNCATED, ""),
    (Rule(reply="<think>Maybe A", finish="length"), Status.TRUNCATED, ""),
    (Rule(fault="no_choices"), Status.ERROR, ""),
    (Rule(fault="html"), Status.ERROR, ""),
    (Rule(fault="error_body", error="the engine is dead"), Status.ERROR, ""),
    (Rule(fault="drop"), Status.ERROR, ""),
    (Rule(fault="cut", reply="B" * 200), Status.ERROR, ""),
    (Rule(reply="B", finish="error"), Status.ERROR, ""),
    (Rule(status=500, error="A"), Status.ERROR, ""),
    (Rule(status=400, error="A"), Status.ERROR, ""),
]


@pytest.mark.parametrize(("rule", "status", "text"), ENDS, ids=lambda v: str(v)[:40])
def test_each_end_has_a_status_and_only_clean_ones_are_kept(
    serve: Fixture, models: Fixture, ask: Fixture, rule: Rule, status: Status, text: str
) -> None:
    cache = InMemoryReplyStore()
    client = models(serve(rule), cache=cache, policy=RequestPolicy(max_attempts=2, backoff=0.001))
    [reply] = ask(client, question())
    assert (reply.status, reply.text) == (status, text)
    assert (len(cache.replies) == 1) is (status is Status.PARSED)
    if status is not Status.PARSED:
        assert reply.detail
    if rule.reply and rule.fault == "" and rule.status == 200 and not rule.null:
        assert reply.raw == rule.reply  # as received, thinking and all
    assert client.ledger.total().failed == (status is Status.ERROR)


def test_a_server_that_hangs_up_or_is_not_there_is_said_so(
    serve: Fixture, models: Fixture, ask: Fixture
) -> None:
    server = serve(Rule(fault="drop"))
    client = models(server, policy=RequestPolicy(max_attempts=2, backoff=0.001))
    [dropped] = ask(client, question())
    assert "Server disconnected" in dropped.detail
    server.stop()
    [gone] = ask(client, question())
    assert "ConnectionRefused" in gone.detail
    assert "event loop" not in dropped.detail + gone.detail


def test_reasoning_is_marked_where_it_was_read(
    serve: Fixture, models: Fixture, ask: Fixture
) -> None:
    server = serve(Rule(null=True, reasoning="B", times=1), Rule(reply="C", reasoning="B"))
    client = models(server)
    [first] = ask(client, question())
    [second] = ask(client, question())
    assert (first.source, first.text) == ("reasoning", "B")
    assert (second.source, second.text, second.reasoning) == ("content", "C", "B")


def test_json_is_found_among_chat_and_checked(
    serve: Fixture, models: Fixture, ask: Fixture
) -> None:
    schema = {
        "type": "object",
        "properties": {"caption": {"type": "string"}},
        "required": ["caption"],
    }
    server = serve(
        Rule(reply='Sure! {note}\n```json\n{"caption":"a red mug"}\n```\nHope it helps', times=1),
        Rule(reply='{"caption": 3}', times=1),
        Rule(reply='{"caption": "a red m', times=1),
        Rule(reply='{"caption": "a red m', finish="length", times=1),
    )
    client = models(server)
    replies = [ask(client, question(schema=schema))[0] for _ in range(4)]
    assert [r.status for r in replies] == [
        Status.PARSED,
        Status.UNPARSABLE,
        Status.UNPARSABLE,
        Status.TRUNCATED,
    ]
    assert replies[0].data == {"caption": "a red mug"}
    assert "caption is not of type string" in replies[1].detail
    assert server.requests[0].body["response_format"]["json_schema"]["schema"]["required"] == [
        "caption"
    ]


def test_server_without_json_schema_is_asked_in_words_from_then_on(
    serve: Fixture, models: Fixture, ask: Fixture
) -> None:
    server = serve(
        Rule(status=400, error="response_format is not supported", times=1),
        Rule(reply='{"a": 1}'),
    )
    client = models(server)
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    [reply] = ask(client, question(schema=schema))
    assert (reply.status, reply.data, reply.attempts) == (Status.PARSED, {"a": 1}, 2)
    ask(client, question("And now?", schema=schema))
    assert [("response_format" in s.body) for s in server.requests] == [True, False, False]
    assert '"type": "integer"' in server.requests[1].text


def test_a_busy_server_is_asked_again(serve: Fixture, models: Fixture, ask: Fixture) -> None:
    server = serve(Rule(status=429, retry_after=0.01, times=1), Rule(reply="B"))
    [reply] = ask(models(server), question())
    assert (reply.text, reply.attempts, len(server.requests)) == ("B", 2, 2)


def test_the_deadline_ends_a_request_that_hangs(
    serve: Fixture, models: Fixture, ask: Fixture
) -> None:
    server = serve(Rule(delay=30))
    [reply] = ask(models(server, policy=RequestPolicy(deadline=0.2)), question())
    assert (reply.status, reply.fault) == (Status.ERROR, ErrorKind.DEADLINE)
    assert len(server.requests) == 1


def test_after_a_rate_limit_each_item_is_counted_once(
    serve: Fixture, models: Fixture, ask: Fixture
) -> None:
    """C7: 429 once on one of five items gives five entries, not six."""
    server = serve(Rule(when="item 3", status=429, times=1), Rule(reply="ok"))
    client = models(server)
    replies = ask(client, *(question(f"item {i}") for i in range(1, 6)))
    assert [r.ok for r in replies] == [True] * 5
    assert client.ledger.total().asked == 5
    assert len(server.requests) == 6


def test_concurrency_backs_off_and_recovers(serve: Fixture, models: Fixture, ask: Fixture) -> None:
    server = serve(Rule(reply="ok", delay=0.01), concurrent=3)
    client = models(
        server, policy=RequestPolicy(concurrency=16, backoff=0.02, max_attempts=50, deadline=60)
    )
    replies = ask(client, *(question(f"item {i}") for i in range(60)))
    assert all(r.ok for r in replies)
    refused = len(server.requests) - 60
    assert 0 < refused < 60  # without backing off, most of 60 x several attempts would be refused


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422])
def test_no_retry_on_the_callers_faults(
    serve: Fixture, models: Fixture, ask: Fixture, status: int
) -> None:
    server = serve(Rule(status=status, error="no such thing"))
    [reply] = ask(models(server), question())
    assert reply.status is Status.ERROR
    assert len(server.requests) == 1


def test_too_many_images_names_limit_and_setting(
    serve: Fixture, models: Fixture, ask: Fixture
) -> None:
    """C3, with numbers of our own."""
    server = serve(Rule(reply="ok"), max_images=5)
    [reply] = ask(models(server), look(11))
    assert (reply.status, reply.fault, len(server.requests)) == (Status.ERROR, ErrorKind.IMAGES, 1)
    assert "at most 5 images" in reply.detail
    assert "limits.reader.images" in reply.detail
    assert "--fit" in reply.detail


def test_fit_shrinks_the_plan_and_records_it(serve: Fixture, models: Fixture, ask: Fixture) -> None:
    server = serve(Rule(reply="ok"), max_images=5)
    cache = InMemoryReplyStore()
    client = models(server, limits={Role.READER: Limits(fit=True)}, cache=cache)
    [reply] = ask(client, look(11))
    assert (reply.status, reply.dropped, reply.usage.frames) == (Status.PARSED, 6, 5)
    assert reply.frames == (0.0, 2.0, 5.0, 8.0, 10.0)
    last = server.requests[-1]
    assert [f"[{t:.0f} s]" in last.text for t in range(11)] == [
        t in reply.frames for t in range(11)
    ]
    [again] = ask(client, look(11))
    assert (again.cached, again.dropped) == (True, 6)
    assert len(server.requests) == 2


def test_context_overrun_names_the_way_out_and_fit_finds_it(
    serve: Fixture, models: Fixture, ask: Fixture
) -> None:
    server = serve(Rule(reply="ok"), context=1000)
    [reply] = ask(models(server), look(9))
    assert reply.fault is ErrorKind.CONTEXT
    assert "limits.reader.images" in reply.detail
    client = models(server, limits={Role.READER: Limits(fit=True)})
    [fitted] = ask(client, look(9))
    assert (fitted.status, len(fitted.frames), fitted.dropped) == (Status.PARSED, 2, 7)


def test_video_mode_fails_plainly(serve: Fixture, models: Fixture, ask: Fixture) -> None:
    from egomem.models import VideoPart

    server = serve(Rule(status=500, error="timestamps length(30) should be equal video length (8)"))
    request = Request(Role.READER, (VideoPart(look(3).images), TextPart("What?")), "test@1")
    [reply] = ask(models(server, "vllm"), request)
    assert (reply.status, len(server.requests)) == (Status.ERROR, 1)
    assert "send the frames as images instead" in reply.detail


def test_own_limits_are_checked_before_sending(
    serve: Fixture, models: Fixture, ask: Fixture
) -> None:
    """C4: too much is never sent."""
    server = serve()
    client = models(server, limits={Role.READER: Limits(images=3)})
    [reply] = ask(client, look(4))
    assert reply.fault is ErrorKind.IMAGES
    assert "limits.reader.images" in reply.detail
    assert not server.requests


def test_an_error_is_never_an_answer(serve: Fixture, models: Fixture, ask: Fixture) -> None:
    for status in (400, 404, 429, 500):
        server = serve(Rule(status=status, error="The answer is B"))
        [reply] = ask(models(server, policy=RequestPolicy(max_attempts=1)), question())
        assert isinstance(reply, Reply)
        assert (reply.text, reply.raw, reply.data) == ("", "", None)


def test_what_no_client_can_send_is_said_at_once(
    models: Fixture, serve: Fixture, ask: Fixture
) -> None:
    from egomem.models import ModelClient, VideoPart

    server = serve()
    url = server.url.removesuffix("/v1")
    client = ModelClient({"reader": f"azure:fake@{url}"}, environ={"AZURE_OPENAI_API_KEY": "k"})
    [reply] = ask(client, Request(Role.READER, (VideoPart(look(2).images), TextPart("?")), "t@1"))
    assert (reply.status, reply.fault, reply.attempts) == (Status.ERROR, ErrorKind.REQUEST, 1)
    assert "cannot be sent to Azure OpenAI" in reply.detail
    assert not server.requests


def test_many_at_once_learn_that_a_server_takes_no_schema(
    serve: Fixture, models: Fixture, ask: Fixture
) -> None:
    server = serve(
        Rule(status=400, error="json_schema is unknown", times=3, delay=0.02),
        Rule(reply='{"a": 1}'),
    )
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    replies = ask(models(server), *(question(f"{i}", schema=schema) for i in range(3)))
    assert [r.data for r in replies] == [{"a": 1}] * 3


def test_a_server_that_is_not_there_is_not_waited_for_long(
    serve: Fixture, models: Fixture, ask: Fixture
) -> None:
    server = serve()
    server.stop()
    [reply] = ask(models(server), question())
    assert (reply.fault, reply.attempts) == (ErrorKind.CONNECTION, 2)
    assert f"at {server.url}" in reply.detail
    assert "is it running there?" in reply.detail


@pytest.mark.parametrize(
    ("message", "fault", "limit"),
    [
        ("At most 4 image(s) may be provided in one request", ErrorKind.IMAGES, 4),
        ("Too many images in request: 31, max 20", ErrorKind.IMAGES, 20),
        ("image exceeds 5 MB maximum", ErrorKind.IMAGES, None),
        ("this model supports up to 16 images, the limit was exceeded", ErrorKind.IMAGES, 16),
        ("prompt is too long: 211004 tokens > 200000 maximum", ErrorKind.CONTEXT, None),
        (
            "request (9012 tokens) exceeds the available context size (4096)",
            ErrorKind.CONTEXT,
            None,
        ),
        ("maximum context length is 8192 tokens, you sent 30 images", ErrorKind.CONTEXT, None),
        ("input length and `max_tokens` exceed context limit: 5 + 6 > 10", ErrorKind.CONTEXT, None),
        (
            "The token count (12) exceeds the maximum number of tokens allowed (9)",
            ErrorKind.CONTEXT,
            None,
        ),
        ("temperature must be below 2", ErrorKind.REQUEST, None),
    ],
)
def test_what_servers_say_of_too_much(message: str, fault: ErrorKind, limit: int | None) -> None:
    body = json.dumps({"error": {"message": message}}).encode()
    outcome = explain_status(
        400, {}, body, role="reader", server=SERVERS["vllm"], key=None, images=31
    )
    assert (outcome.fault, outcome.max_images, outcome.retry) == (fault, limit, False)
    assert message in outcome.detail


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({}, None),
    ],
)
def test_how_long_to_wait(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds


def test_no_credit_is_not_waited_for(serve: Fixture, models: Fixture, ask: Fixture) -> None:
    server = serve(Rule(status=429, error="insufficient_quota: check your billing"))
    [reply] = ask(models(server), question())
    assert (reply.fault, len(server.requests)) == (ErrorKind.RATE, 1)
    assert "no credit" in reply.detail
