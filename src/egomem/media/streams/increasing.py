"""Samples whose times increase: what runs backwards, repeats or has no time is left out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from egomem.media.streams.problems import ProblemLog
from egomem.media.streams.samples import Samples

LOOKAHEAD = 1000
"""Samples on each side of a step back by which it is judged which side is wrong (our choice)."""


def increasing(stretches: Iterable[Samples], problems: ProblemLog) -> Iterator[Samples]:
    """The samples with finite times, each later than the one before; the others go to `problems`.

    Where times step back, either a few samples before the step are too late (a spike) or those
    after it are too early (a clock that was set back, a stretch that is written twice). The side
    with fewer samples in conflict, among `LOOKAHEAD`, is left out.
    """
    pending: Samples | None = None
    last = -np.inf
    for stretch in stretches:
        is_finite = np.isfinite(stretch.times)
        if not is_finite.all():
            problems.add("no time", count=int((~is_finite).sum()))
            stretch = stretch.take(is_finite)
        if pending is not None:
            stretch = type(stretch).joined([pending, stretch])
        rising = stretch.take(_increasing_rows(stretch.times, last, problems))
        # The last ones may turn out to be a spike when what follows is known.
        ready = max(0, len(rising) - LOOKAHEAD)
        if ready:
            yield rising.take(slice(0, ready))
            last = float(rising.times[ready - 1])
        pending = rising.take(slice(ready, None))
    if pending is not None and len(pending):
        yield pending


def _increasing_rows(
    times: NDArray[np.float64], last: float, problems: ProblemLog
) -> NDArray[np.intp]:
    """The rows to keep so that times increase from `last` on."""
    rows = np.arange(len(times), dtype=np.intp)
    if not len(times) or (times[0] > last and bool((np.diff(times) > 0).all())):
        return rows
    _, first_rows = np.unique(times, return_index=True)
    is_repeated = np.ones(len(times), bool)
    is_repeated[first_rows] = False
    is_repeated |= times == last
    if is_repeated.any():
        problems.add(
            "a time that was there before",
            time=float(times[int(np.argmax(is_repeated))]),
            count=int(is_repeated.sum()),
        )
        rows = rows[~is_repeated]
    parts = np.split(rows, np.flatnonzero(np.diff(times[rows]) < 0) + 1)
    runs: list[NDArray[np.intp]] = []
    for part in parts:
        if not len(part):
            continue
        early = int(np.searchsorted(times[part], last, side="right"))
        if early:
            _report_backwards(problems, times, part[:early])
            part = part[early:]
        part = _resolve(runs, part, times, problems)
        if len(part):
            runs.append(part)
    return np.concatenate(runs) if runs else rows[:0]


def _resolve(
    runs: list[NDArray[np.intp]],
    part: NDArray[np.intp],
    times: NDArray[np.float64],
    problems: ProblemLog,
) -> NDArray[np.intp]:
    """What of `part` follows what is kept; drops from either, whichever loses fewer samples."""
    while len(part) and runs and times[runs[-1][-1]] >= times[part[0]]:
        run = runs[-1]
        late = len(run) - int(np.searchsorted(times[run], times[part[0]]))
        early = int(np.searchsorted(times[part], times[run[-1]], side="right"))
        if min(late, LOOKAHEAD) < min(early, LOOKAHEAD):
            _report_backwards(problems, times, run[len(run) - late :], spike=True)
            runs[-1] = run[: len(run) - late]
            if not len(runs[-1]):
                runs.pop()
        else:
            _report_backwards(problems, times, part[:early])
            part = part[early:]
    return part


def _report_backwards(
    problems: ProblemLog,
    times: NDArray[np.float64],
    rows: NDArray[np.intp],
    *,
    spike: bool = False,
) -> None:
    problem = "a time far ahead of those after it" if spike else "times run backwards"
    problems.add(problem, time=float(times[rows[0]]), count=len(rows))
