"""What an HTTP answer that is no reply means, said without keys, headers or image bytes."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import NamedTuple

from egomem.models.reply import ErrorKind
from egomem.models.roles import ServerKind

# 409 and 425 are conflicts and early data that pass; 529 is Anthropic's "overloaded".
RETRIED_STATUSES = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529})
BUSY_STATUSES = frozenset({429, 503, 529})

_SECRETS = re.compile(
    r"(?:bearer|basic)\s+[\w.~+/=-]+"
    r"|\b(?:sk|pk|key|api|hf|gsk)[-_][\w.-]{6,}|\bAIza[\w-]{10,}"
    r"|(?:api[-_ ]?key|authorization|x-goog-api-key|token|secret|password)"
    r"['\"]?\s*[:=]\s*['\"]?(?:(?:bearer|basic)\s+)?[^\s'\",}]+"
    r"|data:[\w/+.-]+;base64,[\w+/=]*"
    r"|[A-Za-z0-9+/_-]{64,}={0,2}",
    re.IGNORECASE,
)
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
    """What makes a request of a role smaller, in settings that every command reads."""
    variable = f"EGOMEM_LIMITS_{role.upper()}_"
    return (
        f"lower limits.{role}.images or .side ({variable}IMAGES, {variable}SIDE), or {FIT_REMEDY}"
    )


class FailedAttempt(NamedTuple):
    """`retry`: another attempt may do. `wait`: seconds the server asked for. `most`: the number of
    images it named. `schema`: it did not like the request for JSON."""

    fault: ErrorKind
    detail: str
    retry: bool = False
    busy: bool = False
    wait: float | None = None
    most: int | None = None
    schema: bool = False


def redacted(text: str, key: str | None = None, longest: int = 300) -> str:
    """The text on one line, cut to `longest`, without the key and all that looks like one."""
    if key:
        text = text.replace(key, "[key]")
    text = " ".join(_SECRETS.sub("[removed]", text).split())
    return text if len(text) <= longest else text[: longest - 1] + "…"


def error_message(body: bytes) -> str:
    """What an error body says: the `message` of the usual shapes, else its beginning."""
    text = body[:20_000].decode("utf-8", "replace")
    try:
        value = json.loads(text)
    except ValueError:
        return re.sub(r"<[^>]*>", " ", text)
    for _ in range(3):
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
    """What an HTTP error status means for a request of `role` that held `images` images."""
    said = redacted(error_message(body), key)
    at = f"{server.title} answered HTTP {status}"
    if status in (401, 403):  # bodies of these echo headers: nothing of them is kept
        name = " or ".join(server.key_variables) or "the credentials"
        return FailedAttempt(ErrorKind.KEY, f"{at}: the key was not accepted; set {name}")
    if status == 402 or (status == 429 and _NO_CREDIT.search(said)):
        return FailedAttempt(ErrorKind.RATE, f"{at}: the account has no credit left")
    if status == 404:
        return FailedAttempt(
            ErrorKind.MODEL, f"{at}: {said}; check the model's name and the address"
        )
    # Servers that sample a clip themselves answer 500 to what they cannot sample: final as well.
    if video and _VIDEO.search(said):
        return FailedAttempt(
            ErrorKind.IMAGES, f"{at} to a video part: {said}; send the frames as images instead"
        )
    if status in RETRIED_STATUSES:
        fault = ErrorKind.RATE if status == 429 else ErrorKind.SERVER
        line = f"{at}: {said}" if said else at
        return FailedAttempt(fault, line, True, status in BUSY_STATUSES, retry_after(headers))
    if _CONTEXT.search(said):
        return FailedAttempt(
            ErrorKind.CONTEXT,
            f"{at}: {said}; the request is longer than the model's context: "
            f"{_lower_limits_remedy(role)}, or raise the server's context",
        )
    if status == 413 or (images and _IMAGES.search(said)):
        most = _MAX_IMAGES.search(said)
        number = int(most[1]) if most and 0 < int(most[1]) < images else None
        return FailedAttempt(
            ErrorKind.IMAGES,
            f"{at} to {images} images: {said}; {_lower_limits_remedy(role)}",
            most=number,
        )
    return FailedAttempt(ErrorKind.REQUEST, f"{at}: {said}", schema=bool(_SCHEMA.search(said)))


def explain_body(server: str, body: bytes, key: str | None, error: str) -> FailedAttempt:
    """A success whose body is no completion: an error object, no choices, HTML, nothing."""
    try:
        value = json.loads(body)
    except ValueError:
        value = None
    if isinstance(value, dict) and value.get("error"):
        said = redacted(error_message(body), key)
        return FailedAttempt(
            ErrorKind.SERVER, f"{server} answered with an error: {said}", retry=True
        )
    if isinstance(value, dict) and value.get("choices") in ([], None):
        return FailedAttempt(ErrorKind.EMPTY, f"{server} answered without any choice", retry=True)
    what = "an empty body" if not body else "a body that is no completion"
    return FailedAttempt(ErrorKind.SERVER, f"{server} answered with {what} ({error})", retry=True)


def explain_connection(
    server: str, url: str, error: BaseException, key: str | None
) -> FailedAttempt:
    """No answer at all: no connection, or one that was dropped."""
    while inner := error.__cause__ or error.__context__:  # clients wrap the reason thrice
        if not (error.__cause__ or isinstance(inner, OSError)):
            break  # what a client met before it failed is not why
        error = inner
    why = redacted(f"{type(error).__name__}: {error}".rstrip(": "), key)
    return FailedAttempt(
        ErrorKind.CONNECTION,
        f"no answer from {server}{f' at {url}' if url else ''} ({why}); is it running there?",
        retry=True,
    )
