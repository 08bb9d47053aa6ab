from __future__ import annotations

import re
from pathlib import Path

import pytest

from egomem.errors import ConfigError
from egomem.models import CHAT_ROLES, SERVERS, Limits, ModelClient, ModelSpec, Role, read_limits


@pytest.mark.parametrize(
    ("text", "server", "model", "url"),
    [
        ("ollama:qwen3-vl:8b", "ollama", "qwen3-vl:8b", "http://localhost:11434/v1"),
        (
            "vllm:Qwen/Qwen3-VL-8B@http://host:8000/v1/",
            "vllm",
            "Qwen/Qwen3-VL-8B",
            "http://host:8000/v1",
        ),
        (
            "openrouter:qwen/qwen3-vl-32b-instruct:free",
            "openrouter",
            "qwen/qwen3-vl-32b-instruct:free",
            "https://openrouter.ai/api/v1",
        ),
        ("openai:gpt-5-mini", "openai", "gpt-5-mini", ""),
        ("openai:ft:gpt-4o:me@https://proxy/v1", "openai", "ft:gpt-4o:me", "https://proxy/v1"),
        ("openai-compatible:a@b@https://host/v1", "openai-compatible", "a@b", "https://host/v1"),
        ("google-cloud:gemini-2.5-flash", "google-cloud", "gemini-2.5-flash", ""),
        (" embedded ", "embedded", "embedded", ""),
    ],
)
def test_specs(text: str, server: str, model: str, url: str) -> None:
    spec = ModelSpec.parse(text, {})
    assert (spec.server, spec.model, spec.url) == (server, model, url)
    assert ModelSpec.parse(str(spec), {}) == spec  # what is shown can be given again


@pytest.mark.parametrize(
    "text",
    ["", "qwen3-vl", "vllm:", ":x", "gpt:4", "openai-compatible:x", "embedded:x", "ollama:a b",
     "vllm:x@ftp://host", "http://host:8000/v1"],
)  # fmt: skip
def test_nonsense_is_refused_with_a_remedy(text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        # An @ with something else than http(s) is part of the name; such a name has no address.
        ModelSpec.parse(text.replace("vllm:x@ftp", "openai-compatible:x@ftp"), {})
    assert caught.value.remedy


def test_every_server_has_an_example_that_parses() -> None:
    for name, server in SERVERS.items():
        assert ModelSpec.parse(server.example, {}).server == name


def test_the_address_comes_from_the_servers_variable() -> None:
    environ = {"OLLAMA_BASE_URL": "http://box:1/v1", "VLLM_API_KEY": "k1"}
    assert ModelSpec.parse("ollama:x", environ).url == "http://box:1/v1"
    assert ModelSpec.parse("ollama:x@http://other:2/v1", environ).url == "http://other:2/v1"
    assert ModelSpec.parse("vllm:x", environ).key(environ) == "k1"
    assert ModelSpec.parse("ollama:x", environ).key(environ) is None


@pytest.mark.parametrize("everywhere", ["all", "*"])
def test_one_spec_fills_the_roles_that_have_none(everywhere: str) -> None:
    client = ModelClient(
        {everywhere: "ollama:a", "judge": "ollama:b", "embedder": "embedded"}, environ={}
    )
    assert client.spec(Role.READER).model == "a"
    assert client.spec(Role.JUDGE).model == "b"
    assert client.specs[Role.EMBEDDER].embedded
    assert Role.TRANSCRIBER not in client.specs  # a chat model does not transcribe
    assert all(client.has(role) for role in CHAT_ROLES)


def test_a_role_without_a_chat_model_says_how_to_give_one() -> None:
    client = ModelClient({"reader": "embedded"}, environ={})
    for role in (Role.READER, Role.JUDGE):
        assert not client.has(role)
        with pytest.raises(ConfigError, match=f"--model {role.value}="):
            client.spec(role)
    with pytest.raises(ConfigError, match="no model role 'raeder'"):
        ModelClient({"raeder": "ollama:x"})


def test_limits_are_per_role_and_can_be_changed() -> None:
    client = ModelClient({}, limits={Role.READER: Limits(images=9)})
    assert client.limits(Role.READER).images == 9
    assert client.limits(Role.CAPTIONER).side == 512
    assert client.limits(Role.JUDGE) == Limits()


def test_limits_from_settings_change_a_part_of_the_defaults() -> None:
    by_role = read_limits({"captioner": {"images": 9}}, fit=True)
    assert by_role[Role.CAPTIONER] == Limits(side=512, pixels=512 * 512, images=9, fit=True)
    assert by_role[Role.READER].images == 64
    for table, says in (
        ({"reader": {"images": -1}}, "limits.reader.images"),
        ({"reader": {"imgs": 1}}, "limits.reader.imgs"),
        ({"raeder": {}}, "limits.raeder"),
    ):
        with pytest.raises(ConfigError, match=says):
            read_limits(table)


def test_every_spec_in_the_recipes_can_be_read() -> None:
    page = Path(__file__).resolve().parents[2] / "docs/how-to/models.md"
    specs = re.findall(r"--model (?:\w+=)?(\S+)", page.read_text())
    servers = {ModelSpec.parse(spec.rstrip("`"), {}).server for spec in specs}
    assert servers == set(SERVERS) - {"embedded"}


def test_embedders_and_transcribers_have_specs_of_their_own_kind() -> None:
    client = ModelClient(
        {"embedder": "/models/minilm", "transcriber": "whisper:tiny.en"}, environ={}
    )
    assert client.specs == {}
