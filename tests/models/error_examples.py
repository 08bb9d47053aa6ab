"""What servers answered: who, the status, the body, and what it means.

The wordings are those of the servers; names, numbers and ids are made up.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from egomem.models import ErrorKind

K = ErrorKind


class Example(NamedTuple):
    """`limit`: the number of images that it allows (31 were sent). `wait`: seconds to wait."""

    source: str
    status: int
    body: Any
    fault: ErrorKind
    retry: bool = False
    limit: int | None = None
    wait: float | None = None


def openai(message: str, code: str | int | None = None, kind: str | None = None) -> dict[str, Any]:
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def google(message: str, status: str, code: int, *details: dict[str, Any]) -> dict[str, Any]:
    error = {"code": code, "message": message, "status": status, "details": list(details)}
    return {"error": error}


def flat(message: str, code: int = 400) -> dict[str, Any]:
    return {"object": "error", "message": message, "type": "BadRequestError", "code": code}


GOOGLE_QUOTA = "You exceeded your current quota, please check your plan and billing details."
PER_MINUTE = {
    "@type": "type.googleapis.com/google.rpc.QuotaFailure",
    "violations": [{"quotaId": "GenerateRequestsPerMinutePerProjectPerModel-FreeTier"}],
}
PER_DAY = {
    "@type": "type.googleapis.com/google.rpc.QuotaFailure",
    "violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"}],
}
RETRY = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "17.5s"}
RAW = '{"type":"error","error":{"message":"prompt is too long: 70123 tokens > 65536 maximum"}}'

FILTERS = [
    Example("Azure", 400, openai("filtered", "content_filter"), K.FILTER),
    Example(
        "Azure",
        400,
        {"error": {"code": "x", "innererror": {"code": "ResponsibleAIPolicyViolation"}}},
        K.FILTER,
    ),
    Example(
        "litellm",
        400,
        openai("triggering Azure OpenAI's content management policy. Please modify", "400"),
        K.FILTER,
    ),
    Example("OpenAI", 400, openai("not allowed", "content_policy_violation"), K.FILTER),
    Example("OpenAI", 400, openai("limited access", "invalid_prompt"), K.FILTER),
    Example("OpenAI", 400, openai("no", "moderation_blocked"), K.FILTER),
    Example("OpenAI", 400, openai("was rejected as a result of our safety system"), K.FILTER),
    Example("OpenAI", 400, openai("flagged as potentially violating our usage policy"), K.FILTER),
    Example("DashScope", 400, openai("Input data", "data_inspection_failed"), K.FILTER),
    Example("DashScope", 400, {"code": "DataInspectionFailed", "message": "no"}, K.FILTER),
    Example(
        "DashScope",
        400,
        openai("<400> X: Output data may contain inappropriate content."),
        K.FILTER,
    ),
    Example("Ark", 400, openai("no", "InputImageSensitiveContentDetected"), K.FILTER),
    Example("Zhipu", 400, openai("x", "1301"), K.FILTER),
    Example("MiniMax", 200 + 222, {"base_resp": {"status_code": 1026}}, K.FILTER),
    Example("any", 400, openai("x", "content_safety"), K.FILTER),
    Example("Google", 400, {"error": {"details": [{"reason": "PROHIBITED_CONTENT"}]}}, K.FILTER),
    Example("OpenRouter", 403, {"error": {"metadata": {"flagged_input": "x"}}}, K.FILTER),
    Example("OpenRouter", 403, openai("m requires moderation on P. Retry", 403), K.FILTER),
    Example(
        "xAI",
        403,
        {"code": "no permission", "error": "Content violates usage guidelines. Failed: S"},
        K.FILTER,
    ),
    Example("xAI", 403, {"code": "x", "error": "Failed check: SAFETY_CHECK_TYPE_BIO"}, K.FILTER),
    Example("DeepSeek", 400, openai("Content Exists Risk"), K.FILTER),
    Example("Moonshot", 400, openai("rejected because it was considered high risk"), K.FILTER),
    Example("Anthropic", 400, openai("Output blocked by content filtering policy"), K.FILTER),
    Example("any", 400, openai("blocked by our content filter"), K.FILTER),
    Example("Zhipu", 400, openai("系统检测到输入可能包含敏感内容"), K.FILTER),
]

CONTEXTS = [
    Example("OpenAI", 400, openai("anything at all", "context_length_exceeded"), K.CONTEXT),
    Example("OpenAI", 400, openai("Invalid 'x'", "string_above_max_length"), K.CONTEXT),
    Example(
        "OpenAI", 400, openai("Your input exceeds the context window of this model."), K.CONTEXT
    ),
    Example(
        "Groq", 400, openai("Please reduce the length of the messages or completion."), K.CONTEXT
    ),
    Example(
        "Groq",
        413,
        openai(
            "Request too large for model `m` on tokens per minute (TPM): Limit 7000, Requested 9",
            "rate_limit_exceeded",
            "tokens",
        ),
        K.CONTEXT,
    ),
    Example("any", 400, openai("x", "context_window_exceeded"), K.CONTEXT),
    Example("llama.cpp", 400, openai("x", 400, "exceed_context_size_error"), K.CONTEXT),
    Example("llama.cpp", 500, openai("input is too large to process. increase batch"), K.CONTEXT),
    Example("llama.cpp", 400, openai("slot n_ctx = 4096 is full"), K.CONTEXT),
    Example("Mistral", 400, openai("x", "3051", "invalid_request_prompt"), K.CONTEXT),
    Example(
        "Mistral",
        400,
        {"message": "Prompt contains 40001 tokens, too large for model with 32768"},
        K.CONTEXT,
    ),
    Example("Zhipu", 400, openai("x", "1261"), K.CONTEXT),
    Example("Zhipu", 400, openai("Prompt 超长"), K.CONTEXT),
    Example("SGLang", 400, flat("The input (9011 tokens) is longer than the model's"), K.CONTEXT),
    Example(
        "SGLang",
        400,
        flat("Requested token count exceeds the model's maximum context length of 8000 tokens."),
        K.CONTEXT,
    ),
    Example(
        "SGLang", 400, flat("Input length (9001) exceeds the allowed length (8192)"), K.CONTEXT
    ),
    Example(
        "TGI",
        422,
        {
            "error": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 2048.",
            "error_type": "validation",
        },
        K.CONTEXT,
    ),
    Example(
        "TGI", 422, {"error": "`inputs` must have less than 1023 tokens. Given: 2000"}, K.CONTEXT
    ),
    Example(
        "DashScope",
        400,
        openai("<400> X: Range of input length should be [1, 129024]", "invalid_parameter_error"),
        K.CONTEXT,
    ),
    Example(
        "xAI",
        400,
        {
            "code": "Client specified an invalid argument",
            "error": "This model's maximum prompt length is 131072 but it contains 537812 tokens.",
        },
        K.CONTEXT,
    ),
    Example(
        "vLLM", 400, flat("The decoder prompt (9) is longer than the maximum model"), K.CONTEXT
    ),
    Example("vLLM", 400, flat("Make sure that `max_model_len` is no smaller"), K.CONTEXT),
    Example(
        "vLLM",
        400,
        flat("This model's maximum context length is 8192 tokens. You passed 31 images"),
        K.CONTEXT,
    ),
    Example("Ollama", 500, {"error": "the input length exceeds the context length"}, K.CONTEXT),
    Example(
        "Ollama",
        400,
        openai("prompt too long; exceeded max context length by 12 tokens"),
        K.CONTEXT,
    ),
    Example("Bedrock", 400, {"message": "Input is too long for requested model."}, K.CONTEXT),
    Example("OpenRouter", 400, {"error": {"message": "P", "metadata": {"raw": RAW}}}, K.CONTEXT),
    Example("MiniMax", 400, openai("invalid params, context window exceeds limit"), K.CONTEXT),
    Example("Moonshot", 400, openai("Your request exceeded model token limit: 8192"), K.CONTEXT),
    Example("Ark", 400, openai("Total tokens exceed max message tokens"), K.CONTEXT),
    Example("Cohere", 400, {"message": "too many tokens: size limit exceeded by 9"}, K.CONTEXT),
    Example(
        "Google",
        400,
        google(
            "The input token count (9) exceeds the maximum allowed (8).", "INVALID_ARGUMENT", 400
        ),
        K.CONTEXT,
    ),
    Example(
        "LM Studio",
        400,
        {"error": "The number of tokens to keep from the initial prompt is greater than the"},
        K.CONTEXT,
    ),
    Example("LM Studio", 400, {"error": "Reached context length of 4096 tokens"}, K.CONTEXT),
    Example("any", 400, openai("上下文长度超过限制"), K.CONTEXT),
]

IMAGES = [
    Example(
        "vLLM", 400, flat("At most 6 image(s) may be provided in one prompt."), K.IMAGES, False, 6
    ),
    Example(
        "vLLM",
        400,
        flat("You set image=2 (or defaulted to 1) in `--limit-mm-per-prompt`, but passed 31 items"),
        K.IMAGES,
        False,
        2,
    ),
    Example("Mistral", 400, openai("Too many images in request: 31. max 9"), K.IMAGES, False, 9),
    Example(
        "Groq",
        400,
        openai("Too many images provided. This model supports up to 5"),
        K.IMAGES,
        False,
        5,
    ),
    Example("Azure", 400, openai("Too many images in request. Max is 11."), K.IMAGES, False, 11),
    Example(
        "Copilot",
        400,
        openai("31 images provided, but the model supports a maximum of 12 images."),
        K.IMAGES,
        False,
        12,
    ),
    Example(
        "any",
        400,
        openai("request contains 31 images, exceeding the limit of 15"),
        K.IMAGES,
        False,
        15,
    ),
    Example(
        "gateway",
        500,
        openai("too many images in the message, max allowed is 16"),
        K.IMAGES,
        False,
        16,
    ),
    Example(
        "Anthropic", 400, openai("too many images and documents: 31 + 0 > 20"), K.IMAGES, False, 20
    ),
    Example("any", 400, openai("multiple images are not supported"), K.IMAGES, False, 1),
    Example("any", 400, openai("the number of images should be in [1, 8]"), K.IMAGES, False, 8),
    Example("any", 400, openai("图片数量过多，最多 7 张"), K.IMAGES, False, 7),
    Example("any", 413, "Payload Too Large", K.IMAGES),
]

MONEY = [
    Example("OpenAI", 429, openai(GOOGLE_QUOTA, "insufficient_quota"), K.RATE),
    Example("OpenAI", 429, openai(GOOGLE_QUOTA), K.RATE),
    Example("OpenAI", 400, openai("x", "billing_hard_limit_reached"), K.RATE),
    Example("any", 402, openai("x", "insufficient_credits"), K.RATE),
    Example("Anthropic", 400, openai("Your credit balance is too low to access"), K.RATE),
    Example("Anthropic", 402, {"error": {"type": "billing_error", "message": "x"}}, K.RATE),
    Example("DashScope", 400, openai("x", "Arrearage"), K.RATE),
    Example("DashScope", 400, openai("make sure your account is in good standing"), K.RATE),
    Example("Moonshot", 429, openai("x", None, "exceeded_current_quota_error"), K.RATE),
    Example("Ark", 403, openai("x", "AccountOverdueError"), K.RATE),
    Example("Zhipu", 429, openai("x", "1113"), K.RATE),
    Example("MiniMax", 400, {"base_resp": {"status_code": 1008}}, K.RATE),
    Example("DeepSeek", 402, openai("Insufficient Balance"), K.RATE),
    Example("OpenRouter", 402, openai("This request requires more credits"), K.RATE),
    Example("xAI", 403, {"code": "x", "error": "Your team has used all available credits"}, K.RATE),
    Example("xAI", 429, {"error": "or reached its monthly spending limit"}, K.RATE),
    Example("Google", 429, google("Your credits are depleted", "RESOURCE_EXHAUSTED", 429), K.RATE),
]

RATES = [
    Example(
        "Google",
        429,
        google(GOOGLE_QUOTA, "RESOURCE_EXHAUSTED", 429, PER_MINUTE, RETRY),
        K.RATE,
        True,
        wait=17.5,
    ),
    Example(
        "Google",
        429,
        [google(GOOGLE_QUOTA + " Please retry in 8.25s.", "RESOURCE_EXHAUSTED", 429)],
        K.RATE,
        True,
        wait=8.25,
    ),
    Example("Google", 429, openai(GOOGLE_QUOTA + " Please retry in 3s."), K.RATE, True, wait=3),
    Example("Google", 429, google(GOOGLE_QUOTA, "X", 429, PER_DAY), K.RATE, False),
    Example("any", 429, openai("Limit of requests per day (RPD) reached"), K.RATE, False),
    Example(
        "OpenAI",
        429,
        openai("Limit 30000 tokens, images: 31. Please try again in 1m2.5s", "rate_limit_exceeded"),
        K.RATE,
        True,
        wait=62.5,
    ),
    Example("Anthropic", 429, openai("slow", None, "rate_limit_error"), K.RATE, True),
    Example("Groq", 429, openai("slow", None, "tokens"), K.RATE, True),
    Example("DashScope", 429, openai("slow", "Throttling.RateQuota"), K.RATE, True),
    Example("Google", 429, google("slow", "RESOURCE_EXHAUSTED", 429), K.RATE, True),
    Example("Anthropic", 529, openai("x", None, "overloaded_error"), K.SERVER, True),
    Example("TGI", 429, {"error": "Model", "error_type": "overloaded"}, K.SERVER, True),
    Example("llama.cpp", 503, openai("Loading", 503, "unavailable_error"), K.SERVER, True),
    Example("llama.cpp", 400, openai("Loading model"), K.SERVER, True),
    Example("Ollama", 503, {"error": "server busy, please try again"}, K.SERVER, True),
    Example("Cloudflare", 521, "<html>Web server is down</html>", K.SERVER, True),
    Example("Cloudflare", 523, "<html>Origin is unreachable</html>", K.SERVER, True),
    Example("Cloudflare", 530, "error code: 1033", K.SERVER, True),
]

OTHERS = [
    Example("Google", 400, google("API key not valid.", "INVALID_ARGUMENT", 400), K.KEY),
    Example("Google", 400, {"error": {"details": [{"reason": "API_KEY_INVALID"}]}}, K.KEY),
    Example("Google", 401, google("x", "UNAUTHENTICATED", 401), K.KEY),
    Example("Google", 403, google("x", "PERMISSION_DENIED", 403), K.KEY),
    Example("Anthropic", 401, openai("x", None, "authentication_error"), K.KEY),
    Example("Moonshot", 401, openai("x", None, "invalid_authentication_error"), K.KEY),
    Example("OpenAI", 400, openai("x", "invalid_api_key"), K.KEY),
    Example("xAI", 400, {"code": "x", "error": "Incorrect API key provided: xa***."}, K.KEY),
    Example("any", 400, openai("Invalid token"), K.KEY),
    Example("OpenAI", 404, openai("x", "model_not_found"), K.MODEL),
    Example("Azure", 404, openai("x", "DeploymentNotFound"), K.MODEL),
    Example("Ollama", 404, {"error": 'model "q" not found, try pulling it first'}, K.MODEL),
    Example("OpenRouter", 400, openai("a/b is not a valid model ID", 400), K.MODEL),
    Example("llama.cpp", 400, openai("image input is not supported - hint: mmproj"), K.REQUEST),
    Example("OpenAI", 400, openai("Unknown parameter: response_format"), K.REQUEST),
]

GATEWAYS = [
    Example(
        "Baidu", 400, openai("the max input characters is 61234", "tokens_too_long"), K.CONTEXT
    ),
    Example("StepFun", 451, openai("The output is blocked.", None, "censorship_blocked"), K.FILTER),
    Example(
        "DashScope",
        403,
        {"code": "AllocationQuota.FreeTierOnly", "message": "The free tier has been exhausted."},
        K.RATE,
    ),
    Example("LiteLLM", 400, openai("Budget has been exceeded!", 400, "budget_exceeded"), K.RATE),
    Example("Zhipu", 400, {"error": {"code": "1211", "message": "模型不存在"}}, K.MODEL),
    Example("LiteLLM", 400, openai("litellm.ContentPolicyViolationError: filtered", 400), K.FILTER),
    Example(
        "LiteLLM",
        400,
        openai("litellm.ContextWindowExceededError: OpenAIException", 400),
        K.CONTEXT,
    ),
    Example(
        "SiliconFlow",
        403,
        {"code": 30001, "message": "Sorry, your account balance is insufficient", "data": None},
        K.RATE,
    ),
    Example(
        "SiliconFlow",
        400,
        {"code": 20015, "message": "length of prompt_tokens (812) must be less than 700"},
        K.CONTEXT,
    ),
    Example(
        "LM Studio",
        400,
        {"error": "However, the model is loaded with context length of only 2048 tokens"},
        K.CONTEXT,
    ),
    Example("Groq", 498, openai("Flex tier exceeded", "capacity_exceeded"), K.RATE, retry=True),
]

EXAMPLES = [*FILTERS, *CONTEXTS, *IMAGES, *MONEY, *RATES, *OTHERS, *GATEWAYS]
