from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from egomem.cli import main
from egomem.models import Capabilities, ModelClient, Request, Role, TextPart
from egomem.testing import Rule

Fixture = Callable[..., Any]

OLLAMA = {
    "/api/version": {"version": "0.12.6"},
    "/api/show": {
        "capabilities": ["completion", "vision", "tools"],
        "model_info": {"general.architecture": "qwen3vl", "qwen3vl.context_length": 262144},
    },
}
LLAMACPP = {
    "/props": {
        "default_generation_settings": {"n_ctx": 8192},
        "modalities": {"vision": True, "audio": False},
        "build_info": "b6800-abc",
    }
}
VLLM = {
    "/version": {"version": "0.11.0"},
    "/v1/models": {"data": [{"id": "fake", "max_model_len": 32768}]},
}
OPENROUTER = {
    "/v1/models": {
        "data": [
            {
                "id": "a/b",
                "context_length": 131072,
                "architecture": {"input_modalities": ["text", "image", "video"]},
                "supported_parameters": ["temperature", "structured_outputs"],
            }
        ]
    }
}
LMSTUDIO = {"/api/v0/models": {"data": [{"id": "fake", "type": "vlm", "max_context_length": 4096}]}}


def probed(spec: str) -> Capabilities:
    return asyncio.run(ModelClient({"reader": spec}, environ={}).probe())[Role.READER]


ABLE: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "ollama:fake": (
        OLLAMA,
        {"version": "0.12.6", "images": True, "audio": False, "context": 262144},
    ),
    "llamacpp:fake": (
        LLAMACPP,
        {"version": "b6800-abc", "images": True, "audio": False, "context": 8192},
    ),
    "vllm:fake": (VLLM, {"version": "0.11.0", "context": 32768}),
    "openrouter:a/b": (
        OPENROUTER,
        {"images": True, "audio": False, "video": True, "json_schema": True, "context": 131072},
    ),
    "lmstudio:fake": (LMSTUDIO, {"images": True, "context": 4096}),
}


@pytest.mark.parametrize("spec", ABLE)
def test_what_the_server_tells_is_taken_from_it(serve: Fixture, spec: str) -> None:
    pages, expected = ABLE[spec]
    capabilities = probed(f"{spec}@{serve(pages=pages).url}")
    assert {n: getattr(capabilities, n) for n in expected} == expected
    assert set(capabilities.reported) == set(expected)
    assert capabilities.reachable


def test_what_no_server_tells_is_stated_and_marked() -> None:
    capabilities = probed("anthropic:claude-haiku-5-5")
    assert (
        capabilities.images,
        capabilities.image_limit,
        capabilities.reported,
        capabilities.reachable,
    ) == (
        True,
        100,
        (),
        None,
    )


@pytest.mark.parametrize("spec", ["ollama:fake", "llamacpp:fake", "vllm:fake", "lmstudio:fake"])
def test_a_reply_records_its_servers_version(serve: Fixture, ask: Fixture, spec: str) -> None:
    pages, expected = ABLE[spec]
    server = serve(Rule(reply="B"), pages=pages)
    client = ModelClient({"reader": f"{spec}@{server.url}"}, environ={})
    replies = ask(client, *(Request(Role.READER, (TextPart(t),), "t@1") for t in "ab"))
    assert [r.version for r in replies] == [expected.get("version")] * 2


def test_a_model_that_is_not_there_is_named(serve: Fixture) -> None:
    server = serve(pages={"/version": {"version": "1"}})
    assert "does not list other; it has fake" in probed(f"vllm:other@{server.url}").note
    server = serve(pages={"/api/version": {"version": "0.12.6"}})
    assert "ollama pull other" in probed(f"ollama:other@{server.url}").note


def test_a_server_that_is_not_there_is_said(serve: Fixture) -> None:
    server = serve()
    server.stop()
    capabilities = probed(f"vllm:fake@{server.url}")
    assert capabilities.reachable is False
    assert server.url in capabilities.note


@pytest.mark.parametrize("page", ["<html>", [], {}, {"data": None}, {"data": [{"id": "fake"}]}])
def test_strange_answers_do_no_harm(serve: Fixture, page: Any) -> None:
    paths = ("/v1/models", "/version", "/props", "/api/show", "/api/version", "/api/v0/models")
    server = serve(pages=dict.fromkeys(paths, page))
    for kind in ("vllm", "ollama", "llamacpp", "lmstudio", "openai-compatible"):
        assert probed(f"{kind}:fake@{server.url}").reachable


def test_models_command(
    serve: Fixture, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    server = serve(Rule(when="colour", reply="Red"), Rule(reply="ready"), pages=VLLM)
    spec = f"vllm:fake@{server.url}"
    assert main(["models", "--model", f"reader={spec}", "--json"]) == 0
    [row] = json.loads(capsys.readouterr().out)["result"]["roles"]
    assert (row["role"], row["version"], row["context"]) == ("reader", "0.11.0", 32768)
    assert row["limits"]["images"] == 64
    assert main(["models", "--model", spec]) == 0
    output = capsys.readouterr().out
    assert f"{spec}: captioner, reader" in output
    assert "context 32768" in output

    assert main(["models", "test", "--model", spec, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["result"]["roles"]
    assert {r["role"]: r["text"] for r in rows} == {
        **dict.fromkeys(("captioner", "reader", "verifier"), "Red"),
        **dict.fromkeys(("planner", "atomizer", "matcher", "judge", "summarizer"), "ready"),
    }


def test_models_test_fails_loudly(
    serve: Fixture, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    server = serve(Rule(status=404, error="no model fake"))
    assert main(["models", "test", "--model", f"judge=vllm:fake@{server.url}"]) == 1
    assert "no model fake" in capsys.readouterr().err
    assert main(["models"]) == 0
    assert "no model is set" in capsys.readouterr().out
    assert main(["models", "--model", "nonsense"]) == 2


def test_cache_command(
    serve: Fixture,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    models: Fixture,
    ask: Fixture,
) -> None:
    from egomem.memory.replies import ReplyCache

    with ReplyCache(tmp_path) as cache:
        client = models(serve(Rule(reply="{n}")), cache=cache)
        for temperature in (0.0, 0.7):
            ask(client, Request(Role.READER, (TextPart("q"),), "r@1", temperature=temperature))
    folder = ["--memory", str(tmp_path)]
    assert main(["cache", "explain", *folder, "--json"]) == 0
    keys = [r["key"] for r in json.loads(capsys.readouterr().out)["result"]["replies"]]
    assert len(keys) == 2
    assert main(["cache", "explain", keys[0][:10], keys[1][:10], *folder]) == 0
    assert "differs in: sample, temperature" in capsys.readouterr().out
    assert main(["cache", "stats", *folder, "--json"]) == 0
    stats = json.loads(capsys.readouterr().out)["result"]
    assert (stats["replies"], stats["spent"]["reader"]["asked"]) == (2, 2)
    assert main(["cache", "stats", *folder]) == 0
    assert "2 replies" in capsys.readouterr().out
    assert main(["cache", "clear", *folder, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["result"] == {"removed": 2}
    assert main(["cache", "explain", "ab", *folder]) == 2
    capsys.readouterr()
    elsewhere = ["--memory", str(tmp_path / "elsewhere")]
    for command in ("explain", "stats", "clear"):
        assert main(["cache", command, *elsewhere]) == main(["show", *elsewhere]) != 0
        assert "there is no memory or run at" in capsys.readouterr().err
