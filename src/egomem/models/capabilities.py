"""What a model can do: asked of its server where the server tells, stated by us where not."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from egomem.errors import MissingExtraError
from egomem.models import http_errors
from egomem.models.reply import Reply
from egomem.models.request import ImagePart, Request, TextPart
from egomem.models.roles import SERVERS, ModelSpec, Role, server_root
from egomem.records import Record

if TYPE_CHECKING:
    import httpx2

    from egomem.models.client import ModelClient

PROBE_TIMEOUT_S = 5.0  # a server that takes longer to say its version is taken for silent


class Capabilities(Record):
    """What a model takes; None where nobody says. `told` names the fields that the server told.

    `context` is in tokens, `image_limit` in images per request. `reachable` is None for servers
    that are not asked (they have no free question). `note` is one line for a person.
    """

    images: bool | None = None
    audio: bool | None = None
    video: bool | None = None
    json_schema: bool | None = None
    context: int | None = None
    image_limit: int | None = None
    version: str | None = None
    reachable: bool | None = None
    told: tuple[str, ...] = ()
    note: str = ""


# What providers document, November 2026. `video` means frames as one video part.
DOCUMENTED: dict[str, Capabilities] = {
    "openai": Capabilities(images=True, video=False, json_schema=True, image_limit=500),
    "azure": Capabilities(images=True, video=False, json_schema=True, image_limit=50),
    "openrouter": Capabilities(json_schema=True),
    "google": Capabilities(images=True, audio=True, video=True, json_schema=True, image_limit=3000),
    "google-cloud": Capabilities(
        images=True, audio=True, video=True, json_schema=True, image_limit=3000
    ),
    "anthropic": Capabilities(
        images=True, audio=False, video=False, json_schema=True, image_limit=100
    ),
    "ollama": Capabilities(video=False, json_schema=True),
    "vllm": Capabilities(json_schema=True),
    "llamacpp": Capabilities(video=False, json_schema=True),
    "lmstudio": Capabilities(video=False, json_schema=True),
}


async def probe(spec: ModelSpec, environ: Mapping[str, str]) -> Capabilities:
    """Ask a server what it is and what the model can do. Never raises for what it answers."""
    stated = DOCUMENTED.get(spec.server, Capabilities())
    if spec.embedded or spec.server in ("azure", "google", "google-cloud", "anthropic"):
        return stated
    try:
        import httpx2

        from egomem.models.transport import http_client
    except ImportError:
        raise MissingExtraError("pydantic-ai", "models") from None
    url = spec.url or "https://api.openai.com/v1"
    key = spec.key(environ)
    async with http_client(url, connect=PROBE_TIMEOUT_S) as client:
        client.headers.update({"authorization": f"Bearer {key}"} if key else {})
        root = server_root(url)
        try:
            async with asyncio.timeout(PROBE_TIMEOUT_S):
                told = await _listed_capabilities(client, spec, url)
                if spec.server == "vllm":
                    told["version"] = (await _get_json(client, f"{root}/version")).get("version")
                elif spec.server == "ollama":
                    told |= await _ollama_capabilities(client, spec, root)
                elif spec.server == "llamacpp":
                    told |= _llamacpp_capabilities(await _get_json(client, f"{root}/props"))
                elif spec.server == "lmstudio":
                    told |= _lmstudio_capabilities(
                        await _get_json(client, f"{root}/api/v0/models"), spec.model
                    )
        except (OSError, TimeoutError, httpx2.HTTPError) as error:
            why = http_errors.redacted(f"{type(error).__name__}: {error}", key)
            return stated.model_copy(update={"reachable": False, "note": f"{url}: {why}"})
    told = {name: value for name, value in told.items() if value is not None}
    names = tuple(sorted(set(told) - {"note", "reachable"}))
    return stated.model_copy(update={"reachable": True, **told, "told": names})


async def _get_json(
    client: httpx2.AsyncClient,
    url: str,
    post: dict[str, str] | None = None,
    headers: dict[str, str] | None = None,
) -> dict[str, Any]:
    """A page as a JSON object; empty where the server has no such page."""
    response = await client.request("POST" if post else "GET", url, json=post, headers=headers)
    try:
        value = response.json() if response.status_code == 200 else {}
    except ValueError:
        value = {}
    return value if isinstance(value, dict) else {}


_VERSIONS = {
    "vllm": ("/version", "version"),
    "ollama": ("/api/version", "version"),
    "llamacpp": ("/props", "build_info"),
}


async def server_version(
    spec: ModelSpec, client: httpx2.AsyncClient, key: str | None
) -> str | None:
    """The server's version where it tells one, else None."""
    import httpx2

    if spec.server not in _VERSIONS:
        return None
    path, name = _VERSIONS[spec.server]
    headers = {"authorization": f"Bearer {key}"} if key else None
    try:
        async with asyncio.timeout(PROBE_TIMEOUT_S):
            version = (await _get_json(client, server_root(spec.url) + path, headers=headers)).get(
                name
            )
    except (OSError, TimeoutError, httpx2.HTTPError):
        return None
    return str(version) if version else None


async def _listed_capabilities(
    client: httpx2.AsyncClient, spec: ModelSpec, url: str
) -> dict[str, Any]:
    """What `/models` says of the model: vLLM its context, OpenRouter nearly everything."""
    response = await client.get(f"{url}/models")
    if response.status_code in (401, 403):
        kind = SERVERS[spec.server]
        names = " or ".join(kind.key_variables) or "the server's key variable"
        return {"reachable": False, "note": f"the key was not accepted; set {names}"}
    try:
        listed = response.json()["data"]
        found = {m["id"]: m for m in listed}
    except (ValueError, KeyError, TypeError):
        return {"note": f"{url}/models lists nothing"} if spec.server != "ollama" else {}
    model = found.get(spec.model)
    if model is None:
        if spec.server in ("llamacpp", "ollama"):
            return {}  # the first takes any name, the second is asked by name
        some = ", ".join(sorted(found)[:5])
        return {"note": f"the server does not list {spec.model}; it has {some or 'no model'}"}
    inputs = (model.get("architecture") or {}).get("input_modalities")
    settings = model.get("supported_parameters")
    told: dict[str, Any] = {"context": model.get("max_model_len") or model.get("context_length")}
    if isinstance(inputs, list):
        told |= {
            "images": "image" in inputs,
            "audio": "audio" in inputs,
            "video": "video" in inputs,
        }
    if isinstance(settings, list):
        told["json_schema"] = "structured_outputs" in settings or "response_format" in settings
    return told


async def _ollama_capabilities(
    client: httpx2.AsyncClient, spec: ModelSpec, root: str
) -> dict[str, Any]:
    version = (await _get_json(client, f"{root}/api/version")).get("version")
    shown = await _get_json(client, f"{root}/api/show", {"model": spec.model})
    if not shown:
        note = f"Ollama does not have {spec.model}; run: ollama pull {spec.model}"
        return {"version": version, "note": note}
    can = shown.get("capabilities")
    info = shown.get("model_info") or {}
    context = next((v for k, v in info.items() if k.endswith(".context_length")), None)
    told: dict[str, Any] = {"version": version, "context": context}
    if isinstance(can, list):
        told |= {"images": "vision" in can, "audio": "audio" in can}
    if context:
        told["note"] = (
            f"the model takes {context} tokens, but Ollama serves what OLLAMA_CONTEXT_LENGTH says"
        )
    return told


def _llamacpp_capabilities(props: dict[str, Any]) -> dict[str, Any]:
    modalities = props.get("modalities") or {}
    generation = props.get("default_generation_settings") or {}
    return {
        "version": props.get("build_info"),
        "context": generation.get("n_ctx"),
        "images": modalities.get("vision"),
        "audio": modalities.get("audio"),
    }


def _lmstudio_capabilities(listed: dict[str, Any], name: str) -> dict[str, Any]:
    model: dict[str, Any] = next((m for m in listed.get("data") or [] if m.get("id") == name), {})
    kind = model.get("type")
    return {
        "context": model.get("loaded_context_length") or model.get("max_context_length"),
        "images": kind == "vlm" if kind else None,
    }


VISION_ROLES = (Role.CAPTIONER, Role.READER, Role.VERIFIER)


async def send_test_request(models: ModelClient, role: Role) -> Reply:
    """One tiny request to a role's model: the colour of a red square, or one word."""
    question = TextPart("What colour is this square? Answer with one word.")
    parts: tuple[ImagePart | TextPart, ...] = (ImagePart(_red_square()), question)
    if role not in VISION_ROLES:
        parts = (TextPart("Answer with the one word: ready"),)
    return await models.ask(Request(role, parts, "models-test@1", max_tokens=512))


def _red_square() -> bytes:
    """A red square of 64 x 64 pixels: some models refuse images of less than 28."""
    return (files("egomem.models") / "red.jpg").read_bytes()
