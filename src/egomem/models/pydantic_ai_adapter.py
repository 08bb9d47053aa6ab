"""Our requests as pydantic-ai's, its responses as ours. The only file that knows pydantic-ai.

It is imported when the first request is sent: pydantic-ai takes more than a second to load.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import httpx2
from pydantic_ai import messages as pai
from pydantic_ai.direct import model_request
from pydantic_ai.exceptions import UserError
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIChatModelSettings
from pydantic_ai.output import OutputObjectDefinition

from egomem.errors import ConfigError, MissingExtraError
from egomem.models.completion import Completion, read_logprobs
from egomem.models.http_errors import redacted
from egomem.models.request import AudioPart, ImagePart, Request, TextPart, VideoPart
from egomem.models.roles import ModelSpec
from egomem.models.servers import SERVERS
from egomem.models.transport import EXCHANGE, HttpExchange

# No model writes these, so pydantic-ai leaves thinking blocks in the text for `reply_parsing`: its
# own parser takes an unclosed block for an answer.
_UNUSED_THINKING_TAGS = ("\x00think\x00", "\x00/think\x00")


class _ClipModel(OpenAIChatModel):
    """Chat completions with a `video_url` part, which vLLM takes and OpenAI does not."""

    async def _map_binary_content_item(self, item: pai.BinaryContent) -> Any:
        if item.media_type.startswith("video/"):
            return {"type": "video_url", "video_url": {"url": item.data_uri}}
        return await super()._map_binary_content_item(item)


def build_model(
    spec: ModelSpec, client: httpx2.AsyncClient, environ: Mapping[str, str]
) -> Model[Any]:
    """The pydantic-ai model for a spec, without any retries of its own.

    Raises ConfigError where the server's key is missing or the model's name is impossible, and
    MissingExtraError where the server's client is not installed.
    """
    try:
        return _build_for_server(spec, client, environ)
    except UserError as error:
        raise ConfigError(f"{spec}: {redacted(str(error), spec.key(environ))}") from None
    except Exception as error:
        # Google's client looks for credentials when it is made. Its error is known by name alone:
        # the package that defines it may not be installed.
        if type(error).__name__ != "DefaultCredentialsError":
            raise
        raise ConfigError(
            f"{spec}: no Google Cloud credentials were found",
            "run: gcloud auth application-default login; and set GOOGLE_CLOUD_PROJECT",
        ) from None


def _build_for_server(
    spec: ModelSpec, client: httpx2.AsyncClient, environ: Mapping[str, str]
) -> Model[Any]:
    kind = SERVERS[spec.server]
    key = spec.key(environ)
    if kind.needs_key and not key and not (spec.url and spec.server == "openai"):
        raise ConfigError(
            f"{kind.title} needs a key", f"set {' or '.join(kind.key_variables)}"
        ) from None
    if spec.server == "anthropic":
        return _anthropic(spec, client, key)
    if spec.server in ("google", "google-cloud"):
        return _google(spec, client, key, environ)
    profile: dict[str, Any] = {
        "thinking_tags": _UNUSED_THINKING_TAGS,
        "supports_json_schema_output": True,
        "native_output_requires_schema_in_instructions": False,
        "supports_audio_file_input": True,
    }
    model: OpenAIChatModel
    if spec.server == "azure":
        from pydantic_ai.providers.azure import AzureProvider

        if not spec.url:
            raise ConfigError("Azure OpenAI has no address", "set AZURE_OPENAI_ENDPOINT")
        azure = AzureProvider(
            azure_endpoint=spec.url,
            # Azure's newer address, `.../openai/v1`, takes no version.
            api_version=None
            if spec.url.endswith("/v1")
            else environ.get("OPENAI_API_VERSION", "2024-10-21"),
            api_key=key,
            http_client=client,
        )
        model = OpenAIChatModel(spec.model, provider=azure, profile=profile)  # type: ignore[arg-type]
    elif spec.server == "openrouter":
        from pydantic_ai.models.openrouter import OpenRouterModel
        from pydantic_ai.providers.openrouter import OpenRouterProvider

        router = OpenRouterProvider(api_key=key or "", http_client=client)
        model = OpenRouterModel(spec.model, provider=router, profile=profile)  # type: ignore[arg-type]
        if spec.url:
            model.client.base_url = spec.url
    else:
        from pydantic_ai.providers.openai import OpenAIProvider

        if spec.server != "openai":
            # The older name of this field is the one that every other server knows.
            profile["openai_chat_supports_max_completion_tokens"] = False
        provider = OpenAIProvider(
            base_url=spec.url or None, api_key=key or "none", http_client=client
        )
        model = _ClipModel(spec.model, provider=provider, profile=profile)  # type: ignore[arg-type]
    model.client.max_retries = 0
    return model


def _anthropic(spec: ModelSpec, client: httpx2.AsyncClient, key: str | None) -> Model[Any]:
    try:
        from pydantic_ai.models.anthropic import AnthropicModel
        from pydantic_ai.providers.anthropic import AnthropicProvider
    except ImportError:
        raise MissingExtraError("Anthropic's client", "anthropic") from None
    provider = AnthropicProvider(api_key=key or "", base_url=spec.url or None, http_client=client)
    provider.client.max_retries = 0
    return AnthropicModel(spec.model, provider=provider)


def _google(
    spec: ModelSpec, client: httpx2.AsyncClient, key: str | None, environ: Mapping[str, str]
) -> Model[Any]:
    try:
        from pydantic_ai.models.google import GoogleModel
        from pydantic_ai.providers.google import GoogleProvider
    except ImportError:
        raise MissingExtraError("Google's client", "google") from None
    if spec.server == "google":
        return GoogleModel(
            spec.model,
            provider=GoogleProvider(
                api_key=key or "", base_url=spec.url or None, http_client=client
            ),
        )
    from pydantic_ai.providers.google_cloud import GoogleCloudProvider

    return GoogleModel(
        spec.model,
        provider=GoogleCloudProvider(
            project=environ.get("GOOGLE_CLOUD_PROJECT"),
            location=environ.get("GOOGLE_CLOUD_LOCATION", "global"),
            http_client=client,
        ),
    )


async def send_request(
    model: Model[Any], request: Request, exchange: HttpExchange, *, schema_in_words: bool = False
) -> Completion:
    """Send a request once. `schema_in_words`: describe the JSON schema in the prompt.

    Raises whatever the client raises; `exchange.response` then holds the response, if any.
    """
    parameters = ModelRequestParameters()
    if request.schema is not None and not schema_in_words:
        parameters = ModelRequestParameters(
            output_mode="native",
            output_object=OutputObjectDefinition(json_schema=dict(request.schema), name="reply"),
        )
    settings = OpenAIChatModelSettings()
    profile: Mapping[str, Any] = model.profile
    if not (
        profile.get("openai_supports_reasoning") and profile.get("thinking_enabled_by_default")
    ):
        # OpenAI's reasoning models take no temperature.
        settings["temperature"] = request.temperature
    if request.max_tokens is not None:
        settings["max_tokens"] = request.max_tokens
    if request.seed is not None:
        settings["seed"] = request.seed
    if request.logprobs:
        settings["openai_logprobs"] = True
        settings["openai_top_logprobs"] = request.logprobs
    token = EXCHANGE.set(exchange)
    try:
        response = await model_request(
            model,
            _messages(request, exchange, schema_in_words),
            model_settings=settings,
            model_request_parameters=parameters,
        )
    finally:
        EXCHANGE.reset(token)
    return _completion(response)


def _messages(
    request: Request, exchange: HttpExchange, schema_in_words: bool
) -> list[pai.ModelMessage]:
    content: list[pai.UserContent] = []
    for part in request.parts:
        if isinstance(part, TextPart):
            content.append(part.text)
        elif isinstance(part, ImagePart):
            if part.label:
                content.append(part.label)
            placeholder = exchange.add(part.sha256, part.data)
            content.append(pai.BinaryContent(placeholder, media_type="image/jpeg"))
        elif isinstance(part, AudioPart):
            placeholder = exchange.add(part.sha256, part.data)
            media = "audio/wav" if part.format == "wav" else "audio/mpeg"
            content.append(pai.BinaryContent(placeholder, media_type=media))
        elif isinstance(part, VideoPart):
            pieces = [frame.data for frame in part.frames] or [part.data]
            placeholder = exchange.add(part.sha256, *pieces)
            media = "video/jpeg" if part.frames else "video/mp4"
            content.append(pai.BinaryContent(placeholder, media_type=media))
    if schema_in_words and request.schema is not None:
        content.append(f"Reply with JSON of this schema: {json.dumps(request.schema)}")
    prompt: str | Sequence[pai.UserContent] = content
    if all(isinstance(item, str) for item in content):
        # Servers of text-only models often take nothing but a plain string.
        prompt = "\n\n".join(str(item) for item in content)
    parts: list[pai.SystemPromptPart | pai.UserPromptPart] = [pai.UserPromptPart(prompt)]
    if request.system:
        parts.insert(0, pai.SystemPromptPart(request.system))
    return [pai.ModelRequest(parts=parts)]


def _completion(response: pai.ModelResponse) -> Completion:
    details: dict[str, Any] = response.provider_details or {}
    raw = "".join(p.content for p in response.parts if isinstance(p, pai.TextPart))
    reasoning = "\n".join(p.content for p in response.parts if isinstance(p, pai.ThinkingPart))
    refusal = details.get("refusal")
    return Completion(
        raw=raw,
        reasoning=reasoning,
        refusal=refusal if isinstance(refusal, str) else "",
        finish=_finish_reason(response, details),
        logprobs=read_logprobs(details.get("logprobs")),
        model=response.model_name or "",
    )


def _finish_reason(response: pai.ModelResponse, details: Mapping[str, Any]) -> str | None:
    """The finish reason in the server's own word: pydantic-ai maps unknown ones to None."""
    native = details.get("finish_reason")
    return str(native) if native else response.finish_reason
