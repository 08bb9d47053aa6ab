"""Where a run stands, read from its folder; a run that goes on meanwhile is not disturbed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Literal

from pydantic import Field

from egomem.evaluate.captions import caption_windows, track_with_cuts
from egomem.evaluate.config import Arm
from egomem.evaluate.run_folder import lock_owner
from egomem.evaluate.run_reader import Run
from egomem.memory import Store
from egomem.memory.failed_windows import failed_windows, window_unit
from egomem.memory.replies import ReplyCache
from egomem.models import LedgerTotal
from egomem.records import Record, Usage


class ArmStatus(Record):
    """How far a column is: `done` of `total` cells, and the answers there are by status."""

    column: Arm
    total: int
    done: int
    by_status: dict[str, int]


class CaptionStatus(Record):
    """How many windows of the run's recordings have a caption of this track. `without` counts, by
    why, those that were asked about and have none."""

    track: str
    total: int
    done: int
    without: dict[str, int] = Field(default_factory=dict)


class RunStatus(Record):
    """`state` is `running` (`who` says which process), `finished`, `halted` (at a budget: `why`) or
    `unfinished` (killed, stopped, or ended by a fault). `errors` are cells that the same command
    tries again, `stale` answers of another configuration, which are not `done`. `held_back` are
    cells without an answer whose reader did not pass the gate. `spent` is what all of its calls
    sent, `unpriced` requests whose price is unknown.
    """

    state: Literal["running", "finished", "halted", "unfinished"]
    who: str = ""
    why: str = ""
    started: str | None = None
    ended: str | None = None
    done: int
    total: int
    errors: int
    stale: int
    held_back: int
    spent: Usage
    unpriced: int
    captions: tuple[CaptionStatus, ...]
    columns: tuple[ArmStatus, ...]
    unreadable_lines: tuple[int, ...]
    unmeasured: int


def status(run: Run) -> RunStatus:
    """Each column of the configuration, those without an answer too."""
    question_ids = {q.id for q in run.questions}
    columns = tuple(_column(run, column, question_ids) for column in run.config.arms())
    last = run.about.get("last") or {}
    owner = lock_owner(run.folder)
    ended = run.about.get("ended")
    why = str(last.get("halted") or "")
    spent = _spent(run)
    return RunStatus(
        state="running" if owner else "halted" if why else "finished" if ended else "unfinished",
        who=owner,
        why=why,
        started=run.about.get("started"),
        ended=ended,
        done=sum(c.done for c in columns),
        total=sum(c.total for c in columns),
        errors=sum(c.by_status.get("error", 0) for c in columns),
        stale=len(run.stale),
        held_back=sum(c.total - c.done for c in columns if c.column in run.held_back),
        spent=sum((t.usage for t in spent), Usage()),
        unpriced=sum(t.unpriced for t in spent),
        captions=tuple(_tracks(run)),
        columns=columns,
        unreadable_lines=run.stored.unreadable,
        unmeasured=run.stored.unmeasured,
    )


def _column(run: Run, arm: Arm, question_ids: set[str]) -> ArmStatus:
    answers = [f for (id, c), f in run.cells.items() if c == arm and id in question_ids]
    return ArmStatus(
        column=arm,
        total=len(question_ids),
        done=sum(not f.failed for f in answers),
        by_status=dict(Counter(f.answer.status.value for f in answers)),
    )


def _spent(run: Run) -> list[LedgerTotal]:
    with ReplyCache(run.folder) as cache:
        return list(cache.stats().spent.values())


def _tracks(run: Run) -> Iterable[CaptionStatus]:
    """The captions that the run makes itself."""
    if run.config.given_memory or not run.remembers:
        return
    window_of: dict[str, float | None] = {}
    for column in run.config.arms():
        track = run.about.get("tracks", {}).get(column.label)
        condition = run.config.condition(column)
        if track and condition.captioned:
            window_of.setdefault(track, condition.window)
    with Store.open(run.memory) as store:
        ids = run.about.get("recordings", {}).values()
        stored = (store.recording(id) for id in dict.fromkeys(ids))
        recordings = [r for r in stored if r and r.has_pictures]
        for track, window in window_of.items():
            units = {r.id: set(map(window_unit, caption_windows(r, window))) for r in recordings}
            for part in track_with_cuts(store, track):
                completed = [d for r in units for d in store.completed(r) if d.track == part]
                if part != track:  # of what single questions may see: as long as it was made
                    units = {r: {d.unit for d in completed if d.recording == r} for r in units}
                    units = {
                        r: {u for u in recording_units if u[0].isdigit()}
                        for r, recording_units in units.items()
                    }
                elif not completed and len(track_with_cuts(store, track)) > 1:
                    continue
                failed = [g.status for r in recordings for g in failed_windows(store, r.id, part)]
                yield CaptionStatus(
                    track=part,
                    total=sum(map(len, units.values())),
                    done=sum(d.unit in units[d.recording] for d in completed) - len(failed),
                    without=dict(Counter(failed)),
                )
