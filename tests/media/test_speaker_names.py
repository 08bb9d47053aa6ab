"""Words before a colon are a speaker where the file writes names so, and else stay words."""

from __future__ import annotations

import pytest

from egomem.media.speaker_names import split_turns


def said(*texts: str) -> list[tuple[str | None, str]]:
    return [turn for turns in split_turns([(None, text) for text in texts]) for turn in turns]


@pytest.mark.parametrize(
    ("text", "turn"),
    [
        ("Lena Vogt: I parked by the mill.", ("Lena Vogt", "I parked by the mill.")),
        ("Dr. J. van der Berg: it heals", ("Dr. J. van der Berg", "it heals")),
        ("Zoë O'Neil (Guest): hello", ("Zoë O'Neil (Guest)", "hello")),
        ("[SPEAKER_03]: hello", ("SPEAKER_03", "hello")),
        ("Speaker 2: 10:30 is fine", ("Speaker 2", "10:30 is fine")),
        (">> HOST: Welcome", ("HOST", "Welcome")),
        ("- Lena: Where?", ("Lena", "Where?")),
        ("Chloé : bonjour", ("Chloé", "bonjour")),
        ("王芳：钥匙在抽屉里", ("王芳", "钥匙在抽屉里")),
    ],
)
def test_names_before_the_words(text: str, turn: tuple[str, str]) -> None:
    assert said(text) == [turn]


@pytest.mark.parametrize(
    "text",
    [
        "Remember: two eggs", "so he said: come in", "Note: the door is open", "at 10:30 we left",
        "https://example.org/a", "Step 3: add salt", "it is this: nothing",
    ],
)  # fmt: skip
def test_words_before_a_colon_that_are_no_name(text: str) -> None:
    assert said(text) == [(None, text)]


def test_a_single_word_is_a_name_where_it_comes_again_or_most_cues_have_one() -> None:
    rest = ("I walk on", "the rain stops", "a dog barks", "we turn left")
    assert said("Berlin: the last stop", *rest)[0] == (None, "Berlin: the last stop")
    assert said("Nils: the last stop", *rest, "Nils: out")[0] == ("Nils", "the last stop")
    assert said("Nils: yes", "Mara: no")[1] == ("Mara", "no")


def test_a_cue_with_two_names_is_two_turns_and_a_voice_tag_stays_whole() -> None:
    assert said("Nils: where is it?\nMara: in the shed\nbehind the saw") == [
        ("Nils", "where is it?"),
        ("Mara", "in the shed\nbehind the saw"),
    ]
    assert split_turns([("Mara", "Nils: he said"), (None, "Mara: yes")]) == [
        [("Mara", "Nils: he said")],
        [("Mara", "yes")],
    ]
