"""What of a file's sound could not be decoded is reported, and remembered with the recording."""

import asyncio
from collections.abc import Iterable, Iterator
from pathlib import Path

import av
import pytest
from tests.conftest import MakeVideo

from egomem.ingest import IngestReport, Observers, SamplingOptions, ingest
from egomem.ingest.summary import summarise
from egomem.media import AudioBlock
from egomem.memory import Store
from egomem.observe import Window
from egomem.records import Observation, Recording, Track
from egomem.timeline import Span


class Listener:
    """Says when each block of sound begins."""

    track = Track(source="speech", observer="listener")

    def hear(
        self, blocks: Iterable[AudioBlock], recording: Recording
    ) -> Iterator[tuple[float, list[Observation]]]:
        for block in blocks:
            yield (
                block.end,
                [
                    Observation(
                        recording=recording.id,
                        span=Span(block.start, block.end),
                        text=f"sound from {block.start:.0f} s",
                        source="speech",
                        track=self.track.id,
                    )
                ],
            )


class Watcher:
    """Sees nothing."""

    window: float | None = 2
    track = Track(source="caption", observer="watcher", window=2)

    async def observe(self, window: Window) -> list[Observation]:
        return []


def run(folder: Path, path: Path) -> IngestReport:
    with Store.open(folder / "memory", create=True) as store:
        observers = Observers(sound=(Listener(),), frames=(Watcher(),))
        return asyncio.run(
            ingest(store, [path], observers, sampling=SamplingOptions(window=2, fps=2))
        )


def damage_sound(path: Path, begin: float, end: float, *, pictures: bool = False) -> Path:
    """A copy of a file whose sound (or pictures) between two seconds is overwritten."""
    data = bytearray(path.read_bytes())
    with av.open(str(path)) as container:
        stream = (container.streams.video if pictures else container.streams.audio)[0]
        for packet in container.demux(stream):
            if packet.size and packet.pts is not None and packet.pos is not None:
                assert packet.time_base is not None
                if begin <= packet.pts * packet.time_base < end:
                    data[packet.pos : packet.pos + packet.size] = b"\xff" * packet.size
    target = path.with_name("hurt.mp4")
    target.write_bytes(data)
    return target


def test_a_stretch_without_sound_is_reported_and_remembered(
    tmp_path: Path, make_video: MakeVideo
) -> None:
    path = damage_sound(make_video("whole.mp4", seconds=6, sound=True), 2, 4)
    (outcome,) = run(tmp_path, path).outcomes
    assert outcome.status == "partial"
    assert outcome.observations == 1  # what can be heard is heard
    (fault,) = outcome.faults
    assert fault.startswith("hurt.mp4: no sound between 0:02")
    assert " and 0:04" in fault
    again = run(tmp_path, path).outcomes[0]
    assert again.status == "unchanged"
    assert "known to be damaged: no sound between 0:02" in again.notes[-1]
    with Store.open(tmp_path / "memory") as store:
        (line,) = summarise(store).damaged
    assert line == fault


def test_damage_of_sound_and_of_the_picture_are_two_facts(
    tmp_path: Path, make_video: MakeVideo
) -> None:
    whole = make_video("whole.mp4", seconds=8, sound=True)
    path = damage_sound(damage_sound(whole, 5, 6), 3, 4.5, pictures=True)
    faults = run(tmp_path, path).outcomes[0].faults
    assert [fault.split(" between ")[0] for fault in faults] == [
        "hurt.mp4: no sound",
        "hurt.mp4: no picture",
    ]
    with Store.open(tmp_path / "memory") as store:
        assert len(summarise(store).damaged) == 2
    assert len(run(tmp_path, path).outcomes[0].notes[-2:]) == 2


def test_sound_of_which_nothing_can_be_decoded_is_a_fault(
    tmp_path: Path, make_video: MakeVideo
) -> None:
    path = damage_sound(make_video("whole.mp4", sound=True), 0, 9)
    (outcome,) = run(tmp_path, path).outcomes
    assert "no sound that can be decoded" in outcome.faults[0]


def test_sound_that_ends_early_is_a_fault(tmp_path: Path, make_video: MakeVideo) -> None:
    path = damage_sound(make_video("whole.mp4", seconds=6, sound=True), 3, 9)
    (outcome,) = run(tmp_path, path).outcomes
    assert "no sound after 0:03" in outcome.faults[0]
    assert " of 0:06" in outcome.faults[0]


@pytest.mark.parametrize(("begin", "end"), [(9, 9), (1, 1.07)])
def test_whole_sound_and_a_lost_packet_are_no_fault(
    tmp_path: Path, make_video: MakeVideo, begin: float, end: float
) -> None:
    path = damage_sound(make_video("whole.mp4", sound=True), begin, end)
    assert run(tmp_path, path).counts == {"done": 1}
