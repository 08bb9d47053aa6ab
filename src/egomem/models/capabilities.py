"""What a model can do: reported by its server, else what its provider documents."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from egomem.errors import MissingExtraError
from egomem.models import http_errors
from egomem.models.roles import ModelSpec
from egomem.models.servers import SERVERS, server_root
from egomem.records import Record

if TYPE_CHECKING:
    import httpx2

PROBE_TIMEOUT_S = 5.0
"""A server that takes longer counts as one that reports nothing."""


class Capabilities(Record):
    """What a model takes; None where it is not known.

    `context` is in tokens, `image_limit` in images per request. `reachable` is None for servers
    that are not asked: every question to them costs money. `reported` names the fields that the
    server reported; the others are egomem's defaults. `note` is one line for a person.
    """

    images: bool | None = None
    audio: bool | None = None
    video: bool | None = None
    json_schema: bool | None = None
    context: int | None = None
    image_limit: int | None = None
    version: str | None = None
    reachable: bool | None = None
    reported: tuple[str, ...] = ()
    note: str = ""


# From the providers' documentation, November 2026. `video` means frames as one video part.
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
    """Ask a server for its version and its model's capabilities.

    A server that fails or cannot be reached is `reachable=False` with a note, not an error.
    """
    defaults = DOCUMENTED.get(spec.server, Capabilities())
    if spec.embedded or spec.server in ("azure", "google", "google-cloud", "anthropic"):
        return defaults
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
            # One limit for all questions: a server that hangs is to cost seconds, once.
            async with asyncio.timeout(PROBE_TIMEOUT_S):
                fields = await _listed_capabilities(client, spec, url)
                if spec.server == "vllm":
                    fields["version"] = (await _get_json(client, f"{root}/version")).get("version")
                elif spec.server == "ollama":
                    fields |= await _ollama_capabilities(client, spec, root)
                elif spec.server == "llamacpp":
                    fields |= _llamacpp_capabilities(await _get_json(client, f"{root}/props"))
                elif spec.server == "lmstudio":
                    fields |= _lmstudio_capabilities(
                        await _get_json(client, f"{root}/api/v0/models"), spec.model
                    )
        except (OSError, TimeoutError, httpx2.HTTPError) as error:
            problem = http_errors.redacted(f"{type(error).__name__}: {error}", key)
            return defaults.model_copy(update={"reachable": False, "note": f"{url}: {problem}"})
    fields = {name: value for name, value in fields.items() if value is not None}
    reported = tuple(sorted(set(fields) - {"note", "reachable"}))
    return defaults.model_copy(update={"reachable": True, **fields, "reported": reported})


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
    """The version that the server reports, else None."""
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
    """The fields in the server's list of models: vLLM's has the context, OpenRouter's most."""
    response = await client.get(f"{url}/models")
    # The free question tells a wrong key before a run of hours does.
    if response.status_code in (401, 403):
        kind = SERVERS[spec.server]
        names = " or ".join(kind.key_variables) or "the server's key variable"
        return {"reachable": False, "note": f"the key was not accepted; set {names}"}
    try:
        by_id = {model["id"]: model for model in response.json()["data"]}
    except (ValueError, KeyError, TypeError):
        return {"note": f"{url}/models lists nothing"} if spec.server != "ollama" else {}
    model = by_id.get(spec.model)
    if model is None:
        if spec.server in ("llamacpp", "ollama"):
            return {}  # llama.cpp takes any name, Ollama is asked by name
        some = ", ".join(sorted(by_id)[:5])
        return {"note": f"the server does not list {spec.model}; it has {some or 'no model'}"}
    modalities = (model.get("architecture") or {}).get("input_modalities")
    parameters = model.get("supported_parameters")
    fields: dict[str, Any] = {"context": model.get("max_model_len") or model.get("context_length")}
    if isinstance(modalities, list):
        fields |= {
            "images": "image" in modalities,
            "audio": "audio" in modalities,
            "video": "video" in modalities,
        }
    if isinstance(parameters, list):
        fields["json_schema"] = (
            "structured_outputs" in parameters or "response_format" in parameters
        )
    return fields


async def _ollama_capabilities(
    client: httpx2.AsyncClient, spec: ModelSpec, root: str
) -> dict[str, Any]:
    version = (await _get_json(client, f"{root}/api/version")).get("version")
    details = await _get_json(client, f"{root}/api/show", {"model": spec.model})
    if not details:
        note = f"Ollama does not have {spec.model}; run: ollama pull {spec.model}"
        return {"version": version, "note": note}
    capabilities = details.get("capabilities")
    info = details.get("model_info") or {}
    context = next((v for k, v in info.items() if k.endswith(".context_length")), None)
    fields: dict[str, Any] = {"version": version, "context": context}
    if isinstance(capabilities, list):
        fields |= {"images": "vision" in capabilities, "audio": "audio" in capabilities}
    if context:
        fields["note"] = (
            f"the model takes {context} tokens, but Ollama serves only OLLAMA_CONTEXT_LENGTH"
        )
    return fields


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
