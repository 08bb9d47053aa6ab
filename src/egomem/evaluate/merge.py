"""Shards of one run -> that run. What is missing or doubled is told, and nothing is merged then."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from egomem.benchmarks import Benchmark
from egomem.errors import UsageError
from egomem.evaluate.bias_gate import bias_gates
from egomem.evaluate.caption_usage import usage_of_captions
from egomem.evaluate.config import Config
from egomem.evaluate.export import write_answers
from egomem.evaluate.fingerprint import digest
from egomem.evaluate.predictions import write_predictions
from egomem.evaluate.run_db import RunDatabase
from egomem.evaluate.run_folder import chosen_questions, locked, question_digest
from egomem.evaluate.run_info import ABOUT, BENCHMARK
from egomem.evaluate.run_reader import Run, load_run
from egomem.evaluate.stored_run import Finished, StoredRun, TrialKey, earlier_measures, place
from egomem.memory import Store
from egomem.memory.replies import ReplyCache
from egomem.models import RequestTags
from egomem.text import plural

SHOWN = 20
"""Ids that an error lists; all are in its count."""


def merge(target: Path, shards: Sequence[Path]) -> int:
    """Write the run that the shards are parts of into `target`; returns its number of cells.

    Raises UsageError where the folders are not shards of one run, and where a cell is missing or
    stands in two of them, listing which.
    """
    # This file makes a folder a run; one without it is a merge that was killed, and may be begun
    # again.
    if (target / ABOUT).exists():
        raise UsageError(f"{target} holds a run already", "name a new folder")
    loaded = [load_run(folder) for folder in shards]
    whole = _same(loaded)
    config, benchmark = whole.config, whole.benchmark
    questions = chosen_questions(benchmark.questions, config)
    cells = _once(loaded)
    columns = config.arms()
    keys = [(q.id, c) for q in questions for c in columns]
    missing = [key for key in keys if key not in cells]
    if missing:
        raise UsageError(
            f"{len(missing)} of {plural(len(keys), 'cell')} "
            f"{'is' if len(missing) == 1 else 'are'} missing: {_listed(missing)}",
            "finish the shards, or name the folders of those that are left out",
        )
    target.mkdir(parents=True, exist_ok=True)
    with locked(target), RunDatabase.create(target) as record:
        record.add_run(_joined([cells[key] for key in keys], loaded))
        write_answers(target, record.stored, keys)
        _memories(target, loaded, record)
        (target / BENCHMARK).write_text(benchmark.model_dump_json(), encoding="utf-8")
        write_predictions(target, questions, columns, cells, benchmark.questions)
        _ledgers(target, loaded)
        # Last, as it makes the folder a run: a merge that was killed is begun again.
        _about(target, whole, loaded, config, questions, cells)
    return len(keys)


def _same(loaded: Sequence[Run]) -> Run:
    """The first shard with the configuration of the whole. Raises UsageError where they differ."""
    if not loaded:
        raise UsageError("no shards are named")
    first = loaded[0]
    content = _content(first.benchmark)
    for other in loaded[1:]:
        # The hash leaves the shard out, so those of one run have the same.
        if other.config.hash != first.config.hash:
            raise UsageError(
                f"{first.folder} and {other.folder} are shards of different runs "
                f"({first.config.hash} and {other.config.hash})",
                "run all shards with the same settings",
            )
        # Files may have been edited between two shards, under the same name.
        if _content(other.benchmark) != content:
            raise UsageError(
                f"{first.folder} and {other.folder} ask different questions",
                "run all shards on the same files",
            )
    first.config = first.config.model_copy(update={"shard": None})
    return first


def _content(benchmark: Benchmark) -> str:
    return digest([q.model_dump(mode="json") for q in benchmark.questions])


def _once(loaded: Sequence[Run]) -> dict[TrialKey, Finished]:
    cells: dict[TrialKey, Finished] = {}
    twice: list[TrialKey] = []
    for shard in loaded:
        keys = [(q.id, c) for q in shard.questions for c in shard.config.arms()]
        for key in keys:
            if key not in shard.cells:
                continue
            # All are collected before anything is refused: a list of one would be mended and
            # refused again.
            if key in cells:
                twice.append(key)
            cells[key] = shard.cells[key]
    if twice:
        raise UsageError(
            f"{plural(len(twice), 'cell stands', 'cells stand')} in two shards: {_listed(twice)}",
            "name each shard once",
        )
    return cells


def _listed(keys: Sequence[TrialKey]) -> str:
    ids = list(dict.fromkeys(f"{id} ({column.label})" for id, column in keys))
    more = f" and {len(ids) - SHOWN} more" if len(ids) > SHOWN else ""
    return ", ".join(ids[:SHOWN]) + more


def _joined(cells: Sequence[Finished], loaded: Sequence[Run]) -> StoredRun:
    """The answers, what the shards have measured of others, and what their captions took."""
    joined = StoredRun(cells={cell.key: cell for cell in cells})
    current = {place(cell.key, cell.parts) for cell in cells}
    for shard in reversed(loaded):  # that of the last shard comes first, as it always did
        stored = shard.stored
        measures = [*map(earlier_measures, stored.cells.values()), *stored.earlier.values()]
        for row in measures:
            if (where := place(row.key, row.parts)) not in current:
                joined.earlier.setdefault(where, row)
    for shard in loaded:
        joined.caption_usage |= shard.stored.caption_usage
    return joined


def _memories(target: Path, loaded: Sequence[Run], record: RunDatabase) -> None:
    """Join the captions and replies, so that the merged run can go on."""
    with ReplyCache(target) as replies:
        for shard in loaded:
            with ReplyCache(shard.folder) as source:
                for kept in source.latest(sys.maxsize):
                    replies.put(kept.reply, kept.request, RequestTags())
        with_memory = [s for s in loaded if s.remembers and not s.config.given_memory]
        if not with_memory:
            return
        with Store.open(target / "memory", create=True) as store:
            for shard in with_memory:
                _add_memory(store, shard.memory)
            tracks = [track.id for track in store.tracks()]
            recorded = record.stored.caption_usage
            record.add_caption_usage(usage_of_captions(store, replies, tracks, recorded))


def _add_memory(store: Store, folder: Path) -> None:
    with Store.open(folder) as source:
        for track in source.tracks():
            store.put_track(track)
        for recording in source.recordings():
            store.put_recording(recording)
            observations = source.view().observations(recording=recording.id)
            store.add(observations, completed=source.completed(recording.id))


def _ledgers(target: Path, loaded: Sequence[Run]) -> None:
    """Join the ledgers: what all shards have sent."""
    with ReplyCache(target) as replies:
        for shard in loaded:
            with ReplyCache(shard.folder) as source:
                # Budgets count what all have sent, so the whole starts from their sum.
                for entry in source.entries():
                    replies.record(entry)


def _about(
    target: Path,
    whole: Run,
    loaded: Sequence[Run],
    config: Config,
    questions: Sequence[Any],
    cells: Mapping[TrialKey, Finished],
) -> None:
    about = dict(whole.about)
    about["config"] = config.model_dump(mode="json")
    about["merged"] = [
        {"folder": s.folder.name, "command": s.about.get("command"), "ended": s.about.get("ended")}
        for s in loaded
    ]
    about["started"] = min(str(s.about.get("started")) for s in loaded)
    about["ended"] = max(str(s.about.get("ended")) for s in loaded)
    about["gates"] = [g.model_dump(mode="json") for g in bias_gates(questions, config, cells)]
    # The counts of the last shard's last call say nothing of the whole.
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
