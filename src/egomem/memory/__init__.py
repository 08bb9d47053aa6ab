"""The store: one folder that remembers, and views of the past that a question may see.

with Store.open("my-memory") as store:
    store.view(until).search("red mug")
"""

from egomem.memory.store import Done, Store
from egomem.memory.tokens import stems, terms, tokens
from egomem.memory.view import Scored, View

__all__ = [
    "Done",
    "Scored",
    "Store",
    "View",
    "stems",
    "terms",
    "tokens",
]
