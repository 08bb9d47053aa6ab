"""Models behind one seam: roles, requests, replies with a status, cache and ledger.

`ModelClient.ask(Request(...)) -> Reply` is all that the rest of the package uses. A name is loaded
when it is first used: whoever needs one of them (an embedder, say) seldom needs the others.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from egomem.models.cache import Cache, MemoryCache
    from egomem.models.capabilities import Capabilities, tiny_request
    from egomem.models.client import ModelClient, RequestPolicy
    from egomem.models.configured import models_of
    from egomem.models.json_extract import ExtractedJson, find_json, schema_error
    from egomem.models.ledger import Ledger, LedgerEntry, LedgerTotal, summed
    from egomem.models.limits import DEFAULT_LIMITS, Limits, estimated_tokens, read_limits
    from egomem.models.reply import Fault, Reply, TokenLogprob
    from egomem.models.request import Audio, Image, Part, Request, RequestTags, Text, Video
    from egomem.models.roles import CHAT_ROLES, SERVERS, ModelSpec, Role

_HOMES = {
    "client": ("RequestPolicy", "ModelClient"),
    "cache": ("Cache", "MemoryCache"),
    "configured": ("models_of",),
    "json_extract": ("ExtractedJson", "find_json", "schema_error"),
    "ledger": ("LedgerEntry", "Ledger", "LedgerTotal", "summed"),
    "limits": ("DEFAULT_LIMITS", "Limits", "estimated_tokens", "read_limits"),
    "capabilities": ("Capabilities", "tiny_request"),
    "reply": ("Fault", "Reply", "TokenLogprob"),
    "request": ("RequestTags", "Audio", "Image", "Part", "Request", "Text", "Video"),
    "roles": ("CHAT_ROLES", "SERVERS", "ModelSpec", "Role"),
}

__all__ = [
    "CHAT_ROLES",
    "DEFAULT_LIMITS",
    "SERVERS",
    "Audio",
    "Cache",
    "Capabilities",
    "ExtractedJson",
    "Fault",
    "Image",
    "Ledger",
    "LedgerEntry",
    "LedgerTotal",
    "Limits",
    "MemoryCache",
    "ModelClient",
    "ModelSpec",
    "Part",
    "Reply",
    "Request",
    "RequestPolicy",
    "RequestTags",
    "Role",
    "Text",
    "TokenLogprob",
    "Video",
    "estimated_tokens",
    "find_json",
    "models_of",
    "read_limits",
    "schema_error",
    "summed",
    "tiny_request",
]


def __getattr__(name: str) -> Any:
    home = next((home for home, names in _HOMES.items() if name in names), None)
    if home is None:
        raise AttributeError(f"module 'egomem.models' has no attribute {name!r}")
    value = getattr(import_module(f"egomem.models.{home}"), name)
    globals()[name] = value
    return value
