from __future__ import annotations

import asyncio

from egomem.observe import TemplateCaptioner, Window, compose
from egomem.records import Observation, Recording, Source, Track
from egomem.timeline import Span


def observation(source: Source, start: float, end: float, text: str, **data: str) -> Observation:
    return Observation(
        recording="rec",
        span=Span(start, end),
        text=text,
        source=source,
        track=source,
        data={**data},
    )


def caption(
    recording: Recording, *observations: Observation, start: float = 0, end: float = 30
) -> Observation | None:
    window = Window(recording, Span(start, end), (), observations)
    captions = asyncio.run(TemplateCaptioner(30).observe(window))
    return captions[0] if captions else None


def test_a_caption_tells_things_changes_text_and_words_in_plain_english(
    recording: Recording,
) -> None:
    observations = (
        observation("speech", 3, 6, "Where is the cup?"),
        observation("object", 0, 30, "2 to 3 bottles"),
        observation("object", 6, 7, "a bottle leaves, 2 bottles remain", event="leaves"),
        observation("object", 10, 12, "1 person"),
        observation("screen_text", 1, 9, "EXIT"),
        observation("screen_text", 12, 14, "Gate B-17"),
    )
    got = caption(recording, *observations)
    assert got is not None
    assert got.text == (
        "In view: 2 to 3 bottles and 1 person. At 0:07 a bottle leaves, 2 bottles remain. "
        "Text in view: “EXIT” and “Gate B-17”. Words heard: “Where is the cup?”"
    )
    assert got.span == Span(0, 30)
    assert got.wearer == "ann"
    assert set(got.provenance.rests_on) == {o.id for o in observations}
    assert got.provenance.note
    assert "no vision-language model" in got.provenance.note


def test_words_that_run_over_the_end_are_told_by_the_next_window(recording: Recording) -> None:
    over = observation("speech", 28, 33, "See you at ten.")
    assert caption(recording, over) is None
    later = caption(recording, over, start=30, end=60)
    assert later is not None
    assert "See you at ten." in later.text


def test_what_ended_before_the_window_is_not_told_again(recording: Recording) -> None:
    assert caption(recording, observation("object", 0, 30, "1 cup"), start=30, end=60) is None


def test_other_tracks_of_a_source_that_is_observed_here_are_left_alone(
    recording: Recording,
) -> None:
    track = Track(source="object", observer="opencv", sampling="1fps")
    mine = observation("object", 0, 9, "1 cup").model_copy(update={"track": track.id})
    other, imported = (
        observation("object", 0, 9, "2 cups"),
        observation("speech", 1, 2, "Two cups, please."),
    )
    composed = TemplateCaptioner(30, [track])
    window = Window(recording, Span(0, 30), (), (mine, other, imported))
    (got,) = asyncio.run(composed.observe(window))
    assert got.text == "In view: 1 cup. Words heard: “Two cups, please.”"
    finer = Track(source="object", observer="opencv", sampling="2fps")
    assert (
        len({c.track.id for c in (composed, TemplateCaptioner(30), TemplateCaptioner(30, [finer]))})
        == 3
    )


def test_the_last_window_takes_words_past_the_end_of_the_picture(recording: Recording) -> None:
    got = caption(recording, observation("speech", 88, 91.5, "Goodbye."), start=60, end=90)
    assert got is not None
    assert "Goodbye." in got.text


def test_a_window_in_which_nothing_was_recognised_has_no_caption(recording: Recording) -> None:
    assert caption(recording) is None
    assert caption(recording, observation("caption", 0, 30, "another caption")) is None


def test_many_lines_are_cut_to_those_that_stood_longest() -> None:
    ticks = [observation("screen_text", k, k + 1, f"0:{k:02d}") for k in range(20)]
    text = compose([observation("screen_text", 0, 20, "Station clock"), *ticks])
    assert "Station clock" in text
    assert text.count("“") == 12
