"""Sound of any length in stretches: cut at pauses, exact times, the same after a restart."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from types import SimpleNamespace

import numpy as np
import pytest

from egomem.errors import UsageError
from egomem.media import AudioBlock
from egomem.observe import Speech, speech
from egomem.observe.speech import SAMPLE_RATE, cut_point, split_at_pauses
from egomem.records import Observation, Recording


def all_of(stretches: Iterable[tuple[float, list[Observation]]]) -> list[Observation]:
    return [observation for _, stretch in stretches for observation in stretch]


def loud(samples: np.ndarray) -> list[tuple[int, int]]:
    """A voice detector for tests: whatever is not zero is a voice."""
    on = np.flatnonzero(np.diff(np.concatenate(([0], (samples != 0).astype(np.int8), [0]))))
    return [(int(a), int(b)) for a, b in zip(on[::2], on[1::2], strict=True)]


@pytest.fixture(autouse=True)
def _tone_is_voice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speech, "voice_segments", loud)
    monkeypatch.setattr(speech, "are_installed", lambda *modules: True)


def sound(*pieces: tuple[float, float]) -> np.ndarray:
    """(seconds, level) after one another."""
    return np.concatenate(
        [np.full(round(s * SAMPLE_RATE), level, np.float32) for s, level in pieces]
    )


def blocks(samples: np.ndarray, seconds: float = 3.0, start: float = 0.0) -> Iterator[AudioBlock]:
    size = round(seconds * SAMPLE_RATE)
    for at in range(0, samples.size, size):
        yield AudioBlock(start + at / SAMPLE_RATE, SAMPLE_RATE, samples[at : at + size])


SPEECH = sound((4, 0.5), (1, 0), (4, 0.4), (0.1, 0), (3, 0.3), (2, 0), (20, 0.2), (1, 0), (5, 0.1))


def test_stretches_hold_all_sound_once_in_order_with_exact_times() -> None:
    got = list(split_at_pauses(blocks(SPEECH, start=100), 10))
    assert np.array_equal(np.concatenate([samples for _, samples in got]), SPEECH)
    at = 100.0
    for start, samples in got:
        assert start == pytest.approx(at)
        assert samples.size <= 10 * SAMPLE_RATE
        at += samples.size / SAMPLE_RATE


def test_a_cut_lies_in_a_pause_where_there_is_one() -> None:
    first = next(
        iter(split_at_pauses(blocks(sound((4, 0.5), (1, 0), (4, 0.5), (1, 0), (9, 0.5))), 10))
    )
    assert first[1].size / SAMPLE_RATE == pytest.approx(9.5)
    assert cut_point(np.zeros(SAMPLE_RATE * 10, np.float32), []) / SAMPLE_RATE == pytest.approx(7.5)


def test_a_short_dip_is_taken_where_nobody_pauses() -> None:
    samples = sound((7, 0.5), (0.2, 0.001), (2.8, 0.5))
    assert 7.0 <= cut_point(samples, [(0, samples.size)]) / SAMPLE_RATE <= 7.2


def test_a_stream_resumed_at_a_cut_goes_on_the_same_way() -> None:
    whole = [
        (round(start, 6), samples.size) for start, samples in split_at_pauses(blocks(SPEECH), 10)
    ]
    start = whole[2][0]
    rest = SPEECH[round(start * SAMPLE_RATE) :]
    again = split_at_pauses(blocks(rest, seconds=7.7, start=start), 10)
    assert [(round(s, 6), samples.size) for s, samples in again] == whole[2:]


def test_a_gap_in_the_sound_keeps_times_exact_on_both_sides() -> None:
    parts = [*blocks(sound((2, 0.5)), start=0), *blocks(sound((2, 0.5)), start=50)]
    assert [start for start, _ in split_at_pauses(parts, 10)] == [0, 50]


def test_memory_is_flat_in_the_length() -> None:
    longest = 0

    def hour() -> Iterable[AudioBlock]:
        for k in range(60):
            yield AudioBlock(k * 10.0, SAMPLE_RATE, np.full(10 * SAMPLE_RATE, 0.1, np.float32))

    for _, samples in split_at_pauses(hour(), 30):
        longest = max(longest, samples.size)
    assert longest <= 30 * SAMPLE_RATE


def test_another_rate_is_refused() -> None:
    with pytest.raises(UsageError, match="16000 samples a second, not 8000"):
        list(split_at_pauses([AudioBlock(0, 8000, np.zeros(10, np.float32))], 10))


def segment(start: float, end: float, text: str, **figures: float) -> SimpleNamespace:
    return SimpleNamespace(
        start=start,
        end=end,
        text=f" {text} ",
        no_speech_prob=figures.get("no_speech", 0.1),
        avg_logprob=figures.get("logprob", -0.3),
        words=[SimpleNamespace(start=start, end=end, word=f" {text}", probability=np.float64(0.9))],
    )


class Pretended:
    """Stands for Whisper: one list of segments a stretch."""

    def __init__(self, *answers: Sequence[SimpleNamespace]) -> None:
        self.answers = list(answers)

    def transcribe(self, samples: np.ndarray, **options: object):  # type: ignore[no-untyped-def]
        return iter(self.answers.pop(0)), SimpleNamespace(language="en")


def test_times_are_of_the_recording_and_doubtful_words_are_counted(recording: Recording) -> None:
    listener = Speech("tiny.en", stretch=10)
    listener._engine = Pretended(
        [segment(1, 2, "Good morning."), segment(3, 4, "Thanks!", no_speech=0.9, logprob=-1.1)],
        [segment(0.5, 1.5, "Thank you.")],
    )
    samples = sound((8, 0.5), (2, 0), (3, 0.5))
    got = all_of(listener.hear(blocks(samples, start=600), recording))
    assert [(o.text, o.span.start, o.span.end) for o in got] == [
        ("Good morning.", 601, 602),
        ("Thank you.", 609.5, 610.5),
    ]
    assert listener.dropped == {"no speech": 1}
    assert got[0].wearer == "ann"
    assert (
        got[0].track == listener.track.id == "speech/faster-whisper=whisper-tiny.en~vad,10s,beam1"
    )
    assert got[1].data["words"] == [[609.5, 610.5, "Thank you.", 0.9]]
    assert got[1].model_dump_json()


def test_a_segment_that_spans_a_removed_silence_is_cut(recording: Recording) -> None:
    one = segment(1, 9, "Take the ladder. Mind the step.")
    times = (
        ("Take", 1.0),
        ("the", 1.4),
        ("ladder.", 1.8),
        ("Mind", 8.2),
        ("the", 8.6),
        ("step.", 8.8),
    )
    one.words = [
        SimpleNamespace(start=at, end=at + 0.2, word=f" {word}", probability=0.9)
        for word, at in times
    ]
    listener = Speech("tiny.en", stretch=10)
    listener._engine = Pretended([one])
    got = all_of(listener.hear(blocks(sound((2, 0.5), (6, 0), (1.5, 0.5)), start=300), recording))
    assert [(o.text, o.span.start, o.span.end) for o in got] == [
        ("Take the ladder.", 301, 302),
        ("Mind the step.", 308.2, 309),
    ]
    assert [word[2] for word in got[1].data["words"]] == ["Mind", "the", "step."]  # type: ignore


def test_silence_never_reaches_the_model(recording: Recording) -> None:
    listener = Speech("tiny.en", stretch=10)
    listener._engine = Pretended()  # a call would fail
    assert all_of(listener.hear(blocks(sound((35, 0))), recording)) == []
