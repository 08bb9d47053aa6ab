"""Search in the forms that people write, and what it says of what it fell back to."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from egomem.memory import Store
from egomem.recall import find
from egomem.recall.fallback import Vocabulary, fallbacks
from egomem.records import Observation, Recording
from egomem.timeline import Span

TEXTS = (
    "Sur la table: l'orange et l'écharpe d'Anouk",
    "Frau Köhler sucht den Haustürschlüssel",
    "Herr Mueller kauft Äpfel",
    "İzmir'de çay ve ılık simit",
    "लड़का सड़क पर है",
    "a cake 🎂 and a flag 🇫🇷",
    "the receipt says 12,850 in total",
    "platform C 14 to the airport",
    "his number is 030 4421 907",
    "Ms D'Arcy-Lindqvist waves",
    "a strawberry lies beside the teapot",
    "forty-two steps up to the lighthouse",
)


@pytest.fixture
def find_one(store: Store) -> Callable[[str], tuple[str, tuple[str, ...]]]:
    """The text of the best hit ("" for none), and the notes."""
    for number, text in enumerate(TEXTS):
        id = f"r{number}"
        store.put_recording(Recording(id=id, name=id, duration=10))
        store.add(
            [
                Observation(
                    recording=id,
                    span=Span(0, 10),
                    text=text,
                    source="caption",
                    track="caption/test",
                )
            ]
        )

    def search(query: str) -> tuple[str, tuple[str, ...]]:
        result = find(store.view(), query)
        return (result.hits[0].text if result.hits else ""), result.notes

    return search


@pytest.mark.parametrize(
    ("query", "part"),
    [
        ("écharpe", "l'écharpe"),
        ("l'Anouk", "d'Anouk"),
        ("orange", "l'orange"),
        ("Koehler", "Köhler"),
        ("Kohler", "Köhler"),
        ("Müller", "Mueller"),
        ("izmir", "İzmir"),
        ("ilik", "ılık"),
        ("लडका", "लड़का"),
        ("🎂", "cake"),
        ("🇫🇷", "flag"),
        ("D'Arcy", "D'Arcy"),
        ("Lindqvist", "D'Arcy"),
    ],
)
def test_one_word_in_several_spellings_is_one_word(
    find_one: Callable[[str], tuple[str, tuple[str, ...]]], query: str, part: str
) -> None:
    text, notes = find_one(query)
    assert part in text
    assert notes == ()


@pytest.mark.parametrize(
    ("query", "part", "instead"),
    [
        ("12850", "receipt", "12,850"),
        ("C14", "platform", "c 14"),
        ("c-14", "platform", "c 14"),
        ("0304421907", "number", "030 4421 907"),
        ("030-4421-907", "number", "030 4421 907"),
        ("42 steps", "lighthouse", "forty-two"),
        ("Schlüssel", "Köhler", "haustürschlüssel"),
        ("Schluessel", "Köhler", "haustürschlüssel"),
        ("berry", "strawberry", "strawberry"),
        ("lighthousekeeper", "", ""),
        ("recipt", "receipt", "receipt"),
        ("strawbery", "strawberry", "strawberry"),
        ("aipprt", "", ""),
        ("airprot", "airport", "airport"),
    ],
)
def test_what_search_fell_back_to_is_said(
    find_one: Callable[[str], tuple[str, tuple[str, ...]]], query: str, part: str, instead: str
) -> None:
    text, notes = find_one(query)
    assert part in text
    assert bool(text) == bool(part)
    assert instead in " ".join(notes)


def test_a_word_that_is_there_is_not_widened() -> None:
    vocabulary = Vocabulary(["a strawberry", "a berry", "the horse", "the house", "gate 7"])
    assert fallbacks("the berry by the house at gate 7", vocabulary) == []


def test_short_words_are_taken_as_they_are() -> None:
    vocabulary = Vocabulary(["a mouse, a cat and a wallet"])
    assert fallbacks("house", vocabulary) == []
    assert fallbacks("bat", vocabulary) == []
    assert [f.instead for f in fallbacks("walet", vocabulary)] == [("wallet",)]
