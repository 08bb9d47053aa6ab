"""The store: one folder that remembers, and views of the past that a question may see.

with Store.open("my-memory") as store:
    store.view(until).search("red mug")
"""

from egomem.memory.check import Finding, Report, check
from egomem.memory.forget import Receipt, receipts
from egomem.memory.store import Done, Store
from egomem.memory.tokens import stems, terms, tokens
from egomem.memory.view import Scored, View

__all__ = [
    "Done",
    "Finding",
    "Receipt",
    "Report",
    "Scored",
    "Store",
    "View",
    "check",
    "receipts",
    "stems",
    "terms",
    "tokens",
]
