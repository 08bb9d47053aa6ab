"""Section `digests` of days.py: a synthetic memory of one day and of seven (60 hours).

All sources, 20 observations a minute, by a seeded generator. Each length runs in a process of its
own: digests are built without a model, then the memory is opened, searched and asked. One more
recording is then added, and the digests that it changes are counted.

With `--egolife DATA` (the shared data sets): what survives of exact attributes in digests of
EgoLife's days, beside as many lines that are evenly spaced, and what digests do to search: recall
before they are built, after, and where they are searched, too. Days 1 and 2 are those that settings
were chosen on.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import math
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

HOURS = (9, 9, 9, 9, 8, 8, 8)
"""Of each day: 60 in all."""
PER_MINUTE = 20
QUESTIONS = 40
SEED = 1612

PLACES = [
    "kitchen",
    "garage",
    "garden",
    "office",
    "station",
    "market",
    "library",
    "stairs",
    "balcony",
    "tram",
]
THINGS = [
    "kettle",
    "blue mug",
    "ladder",
    "suitcase",
    "notebook",
    "umbrella",
    "drill",
    "parcel",
    "bicycle",
    "lamp",
    "scarf",
    "jar",
    "camera",
    "basket",
    "wallet",
    "keyring",
    "teapot",
    "stapler",
    "rope",
    "candle",
]
PEOPLE = (
    "Ana",
    "Ben",
    "Chiara",
    "Dmitri",
    "Elif",
    "Femi",
)
VERBS = [
    "pick up",
    "put down",
    "open",
    "close",
    "clean",
    "carry",
    "look at",
    "hand over",
    "repair",
    "wrap",
]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--egolife", type=Path, metavar="DATA", help="folder of the data sets")
    parser.add_argument("--scale", type=float, default=1.0, help="share of the hours (1)")


def measure(args: argparse.Namespace) -> dict[str, Any]:
    figures: dict[str, Any] = {"scale": args.scale, "synthetic": []}
    for days in (1, len(HOURS)):
        command = [sys.executable, __file__, str(days), str(args.scale)]
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        figures["synthetic"].append(json.loads(output))
    if args.egolife:
        figures["egolife"] = egolife(args.egolife)
    return figures


def table(figures: dict[str, Any]) -> str:
    first_day, week = figures["synthetic"]
    lines = [
        "digests: a synthetic memory, 20 observations a minute; CPU s, wall ms (median), MB",
        f"{'':<34}{'1 day':>10}{'7 days':>10}{'ratio':>8}{'per hour':>10}",
    ]
    hours = week["hours"] / first_day["hours"]
    for name, label in _ROWS.items():
        ratio = week[name] / first_day[name] if first_day[name] else float("nan")
        a_hour = f"{ratio / hours:>10.2f}" if name in _LINEAR else ""
        lines.append(f"{label:<34}{first_day[name]:>10.6g}{week[name]:>10.6g}{ratio:>8.2f}{a_hour}")
    lines.append(
        f"one more recording: {week['changed_hours']} of {week['hour_digests']} hours and "
        f"{week['changed_days']} of {week['day_digests']} days were written again"
    )
    if "egolife" in figures:
        lines += ["", *_egolife_lines(figures["egolife"])]
    return "\n".join(lines)


_ROWS = {
    "observations": "observations",
    "hours": "hours",
    "build_cpu_s": "building digests, CPU s",
    "update_cpu_s": "one more recording, CPU s",
    "open_ms": "open and first search, ms",
    "search_ms": "search, ms",
    "ask_ms": "ask (extractive), ms",
    "show_ms": "outline of one day, ms",
    "rss_mb": "resident after questions, MB",
}
_LINEAR = {"build_cpu_s"}


# -- the synthetic memory --------------------------------------------------------------------------


def run(days: int, scale: float) -> dict[str, Any]:
    import egomem
    from egomem.ingest.digests import ExtractiveSummarizer, build_digests, read_levels
    from egomem.memory import Store

    levels = read_levels(["hour", "day"])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "memory"
        hours = 0.0
        with Store.open(folder, create=True) as store:
            for day in range(days):
                hours += remember(store, day, HOURS[day] * scale)
            count = store.view().count()
        with Store.open(folder) as store:
            began = time.process_time()
            report = asyncio.run(build_digests(store, ExtractiveSummarizer(), levels))
            build = time.process_time() - began
        gc.collect()
        began = time.perf_counter()
        with egomem.open(folder) as memory:
            memory.search("blue mug")
            opened = time.perf_counter() - began
            queries = list(questions(days))
            search = _median(lambda q: memory.search(q), queries)
            ask = _median(lambda q: memory.ask(q), queries)
            dates = [f"{START.date() + timedelta(days=d)}" for d in range(days)]
            show = _median(lambda d: memory.digests(day=d), dates)
            rss = _resident_mb()
        with Store.open(folder) as store:
            remember(store, days - 1, 0.25, at=math.ceil(HOURS[days - 1] * scale) + 2)
            began = time.process_time()
            update = asyncio.run(build_digests(store, ExtractiveSummarizer(), levels))
            update_cpu = time.process_time() - began
    return {
        "days": days,
        "hours": hours,
        "observations": count,
        "build_cpu_s": build,
        "update_cpu_s": update_cpu,
        "open_ms": 1000 * opened,
        "search_ms": search,
        "ask_ms": ask,
        "show_ms": show,
        "rss_mb": rss,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "hour_digests": report.levels[0].built,
        "day_digests": report.levels[1].built,
        "changed_hours": update.levels[0].built,
        "changed_days": update.levels[1].built,
    }


START = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)


def remember(store: Any, day: int, hours: float, *, at: float = 0.0) -> float:
    """Recordings of an hour or less on a day, `at` hours after its beginning; returns the hours."""
    from egomem.records import Recording
    from egomem.timeline import Clock

    begun = 0.0
    while begun < hours - 1e-9:
        length = min(1.0, hours - begun)
        start = START + timedelta(days=day, hours=at + begun)
        id = f"{start:%d-%H%M}"
        store.put_recording(
            Recording(id=id, name=f"{id}.mp4", duration=3600 * length, clock=Clock(start))
        )
        store.add(observations(id, 3600 * length, random.Random(f"{SEED}{id}")))
        begun += length
    return hours


def observations(id: str, seconds: float, rng: random.Random) -> Iterator[Any]:
    """Of each minute: 2 captions of 30 s, speech, read text, sounds, gaze, motion, a place, and
    detected objects."""
    from egomem.records import Observation
    from egomem.timeline import Span

    def observation(
        source: str, start: float, length: float, text: str, **data: Any
    ) -> Observation:
        span = Span(start, min(start + length, seconds))
        return Observation(
            recording=id, span=span, text=text, source=source, track=f"{source}/made", data=data
        )

    for minute in range(int(seconds // 60)):
        zero = 60.0 * minute
        place = PLACES[(minute // 15 + len(id)) % len(PLACES)]
        for half in (0, 30):
            verb, thing, who = rng.choice(VERBS), rng.choice(THINGS), rng.choice(PEOPLE)
            text = f"In the {place} I {verb} the {thing} while {who} watches."
            yield observation("caption", zero + half, 30, text)
        for k in range(7):
            who, thing = rng.choice(PEOPLE), rng.choice(THINGS)
            line = rng.choice(
                (
                    f"the {thing} costs {rng.randint(2, 90)}.50 euros",
                    f"put it beside the {thing}",
                    f"we meet at {rng.randint(1, 12)}:{rng.choice((10, 25, 40))} in the {place}",
                    f"{rng.choice(PEOPLE)} asked for {rng.randint(2, 30)} of them",
                )
            )
            yield observation("speech", zero + 8 * k, 3, line, speaker=who)
        yield observation(
            "screen_text", zero + 3, 20, f"ROOM {rng.randint(100, 140)} {place.upper()}"
        )
        yield observation(
            "sound", zero + 20, 5, rng.choice(("a door slams", "music", "a tram passes"))
        )
        for k in range(2):
            yield observation("gaze", zero + 20 * k, 2, f"looks at the {rng.choice(THINGS)}")
        yield observation(
            "motion", zero, 60, rng.choice(("walks", "stands still", "sits", "turns"))
        )
        yield observation("place", zero, 60, f"the {place}")
        for k in range(5):
            yield observation("object", zero + 11 * k, 10, rng.choice(THINGS))


def questions(days: int) -> Iterator[str]:
    rng = random.Random(SEED)
    for _ in range(QUESTIONS):
        place, thing, who = rng.choice(PLACES), rng.choice(THINGS), rng.choice(PEOPLE)
        yield rng.choice(
            (
                f"Where did I put down the {thing}?",
                f"What did {who} say about the {thing}?",
                f"Who watched me repair the {thing} in the {place}?",
            )
        )


def _median(act: Any, values: Sequence[Any]) -> float:
    for value in values[:3]:
        act(value)
    times = []
    for value in values:
        began = time.perf_counter()
        act(value)
        times.append(time.perf_counter() - began)
    return 1000 * statistics.median(times)


def _resident_mb() -> float:
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


# -- EgoLife ---------------------------------------------------------------------------------------


def egolife(data: Path) -> dict[str, Any]:
    from egomem.ingest.digests import ExtractiveSummarizer, build_digests, read_levels
    from egomem.ingest.importing import import_files
    from egomem.ingest.readers.options import read_options
    from egomem.memory import Store

    names = ["10min", "hour", "day"]
    with tempfile.TemporaryDirectory() as name, Store.open(name, create=True) as store:
        import_files(store, [data / "egolife" / "memory.jsonl.gz"], read_options())
        levels = read_levels(names)
        report = asyncio.run(build_digests(store, ExtractiveSummarizer(), levels))
        spaced = asyncio.run(build_digests(store, EvenlySpaced(), levels))
    return {
        "levels": [
            {
                "level": ours.level,
                "digests": ours.built,
                "attributes": ours.figures.attributes,
                "in_text": ours.figures.survival_in_text,
                "with_facts": ours.figures.survival,
                "substitution": ours.figures.substitution,
                "evenly_spaced_in_text": other.figures.survival_in_text,
                "evenly_spaced_substitution": other.figures.substitution,
            }
            for ours, other in zip(report.levels, spaced.levels, strict=True)
        ],
        "recall": recall_with_digests(data),
    }


class EvenlySpaced:
    """The plain baseline: as many lines, evenly spaced, none merged."""

    observer = "spaced"
    model: str | None = None
    concurrency = 1

    @property
    def usage(self) -> Any:
        from egomem.records import Usage

        return Usage()

    def prompt(self, level: str) -> str:
        return "lines@0"

    async def summarise(self, window: Any, parts: Sequence[Any]) -> Any:
        from egomem.ingest.digests import Summary
        from egomem.ingest.digests.extractive import LINES, choose_plain

        count = min(len(parts), LINES[window.level])
        chosen = [parts[(2 * k + 1) * len(parts) // (2 * count)] for k in range(count)]
        return Summary(tuple(choose_plain(chosen, count)))


def recall_with_digests(data: Path) -> list[dict[str, Any]]:
    import recall
    from egomem.ingest.digests import ExtractiveSummarizer, build_digests, read_levels
    from egomem.recall import search

    rows = []
    for name in recall.SETS:
        if not name.startswith("EgoLife"):
            continue
        with tempfile.TemporaryDirectory() as folder:
            store, queries, length = recall.SETS[name](data, folder)

            def ranks(
                store: Any = store, queries: Any = queries, length: float = length, **options: Any
            ) -> list[float]:
                positions = []
                for query in queries:
                    hits = search(
                        store.view(query.until),
                        query.text,
                        options=query.options,
                        k=100,
                        window=length,
                        now=query.until,
                        **options,
                    )
                    positions.append(recall._rank([(h.recording, h.span) for h in hits], query))
                return positions

            before = ranks()
            levels = read_levels(["10min", "hour", "day"])
            asyncio.run(build_digests(store, ExtractiveSummarizer(), levels))
            after = ranks()
            rows += [
                {"set": name, "search": "before digests", **_shares(before)},
                {
                    "set": name,
                    "search": "after, default",
                    **_shares(after),
                    "same_ranks": before == after,
                },
                {"set": name, "search": "digests=True", **_shares(ranks(digests=True))},
            ]
            store.close()
    return rows


def _shares(ranks: Sequence[float]) -> dict[str, Any]:
    n = len(ranks)
    return (
        {"n": n}
        | {f"r{k}": sum(r <= k for r in ranks) / n for k in (1, 3, 10)}
        | {"mrr": sum(1 / r for r in ranks if r <= 100) / n}
    )


def _egolife_lines(figures: dict[str, Any]) -> Iterator[str]:
    yield "EgoLife, four days: exact attributes that survive, and substitution, without a model"
    yield (
        f"{'level':<8}{'digests':>8}{'attributes':>11}{'in text':>9}{'+ facts':>9}{'subst.':>8}"
        f"{'spaced: in text':>17}{'subst.':>8}"
    )
    for row in figures["levels"]:
        yield (
            f"{row['level']:<8}{row['digests']:>8}{row['attributes']:>11}{row['in_text']:>9.3f}"
            f"{row['with_facts']:>9.3f}{row['substitution']:>8.3f}"
            f"{row['evenly_spaced_in_text']:>17.3f}{row['evenly_spaced_substitution']:>8.3f}"
        )
    yield ""
    yield f"{'search':<34}{'':<16}{'n':>5}{'R@1':>7}{'R@3':>7}{'R@10':>7}{'MRR':>7}"
    for row in figures["recall"]:
        same = "  same ranks" if row.get("same_ranks") else ""
        yield (
            f"{row['set']:<34}{row['search']:<16}{row['n']:>5}{row['r1']:>7.3f}{row['r3']:>7.3f}"
            f"{row['r10']:>7.3f}{row['mrr']:>7.3f}{same}"
        )


if __name__ == "__main__":
    print(json.dumps(run(int(sys.argv[1]), float(sys.argv[2]))))
