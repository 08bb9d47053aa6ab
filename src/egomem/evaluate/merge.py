"""Shards of one run -> that run. What is missing or doubled is told, and nothing is merged then."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from egomem.benchmarks import Benchmark
from egomem.errors import UsageError
from egomem.evaluate.bias_gate import measured
from egomem.evaluate.caption_usage import keep_building, read_building, write_building
from egomem.evaluate.config import Config
from egomem.evaluate.fingerprint import digest
from egomem.evaluate.predictions import write_predictions
from egomem.evaluate.results import NAME, Finished, Key, Results
from egomem.evaluate.run_folder import chosen, locked, question_digest
from egomem.evaluate.run_info import ABOUT, BENCHMARK
from egomem.evaluate.run_reader import Run, load_run
from egomem.memory import Store
from egomem.memory.replies import ReplyCache
from egomem.models import RequestTags
from egomem.records import Usage
from egomem.text import plural

SHOWN = 20
"""Ids that an error lists; all are in its count."""


def merge(target: Path, shards: Sequence[Path]) -> int:
    """Write the run that the shards are parts of into `target`; returns its number of cells.

    Raises UsageError where the folders are not shards of one run, and where a cell is missing or
    stands in two of them, listing which.
    """
    if (target / ABOUT).exists():
        raise UsageError(f"{target} holds a run already", "name a new folder")
    loaded = [load_run(folder) for folder in shards]
    whole = _same(loaded)
    config, benchmark = whole.config, whole.benchmark
    questions = chosen(benchmark.questions, config)
    cells = _once(loaded)
    columns = config.columns()
    wanted = [(q.id, c) for q in questions for c in columns]
    lost = [key for key in wanted if key not in cells]
    if lost:
        raise UsageError(
            f"{len(lost)} of {plural(len(wanted), 'cell')} "
            f"{'is' if len(lost) == 1 else 'are'} missing: {_listed(lost)}",
            "finish the shards, or name the folders of those that are left out",
        )
    target.mkdir(parents=True, exist_ok=True)
    with locked(target):
        joined = Results(target / NAME)
        for key in wanted:
            joined.put(cells[key])
        for shard in loaded:
            joined.measures = {**shard.results.measures, **joined.measures}
        joined.settle(wanted)
        _memories(target, loaded)
        (target / BENCHMARK).write_text(benchmark.model_dump_json(), encoding="utf-8")
        write_predictions(target, questions, columns, cells)
        _spent(target, loaded)
        # Last, as it makes the folder a run: a merge that was killed is begun again.
        _about(target, whole, loaded, config, questions, cells)
    return len(wanted)


def _same(loaded: Sequence[Run]) -> Run:
    """The first shard with the configuration of the whole. Raises UsageError where they differ."""
    if not loaded:
        raise UsageError("no shards are named")
    first = loaded[0]
    asked = _content(first.benchmark)
    for other in loaded[1:]:
        if other.config.hash != first.config.hash:
            raise UsageError(
                f"{first.folder} and {other.folder} are shards of different runs "
                f"({first.config.hash} and {other.config.hash})",
                "run all shards with the same settings",
            )
        if _content(other.benchmark) != asked:
            raise UsageError(
                f"{first.folder} and {other.folder} ask different questions",
                "run all shards on the same files",
            )
    first.config = first.config.model_copy(update={"shard": None})
    return first


def _content(benchmark: Benchmark) -> str:
    return digest([q.model_dump(mode="json") for q in benchmark.questions])


def _once(loaded: Sequence[Run]) -> dict[Key, Finished]:
    cells: dict[Key, Finished] = {}
    twice: list[Key] = []
    for shard in loaded:
        wanted = [(q.id, c) for q in shard.questions for c in shard.config.columns()]
        for key in wanted:
            if key not in shard.cells:
                continue
            if key in cells:
                twice.append(key)
            cells[key] = shard.cells[key]
    if twice:
        raise UsageError(
            f"{plural(len(twice), 'cell stands', 'cells stand')} in two shards: {_listed(twice)}",
            "name each shard once",
        )
    return cells


def _listed(keys: Sequence[Key]) -> str:
    ids = list(dict.fromkeys(f"{id} ({column.label})" for id, column in keys))
    more = f" and {len(ids) - SHOWN} more" if len(ids) > SHOWN else ""
    return ", ".join(ids[:SHOWN]) + more


def _memories(target: Path, loaded: Sequence[Run]) -> None:
    """Join the captions and replies, so that the merged run can be gone on with."""
    replies = ReplyCache(target)
    took: dict[str, Usage] = {}
    for shard in loaded:
        took |= read_building(shard.folder)
        source_replies = ReplyCache(shard.folder)
        for kept in source_replies.latest(sys.maxsize):
            replies.put(kept.reply, kept.request, RequestTags())
        source_replies.close()
        if shard.config.given_memory or not shard.remembers:
            continue
        with (
            Store.open(shard.memory) as source,
            Store.open(target / "memory", create=True) as store,
        ):
            for track in source.tracks():
                store.put_track(track)
            for recording in source.recordings():
                store.put_recording(recording)
                held = source.view().observations(recording=recording.id)
                store.add(held, done=source.done(recording.id))
    if took:
        write_building(target, took)
    if any(shard.remembers and not shard.config.given_memory for shard in loaded):
        with Store.open(target / "memory") as store:
            keep_building(target, store, replies, [t.id for t in store.tracks()])
    replies.close()


def _spent(target: Path, loaded: Sequence[Run]) -> None:
    """Join the ledgers: what all shards have sent."""
    held = ReplyCache(target)
    for shard in loaded:
        source = ReplyCache(shard.folder)
        for entry in source.entries():
            held.spent(entry)
        source.close()
    held.close()


def _about(
    target: Path,
    whole: Run,
    loaded: Sequence[Run],
    config: Config,
    questions: Sequence[Any],
    cells: Mapping[Key, Finished],
) -> None:
    about = dict(whole.about)
    about["config"] = config.model_dump(mode="json")
    about["merged"] = [
        {"folder": s.folder.name, "command": s.about.get("command"), "ended": s.about.get("ended")}
        for s in loaded
    ]
    about["started"] = min(str(s.about.get("started")) for s in loaded)
    about["ended"] = max(str(s.about.get("ended")) for s in loaded)
    about["gates"] = [g.model_dump(mode="json") for g in measured(questions, config, cells)]
    about["last"], about["stale"] = None, {}
    for name in ("tracks", "recordings"):
        about[name] = {k: v for s in loaded for k, v in s.about.get(name, {}).items()}
    if not config.given_memory:
        about["memory"] = str((target / "memory").resolve())
    about["benchmark"] = {
        **about["benchmark"],
        "questions": len(questions),
        "asked": question_digest(questions),
    }
    (target / ABOUT).write_text(json.dumps(about, ensure_ascii=False, indent=1), encoding="utf-8")
