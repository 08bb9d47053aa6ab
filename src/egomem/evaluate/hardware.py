"""The machine that a run is made on: where models are served on it, their speed is its speed.

Neither the machine's name nor its user's is written down: runs are published.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

GPU_TIMEOUT_S = 5.0
"""A driver that hangs must not hold up a run for what is only noted."""


@cache
def hardware() -> dict[str, Any]:
    """System, processor, its cores, memory in GB, and the GPUs that NVIDIA's tool lists."""
    machine: dict[str, Any] = {
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory_gb": _memory_gb(),
        "gpus": _gpus(),
    }
    return {name: value for name, value in machine.items() if value}


def hardware_text(machine: dict[str, Any]) -> str:
    """`AMD EPYC 7B13, 8 cores, 31.3 GB; NVIDIA L4, 23034 MiB`"""
    parts = [machine.get("processor") or machine.get("system") or "not known"]
    parts += [f"{machine['cores']} cores"] if machine.get("cores") else []
    parts += [f"{machine['memory_gb']} GB"] if machine.get("memory_gb") else []
    return "; ".join([", ".join(map(str, parts)), *machine.get("gpus", ())])


def _processor() -> str:
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor()


def _memory_gb() -> float | None:
    # Windows and some others have no sysconf, or not these names.
    with suppress(AttributeError, ValueError, OSError):
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1)
    return None


def _gpus() -> list[str]:
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return []
    command = [tool, "--query-gpu=name,memory.total", "--format=csv,noheader"]
    with suppress(OSError, subprocess.SubprocessError):
        listed = subprocess.run(
            command, capture_output=True, text=True, timeout=GPU_TIMEOUT_S, check=True
        )
        return [line.strip() for line in listed.stdout.splitlines() if line.strip()]
    return []
