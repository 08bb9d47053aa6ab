"""What a stream holds, by reading it once: rate, coverage, gaps, faults."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
from pydantic import Field

from egomem.media.streams.alignment import Alignment, ClockKind
from egomem.media.streams.csv_stream import PLAUSIBLE_HZ
from egomem.media.streams.problems import ProblemLog, StreamProblem
from egomem.media.streams.samples import Samples, StreamKind, Values
from egomem.media.streams.stream import Stream
from egomem.records import Record
from egomem.timeline import Span

GAP_STEPS = 5.0
"""A gap is longer than this many usual steps between samples, and than `MIN_GAP_S` (our choice)."""

MIN_GAP_S = 0.25
MAX_GAPS = 100
"""Gaps that are listed; all are counted."""

BLOCK = 500
"""Samples over which a rate is taken."""

MAX_RATE_CHANGE = 0.2
"""Share by which the rate of a block may differ from that of the whole stream."""

MAX_STATED_RATE_ERROR = 0.05


class StreamInfo(Record):
    """A stream as it was read.

    `start`, `end` and the `gaps` (the first 100 of `gap_count`, together `gap_s` s) are in seconds
    of the recording where there is an `origin`, else of the stream's own clock. `origin`: the own
    time at the recording's second 0; `drift`: seconds that the stream's clock gains in a second;
    `placed_by`: what that rests on; `assumed`: it is a guess. `outside`: samples before or after
    the recording. `rate`: samples a second, by the median step. `units`: of each column. `fault`:
    why it is not used, "" where it is. `basis`: a hash of what this rests on.
    """

    kind: StreamKind
    path: str
    format: str
    clock: ClockKind | None = None
    units: Mapping[str, str] = Field(default_factory=dict)
    samples: int = 0
    rate: float | None = None
    start: float | None = None
    end: float | None = None
    gap_count: int = 0
    gap_s: float = 0.0
    gaps: tuple[Span, ...] = ()
    origin: float | None = None
    drift: float = 0.0
    placed_by: str = ""
    assumed: bool = False
    outside: int = 0
    problems: tuple[StreamProblem, ...] = ()
    notes: tuple[str, ...] = ()
    fault: str = ""
    basis: str = ""

    @property
    def alignment(self) -> Alignment | None:
        """How its times become seconds of the recording; None where nothing places it."""
        if self.origin is None:
            return None
        return Alignment(self.origin, self.placed_by, 1 / (1 + self.drift), self.assumed)


def survey(
    stream: Stream,
    alignment: Alignment | None = None,
    *,
    duration: float | None = None,
    problems: ProblemLog | None = None,
) -> StreamInfo:
    """Read a stream once, in flat memory, and tell what it holds.

    `duration` is that of the recording in seconds; with an alignment, samples outside of it are
    counted. `problems` may hold faults that were found before.
    """
    problems = ProblemLog() if problems is None else problems
    totals = _Totals(stream.kind)
    for samples in stream.samples(alignment, problems=problems):
        totals.add(samples, duration if alignment is not None else None)
    step = totals.step
    totals.report(problems, stream.stated_rate)
    is_timed = stream.clock is not None
    return StreamInfo(
        kind=stream.kind,
        path=str(stream.path),
        format=stream.format,
        clock=stream.clock,
        units=stream.units,
        samples=totals.count,
        rate=round(1 / step, 6) if step else None,
        start=totals.first if is_timed else None,
        end=totals.last if is_timed else None,
        gap_count=totals.gap_count,
        gap_s=totals.gap_s,
        gaps=tuple(totals.gaps),
        origin=alignment.origin if alignment else None,
        drift=1 / alignment.rate - 1 if alignment else 0.0,
        placed_by=alignment.reason if alignment else "",
        assumed=alignment.assumed if alignment else False,
        outside=totals.outside,
        problems=problems.problems,
        notes=stream.notes,
    )


@dataclass(slots=True)
class _Totals:
    """What is known of the samples so far."""

    kind: StreamKind
    count: int = 0
    first: float | None = None
    last: float | None = None
    outside: int = 0
    gap_count: int = 0
    gap_s: float = 0.0
    gaps: list[Span] = field(default_factory=list)
    _steps: list[tuple[float, int, float]] = field(default_factory=list)
    _norms: list[float] = field(default_factory=list)
    _usual: tuple[int, float | None] = (0, None)
    _beyond: int = 0
    _without_fix: int = 0

    def add(self, samples: Samples, duration: float | None) -> None:
        times = samples.times
        self.count += len(times)
        if not np.isfinite(times[:1]).all():  # points
            return
        before = times[:1] if self.last is None else np.array([self.last])
        steps = np.diff(times, prepend=before)
        steps = steps[1:] if self.last is None else steps
        self.first = float(times[0]) if self.first is None else self.first
        self.last = float(times[-1])
        if duration is not None:
            self.outside += int(((times < 0) | (times > duration)).sum())
        self._add_steps(steps, times[len(times) - len(steps) :])
        self._add_values(samples)

    def _add_steps(self, steps: Values, ends: Values) -> None:
        for begin in range(0, len(steps), BLOCK):
            block = steps[begin : begin + BLOCK]
            if len(block) >= min(BLOCK // 2, 20) or not self._steps:
                self._steps.append((float(np.median(block)), len(block), float(ends[begin])))
        # Of all blocks anew with each stretch would take a time that grows with its square.
        if len(self._steps) > 1.5 * self._usual[0]:
            self._usual = len(self._steps), self.step
        usual = self._usual[1]
        if usual is None:
            return
        is_gap = steps > max(GAP_STEPS * usual, MIN_GAP_S)
        if is_gap.any():
            self.gap_count += int(is_gap.sum())
            self.gap_s += float(steps[is_gap].sum())
            for index in np.flatnonzero(is_gap)[: MAX_GAPS - len(self.gaps)]:
                end = float(ends[index])
                self.gaps.append(Span(end - float(steps[index]), end))

    def _add_values(self, samples: Samples) -> None:
        columns = samples.columns
        if "accel_x" in columns:
            norms = np.linalg.norm(samples.stack("accel_x", "accel_y", "accel_z"), axis=1)
            norms = norms[np.isfinite(norms)]
            if len(norms):
                self._norms.append(float(np.median(norms)))
        if self.kind == "gaze" and "x" in columns:
            x, y = columns["x"], columns["y"]
            self._beyond += int(((x < 0) | (x > 1) | (y < 0) | (y > 1)).sum())
        if self.kind == "gps":
            self._without_fix += int(np.isnan(columns["latitude"]).sum())

    @property
    def step(self) -> float | None:
        """The median step between samples, of the blocks so far."""
        if not self._steps:
            return None
        medians, counts, _ = (np.array(values) for values in zip(*self._steps, strict=True))
        order = np.argsort(medians)
        reached = np.cumsum(counts[order])
        step = float(medians[order][np.searchsorted(reached, reached[-1] / 2)])
        return step if step > 0 else None

    def report(self, problems: ProblemLog, stated_rate: float | None) -> None:
        """Add what the samples together tell to the faults."""
        problems_of_values = (
            ("gaze points outside of the picture", self._beyond),
            ("no fix of the position", self._without_fix),
        )
        for what, count in problems_of_values:
            problems.add(what, count=count)
        if not self.count:
            problems.add("no sample can be used")
        for what, time, count in self._rate_problems(stated_rate):
            problems.add(what, time=time, count=count)
        if self._norms and not 5 < (norm := float(np.median(self._norms))) < 15:
            cause = "is gravity left out" if norm < 3 else "is the unit right"
            problems.add(f"the median acceleration is {norm:.3g} m/s², not some 9.8: {cause}?")
        if self.outside:
            problems.add("samples outside of the recording", count=self.outside)

    def _rate_problems(self, stated_rate: float | None) -> Iterator[tuple[str, float | None, int]]:
        step = self.step
        if step is None:
            return
        rate = 1 / step
        low, high = PLAUSIBLE_HZ.get(self.kind, (0.0, np.inf))
        if not low <= rate <= high:
            yield (
                f"a rate of {rate:.6g} samples a second, which no {self.kind} has: is the unit of "
                "its times right?",
                None,
                1,
            )
        if stated_rate and abs(rate / stated_rate - 1) > MAX_STATED_RATE_ERROR:
            yield f"a rate of {rate:.4g} Hz, where the file states {stated_rate:g}", None, 1
        others = [
            (median, count, time)
            for median, count, time in self._steps
            if median > 0 and abs(step / median - 1) > MAX_RATE_CHANGE
        ]
        if others:
            median, _, time = others[0]
            count = sum(count for _, count, _ in others)
            yield f"another rate, {1 / median:.4g} Hz in place of {rate:.4g}", time, count
