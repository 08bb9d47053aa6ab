"""Sampling frames: CPU time and memory, against decoding everything and against other readers.

    python bench/frames.py --work DIR [--quick] [--long] [--runs N] [--json FILE]

Clips are made once in DIR, at 30 fps and 10 Mbit/s for 1408x1408: H.264 with and without B-frames
and a key frame every 30, 60 or 250 frames, 1920x1080, HEVC. What they show is made up; detail and
noise are set so that the sizes of key, P and B pictures (8.6 : 2.4 : 1) lie within what recorded
videos give when coded alike (from 2 : 1.3 : 1, first-person, to 19 : 5 : 1).

Each reader takes one frame a second, at most 448 pixels wide, in a process of its own, on one
thread: with the wanted times on whole seconds (where key frames lie at GOP 30 and 60) and half a
second off. CPU time counts from after the imports, user and system, is given for a minute of video,
and is the least of N runs. The floor is `ffmpeg -f null`, which decodes everything and keeps
nothing. Readers that decode everything too are run once, at one GOP. Peers that are not installed
are left out and named.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import math
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
from av.video.reformatter import VideoReformatter

SIDE = 448
FPS = 30
REPEATS = 3
NOISE = 1.5
DETAIL = 0.5


@dataclass(frozen=True)
class Clip:
    codec: str
    width: int
    height: int
    b_frames: bool
    gop: int

    @property
    def encoded(self) -> int:
        """Frames that are encoded; the clip repeats them."""
        return max(self.gop, 240)

    @property
    def seconds(self) -> float:
        return self.encoded * REPEATS / FPS

    @property
    def name(self) -> str:
        b = "B" if self.b_frames else "no B"
        return f"{self.codec} {self.width}x{self.height} {b} GOP {self.gop}"

    def path(self, work: Path) -> Path:
        return work / f"{self.name.replace(' ', '_')}.mp4"


@dataclass
class Row:
    clip: str
    reader: str
    phase: float
    cpu: float  # seconds a minute of video
    ratio: float  # of `ffmpeg -f null`
    memory: float  # peak, MB
    frames: int


# --- making clips ---------------------------------------------------------------------------


def pictures(width: int, height: int, count: int) -> Iterator[av.VideoFrame]:
    """A look from a moving head over a textured scene: pan, shake and zoom below a pixel, something
    near that moves against it, and sensor noise that is new in each frame."""
    rng = np.random.default_rng(7)
    side = max(width, height)
    far, near = texture(rng, 2 * side, 110, 36), texture(rng, side, 140, 30)
    noise = rng.normal(0, NOISE, (height + 256, width + 256)).round().astype(np.int8)
    scaler = VideoReformatter()
    at, speed = np.array([side / 2, side / 2]), np.zeros(2)
    for n in range(count):
        speed = 0.9 * speed + rng.normal(0, 2, 2) - 0.004 * (at - side / 2)
        at = np.clip(at + speed, 0, 0.85 * side)
        zoom = 1.05 + 0.1 * np.sin(n / 23)
        x, y, u, v = (int(k) & ~1 for k in (*at, width * zoom, height * zoom))
        crop = far[y : y + v, x : x + u]
        look = av.VideoFrame.from_ndarray(np.ascontiguousarray(crop), format="gray")
        luma = scaler.reformat(look, width, height, interpolation="BICUBIC").to_ndarray()
        p = int(width / 3 * (1 + 0.7 * np.sin(n / 19))) & ~1
        q = int(height / 2 * (1 + 0.3 * np.cos(n / 13))) & ~1
        luma[q : q + height // 4, p : p + width // 3] = near[: height // 4, : width // 3]
        i, j = rng.integers(0, 256, 2)
        grain = noise[i : i + height, j : j + width]
        luma = np.clip(luma.astype(np.int16) + grain, 0, 255).astype(np.uint8)
        chroma = luma[::2, ::2] // 4 + 96
        planes = [luma.ravel(), chroma.ravel(), 255 - chroma.ravel()]
        image = np.concatenate(planes).reshape(height * 3 // 2, width)
        frame = av.VideoFrame.from_ndarray(image, format="yuv420p")
        frame.pts, frame.time_base = n, Fraction(1, FPS)
        yield frame


def texture(rng: np.random.Generator, side: int, mean: float, spread: float) -> np.ndarray:
    """A square that is smooth from near and rough from far, as what a moving camera sees."""
    total = rng.normal(0, 1, (3, 3)).astype(np.float32)
    contrast = 1.0
    while len(total) < side:
        total = np.kron(total, np.ones((2, 2), np.float32))
        for axis in (0, 1):
            total += np.roll(total, 1, axis)
        contrast *= DETAIL
        total = total / 4 + rng.normal(0, contrast, total.shape).astype(np.float32)
    total = total[:side, :side]
    return np.clip(total / total.std() * spread + mean, 16, 235).astype(np.uint8)


def make(clip: Clip, path: Path) -> None:
    options = {"preset": "veryfast", "threads": "1"}
    if clip.codec == "hevc":
        options["preset"] = "superfast"
        options["x265-params"] = (
            f"log-level=none:pools=1:scenecut=0:keyint={clip.gop}:min-keyint={clip.gop}"
        )
    else:  # the structure is that of x264's default: three B-frames, a pyramid, three references
        options["x264-params"] = (
            f"scenecut=0:keyint={clip.gop}:min-keyint={clip.gop}:ref=3"
            f":bframes={3 if clip.b_frames else 0}"
        )
    once = path.with_suffix(".once.mp4")
    with av.open(str(once), "w") as out:
        stream = out.add_stream(
            "libx265" if clip.codec == "hevc" else "libx264", rate=FPS, options=options
        )
        stream.width, stream.height, stream.pix_fmt = clip.width, clip.height, "yuv420p"
        stream.bit_rate = int(10e6 * clip.width * clip.height / 1408**2)
        for frame in pictures(clip.width, clip.height, clip.encoded):
            out.mux(stream.encode(frame))
        out.mux(stream.encode(None))
    part = path.with_suffix(".part.mp4")
    repeat(once, REPEATS, part)
    once.unlink()
    part.rename(path)


def make_apart(clip: Clip, path: Path) -> None:
    """Makes a clip in a process of its own: a child's peak memory counts from its parent's."""
    from concurrent.futures import ProcessPoolExecutor  # here: it would weigh on every reader
    from multiprocessing import get_context

    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        pool.submit(make, clip, path).result()


def repeat(source: Path, times: int, path: Path) -> None:
    """The packets of a file, `times` times one after another."""
    with av.open(str(path), "w") as out, av.open(str(source)) as first:
        stream = out.add_stream_from_template(first.streams.video[0])
        for k in range(times):
            with av.open(str(source)) as again:
                video = again.streams.video[0]
                shift = k * video.duration
                for packet in again.demux(video):
                    if packet.size:
                        packet.pts += shift
                        packet.dts += shift
                        packet.stream = stream
                        out.mux(packet)


# --- readers: each returns the number of frames it gave ---------------------------------------


def read_egomem(path: str, times: list[float]) -> int:
    from egomem.media import frames

    return sum(1 for _ in frames(path, times, side=SIDE))


def read_egomem_keys(path: str, times: list[float]) -> int:
    from egomem.media import key_frames

    return sum(1 for _ in key_frames(path, side=SIDE))


def read_pyav(path: str, times: list[float]) -> int:
    count, times_left = 0, iter(times)
    target = next(times_left, None)
    with av.open(path) as container:
        stream = container.streams.video[0]
        stream.thread_count = 1
        last = None
        for frame in container.decode(stream):
            while target is not None and last is not None and frame.time > target:
                last.to_ndarray(format="rgb24", width=SIDE, height=SIDE * last.height // last.width)
                count += 1
                target = next(times_left, None)
            last = frame
    return count + (target is not None)


def height_of(path: str) -> int:
    """The height of a frame that is SIDE wide, from a look at the head that costs nothing."""
    with av.open(path, options={"probesize": "32"}) as container:
        stream = container.streams.video[0]
        return SIDE * stream.height // stream.width


def read_decord(path: str, times: list[float]) -> int:
    import decord

    reader = decord.VideoReader(path, num_threads=1, width=SIDE, height=height_of(path))
    indexes = [min(round(t * FPS), len(reader) - 1) for t in times]
    return sum(
        len(reader.get_batch(indexes[i : i + 30]).asnumpy()) for i in range(0, len(indexes), 30)
    )


def read_torchcodec(path: str, times: list[float]) -> int:
    import torch
    from torchcodec.decoders import VideoDecoder
    from torchcodec.transforms import Resize

    torch.set_num_threads(1)
    small = [Resize([height_of(path), SIDE])]
    decoder = VideoDecoder(path, num_ffmpeg_threads=1, transforms=small)
    parts = (decoder.get_frames_played_at(times[i : i + 30]) for i in range(0, len(times), 30))
    return sum(len(part.data) for part in parts)


def read_opencv(path: str, times: list[float]) -> int:
    import cv2

    cv2.setNumThreads(1)
    reader = cv2.VideoCapture(path)
    numbers, number, count = {round(t * FPS) for t in times}, 0, 0
    while reader.grab():
        if number in numbers:
            _, image = reader.retrieve()
            cv2.resize(image, (SIDE, SIDE * image.shape[0] // image.shape[1]))
            count += 1
        number += 1
    return count


IN_PROCESS: dict[str, tuple[Callable[[str, list[float]], int], str]] = {
    "egomem": (read_egomem, "egomem"),
    "egomem key frames": (read_egomem_keys, "egomem"),
    "PyAV, sequential": (read_pyav, "av"),
    "decord": (read_decord, "decord"),
    "torchcodec": (read_torchcodec, "torchcodec"),
    "OpenCV": (read_opencv, "cv2"),
}
FFMPEG = {
    "ffmpeg -f null": ["-threads", "1", "-i", "{}", "-map", "0:v:0", "-f", "null", "-"],
    "ffmpeg pipe": [
        *("-threads", "1", "-i", "{}", "-vf", f"fps=1,scale={SIDE}:-2", "-pix_fmt", "rgb24"),
        *("-f", "rawvideo", "-"),
    ],
    "ffmpeg -skip_frame nokey": [
        *("-threads", "1", "-skip_frame", "nokey", "-i", "{}", "-vsync", "0"),
        *("-vf", f"scale={SIDE}:-2", "-pix_fmt", "rgb24", "-f", "rawvideo", "-"),
    ],
}
BOTH_PHASES = ("egomem", "decord", "torchcodec")
DECODE_ALL = ("PyAV, sequential", "OpenCV", "ffmpeg pipe")


def child(reader: str, path: str, phase: float, seconds: float) -> None:
    """Runs one reader and prints its CPU seconds and frames; imports are not counted."""
    read, module = IN_PROCESS[reader]
    __import__(module if module != "egomem" else "egomem.media")
    if module == "torchcodec":
        import torchcodec.decoders  # noqa: F401
    times = [k + phase for k in range(int(seconds))]
    begin = time.process_time()
    count = read(path, times)
    print(json.dumps({"cpu": time.process_time() - begin, "frames": count}))


def measure(reader: str, path: Path, phase: float, seconds: float) -> tuple[float, float, int]:
    """CPU seconds, peak memory in MB, frames."""
    if reader in FFMPEG:
        arguments = [a.replace("{}", str(path)) for a in FFMPEG[reader]]
        command = ["ffmpeg", "-nostdin", "-v", "error", *arguments]
    else:
        command = [sys.executable, __file__, "--child", reader, str(path), str(phase), str(seconds)]
    environment = os.environ | {
        "OPENCV_FFMPEG_CAPTURE_OPTIONS": "threads;1",
        "OMP_NUM_THREADS": "1",
    }
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as process:
        assert process.stdout is not None
        size, tail = 0, b""
        while data := process.stdout.read(1 << 20):
            size, tail = size + len(data), data[-4096:]
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{reader} failed on {path.name}")
    if reader in FFMPEG:
        return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, size
    figures = json.loads(tail)
    return figures["cpu"], usage.ru_maxrss / 1024, figures["frames"]


# --- the table ---------------------------------------------------------------------------------


def clips(quick: bool) -> list[Clip]:
    def clip(codec: str, width: int, height: int, b_frames: bool, gop: int) -> Clip:
        return Clip(codec, width, height, b_frames, gop)

    if quick:
        return [clip("h264", 1408, 1408, b, 60) for b in (True, False)]
    return [
        *(clip("h264", 1408, 1408, b, gop) for b in (True, False) for gop in (30, 60, 250)),
        *(clip("h264", 1920, 1080, b, 60) for b in (True, False)),
        clip("hevc", 1408, 1408, True, 60),
    ]


def run(clip: Clip, work: Path, readers: list[str], runs: int) -> Iterator[Row]:
    """The readers take turns, `runs` times, so that what else the machine does falls on all."""
    path = clip.path(work)
    if not path.exists():
        make_apart(clip, path)
    todo = [
        (reader, phase)
        for reader in readers
        for phase in ((0.0, 0.5) if reader in BOTH_PHASES else (0.0,))
        if clip.gop == 60 or reader not in DECODE_ALL
    ]
    results: dict[tuple[str, float], list[tuple[float, float, int]]] = {}
    for k in range(runs):
        for reader, phase in todo:
            if k and reader in DECODE_ALL:
                continue
            results.setdefault((reader, phase), []).append(
                measure(reader, path, phase, clip.seconds)
            )
    least = {
        key: min(cpu for cpu, _, _ in each) * 60 / clip.seconds for key, each in results.items()
    }
    for (reader, phase), each in results.items():
        cpu = least[reader, phase]
        memory = max(memory for _, memory, _ in each)
        ratio = cpu / least["ffmpeg -f null", 0.0]
        yield Row(clip.name, reader, phase, cpu, ratio, memory, each[0][2])


def goals(rows: list[Row]) -> Iterator[tuple[str, float, float]]:
    """What was to be reached: (what, measured, goal)."""
    limit = {30: 0.35, 60: 0.50, 250: 0.60}
    for name in dict.fromkeys(r.clip for r in rows):
        mine = [r for r in rows if r.clip == name and r.reader == "egomem"]
        for row in mine:
            goal = limit[int(name.split()[-1])]
            yield f"{name}: of decoding all, {row.phase:g} s off", row.ratio, goal
        for phase in (0.0, 0.5):
            peers = [
                r
                for r in rows
                if r.clip == name
                and not r.reader.startswith("egomem")
                and "nokey" not in r.reader
                and r.reader != "ffmpeg -f null"
                and (r.phase == phase or r.reader not in BOTH_PHASES)
            ]
            if peers:
                best = min(peers, key=lambda r: r.cpu)
                row = next(r for r in mine if r.phase == phase)
                goal = 0.95 if "no B" in name else 0.70
                yield f"{name}: of {best.reader}, {phase:g} s off", row.cpu / best.cpu, goal
        every = {r.reader: r for r in rows if r.clip == name}
        keys = every["egomem key frames"].cpu / every["ffmpeg -skip_frame nokey"].cpu
        yield f"{name}: key frames, of ffmpeg's", keys, 1.15
        memory = max(r.memory for r in mine) / every["ffmpeg -f null"].memory
        yield f"{name}: memory, of ffmpeg's", memory, 1.3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--work", type=Path, required=True, help="folder for the clips")
    parser.add_argument("--quick", action="store_true", help="one size and GOP")
    parser.add_argument(
        "--long", action="store_true", help="memory at 1 and 60 minutes of a small clip (0.2 GB)"
    )
    parser.add_argument("--runs", type=int, default=2, help="of each reader (2)")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    given.work.mkdir(parents=True, exist_ok=True)
    if not shutil.which("ffmpeg"):
        sys.exit("ffmpeg is the floor of this comparison; install it first")
    absent = [n for n, (_, module) in IN_PROCESS.items() if not importlib.util.find_spec(module)]
    readers = ["ffmpeg -f null", *(n for n in [*IN_PROCESS, *FFMPEG][:-1] if n not in absent)]
    readers = [*dict.fromkeys(readers), "ffmpeg -skip_frame nokey"]
    print(f"not installed: {', '.join(absent) or 'none'}")
    print(f"{'clip':34} {'reader':26} {'off':>4} {'CPU s/min':>9} {'ratio':>6} {'MB':>5} frames")
    rows: list[Row] = []
    for clip in clips(given.quick):
        for row in run(clip, given.work, readers, given.runs):
            rows.append(row)
            frames = "" if row.reader.startswith("ffmpeg") else row.frames
            print(
                f"{row.clip:34} {row.reader:26} {row.phase:4.1f} {row.cpu:9.2f} {row.ratio:6.2f}"
                f" {row.memory:5.0f} {frames}",
                flush=True,
            )
    outcomes = list(goals(rows))
    if given.long:
        short = Clip("h264", 240, 240, True, 60)
        if not short.path(given.work).exists():
            make_apart(short, short.path(given.work))
        peaks = []
        for minutes in (1, 60):
            path = given.work / "long.mp4"
            repeat(short.path(given.work), math.ceil(minutes * 60 / short.seconds), path)
            peaks.append(measure("egomem", path, 0.5, minutes * 60)[1])
            path.unlink()
            print(f"egomem, {minutes} min: peak {peaks[-1]:.0f} MB", flush=True)
        outcomes.append(("memory, 60 minutes of 1", peaks[1] / peaks[0], 1.05))
    print()
    for what, value, goal in outcomes:
        print(f"{'ok    ' if value <= goal else 'MISSED'} {value:5.2f} (goal {goal:.2f})  {what}")
    if given.json:
        given.json.write_text(
            json.dumps(
                {"rows": [asdict(r) for r in rows], "goals": outcomes, "absent": absent}, indent=1
            )
        )


if __name__ == "__main__":
    if "--child" in sys.argv:
        at = sys.argv.index("--child")
        child(sys.argv[at + 1], sys.argv[at + 2], float(sys.argv[at + 3]), float(sys.argv[at + 4]))
    else:
        main()
