"""What works on this machine, what is missing, and the line that installs it."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sqlite3
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Literal

from egomem.config import EVERY_ROLE, Settings, settings_file
from egomem.extras import install_line
from egomem.records import Record

State = Literal["ok", "missing", "wrong"]

EXTRAS = {
    "speech": ("speech recognition", ("faster_whisper",)),
    "text": ("reading of screen text", ("rapidocr", "onnxruntime")),
    "objects": ("object detection", ("cv2",)),
    "models": ("vision-language models", ("pydantic_ai", "openai")),
    "embed": ("sentence vectors", ("onnxruntime", "tokenizers", "fastembed")),
    "claims": ("reading of what a sentence claims (English)", ("spacy",)),
    "anthropic": ("Anthropic's models", ("anthropic",)),
    "google": ("Google's models", ("google.genai",)),
    "parquet": ("Parquet import and export", ("pyarrow",)),
    "plots": ("plots", ("matplotlib",)),
}
"""Extra -> what it gives, and the modules that must be there."""


class Diagnosis(Record):
    """Result of one check. `remedy` is a command to run or a setting to change."""

    name: str
    state: State
    detail: str
    remedy: str = ""


def examine(settings: Settings) -> list[Diagnosis]:
    """Check this machine; nothing is downloaded, and no server is asked."""
    return [
        Diagnosis(name="python", state="ok", detail=sys.version.split()[0]),
        Diagnosis(name="sqlite", state="ok", detail=sqlite3.sqlite_version),
        _decoder(),
        *(_extra(extra, what, modules) for extra, (what, modules) in EXTRAS.items()),
        *_weights(),
        _memory(settings.memory),
        _models(settings),
    ]


def _decoder() -> Diagnosis:
    import av

    codecs = ("h264", "hevc", "av1", "vp9", "aac", "opus")
    missing = [name for name in codecs if name not in av.codecs_available]
    return Diagnosis(
        name="decoding",
        state="wrong" if missing else "ok",
        detail=f"PyAV {av.__version__}" + (f" without {', '.join(missing)}" if missing else ""),
        remedy="pip install --force-reinstall av" if missing else "",
    )


def _extra(extra: str, what: str, modules: tuple[str, ...]) -> Diagnosis:
    missing = [name for name in modules if not _there(name)]
    if missing:
        return Diagnosis(
            name=extra,
            state="missing",
            detail=f"{what}: {', '.join(missing)} not installed",
            remedy=install_line(extra),
        )
    return Diagnosis(name=extra, state="ok", detail=f"{what}: {', '.join(map(_version, modules))}")


def _there(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # of a package that it would lie in
        return False


def _version(module: str) -> str:
    package = {
        "cv2": "opencv-python-headless",
        "pydantic_ai": "pydantic-ai-slim",
        "google.genai": "google-genai",
    }.get(module, module.replace("_", "-"))
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return module


def _weights() -> list[Diagnosis]:
    from egomem.observe import observer_status

    return [
        Diagnosis(name=f"observer {status.name}", state="ok", detail=status.detail)
        for status in observer_status()
        if status.ready
    ]


def _memory(folder: Path) -> Diagnosis:
    place = folder
    while not place.exists():
        place = place.parent
    if not os.access(place, os.W_OK):
        return Diagnosis(
            name="memory",
            state="wrong",
            detail=f"{folder} cannot be written",
            remedy="give another one with --memory or EGOMEM_MEMORY",
        )
    free = shutil.disk_usage(place).free / 1e9
    state = "there" if folder.exists() else "not made yet"
    return Diagnosis(name="memory", state="ok", detail=f"{folder}, {state}, {free:.0f} GB free")


def _models(settings: Settings) -> Diagnosis:
    named = {role: spec for role, spec in settings.model.items() if spec != "embedded"}
    if not named:
        return Diagnosis(
            name="model roles",
            state="ok",
            detail="none set: captions are composed, questions answered by the extractive reader",
            remedy="a vision-language model sees more: docs/how-to/models.md",
        )
    table = ", ".join(f"{'all' if r == EVERY_ROLE else r}: {s}" for r, s in named.items())
    return Diagnosis(name="model roles", state="ok", detail=f"{table} ({settings_file() or 'set'})")
