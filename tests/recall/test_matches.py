"""Every observation that may answer a question, exactly as the view holds them."""

from __future__ import annotations

from egomem.recall import explain, explained, matches, read_for, read_query, search
from egomem.timeline import RecordingTime

DAY = ["washes a cup", "reads a book", "washes a plate", "drinks tea", "washes a cup"]


def texts(view, question, most=100, options=()):
    matched = matches(view, read_for(view, question, options), most=most, slack=12.0)
    return [o.text for o in matched.observations], matched.matching, matched.cut


def test_all_that_hold_a_word_are_given(film):
    view = film(*DAY).view()
    assert texts(view, "How many times did I wash a cup?") == (
        ["washes a cup", "washes a plate", "washes a cup"], 3, False,
    )  # fmt: skip


def test_of_more_than_are_read_the_best_come_first_and_that_is_said(film):
    view = film(*DAY).view()
    assert texts(view, "How many times did I wash a cup?", most=2) == (
        ["washes a cup", "washes a cup"], 3, True,
    )  # fmt: skip


def test_what_was_not_yet_is_not_matched(film):
    store = film(*DAY)
    early = store.view(RecordingTime("r", 100.0))
    assert texts(early, "How many times did I wash a cup?")[1] == 2


def test_without_words_it_is_what_lies_where_the_question_points(film):
    view = film(*DAY).view()
    assert texts(view, "What happened at 0:45?")[0] == ["reads a book"]
    assert texts(view, "What did I do?")[0] == DAY


def test_options_bring_their_own(film):
    view = film(*DAY).view()
    matched, matching, _ = texts(view, "What did I wash?", options=("tea", "a plate"))
    assert "drinks tea" in matched
    assert matching == 3


def test_a_question_is_explained_in_the_same_words_wherever_it_is_asked():
    query = read_query(
        "When did Ana last see the red cup before lunch?", ["noon"], speakers=["Ana"]
    )
    explanation = explain(query)
    assert (explanation["kind"], explanation["people"], explanation["order"]) == (
        "when",
        ["Ana"],
        "last",
    )
    assert explanation["options"] == ["noon"]
    assert explained(query)[0] == "asked for: when, one of the options"
    assert "people: Ana" in explained(query)


def test_a_query_that_was_read_is_searched_as_its_text(film):
    view = film(*DAY).view()
    for text in ("Where is the cup?", "What did I do after reading a book?"):
        assert search(view, read_for(view, text)) == search(view, text)
