from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from egomem.recall import find, read_query, search
from egomem.recall.signals import hinted_places
from egomem.records import Recording
from egomem.timeline import Clock, RecordingTime

from .conftest import observation, recording

NOW = datetime(2026, 3, 4, 18, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("question", "relation", "event", "rest"),
    [
        ("What did I do after washing the cup?", "after", "washing the cup", "What did I do ?"),
        ("Where were my keys before I went out?", "before", "I went out", "Where were my keys ?"),
        ("While cooking, what fell down?", "while", "cooking", "what fell down?"),
        ("What was on the table when I came in?", "while", "I came in", "What was on the table ?"),
        ("What did I say right after the call, in the hall?", "after", "the call",
         "What did I say , in the hall?"),
    ],
)  # fmt: skip
def test_anchors(question, relation, event, rest):
    read = read_query(question)
    assert (read.anchor.relation, read.anchor.event) == (relation, event)
    assert read.target_text == rest


@pytest.mark.parametrize(
    "question", ["When did I use the knife?", "Who looks after?", "What was left before?", ""]
)
def test_no_anchor(question):
    assert read_query(question).anchor is None


@pytest.mark.parametrize(
    ("question", "order"),
    [
        ("When did I last use the drill?", "last"),
        ("When was the last time I saw Ana?", "last"),
        ("What did I most recently cook?", "last"),
        ("Where did I leave my keys?", "last"),
        ("Where are my glasses?", "last"),
        ("When did I first open the fridge?", "first"),
        ("Where is the first aid kit?", None),
        ("What did I eat last Tuesday?", None),
        ("How long did the last bus take?", "last"),
        ("What is her last name?", None),
        ("What did I see first?", "first"),
    ],
)
def test_order(question, order):
    assert read_query(question, now=NOW).order == order


def test_clock_times_are_bounds_and_leave_the_text():
    read = read_query("What did I eat yesterday evening?", now=NOW)
    (bound,) = read.bounds
    assert bound.instants.start == datetime(2026, 3, 3, 18, tzinfo=UTC)
    assert read.search_text == "What did I eat ?"


def test_a_time_that_cannot_be_resolved_is_said():
    read = read_query("What did I eat yesterday?")
    assert read.bounds == ()
    assert len(read.unresolved) == 1
    assert "yesterday" in read.unresolved[0]


def test_hints():
    assert read_query("What is he holding at the beginning?").part == "start"
    assert read_query("Where does she sit near the end?").part == "end"
    assert hinted_places(read_query("the last thing at 1:00"), 240.0) == (1.0, 0.25)


@given(st.text(max_size=60))
def test_any_text_can_be_read(text):
    assert read_query(text, now=NOW).text == text


DAY = [
    "cooks soup",
    "washes the blue cup",
    "puts the blue cup on the shelf",
    "answers the phone",
    "waters the plants",
    "reads a book",
]


def starts(hits):
    return [h.span.start for h in hits]


def test_after_an_event_comes_what_follows_it(film):
    view = film(*DAY).view()
    assert starts(search(view, "What did I do after answering the phone?"))[0] == 120
    assert starts(search(view, "What did I do before answering the phone?"))[0] == 60
    assert starts(search(view, "What happened while I was reading?"))[0] == 150


def test_the_anchor_is_counted_from_the_end_of_what_tells_of_it(film):
    store = film("answers the phone", "", step=100.0)
    store.add([observation("r", 90, 95, "sits"), observation("r", 104, 110, "stands up")])
    hits = search(store.view(), "What happened after answering the phone?", window=5.0)
    assert hits[0].text == "stands up"


def test_an_anchor_may_lie_in_another_recording_of_the_same_day(store):
    store.put_recording(recording("a", 60, hours=0))
    store.put_recording(recording("b", 60, hours=0.05))
    store.put_recording(recording("c", 60, hours=9))
    store.add(
        [
            observation("a", 0, 30, "locks the door"),
            observation("b", 0, 30, "drives a car"),
            observation("c", 0, 30, "drives a bus"),
        ]
    )
    hits = search(store.view(), "What did I do after locking the door?")
    assert hits[0].recording == "b"


def test_the_latest_mention_wins_for_last_and_the_earliest_for_first(film):
    view = film("keys on the table", "a wall", "keys in the drawer", "a tree").view()
    assert starts(search(view, "Where did I last put the keys?"))[:2] == [60, 0]
    assert starts(search(view, "Where did I first put the keys?"))[:2] == [0, 60]


def test_a_weak_match_does_not_win_for_being_late(film):
    view = film("the red toolbox key on the table", "a tree", "a red wall").view()
    assert starts(search(view, "Where did I last put the red toolbox key?"))[0] == 0


def test_a_clock_time_bounds_the_search(film):
    view = film("a mug", "a mug", "a mug", "a mug", step=600.0, hours=0).view()
    result = find(view, "Where was the mug at 8:25 am?", now=NOW.replace(day=2))
    assert result.hits
    assert all(1170 <= h.span.start <= 1830 for h in result.hits)
    assert find(view, "Where was the mug yesterday?", now=NOW.replace(day=2)).hits == []


def test_now_is_the_end_of_the_view(store):
    store.put_recording(recording("old", 60, hours=0))
    store.put_recording(recording("new", 60, hours=24))
    store.add([observation("old", 0, 9, "a mug"), observation("new", 0, 9, "a mug")])
    at = RecordingTime("new", 60.0)
    assert [h.recording for h in search(store.view(at), "Where was the mug yesterday?")] == ["old"]
    assert len(search(store.view(at), "Where was the mug?")) == 2


def test_local_times_are_those_of_the_recording(store):
    zone = timezone(timedelta(hours=5))
    start = datetime(2026, 3, 2, 9, 0, tzinfo=zone)
    store.put_recording(Recording(id="r", name="r", duration=7200.0, clock=Clock(start)))
    store.add([observation("r", 0, 30, "a mug"), observation("r", 3600, 3630, "a mug")])
    now = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
    assert starts(search(store.view(), "Where was the mug at 10 am?", now=now)) == [3600]


def test_recordings_without_a_clock_are_left_out_of_a_clock_time_and_that_is_said(store):
    store.put_recording(recording("a", 60, hours=0))
    store.put_recording(recording("b", 60))
    store.add([observation("a", 0, 9, "a mug"), observation("b", 0, 9, "a mug")])
    result = find(store.view(), "Where was the mug at 8 am?", now=NOW.replace(day=2))
    assert [h.recording for h in result.hits] == ["a"]
    assert "no clock was left out (1 recording)" in result.notes[0]


def test_a_time_of_a_recording_bounds_one_recording_only(film):
    store = film(*["a mug"] * 20)
    assert {h.span.start for h in search(store.view(), "the mug at 5:00")} <= {270, 300}
    store.put_recording(recording("s", 60))
    result = find(store.view(), "the mug at 5:00")
    assert len(result.hits) == 10
    assert "one recording" in result.notes[0]
