"""Whether runs can stand side by side: what makes their figures incomparable."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import combinations

from egomem.errors import UsageError
from egomem.evaluate.config import Config
from egomem.evaluate.fingerprint import digest
from egomem.evaluate.run_reader import Run
from egomem.report.columns import run_name

COMPARED_SETTINGS = {
    "frames": "--frames", "fps": "--fps", "side": "--side", "format": "--reply",
    "abstain": "--abstain", "max_tokens": "--max-tokens", "caption_tokens": "--caption-tokens",
    "fit": "--fit", "given_memory": "--memory", "track": "--track",
}  # fmt: skip
"""Fields of `Config` that change what a figure means, and the option that sets each."""


def check_comparable(runs: Sequence[Run], *, force: bool) -> list[str]:
    """Every difference between two of the runs; raises UsageError for any unless `force`."""
    names = [run_name(run) for run in runs]
    if len(set(names)) < len(names):
        raise UsageError("two of the runs have the same folder name", "rename one of the folders")
    # Each with each, not each with the first: two later runs may share a reader or a setting that
    # the first one lacks.
    lines = [line for a, b in combinations(runs, 2) for line in differences(a, b)]
    if lines and not force:
        raise UsageError(
            f"the runs are not comparable: {'; '.join(lines)}",
            "report them separately, or put them side by side with --force",
        )
    return lines


def differences(a: Run, b: Run) -> list[str]:
    """What makes the figures of two runs incomparable, one sentence each with both values.

    The same facts are found in either order of the runs.
    """
    first, second = run_name(a), run_name(b)
    return [
        *_option_differences(a.config, b.config, first, second),
        *_frame_limit_differences(a.config, b.config, first, second),
        *_setting_differences(a, b),
        *_question_differences(a, b),
    ]


def _option_differences(a: Config, b: Config, first: str, second: str) -> list[str]:
    # Settings of a strategy that only one of the runs uses concern no figure of the other.
    shared = {c.strategy for c in a.conditions} & {c.strategy for c in b.conditions}
    options_a, options_b = _command_line(a, shared), _command_line(b, shared)
    return [
        f"{option} is {value_a} in {first} and {value_b} in {second}"
        for option in dict.fromkeys([*options_a, *options_b])
        if (value_a := options_a.get(option, "not given"))
        != (value_b := options_b.get(option, "not given"))
    ]


def _frame_limit_differences(a: Config, b: Config, first: str, second: str) -> list[str]:
    limited = {*a.frame_limits, *b.frame_limits}
    return [
        f"the frames of {spec} are {limit_a} in {first} and {limit_b} in {second}"
        for spec in sorted(limited & {*a.readers} & {*b.readers})
        if (limit_a := a.frame_limit(spec)) != (limit_b := b.frame_limit(spec))
    ]


def _setting_differences(a: Run, b: Run) -> list[str]:
    """Prompts of answers and captions, for each setting that both runs have."""
    lines = []
    first, second = run_name(a), run_name(b)
    for setting in sorted(
        {c.name for c in a.config.conditions} & {c.name for c in b.config.conditions}
    ):
        prompts_a, prompts_b = prompt_hashes(a, setting), prompt_hashes(b, setting)
        if prompts_a and prompts_b and prompts_a != prompts_b:
            lines.append(f"the prompts of {setting} differ between {first} and {second}")
        captions_a, captions_b = caption_settings(a, setting), caption_settings(b, setting)
        if captions_a and captions_b and captions_a != captions_b:
            lines.append(
                f"the captions of {setting} are made by {' or '.join(sorted(captions_a))} in "
                f"{first} and by {' or '.join(sorted(captions_b))} in {second}"
            )
    return lines


def _question_differences(a: Run, b: Run) -> list[str]:
    hashes_a, hashes_b = _question_hashes(a), _question_hashes(b)
    if hashes_a == hashes_b:
        return []
    both = hashes_a.keys() & hashes_b.keys()
    changed = sum(hashes_a[id] != hashes_b[id] for id in both)
    return [
        f"the questions differ: {run_name(a)} asks {len(hashes_a)}, {run_name(b)} asks "
        f"{len(hashes_b)}, {len(both)} in both, {changed} of them changed"
    ]


def _question_hashes(run: Run) -> dict[str, str]:
    return {q.id: digest(q.model_dump(mode="json")) for q in run.questions}


def _command_line(config: Config, strategies: set[str]) -> dict[str, str]:
    """What determines a run's figures: option -> value, as on a command line."""
    options = {}
    for name, option in COMPARED_SETTINGS.items():
        value = getattr(config, name)
        if value not in (None, False):
            options[option] = "given" if value is True else format_setting(value)
    for role, limits in sorted(config.given_limits.items()):
        for name, limit in sorted(limits.items()):
            options[f"--request-limit {role}.{name}"] = format_setting(limit)
    for strategy, settings in sorted(config.strategies.items()):
        if strategy in strategies:
            for name, value in sorted(settings.items()):
                options[f"--set {strategy}.{name}"] = format_setting(value)
    return options


def format_setting(value: object) -> str:
    """A setting's value as it is typed on a command line: `8`, `letter`, `true`."""
    if isinstance(value, float):
        return f"{value:g}"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def prompt_hashes(run: Run, setting: str) -> set[str]:
    """Hashes of the prompts that a setting's answers were made with, as "options:hash".

    The number of options is part of it because open and multiple-choice questions have different
    prompts, and two runs may have answered different ones so far.
    """
    options = {q.id: len(q.options) for q in run.questions}
    return {
        f"{options[id]}:{cell.parts.get('prompt', '')}"
        for (id, arm), cell in run.cells.items()
        if arm.setting == setting and id in options
    }


def caption_settings(run: Run, setting: str) -> set[str]:
    """Prompt, window and sampling of the captions that a setting reads, whichever model made them.

    A track's id ends with these after "#"; the model before it may differ, as readers do.
    """
    labels = {arm.label for arm in run.columns if arm.setting == setting}
    tracks = run.about.get("tracks", {})
    return {str(tracks[label]).rpartition("#")[2] for label in labels if tracks.get(label)}
