"""Models behind one seam: roles, requests, replies with a status, cache and ledger.

`ModelClient.ask(Request(...)) -> Reply` is all that the rest of the package uses. A name is loaded
when it is first used: whoever needs one of them (an embedder, say) seldom needs the others.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from egomem.models.cache import InMemoryReplyStore, ReplyStore
    from egomem.models.capabilities import Capabilities
    from egomem.models.client import ModelClient
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
    from egomem.models.retry import RequestPolicy
    from egomem.models.roles import CHAT_ROLES, ModelSpec, Role
    from egomem.models.servers import SERVERS
    from egomem.models.smoke_test import send_test_request

_NAMES_BY_MODULE = {
    "cache": ("InMemoryReplyStore", "ReplyStore"),
    "capabilities": ("Capabilities",),
    "client": ("ModelClient",),
    "json_extract": ("ExtractedJson", "find_json", "schema_error"),
    "ledger": ("Ledger", "LedgerEntry", "LedgerTotal", "sum_entries"),
    "limits": ("DEFAULT_LIMITS", "Limits", "estimate_tokens", "read_limits"),
    "reply": ("ErrorKind", "Reply", "TokenLogprob"),
    "request": (
        "AudioPart",
        "ContentPart",
        "ImagePart",
        "Request",
        "RequestTags",
        "TextPart",
        "VideoPart",
    ),
    "retry": ("RequestPolicy",),
    "roles": ("CHAT_ROLES", "ModelSpec", "Role"),
    "servers": ("SERVERS",),
    "smoke_test": ("send_test_request",),
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
    "read_limits",
    "schema_error",
    "send_test_request",
    "sum_entries",
]


def __getattr__(name: str) -> Any:
    module = next((module for module, names in _NAMES_BY_MODULE.items() if name in names), None)
    if module is None:
        raise AttributeError(f"module 'egomem.models' has no attribute {name!r}")
    value = getattr(import_module(f"egomem.models.{module}"), name)
    globals()[name] = value
    return value
