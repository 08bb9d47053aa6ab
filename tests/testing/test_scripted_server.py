from __future__ import annotations

import http.client
import json
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from egomem.errors import ConfigError
from egomem.models import Request, Role, TextPart, schema_error
from egomem.testing import ReceivedRequest, Rule, Script, ScriptedServer

Fixture = Callable[..., Any]


def post(server: ScriptedServer, text: str = "hello", **fields: Any) -> tuple[int, Any]:
    body = {"model": "x", "messages": [{"role": "user", "content": text}], **fields}
    request = urllib.request.Request(
        f"{server.url}/chat/completions", json.dumps(body).encode(), {"content-type": "x/json"}
    )
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.load(error)


def reply_of(server: ScriptedServer, text: str = "hello", **fields: Any) -> str:
    return str(post(server, text, **fields)[1]["choices"][0]["message"]["content"])


def test_rules_in_order_and_used_up(serve: Fixture) -> None:
    server = serve(
        Rule(when="mug", reply="On the table."),
        Rule(reply="first", times=1),
        Rule(reply="{n} of {images}"),
    )
    assert [reply_of(server, t) for t in ("a", "the mug", "a", "a")] == [
        "first",
        "On the table.",
        "3 of 0",
        "4 of 0",
    ]


def test_it_stops_quietly_while_connections_are_open(caplog: pytest.LogCaptureFixture) -> None:
    slow = Script(rules=(Rule(delay=60),))
    server = ScriptedServer(slow).start()
    idle, waiting = (http.client.HTTPConnection(urlsplit(server.url).netloc) for _ in range(2))
    with closing(idle), closing(waiting):
        idle.request("GET", "/v1/models")
        assert idle.getresponse().read()
        chat_body = {"model": "x", "messages": [{"role": "user", "content": "hello"}]}
        waiting.request("POST", "/v1/chat/completions", json.dumps(chat_body))
        while not server.max_in_flight:
            time.sleep(0.001)
        server.stop()
        assert idle.sock is not None
        assert idle.sock.recv(1) == b""
        with pytest.raises(http.client.RemoteDisconnected):
            waiting.getresponse()
    assert caplog.records == []


def test_the_same_script_gives_the_same_answers() -> None:
    def run() -> list[Any]:
        with ScriptedServer() as server:
            return [post(server, text) for text in ("a", "b", "a")]

    first = run()
    assert first == run()
    assert first[0][1]["choices"] != first[1][1]["choices"]


def test_a_schema_gets_a_fitting_value(serve: Fixture) -> None:
    number = {"type": "integer", "minimum": 2}
    schema: dict[str, Any] = {
        "type": "object",
        "$defs": {"item": {"type": "object", "properties": {"n": number}}},
        "properties": {
            "letter": {"enum": ["B", "C"]},
            "items": {"type": "array", "minItems": 2, "items": {"$ref": "#/$defs/item"}},
            "why": {"anyOf": [{"type": "null"}, {"type": "string"}]},
            "sure": {"type": "boolean"},
        },
        "required": ["letter", "items", "why", "sure"],
    }
    form = {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}
    value = json.loads(reply_of(serve(), response_format=form))
    assert schema_error(value, schema) == ""
    assert value["letter"] == "B"


def test_a_function_answers_before_the_rules(serve: Fixture) -> None:
    def answer(received: ReceivedRequest) -> str | None:
        return "two" if "one" in received.text else None

    server = serve(Rule(reply="rule"), answer=answer)
    assert [reply_of(server, "one"), reply_of(server, "else")] == ["two", "rule"]


def test_bad_requests_are_said_to_be_bad(serve: Fixture) -> None:
    server = serve()
    assert post(server, stream=True)[0] == 400
    assert post(server, messages=3)[0] == 400
    with pytest.raises(urllib.error.HTTPError, match="404"):
        urllib.request.urlopen(f"{server.url}/nowhere")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("s.toml", 'model = "m"\nmax_images = 3\n[[rules]]\nwhen = "x"\nreply = "y"\n'),
        ("s.json", '{"model": "m", "max_images": 3, "rules": [{"when": "x", "reply": "y"}]}'),
    ],
)
def test_scripts(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    script = Script.load(tmp_path / name)
    assert script == Script(model="m", max_images=3, rules=(Rule(when="x", reply="y"),))


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ('{"rules": [{"wen": "x"}]}', "rules.0.wen"),
        ('{"rules": [{"fault": "explode"}]}', "rules.0.fault"),
        ("{", "cannot be read"),
    ],
)
def test_a_wrong_script_names_the_mistake(tmp_path: Path, text: str, names: str) -> None:
    (tmp_path / "s.json").write_text(text)
    with pytest.raises(ConfigError, match=names):
        Script.load(tmp_path / "s.json")
    with pytest.raises(ConfigError, match="No such file"):
        Script.load(tmp_path / "missing.json")


def test_a_taken_port_is_said(serve: Fixture) -> None:
    used_port = int(serve().url.split(":")[2].split("/")[0])
    with pytest.raises(ConfigError, match=f"port {used_port} cannot be used"):
        ScriptedServer(port=used_port).start()


def test_loopback_only(serve: Fixture, models: Fixture, ask: Fixture) -> None:
    server = serve(Rule(reply="ok"))
    assert server.url.startswith("http://127.0.0.1:")
    assert ask(models(server), Request(Role.READER, (TextPart("q"),), "r@1"))[0].ok


def test_the_command_serves_until_stopped(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text('[[rules]]\nreply = "from the script"\n')
    code = "import sys; from egomem.cli import main; sys.exit(main())"
    command = [sys.executable, "-u", "-c", code, "fake-server", "--port", "0", "--script", "s.toml"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        url = process.stdout.readline().split(" at ")[1].split(";")[0]
        assert f"--model openai-compatible:fake@{url}" in process.stdout.readline()
        body = json.dumps({"model": "x", "messages": [{"role": "user", "content": "hi"}]}).encode()
        with urllib.request.urlopen(f"{url}/chat/completions", body) as answer:
            assert b"from the script" in answer.read()
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 0


def test_the_script_in_the_reference_is_one(tmp_path: Path) -> None:
    page = Path(__file__).resolve().parents[2] / "docs/reference/testing.md"
    [block] = re.findall(r"```toml\n(.*?)```", page.read_text(), re.DOTALL)
    (tmp_path / "s.toml").write_text(block)
    script = Script.load(tmp_path / "s.toml")
    assert (script.max_images, len(script.rules), script.pages["/version"]) == (
        8,
        3,
        {"version": "0.11.0"},
    )
