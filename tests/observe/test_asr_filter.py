from __future__ import annotations

import pytest

from egomem.observe.asr_filter import SegmentFilter, SpeechSegment, longest_run


def segment(
    text: str,
    start: float = 0.0,
    seconds: float = 2.0,
    no_speech_prob: float = 0.0,
    avg_logprob: float = 0.0,
) -> SpeechSegment:
    return SpeechSegment(start, start + seconds, text, no_speech_prob, avg_logprob)


def test_a_real_short_thank_you_stays_and_the_same_words_for_silence_go() -> None:
    real = segment("Thank you.", seconds=0.8, no_speech_prob=0.35, avg_logprob=-0.5)
    sure = segment("Thank you.", seconds=0.8, no_speech_prob=0.8, avg_logprob=-0.4)
    silence = segment("Thank you.", seconds=0.8, no_speech_prob=0.8, avg_logprob=-0.9)
    kept, dropped = SegmentFilter().sift([real, sure, silence])
    assert kept == [real, sure]
    assert dropped == {"no speech": 1}


def test_a_word_repeated_twelve_times_goes_and_a_stammer_stays() -> None:
    loop = segment("you " * 12, seconds=6)
    phrase = segment("I am here. " * 7, seconds=12)
    stammer = segment("No, no, no, not that one.")
    count = segment("1, 2, 3, 4, 5, 6, 7, 8, 9, 10")
    kept, dropped = SegmentFilter().sift([loop, phrase, stammer, count])
    assert kept == [stammer, count]
    assert dropped == {"repetition": 2}


def test_a_segment_said_again_and_again_keeps_its_first() -> None:
    again = [segment("Thanks for watching!", start=10.0 * k) for k in range(8)]
    other = segment("Where is the cup?", start=90)
    kept, dropped = SegmentFilter().sift([*again, other])
    assert kept == [again[0], other]
    assert dropped == {"repetition": 7}
    assert SegmentFilter().sift(again[:3])[0] == again[:3]


def test_unsure_and_impossibly_fast_words_go() -> None:
    assert SegmentFilter().reason(segment("mumble", avg_logprob=-1.5)) == "unsure"
    assert SegmentFilter().reason(segment("x" * 200, seconds=1)) == "too fast"
    assert SegmentFilter(unsure=-2).reason(segment("mumble", avg_logprob=-1.5)) is None


@pytest.mark.parametrize(
    ("words", "runs"),
    [
        ("", 0),
        ("one", 1),
        ("no no no", 3),
        ("a b a b a b", 3),
        ("a b c d a b c d", 2),
        ("a a b b", 2),
    ],
)
def test_longest_run(words: str, runs: int) -> None:
    assert longest_run(words.split()) == runs
