"""A benchmark as a command line or a harness names it."""

from __future__ import annotations

from datetime import date
from pathlib import Path

from egomem.benchmarks.benchmark import Benchmark
from egomem.benchmarks.demo import demo
from egomem.benchmarks.load import load
from egomem.errors import UsageError
from egomem.timeline import zone_of

DEMO = "demo"


def open_benchmark(
    where: str,
    format: str | None = None,
    *,
    media: Path | None = None,
    strict: bool = True,
    zone: str | None = None,
    day_one: str | None = None,
    frame_base: int | None = None,
) -> Benchmark:
    """The benchmark in a folder or file, or egomem's own where `where` is "demo" and no such path.

    As `load`, with the zone and the date of DAY1 as text. Raises UsageError for a date that cannot
    be read, and TimeError for an unknown zone.
    """
    if where == DEMO and not Path(where).exists():
        benchmark = demo()
        return benchmark.with_media(media) if media else benchmark
    try:
        first_day = date.fromisoformat(day_one) if day_one else None
    except ValueError:
        raise UsageError(f"{day_one!r} is not a date", "write it like 2026-03-01") from None
    return load(
        where,
        format,
        media=media,
        strict=strict,
        zone=zone_of(zone) if zone else None,
        day_one=first_day,
        frame_base=frame_base,
    )
