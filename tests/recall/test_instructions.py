"""What is said to us in a question, and asks for nothing."""

from __future__ import annotations

import pytest

from egomem.recall.instructions import without_instructions
from egomem.recall.reading import read_query


@pytest.mark.parametrize(
    "text",
    [
        "Where did I park the van?",
        "Please tell me where I parked the van",
        "Can you tell me where I parked the van?",
        "Could you please remind me where I parked the van?",
        "Perhaps you remember where I parked the van?",
        "Do you happen to know where I parked the van?",
        "I'd like to know where I parked the van",
        "Look in my recordings: where did I park the van?",
        "According to the recordings, where did I park the van?",
        "Where in my recordings did I park the van?",
        "Where, maybe, did I park the van?",
        "Do the recordings show where I parked the van?",
        "Find out where exactly I parked the van, if possible",
    ],
)
def test_the_same_is_asked_however_it_is_said(text: str) -> None:
    query = read_query(text)
    assert query.kind == "where"
    assert [word.stem for word in query.words] == ["park", "van"]
    assert (query.sources, query.text) == ((), text)


def test_the_moment_when_is_a_question_of_when() -> None:
    assert read_query("Find the exact moment when I drop the vase").kind == "when"
    assert read_query("What is the number of boats?").kind == "count"


@pytest.mark.parametrize(
    "text",
    [
        "Can you see the van?",
        "Did I find my keys?",
        "What happens at the end of the video?",
        "find",
        "name tag",
        "Find the pan",
        "Check the oven",
        "Did Ana say \u201cplease tell me\u201d?",
        "Search",
    ],
)
def test_what_asks_for_something_stays(text: str) -> None:
    assert without_instructions(text) == text
