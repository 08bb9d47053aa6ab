"""Whether evidence proves a claim: what its words say, not which words it has."""

from typing import Any

import pytest

from egomem.claims import has_parser, judging
from egomem.observe.active.claims import is_same, is_weaker, missing_support
from egomem.observe.active.state import Finding
from egomem.timeline import Span

ALL = Span(0, 20)
parser = pytest.mark.skipif(not has_parser(), reason="the claims extra is not installed")


def finding(text: str, id: str = "e1", **fields: Any) -> Finding:
    return Finding(id=id, text=text, **{"tool": "crop", "span": ALL, "conclusive": True, **fields})


FALSE = [
    ("The girl switches the radio off.", "The girl switches the radio on."),
    ("A boy climbs down the ladder.", "A boy climbs up the ladder."),
    ("He takes the jar out.", "He takes the jar in."),
    ("She carries the bag from the car to the house.",
     "She carries the bag from the house to the car."),
    ("The girl hands the boy a spoon.", "The boy hands the girl a spoon."),
    ("A green hat lies beside a grey scarf.", "A grey hat lies beside a green scarf."),
    ("The kettle stands right of the pan.", "The pan stands right of the kettle."),
    ("She salts the soup before she stirs it.", "She stirs the soup before she salts it."),
    ("A boy peels an onion. A girl sweeps the floor.", "A girl peels an onion."),
    ("The boy may drop the glass.", "The boy drops the glass."),
    ("No spoon is in sight. A girl eats soup.", "A girl eats soup with a spoon."),
    ("Three dogs and one cat run.", "Three cats and one dog run."),
]  # fmt: skip
TRUE = [
    ("The girl switches the radio on.", "The girl turns on the radio."),
    ("The girl hands the boy a spoon.", "The boy receives a spoon from the girl."),
    ("A boy eats a pear.", "A child eats fruit."),
    ("The kettle stands right of the pan.", "The pan stands left of the kettle."),
    ("A girl in a crimson coat walks by.", "A girl in a red coat walks by."),
    ("She shut the lid before she left.", "She left after she shut the lid."),
]


@pytest.mark.parametrize(("evidence", "claim"), FALSE)
def test_a_false_statement_of_the_evidences_own_words_is_no_claim_of_it(
    evidence: str, claim: str
) -> None:
    assert missing_support(claim, ALL, [finding(evidence)])
    assert not is_same(claim, ALL, evidence, ALL)
    assert not is_weaker(claim, ALL, evidence, ALL)


@parser
@pytest.mark.parametrize(("evidence", "claim"), TRUE)
def test_an_entailed_paraphrase_stands(evidence: str, claim: str) -> None:
    assert missing_support(claim, ALL, [finding(evidence)]) == ""
    assert is_weaker(claim, ALL, evidence, ALL)


@pytest.mark.parametrize(("evidence", "claim"), [*FALSE, *TRUE])
def test_without_a_parser_only_the_same_words_prove(
    evidence: str, claim: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judging, "has_parser", lambda: False)
    assert missing_support(claim, ALL, [finding(evidence)])
    assert not is_same(claim, ALL, evidence, ALL)
    if evidence.count(".") == 1:
        assert missing_support(evidence, ALL, [finding(evidence)]) == ""


def test_two_findings_do_not_join_into_a_third() -> None:
    both = [finding("A boy peels an onion."), finding("A girl sweeps the floor.", "e2")]
    assert missing_support("A girl peels an onion.", ALL, both)
    assert missing_support("A girl sweeps the floor.", ALL, both) == ""


def test_a_finding_over_a_long_time_does_not_prove_a_moment() -> None:
    horse = finding("A horse trots by.", span=Span(0, 39))
    assert missing_support("A horse trots by.", Span(3, 3), [horse])
    assert missing_support("A horse trots by.", Span(0, 39), [horse]) == ""
    sign = finding("Text read: “STOP”", span=Span(0, 39), tool="ocr")
    assert missing_support("A sign reads “STOP”.", Span(3, 3), [sign])
    assert missing_support("A sign reads “STOP”.", Span(0, 39), [sign]) == ""
