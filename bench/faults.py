"""Trying to break egomem: damaged folders, killed forgetting, odd media files.

    python bench/faults.py [--quick] [--only folders,kills,media] [--seed 0] [--json FILE]

`folders`: every file of a memory's folder, damaged in every way (flipped bits, cut, empty, zero
bytes, noise, missing, swapped, of another memory, litter beside it, left over). `check` has to name
what is damaged, call nothing else so, mend what follows from the record, and no more; searches
afterwards are those of the sound memory. `kills`: a forgetting is killed (SIGKILL) at each of its
steps; it has to be undone as a whole or finished by the next opening, composed captions included,
without a trace. `media`: odd files against the frames of the ffmpeg program (of the PATH, or
`pip install imageio-ffmpeg`). Prints what held; exit code 1 where anything did not. Kills need
os.fork.
"""

from __future__ import annotations

import argparse
import json
import logging
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import _fault_folders
import _fault_kills
import _fault_media

PARTS = ("folders", "kills", "media")
HELD_KILLS = {"undone, then forgotten", "finished by the next opening", "not killed"}


def folders(work: Path, *, quick: bool, seed: int) -> dict[str, Any]:
    """Damage a folder in every way; one row for each file."""
    sound, other = work / "sound", work / "other"
    _fault_folders.build(sound, "red")
    _fault_folders.build(other, "blue")
    outcomes = [
        _fault_folders.try_damage(sound, work / "damaged", damage)
        for damage in _fault_folders.damages(sound, other, 2 if quick else 12, seed)
    ]
    tried, intact = Counter(o.file for o in outcomes), Counter(o.file for o in outcomes if o.held)
    unsealed = _fault_folders.unsealed_flips(sound, work / "damaged", 20 if quick else 120, seed)
    return {
        "rows": [[file, tried[file], intact[file]] for file in sorted(tried)],
        "tried": len(outcomes),
        "held": sum(o.held for o in outcomes),
        "unsealed": unsealed,
        "faults": [f"{o.file}, {o.kind}: {o.fault}" for o in outcomes if not o.held],
        "ok": all(o.held for o in outcomes) and not unsealed["changed and unseen"],
    }


def kills(work: Path, *, quick: bool, seed: int) -> dict[str, Any]:
    """Kill a forgetting at each of its steps; one row for each outcome."""
    _fault_kills.build(work / "prepared")
    tally = _fault_kills.kills(work / "prepared", work, 24 if quick else 200)
    count, begun = tally.pop("kills"), tally.pop("after_deletion_began")
    intact = sum(n for what, n in tally.items() if what in HELD_KILLS)
    return {
        "rows": [[what, n, n if what in HELD_KILLS else 0] for what, n in sorted(tally.items())],
        "tried": count,
        "held": intact,
        "after_deletion_began": begun,
        "faults": [what for what in tally if what not in HELD_KILLS],
        "ok": intact == count,
    }


def media(work: Path, *, quick: bool, seed: int) -> dict[str, Any]:
    """Compare frames of odd files; one row for each."""
    ffmpeg = _fault_media.find_ffmpeg()
    if ffmpeg is None:
        return {"rows": [], "tried": 0, "held": 0, "faults": ["there is no ffmpeg"], "ok": False}
    files = list(_fault_media.odd_files(ffmpeg, seed))[:: 5 if quick else 1]
    faults = {file.name: _fault_media.compare(file, work, ffmpeg) for file in files}
    return {
        "rows": [[name, 1, int(not fault)] for name, fault in faults.items()],
        "tried": len(faults),
        "held": sum(not fault for fault in faults.values()),
        "faults": [f"{name}: {fault}" for name, fault in faults.items() if fault],
        "ok": not any(faults.values()),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="a tenth of it, in seconds")
    parser.add_argument("--only", default=",".join(PARTS), help="parts, joined by commas")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the table as JSON, too")
    arguments = parser.parse_args()
    parts = arguments.only.split(",")
    if unknown := set(parts) - set(PARTS):
        parser.error(f"--only {', '.join(sorted(unknown))}: give some of {', '.join(PARTS)}")
    logging.getLogger("egomem").setLevel(logging.ERROR)  # warnings are what is looked for
    results: dict[str, Any] = {}
    for part in parts:
        began = time.perf_counter()
        with tempfile.TemporaryDirectory() as folder:
            results[part] = globals()[part](
                Path(folder), quick=arguments.quick, seed=arguments.seed
            )
        results[part]["seconds"] = round(time.perf_counter() - began, 1)
        _print(part, results[part])
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=1))
    return 0 if all(result["ok"] for result in results.values()) else 1


def _print(part: str, result: dict[str, Any]) -> None:
    print(f"\n{part}: {result['held']} of {result['tried']} held, {result['seconds']} s")
    for name, tried, intact in result["rows"]:
        if part != "media" or tried != intact:
            print(f"  {name:40} {intact:4} of {tried:4}")
    if "unsealed" in result:
        print(f"  flips in memory.db without its seal: {result['unsealed']}")
    if "after_deletion_began" in result:
        print(f"  killed after the deletion began: {result['after_deletion_began']}")
    for fault in result["faults"]:
        print(f"  FAULT {fault}")


if __name__ == "__main__":
    sys.exit(main())
