"""Yes and no only where an observation says so; latest places; how long ago."""

from datetime import datetime

import pytest

from egomem.answer.extractive import verdicts
from egomem.answer.extractive.verdicts import alternatives
from egomem.claims import has_parser, judging
from egomem.records import Question

parser = pytest.mark.skipif(not has_parser(), reason="the claims extra is not installed")


@pytest.fixture
def week(store, caption, recording):
    """Three mornings of somebody with a bike, a wallet and a cat."""
    for k, day in enumerate(("02", "04", "05")):
        store.put_recording(recording(f"day{k}", 600, f"2026-03-{day}T08:00:00+01:00"))
    store.add(
        [
            caption("day0", 0, 5, "I lay my wallet on the piano."),
            caption("day0", 20, 25, "I do not feed the cat."),
            caption("day0", 40, 45, "I switch on the heater."),
            caption("day0", 60, 65, "There is no bread in the cupboard."),
            caption("day0", 80, 85, "Remember to call the dentist.", "speech", speaker="Mia"),
            caption("day0", 100, 105, "I plan to sell the bike."),
            caption("day0", 120, 125, "Jon hands Mia a map."),
            caption("day0", 140, 145, "The ferry to Kiel was late.", "speech", speaker="Jon"),
            caption("day1", 0, 5, "I move my wallet from the piano into the desk drawer."),
            caption("day1", 30, 35, "I wash the bike."),
            caption("day2", 10, 15, "I take my wallet and pay the baker."),
            caption("day2", 40, 45, "I wash the bike."),
            caption("day2", 60, 65, "The gate is closed."),
        ]
    )
    return store


@pytest.fixture
def answer(week, run):
    def answered(text, options=(), at=None):
        moment = datetime.fromisoformat(at) if at else None
        return run(week.view(moment), Question.of(text, tuple(options), at=moment))

    return answered


@parser
@pytest.mark.parametrize(
    ("question", "start"),
    [
        ("Did I wash the bike?", "Yes"),
        ("Did I turn on the heater?", "Yes"),
        ("Did Mia receive a map from Jon?", "Yes"),
        ("Was there a map?", "Yes"),
        ("Did I feed the cat?", "No"),
        ("Was there bread in the cupboard?", "No"),
        ("Is the gate open?", "No"),
        ("Did I switch off the heater?", "Neither"),
        ("Did Mia hand Jon a map?", "Neither"),
        ("Did I sell the bike?", "Not observed itself; a plan"),
        ("Did I call the dentist?", "Not observed itself; Mia said"),
        ("Was the ferry to Kiel on time?", "Not observed itself; Jon said"),
    ],
)
def test_a_verdict_is_what_an_observation_says(answer, question, start):
    reply = answer(question)
    assert reply.text.startswith(start), reply.text
    if start.startswith("N") and start != "No":
        assert reply.confidence <= 0.5


@pytest.mark.parametrize("question", ["Is she here?", "Did anybody come?", "Was anyone there?"])
def test_a_question_that_nothing_speaks_to_has_no_answer(answer, question):
    assert answer(question).abstained


@pytest.mark.parametrize("question", ["?", "the", "Is it?"])
def test_a_question_without_content_asks_for_a_question(answer, question):
    reply = answer(question)
    assert reply.abstained
    assert "ask a question" in reply.text


@parser
def test_what_was_not_done_is_not_counted(answer):
    assert answer("How many times did I feed the cat?").abstained
    assert answer("How many times did I wash the bike?").text.startswith("Observed twice")


@parser
def test_either_or_names_one_side_or_none(answer):
    assert "wash the bike" in answer("Did I wash the bike or the car?").text
    assert answer("Did I paint the bike or the gate?").abstained


@pytest.mark.parametrize(
    ("question", "sides"),
    [
        ("Did I put it in the box or on the bed?", ("Did I put it in the box?",
         "Did I put it on the bed?")),
        ("Was it the cat or a fox?", ("Was it the cat?", "Was it a fox?")),
        ("Where is the cat or the dog?", None),
        ("Did I eat?", None),
    ],
)  # fmt: skip
def test_the_sides_of_an_either_or_question(question, sides):
    assert alternatives(question) == sides


def test_without_a_parser_the_same_words_alone_conclude(answer, monkeypatch):
    monkeypatch.setattr(verdicts, "has_parser", lambda: False)
    monkeypatch.setattr(judging, "has_parser", lambda: False)
    assert answer("Did I wash the bike?").text.startswith("Yes")
    assert answer("Did I feed the cat?").text.startswith("No,")
    assert answer("Did I turn on the heater?").abstained
    assert answer("Did Mia hand Jon a map?").text.startswith("Neither")


@pytest.mark.parametrize(
    "question",
    ["Where is my wallet?", "Where did I leave my wallet?", "Where did I last put my wallet?",
     "Where is my wallet right now?"],
)  # fmt: skip
def test_a_thing_is_where_it_was_put_last(answer, question):
    text = answer(question).text
    assert text.index("desk drawer") < text.index("before that") < text.index("on the piano")
    early = answer(question, at="2026-03-03T12:00:00+01:00").text
    assert "on the piano" in early
    assert "drawer" not in early


def test_of_options_the_last_place_is_chosen(answer):
    options = ["on the piano", "in the desk drawer"]
    assert answer("Where did I leave my wallet?", options).choice == "B"
    early = answer("Where is my wallet?", options, at="2026-03-03T12:00:00+01:00")
    assert early.choice == "A"


@pytest.mark.parametrize(
    ("at", "length"),
    [("2026-03-05T08:30:45+01:00", "30 minutes"), ("2026-03-08T08:00:00+01:00", "3 days"),
     ("2026-03-04T11:00:00+01:00", "3 hours")],
)  # fmt: skip
def test_how_long_ago_is_reckoned_from_the_last_time(answer, at, length):
    for question in ("How long ago did I wash the bike?", "How long since I washed the bike?"):
        assert answer(question, at=at).text.startswith(f"About {length} ago")


@parser
@pytest.mark.parametrize(
    ("question", "start"),
    [
        ("Is the heater on?", "No"),
        ("Is the heater off?", "Yes"),
        ("Did I water the fern?", "No"),
        ("When did I last water the fern?", "Not in this memory"),
        ("How many times did I water the fern?", "Not in this memory"),
    ],
)
def test_a_state_denied_and_what_nobody_did(store, caption, recording, run, question, start):
    store.put_recording(recording("hut", 60, "2026-03-02T08:00:00+01:00"))
    store.add([caption("hut", 0, 10, "The heater is off."),
               caption("hut", 20, 30, "Nobody waters the fern.")])  # fmt: skip
    reply = run(store.view(), Question.of(question))
    assert (reply.text or "Not in this memory").startswith(start)
