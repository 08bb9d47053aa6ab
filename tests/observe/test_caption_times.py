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


FORMS = [
    ("2. 10:31 - opens it\n3. 10:35 - shuts it", [(631, 631), (635, 635)]),
    ("1) **10:31–10:35**: opens it", [(631, 635)]),
    ("[631] opens it\n[633-635.5] shuts it", [(631, 631), (633, 635.5)]),
    ("[631250] opens it\n[633000-635000] shuts it", [(631.25, 631.25), (633, 635)]),
    ("[3] opens it\n[5-9] shuts it", [(633, 633), (635, 639)]),
    ("[632000 ms] opens it", [(632, 632)]),
    ("[10m32s] opens it", [(632, 632)]),
    ("10:31~10:35 opens it", [(631, 635)]),
    ("[10:31, 10:35] opens it", [(631, 635)]),
    ("[10:31] [10:35] opens it", [(631, 635)]),
    ("(10:31) - (10:35) opens it", [(631, 635)]),
    ("10:31 → 10:35 opens it", [(631, 635)]),
    ("631 --> 635 opens it", [(631, 635)]),
    ("631-635: opens it", [(631, 635)]),
    ("［10：31～10：35］opens it", [(631, 635)]),
    ("【10:31】opens it", [(631, 631)]),
    ("从10:31到10:35，opens it", [(631, 635)]),
    ("第4帧：opens it", [(634, 634)]),
    ("Frame 4: opens it\nFrames 7-9: shuts it", [(634, 634), (637, 639)]),
    ("At 10:31, opens it", [(631, 631)]),
    ("Between 10:31 and 10:35, opens it", [(631, 635)]),
    ("Step 2 (10:31): opens it", [(631, 631)]),
    ("10:31 opens it\n10:35 shuts it", [(631, 631), (635, 635)]),
    ("| Time | What |\n|---|---|\n| 10:31 - 10:35 | opens it |", [(631, 635)]),
    ("7\n00:10:31,500 --> 00:10:35,000\nopens it\n", [(631.5, 635)]),
    ("## 10:31-10:35\n- opens it\n- shuts it", [(631, 635), (631, 635)]),
    ('[{"start": "10:31", "end": 635, "text": "opens it"}]', [(631, 635)]),
    ('```json\n{"events": [{"time": [3, 5], "action": "opens it"}]}\n```', [(633, 635)]),
    ("1. 0:01 opens it", [(631, 631)]),
    ("1-5s: opens it", [(631, 635)]),
    ("[10:31~] opens it", [(631, 631)]),
    ("第 4 帧 opens it", [(634, 634)]),
    ('[{"frames": [4, 9], "text": "opens it"}]', [(634, 639)]),
    ('[{"t_start": 631, "t_end": 635, "text": "opens it"}]', [(631, 635)]),
    ('{"caption": "[10:31] opens it\\n[10:35] shuts it"}', [(631, 631), (635, 635)]),
    ('{"10:31-10:35": "opens it"}', [(631, 635)]),
    ('[{"start_ms": 631000, "end_ms": 635000, "caption": "opens it"}]', [(631, 635)]),
    ('{"timestamp": "10:31", "text": "opens it"}\n{"timestamp": "10:3', [(631, 631)]),
]


@pytest.mark.parametrize(("caption", "spans"), FORMS)
def test_forms_that_models_write(caption: str, spans: list[tuple[float, float]]) -> None:
    resolved = resolve_times(caption, WINDOW)
    assert [(e["start"], e["end"]) for e in resolved.events] == spans
    assert str(resolved.events[0]["text"]) == "opens it"
    assert "{" not in resolved.text
    assert (resolved.outside, resolved.unread) == ((), 0)


@pytest.mark.parametrize("text", ["[" * 50_000, '{"a":' * 50_000, "[10:05-" * 5_000])
def test_brackets_without_end_are_a_caption_without_times(text: str) -> None:
    assert resolve_times(text, WINDOW).events == ()


def test_fields_of_json_beside_the_text_are_kept() -> None:
    (event,) = resolve_times(
        '[{"time": "10:31", "objects": ["jug", "tap"], "action": "fills it"}]', WINDOW
    ).events
    assert event["text"] == "fills it; objects: jug, tap"


@pytest.mark.parametrize("line", ["[-0:05] opens it", "- [-5 s] opens it", "[−5] opens it"])
def test_a_negative_time_is_outside(line: str) -> None:
    resolved = resolve_times(line, WINDOW)
    assert (resolved.events, len(resolved.outside), resolved.text) == ((), 1, "opens it")


def test_a_dash_that_is_glued_to_a_time_is_a_list_mark() -> None:
    assert len(resolve_times("-10:31 opens it\n-10:35 shuts it", WINDOW).events) == 2


@pytest.mark.parametrize(
    "line",
    [
        "[10:75] opens it",
        "[8:31 PM] opens it",
        "1:2:3:4 - opens it",
        '[{"time": "10:99", "text": "opens it"}]',
    ],
)
def test_times_that_cannot_be_read_are_counted(line: str) -> None:
    resolved = resolve_times(line, WINDOW)
    assert (resolved.events, resolved.outside, resolved.unread) == ((), (), 1)
    assert "opens it" in resolved.text


@pytest.mark.parametrize(
    ("caption", "text"),
    [
        ("[1] opens it\n[2] shuts it", "opens it\nshuts it"),
        ("[2 people] come in", "[2 people] come in"),
        ("10:31 - 3 spoons lie there", "[10:31] 3 spoons lie there"),
        ("[10:31] - 10 seconds later it shuts", "[10:31] 10 seconds later it shuts"),
        ("2. opens it", "opens it"),
        ("50% of it is gone", "50% of it is gone"),
    ],
)
def test_counts_and_list_numbers_are_no_times(caption: str, text: str) -> None:
    assert resolve_times(caption, WINDOW).text == text


def test_frame_numbers_mean_the_frames_that_were_sent() -> None:
    sent = [632.5, 642.5, 652.5]
    from_zero = resolve_times("[frame 0] opens it\n[frame 2] shuts it", WINDOW, sent)
    from_one = resolve_times("[frame 1] opens it\n[frame 3] shuts it", WINDOW, sent)
    for resolved in (from_zero, from_one):
        assert [e["start"] for e in resolved.events] == [632.5, 652.5]
    assert len(resolve_times("[frame 9] opens it", WINDOW, sent).outside) == 1


def test_written_times() -> None:
    assert written_times("1:02:03 and 4.5 s, not 12 or 1:2:3:4") == [3723.0, 4.5]


@pytest.mark.parametrize(
    ("caption", "spans"),
    [
        (
            'Here it is:\n\n```json\n[{"start": "10:31", "end": "10:36", "text": "cuts"}]\n```',
            [(631, 636)],
        ),
        ('[["10:31", "10:36", "cuts"], ["10:40", "10:44", "stirs"]]', [(631, 636), (640, 644)]),
        ("~10:31 cuts\n≈10:40 stirs", [(631, 631), (640, 640)]),
        ("T+3s: cuts\nT+9s: stirs", [(633, 633), (639, 639)]),
        ("Second 3: cuts\nSecond 9: stirs", [(633, 633), (639, 639)]),
        ("<timestamp>10:31</timestamp> cuts", [(631, 631)]),
        (
            "| # | Start | End | Event |\n|---|---|---|---|\n| 1 | 10:31 | 10:36 | cuts |"
            "\n| 2 | 10:40 | 10:44 | stirs |",
            [(631, 636), (640, 644)],
        ),
        ("Second 3 cups are put down.", []),
    ],
)
def test_forms_of_other_captioners(caption: str, spans: list[tuple[float, float]]) -> None:
    captions = resolve_times(caption, WINDOW)
    assert [(e["start"], e["end"]) for e in captions.events] == spans
    assert "10:" not in " ".join(str(e["text"]) for e in captions.events)
