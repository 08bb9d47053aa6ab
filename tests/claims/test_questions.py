"""Yes/no questions as the claims that they ask about."""

import pytest

from egomem.claims import has_parser, read_question

pytestmark = pytest.mark.skipif(not has_parser(), reason="the claims extra is not installed")


@pytest.mark.parametrize(
    ("text", "states", "places"),
    [
        ("Is the heater on?", {"on"}, []),
        ("Are the lamps on?", {"on"}, []),
        ("Was Tom's locker open?", {"open"}, []),
        ("Is the candle out?", {"off"}, []),
        ("Is the kettle on the shelf?", set(), [("on", "shelf")]),
        ("Was the soup hot on Monday?", {"hot"}, [("on", "monday")]),
    ],
)
def test_the_state_or_place_that_is_asked_for_is_read(
    text: str, states: set[str], places: list[tuple[str, str]]
) -> None:
    """The parser takes what stands behind the thing for a part of it."""
    (claim,) = read_question(text)
    assert claim.states == states
    assert [(relation, thing.head) for relation, thing in claim.places] == places
