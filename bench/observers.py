"""What the embedded observers cost on one CPU thread, against plainer ways with the same models.

    python bench/observers.py DATA [--only reading] [--json FILE]

DATA holds `burnt_in_timecode_16s.mp4`, `bottle-detection.mp4` and `jfk.flac` (docs/explanation/
embedded-observers.md says where they come from). CPU seconds, the fastest of the repeats, models
loaded before. "as shipped" is RapidOCR with its defaults and one thread.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from egomem.media import AudioBlock, audio, frames
from egomem.observe import ScreenText, Speech
from egomem.observe.keyframes import MIN_CHANGE, select_keyframes
from egomem.observe.object_detector import Detector
from egomem.records import Recording
from egomem.timeline import Span


def cpu(work: Callable[[], object], repeats: int = 3) -> float:
    work()
    best = float("inf")
    for _ in range(repeats):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best


def reading(data: Path) -> list[tuple[str, str, float, str]]:
    from rapidocr import RapidOCR

    one = {f"EngineConfig.onnxruntime.{k}_op_num_threads": 1 for k in ("intra", "inter")}
    shipped = RapidOCR(params={"Global.log_level": "critical", **one})
    rows = []
    for name in ("burnt_in_timecode_16s.mp4", "bottle-detection.mp4"):
        image = next(iter(frames(data / name, [3.0]))).image
        what = f"screen text, {image.shape[1]}x{image.shape[0]}, {name[:6]}"
        for way, work in (
            ("as shipped", lambda image=image: shipped(image[:, :, ::-1])),
            ("egomem", lambda image=image: reader().read(image)),
            ("egomem, side 960", lambda image=image: reader(960).read(image)),
        ):
            rows.append((what, way, cpu(work), "s a frame"))
    images = list(frames(data / "bottle-detection.mp4", [float(t) for t in range(30)]))
    for change in (MIN_CHANGE, 2 * MIN_CHANGE):
        kept = len(select_keyframes(images, Span(0, 30), fps=1, change=change))
        seconds = cpu(partial(select_keyframes, images, Span(0, 30), fps=1, change=change)) / 30
        what = f"is it a new picture? change {change:g}"
        rows.append((what, f"{kept} of 30 looked at", seconds, "s a frame"))
    return rows


_readers: dict[int, ScreenText] = {}


def reader(side: int = 736) -> ScreenText:
    return _readers.setdefault(side, ScreenText(side=side))


def seeing(data: Path) -> list[tuple[str, str, float, str]]:
    truth = {3.0: 3, 9.0: 2, 15.0: 3, 20.0: 1, 26.0: 2, 30.0: 3, 33.0: 2, 38.0: 3}
    images = list(frames(data / "bottle-detection.mp4", list(truth)))
    rows = []
    for way, detector in (
        ("whole picture", Detector(squares=False)),
        ("egomem: and squares", Detector()),
    ):
        counts = [
            sum(d.label == "bottle" for d in detector.detect(frame.image, 0.5)) for frame in images
        ]
        right = sum(a == b for a, b in zip(counts, truth.values(), strict=True))
        image = images[0].image
        seconds = cpu(partial(detector.detect, image, 0.5))
        rows.append((f"objects; bottles right {right}/{len(truth)}", way, seconds, "s a frame"))
    return rows


def _hear(listener: Speech, blocks: list[AudioBlock]) -> None:
    list(listener.hear(blocks, Recording(id="bench", name="bench", duration=60.0)))


def hearing(data: Path) -> list[tuple[str, str, float, str]]:
    speech = np.concatenate([block.samples for block in audio(data / "jfk.flac")])
    minute = [AudioBlock(0.0, 16000, np.resize(speech, 60 * 16000))]
    quiet = [AudioBlock(0.0, 16000, np.zeros(60 * 16000, np.float32))]
    rows = []
    for model in ("tiny.en", "base"):
        for beam in (1, 5):
            listener = Speech(model, beam=beam, threads=1)
            _hear(listener, quiet)
            seconds = cpu(partial(_hear, listener, minute), 1)
            rows.append((f"speech, Whisper {model}", f"beam {beam}", seconds, "s a minute"))
    rows.append(("silence", "any", cpu(partial(_hear, listener, quiet)), "s a minute"))
    return rows


PARTS = {"reading": reading, "seeing": seeing, "hearing": hearing}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("data", type=Path)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--only", choices=PARTS, action="append")
    given = parser.parse_args()
    rows = [row for name in given.only or PARTS for row in PARTS[name](given.data)]
    for what, way, seconds, unit in rows:
        print(f"{what:<44} {way:<22} {seconds:7.3f} {unit}")
    if given.json:
        keys = ("what", "way", "cpu_seconds", "unit")
        given.json.write_text(json.dumps([dict(zip(keys, r, strict=True)) for r in rows], indent=1))


if __name__ == "__main__":
    main()
