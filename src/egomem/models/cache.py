"""What a store of replies must do. `egomem.memory.replies` keeps them in SQLite."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from pydantic import JsonValue

from egomem.models.ledger import LedgerEntry
from egomem.models.reply import Reply
from egomem.models.request import RequestTags


class ReplyStore(Protocol):
    """Replies by key. Only clean completions are ever put in; the caller sees to that."""

    def get(self, key: str) -> Reply | None: ...

    def put(self, reply: Reply, described: Mapping[str, JsonValue], about: RequestTags) -> None:
        """Keep a reply under `reply.key`, with what the key was made of."""

    def spent(self, entry: LedgerEntry) -> None:
        """Keep a line of the ledger."""


class InMemoryReplyStore:
    """Replies for the life of the process; for tests and one-off questions."""

    def __init__(self) -> None:
        self.replies: dict[str, Reply] = {}
        self.entries: list[LedgerEntry] = []

    def get(self, key: str) -> Reply | None:
        return self.replies.get(key)

    def put(self, reply: Reply, described: Mapping[str, JsonValue], about: RequestTags) -> None:
        self.replies[reply.key] = reply

    def spent(self, entry: LedgerEntry) -> None:
        self.entries.append(entry)
