"""From a question to the moments that speak to it.

for hit in search(view, "Where did I leave the red mug?"):
    print(hit.recording, hit.span, hit.score, hit.parts)
"""

from egomem.recall.explaining import explain, explained, times_read
from egomem.recall.matches import Matches, matches
from egomem.recall.moments import MomentWindow, windows_of
from egomem.recall.profile import CAPMEM, DEFAULT, HYBRID, PROFILES, SIGNALS, Profile
from egomem.recall.query import Anchor, Query
from egomem.recall.reading import MAX_QUESTION_CHARS, check_length, is_ago, read_for, read_query
from egomem.recall.search import Hit, SearchResult, find, search
from egomem.recall.vectors import add_vectors, embedded_text

__all__ = [
    "CAPMEM",
    "DEFAULT",
    "HYBRID",
    "MAX_QUESTION_CHARS",
    "PROFILES",
    "SIGNALS",
    "Anchor",
    "Hit",
    "Matches",
    "MomentWindow",
    "Profile",
    "Query",
    "SearchResult",
    "add_vectors",
    "check_length",
    "embedded_text",
    "explain",
    "explained",
    "find",
    "is_ago",
    "matches",
    "read_for",
    "read_query",
    "search",
    "times_read",
    "windows_of",
]
