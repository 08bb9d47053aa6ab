"""What the figures of a run come from: its command, configuration, models, versions and times."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from egomem.answer.prompts import VERIFY
from egomem.evaluate.config import Config
from egomem.evaluate.hardware import hardware_text
from egomem.evaluate.measures import servers_of
from egomem.evaluate.run_reader import Run
from egomem.models import Role
from egomem.observe.caption_prompt import PROMPT, WHOLE_PROMPT
from egomem.report.columns import run_name
from egomem.report.comparability import format_setting
from egomem.report.table import ReportTable, build_table
from egomem.text import plural


def run_summary(run: Run) -> str:
    """A run in one sentence: questions, settings, readers, configuration and version."""
    about = run.about
    settings = len({arm.setting for arm in run.columns})
    return (
        f"Run {run_name(run)}: {plural(len(run.questions), 'question')} of "
        f"{about.get('benchmark', {}).get('name')}, {plural(settings, 'setting')}, "
        f"{plural(len(run.config.readers), 'reader')}; configuration {about.get('config_hash')}, "
        f"prompts {about.get('prompts')}, egomem {about.get('versions', {}).get('egomem')}."
    )


def command_line(run: Run) -> str:
    """The command of a run as it can be typed again."""
    return shlex.join(map(str, run.about.get("command", [])))


def run_details(run: Run) -> ReportTable:
    """A table of (name, value): all that a run's figures depend on."""
    about, config = run.about, run.config
    benchmark = about.get("benchmark", {})
    shard = f", shard {config.shard}" if config.shard else ""
    dropped = run.benchmark.left_out
    unusable = f"; {plural(dropped, 'row')} of the data could not be used" if dropped else ""
    rows: list[list[object]] = [
        ["command", command_line(run)],
        ["configuration", f"{about.get('config_hash')} ({config.protocol}{shard})"],
        ["prompts", about.get("prompts")],
        [
            "questions",
            f"{benchmark.get('questions')} of {benchmark.get('of')}, {benchmark.get('name')}"
            f"{unusable}",
        ],
        ["licence", benchmark.get("licence") or "not stated"],
        ["readers", ", ".join(config.readers) or "no model"],
        *_role_rows(config),
        ["versions", ", ".join(f"{k} {v}" for k, v in about.get("versions", {}).items())],
        ["models named by servers", ", ".join(_served_models(run)) or "no server was asked"],
        ["requests", _requests_text(about.get("requests", {})) or "not recorded"],
        ["machine", hardware_text(about["hardware"]) if "hardware" in about else "not recorded"],
        ["time", f"{about.get('started')} to {about.get('ended') or 'not finished'}"],
    ]
    rows += [[f"frames of {spec}", f"at most {n}"] for spec, n in config.frame_limits.items()]
    for strategy, settings in config.strategies.items():
        values = ", ".join(f"{name}={format_setting(v)}" for name, v in settings.items())
        rows.append([f"settings of {strategy}", values])
    return build_table(f"Run {run_name(run)}", ("", ""), rows)


def _role_rows(config: Config) -> Iterator[list[object]]:
    """The roles that a run has: the model in each, what it is given, and how it replies."""
    limits = config.limits("")
    makes_captions = any(c.captioned for c in config.conditions)
    has_verifier = any(c.verifies for c in config.conditions)
    if config.given_memory:
        yield ["captioners", "none: the captions of a given memory"]
    elif makes_captions:
        yield ["captioners", ", ".join(config.captioners) or "each reader captions for itself"]
    if has_verifier:
        yield ["verifier", config.verifier or "the reader"]
    if config.readers or config.captioners:
        yield ["frames", f"at most {config.frames} at {config.fps:g} a second"]
        yield ["decoding", "temperature 0, single turn, no examples"]

    def frames_of(role: Role) -> str:
        role_limits = limits[role]
        fit = ", fewer where a server takes fewer" if role_limits.fit else ""
        return f"at most {role_limits.images} frames of {role_limits.side} pixels a side{fit}"

    if config.readers:
        abstaining = "may abstain" if config.abstain else "must choose"
        citing = "cites evidence" if config.cite else "cites nothing"
        reply = f"reply {config.format}, at most {config.max_tokens} tokens, {abstaining}, {citing}"
        yield ["as a reader", f"{reply}; {frames_of(Role.READER)}"]
    if makes_captions and not config.given_memory:
        kinds = dict.fromkeys(c.captions == "whole" for c in config.conditions if c.captioned)
        prompts = " and ".join(WHOLE_PROMPT if whole else PROMPT for whole in kinds)
        reply = f"{prompts}, free text, at most {config.caption_tokens} tokens"
        yield ["as a captioner", f"{reply}; {frames_of(Role.CAPTIONER)}"]
    if has_verifier:
        reply = f"{VERIFY.name}, JSON, at most {config.max_tokens} tokens"
        yield ["as a verifier", f"{reply}; {frames_of(Role.VERIFIER)}"]


def _served_models(run: Run) -> list[str]:
    """The models as the servers named them in their replies, with the servers' versions: a name
    may stand for another model tomorrow."""
    servers = servers_of(cell.answer for cell in run.cells.values())
    return [
        f"{model} (server {', '.join(versions)})" if versions else model
        for model, versions in servers.items()
    ]


def _requests_text(parameters: Mapping[str, Any]) -> str:
    """`temperature 0; at most 2048 tokens of a reply, 1024 of a caption; 8 at once ...`"""
    if not parameters:
        return ""
    tokens, policy = parameters["max_tokens"], parameters["policy"]
    return (
        f"temperature {parameters['temperature']}; at most {tokens['reader']} tokens of a reply, "
        f"{tokens['captioner']} of a caption; {policy['concurrency']} at once; at most "
        f"{policy['max_attempts']} attempts within {policy['deadline']:g} s"
    )
