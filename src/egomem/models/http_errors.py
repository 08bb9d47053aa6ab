"""What an HTTP error means: whether to retry, and one line for a person.

No message holds a key, a header or image bytes: error bodies of some servers echo them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import NamedTuple

from egomem.models.reply import ErrorKind
from egomem.models.servers import ServerKind

# 409 (conflict) and 425 (too early) pass with time; 529 is Anthropic's "overloaded".
RETRIED_STATUSES = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529})
BUSY_STATUSES = frozenset({429, 503, 529})

# Better a word too many removed than a key shown; long runs of letters are keys or base64.
_SECRETS = re.compile(
    r"(?:bearer|basic)\s+[\w.~+/=-]+"
    r"|\b(?:sk|pk|key|api|hf|gsk)[-_][\w.-]{6,}|\bAIza[\w-]{10,}"
    r"|(?:api[-_ ]?key|authorization|x-goog-api-key|token|secret|password)"
    r"['\"]?\s*[:=]\s*['\"]?(?:(?:bearer|basic)\s+)?[^\s'\",}]+"
    r"|data:[\w/+.-]+;base64,[\w+/=]*"
    r"|[A-Za-z0-9+/_-]{64,}={0,2}",
    re.IGNORECASE,
)
# Servers have no common code for too many images or too long a context, so their words decide.
_IMAGES = re.compile(
    r"(?:at most|maximum|max|limit|too many|exceed|only (?:support|accept)s?)"
    r"[^.\n]{0,60}?\bimages?\b"
    r"|\bimages?\b[^.\n]{0,60}?(?:at most|maximum|max\b|limit|too many|exceed|too large)",
    re.IGNORECASE,
)
_CONTEXT = re.compile(
    r"context[ _](?:length|size|window|limit)|max_model_len|n_ctx|(?:prompt|input) is too long"
    r"|too many (?:input )?tokens|exceeds? the (?:max\w*|available) (?:\w+ )?(?:tokens|context)"
    r"|maximum (?:number of )?(?:input )?tokens|token limit",
    re.IGNORECASE,
)
_VIDEO = re.compile(r"\bvideo\b|timestamps length", re.IGNORECASE)
_SCHEMA = re.compile(
    r"response_format|json_schema|structured output|guided|grammar|output_config|response_schema",
    re.IGNORECASE,
)
_MAX_IMAGES = re.compile(
    r"(?:at most|max(?:imum)?(?: of| is| allowed)?|limit(?: of| is)?|up to)\D{0,12}(\d+)",
    re.IGNORECASE,
)
_NO_CREDIT = re.compile(r"insufficient[_ ](?:quota|credit|balance)|billing", re.IGNORECASE)


FIT_REMEDY = "let frames be left out with --fit or EGOMEM_FIT=true"


def _lower_limits_remedy(role: str) -> str:
    """How to make a role's requests smaller, by settings that every command reads."""
    variable = f"EGOMEM_LIMITS_{role.upper()}_"
    return (
        f"lower limits.{role}.images or .side ({variable}IMAGES, {variable}SIDE), or {FIT_REMEDY}"
    )


class FailedAttempt(NamedTuple):
    """Why an attempt failed, and what may be done about it.

    `retry`: another attempt may succeed. `busy`: the server has too much to do. `retry_after`:
    seconds that it asked to wait. `max_images`: the number of images that it named as its limit.
    `schema_rejected`: it refused the JSON schema.
    """

    fault: ErrorKind
    detail: str
    retry: bool = False
    busy: bool = False
    retry_after: float | None = None
    max_images: int | None = None
    schema_rejected: bool = False


def redacted(text: str, key: str | None = None, max_length: int = 300) -> str:
    """The text on one line, cut to `max_length`, without the key and all that looks like one."""
    if key:
        text = text.replace(key, "[key]")
    text = " ".join(_SECRETS.sub("[removed]", text).split())
    return text if len(text) <= max_length else text[: max_length - 1] + "…"


def error_message(body: bytes) -> str:
    """The message in an error body of one of the usual shapes, else the body's beginning."""
    text = body[:20_000].decode("utf-8", "replace")  # some servers send a whole web page
    try:
        value = json.loads(text)
    except ValueError:
        return re.sub(r"<[^>]*>", " ", text)
    for _ in range(3):  # {"error": {"message": ...}}, and the same in a list (Google)
        if isinstance(value, list) and value:
            value = value[0]
        elif isinstance(value, Mapping):
            value = next(
                (value[n] for n in ("error", "message", "detail", "msg") if value.get(n)), ""
            )
        else:
            break
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait, from `retry-after-ms` or `Retry-After` (seconds or an HTTP date)."""
    try:
        if "retry-after-ms" in headers:
            return max(0.0, float(headers["retry-after-ms"]) / 1000)
        value = headers.get("retry-after")
        if value is None:
            return None
        if re.fullmatch(r"\d+(?:\.\d+)?", value.strip()):
            return float(value)
        return max(0.0, (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):
        return None


def explain_status(
    status: int,
    headers: Mapping[str, str],
    body: bytes,
    *,
    role: str,
    server: ServerKind,
    key: str | None,
    images: int,
    video: bool = False,
) -> FailedAttempt:
    """The failure of a request of `role` with `images` images that an HTTP status >= 400 means."""
    message = redacted(error_message(body), key)
    answer = f"{server.title} answered HTTP {status}"
    if status in (401, 403):  # their bodies echo headers: nothing of them is kept
        name = " or ".join(server.key_variables) or "the credentials"
        return FailedAttempt(ErrorKind.KEY, f"{answer}: the key was not accepted; set {name}")
    # A 429 for lack of credit does not pass with time, unlike every other 429.
    if status == 402 or (status == 429 and _NO_CREDIT.search(message)):
        return FailedAttempt(ErrorKind.RATE, f"{answer}: the account has no credit left")
    if status == 404:
        return FailedAttempt(
            ErrorKind.MODEL, f"{answer}: {message}; check the model's name and the address"
        )
    # Servers that sample a clip themselves answer 500 to what they cannot sample: final as well.
    if video and _VIDEO.search(message):
        return FailedAttempt(
            ErrorKind.IMAGES,
            f"{answer} to a video part: {message}; send the frames as images instead",
        )
    if status in RETRIED_STATUSES:
        fault = ErrorKind.RATE if status == 429 else ErrorKind.SERVER
        line = f"{answer}: {message}" if message else answer
        return FailedAttempt(fault, line, True, status in BUSY_STATUSES, retry_after(headers))
    # Before images: "context length is 8192 tokens, you sent 30 images" is about the context.
    if _CONTEXT.search(message):
        return FailedAttempt(
            ErrorKind.CONTEXT,
            f"{answer}: {message}; the request is longer than the model's context: "
            f"{_lower_limits_remedy(role)}, or raise the server's context",
        )
    if status == 413 or (images and _IMAGES.search(message)):
        limit = _MAX_IMAGES.search(message)
        # A number that the request did not exceed is not what the server complains of.
        max_images = int(limit[1]) if limit and 0 < int(limit[1]) < images else None
        return FailedAttempt(
            ErrorKind.IMAGES,
            f"{answer} to {images} images: {message}; {_lower_limits_remedy(role)}",
            max_images=max_images,
        )
    return FailedAttempt(
        ErrorKind.REQUEST, f"{answer}: {message}", schema_rejected=bool(_SCHEMA.search(message))
    )


def explain_body(server: str, body: bytes, key: str | None, error: str) -> FailedAttempt:
    """The failure that a success without a completion means: an error object, HTML, nothing."""
    try:
        value = json.loads(body)
    except ValueError:
        value = None
    if isinstance(value, dict) and value.get("error"):
        message = redacted(error_message(body), key)
        return FailedAttempt(
            ErrorKind.SERVER, f"{server} answered with an error: {message}", retry=True
        )
    if isinstance(value, dict) and value.get("choices") in ([], None):
        return FailedAttempt(ErrorKind.EMPTY, f"{server} answered without any choice", retry=True)
    content = "an empty body" if not body else "a body that is not a completion"
    return FailedAttempt(
        ErrorKind.SERVER, f"{server} answered with {content} ({error})", retry=True
    )


def explain_connection(
    server: str, url: str, error: BaseException, key: str | None
) -> FailedAttempt:
    """The failure of a request without any answer: no connection, or one that was dropped."""
    while inner := error.__cause__ or error.__context__:  # clients wrap the cause in their own
        if not (error.__cause__ or isinstance(inner, OSError)):
            break  # an error that the client had handled before is not the cause
        error = inner
    cause = redacted(f"{type(error).__name__}: {error}".rstrip(": "), key)
    return FailedAttempt(
        ErrorKind.CONNECTION,
        f"no answer from {server}{f' at {url}' if url else ''} ({cause}); is it running there?",
        retry=True,
    )
