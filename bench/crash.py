"""Kill a writer at random moments, and look whether anything that it acknowledged is lost.

    python bench/crash.py [--kills 200] [--others 40] [--video FILE] [--seed 0] [--json FILE]

A child process adds observations and vectors and says so after each call returned; segments are
written and merged all the time. It is killed (SIGKILL) after a random while; then the memory is
opened again, and everything acknowledged has to be there once, to be found by a search, and the
index has to agree with the record. All kills hit one growing memory. Needs os.fork (not Windows).

`--others` kills each of: an import, forgetting, repairing and, with `--video`, the ingest of that
video by scripted observers; what was killed is done again, and the memory has to be the one that
nobody killed, without a trace of what was forgotten.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from unittest import mock

import numpy as np

from _narrations import Narrator
from egomem.ingest import Observers, SamplingOptions, ingest
from egomem.ingest.importing import import_files
from egomem.memory import Store, index
from egomem.memory.check import check
from egomem.observe.window import Window
from egomem.records import Observation, Recording, Track
from egomem.timeline import Span

DIMENSION = 16


def write_until_killed(folder: Path, trial: int, pipe: int) -> None:
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
            os.write(pipe, f"add {' '.join(ids)}\n".encode())
            if r.random() < 0.3:
                store.add_vectors("e", f"r{trial}", ids, np.ones((len(ids), DIMENSION)))
                os.write(pipe, f"vec {' '.join(ids)}\n".encode())
            if r.random() < 0.1:
                store.flush()


def killed(work: Callable[[], object], seconds: float | None) -> bool:
    """Whether a child that works was killed before it had finished; None: it is let finish."""
    child = os.fork()
    if child == 0:
        try:
            work()
            os._exit(0)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
    if seconds is not None:
        time.sleep(seconds)
        os.kill(child, signal.SIGKILL)  # which a child that has ended is past
    _, status = os.waitpid(child, 0)
    if os.WIFEXITED(status) and os.WEXITSTATUS(status):
        sys.exit("the child failed: see its error above")
    return os.WIFSIGNALED(status)


SECRET = "zanzibar"


def random_observations(count: int, seed: int) -> list[Observation]:
    narrator = Narrator(seed)
    return [
        Observation(
            recording="r",
            span=Span(at, at + 1),
            text=f"{narrator.sentence()} {SECRET if at % 3 == 0 else ''}",
            source="caption",
            track="caption/crash",
        )
        for at in range(count)
    ]


def prepare(folder: Path, observations: list[Observation]) -> None:
    with Store.open(folder, create=True) as store:
        store.put_recording(Recording(id="r", name="r", duration=1e6))
        store.add(observations)
        ids = [o.id for o in observations]
        store.add_vectors("e", "r", ids, np.ones((len(ids), DIMENSION)))


def importing(folder: Path, source: Path) -> None:
    with Store.open(folder, create=True) as store:
        import_files(store, [source])


def forgetting(folder: Path) -> None:
    with Store.open(folder) as store:
        store.forget(match=SECRET)


def repairing(folder: Path) -> None:
    with Store.open(folder) as store:
        for file in (folder / "index").glob("*.seg"):
            file.unlink()
        check(store, repair=True)


class Scripted:
    """Sees the number of its window."""

    track = Track(source="caption", observer="scripted", window=2)

    async def observe(self, window: Window) -> list[Observation]:
        return [
            Observation(
                recording=window.recording.id,
                span=window.span,
                text=f"window at {window.span.start:g}, {len(window.frames)} frames",
                source="caption",
                track=self.track.id,
            )
        ]


def ingesting(folder: Path, video: Path) -> None:
    with Store.open(folder, create=True) as store:
        observers = Observers(frames=[Scripted()])
        asyncio.run(ingest(store, [video], observers, sampling=SamplingOptions(window=2, fps=1)))


def content(folder: Path) -> list[str]:
    with Store.open(folder) as store:
        return sorted(o.id for o in store.view().observations())


def traces(folder: Path) -> int:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return sum(SECRET.encode() in path.read_bytes().lower() for path in files)


def others(scratch: Path, kills: int, r: random.Random, video: Path | None) -> Counter[str]:
    """Kill each kind of work, finish it, and compare with the memory that nobody killed."""
    counts: Counter[str] = Counter()
    observations = random_observations(1500, 1)
    source = scratch / "r.jsonl"
    lines = [
        {"video_id": "r", "start": o.span.start, "end": o.span.end, "text": o.text}
        for o in observations
    ]
    source.write_text("".join(json.dumps(line) + "\n" for line in lines))
    full = scratch / "full"
    prepare(full, observations)
    work: dict[str, Callable[[Path], object]] = {
        "import": lambda folder: importing(folder, source),
        "forget": forgetting,
        "repair": repairing,
    }
    if video:
        work["ingest"] = lambda folder: ingesting(folder, video)
    for name, run in work.items():

        def fresh(folder: Path, name: str = name) -> Path:
            if name in ("forget", "repair"):
                shutil.copytree(full, folder)
            return folder

        right = fresh(scratch / f"{name}-right")
        begin = time.perf_counter()
        killed(partial(run, right), None)  # in a child, as threads do not survive a fork
        longest = time.perf_counter() - begin
        for trial in range(kills):
            folder = fresh(scratch / f"{name}{trial}")
            # A few times, as each may leave something behind for the next.
            while killed(partial(run, folder), r.uniform(0.0, 1.2 * longest)):
                counts[f"{name}: kills"] += 1
            if name == "forget":
                counts["forget: traces"] += traces(folder)
            counts[f"{name}: differs"] += content(folder) != content(right)
            with Store.open(folder) as store:
                counts[f"{name}: not healed"] += not check(store, repair=True).ok
                counts[f"{name}: not sound"] += len(check(store).findings)
            shutil.rmtree(folder)
    return counts


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
    counts: Counter[str] = Counter(kills=1)
    if not (folder / "memory.db").is_file():
        return counts
    acknowledged: dict[str, list[str]] = {"add": [], "vec": []}
    for line in lines:
        kind, *ids = line.split()
        acknowledged[kind] += ids
    with Store.open(folder) as store:
        view = store.view()
        stored = [o.id for o in view.observations(ids=acknowledged["add"])]
        counts["acknowledged"] = len(acknowledged["add"])
        counts["lost"] = len(set(acknowledged["add"]) - set(stored))
        # Not acknowledged and yet there is no fault: the answer was cut off, not the write.
        recorded = store.recording(f"r{trial}") is not None
        mine = view.narrow(recordings=[f"r{trial}"]) if recorded else None
        every = [o.id for o in mine.observations()] if mine else []
        counts["unacknowledged"] = len(set(every) - set(stored))
        counts["duplicates"] = len(every) - len(set(every))
        term = f"trial{trial}"
        hits = {h.observation.id for h in view.search(term, k=10**6)}
        counts["not_found"] = len(set(every) ^ hits)
        counts["vectors"] = len(acknowledged["vec"])
        vectors = set(mine.vectors("e")[0]) if mine else set()
        counts["vectors_lost"] = len(set(acknowledged["vec"]) - vectors)
        counts["index_left_over"] = sum(
            f.part == "index" and "belongs to nothing" in f.what for f in check(store).findings
        )
        store.flush()  # as the next writer does
        counts["not_healed"] = sum(f.part != "vectors" for f in check(store).findings)
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--others", type=int, default=10, help="kills of each other kind of work")
    parser.add_argument("--video", type=Path, help="a short video to ingest")
    parser.add_argument("--longest", type=float, default=0.25, help="seconds until the kill")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    r = random.Random(options.seed)
    total: Counter[str] = Counter()
    # Small segments: the index is written and merged every few batches.
    with tempfile.TemporaryDirectory() as folder, mock.patch.multiple(index, FLUSH_ROWS=16):
        for trial in range(options.kills):
            lines = one_kill(Path(folder, "m"), trial, r.uniform(0.005, options.longest))
            total += examine(Path(folder, "m"), trial, lines)
        with Store.open(Path(folder, "m")) as store:
            check(store, repair=True)
            total["not_repaired"] = len(check(store).findings)
            total["observations"] = store.view().count()
        more = others(Path(folder), options.others, r, options.video) if options.others else {}
    columns = ("kills", "observations", "acknowledged", "unacknowledged", "vectors")
    faults = ("lost", "duplicates", "not_found", "vectors_lost", "not_healed", "not_repaired")
    for name in (*columns, *faults, "index_left_over"):
        print(f"{name.replace('_', ' '):22}{total[name]:8}")
    for name, count in more.items():
        print(f"{name:22}{count:8}")
    if options.json:
        options.json.write_text(json.dumps({**total, **more}, indent=1))
    wrong = any(total[name] for name in faults)
    wrong |= any(count for name, count in more.items() if not name.endswith("kills"))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
