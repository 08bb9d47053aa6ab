"""Models behind one seam: roles, requests, replies with a status, cache and ledger.

`Models.ask(Request(...)) -> Reply` is all that the rest of the package uses.
"""

from __future__ import annotations

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
