"""Every kind of server over real HTTP, in its own protocol, with its own faults."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from egomem.models import ErrorKind, ImagePart, ModelClient, Request, RequestPolicy, Role, TextPart
from egomem.records import Status
from egomem.testing import Rule

Fixture = Callable[..., Any]
IMAGE = ImagePart(b"\xff\xd8some frame", 2.0, "[2 s]")
REQUEST = Request(Role.READER, (IMAGE, TextPart("What?")), "t@1", system="Be short.")
KEYS = ("OPENAI", "OPENROUTER", "AZURE_OPENAI", "ANTHROPIC", "GOOGLE")
ENVIRON = {f"{name}_API_KEY": "k-test" for name in KEYS}


class RequestRecorder:
    """A server that answers one scripted JSON value and keeps what it was asked."""

    def __init__(self) -> None:
        self.answers: list[tuple[int, Any]] = []
        self.asked: list[tuple[str, dict[str, str], Any]] = []

    def __call__(self, *answers: tuple[int, Any]) -> str:
        self.answers = list(answers)
        return self.url

    url: str


@pytest.fixture
def recorder() -> Iterator[RequestRecorder]:
    recorder = RequestRecorder()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            content = self.rfile.read(int(self.headers["content-length"]))
            headers = {k.lower(): v for k, v in self.headers.items()}
            recorder.asked.append((self.path, headers, json.loads(content)))
            status, value = (
                recorder.answers.pop(0) if len(recorder.answers) > 1 else recorder.answers[0]
            )
            body = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    recorder.url = f"http://127.0.0.1:{server.server_port}"
    thread = Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    yield recorder
    server.shutdown()
    thread.join()
    server.server_close()


def quick(spec: str) -> ModelClient:
    return ModelClient(
        {"all": spec}, environ=ENVIRON, policy=RequestPolicy(max_attempts=2, backoff=0.001)
    )


def message(*blocks: dict[str, Any], stop: str = "end_turn") -> dict[str, Any]:
    return {
        "id": "m1", "type": "message", "role": "assistant", "model": "claude-haiku-4-5",
        "content": list(blocks), "stop_reason": stop, "stop_sequence": None,
        "usage": {"input_tokens": 900, "output_tokens": 3, "cache_read_input_tokens": 100},
    }  # fmt: skip


def test_anthropic(recorder: RequestRecorder, ask: Fixture) -> None:
    pytest.importorskip("anthropic")
    url = recorder((200, message({"type": "text", "text": "B"})))
    [reply] = ask(quick(f"anthropic:claude-haiku-4-5@{url}"), REQUEST)
    assert (reply.status, reply.text, reply.finish) == (Status.PARSED, "B", "end_turn")
    assert (reply.usage.tokens_in, reply.usage.tokens_cached) == (1000, 100)
    assert reply.usage.cost == pytest.approx((900 * 1 + 100 * 0.1 + 3 * 5) / 1e6)
    path, headers, body = recorder.asked[0]
    assert path.startswith("/v1/messages")
    assert any(value.endswith("k-test") for value in headers.values())  # the field changed once
    source = body["messages"][0]["content"][1]["source"]
    assert source == {"type": "base64", "media_type": "image/jpeg", "data": "/9hzb21lIGZyYW1l"}
    assert "Be short." in json.dumps(body["system"])


@pytest.mark.parametrize(
    ("answer", "status", "fault"),
    [
        (
            (200, message({"type": "text", "text": "Maybe"}, stop="max_tokens")),
            Status.TRUNCATED,
            None,
        ),
        ((200, message(stop="refusal")), Status.REFUSED, None),
        (
            (
                401,
                {"type": "error", "error": {"type": "authentication_error", "message": "k-test"}},
            ),
            Status.ERROR,
            ErrorKind.KEY,
        ),
        (
            (529, {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}),
            Status.ERROR,
            ErrorKind.SERVER,
        ),
        (
            (
                400,
                {
                    "type": "error",
                    "error": {
                        "type": "invalid_request_error",
                        "message": "prompt is too long: 300000 tokens",
                    },
                },
            ),
            Status.ERROR,
            ErrorKind.CONTEXT,
        ),
    ],
)
def test_anthropic_faults(
    recorder: RequestRecorder,
    ask: Fixture,
    answer: tuple[int, Any],
    status: Status,
    fault: ErrorKind | None,
) -> None:
    pytest.importorskip("anthropic")
    url = recorder(answer)
    [reply] = ask(quick(f"anthropic:claude-haiku-4-5@{url}"), REQUEST)
    assert (reply.status, reply.fault, reply.text) == (status, fault, "")
    assert "k-test" not in reply.model_dump_json()
    assert len(recorder.asked) == (2 if answer[0] == 529 else 1)


def candidate(text: str, reason: str = "STOP") -> dict[str, Any]:
    return {
        "candidates": [
            {"content": {"role": "model", "parts": [{"text": text}]}, "finishReason": reason}
        ],
        "usageMetadata": {
            "promptTokenCount": 700,
            "candidatesTokenCount": 2,
            "totalTokenCount": 702,
        },
        "modelVersion": "gemini-2.5-flash",
    }


def test_google_by_key(recorder: RequestRecorder, ask: Fixture) -> None:
    pytest.importorskip("google.genai")
    url = recorder((200, candidate("B")))
    [reply] = ask(quick(f"google:gemini-2.5-flash@{url}"), REQUEST)
    assert (reply.status, reply.text, reply.detail) == (Status.PARSED, "B", "")
    assert reply.usage.tokens_in == 700
    path, headers, body = recorder.asked[0]
    assert path.endswith("models/gemini-2.5-flash:generateContent")
    assert headers["x-goog-api-key"] == "k-test"
    assert "_9hzb21lIGZyYW1l".replace("_", "/") in json.dumps(body).replace("_9h", "/9h")


@pytest.mark.parametrize(
    ("answer", "status", "fault"),
    [
        ((200, candidate("Maybe", "MAX_TOKENS")), Status.TRUNCATED, None),
        ((200, candidate("", "SAFETY")), Status.REFUSED, None),
        ((200, {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}), Status.REFUSED, None),
        ((403, {"error": {"code": 403, "message": "no k-test"}}), Status.ERROR, ErrorKind.KEY),
        ((429, {"error": {"code": 429, "message": "slow down"}}), Status.ERROR, ErrorKind.RATE),
    ],
)
def test_google_faults(
    recorder: RequestRecorder,
    ask: Fixture,
    answer: tuple[int, Any],
    status: Status,
    fault: ErrorKind | None,
) -> None:
    pytest.importorskip("google.genai")
    [reply] = ask(quick(f"google:gemini-2.5-flash@{recorder(answer)}"), REQUEST)
    assert (reply.status, reply.fault, reply.text) == (status, fault, "")
    assert "k-test" not in reply.model_dump_json()
    assert len(recorder.asked) == (2 if answer[0] == 429 else 1)


def completion(text: str | None, finish: str = "stop", **usage: Any) -> dict[str, Any]:
    return {
        "id": "1", "object": "chat.completion", "created": 1, "model": "gpt-5-mini",
        "choices": [{"index": 0, "finish_reason": finish,
                     "message": {"role": "assistant", "content": text}}],
        "usage": {"prompt_tokens": 1000, "completion_tokens": 10, "total_tokens": 1010, **usage},
    }  # fmt: skip


def test_azure(recorder: RequestRecorder, ask: Fixture) -> None:
    url = recorder((200, completion("B")))
    [reply] = ask(quick(f"azure:my-deployment@{url}"), REQUEST)
    assert (reply.status, reply.text) == (Status.PARSED, "B")
    path, headers, _ = recorder.asked[0]
    assert path.startswith("/openai/deployments/my-deployment/chat/completions?api-version=")
    assert headers["api-key"] == "k-test"
    assert reply.usage.cost == pytest.approx((1000 * 0.25 + 10 * 2) / 1e6)


def test_azure_content_filter_is_a_refusal(recorder: RequestRecorder, ask: Fixture) -> None:
    error = {"error": {"code": "content_filter", "message": "filtered", "status": 400,
                       "innererror": {"code": "ResponsibleAIPolicyViolation"}}}  # fmt: skip
    [reply] = ask(quick(f"azure:my-deployment@{recorder((400, error))}"), REQUEST)
    assert (reply.status, reply.text) == (Status.REFUSED, "")


def test_openrouter_says_its_own_price(recorder: RequestRecorder, ask: Fixture) -> None:
    answer = completion("B", cost=0.0123) | {"provider": "x", "model": "qwen/qwen3-vl-32b-instruct"}
    answer["choices"][0]["native_finish_reason"] = "stop"
    spec = f"openrouter:qwen/qwen3-vl-32b-instruct@{recorder((200, answer))}"
    [reply] = ask(quick(spec), REQUEST)
    assert (reply.status, reply.usage.cost) == (Status.PARSED, 0.0123)


def test_openai_counts_cached_tokens_and_money(recorder: RequestRecorder, ask: Fixture) -> None:
    url = recorder((200, completion("B", prompt_tokens_details={"cached_tokens": 400})))
    [reply] = ask(quick(f"openai:gpt-5-mini@{url}/v1"), REQUEST)
    assert reply.usage.tokens_cached == 400
    assert reply.usage.cost == pytest.approx((600 * 0.25 + 400 * 0.025 + 10 * 2) / 1e6)


def test_ones_own_server_has_no_price(recorder: RequestRecorder, ask: Fixture) -> None:
    url = recorder((200, completion("B")))
    [reply] = ask(quick(f"vllm:gpt-5-mini@{url}/v1"), REQUEST)
    assert reply.usage.cost is None


@pytest.mark.parametrize("kind", ["ollama", "vllm", "llamacpp", "lmstudio", "openai-compatible"])
def test_servers_of_ones_own(serve: Fixture, models: Fixture, ask: Fixture, kind: str) -> None:
    server = serve(Rule(reply="B"))
    [reply] = ask(models(server, kind), REQUEST)
    assert (reply.status, reply.text, reply.server) == (Status.PARSED, "B", kind)
    assert list(server.requests[0].images) == [IMAGE.sha256]
    assert "max_completion_tokens" not in server.requests[0].body


def test_google_cloud_wants_credentials(ask: Fixture, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("google.genai")
    from egomem.errors import EgomemError

    for name in ("GOOGLE_API_KEY", "GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_CLOUD_PROJECT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", "/nonexistent")
    monkeypatch.setenv("NO_GCE_CHECK", "true")
    client = ModelClient({"reader": "google-cloud:gemini-2.5-flash"}, environ={})
    with pytest.raises(EgomemError, match="gcloud auth application-default login"):
        ask(client, REQUEST)
