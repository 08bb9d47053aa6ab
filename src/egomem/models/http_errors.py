"""What an HTTP error means: whether to retry, and one line for a person.

No message holds a key, a header or image bytes: error bodies of some servers echo them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import NamedTuple

from egomem.models.error_body import read_error_body, retry_after
from egomem.models.error_rules import ErrorMeaning, meaning_of
from egomem.models.image_limits import max_images
from egomem.models.reply import ErrorKind
from egomem.models.servers import ServerKind, shown_address

# 409 (conflict) and 425 (too early) pass with time; 529 is Anthropic's "overloaded"; 520 to 524,
# 527 and 530 are Cloudflare's for a server that it cannot reach.
RETRIED_STATUSES = frozenset(
    {408, 409, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 527, 529, 530}
)
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
_VIDEO = re.compile(r"\bvideo\b|timestamps length", re.IGNORECASE)

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
    opening: str = "",
) -> FailedAttempt:
    """The failure of a request of `role` with `images` images that an HTTP status >= 400 means.

    `opening` begins the message; by default it names the status.
    """
    error = read_error_body(body)
    message = redacted(error.message, key)
    answer = opening or f"{server.title} answered HTTP {status}"
    line = f"{answer}: {message}" if message else answer
    asked_wait = retry_after(headers)
    wait = error.wait if asked_wait is None else asked_wait
    meaning = meaning_of(status, error)
    if meaning is ErrorMeaning.CREDIT and status == 429 and error.wait is not None:
        meaning = ErrorMeaning.RATE  # what has no credit left does not come back in seconds
    match meaning:
        case ErrorMeaning.FILTER:
            detail = f"{answer}: a content filter stopped the request"
            # Bodies of 401 and 403 echo headers: nothing of them is kept.
            more = f" ({message})" if message and status not in (401, 403) else ""
            return FailedAttempt(ErrorKind.FILTER, detail + more)
        case ErrorMeaning.CREDIT:
            return FailedAttempt(ErrorKind.RATE, f"{answer}: the account has no credit left")
        case ErrorMeaning.QUOTA:
            detail = f"{line}; the day's quota is used up"
            return FailedAttempt(ErrorKind.RATE, detail, wait is not None, True, wait)
        case ErrorMeaning.MODEL if status not in RETRIED_STATUSES:
            return FailedAttempt(ErrorKind.MODEL, f"{line}; check the model's name and the address")
        case ErrorMeaning.BUSY:
            return FailedAttempt(ErrorKind.SERVER, line, True, True, wait)
        case ErrorMeaning.RATE if status not in RETRIED_STATUSES:
            return FailedAttempt(ErrorKind.RATE, line, True, True, wait)
    if meaning is ErrorMeaning.KEY or (status in (401, 403) and meaning is not ErrorMeaning.RATE):
        name = " or ".join(server.key_variables) or "the credentials"
        return FailedAttempt(ErrorKind.KEY, f"{answer}: the key was not accepted; set {name}")
    if status == 402:
        return FailedAttempt(ErrorKind.RATE, f"{answer}: the account has no credit left")
    # Servers that sample a clip themselves answer 500 to what they cannot sample: final as well.
    if video and _VIDEO.search(message):
        return FailedAttempt(
            ErrorKind.IMAGES,
            f"{answer} to a video part: {message}; send the frames as images instead",
        )
    if meaning is ErrorMeaning.NO_IMAGES and images:
        return FailedAttempt(
            ErrorKind.REQUEST, f"{line}; this model takes no images: name one that does"
        )
    if meaning is ErrorMeaning.CONTEXT or (status == 413 and not images):
        return FailedAttempt(
            ErrorKind.CONTEXT,
            f"{line}; the request is longer than the model's context: "
            f"{_lower_limits_remedy(role)}, or raise the server's context",
        )
    if images and (status == 413 or meaning is ErrorMeaning.IMAGES):
        return FailedAttempt(
            ErrorKind.IMAGES,
            f"{answer} to {images} images: {message}; {_lower_limits_remedy(role)}",
            max_images=max_images(error.words or error.message, images),
        )
    if status == 404:
        return FailedAttempt(ErrorKind.MODEL, f"{line}; check the model's name and the address")
    if status in RETRIED_STATUSES:
        fault = ErrorKind.RATE if status == 429 else ErrorKind.SERVER
        return FailedAttempt(fault, line, True, status in BUSY_STATUSES, wait)
    return FailedAttempt(ErrorKind.REQUEST, line, schema_rejected=meaning is ErrorMeaning.SCHEMA)


def explain_redirect(status: int, location: str, server: ServerKind) -> FailedAttempt:
    """The failure of a request that the server sends elsewhere: it may hold pictures and a key, so
    it does not follow."""
    target = redacted(shown_address(location)) if location else "nowhere"
    return FailedAttempt(
        ErrorKind.MODEL,
        f"{server.title} answered HTTP {status}, a redirect to {target}, which egomem does not "
        "follow; if that is the right server, write its address into the model's spec",
    )


def explain_body(
    body: bytes, error: str, *, role: str, server: ServerKind, key: str | None, images: int
) -> FailedAttempt:
    """The failure that a success without a completion means: an error object, HTML, nothing."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, dict) and (value.get("error") or _is_filtered(body)):
        # Gateways put the status of the server behind them into the body of a success.
        inner = value.get("error")
        code = inner.get("code") if isinstance(inner, dict) else None
        status = code if isinstance(code, int) and 400 <= code < 600 else 500
        opening = f"{server.title} answered with an error"
        return explain_status(
            status,
            {},
            body,
            role=role,
            server=server,
            key=key,
            images=images,
            opening=opening,
        )
    if isinstance(value, dict) and value.get("choices", 0) in ([], None):
        return FailedAttempt(
            ErrorKind.EMPTY, f"{server.title} answered without any choice", retry=True
        )
    content = "an empty body" if not body else "a body that is not a completion"
    return FailedAttempt(
        ErrorKind.SERVER, f"{server.title} answered with {content} ({error})", retry=True
    )


def _is_filtered(body: bytes) -> bool:
    return meaning_of(200, read_error_body(body)) is ErrorMeaning.FILTER


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
