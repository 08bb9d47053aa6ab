"""The table of what servers' errors mean: machine codes first, then words.

The first row that fits decides. Rows are ordered by how sure they are: codes that mean one thing
come before codes that several errors share, and all codes before all words. Wordings are those of
the servers' documentation, source and bug reports, to November 2026.
"""

from __future__ import annotations

import re
from enum import StrEnum
from functools import cache
from typing import NamedTuple

from egomem.models.error_body import ErrorBody


class ErrorMeaning(StrEnum):
    """What an error body says; statuses alone decide where no row fits."""

    FILTER = "filter"  # a content filter stopped the request
    CONTEXT = "context"  # longer than the model's context
    IMAGES = "images"  # too many images, or too large ones
    KEY = "key"
    CREDIT = "credit"  # no money left: does not pass with time
    QUOTA = "quota"  # of a day or longer: does not pass soon
    RATE = "rate"  # too many requests or tokens a minute: passes
    BUSY = "busy"  # overloaded or still loading: passes
    MODEL = "model"  # no such model
    NO_IMAGES = "no images"  # the model takes no image at all
    SCHEMA = "schema"  # no JSON schema as a parameter


class ErrorRule(NamedTuple):
    """A row: an error means `meaning` where everything that the row names is in it.

    `source` is who words it so. `codes` are regular expressions for a whole machine code, `words`
    for a piece of the text; `statuses` are HTTP statuses, any where empty; `field` is the name of
    a field that the body must have.
    """

    meaning: ErrorMeaning
    source: str
    codes: str = ""
    words: str = ""
    statuses: tuple[int, ...] = ()
    field: str = ""


_M = ErrorMeaning

RULES: tuple[ErrorRule, ...] = (
    # Codes that mean one thing.
    ErrorRule(_M.FILTER, "Azure, OpenAI, Moonshot", r"content_filter(?:_error|ed)?"),
    ErrorRule(_M.FILTER, "Azure", r"responsibleaipolicyviolation"),
    ErrorRule(_M.FILTER, "OpenAI", r"(?:\w+_)?content_policy(?:_violation)?|moderation_blocked"),
    ErrorRule(_M.FILTER, "OpenAI", r"invalid_prompt"),
    ErrorRule(_M.FILTER, "DashScope", r"(?:\w+\.)*data_?inspection_?failed"),
    ErrorRule(_M.FILTER, "Volcano Ark", r"\w*sensitivecontentdetected(?:\.\w+)?"),
    ErrorRule(_M.FILTER, "Zhipu", r"1301"),
    ErrorRule(_M.FILTER, "MiniMax", r"1026|1027"),
    ErrorRule(_M.FILTER, "any", r"(?:content_)?safety(?:_\w+)?|content_moderation|moderation"),
    ErrorRule(_M.FILTER, "Google", r"prohibited_content|blocklist|image_safety|blocked_reason\w*"),
    ErrorRule(_M.FILTER, "StepFun", r"censorship_blocked"),
    ErrorRule(_M.FILTER, "OpenRouter", field="flagged_input"),
    ErrorRule(_M.CONTEXT, "OpenAI, Groq, Cerebras", r"context_length_exceeded"),
    ErrorRule(_M.CONTEXT, "any", r"context_(?:window|size|limit)_exceeded|prompt_too_long"),
    ErrorRule(_M.CONTEXT, "llama.cpp", r"exceed_context_size_error"),
    ErrorRule(_M.CONTEXT, "OpenAI", r"string_above_max_length|max_tokens_exceeded"),
    ErrorRule(_M.CONTEXT, "Mistral", r"invalid_request_prompt|3051"),
    ErrorRule(_M.CONTEXT, "Zhipu", r"1261"),
    ErrorRule(_M.CONTEXT, "Baidu", r"tokens?_too_long"),
    ErrorRule(_M.CREDIT, "OpenAI", r"billing_(?:hard_limit_reached|not_active)"),
    ErrorRule(_M.CREDIT, "OpenAI", r"insufficient_quota"),
    ErrorRule(_M.CREDIT, "any", r"insufficient_(?:credits?|balance|funds)|payment_required"),
    ErrorRule(_M.CREDIT, "Anthropic", r"billing_error"),
    ErrorRule(_M.CREDIT, "DashScope", r"arrearage"),
    ErrorRule(_M.CREDIT, "Moonshot", r"exceeded_current_quota_error"),
    ErrorRule(_M.CREDIT, "Volcano Ark", r"accountoverdueerror"),
    ErrorRule(_M.CREDIT, "Zhipu", r"1113"),
    ErrorRule(_M.CREDIT, "MiniMax", r"1008"),
    ErrorRule(_M.CREDIT, "DashScope", r"allocationquota\.freetieronly"),
    ErrorRule(_M.CREDIT, "LiteLLM", r"budget_exceeded"),
    ErrorRule(_M.KEY, "OpenAI, DashScope", r"(?:invalid|incorrect)_?api_?key(?:_error)?"),
    ErrorRule(_M.KEY, "Google", r"api_key_(?:invalid|expired|service_blocked)"),
    ErrorRule(_M.KEY, "Anthropic", r"authentication_error"),
    ErrorRule(_M.KEY, "Moonshot", r"invalid_authentication(?:_error)?"),
    ErrorRule(_M.KEY, "Google", r"unauthenticated"),
    ErrorRule(_M.MODEL, "OpenAI", r"model_not_found|model_not_exist"),
    ErrorRule(_M.MODEL, "Azure", r"deploymentnotfound"),
    ErrorRule(_M.MODEL, "Zhipu", r"1211"),
    ErrorRule(_M.QUOTA, "Google", r"[\w-]*perday[\w-]*"),
    ErrorRule(_M.RATE, "Google", r"[\w-]*perminute[\w-]*", statuses=(429,)),
    # Words of content filters: before the codes that other errors share with them.
    ErrorRule(_M.FILTER, "Azure", words=r"content management policy|content filtering polic"),
    ErrorRule(_M.FILTER, "xAI", words=r"violates? (?:our |the )?usage (?:guideline|polic)"),
    ErrorRule(_M.FILTER, "xAI", words=r"SAFETY_CHECK_TYPE"),
    ErrorRule(_M.FILTER, "DashScope", words=r"(?:may|might) contain inappropriate content"),
    ErrorRule(_M.FILTER, "DeepSeek", words=r"content exists risk"),
    ErrorRule(_M.FILTER, "Moonshot", words=r"considered high risk"),
    ErrorRule(_M.FILTER, "OpenRouter", words=r"requires moderation|input was flagged"),
    ErrorRule(_M.FILTER, "OpenAI", words=r"(?:rejected|blocked|flagged)[^.\n]{0,60}\bsafety\b"),
    ErrorRule(_M.FILTER, "OpenAI", words=r"flagged as (?:potentially )?violat|content policy"),
    ErrorRule(
        _M.FILTER, "any", words=r"blocked by (?:the |our )?(?:content|safety) (?:filter|pol)"
    ),
    ErrorRule(_M.FILTER, "LiteLLM", words=r"ContentPolicyViolationError"),
    ErrorRule(_M.CONTEXT, "LiteLLM", words=r"ContextWindowExceededError"),
    ErrorRule(_M.FILTER, "any", words=r"敏感内容|不安全或敏感|内容安全|违规内容|不合规"),
    # A rate of tokens a minute that one request exceeds alone does not pass with time.
    ErrorRule(
        _M.CONTEXT,
        "Groq, OpenAI",
        words=r"request too large for .*tokens per min",
        statuses=(413, 429),
    ),
    ErrorRule(_M.CREDIT, "Anthropic", words=r"credit balance is too low"),
    ErrorRule(_M.CREDIT, "Google", words=r"credits are depleted"),
    ErrorRule(
        _M.QUOTA, "any", words=r"per day\b|daily (?:quota|limit)|\b[RT]PD\b", statuses=(429,)
    ),
    ErrorRule(_M.RATE, "Google", r"resource_exhausted", statuses=(429,)),
    ErrorRule(
        _M.CREDIT,
        "OpenAI",
        words=r"insufficient[_ ]quota|exceeded your current quota|check your (?:plan and )?billing",
    ),
    ErrorRule(_M.CREDIT, "OpenRouter, DeepSeek", words=r"insufficient (?:credits?|balance|funds)"),
    ErrorRule(_M.CREDIT, "SiliconFlow", words=r"balance is (?:insufficient|not enough)"),
    ErrorRule(_M.CREDIT, "OpenRouter", words=r"requires more credits|never purchased credits"),
    ErrorRule(
        _M.CREDIT,
        "xAI",
        words=r"(?:used all|doesn'?t have any|no) (?:available |remaining )?credits",
    ),
    ErrorRule(_M.CREDIT, "any", words=r"spending (?:limit|cap)|余额不足|欠费"),
    ErrorRule(_M.CREDIT, "DashScope", words=r"account is in good standing"),
    ErrorRule(_M.KEY, "Google", words=r"api[ _-]?key (?:not (?:valid|found)|expired)"),
    ErrorRule(
        _M.KEY,
        "OpenAI, xAI",
        words=r"(?:incorrect|invalid|wrong|missing|no) (?:x-)?api[ _-]?key",
        statuses=(400, 401, 403, 422),
    ),
    ErrorRule(
        _M.KEY,
        "any",
        words=r"invalid (?:authentication|credentials|access token|bearer|token)\b|unauthorized",
        statuses=(400, 401, 403),
    ),
    ErrorRule(_M.MODEL, "Ollama", words=r"try pulling it first"),
    ErrorRule(
        _M.MODEL,
        "any",
        words=r"model[^.\n]{0,80}(?:does not exist|not exist|is not (?:found|available)"
        r"|was not found|not found)|(?:unknown|no such) model|is not a valid model",
        statuses=(400, 403, 404, 422),
    ),
    # Models without eyes: before the words of image counts.
    ErrorRule(
        _M.NO_IMAGES,
        "llama.cpp, LM Studio, OpenRouter",
        words=r"image input is not supported|does(?:n'?t| not) support (?:image|vision)s?\b"
        r"|no endpoints found that support image|not a multimodal model"
        r"|missing data required for image|not support(?:ed)? image_url",
    ),
    # Words of the context, before those of images: "context length is 8192 tokens, you sent 30
    # images" is about the context.
    ErrorRule(
        _M.CONTEXT,
        "OpenAI, vLLM, SGLang, OpenRouter",
        words=r"(?:max\w*|model'?s?|available|allowed|total|the) "
        r"(?:\w+ )?context[ _-]?(?:length|size|window|limit)",
    ),
    ErrorRule(
        _M.CONTEXT,
        "MiniMax, OpenAI, Anthropic",
        words=r"context (?:window|length|size|limit)s?\b[^.\n]{0,40}exceed"
        r"|exceed\w*[^.\n]{0,60}context[ _-]?(?:window|length|size|limit|\w*$)",
    ),
    ErrorRule(_M.CONTEXT, "vLLM", words=r"max_model_len|maximum model length"),
    ErrorRule(_M.CONTEXT, "llama.cpp", words=r"\bn_ctx\b|too large to process"),
    ErrorRule(
        _M.CONTEXT,
        "Anthropic, Bedrock, Ollama",
        words=r"(?:prompt|input|request|messages?|text|inputs?)(?: length| token count)?"
        r" (?:is |are )?too (?:long|large)\b(?!.{0,30}(?:MB|bytes|pixel))",
    ),
    ErrorRule(_M.CONTEXT, "Groq, Cerebras", words=r"reduce the length of the (?:messages?|prompt)"),
    ErrorRule(
        _M.CONTEXT,
        "xAI",
        words=r"maximum (?:prompt|input|sequence|model|request) (?:token )?length",
    ),
    ErrorRule(
        _M.CONTEXT,
        "SGLang",
        words=r"(?:input|prompt|sequence)(?:'s)? length[^\n]{0,40}"
        r"(?:exceed|longer|greater|larger|more than)",
    ),
    ErrorRule(_M.CONTEXT, "SGLang, vLLM", words=r"is longer than the (?:model|maximum)"),
    ErrorRule(
        _M.CONTEXT,
        "TGI, Together",
        words=r"`?inputs`? (?:tokens|must have less than)|`?max_new_tokens`? must be <="
        r"|must have less than \d+ tokens",
    ),
    ErrorRule(
        _M.CONTEXT, "DashScope", words=r"range of (?:input|prompt|max_tokens)[^\n]{0,20}length"
    ),
    ErrorRule(
        _M.CONTEXT,
        "Google",
        words=r"(?:input |prompt )?token count[^\n]{0,60}exceed"
        r"|exceeds? the (?:max\w*|available) (?:\w+ )?(?:number of )?(?:\w+ )?(?:tokens|context)",
    ),
    ErrorRule(
        _M.CONTEXT,
        "Moonshot, Ark, any",
        words=r"exceed\w*[^.\n]{0,40}(?:token limit|max(?:imum)? (?:message |number of )?tokens)"
        r"|(?:number of )?tokens?[^.\n]{0,40}exceeds? (?:the )?(?:model|limit|max)",
    ),
    ErrorRule(
        _M.CONTEXT,
        "Cohere, any",
        words=r"too many (?:input |prompt |total )?tokens"
        r"|maximum (?:number of )?(?:input |prompt )?tokens|token limit",
        statuses=(400, 413, 422, 500),
    ),
    ErrorRule(
        _M.CONTEXT,
        "SiliconFlow",
        words=r"length of (?:prompt|input)\w*[^\n]{0,20} must be less than|max_seq_len",
    ),
    ErrorRule(_M.CONTEXT, "LM Studio", words=r"loaded with context length"),
    ErrorRule(_M.CONTEXT, "LM Studio", words=r"tokens to keep from the initial prompt"),
    ErrorRule(
        _M.CONTEXT, "LM Studio", words=r"reached context length|context (?:length )?overflow"
    ),
    ErrorRule(_M.CONTEXT, "Mistral", words=r"too large for model with \d+"),
    ErrorRule(
        _M.CONTEXT, "any", words=r"上下文.{0,12}(?:超|过长)|(?:prompt|输入).{0,6}(?:超长|过长)"
    ),
    ErrorRule(_M.IMAGES, "vLLM", words=r"limit[-_]mm[-_]per[-_]prompt"),
    ErrorRule(
        _M.IMAGES,
        "Anthropic",
        words=r"too (?:many|much) (?:images?|media|pictures?|photos?|attachments?|frames)\b",
    ),
    ErrorRule(
        _M.IMAGES,
        "vLLM, Mistral, Groq",
        words=r"(?:at most|max\w*|limit\w*|more than|only|up to|exceed\w*|fewer than|less than)"
        r"[^.\n]{0,60}?\b(?:images?|image\(s\)|image_url\w*|pictures?|photos?|multimodal items?)",
    ),
    ErrorRule(
        _M.IMAGES,
        "any",
        words=r"\b(?:images?|image\(s\)|image_url\w*|pictures?|photos?)\b[^\n]{0,80}?"
        r"(?:at most|max\w*\b|limit\w*|too (?:many|large|big)|exceed\w*|more than|up to|only|<=|>)",
    ),
    ErrorRule(_M.IMAGES, "any", words=r"(?:number|count|amount) of (?:images?|pictures?)"),
    ErrorRule(_M.IMAGES, "any", words=r"multiple images (?:are|is) not supported|single image"),
    ErrorRule(_M.IMAGES, "any", words=r"图[片像].{0,20}(?:过多|超|最多|上限)|最多.{0,12}图"),
    # Codes that several errors share.
    ErrorRule(_M.RATE, "OpenAI, Anthropic", r"rate_limit\w*"),
    ErrorRule(_M.RATE, "Groq", r"tokens|requests", statuses=(429,)),
    ErrorRule(_M.RATE, "DashScope", r"throttling(?:\.\w+)?|throttlingexception|limit_requests"),
    ErrorRule(_M.BUSY, "Anthropic, Moonshot, TGI", r"(?:\w+_)?overloaded(?:_error)?"),
    ErrorRule(_M.RATE, "Groq, Mistral", r"(?:\w+_)?capacity_exceeded"),
    ErrorRule(_M.BUSY, "llama.cpp, Google", r"unavailable(?:_error)?"),
    ErrorRule(_M.BUSY, "llama.cpp", words=r"loading model|model is (?:currently )?loading"),
    ErrorRule(_M.BUSY, "Ollama", words=r"server busy|overloaded", statuses=(429, 500, 503)),
    ErrorRule(_M.KEY, "Anthropic, Google", r"permission_(?:error|denied)", statuses=(401, 403)),
    ErrorRule(
        _M.SCHEMA,
        "any",
        words=r"response_format|json_schema|structured output|guided|grammar|output_config"
        r"|response_schema|responseschema|response_json_schema",
        statuses=(400, 404, 415, 422, 500, 501),
    ),
)


_ABOUT_THE_REQUEST = frozenset((_M.CONTEXT, _M.IMAGES, _M.NO_IMAGES, _M.SCHEMA))
_BUSY_STATUSES = frozenset((429, 503, 529))


def meaning_of(status: int, body: ErrorBody) -> ErrorMeaning | None:
    """What an error means by the table; None where no row fits and the status must decide."""
    rule = matching_rule(status, body)
    return rule.meaning if rule else None


def matching_rule(status: int, body: ErrorBody) -> ErrorRule | None:
    """The first row that fits an error."""
    for rule in RULES:
        if rule.statuses and status not in rule.statuses:
            continue
        # "Limit 30000 tokens per minute" is about the rate, whatever it says of tokens or images.
        about_request = rule.words and rule.meaning in _ABOUT_THE_REQUEST and not rule.statuses
        if about_request and status in _BUSY_STATUSES:
            continue
        if rule.field and rule.field not in body.fields:
            continue
        if rule.codes and not any(map(_compiled(rule.codes).fullmatch, body.codes)):
            continue
        if rule.words and not _compiled(rule.words).search(body.words):
            continue
        return rule
    return None


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)
