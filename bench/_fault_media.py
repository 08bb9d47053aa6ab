"""Odd media files, and whether egomem's frames are those that the ffmpeg program puts on screen."""

from __future__ import annotations

import random
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
from numpy.typing import NDArray

from egomem.errors import EgomemError
from egomem.media import frames, probe

TOLERANCE_S = 0.002
TOLERANCE_LEVELS = 12.0
"""Mean difference of two pictures: converters of colours differ, two frames by 40 and more."""
_SIZE = (96, 128)


@dataclass(frozen=True)
class OddFile:
    """One way to make a file; of a damaged one, so many frames may be missing where the report says
    so.
    """

    name: str
    make: Callable[[Path], None]
    may_miss: int = 0


def picture(k: int, size: tuple[int, int] = _SIZE) -> NDArray[np.uint8]:
    """Frame k: its number in eight wide bars, so that neighbours differ everywhere they should."""
    height, width = size
    bits = [(k * 37 + 11 >> b) & 1 for b in range(8)]
    row = np.repeat(np.array(bits, dtype=np.uint8) * 180 + 40, width // 8 + 1)[:width]
    image = np.repeat(row[None, :, None], height, axis=0).repeat(3, axis=2)
    image[: height // 6, : width // 3] = (k * 13) % 256
    return np.ascontiguousarray(image)


def encode(
    path: Path,
    *,
    codec: str = "libx264",
    count: int = 24,
    rate: Fraction = Fraction(12),
    base: Fraction | None = None,
    ticks: Callable[[int], int] | None = None,
    options: dict[str, str] | None = None,
    muxer: dict[str, str] | None = None,
    pixels: str = "yuv420p",
    size: tuple[int, int] = _SIZE,
    sound: float = 0.0,
    first: int = 0,
) -> None:
    """Write frames `first` to `first + count`, the k-th at `ticks(k)` of `base` seconds."""
    with av.open(str(path), "w", options=muxer or {}) as out:
        stream = out.add_stream(codec, rate=rate)
        stream.width, stream.height, stream.pix_fmt = size[1], size[0], pixels
        stream.options = options or {}
        if base is not None:
            stream.codec_context.time_base = base
        tone = out.add_stream("aac", rate=16000, layout="mono") if sound else None
        for k in range(count):
            frame = av.VideoFrame.from_ndarray(picture(first + k, size), format="rgb24")
            frame.time_base = base or 1 / rate
            frame.pts = ticks(k) if ticks else k
            out.mux(stream.encode(frame))
        out.mux(stream.encode(None))
        for k in range(round(sound * 16000) // 1024 if tone else 0):
            block = av.AudioFrame.from_ndarray(np.zeros((1, 1024), np.float32), "fltp", "mono")
            block.rate, block.pts = 16000, k * 1024
            out.mux(tone.encode(block))
        if tone:
            out.mux(tone.encode(None))


def odd_files(ffmpeg: str | None, seed: int) -> Iterator[OddFile]:
    """Sixty odd files and more; those that only the ffmpeg program can make need it."""
    x264 = {"g": "8", "bf": "0"}
    for ending in ("mp4", "mov", "mkv", "ts", "avi", "flv"):
        yield _file(f"plain.{ending}", options=x264)
    for depth in ("1", "2", "3"):
        for ending in ("mp4", "mkv", "ts"):
            yield _file(f"b{depth}.{ending}", options={"g": "12", "bf": depth, "b-adapt": "0"})
    for base in (90000, 7, 1000, 30000, 12800):
        step = 1001 if base == 30000 else max(1, base // 12)
        yield _file(
            f"base{base}.mkv" if base == 7 else f"base{base}.mp4",
            options=x264,
            base=Fraction(1, base),
            ticks=lambda k, s=step: k * s,
        )
    for name, ending in (("vfr", "mp4"), ("vfr", "mkv"), ("vfr", "mov")):
        for k in range(3):
            yield _file(
                f"{name}{k}.{ending}",
                options={"g": "9", "bf": str(k)},
                base=Fraction(1, 1000),
                ticks=_uneven(seed + k),
            )
    for ending in ("mp4", "mkv", "ts", "mov"):
        yield _file(
            f"late.{ending}", options=x264, base=Fraction(1, 1000), ticks=lambda k: 5000 + 80 * k
        )
    yield _file("open-gop.mp4", options={"g": "8", "bf": "3", "x264-params": "open-gop=1"})
    yield _file("open-gop.ts", options={"g": "8", "bf": "3", "x264-params": "open-gop=1"})
    yield _file("one.mp4", count=1, options=x264)
    yield _file("two.mp4", count=2, options={"bf": "1"})
    yield _file("still.mp4", base=Fraction(1, 1000), ticks=lambda k: 40 * k + 9000 * (k > 11))
    yield _file("ten-bit.mp4", pixels="yuv420p10le", options=x264)
    yield _file("full-chroma.mp4", pixels="yuv444p", options=x264)
    yield _file("odd-size.mp4", size=(94, 126), options=x264)
    yield _file("long-sound.mp4", options=x264, sound=4.0)
    yield _file("fragments.mp4", options=x264, muxer={"movflags": "frag_keyframe+empty_moov"})
    yield _file("no-edits.mp4", options={"bf": "2"}, muxer={"use_editlist": "0"})
    yield _file("faststart.mp4", options={"bf": "2"}, muxer={"movflags": "faststart"})
    yield _file("long-gop.mp4", count=90, options={"g": "250", "bf": "2"})
    yield _file("intra.mp4", options={"g": "1"})
    for codec, ending, pixels in (
        ("mpeg4", "avi", "yuv420p"),
        ("mpeg4", "mp4", "yuv420p"),
        ("mpeg2video", "mpg", "yuv420p"),
        ("mpeg2video", "ts", "yuv420p"),
        ("mjpeg", "avi", "yuvj420p"),
        ("mjpeg", "mov", "yuvj420p"),
        ("libvpx-vp9", "webm", "yuv420p"),
        ("libx265", "mp4", "yuv420p"),
        ("gif", "gif", "rgb8"),
        ("ffv1", "mkv", "yuv420p"),
    ):
        rate = Fraction(25) if codec == "mpeg2video" else Fraction(12)
        quiet = {"x265-params": "log-level=none"} if codec == "libx265" else None
        yield _file(f"{codec}.{ending}", codec=codec, pixels=pixels, rate=rate, options=quiet)
    for share in (0.4, 0.7, 0.9):
        for ending, muxer in (("mp4", {"movflags": "faststart"}), ("ts", {}), ("mkv", {})):
            yield OddFile(f"cut{share}.{ending}", _cut(share, ending, muxer), may_miss=3)
    # Where streams are joined the demuxer calls a packet incomplete, and egomem leaves it out.
    yield OddFile("joined.ts", _joined(24, 24, _SIZE), may_miss=2)
    yield OddFile("joined-uneven.ts", _joined(25, 13, _SIZE), may_miss=2)
    yield OddFile("joined-three.ts", _joined(12, 12, _SIZE, again=True), may_miss=4)
    yield OddFile("holed.ts", _holed, may_miss=14)
    if ffmpeg:
        for turn in (90, 180, 270):
            yield OddFile(
                f"turned{turn}.mp4", _remuxed(ffmpeg, [], ["-display_rotation", str(turn)])
            )
        yield OddFile("trimmed.mp4", _remuxed(ffmpeg, [], ["-ss", "0.7"], options={"bf": "2"}))
        yield OddFile("delayed.mp4", _remuxed(ffmpeg, [], ["-itsoffset", "1.5"]))
        yield OddFile("mirrored.mp4", _remuxed(ffmpeg, [], ["-display_hflip"]))


def _file(name: str, **how: object) -> OddFile:
    return OddFile(name, lambda path: encode(path, **how))  # type: ignore[arg-type]  # of encode


def _uneven(seed: int) -> Callable[[int], int]:
    steps = random.Random(seed).choices((7, 33, 34, 120, 415), k=400)
    return lambda k: sum(steps[:k])


def _cut(share: float, ending: str, muxer: dict[str, str]) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        encode(path, count=60, options={"g": "12", "bf": "2", "crf": "10"}, muxer=muxer)
        content = path.read_bytes()
        path.write_bytes(content[: int(len(content) * share)])

    return make


def _joined(
    one: int, other: int, size: tuple[int, int], again: bool = False
) -> Callable[[Path], None]:
    """Streams with contiguous times, joined as `cat` does."""

    def make(path: Path) -> None:
        content, first = b"", 0
        for count in (one, other, *([other] if again else [])):
            begin = first
            encode(
                path,
                count=count,
                first=first,
                options={"g": "8", "bf": "0"},
                base=Fraction(1, 90000),
                ticks=lambda k, b=begin: (b + k) * 7500,
            )
            content += path.read_bytes()
            first += count
        path.write_bytes(content)

    return make


def _holed(path: Path) -> None:
    encode(path, count=60, options={"g": "12", "bf": "0", "crf": "10"})
    content = bytearray(path.read_bytes())
    packets = len(content) // 188
    for k in range(packets // 2, packets // 2 + 6):
        content[k * 188 : (k + 1) * 188] = bytes(188)
    path.write_bytes(bytes(content))


def _remuxed(
    ffmpeg: str, after: list[str], before: list[str], options: dict[str, str] | None = None
) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        plain = path.with_name(f"plain-{path.name}")
        encode(plain, options=options or {"g": "8", "bf": "0"})
        command = [ffmpeg, "-v", "error", "-y", *before, "-i", str(plain), "-c", "copy", *after]
        subprocess.run([*command, str(path)], check=True)

    return make


# ------------------------------------------------------------------------------------ comparing


def ffmpeg_frames(ffmpeg: str, path: Path) -> tuple[list[float], list[NDArray[np.uint8]]]:
    """Display times (s from the first) and pictures, as the ffmpeg program decodes a file."""
    show = [ffmpeg, "-hide_banner", "-i", str(path), "-map", "0:v:0", "-vf", "showinfo"]
    run = subprocess.run(
        [*show, "-fps_mode", "passthrough", "-f", "rawvideo", "-pix_fmt", "rgb24", "-"],
        capture_output=True,
        check=False,
    )
    log = run.stderr.decode(errors="replace")
    frame_lines = re.findall(r"n: *\d+ pts: *\S+ pts_time:(\S+).*? s:(\d+)x(\d+)", log)
    times = [float(t) for t, _, _ in frame_lines]
    if not times:
        return [], []
    width, height = (int(n) for n in frame_lines[0][1:])
    images = np.frombuffer(run.stdout, np.uint8)
    count = min(len(images) // (width * height * 3), len(times))
    images = images[: count * width * height * 3].reshape(count, height, width, 3)
    order = np.argsort(times[:count], kind="stable")
    return [times[k] - min(times) for k in order], [images[k] for k in order]


def compare(file: OddFile, folder: Path, ffmpeg: str) -> str:
    """Make a file and compare every frame; "" where all held, else what did not."""
    path = folder / file.name
    try:
        file.make(path)
    except (av.error.FFmpegError, ValueError, subprocess.SubprocessError) as error:
        return f"not made: {error}"
    times, images = ffmpeg_frames(ffmpeg, path)
    try:
        info = probe(path)
        ends = [*times[1:], times[-1] + 0.002] if times else []
        middles = [(a + b) / 2 for a, b in zip(times, ends, strict=True)]
        reader = frames(path, middles, info=info)
        got = {frame.requested: frame for frame in reader}
    except EgomemError as error:
        return "" if file.may_miss and not times else f"refused: {error}"
    is_reported = bool(reader.report.lost or reader.report.decoded_until is not None)
    missing, wrong = 0, []
    for k, (t, image) in enumerate(zip(middles, images, strict=True)):
        frame = got.get(t)
        if frame is None:
            missing += 1
        elif abs(frame.time - times[k]) > TOLERANCE_S:
            wrong.append(f"at {t:.3f} s it is of {frame.time:.3f}, not {times[k]:.3f}")
        elif frame.image.shape != image.shape:
            wrong.append(f"its size is {frame.image.shape}, not {image.shape}")
        elif np.abs(frame.image.astype(float) - image).mean() > TOLERANCE_LEVELS:
            wrong.append(f"another picture at {t:.3f} s")
    if wrong:
        return f"{len(wrong)} of {len(times)} wrong: {wrong[0]}"
    if missing > file.may_miss or (missing and not is_reported):
        return f"{missing} of {len(times)} frames missing" + ("" if is_reported else ", untold")
    return ""


def find_ffmpeg() -> str | None:
    """The ffmpeg program: of the PATH, else of the package imageio-ffmpeg."""
    if path := shutil.which("ffmpeg"):
        return path
    try:
        import imageio_ffmpeg
    except ImportError:
        return None
    return str(imageio_ffmpeg.get_ffmpeg_exe())
