"""Section `streams` of days.py: reading gaze, IMU and trajectory at 1 kHz, beside other readers.

Every reader parses the columns of the kind, sets them in SI units, and tells the number of samples,
the median step and the gaps. The peers hold the whole table, as their users do; `pandas chunks`
reads a million rows at a time.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

RATE = 1000
GAP_EVERY_S = 600
GAP_S = 2.0
CHUNK_ROWS = 1_000_000

UID = "4c1f8d0e-0000-4e6a-9d07-1f2a3b4c5d6e"
COLUMNS = {
    "gaze": ["tracking_timestamp_us", "yaw_rads_cpf", "pitch_rads_cpf", "depth_m"],
    "imu": [
        "timestamp_ns",
        *(f"accel_{axis} [g]" for axis in "xyz"),
        *(f"gyro_{axis} [deg/s]" for axis in "xyz"),
    ],
    "trajectory": [
        "tracking_timestamp_us",
        *(f"t{axis}_world_device" for axis in "xyz"),
        *(f"q{axis}_world_device" for axis in "xyzw"),
        *(f"device_linear_velocity_{axis}_device" for axis in "xyz"),
        *(f"gravity_{axis}_world" for axis in "xyz"),
        "quality_score",
    ],
}
"""The columns that are read, by kind; the first is the time."""

TRAJECTORY = (
    "graph_uid,tracking_timestamp_us,utc_timestamp_ns,tx_world_device,ty_world_device,"
    "tz_world_device,qx_world_device,qy_world_device,qz_world_device,qw_world_device,"
    "device_linear_velocity_x_device,device_linear_velocity_y_device,"
    "device_linear_velocity_z_device,angular_velocity_x_device,angular_velocity_y_device,"
    "angular_velocity_z_device,gravity_x_world,gravity_y_world,gravity_z_world,quality_score"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--hours", type=float, default=1.0, help="length of the streams (1)")
    parser.add_argument("--readers", nargs="*", choices=list(READERS), help="default: all")
    parser.add_argument("--kinds", nargs="*", default=list(COLUMNS), choices=list(COLUMNS))


def measure(args: argparse.Namespace) -> dict[str, Any]:
    figures: dict[str, Any] = {"hours": args.hours, "rate": RATE, "kinds": {}}
    for kind in args.kinds:
        rows = []
        for hours in (args.hours / 8, args.hours):
            # One length and kind at a time: 8 hours of a trajectory are some 8 GB.
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / f"{kind}.csv"
                count = write(path, kind, round(hours * 3600 * RATE))
                megabytes = path.stat().st_size / 1e6
                for reader in args.readers or readers():
                    result = _run(reader, kind, path)
                    assert result["samples"] == count, (reader, result, count)
                    rows.append({"reader": reader, "hours": hours, "MB": megabytes, **result})
        figures["kinds"][kind] = rows
    return figures


def readers() -> list[str]:
    """The readers that can run here; the others' packages are not installed."""
    needs = {
        "egomem": "pyarrow",
        "egomem, numpy alone": "numpy",
        "polars": "polars",
        "pandas": "pandas",
        "pandas chunks": "pandas",
        "pyarrow": "pyarrow",
    }
    return [name for name, module in needs.items() if find_spec(module) is not None]


def table(figures: dict[str, Any]) -> str:
    lines = [
        "streams: CPU seconds and peak memory (MB) of one pass; x: CPU, egomem's is 1",
        f"{'kind':<12}{'reader':<22}{'hours':>6}{'rows':>13}{'CPU s':>8}{'x':>7}{'peak':>8}",
    ]
    for kind, rows in figures["kinds"].items():
        for row in rows:
            ours = next(r["cpu"] for r in rows if r["hours"] == row["hours"])
            lines.append(
                f"{kind:<12}{row['reader']:<22}{row['hours']:>6.3g}{row['samples']:>13,}"
                f"{row['cpu']:>8.2f}{row['cpu'] / ours:>7.2f}{row['peak_mb']:>8.0f}"
            )
    return "\n".join(lines)


# -- files -----------------------------------------------------------------------------------------


def write(path: Path, kind: str, count: int) -> int:
    """A stream of `count` steps with a gap of 2 s every 10 minutes; returns its rows."""
    rng = np.random.default_rng(16)
    rests = list(_rests(kind, rng))
    header = {
        "gaze": "tracking_timestamp_us,yaw_rads_cpf,pitch_rads_cpf,depth_m,yaw_low_rads_cpf,"
        "pitch_low_rads_cpf,yaw_high_rads_cpf,pitch_high_rads_cpf",
        "imu": ",".join(COLUMNS["imu"]),
        "trajectory": TRAJECTORY,
    }[kind]
    row_count = 0
    with path.open("w") as file:
        file.write(header + "\n")
        for begin in range(0, count, 100_000):
            lines = []
            for k in range(begin, min(begin + 100_000, count)):
                in_cycle = k % (GAP_EVERY_S * RATE)
                if in_cycle < GAP_S * RATE and k > GAP_S * RATE:
                    continue
                micros = 71_000_000 + k * (1_000_000 // RATE)
                rest = rests[k % len(rests)]
                if kind == "imu":
                    lines.append(f"{micros}000,{rest}\n")
                elif kind == "gaze":
                    lines.append(f"{micros},{rest}\n")
                else:
                    lines.append(f"{UID},{micros},{1_764_000_000_000_000 + micros}000,{rest}\n")
            file.write("".join(lines))
            row_count += len(lines)
    return row_count


def _rests(kind: str, rng: np.random.Generator) -> Iterator[str]:
    """The values of 997 rows, as Aria writes them."""
    for _ in range(997):
        if kind == "gaze":
            yield ",".join(f"{value:.16f}" for value in rng.normal(0, 0.3, 7))
        elif kind == "imu":
            values = [*rng.normal((0, 0, 1), 0.05), *rng.normal(0, 20, 3)]
            yield ",".join(f"{value:.6f}" for value in values)
        else:
            values = [f"{value:.6f}" for value in rng.normal(0, 3, 3)]
            values += [f"{value:.9f}" for value in rng.normal(0, 0.5, 4)]
            values += [f"{value:.6f}" for value in rng.normal(0, 1, 9)]
            yield ",".join([*values, "0.9"])


# -- readers, each in a process of its own ---------------------------------------------------------


def _run(reader: str, kind: str, path: Path) -> dict[str, Any]:
    command = [sys.executable, __file__, reader, kind, str(path)]
    process = subprocess.run(command, check=True, capture_output=True, text=True)
    result: dict[str, Any] = json.loads(process.stdout)
    return result


def _egomem(kind: str, path: Path) -> tuple[int, float, int]:
    from egomem.media.streams import open_stream, survey

    info = survey(open_stream(path))
    assert info.rate is not None
    return info.samples, 1 / info.rate, info.gap_count


def _egomem_numpy(kind: str, path: Path) -> tuple[int, float, int]:
    from egomem.media.streams import csv_table

    csv_table.are_installed = lambda *modules: False
    return _egomem(kind, path)


def _steps(times: Any, factor: float) -> tuple[float, int]:
    steps = np.diff(np.asarray(times, dtype=np.float64) * factor)
    step = float(np.median(steps))
    return step, int((steps > max(5 * step, 0.25)).sum())


def _factor(kind: str) -> float:
    return 1e-9 if kind == "imu" else 1e-6


def _scale(kind: str) -> list[float]:
    return [9.80665] * 3 + [np.pi / 180] * 3 if kind == "imu" else []


def _polars(kind: str, path: Path) -> tuple[int, float, int]:
    import polars

    columns = COLUMNS[kind]
    frame = polars.read_csv(path, columns=columns)
    scales = zip(columns[1:], _scale(kind), strict=False)
    frame = frame.with_columns([polars.col(name) * scale for name, scale in scales])
    return len(frame), *_steps(frame[columns[0]].to_numpy(), _factor(kind))


def _pandas(kind: str, path: Path) -> tuple[int, float, int]:
    import pandas

    columns = COLUMNS[kind]
    frame = pandas.read_csv(path, usecols=columns)
    for name, scale in zip(columns[1:], _scale(kind), strict=False):
        frame[name] *= scale
    return len(frame), *_steps(frame[columns[0]].to_numpy(), _factor(kind))


def _pandas_chunks(kind: str, path: Path) -> tuple[int, float, int]:
    import pandas

    columns = COLUMNS[kind]
    count, gaps, steps = 0, 0, []
    for frame in pandas.read_csv(path, usecols=columns, chunksize=CHUNK_ROWS):
        for name, scale in zip(columns[1:], _scale(kind), strict=False):
            frame[name] *= scale
        step, its_gaps = _steps(frame[columns[0]].to_numpy(), _factor(kind))
        count, gaps = count + len(frame), gaps + its_gaps
        steps.append(step)
    return count, float(np.median(steps)), gaps


def _pyarrow(kind: str, path: Path) -> tuple[int, float, int]:
    """Parsing in stretches and nothing else: the floor of what is built on it."""
    import pyarrow
    from pyarrow import csv

    columns = COLUMNS[kind]
    reader = csv.open_csv(
        path,
        csv.ReadOptions(use_threads=False, block_size=4 << 20),
        convert_options=csv.ConvertOptions(
            include_columns=columns, column_types=dict.fromkeys(columns, pyarrow.float64())
        ),
    )
    return sum(batch.num_rows for batch in reader), 0.0, 0


READERS: dict[str, Callable[[str, Path], tuple[int, float, int]]] = {
    "egomem": _egomem,
    "egomem, numpy alone": _egomem_numpy,
    "polars": _polars,
    "pandas": _pandas,
    "pandas chunks": _pandas_chunks,
    "pyarrow": _pyarrow,
}


def _child(reader: str, kind: str, path: Path) -> None:
    samples, step, gaps = READERS[reader](kind, path)
    usage = resource.getrusage(resource.RUSAGE_SELF)
    result = {
        "samples": samples,
        "step": step,
        "gaps": gaps,
        "cpu": usage.ru_utime + usage.ru_stime,
        "peak_mb": usage.ru_maxrss / 1024,
    }
    print(json.dumps(result))


if __name__ == "__main__":
    _child(sys.argv[1], sys.argv[2], Path(sys.argv[3]))
