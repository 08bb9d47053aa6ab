"""What a question is read as."""

from __future__ import annotations

import pytest

from egomem.recall import read_query
from egomem.recall.words import says_nothing_fits, words_of


@pytest.mark.parametrize(
    ("text", "kind", "words", "relation", "anchor"),
    [
        ("When did the bus appear?", "when", ["bus"], None, []),
        ("How long was the bicycle visible?", "how_long", ["bicycl"], None, []),
        ("How many times did I open the fridge?", "times", ["open", "fridg"], None, []),
        ("How many people walked by?", "count", ["peopl", "walk"], None, []),
        ("Was there a dog?", "whether", ["dog"], None, []),
        ("After washing the cup, what did I do?", "what", [], "after", ["wash", "cup"]),
        ("What did I take before the phone rang?", "what", ["take"], "before", ["phone", "rang"]),
        ("Who was cooking while it rained?", "who", ["cook"], "while", ["rain"]),
        ("What did the sign say?", "read", [], None, []),
        ("What did the man say about a fox?", "said", ["fox"], None, []),
        ("When did the screen read “thank you”?", "when", ["thank"], None, []),
        ("Where did I leave my keys?", "where", ["leav", "key"], None, []),
        ("When does it close?", "when", ["close"], None, []),
    ],
)
def test_kinds(text, kind, words, relation, anchor):
    query = read_query(text)
    assert (query.kind, query.relation) == (kind, relation)
    assert [w.stem for w in query.words] == words
    assert [w.stem for w in query.anchor_words] == anchor


def test_times_are_taken_out():
    query = read_query("What did I use after the grater at time 01:33?")
    assert query.at == 93.0
    assert [w.stem for w in query.anchor_words] == ["grater"]
    assert read_query("What was there at 0:05?").words == ()


def test_items_to_be_ordered():
    assert read_query("In which order did the bus, a dog and the man come?").items == (
        "the bus",
        "a dog",
        "the man",
    )
    assert read_query("What came first, the bus or the car?").items == ("the bus", "the car")
    assert read_query("What did I see first?").items == ()


def meets(asked: str, text: str) -> bool:
    return bool(words_of(asked)[0].forms & {w.stem for w in words_of(text)})


@pytest.mark.parametrize(
    ("asked", "text", "met"),
    [
        ("vehicle", "bus", True),
        ("bus", "vehicle", False),
        ("took", "takes", True),
        ("bikes", "bicycle", True),
        ("two", "2", True),
        ("sofa", "couch", True),
        ("cup", "plate", False),
    ],
)
def test_forms(asked, text, met):
    assert meets(asked, text) is met


@pytest.mark.parametrize(
    ("option", "nothing"),
    [
        ("None of these", True),
        ("The question cannot be answered", True),
        ("Not in the memory", True),
        ("I don't know", True),
        ("none", True),
        ("a nun", False),
        ("the note was not red", False),
    ],
)
def test_options_that_say_nothing_fits(option, nothing):
    assert says_nothing_fits(option) is nothing


@pytest.mark.parametrize(
    "text",
    [
        "Who spoke of figs before now?",
        "What have I bought since then?",
        "Who bakes the bun until the crust is brown?",
        "Did I whisk the cream till it was stiff?",
    ],
)
def test_what_names_no_event_is_no_anchor(text: str) -> None:
    assert read_query(text).anchor is None


def test_until_is_an_anchor_where_nothing_else_is_asked() -> None:
    anchor = read_query("What did I do until the bell rang?").anchor
    assert anchor is not None
    assert (anchor.relation, anchor.event) == ("before", "the bell rang")
