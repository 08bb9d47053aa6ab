"""Open or closed: what the table knows, what it leaves open, and who overrules it."""

from __future__ import annotations

import pytest

from egomem.errors import UsageError
from egomem.report.open_weights import classify_weights, weights_of


@pytest.mark.parametrize(
    ("spec", "kind"),
    [
        ("openrouter:openai/gpt-oss-120b", "open"),
        ("openrouter:openai/gpt-5.2-mini", "closed"),
        ("openai-compatible:gpt-5@http://proxy.test/v1", "closed"),
        ("openai:o4-mini", "closed"),
        ("openrouter:aidc-ai/marco-o1", "not known"),
        ("azure:our-deployment", "not known"),
        ("google:gemma-3-27b-it", "open"),
        ("google:gemini-3-pro", "closed"),
        ("openai-compatible:us.anthropic.claude-sonnet-4-v1:0@http://b.test", "closed"),
        ("openrouter:amazon/nova-pro-v1", "closed"),
        ("openrouter:x-ai/grok-4.1", "closed"),
        ("openrouter:x-ai/grok-2-vision", "not known"),
        ("openrouter:qwen/qwen3-max", "closed"),
        ("openrouter:qwen/qwen3-vl-plus", "closed"),
        ("openrouter:qwen/qwen3-vl-32b-instruct", "open"),
        ("vllm:Qwen/Qwen3.5-2B@http://h.test:8000/v1", "open"),
        ("ollama:qwen3-vl:8b", "open"),
        ("openrouter:qwen/qwen3-coder", "not known"),
        ("openrouter:mistralai/mistral-large", "not known"),
        ("openrouter:mistralai/mistral-large-2512", "open"),
        ("openrouter:mistralai/mistral-medium-3.1", "closed"),
        ("openrouter:cohere/command-a-03-2025", "open"),
        ("vllm:OpenGVLab/InternVL3_5-38B@http://h.test/v1", "open"),
        ("openrouter:z-ai/glm-4.5v", "open"),
        ("openrouter:z-ai/glm-4-plus", "not known"),
        ("vllm:our-own-model@http://h.test/v1", "not known"),
        ("vllm:claude-distilled-llama-3-8b@http://h.test/v1", "not known"),
    ],
)
def test_weights_follow_from_the_name_and_not_from_the_server(spec: str, kind: str) -> None:
    assert weights_of(spec) == kind


def test_what_a_user_states_overrules_the_table() -> None:
    specs = ["vllm:mine@http://h.test/v1", "openrouter:qwen/qwen3-max", "ollama:gemma3:4b"]
    assert list(classify_weights(specs).values()) == ["not known", "closed", "open"]
    weights = classify_weights(specs, open=["qwen/qwen3-max"], closed=["mine", "ollama:gemma3:4b"])
    assert list(weights.values()) == ["closed", "open", "closed"]
    with pytest.raises(UsageError, match="--open gemma: no reader has that name"):
        classify_weights(specs, open=["gemma"])
    with pytest.raises(UsageError, match="both open and closed"):
        classify_weights(specs, open=["mine"], closed=["mine"])
