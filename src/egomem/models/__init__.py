"""Models behind one seam: roles, requests, replies with a status, cache and ledger.

`Models.ask(Request(...)) -> Reply` is all that the rest of the package uses. A name is loaded when
it is first used, as what needs one of them (an embedder, say) seldom needs the others.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from egomem.models.asking import Conduct, Models
    from egomem.models.cache import Cache, MemoryCache
    from egomem.models.configured import models_of
    from egomem.models.jsonfind import Found, find_json, misfit
    from egomem.models.ledger import Entry, Ledger, Total, summed
    from egomem.models.limits import DEFAULT_LIMITS, Limits, estimated_tokens, read_limits
    from egomem.models.probe import Abilities, tiny_request
    from egomem.models.reply import Fault, Reply, TokenLogprob
    from egomem.models.request import About, Audio, Image, Part, Request, Text, Video
    from egomem.models.roles import CHAT_ROLES, SERVERS, ModelSpec, Role

_HOMES = {
    "asking": ("Conduct", "Models"),
    "cache": ("Cache", "MemoryCache"),
    "configured": ("models_of",),
    "jsonfind": ("Found", "find_json", "misfit"),
    "ledger": ("Entry", "Ledger", "Total", "summed"),
    "limits": ("DEFAULT_LIMITS", "Limits", "estimated_tokens", "read_limits"),
    "probe": ("Abilities", "tiny_request"),
    "reply": ("Fault", "Reply", "TokenLogprob"),
    "request": ("About", "Audio", "Image", "Part", "Request", "Text", "Video"),
    "roles": ("CHAT_ROLES", "SERVERS", "ModelSpec", "Role"),
}

__all__ = [
    "CHAT_ROLES",
    "DEFAULT_LIMITS",
    "SERVERS",
    "Abilities",
    "About",
    "Audio",
    "Cache",
    "Conduct",
    "Entry",
    "Fault",
    "Found",
    "Image",
    "Ledger",
    "Limits",
    "MemoryCache",
    "ModelSpec",
    "Models",
    "Part",
    "Reply",
    "Request",
    "Role",
    "Text",
    "TokenLogprob",
    "Total",
    "Video",
    "estimated_tokens",
    "find_json",
    "misfit",
    "models_of",
    "read_limits",
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
