"""What many tests need: small videos made on the fly, and the shared data sets where they are."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import json
import os
import sqlite3
import sys
import warnings
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from hypothesis import settings

settings.register_profile("egomem", deadline=None)  # a loaded machine is no fault of the code
settings.load_profile("egomem")

MakeVideo = Callable[..., Path]


class WatchedConnection(sqlite3.Connection):
    """Warns where nobody closed it, and names who opened it.

    Python 3.13 warns of that itself, but names nobody; earlier ones keep silent.
    """

    opened_at = ""

    def __init__(self, *args: Any, **fields: Any) -> None:
        super().__init__(*args, **fields)
        self.is_open = True
        frame, callers = sys._getframe(1), []
        while frame.f_back is not None and len(callers) < 8:
            callers.append(f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}")
            frame = frame.f_back
        self.opened_at = " < ".join(callers)

    def close(self) -> None:
        super().close()  # raises in another thread than its own, and leaves it open
        self.is_open = False

    def __del__(self) -> None:
        if getattr(self, "is_open", False):
            super().close()
            warnings.warn(f"nobody closed {self.opened_at}", ResourceWarning, stacklevel=1)


_connect = sqlite3.connect


def _watched(*args: Any, **fields: Any) -> sqlite3.Connection:
    return _connect(*args, **{"factory": WatchedConnection, **fields})


sqlite3.connect = _watched


@pytest.fixture
def make_video(tmp_path: Path) -> MakeVideo:
    """`make_video("name.mp4", seconds=4, fps=10, sound=False)`: frame k is grey level k % 250."""

    def make(
        name: str, *, seconds: float = 4.0, fps: int = 10, sound: bool = False, level: int = 0
    ) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with av.open(str(path), "w", options={"movflags": "faststart"}) as out:
            stream = out.add_stream("libx264", rate=fps)
            stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
            stream.options = {"g": "10", "bf": "0"}
            tone = out.add_stream("aac", rate=16000, layout="mono") if sound else None
            for k in range(round(seconds * fps)):
                grey = np.full((48, 64, 3), (k + level) % 250, np.uint8)
                frame = av.VideoFrame.from_ndarray(grey, format="rgb24")
                frame.pts, frame.time_base = k, Fraction(1, fps)
                out.mux(stream.encode(frame))
            out.mux(stream.encode(None))
            if tone is not None:
                for k in range(round(seconds * 16000) // 1024):
                    wave = 0.1 * np.sin(np.arange(k * 1024, (k + 1) * 1024) * 0.1)
                    piece = av.AudioFrame.from_ndarray(
                        wave.astype(np.float32)[None], format="fltp", layout="mono"
                    )
                    piece.rate, piece.pts = 16000, k * 1024
                    out.mux(tone.encode(piece))
                out.mux(tone.encode(None))
        return path

    return make


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The shared data sets; skips where they are absent."""
    root = Path(__file__).resolve().parents[1]
    folder = Path(os.environ.get("EGOMEM_SHARED", root.parent / "shared")) / "data"
    if not folder.is_dir():
        pytest.skip(f"the shared data sets are not at {folder} (set EGOMEM_SHARED)")
    return folder


@pytest.fixture(scope="session")
def demo_run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any], int]:
    """The demo, run once: its folder, what it printed as JSON, its exit code.

    Skips where an extra is missing, or recordings or weights cannot be fetched.
    """
    from egomem.cli import main

    for module, extra in (("faster_whisper", "speech"), ("rapidocr", "text"), ("cv2", "objects")):
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"the extra {extra!r} is not installed")
    folder = tmp_path_factory.mktemp("demo") / "demo-memory"
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        code = main(["demo", "--folder", str(folder), "--json"])
    printed = json.loads(out.getvalue())
    if code == 3 and "cannot be fetched" in printed["problems"][0]["what"]:
        pytest.skip(printed["problems"][0]["what"])
    return folder, printed, code


@pytest.fixture(scope="session")
def demo_folder(demo_run: tuple[Path, dict[str, Any], int]) -> Path:
    """The folder of a demo that was run: `recordings/` and `memory/`."""
    return demo_run[0]
