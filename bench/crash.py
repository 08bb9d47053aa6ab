"""Kill a writer at random moments, and look whether anything that it acknowledged is lost.

    python bench/crash.py [--kills 200] [--seed 0] [--json FILE]

A child process adds observations and vectors and says so after each call returned; segments are
written and merged all the time. It is killed (SIGKILL) after a random while; then the memory is
opened again, and everything acknowledged has to be there once, to be found by a search, and the
index has to agree with the record. All kills hit one growing memory. Needs os.fork (not Windows).
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from unittest import mock

import numpy as np

from _narrations import Narrator
from egomem.memory import Store, index
from egomem.memory.check import check
from egomem.records import Observation, Recording
from egomem.timeline import Span

DIMENSION = 16


def write_until_killed(folder: Path, trial: int, said: int) -> None:
    """Never returns. One line for each acknowledged batch: what was added, and its ids."""
    r = random.Random(trial)
    narrator = Narrator(trial)
    with Store.open(folder, create=True) as store:
        store.put_recording(Recording(id=f"r{trial}", name="r", duration=1e6))
        at = 0
        while True:
            batch = []
            for _ in range(r.randrange(1, 12)):
                text = f"trial{trial} {narrator.sentence()}"
                batch.append(
                    Observation(
                        recording=f"r{trial}",
                        span=Span(at, at + 1),
                        text=text,
                        source="caption",
                        track="caption/crash",
                    )
                )
                at += 1
            ids = [o.id for o in batch]
            store.add(batch)
            os.write(said, f"add {' '.join(ids)}\n".encode())
            if r.random() < 0.3:
                store.add_vectors("e", f"r{trial}", ids, np.ones((len(ids), DIMENSION)))
                os.write(said, f"vec {' '.join(ids)}\n".encode())
            if r.random() < 0.1:
                store.flush()


def one_kill(folder: Path, trial: int, seconds: float) -> list[str]:
    """What a child acknowledged before it was killed."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        try:
            write_until_killed(folder, trial, writer)
        finally:
            os._exit(1)
    os.close(writer)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if not os.WIFSIGNALED(status):
        sys.exit("the child ended by itself: see its error above")
    with os.fdopen(reader) as lines:
        return [line for line in lines if line.endswith("\n")]


def examine(folder: Path, trial: int, lines: list[str]) -> Counter[str]:
    found: Counter[str] = Counter(kills=1)
    if not (folder / "memory.db").is_file():
        return found
    acknowledged: dict[str, list[str]] = {"add": [], "vec": []}
    for line in lines:
        kind, *ids = line.split()
        acknowledged[kind] += ids
    with Store.open(folder) as store:
        view = store.view()
        held = [o.id for o in view.observations(ids=acknowledged["add"])]
        found["acknowledged"] = len(acknowledged["add"])
        found["lost"] = len(set(acknowledged["add"]) - set(held))
        # Not acknowledged and yet there is no fault: the answer was cut off, not the write.
        known = store.recording(f"r{trial}") is not None
        mine = view.narrow(recordings=[f"r{trial}"]) if known else None
        every = [o.id for o in mine.observations()] if mine else []
        found["unacknowledged"] = len(set(every) - set(held))
        found["duplicates"] = len(every) - len(set(every))
        term = f"trial{trial}"
        hits = {h.observation.id for h in view.search(term, k=10**6)}
        found["not_found"] = len(set(every) ^ hits)
        found["vectors"] = len(acknowledged["vec"])
        vectors = set(mine.vectors("e")[0]) if mine else set()
        found["vectors_lost"] = len(set(acknowledged["vec"]) - vectors)
        found["index_left_over"] = sum(
            "belongs to nothing" in f.what for f in check(store).findings
        )
        store.flush()  # as the next writer does
        found["not_healed"] = sum(f.part != "vectors" for f in check(store).findings)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--longest", type=float, default=0.25, help="seconds until the kill")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    r = random.Random(options.seed)
    total: Counter[str] = Counter()
    # Small segments: the index is written and merged every few batches.
    with tempfile.TemporaryDirectory() as folder, mock.patch.multiple(index, FLUSH=16):
        for trial in range(options.kills):
            lines = one_kill(Path(folder, "m"), trial, r.uniform(0.005, options.longest))
            total += examine(Path(folder, "m"), trial, lines)
        with Store.open(Path(folder, "m")) as store:
            check(store, repair=True)
            total["not_repaired"] = len(check(store).findings)
            total["observations"] = store.view().count()
    wanted = ("kills", "observations", "acknowledged", "unacknowledged", "vectors")
    faults = ("lost", "duplicates", "not_found", "vectors_lost", "not_healed", "not_repaired")
    for name in (*wanted, *faults, "index_left_over"):
        print(f"{name.replace('_', ' '):22}{total[name]:8}")
    if options.json:
        options.json.write_text(json.dumps({name: total[name] for name in total}, indent=1))
    sys.exit(1 if any(total[name] for name in faults) else 0)


if __name__ == "__main__":
    main()
