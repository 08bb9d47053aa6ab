"""Digests by a language model, each statement checked against the notes that it names."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pydantic import JsonValue

from egomem.errors import ModelError
from egomem.ingest.digests.checking import problem_of
from egomem.ingest.digests.choose import Episode, chosen_episodes, episodes
from egomem.ingest.digests.extractive import Summary
from egomem.ingest.digests.levels import WindowKey
from egomem.ingest.digests.parts import Part, Statement, kept_ids
from egomem.ingest.digests.prompt import digest_request, note_lines, prompt_name
from egomem.ingest.digests.tracks import MODEL_OBSERVER
from egomem.models import ModelClient, Reply, Request, Role
from egomem.models.limits import BYTES_PER_TOKEN
from egomem.models.prices import check_priced
from egomem.records import Status, Usage

MAX_TOKENS = 4096
"""Of a reply, reasoning included; our choice."""
MAX_NOTE_TOKENS = 24_000
"""Of the notes of a request, roughly; our choice. More are thinned as lines are chosen without a
model, and the digest says so."""
_STAMP = re.compile(r"^\s*[\[(]?\d{1,2}:\d\d(?:\s*[-–]\s*\d{1,2}:\d\d)?[\])]?\s*[:,-]?\s*")
_MAX_LENGTH = 600
"""Characters of a statement: a longer one is no sentence."""


class ModelSummarizer:
    """Writes digests with the model in the summarizer role.

    A statement that says exactly what none of its notes holds is rejected: the model is asked once
    more, with the reasons, and what is still wrong then is marked. `budget` is in US dollars; once
    it is spent, no request is sent. Raises ConfigError where there is a budget and the model's
    price is unknown.
    """

    observer = MODEL_OBSERVER

    def __init__(
        self,
        models: ModelClient,
        *,
        max_tokens: int = MAX_TOKENS,
        max_note_tokens: int = MAX_NOTE_TOKENS,
        budget: float | None = None,
    ) -> None:
        spec = models.spec(Role.SUMMARIZER)
        if budget is not None:
            check_priced(spec, "leave it out")
        self.model: str | None = str(spec)
        self._models = models
        self._max_tokens = max_tokens
        self._max_note_tokens = max_note_tokens
        self._budget = budget
        self._spent = 0.0
        self._usage = Usage()

    @property
    def concurrency(self) -> int:
        return self._models.policy.concurrency

    @property
    def usage(self) -> Usage:
        return self._usage

    def prompt(self, level: str) -> str:
        return prompt_name(level)

    async def summarise(self, window: WindowKey, parts: Sequence[Part]) -> Summary:
        notes, remark = self._notes(parts)
        if not notes:
            return Summary(())
        reply, statements = await self._statements(window, notes, ())
        rejected = [(s.text, s.problem) for s in statements if s.problem]
        if rejected:
            try:
                again, corrected = await self._statements(window, notes, rejected)
            except ModelError:
                # The first reply stands, with what is wrong with it marked.
                pass
            else:
                reply, statements = again, corrected
        ordered = tuple(sorted(statements, key=lambda s: (s.start, s.end)))
        return Summary(ordered, reply.key or None, remark)

    def _notes(self, parts: Sequence[Part]) -> tuple[list[Episode], str | None]:
        """The notes to be summarised, and a remark where some had to be left out."""
        notes = episodes(parts)
        size = len(note_lines(notes).encode()) / BYTES_PER_TOKEN
        if size <= self._max_note_tokens:
            return notes, None
        count = max(1, int(len(notes) * self._max_note_tokens / size))
        return chosen_episodes(notes, count), f"from {count} of {len(notes)} notes, chosen by words"

    async def _statements(
        self, window: WindowKey, notes: Sequence[Episode], rejected: Sequence[tuple[str, str]]
    ) -> tuple[Reply, list[Statement]]:
        request = digest_request(
            window,
            notes,
            max_tokens=self._max_tokens,
            rejected=rejected,
            recording=window.recording,
        )
        reply = await self._ask(request)
        rows = reply.data.get("statements") if isinstance(reply.data, dict) else None
        statements = [
            statement
            for row in (rows if isinstance(rows, list) else [])
            if (statement := read_statement(row, notes)) is not None
        ]
        if not statements:
            raise ModelError("no digest: the reply holds no statement")
        return reply, statements

    async def _ask(self, request: Request) -> Reply:
        if self._budget is not None and self._spent >= self._budget:
            raise ModelError(f"the budget of ${self._budget:.2f} is spent (${self._spent:.2f})")
        reply = await self._models.ask(request)
        self._count(reply)
        # Once more and no oftener: what is unreadable twice will be so a third time.
        if reply.status is Status.UNPARSABLE:
            reply = await self._models.ask(request)
            self._count(reply)
        if reply.status is Status.TRUNCATED:
            raise ModelError(f"no digest: the reply was cut off at {self._max_tokens} tokens")
        if not reply.ok:
            raise ModelError(f"no digest: {reply.status.value}: {reply.detail}")
        return reply

    def _count(self, reply: Reply) -> None:
        # A cached reply was paid for by an earlier run.
        if not reply.cached:
            self._usage += reply.usage
            self._spent += reply.usage.cost or 0.0


def read_statement(row: JsonValue, notes: Sequence[Episode]) -> Statement | None:
    """A statement of a reply, checked against its notes; None for what is none.

    Numbers of no note are passed over. One that names no note at all covers all of them, marked.
    """
    if not isinstance(row, dict) or not isinstance(row.get("text"), str):
        return None
    text = _STAMP.sub("", " ".join(str(row["text"]).split()))[:_MAX_LENGTH]
    if not text:
        return None
    listed = row.get("notes")
    numbers = [n for n in (listed if isinstance(listed, list) else []) if isinstance(n, int)]
    cited = [notes[n - 1] for n in dict.fromkeys(numbers) if 1 <= n <= len(notes)]
    covered = cited or notes
    first = min(covered, key=lambda e: e.head.start)
    return Statement(
        first.head.start,
        max(max(e.end, e.head.end) for e in covered),
        text,
        kept_ids(id for e in cited for id in e.ids[:2]),
        offset=first.head.offset,
        problem=problem_of(text, [e.head for e in cited]),
    )
