"""Transport streams joined byte by byte are read to their end, pictures and sound alike."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import av
import numpy as np
import pytest

from egomem.media import audio, frames, probe
from egomem.media.joined import count_joints


def parts(make: ModuleType, folder: Path, counts: tuple[int, ...], **options: object) -> list[Path]:
    """Transport streams of some frames each, at 20 frames a second, that all begin at one time."""
    paths = [folder / f"part{k}.ts" for k in range(len(counts))]
    for path, count in zip(paths, counts, strict=True):
        make.video(path, count=count, **options)
    return paths


def cat(paths: list[Path], target: Path) -> Path:
    target.write_bytes(b"".join(path.read_bytes() for path in paths))
    return target


@pytest.mark.parametrize("prune", [True, False])
@pytest.mark.parametrize("bf", ["0", "2"])
def test_every_part_is_read_at_its_time(
    make: ModuleType, tmp_path: Path, bf: str, prune: bool
) -> None:
    paths = parts(make, tmp_path, (40, 60, 30), options={"bf": bf})
    joined = cat(paths, tmp_path / "joined.ts")
    assert count_joints(joined) == 2
    facts = probe(joined)
    assert facts.video is not None
    assert facts.video.frames == 130
    assert facts.duration == pytest.approx(6.5, abs=0.2)
    assert "3 parts were joined" in facts.faults[0]
    assert facts.decoded_until is None
    times = [0.0, 1.0, 1.7, 2.5, 4.0, 5.5, 6.3]
    numbers = [make.number_of(f.image) for f in frames(joined, times, prune=prune)]
    assert len(numbers) == len(times)
    firsts = {0.0: 0, 1.0: 0, 1.7: 0, 2.5: 40, 4.0: 40, 5.5: 100, 6.3: 100}
    for time, number in zip(times, numbers, strict=True):
        assert number == pytest.approx(time * 20 - firsts[time], abs=3)


def test_a_far_picture_is_that_of_its_part(make: ModuleType, tmp_path: Path) -> None:
    """Seeking by time would find a picture of the first part."""
    joined = cat(parts(make, tmp_path, (400, 400, 100)), tmp_path / "joined.ts")
    (picture,) = frames(joined, [31.0])
    assert make.number_of(picture.image) == pytest.approx(620 - 400, abs=3)
    assert picture.time == pytest.approx(31.0, abs=0.15)


def test_sound_goes_on_with_the_pictures(tmp_path: Path) -> None:
    paths = [tmp_path / f"{hertz}.ts" for hertz in (300, 900)]
    for path, hertz in zip(paths, (300, 900), strict=True):
        with av.open(str(path), "w") as container:
            stream = container.add_stream("aac", rate=16000, layout="mono")
            wave = 0.5 * np.sin(2 * np.pi * hertz * np.arange(3 * 16000) / 16000)
            frame = av.AudioFrame.from_ndarray(
                wave.astype(np.float32)[None], format="fltp", layout="mono"
            )
            frame.sample_rate = 16000
            container.mux(stream.encode(frame))
            container.mux(stream.encode(None))
    joined = cat(paths, tmp_path / "joined.ts")
    assert probe(joined).duration == pytest.approx(6.0, abs=0.3)
    blocks = list(audio(joined))
    assert blocks[-1].end == pytest.approx(6.0, abs=0.3)
    samples = np.concatenate([block.samples for block in blocks])

    def pitch(second: float) -> float:
        part = samples[int(second * 16000) :][:8000]
        return float(np.abs(np.fft.rfft(part)).argmax() * 2)

    assert pitch(1.0) == pytest.approx(300, abs=10)
    assert pitch(4.5) == pytest.approx(900, abs=10)


def test_a_damaged_stretch_inside_a_stream_is_named_and_the_rest_is_used(
    make: ModuleType, tmp_path: Path
) -> None:
    whole = tmp_path / "whole.ts"
    make.video(whole, count=100, gop=20)
    data = bytearray(whole.read_bytes())
    packets = len(data) // 188
    # A few lost packets in the middle, as a bad card leaves them.
    del data[188 * (packets // 2) : 188 * (packets // 2 + 4)]
    broken = tmp_path / "broken.ts"
    broken.write_bytes(data)
    facts = probe(broken)
    assert facts.duration == pytest.approx(5.0, abs=0.11)
    assert facts.decoded_until is None
    assert any(fault.startswith("damaged from ") for fault in facts.faults)
    assert [f.requested for f in frames(broken, [0.5, 4.8])] == [0.5, 4.8]


def test_one_stream_and_other_files_have_no_joint(make: ModuleType, tmp_path: Path) -> None:
    for name in ("one.ts", "one.mp4"):
        make.video(tmp_path / name, count=30)
        assert count_joints(tmp_path / name) == 0
        assert probe(tmp_path / name).faults == ()
