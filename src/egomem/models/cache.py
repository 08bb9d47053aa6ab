"""The interface of a reply cache, and one in memory. `egomem.memory.replies` has one in SQLite."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from pydantic import JsonValue

from egomem.models.ledger import LedgerEntry
from egomem.models.reply import Reply
from egomem.models.request import RequestTags


class ReplyStore(Protocol):
    """Replies by key. The caller puts in clean completions only: an error is never cached."""

    def get(self, key: str) -> Reply | None:
        """The reply with a key; None where there is none."""

    def put(self, reply: Reply, key_fields: Mapping[str, JsonValue], tags: RequestTags) -> None:
        """Keep a reply under `reply.key`, with the fields that the key was made of."""

    def record(self, entry: LedgerEntry) -> None:
        """Keep an entry of the ledger."""


class InMemoryReplyStore:
    """Replies for the life of the process, for tests and one-off questions."""

    def __init__(self) -> None:
        self.replies: dict[str, Reply] = {}
        self.entries: list[LedgerEntry] = []

    def get(self, key: str) -> Reply | None:
        return self.replies.get(key)

    def put(self, reply: Reply, key_fields: Mapping[str, JsonValue], tags: RequestTags) -> None:
        self.replies[reply.key] = reply

    def record(self, entry: LedgerEntry) -> None:
        self.entries.append(entry)
