"""The columns of one or several runs, named for a table; and whether the runs can stand beside
each other."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from pathlib import Path

from egomem.errors import UsageError
from egomem.evaluate.conditions import Condition
from egomem.evaluate.config import Arm, Config
from egomem.evaluate.fingerprint import digest
from egomem.evaluate.run_reader import Run
from egomem.models import ModelSpec
from egomem.records import Answer
from egomem.report.open_weights import UNKNOWN, classify_weights
from egomem.score import DURATION_EDGES_S, ScoredAnswers, Slice, SliceTable, slice_table

COMPARED = {
    "frames": "--frames", "fps": "--fps", "side": "--side", "format": "--reply",
    "abstain": "--abstain", "max_tokens": "--max-tokens", "caption_tokens": "--caption-tokens",
    "fit": "--fit", "given_memory": "--memory", "track": "--track",
}  # fmt: skip
"""Settings that change what a figure means, by the option that gives each."""


@dataclass(frozen=True)
class ReportOptions:
    """What is chosen when a report is made. Nothing of it changes an answer.

    `bins` of evidence positions, or their inner edges as shares; `regimes`: edges of durations in
    seconds, of which the last parts long videos from the others; `open`, `closed`: readers whose
    weights are stated to be so.
    """

    bins: int | tuple[float, ...] = 3
    regimes: tuple[float, ...] = DURATION_EDGES_S
    open: tuple[str, ...] = ()
    closed: tuple[str, ...] = ()


DEFAULT_OPTIONS = ReportOptions()


@dataclass
class ReportColumn:
    """One column of one run; `name` is unique in the report.

    `panel` and `series` are its parts: whose answers they are, and by which setting. `weights` are
    those of its reader: open, closed or not known.
    """

    run: Run
    column: Arm
    name: str
    panel: str = ""
    series: str = ""
    weights: str = UNKNOWN
    choices: ReportOptions = DEFAULT_OPTIONS
    _tables: dict[str, SliceTable] = field(default_factory=dict)

    @cached_property
    def sheet(self) -> ScoredAnswers:
        return self.run.sheet(self.column)

    @property
    def way(self) -> Condition:
        return self.run.config.way(self.column)

    @cached_property
    def answers(self) -> dict[str, Answer]:
        return self.run.answers(self.column)

    def table(self, view: Slice) -> SliceTable:
        """A view of this column, made once; the views of a report have different names."""
        if view.name not in self._tables:
            self._tables[view.name] = slice_table(self.sheet, view)
        return self._tables[view.name]

    @property
    def accuracy(self) -> float | None:
        """Strict, in per cent."""
        return 100 * float(self.sheet.right.mean()) if len(self.sheet) else None


def report_columns(
    runs: Sequence[Run], choices: ReportOptions = DEFAULT_OPTIONS
) -> list[ReportColumn]:
    """All columns that have answers, in the order of the runs and their settings.

    Raises UsageError where the weights of a model are stated that no run names.
    """
    readers = {spec: None for run in runs for spec in run.config.readers}
    kinds = classify_weights(readers, choices.open, choices.closed)
    shorts = _shorts({s for r in runs for c in r.columns for s in (c.reader, c.captioner) if s})
    found = []
    for run in runs:
        several = len({c.reader for c in run.columns}) > 1 or len(runs) > 1
        first = f"{_name(run.folder)}: " if len(runs) > 1 else ""
        for column in run.columns:
            reader = shorts[column.reader] if column.reader else "no model"
            by = column.captioner not in ("", column.reader)
            captions = f" < {shorts[column.captioner]}" if by else ""
            who = f" {reader}" if column.reader and several else ""
            found.append(
                ReportColumn(
                    run,
                    column,
                    name=f"{first}{column.setting}{who}{captions}",
                    panel=f"{first}{reader}",
                    series=f"{column.setting}{captions}",
                    weights=kinds.get(column.reader, UNKNOWN),
                    choices=choices,
                )
            )
    return found


def _shorts(specs: set[str]) -> dict[str, str]:
    """Models without server and address, where that still tells them apart."""
    names = {s: ModelSpec.parse(s).model for s in specs}
    return {s: n if list(names.values()).count(n) == 1 else s for s, n in names.items()}


def short_model(spec: str) -> str:
    return ModelSpec.parse(spec).model if spec else "no model"


def check_comparable(runs: Sequence[Run], *, force: bool) -> list[str]:
    """What differs between the runs; raises UsageError for it unless `force`."""
    names = [_name(run.folder) for run in runs]
    if len(set(names)) < len(names):
        raise UsageError("two of the runs have the same folder name", "rename one of the folders")
    found = [line for a, b in combinations(runs, 2) for line in differences(a, b)]
    if found and not force:
        raise UsageError(
            f"the runs are not comparable: {'; '.join(found)}",
            "report them apart, or put them side by side with --force",
        )
    return found


def differences(a: Run, b: Run) -> list[str]:
    """What makes the figures of two runs incomparable, each named with both values; the same facts
    in either order of the runs."""
    found = []
    one, two = _name(a.folder), _name(b.folder)
    used = {w.strategy for w in a.config.ways} & {w.strategy for w in b.config.ways}
    mine, theirs = _options(a.config, used), _options(b.config, used)
    for option in dict.fromkeys([*mine, *theirs]):
        this, that = (held.get(option, "not given") for held in (mine, theirs))
        if this != that:
            found.append(f"{option} is {this} in {one} and {that} in {two}")
    limited = {*a.config.frame_limits, *b.config.frame_limits}
    for spec in sorted(limited & {*a.config.readers} & {*b.config.readers}):
        one_takes, two_takes = a.config.frame_limit(spec), b.config.frame_limit(spec)
        if one_takes != two_takes:
            found.append(f"the frames of {spec} are {one_takes} in {one} and {two_takes} in {two}")
    for setting in sorted({w.name for w in a.config.ways} & {w.name for w in b.config.ways}):
        left, right = prompt_hashes(a, setting), prompt_hashes(b, setting)
        if left and right and left != right:
            found.append(f"the prompts of {setting} differ between {one} and {two}")
        left, right = caption_settings(a, setting), caption_settings(b, setting)
        if left and right and left != right:
            found.append(
                f"the captions of {setting} are made by {_or(left)} in {one} and by {_or(right)} "
                f"in {two}"
            )
    asked, other = _asked(a), _asked(b)
    if asked != other:
        both = asked.keys() & other.keys()
        found.append(
            f"the questions differ: {one} asks {len(asked)}, {two} asks {len(other)}, "
            f"{len(both)} in both, {sum(asked[i] != other[i] for i in both)} of them changed"
        )
    return found


def _options(config: Config, strategies: set[str]) -> dict[str, str]:
    """What decides a run's figures, as it is given on a command line."""
    found = {}
    for name, option in COMPARED.items():
        value = getattr(config, name)
        if value not in (None, False):
            found[option] = "given" if value is True else format_setting(value)
    for role, limits in sorted(config.given_limits.items()):
        for name, n in sorted(limits.items()):
            found[f"--request-limit {role}.{name}"] = format_setting(n)
    for strategy, settings in sorted(config.strategies.items()):
        if strategy in strategies:
            for name, value in sorted(settings.items()):
                found[f"--set {strategy}.{name}"] = format_setting(value)
    return found


def format_setting(value: object) -> str:
    """A setting as a command line has it: `8`, `letter`, `true`."""
    if isinstance(value, float):
        return f"{value:g}"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def prompt_hashes(run: Run, setting: str) -> set[str]:
    """The hashes of the prompts that a setting's answers were made with, of open and of lettered
    questions alike."""
    own = {q.id: len(q.options) for q in run.questions}
    return {
        f"{own[id]}:{cell.parts.get('prompt', '')}"
        for (id, column), cell in run.cells.items()
        if column.setting == setting and id in own
    }


def caption_settings(run: Run, setting: str) -> set[str]:
    """Prompt, window and sampling of the captions that a setting reads, whoever made them."""
    labels = {c.label for c in run.columns if c.setting == setting}
    tracks = run.about.get("tracks", {})
    return {str(tracks[x]).rpartition("#")[2] for x in labels if tracks.get(x)}


def _or(names: set[str]) -> str:
    return " or ".join(sorted(names))


def _asked(run: Run) -> dict[str, str]:
    return {q.id: digest(q.model_dump(mode="json")) for q in run.questions}


def _name(folder: Path) -> str:
    return folder.resolve().name
