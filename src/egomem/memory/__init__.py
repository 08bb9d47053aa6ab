"""The store: one folder that remembers, and views of the past that a question may see.

with Store.open("my-memory") as store:
    store.view(until).search("red mug")
"""

from egomem.memory.reader import Completed, MemoryReader
from egomem.memory.store import Store
from egomem.memory.view import ScoredObservation, View

__all__ = [
    "Completed",
    "MemoryReader",
    "ScoredObservation",
    "Store",
    "View",
]
