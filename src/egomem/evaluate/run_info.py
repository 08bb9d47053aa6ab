"""`run.json`: what each number of a run leads back to."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from egomem.evaluate.bias_gate import BiasGate
from egomem.evaluate.fingerprint import prompt_hash
from egomem.evaluate.hardware import hardware
from egomem.evaluate.measures import servers_of
from egomem.evaluate.run_folder import OpenRun, question_digest
from egomem.evaluate.run_summary import RunSummary
from egomem.evaluate.versions import versions

ABOUT = "run.json"
BENCHMARK = "benchmark.json"


def write_run_info(
    run: OpenRun,
    command: Sequence[str],
    stale: Mapping[str, Mapping[str, str]],
    outcome: RunSummary | None = None,
    gates: Sequence[BiasGate] = (),
) -> None:
    """Write down what each number of this run leads back to, and which answers are `stale`, of an
    earlier configuration: a call that is killed or halted leaves them beside its own."""
    config = run.config
    before = read_run_info(run.folder)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    about: dict[str, Any] = {
        "command": list(command) or before.get("command", []),
        "config": config.model_dump(mode="json"),
        "config_hash": config.hash,
        "prompts": prompt_hash(config),
        "benchmark": {
            "name": run.benchmark.name,
            "format": run.benchmark.format,
            "licence": run.benchmark.licence,
            "provenance": run.benchmark.provenance,
            "questions": len(run.questions),
            "of": len(run.benchmark.questions),
            "left_out": run.benchmark.left_out,
            "asked": question_digest(run.questions),
        },
        "tracks": {arm.label: run.inputs.track(arm) for arm in run.arms},
        "recordings": {v: r.id for v, r in run.videos.recordings.items()},
        "memory": str(run.store.folder.resolve()),
        "versions": versions(),
        "hardware": hardware(),
        "requests": _request_parameters(run),
        "servers": servers_of(cell.answer for cell in run.record.stored.cells.values()),
        "started": before.get("started", now),
        "ended": now if outcome and not outcome.halted else None,
        "stale": stale,
        "gates": [g.model_dump(mode="json") for g in gates],
        "last": outcome.model_dump(mode="json", exclude={"gates"}) if outcome else None,
    }
    _write(run.folder / ABOUT, json.dumps(about, ensure_ascii=False, indent=1))
    _write(run.folder / BENCHMARK, run.benchmark.model_dump_json())


def _request_parameters(run: OpenRun) -> dict[str, Any]:
    """What each request of a role carries beside its content, and how requests are sent."""
    config = run.config
    limits = {
        reader or "no model": {
            role.value: limit.model_dump(mode="json")
            for role, limit in config.limits(reader).items()
        }
        for reader in config.readers
    }
    return {
        "temperature": 0,
        "max_tokens": {"reader": config.max_tokens, "captioner": config.caption_tokens},
        "reply_form": config.format,
        "cites_evidence": config.cite,
        "limits": limits,
        "policy": run.clients.policy.model_dump(mode="json"),
    }


def update_run_info(folder: Path, **fields: Any) -> None:
    """Put other values of some fields in the place of those that run.json holds."""
    fields_before = read_run_info(folder) | fields
    _write(folder / ABOUT, json.dumps(fields_before, ensure_ascii=False, indent=1))


def read_run_info(folder: Path) -> dict[str, Any]:
    """What run.json holds; {} where there is none."""
    try:
        fields = json.loads((folder / ABOUT).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return fields if isinstance(fields, dict) else {}


def _write(path: Path, text: str) -> None:
    part = path.with_name(path.name + ".part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)
