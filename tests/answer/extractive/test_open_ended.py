"""Open questions of every kind, against a day whose truth is known."""

from __future__ import annotations

from datetime import datetime

import pytest

from egomem.records import Question, Status
from egomem.timeline import RecordingTime, Span


@pytest.mark.parametrize(
    ("question", "says", "recording", "span"),
    [
        ("When did the bus appear?", "0:04-0:07", "street", (4, 7)),
        ("When did the bus first appear?", "08:10:04", "street", (4, 7)),
        ("When did I last see the bus?", "0:15-0:18", "street", (15, 18)),
        ("When did the bus leave?", "At 0:07", "street", (6, 7)),
        ("When did the car disappear?", "Last seen at 0:12", "street", (0, 12)),
        ("What did the sign say?", "MARKET HALL", "street", (9, 11)),
        ("What was written on the sign in the street?", "MARKET HALL", "street", (9, 11)),
        ("When did the sign read “market hall”?", "0:09-0:11", "street", (9, 11)),
        ("What did Ana say about her dog?", "ate the concert tickets", "call", (9, 12)),
        ("Where is the spare key?", "Under the blue flower pot", "call", (5, 8)),
        ("Who bought a drum kit?", "Ben", "call", (13, 16)),
        ("What did I do after whisking the eggs?", "open the fridge again", "kitchen", (24, 27)),
        ("What did I do before I whisked the eggs?", "crack the eggs", "kitchen", (6, 12)),
        ("After washing the bowl, what was said?", "我把红色杯子放在桌子上", "kitchen", (45, 50)),
        ("How many cars were there?", "3 at most at once", "street", (0, 12)),
        ("How many eggs did I take?", "2,", "kitchen", (0, 4)),
        ("How many times did I open the fridge?", "twice", "kitchen", (0, 4)),
        ("How many times did the bus appear?", "twice", "street", (4, 7)),
        ("How long was the bus visible?", "About 6.0 s in 2 stretches", "street", (4, 7)),
        ("How long did I whisk the eggs?", "About 6.0 s", "kitchen", (14, 20)),
        ("Was there a bus?", "Yes", "street", (4, 7)),
        ("Did I see a vehicle?", "Yes", "street", (4, 7)),
        ("What did I do at the end of kitchen?", "红色杯子", "kitchen", (45, 50)),
        ("What happened at 12:00:31?", "wash the bowl", "kitchen", (30, 40)),
    ],
)
def test_a_direct_answer(ask, question, says, recording, span):
    answer = ask(question)
    assert answer.status is Status.PARSED, answer.text
    assert says in answer.text
    where = [(e.recording, (e.span.start, e.span.end)) for e in answer.evidence]
    assert (recording, span) in where


def test_speech_of_nobody_known_is_not_what_a_named_person_said(store, run, caption, recording):
    store.put_recording(recording("tea", 30, None))
    store.add(
        [
            caption("tea", 0, 3, "The kettle is broken.", "speech"),
            caption("tea", 4, 6, "Moi, je prends du thé.", "speech", speaker="Chloé"),
        ]
    )
    answer = run(store.view(), Question.of("What did Chloé say?"))
    assert [e.span.start for e in answer.evidence] == [4]


def test_things_are_put_in_order_across_recordings(ask):
    answer = ask("In which order did the bus, the market hall sign and the drum kit come?")
    places = [answer.text.index(word) for word in ("bus", "market", "drum")]
    assert places == sorted(places)
    assert [e.recording for e in answer.evidence] == ["street", "street", "call"]
    assert ask("What came first, the drum kit or the bus?").text.startswith("“the bus”")


@pytest.mark.parametrize(
    ("question", "verdict"),
    [
        ("Did the bus come before the drum kit?", "Yes"),
        ("Did the bus come after the drum kit?", "No: "),
        ("Did I wash the bowl after I opened the fridge?", "Yes: "),
        ("Did I whisk the eggs before I opened the fridge?", "Yes, and the other way round"),
    ],
)
def test_before_and_after_are_judged(ask, question, verdict):
    assert ask(question).text.startswith(verdict)


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        ("Where did I leave my umbrella?", "umbrella"),
        ("Was there a dog?", "dog"),  # spoken of, never seen
        ("What did Ana say about a piano?", "piano"),
        ("Why did Ben's dog eat the concert tickets?", "not said by Ben"),
        ("Did Ben leave the spare key?", "not said by Ben"),  # he asks, Ana answers
        ("In which order did the bus and the zebra come?", "not all of these"),
        ("What did I do on 1 January 2020?", "at that time"),
    ],
)
def test_it_abstains_and_says_why(ask, question, reason):
    answer = ask(question)
    assert answer.status is Status.ABSTAINED, answer.text
    assert reason in answer.reason
    assert answer.text.startswith("Not in this memory")
    assert answer.evidence == ()
    assert answer.confidence is not None
    assert answer.confidence < 0.35


def test_the_threshold_is_a_setting(ask):
    sure = ask("Who ate the concert tickets greedily?")
    assert sure.status is Status.PARSED
    assert sure.confidence is not None
    assert ask("Who ate the concert tickets greedily?", support=0.99).abstained
    assert ask("Where did I leave my umbrella?", support=0.0).confidence < sure.confidence


def test_nothing_after_the_moment_is_seen(ask):
    early = RecordingTime("kitchen", 22.0)
    assert ask("How many times did I open the fridge?", at=early).text.startswith("Observed once")
    assert ask("When did I wash the bowl?", at=early).abstained
    assert ask("What did the sign say?", at=RecordingTime("street", 8.0)).abstained
    morning = datetime.fromisoformat("2026-03-02T08:30:00+01:00")
    assert ask("Who bought a drum kit?", at=morning).abstained


def test_a_recording_without_a_clock_is_never_put_on_a_day(store, caption, recording, run):
    store.put_recording(recording("attic", 30, None))
    store.put_recording(recording("garden", 30, "2026-03-02T08:10:00+01:00"))
    store.add(
        [caption("attic", 3, 5, "I find a lantern"), caption("garden", 1, 2, "I plant a tulip")]
    )
    view = store.view()
    answer = run(view, Question.of("When did I find the lantern?"))
    assert "0:03-0:05 in attic.mp4" in answer.text
    assert "2026" not in answer.text
    assert answer.evidence[0].when is None
    assert run(view, Question.of("What came first, the lantern or the tulip?")).abstained


def test_other_languages_are_found_and_quoted(ask):
    chinese = ask("红色杯子在哪里")
    assert "我把红色杯子放在桌子上" in chinese.text
    spanish = ask("¿Dónde está el mercado de pescado?")
    assert "Mañana vamos al mercado de pescado." in spanish.text


def test_a_composed_caption_never_answers_in_place_of_what_it_rests_on(ask):
    answer = ask("When did I see a car?")
    assert {e.source for e in answer.evidence} == {"object"}
    assert "0:00-0:12" in answer.text


def test_a_question_about_one_recording_stays_in_it(ask):
    assert ask("How many cars were there?", recording="kitchen").abstained
    assert not ask("How many cars were there?", recording="street").abstained


def test_captions_may_tell_what_a_sign_or_a_person_said(store, caption, recording, run):
    store.put_recording(recording("k", 100, None))
    store.add(
        [
            caption("k", 0, 5, "A green sign above the door reads EXIT"),
            caption("k", 6, 9, "The wearer walks past a door with a sign"),
            caption("k", 10, 12, "A waiter says that the soup is cold"),
            caption("k", 20, 22, "BREAD 2.50", "screen_text"),
        ]
    )
    view = store.view()
    assert "reads EXIT" in run(view, Question.of("What did the green sign say?")).text
    assert "soup is cold" in run(view, Question.of("What did the waiter say?")).text
    assert run(view, Question.of("What did the policeman say?")).abstained


def test_last_means_the_last_that_holds_all_of_it(store, caption, recording, run):
    store.put_recording(recording("k", 100, None))
    texts = ["I wash the red cup", "I wash the red cup", "I wash the large cup"]
    texts += ["a red car passes"] * 6  # "red" tells little, but it is asked for
    store.add(caption("k", 10 * i, 10 * i + 4, text) for i, text in enumerate(texts))
    answer = run(store.view(), Question.of("When did I last wash the red cup?"))
    assert answer.text.startswith("At 0:10-0:14")


def test_what_nearly_touches_is_one_episode_but_a_detector_is_taken_at_its_word(
    store, caption, recording, run
):
    store.put_recording(recording("k", 100, None))
    store.add(caption("k", 5 * i, 5 * i + 3, "I juggle", window=i) for i in range(4))
    store.add(
        caption("k", 50 + 5 * i, 53 + 5 * i, "1 cat", "object", label="cat") for i in range(4)
    )
    view = store.view()
    assert run(view, Question.of("How many times did I juggle?")).text.startswith("Observed once")
    assert "18.0 s: 0:00-0:18" in run(view, Question.of("How long did I juggle?")).text
    separate = run(view, Question.of("How many times did I juggle?"), episode_gap=1.0)
    assert separate.text.startswith("Observed 4 times")
    assert run(view, Question.of("How many times did a cat appear?")).text.startswith(
        "Observed 4 times"
    )


def test_of_many_matches_the_best_are_read(ask):
    whole = ask("What did Ana say about her dog?")
    few = ask("What did Ana say about her dog?", most=2)
    assert few.text == whole.text
    many, one = (ask("What did I do with the eggs?", most=most) for most in (100, 1))
    assert (many.trace[1]["matching"], many.trace[1]["read"], many.trace[1]["cut"]) == (3, 3, False)
    assert (one.trace[1]["matching"], one.trace[1]["read"], one.trace[1]["cut"]) == (3, 1, True)
    after = ask("What did I do after whisking the eggs?", most=2)
    assert "open the fridge again" in after.text  # no word of it is in the question
    assert "wash the bowl" in ask("What happened at 12:00:31?", most=2).text


def test_the_trace_explains(ask):
    answer = ask("What did I do after whisking the eggs?")
    steps = {step["step"]: step for step in answer.trace}
    assert steps["read"]["relation"] == "after"
    assert steps["anchor"]["text"] == "I whisk the eggs with a fork"
    assert steps["support"]["threshold"] == 0.35
    assert steps["told"]["line"] == answer.text


def test_evidence_points_at_observations(ask, day):
    answer = ask("What did Ana say about her dog?")
    [e] = answer.evidence
    [o] = day.view().observations(ids=[e.observation])
    assert (o.text, o.span, o.source) == (e.quote, e.span, e.source)
    assert e.span == Span(9, 12)
    assert e.score == pytest.approx(1.0)


@pytest.mark.parametrize(
    "text", ["", "?", "\x00", "AND OR NOT *", "before", "after , what", "当", "how many"]
)
def test_no_question_raises(ask, text):
    assert ask(text).status in (Status.PARSED, Status.ABSTAINED)


def test_an_empty_memory_abstains(store, run):
    answer = run(store.view(), Question.of("Where are my keys?"))
    assert answer.abstained
    assert answer.confidence == 0.0
