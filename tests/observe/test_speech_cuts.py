"""A segment is cut where its words leave a gap, in any script; its text is not changed."""

from __future__ import annotations

from egomem.observe.asr_filter import SpeechSegment
from egomem.observe.speech_cuts import cut_at_gaps


def segment(text: str, *words: tuple[float, float, str]) -> SpeechSegment:
    timed = [(start, end, word, 0.9) for start, end, word in words]
    return SpeechSegment(words[0][0], words[-1][1], text, 0.1, -0.2, timed)


def parts(one: SpeechSegment, **options: float) -> list[tuple[float, float, str, int]]:
    return [(p.start, p.end, p.text, len(p.words)) for p in cut_at_gaps(one, **options)]


def test_words_on_both_sides_of_a_silence_are_two_segments() -> None:
    one = segment(
        "Lock the shed, then call Nora.",
        (2.0, 2.3, "Lock"), (2.3, 2.4, "the"), (2.4, 2.9, "shed,"),
        (14.1, 14.4, "then"), (14.4, 14.7, "call"), (14.7, 15.2, "Nora."),
    )  # fmt: skip
    assert parts(one) == [(2.0, 2.9, "Lock the shed,", 3), (14.1, 15.2, "then call Nora.", 3)]
    assert [p.avg_logprob for p in cut_at_gaps(one)] == [-0.2, -0.2]


def test_a_pause_for_breath_is_no_gap() -> None:
    one = segment("So what now?", (0.0, 0.4, "So"), (1.3, 1.6, "what"), (1.6, 2.0, "now?"))
    assert parts(one) == [(0.0, 2.0, "So what now?", 3)]
    assert len(parts(one, max_gap=0.5)) == 2


def test_scripts_without_spaces_and_joined_words_keep_their_text() -> None:
    chinese = segment(
        "钥匙在哪里？在桌上。", (0, 1, "钥匙"), (1, 2, "在哪里？"), (9, 10, "在桌上。")
    )
    assert [p[2] for p in parts(chinese)] == ["钥匙在哪里？", "在桌上。"]
    joined = segment(
        "a well-known way", (0, 1, "a"), (1, 2, "well"), (5, 6, "-known"), (6, 7, "way")
    )
    assert [p[2] for p in parts(joined)] == ["a well", "-known way"]


def test_without_words_or_with_foreign_ones_a_segment_stays_whole() -> None:
    bare = SpeechSegment(0, 20, "Hello there")
    assert list(cut_at_gaps(bare)) == [bare]
    foreign = segment("Hello there", (0, 1, "Good"), (9, 10, "day"))
    assert list(cut_at_gaps(foreign)) == [foreign]
