"""Models behind one seam: roles, requests, replies with a status, cache and ledger.

`ModelClient.ask(Request(...)) -> Reply` is all that the rest of the package uses. A name is loaded
when it is first used: whoever needs one of them (an embedder, say) seldom needs the others.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from egomem.models.cache import InMemoryReplyStore, ReplyStore
    from egomem.models.capabilities import Capabilities, send_test_request
    from egomem.models.client import ModelClient, RequestPolicy
    from egomem.models.configured import models_of
    from egomem.models.json_extract import ExtractedJson, find_json, schema_error
    from egomem.models.ledger import Ledger, LedgerEntry, LedgerTotal, sum_entries
    from egomem.models.limits import DEFAULT_LIMITS, Limits, estimate_tokens, read_limits
    from egomem.models.reply import ErrorKind, Reply, TokenLogprob
    from egomem.models.request import (
        AudioPart,
        ContentPart,
        ImagePart,
        Request,
        RequestTags,
        TextPart,
        VideoPart,
    )
    from egomem.models.roles import CHAT_ROLES, SERVERS, ModelSpec, Role

_HOMES = {
    "client": ("RequestPolicy", "ModelClient"),
    "cache": ("ReplyStore", "InMemoryReplyStore"),
    "configured": ("models_of",),
    "json_extract": ("ExtractedJson", "find_json", "schema_error"),
    "ledger": ("LedgerEntry", "Ledger", "LedgerTotal", "sum_entries"),
    "limits": ("DEFAULT_LIMITS", "Limits", "estimate_tokens", "read_limits"),
    "capabilities": ("Capabilities", "send_test_request"),
    "reply": ("ErrorKind", "Reply", "TokenLogprob"),
    "request": (
        "RequestTags",
        "AudioPart",
        "ImagePart",
        "ContentPart",
        "Request",
        "TextPart",
        "VideoPart",
    ),
    "roles": ("CHAT_ROLES", "SERVERS", "ModelSpec", "Role"),
}

__all__ = [
    "CHAT_ROLES",
    "DEFAULT_LIMITS",
    "SERVERS",
    "AudioPart",
    "Capabilities",
    "ContentPart",
    "ErrorKind",
    "ExtractedJson",
    "ImagePart",
    "InMemoryReplyStore",
    "Ledger",
    "LedgerEntry",
    "LedgerTotal",
    "Limits",
    "ModelClient",
    "ModelSpec",
    "Reply",
    "ReplyStore",
    "Request",
    "RequestPolicy",
    "RequestTags",
    "Role",
    "TextPart",
    "TokenLogprob",
    "VideoPart",
    "estimate_tokens",
    "find_json",
    "models_of",
    "read_limits",
    "schema_error",
    "send_test_request",
    "sum_entries",
]


def __getattr__(name: str) -> Any:
    home = next((home for home, names in _HOMES.items() if name in names), None)
    if home is None:
        raise AttributeError(f"module 'egomem.models' has no attribute {name!r}")
    value = getattr(import_module(f"egomem.models.{home}"), name)
    globals()[name] = value
    return value
