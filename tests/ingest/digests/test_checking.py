from datetime import UTC, datetime

import pytest

from egomem.claims import has_parser
from egomem.ingest.digests import checking
from egomem.ingest.digests.checking import problem_of
from egomem.ingest.digests.parts import Part

START = datetime(2026, 4, 7, 14, 20, tzinfo=UTC).timestamp()


def part(text: str, *, speaker: str = "", source: str = "caption", minute: int = 0) -> Part:
    start = START + 60 * minute
    return Part(start, start + 30, text, ("id",), source, speaker, 0.0)


NOTES = (
    part("I give Rosa two maps of Turin for 6.50 euros"),
    part("the train leaves from platform 9", speaker="Rosa", source="speech", minute=1),
    part("GLEIS 9 ZUG 1147", source="screen_text", minute=2),
)


@pytest.mark.parametrize(
    "text",
    [
        "The wearer gives Rosa two maps of Turin for €6.50.",
        "Rosa gets 2 maps.",
        "Rosa says that the train leaves from platform 9.",
        "At 14:21 the train to platform nine is spoken of.",
        "At 2:20 pm maps are sold for 6.50.",
        "On Tuesday I sell maps.",
        "A sign reads “Zug 1147”.",
    ],
)
def test_what_notes_hold_may_be_stated(text: str) -> None:
    assert problem_of(text, NOTES) == ""


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("Rosa gets three maps.", "no note holds “three”"),
        ("The maps cost 7.50 euros.", "no note holds “7.50 euros”"),
        ("At 16:45 the train leaves.", "no note holds “16:45”"),
        ("On Friday maps are sold.", "no note holds “Friday”"),
        ("A sign reads “Exit”.", "no note holds “Exit”"),
        ("I give Bianca two maps.", "no note holds the name “Bianca”"),
        ("Then Rosa left for Genoa.", "no note holds the name “Genoa”"),
        ("Bianca gets two maps of Turin.", "no note holds the name “Bianca”"),
    ],
)
def test_what_no_note_holds_is_a_problem(text: str, problem: str) -> None:
    assert problem_of(text, NOTES) == problem


def test_a_statement_has_to_name_its_notes() -> None:
    assert problem_of("Rosa waits.", ()) == "it names no note that it rests on"


@pytest.mark.skipif(not has_parser(), reason="egomem[claims] is not installed")
@pytest.mark.parametrize(
    ("note", "text", "problem"),
    [
        ("Rosa folds the map", "The wearer folded the map.", "tell it of rosa, not of i"),
        ("I fold the map", "The wearer folded the map.", ""),
        ("folds the map", "The wearer folded the map.", ""),
        ("Rosa and I fold the map", "I folded the map.", ""),
        ("Rosa sold me the blue map", "Rosa sold me the red map.", "blue, not red"),
        ("I gave Rosa the map", "Rosa gave me the map.", "are exchanged"),
        ("she folds the map", "Rosa folded the map, Rosa did.", "the name “Rosa”"),
    ],
)
def test_actors_and_contradictions(note: str, text: str, problem: str) -> None:
    answer = problem_of(text, [part(note)])
    assert (problem in answer) if problem else answer == ""


def test_without_a_parser_names_still_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checking, "has_parser", lambda: False)
    assert "Bianca" in problem_of("Bianca gets two maps.", NOTES)
    assert problem_of("Selling maps takes time.", NOTES) == ""
    assert problem_of("Meanwhile the train leaves.", NOTES) == ""
