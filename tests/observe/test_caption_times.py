"""Times that a captioner wrote: of the recording, of the window, or wrong."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from egomem.observe.caption_times import resolve_times, written_times
from egomem.timeline import Span, format_span

WINDOW = Span(630.0, 660.0)


def test_times_of_the_recording_stay() -> None:
    captions = resolve_times("[10:32-10:40] Opens a drawer.\n[10:41] Drops the keys.", WINDOW)
    assert captions.text == "[10:32-10:40] Opens a drawer.\n[10:41] Drops the keys."
    assert captions.time_base == "recording"
    assert [(e["start"], e["end"]) for e in captions.events] == [(632, 640), (641, 641)]
    assert captions.outside == ()


def test_times_of_the_window_are_moved_to_the_recording() -> None:
    captions = resolve_times("- 0:02-0:10: Opens a drawer.\n- **0:11** Drops the keys.", WINDOW)
    assert captions.text == "[10:32-10:40] Opens a drawer.\n[10:41] Drops the keys."
    assert captions.time_base == "window"


def test_wrong_times_are_flagged_and_not_clamped() -> None:
    captions = resolve_times("[10:32] Opens a drawer.\n[11:30-11:40] Closes it.", WINDOW)
    assert captions.text == "[10:32] Opens a drawer.\nCloses it."
    assert captions.outside == ({"written": "11:30-11:40", "text": "Closes it."},)
    assert len(captions.events) == 1
    half_out = resolve_times("[10:50-11:20] Closes it.", WINDOW)
    assert half_out.events == ()
    assert half_out.outside[0]["written"] == "10:50-11:20"
    backwards = resolve_times("[10:50-10:40] Closes it.", WINDOW)
    assert backwards.events == ()
    assert len(backwards.outside) == 1


@pytest.mark.parametrize(
    "line",
    [
        "The clock on the wall shows 10:45.",
        "3 spoons lie on the table.",
        "10:35 is written on the ticket.",
        "Reads: 12 eggs, 5:30 minutes.",
    ],
)
def test_times_within_a_sentence_are_text(line: str) -> None:
    captions = resolve_times(line, WINDOW)
    assert (captions.text, captions.events, captions.outside, captions.time_base) == (
        line,
        (),
        (),
        None,
    )


@pytest.mark.parametrize(
    ("line", "start", "end"),
    [
        ("00:10:31 - 00:10:35 opens it", 631, 635),
        ("(10:31.5) opens it", 631.5, 631.5),
        ("632.5s-634s: opens it", 632.5, 634),
        ("[10:31 to 10:33] opens it", 631, 633),
        ("**[10:31–10:33]** opens it", 631, 633),
        ("10:31: opens it", 631, 631),
        ("* 10:31 — opens it", 631, 631),
        ("[10:59-11:00] opens it", 659, 660),
    ],
)
def test_ways_to_write_a_time(line: str, start: float, end: float) -> None:
    (event,) = resolve_times(line, WINDOW).events
    assert event == {"start": start, "end": end, "text": "opens it"}


def test_in_the_first_window_both_clocks_are_one() -> None:
    captions = resolve_times("[0:05-0:07] Walks.", Span(0, 30))
    assert captions.events[0]["start"] == 5


@given(st.integers(1, 300), st.sampled_from([30.0, 60.0]), st.integers(0, 29), st.booleans())
def test_either_clock_gives_the_same(number: int, length: float, at: int, local: bool) -> None:
    span = Span(number * length, (number + 1) * length)
    expected = Span(span.start + at, span.start + at + 1)
    written = expected.shift(-span.start) if local else expected
    (event,) = resolve_times(f"[{format_span(written)}] Walks.", span).events
    assert (event["start"], event["end"]) == (expected.start, expected.end)


@given(st.text(max_size=200))
def test_any_text_is_a_caption(text: str) -> None:
    captions = resolve_times(text, WINDOW)
    for event in captions.events:
        assert WINDOW.start - 0.5 <= event["start"] <= event["end"] <= WINDOW.end + 0.5  # type: ignore[operator]


def test_written_times() -> None:
    assert written_times("1:02:03 and 4.5 s, not 12 or 1:2:3:4") == [3723.0, 4.5]
