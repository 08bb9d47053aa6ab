"""The lenient reader keeps every cue it can make sense of; the validator is strict."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from egomem.media import Cue, read_subtitles, write_srt, write_webvtt
from egomem.timeline import Span

from ..webvtt import validate_webvtt


def spans(text: str) -> list[tuple[float, float]]:
    return [(cue.span.start, cue.span.end) for cue in read_subtitles(text)[0]]


def texts(text: str) -> list[str]:
    return [cue.text for cue in read_subtitles(text)[0]]


def warned(text: str) -> list[str]:
    return [str(warning) for warning in read_subtitles(text)[1]]


@pytest.mark.parametrize(
    ("line", "span"),
    [
        ("59:16.403 --> 1:04:13.283", (3556.403, 3853.283)),
        ("00:01.000 --> 00:02.000", (1, 2)),
        ("0:00:01,5 --> 0:00:02,25", (1.5, 2.25)),
        ("75:30.000 --> 100:00.000", (4530, 6000)),
        ("123:00:00.000 --> 123:00:01.000", (442800, 442801)),
        ("00:00:01 --> 00:00:02", (1, 2)),
        ("  00:00:01,000  -->  00:00:02,000  ", (1, 2)),
        ("00:00:01,000->00:00:02,000", (1, 2)),
        ("00:01.000 --> 00:02.000 line:10.5% position:50.25%,center align:start", (1, 2)),
        ("00:00:01,000 --> 00:00:02,000 X1:100 X2:200 Y1:10 Y2:20", (1, 2)),
    ],
)
def test_times(line: str, span: tuple[float, float]) -> None:
    assert spans(f"{line}\nHello") == [span]
    assert warned(f"{line}\nHello") == []


def test_srt_with_a_mark_crlf_dots_no_index_and_two_cues_at_one_time() -> None:
    srt = (
        "\ufeff1\r\n00:00:01,000 --> 00:00:02,000\r\nOne\r\n\r\n"
        "00:00:03.000 --> 00:00:04.000\r\nTwo\r\n\r\n"
        "3\r\n00:00:03,000 --> 00:00:04,000\r\n<i>Three</i>\r\n{\\an8}and more &amp; more\r\n"
    )
    cues, warnings = read_subtitles(srt)
    assert [cue.text for cue in cues] == ["One", "Two", "Three\nand more & more"]
    assert [cue.span.start for cue in cues] == [1, 3, 3]
    assert [cue.line for cue in cues] == [2, 5, 9]
    assert warnings == []


def test_blocks_that_are_no_cues_are_passed_over() -> None:
    vtt = """WEBVTT - a title
Kind: captions

NOTE
a note --- with text

STYLE
::cue { color: red }

stray text

intro
00:01.000 --> 00:02.000
One

NOTE a comment

2
00:03.000 --> 00:04.000
Two
"""
    assert texts(vtt) == ["One", "Two"]
    assert warned(vtt) == ["line 10: text outside of any cue: 'stray text'"]


def test_a_blank_line_in_a_cue_an_empty_cue_and_impossible_times() -> None:
    srt = """1
00:00:01,000 --> 00:00:02,000
One

and still one

2
00:00:03,000 --> 00:00:04,000

3
00:00:06,000 --> 00:00:05,000
Never

4
00:00:0x,000 --> 00:00:05,000
Neither

5
00:00:07,000 --> 00:00:08,000
Two
"""
    assert texts(srt) == ["One\nand still one", "Two"]
    assert warned(srt) == [
        "line 5: a blank line inside a cue",
        "line 8: a cue without text",
        "line 11: a span cannot end (5.0 s) before it starts (6.0 s)",
        "line 15: cannot read the times '00:00:0x,000 --> 00:00:05,000'",
    ]


def test_cues_without_blank_lines_between() -> None:
    srt = "1\n00:01.0 --> 00:02.0\nAt 7\n2\n00:02.0 --> 00:03.0\n42\n00:03.0 --> 00:04.0\nTwo\n"
    assert texts(srt) == ["At 7", "42", "Two"]


def test_cues_come_in_the_order_of_their_start() -> None:
    assert texts("00:03.0 --> 00:04.0\nTwo\n\n00:01.0 --> 00:02.0\nOne\n") == ["One", "Two"]


def test_what_follows_the_times_and_is_no_setting_is_said() -> None:
    assert warned("00:01.0 --> 00:02.0 hello there\nHi") == [
        "line 1: skipped 'hello there' after the times"
    ]


def test_voices_and_tags() -> None:
    vtt = "WEBVTT\n\n00:01.0 --> 00:02.0\n<v.loud Ann &amp; Bo>Hi <c.red>you</c> <3 x < y</v>\n"
    (cue,), _ = read_subtitles(vtt)
    assert (cue.speaker, cue.text) == ("Ann & Bo", "Hi you <3 x < y")


def test_a_text_without_cues_is_said_to_have_none() -> None:
    assert warned("") == ["no cue was found"]
    assert warned("WEBVTT\n") == ["no cue was found"]


ROLLING = """WEBVTT
Kind: captions
Language: en

00:00:00.160 --> 00:00:02.070 align:start position:0%
 
I<00:00:00.480><c> take</c><00:00:01.000><c> the</c><00:00:01.300><c> cup</c>

00:00:02.070 --> 00:00:02.080 align:start position:0%
I take the cup
 

00:00:02.080 --> 00:00:04.510 align:start position:0%
I take the cup
and<00:00:02.400><c> wash</c><00:00:02.900><c> it</c>

00:00:04.510 --> 00:00:04.520 align:start position:0%
and wash it
 

00:00:04.520 --> 00:00:06.000 align:start position:0%
and wash it
and<00:00:05.000><c> wash</c><00:00:05.200><c> it</c>
"""  # noqa: W293


def test_rolling_captions_are_read_once() -> None:
    cues, warnings = read_subtitles(ROLLING)
    assert [cue.text for cue in cues] == ["I take the cup", "and wash it", "and wash it"]
    assert [cue.span for cue in cues] == [Span(0.16, 2.08), Span(2.08, 4.52), Span(4.52, 6.0)]
    assert warnings == []


def test_rolling_captions_are_known_without_word_times_and_songs_are_left_alone() -> None:
    lines = ["I take the cup", "and wash it", "then I dry it", "and put it away"]
    rolled = "\n\n".join(
        f"00:0{k}.000 --> 00:0{k + 1}.000\n" + "\n".join(lines[max(k - 1, 0) : k + 1])
        for k in range(4)
    )
    assert texts(rolled) == lines
    song = "\n\n".join(f"00:0{k}.000 --> 00:0{k + 1}.000\nla la la" for k in range(6))
    assert texts(song) == ["la la la"] * 6


# -- the standard ----------------------------------------------------------------------------------


def test_the_validator_is_strict() -> None:
    right = "WEBVTT\n\nNOTE hello\n\nid\n00:01.000 --> 00:02.000 align:start line:10.5%\nOne\n\n"
    assert validate_webvtt(right) == []
    wrong = """WEBVT
Kind: captions

00:02.000 --> 00:03.000
One

00:01.000 --> 0:02.000
Two

00:01.000 --> 00:01.000 align:middle
Three

lonely
"""
    assert [str(fault) for fault in validate_webvtt(wrong)] == [
        "line 1: the first line is not WEBVTT",
        "line 2: no blank line below the header",
        "line 7: the times '00:01.000 --> 0:02.000' are not of the form [HH:]MM:SS.mmm",
        "line 10: the cue does not end after it starts",
        "line 10: the cue starts before the one above it",
        "line 10: unknown cue setting 'align:middle'",
        "line 13: a block without times",
    ]
    assert validate_webvtt("WEBVTT\n\n00:75.000 --> 00:76.000\nOne\n")


# -- writing ---------------------------------------------------------------------------------------

_TEXT = st.text(st.characters(exclude_categories=["C", "Z"], include_characters=" \n"), min_size=1)
_CUES = st.lists(
    st.builds(
        lambda start, length, text: Cue(Span(start / 1000, (start + length) / 1000), text),
        st.integers(0, 10**7),
        st.integers(1, 10**5),
        _TEXT.filter(str.strip),
    ),
    min_size=1,
    max_size=5,
)


@given(_CUES, _TEXT)
def test_what_is_written_is_right_and_comes_back(cues: list[Cue], note: str) -> None:
    cues.sort(key=lambda cue: cue.span.start)
    vtt = write_webvtt(cues, notes=[note])
    assert validate_webvtt(vtt) == []
    back, warnings = read_subtitles(vtt)
    assert warnings == []
    assert [cue.span for cue in back] == [cue.span for cue in cues]
    for one, other in zip(cues, back, strict=True):
        assert other.text.split() == one.text.replace("-->", "→").split()


def test_srt_is_written_with_numbers_commas_and_speakers() -> None:
    srt = write_srt([Cue(Span(1, 2.5), "Hi\n\nyou", "Ann"), Cue(Span(3600, 3600), "a --> b")])
    assert srt == (
        "1\n00:00:01,000 --> 00:00:02,500\nAnn: Hi\nyou\n\n"
        "2\n01:00:00,000 --> 01:00:00,001\na → b\n"
    )
    assert [(c.speaker, c.text) for c in read_subtitles(srt)[0]] == [
        ("Ann", "Hi\nyou"),
        (None, "a → b"),
    ]


@given(st.text(st.sampled_from("01 :.,->\nab<c>WEBVTTNOTE\r\ufeff"), max_size=80))
def test_no_text_breaks_the_readers(text: str) -> None:
    read_subtitles(text)
    validate_webvtt(text)


def turns(text: str) -> list[tuple[str | None, str]]:
    return [(cue.speaker, cue.text) for cue in read_subtitles(text)[0]]


def test_each_voice_of_a_cue_is_a_cue_of_its_own() -> None:
    vtt = (
        "WEBVTT\n\n00:05.000 --> 00:09.000\n<v.loud Mia>Who took the drill?</v> (a pause)\n"
        "<v Tom>I did.\nIt hangs by the door.\n<v Mia>Fine.</v>\n"
    )
    assert turns(vtt) == [
        ("Mia", "Who took the drill?\nFine."),
        (None, "(a pause)"),
        ("Tom", "I did.\nIt hangs by the door."),
    ]
    assert spans(vtt) == [(5, 9)] * 3


@pytest.mark.parametrize(
    "bad",
    [
        "00:00:03:500 --> 00:00:04:500",
        "00:00:03,500 → 00:00:04,500",
        "-00:00:00,500 --> 00:00:00,700",
        "00:00:04,500 --> 00:00:03,500",
        "00:00:03,500 -- > 00:00:04,500",
        "00:00:03,500 --> ",
        "00:00:03.500 00:00:04.500",
    ],
)
def test_a_cue_whose_times_cannot_be_read_leaves_nothing_in_the_cue_before(bad: str) -> None:
    srt = f"7\n00:00:01,000 --> 00:00:02,000\nKeep.\n\n8\n{bad}\nLost.\nwords\n\n"
    srt += "9\n00:00:06,000 --> 00:00:07,000\n1969\n"
    cues, warnings = read_subtitles(srt)
    assert [cue.text for cue in cues] == ["Keep.", "1969"]
    assert [(warning.line, warning.lost) for warning in warnings] == [(6, True)]


def test_a_cue_without_times_is_named_and_a_number_that_is_said_is_kept() -> None:
    srt = (
        "1\n00:00:01,000 --> 00:00:02,000\nThe year is\n\n1969\n\n"
        "2\nno times here\n\n3\n00:00:06,000 --> 00:00:07,000\nEnd.\n"
    )
    cues, warnings = read_subtitles(srt)
    assert [cue.text for cue in cues] == ["The year is\n1969", "End."]
    assert [(w.line, w.message) for w in warnings if w.lost] == [(7, "a cue without times")]
