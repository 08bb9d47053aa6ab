"""From a question to the moments that speak to it."""

from egomem.recall.moments import Window, windows_of
from egomem.recall.profile import CAPMEM, DEFAULT, HYBRID, PROFILES, Profile
from egomem.recall.search import Hit, search

__all__ = [
    "CAPMEM",
    "DEFAULT",
    "HYBRID",
    "PROFILES",
    "Hit",
    "Profile",
    "Window",
    "search",
    "windows_of",
]
