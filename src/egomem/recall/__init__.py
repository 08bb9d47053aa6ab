"""From a question to the moments that speak to it.

for hit in search(view, "Where did I leave the red mug?"):
    print(hit.recording, hit.span, hit.score, hit.parts)
"""

from egomem.recall.moments import Window, windows_of
from egomem.recall.profile import CAPMEM, DEFAULT, HYBRID, PROFILES, SIGNALS, Profile
from egomem.recall.query import Anchor, QueryPlan, plan
from egomem.recall.search import Hit, SearchResult, find, search
from egomem.recall.vectors import add_vectors, embedded_text

__all__ = [
    "CAPMEM",
    "DEFAULT",
    "HYBRID",
    "PROFILES",
    "SIGNALS",
    "Anchor",
    "Hit",
    "Profile",
    "QueryPlan",
    "SearchResult",
    "Window",
    "add_vectors",
    "embedded_text",
    "find",
    "plan",
    "search",
    "windows_of",
]
