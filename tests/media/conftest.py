"""Small media files, made on the fly. Each frame shows its number: what is seen tells the time.

Tests get this module as the fixture `make`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any

import av
import numpy as np
import pytest

SIDE = 64
TICK = Fraction(1, 600)
"""Display times in fixtures are whole ticks of this."""


def picture(number: int, width: int = SIDE, height: int = SIDE) -> np.ndarray:
    """A moving textured picture; its top quarter is 16 black or white blocks, its number's bits."""
    rng = np.random.default_rng(number // 7)
    y, x = np.mgrid[0:height, 0:width]
    image = np.stack(
        [128 + 60 * np.sin((x + 3 * number) / 9), 128 + 60 * np.cos((y - number) / 7), x + y], -1
    )
    image[height // 2 :] += rng.integers(-20, 20, (height - height // 2, width, 1))
    blocks = np.repeat([255 * (number >> bit & 1) for bit in range(16)], -(-width // 16))[:width]
    image[: height // 4] = blocks[None, :, None]
    return np.clip(image, 0, 255).astype(np.uint8)


def number_of(image: np.ndarray) -> int:
    """The number that a picture shows."""
    row = image[image.shape[0] // 8].mean(axis=1)
    middles = (np.arange(16) + 0.5) * image.shape[1] / 16
    return sum(int(row[int(m)] > 128) << bit for bit, m in enumerate(middles))


def video(
    path: Path,
    times: Sequence[int] | None = None,
    *,
    count: int = 60,
    codec: str = "libx264",
    options: dict[str, str] | None = None,
    gop: int = 20,
    size: tuple[int, int] = (SIDE, SIDE),
    rotation: int = 0,
    fps: int = 20,
    format_options: dict[str, str] | None = None,
    extra: Callable[[Any, list[Any]], None] | None = None,
) -> list[float]:
    """Writes a video whose n-th frame shows n at `times[n]` ticks; returns the times in seconds.

    Without `times` there are `count` frames at `fps` from 0. `extra` may add streams first.
    """
    if times is None:
        times = [round(n / fps / TICK) for n in range(count)]
    with av.open(str(path), "w", options=format_options or {}) as container:
        stream = container.add_stream(codec, rate=fps, options=options or {})
        stream.width, stream.height = size
        stream.pix_fmt = "yuvj420p" if codec == "mjpeg" else "yuv420p"
        if codec != "mpeg2video" and path.suffix != ".avi":  # which know only frame rates
            stream.time_base = stream.codec_context.time_base = TICK
        stream.gop_size = gop
        if rotation:
            stream.set_display_rotation(rotation)
        rest: list[Any] = []
        if extra is not None:
            extra(container, rest)
        for number, ticks in enumerate(times):
            frame = av.VideoFrame.from_ndarray(picture(number, *size), format="rgb24")
            frame.pts, frame.time_base = ticks, TICK
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
        container.mux(rest)
    return [float((t - times[0]) * TICK) for t in times]


def join(parts: Sequence[Path], path: Path) -> None:
    """Copies the packets of several files, in order, into one stream."""
    with av.open(str(path), "w") as out:
        stream = None
        for part in parts:
            with av.open(str(part)) as source:
                stream = stream or out.add_stream_from_template(source.streams.video[0])
                for packet in source.demux(video=0):
                    if packet.size:
                        packet.stream = stream
                        out.mux(packet)


def tone(seconds: float, rate: int = 16000, hertz: float = 440) -> np.ndarray:
    return (0.5 * np.sin(2 * np.pi * hertz * np.arange(round(seconds * rate)) / rate)).astype(
        np.float32
    )


def sound_packets(
    container: Any, samples: np.ndarray, rate: int = 16000, first_sample: int = 0
) -> list[Any]:
    """Packets of a new FLAC stream of mono samples that begins at sample number `first_sample`."""
    stream = container.add_stream("flac", rate=rate, layout="mono")
    stream.time_base = Fraction(1, rate)
    packets = []
    pcm = (samples * 32767).astype(np.int16)
    for begin in range(0, len(pcm), 4096):
        part = pcm[None, begin : begin + 4096]
        frame = av.AudioFrame.from_ndarray(np.ascontiguousarray(part), format="s16", layout="mono")
        frame.sample_rate, frame.pts, frame.time_base = (
            rate,
            first_sample + begin,
            Fraction(1, rate),
        )
        packets += stream.encode(frame)
    return packets + stream.encode(None)


def sound(path: Path, samples: np.ndarray, rate: int = 16000) -> None:
    with av.open(str(path), "w") as container:
        container.mux(sound_packets(container, samples, rate))


CODECS: dict[str, dict[str, Any]] = {
    "h264_b.mp4": {"options": {"bf": "3"}},
    "h264_no_b.mp4": {"options": {"bf": "0"}},
    "h264_pyramid.mkv": {"options": {"x264-params": "b-pyramid=normal:bframes=5:ref=4:b-adapt=0"}},
    "h264_b.ts": {"options": {"bf": "2"}},
    "h264_open_gop.mp4": {"options": {"x264-params": "open-gop=1:bframes=3:b-adapt=0:scenecut=0"}},
    "h264_interlaced.mp4": {"options": {"x264-params": "interlaced=1:tff=1"}},
    "h264_slices.mp4": {"options": {"x264-params": "slices=4:bframes=2"}},
    "h264_intra.mp4": {"gop": 1},
    "h264_one_gop.mp4": {"gop": 1000, "options": {"bf": "2"}},
    "h264_refresh.mp4": {"options": {"x264-params": "intra-refresh=1:bframes=0"}},
    "h264_fragments.mp4": {"format_options": {"movflags": "frag_keyframe+empty_moov"}},
    "h264_vfr.mp4": {"times": [30 * n + 9 * (n % 3) + 400 * (n > 40) for n in range(60)]},
    "h264_offset.mkv": {"times": [1500 + 30 * n for n in range(60)]},
    "hevc_open_gop.mp4": {
        "codec": "libx265",
        "options": {"x265-params": "log-level=none:bframes=4:b-adapt=0:scenecut=0"},
    },
    "hevc_closed.mkv": {
        "codec": "libx265",
        "options": {"x265-params": "log-level=none:open-gop=0:bframes=3"},
    },
    "hevc_radl.mp4": {
        "codec": "libx265",
        "options": {"x265-params": "log-level=none:open-gop=0:radl=2:bframes=3:b-adapt=0"},
    },
    "hevc_sublayers.mp4": {
        "codec": "libx265",
        "options": {"x265-params": "log-level=none:temporal-layers=3:bframes=7:b-adapt=0"},
    },
    "hevc.ts": {"codec": "libx265", "options": {"x265-params": "log-level=none"}},
    "mpeg4_b.mp4": {"codec": "mpeg4", "options": {"bf": "2"}},
    "mpeg4_b.avi": {"codec": "mpeg4", "options": {"bf": "2"}},
    "mpeg2_b.mkv": {"codec": "mpeg2video", "options": {"bf": "2"}, "fps": 25},
    "vp9.webm": {
        "codec": "libvpx-vp9",
        "options": {"deadline": "good", "cpu-used": "5", "lag-in-frames": "16"},
    },
    "mjpeg.mov": {"codec": "mjpeg"},
}
"""Codecs, containers and orders of frames, by file name; arguments of `video`."""


@pytest.fixture(scope="session")
def make() -> ModuleType:
    return sys.modules[__name__]


@pytest.fixture(scope="session")
def video_file(
    tmp_path_factory: pytest.TempPathFactory,
) -> Callable[[str], tuple[Path, list[float]]]:
    """The file of a name in CODECS and the true times of its frames; each is made once."""
    folder = tmp_path_factory.mktemp("media")
    done: dict[str, tuple[Path, list[float]]] = {}

    def get(name: str) -> tuple[Path, list[float]]:
        if name not in done:
            done[name] = folder / name, video(folder / name, **CODECS[name])
        return done[name]

    return get


@pytest.fixture(params=list(CODECS))
def sample(
    request: pytest.FixtureRequest, video_file: Callable[[str], tuple[Path, list[float]]]
) -> tuple[Path, list[float]]:
    """Each file of CODECS in turn."""
    return video_file(request.param)
