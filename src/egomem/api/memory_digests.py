"""What `Memory` has of digests: writing them, keeping them current, reading them as an outline."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from typing import TYPE_CHECKING, Literal

from egomem.api.memory_models import MemoryModels
from egomem.errors import ConfigError, UsageError
from egomem.memory import Store, View
from egomem.memory.moments import moment_of
from egomem.memory.on_demand import StoreOnDemand
from egomem.sync import blocking
from egomem.timeline import Moment

if TYPE_CHECKING:
    from egomem.config import Settings
    from egomem.ingest.digests import DigestReport, Summarizer
    from egomem.ingest.digests.build import OnDigest
    from egomem.ingest.digests.outline import DigestOutline


class MemoryDigests(MemoryModels):
    """The store of a memory, and its digests."""

    def __init__(self, stores: StoreOnDemand, settings: Settings) -> None:
        self._stores = stores
        super().__init__(settings)
        self._owned.callback(stores.close)

    @property
    def store(self) -> Store:
        """The store that is written to; it is made where there is none."""
        return self._stores.to_write()

    @property
    def _existing(self) -> Store:
        return self._stores.to_read()

    def until(self, at: Moment | str | None = None) -> View:
        """The memory as it was at a moment (None: all of it); the only way a question sees it.

        `at` may be written: "2026-03-02 10:30", "yesterday evening", or a second of one recording
        as "street.mp4 1:20". Raises TimeError where it cannot be read.
        """
        return self._existing.view(moment_of(self._existing, at))

    async def adigest(
        self,
        levels: Sequence[str] = (),
        *,
        summarizer: Literal["auto", "extractive", "model"] = "auto",
        budget: float | None = None,
        max_tokens: int | None = None,
        again: bool = False,
        on_note: Callable[[str], None] = lambda line: None,
        on_digest: OnDigest = lambda level, count, total: None,
    ) -> DigestReport:
        """Write the digests that are missing or out of date.

        `levels`: some of 10min, hour and day (default: hour and day). `summarizer`: the model in
        that role, or lines chosen without one; "auto" takes the model where there is one.
        `budget`: US dollars. `max_tokens`: of a reply. `again` writes all of them anew. `on_note`
        gets what it will cost, `on_digest` the progress. What fails is in the report, and the rest
        goes on.
        """
        from egomem.ingest.digests import DEFAULT_LEVELS, build_digests, read_levels

        chosen = read_levels(levels or DEFAULT_LEVELS)
        writer = self._summarizer(summarizer, budget=budget, max_tokens=max_tokens)
        return await build_digests(self.store, writer, chosen, again=again, on_digest=on_digest)

    digest = blocking(adigest)

    def _summarizer(
        self,
        which: Literal["auto", "extractive", "model"],
        *,
        budget: float | None = None,
        max_tokens: int | None = None,
    ) -> Summarizer:
        from egomem.ingest.digests import ExtractiveSummarizer

        models = self.models
        has_model = False
        if models is not None and which != "extractive":
            from egomem.models import Role

            has_model = models.has(Role.SUMMARIZER)
        if models is None or not has_model:
            if which == "model":
                remedy = "give one: --model summarizer=ollama:qwen3:8b"
                raise ConfigError("role summarizer has no model", remedy)
            return ExtractiveSummarizer()
        from egomem.ingest.digests.summarizer import MAX_TOKENS, ModelSummarizer

        return ModelSummarizer(models, max_tokens=max_tokens or MAX_TOKENS, budget=budget)

    def remove_digests(self) -> int:
        """Remove all digests that egomem wrote, and keep none from now on; returns how many."""
        from egomem.ingest.digests.tracks import digest_tracks
        from egomem.memory.exchange import observation_keys

        ids = [t.id for t in digest_tracks(self.store.tracks())]
        keys = [k for k in observation_keys(self.store) if k.track in ids]
        return self.store.exchange([(k.n, k.id) for k in keys], [], drop_tracks=ids)

    def keep_digests(self) -> DigestReport:
        """Bring the digests that the memory has up to date, as far as no model is needed."""
        from egomem.ingest.digests.tracks import digest_tracks

        # Most memories have none: nothing is loaded for them.
        if not digest_tracks(self._existing.tracks()):
            from egomem.ingest.digests import DigestReport

            return DigestReport()
        return self._keep_digests_now()

    async def _akeep_digests(self) -> DigestReport:
        return await self._keep_digests(digests=None, on_note=lambda line: None, pay=False)

    _keep_digests_now = blocking(_akeep_digests)

    async def _keep_digests(
        self, *, digests: bool | None, on_note: Callable[[str], None], pay: bool = True
    ) -> DigestReport:
        """Write digests after something was added or removed; see `aingest`.

        Without `pay`, those by a model stay out of date.
        """
        from egomem.ingest.digests import (
            DEFAULT_LEVELS,
            DigestReport,
            ExtractiveSummarizer,
            build_digests,
        )
        from egomem.ingest.digests.tracks import digest_tracks, longest_chains

        report = DigestReport()
        if digests is False:
            return report
        tracks = digest_tracks(self._existing.tracks())
        if not tracks:
            if digests:
                report += await self.adigest(DEFAULT_LEVELS, on_note=on_note)
            return report
        extractive = [t for t in tracks if t.model is None]
        for chain in longest_chains(extractive):
            report += await build_digests(self.store, ExtractiveSummarizer(), chain)
        by_model = [t for t in tracks if t.model is not None]
        if by_model and pay:
            writer = self._summarizer("auto")
            for chain in longest_chains(t for t in by_model if t.model == writer.model):
                on_note(f"digests by {writer.model} are brought up to date")
                report += await build_digests(self.store, writer, chain)
        return report

    def digest_notes(self) -> list[str]:
        """A line for digests that are out of date or missing; [] where all are current."""
        from egomem.ingest.digests.plan import stale_ids

        stale, missing = stale_ids(self._existing)
        counts = ((len(stale), "out of date"), (missing, "missing"))
        lacking = " and ".join(f"{n} {what}" for n, what in counts if n)
        return [f"digests: {lacking}; run: egomem digest"] if lacking else []

    def digests(
        self, *, day: date | str | None = None, at: Moment | str | None = None
    ) -> list[DigestOutline]:
        """The digests as an outline: days, in them hours. `day`: only of that date.

        Nothing that covers a time after `at` is in it. Raises UsageError for a day that is none.
        """
        from egomem.ingest.digests.outline import outlines

        if isinstance(day, str):
            try:
                day = date.fromisoformat(day)
            except ValueError:
                raise UsageError(f"{day!r} is not a date", "write it as 2026-03-02") from None
        return outlines(self.until(at), day=day)
