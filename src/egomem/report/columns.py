"""The columns of a report: the answers to one setting by one reader in one run, with a name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from egomem.evaluate.conditions import Condition
from egomem.evaluate.config import Arm
from egomem.evaluate.run_reader import Run
from egomem.models import ModelSpec
from egomem.records import Answer
from egomem.report.open_weights import UNKNOWN, classify_weights
from egomem.score import (
    DURATION_EDGES_S,
    IntervalMethod,
    ScoredAnswers,
    Slice,
    SliceTable,
    slice_table,
)


@dataclass(frozen=True)
class ReportOptions:
    """What a user chooses when a report is written. None of it changes an answer.

    `bins`: how many bins of evidence positions, or their inner edges as shares. `regimes`: edges of
    durations in seconds; the last one separates long videos from the others. `open`, `closed`:
    readers whose weights the user states to be so. `intervals`: see `egomem.score.bootstrap`.
    """

    bins: int | tuple[float, ...] = 3
    regimes: tuple[float, ...] = DURATION_EDGES_S
    open: tuple[str, ...] = ()
    closed: tuple[str, ...] = ()
    intervals: IntervalMethod = "widened"


DEFAULT_OPTIONS = ReportOptions()


@dataclass
class ReportColumn:
    """The answers of one arm of one run; `name` is unique in the report.

    `panel` (whose answers they are) and `series` (under which setting) are the parts of the name.
    `weights` are those of the reader: open, closed or not known.
    """

    run: Run
    arm: Arm
    name: str
    panel: str = ""
    series: str = ""
    weights: str = UNKNOWN
    options: ReportOptions = DEFAULT_OPTIONS
    _slice_tables: dict[str, SliceTable] = field(default_factory=dict)

    @cached_property
    def scored(self) -> ScoredAnswers:
        return self.run.sheet(self.arm)

    @property
    def condition(self) -> Condition:
        return self.run.config.condition(self.arm)

    @cached_property
    def answers(self) -> dict[str, Answer]:
        """The answers by question id."""
        return self.run.answers(self.arm)

    @property
    def track(self) -> str | None:
        """The id of the caption track that the column reads; None where the run names none."""
        track: str | None = self.run.about.get("tracks", {}).get(self.arm.label)
        return track

    def slice_table(self, by: Slice) -> SliceTable:
        """The column's accuracy by slice, computed once; a report's slices differ in name."""
        if by.name not in self._slice_tables:
            self._slice_tables[by.name] = slice_table(self.scored, by)
        return self._slice_tables[by.name]

    @property
    def accuracy(self) -> float | None:
        """Strict accuracy in per cent; None without a scored question."""
        return 100 * float(self.scored.right.mean()) if len(self.scored) else None


def report_columns(
    runs: Sequence[Run], options: ReportOptions = DEFAULT_OPTIONS
) -> list[ReportColumn]:
    """All columns that have answers, in the order of the runs and their settings.

    Raises UsageError where `options` states the weights of a model that no run names.
    """
    readers = {spec: None for run in runs for spec in run.config.readers}
    weights = classify_weights(readers, options.open, options.closed)
    short_names = _short_names(
        {
            spec
            for run in runs
            for arm in run.columns
            for spec in (arm.reader, arm.captioner)
            if spec
        }
    )
    columns = []
    for run in runs:
        has_readers = len({arm.reader for arm in run.columns}) > 1 or len(runs) > 1
        prefix = f"{run_name(run)}: " if len(runs) > 1 else ""
        for arm in run.columns:
            reader = short_names[arm.reader] if arm.reader else "no model"
            is_cross = arm.captioner not in ("", arm.reader)
            captions = f" < {short_names[arm.captioner]}" if is_cross else ""
            suffix = f" {reader}" if arm.reader and has_readers else ""
            columns.append(
                ReportColumn(
                    run,
                    arm,
                    name=f"{prefix}{arm.setting}{suffix}{captions}",
                    panel=f"{prefix}{reader}",
                    series=f"{arm.setting}{captions}",
                    weights=weights.get(arm.reader, UNKNOWN),
                    options=options,
                )
            )
    return columns


def _short_names(specs: set[str]) -> dict[str, str]:
    """Each model without provider and address, where that still tells the models apart."""
    names = {spec: ModelSpec.parse(spec).model for spec in specs}
    counts = list(names.values())
    # One model behind two servers is two columns.
    return {spec: name if counts.count(name) == 1 else spec for spec, name in names.items()}


def short_model(spec: str) -> str:
    """A model's name without provider and address; "no model" for ""."""
    return ModelSpec.parse(spec).model if spec else "no model"


def run_name(run: Run) -> str:
    """The name of a run's folder, by which a report names the run."""
    return run.folder.resolve().name
