"""Days of one wearer: streams beside the video, digests of hours and days. Sections in one run.

    python bench/days.py [SECTION ...] [--hours 1] [--json FILE]

A section is a file `_days_NAME.py` beside this one, with `add_arguments(parser)`, `measure(args)`,
which gives figures, and `table(figures)`, which gives text. Without a name all of them run.

streams: gaze, IMU and trajectory at 1 kHz, parsed and surveyed (rate, gaps, faults) in flat memory,
against pandas, polars and pyarrow. Each reader runs in a process of its own. `--hours 8` writes
some 12 GB; peers that are not installed are left out.

digests: a synthetic memory of one day and of seven (60 hours): building digests, opening, search
and ask, memory; with `--egolife DATA` also what survives in EgoLife's digests, and recall.
"""

from __future__ import annotations

import argparse
import json
from importlib import import_module
from pathlib import Path
from typing import Any

PREFIX = "_days_"


def main() -> None:
    sections = sorted(p.stem.removeprefix(PREFIX) for p in Path(__file__).parent.glob("_days_*.py"))
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=", ".join(sections))
    parser.add_argument("--json", type=Path, metavar="FILE")
    modules = {name: import_module(f"{PREFIX}{name}") for name in sections}
    for module in modules.values():
        module.add_arguments(parser)
    args = parser.parse_args()
    unknown = sorted(set(args.sections) - set(sections))
    if unknown:
        parser.error(f"there is no section {unknown[0]}; there are {', '.join(sections)}")
    figures: dict[str, Any] = {}
    for name in args.sections or sections:
        figures[name] = modules[name].measure(args)
        print(modules[name].table(figures[name]), flush=True)
    if args.json:
        args.json.write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
