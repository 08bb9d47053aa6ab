"""What evidence makes of a claim: entailed, contradicted, or not told."""

from dataclasses import replace

import pytest

from egomem.claims import EvidenceLine, has_parser, judge, judging, read
from egomem.timeline import Span

parser = pytest.mark.skipif(not has_parser(), reason="the claims extra is not installed")


@parser
@pytest.mark.parametrize(
    ("evidence", "claim", "label"),
    [
        # What is done, in other words.
        ("The cook turns the fan on.", "The cook switches on the fan.", "entailed"),
        ("Ella hands Max a ticket.", "Max receives a ticket from Ella.", "entailed"),
        ("A boy eats a banana.", "A child is eating fruit.", "entailed"),
        ("The stool is left of the bath.", "The bath is right of the stool.", "entailed"),
        ("She fetched a rope before she left.", "She left after she fetched a rope.", "entailed"),
        # What is denied or turned round.
        ("The cook turns the fan on.", "The cook turns the fan off.", "contradicted"),
        ("Ella hands Max a ticket.", "Max hands Ella a ticket.", "contradicted"),
        ("I never paid the fine.", "I paid the fine.", "contradicted"),
        ("The stool is left of the bath.", "The bath is left of the stool.", "contradicted"),
        ("A green van passes a black bus.", "A black van passes a green bus.", "contradicted"),
        ("She bought five pens.", "She bought nine pens.", "contradicted"),
        ("He carried it from Ulm to Bonn.", "He carried it from Bonn to Ulm.", "contradicted"),
        ("She fetched a rope before she left.", "She left before she fetched a rope.",
         "contradicted"),
        ("I ordered the soup without onions.", "I ordered the soup with onions.", "contradicted"),
        # What is held out, asked, planned or told by somebody.
        ("Max may sell the van.", "Max sells the van.", "not told"),
        ("I must return the drill.", "I returned the drill.", "not told"),
        ("Remember to water the ferns.", "I watered the ferns.", "not told"),
        ("Did you pay the fine?", "You paid the fine.", "not told"),
        ("Ella says that Max sold the van.", "Max sold the van.", "not told"),
        ("I was asked to paint the fence.", "I painted the fence.", "not told"),
        ("He dreams of buying a yacht.", "He buys a yacht.", "not told"),
        # Whose deed, which thing, what else.
        ("Max peels an orange. Ella folds a map.", "Ella peels an orange.", "not told"),
        ("Max peels an orange. Ella folds a map.", "Ella peels a map.", "not told"),
        ("Nobody is there. Max cuts the rope.", "Max cuts the rope with a knife.", "not told"),
        ("I took the blue key.", "I took the blue key and the red key.", "not told"),
    ],
)  # fmt: skip
def test_the_label_of_a_pair(evidence, claim, label):
    assert judge(evidence, claim).label == label


@parser
def test_a_judgement_names_what_decided():
    judgement = judge(["It rains.", "The cook turns the fan on."], "The cook turns the fan off.")
    assert judgement.by == "opposite"
    assert judgement.pieces == ("The cook turns the fan on .",)
    assert "on, not turn off" in judgement.reason
    assert "may" in judge("Max may sell the van.", "Max sells the van.").reason


@parser
def test_a_finding_proves_only_a_claim_of_its_own_time():
    lines = [EvidenceLine("A horse trots by.", Span(0, 50)), EvidenceLine("It rains.", Span(7, 8))]
    assert judge(lines, "A horse trots by.", Span(0, 50)).label == "entailed"
    assert judge(lines, "A horse trots by.", Span(4, 5)).label == "not told"
    assert judge(lines, "A horse is trotting by.", Span(4, 5)).label == "not told"
    assert judge(lines, "It rains.", Span(7, 8)).label == "entailed"
    assert judge(lines, "It does not rain.", Span(7, 8)).label == "contradicted"
    assert judge(lines, "It does not rain.", Span(30, 31)).label == "not told"


def test_quoted_words_are_nobodys_claim_but_the_speakers():
    evidence = "The poster says “SALE ENDS TODAY”."
    assert judge(evidence, "A poster reads “sale ends today”.").label == "entailed"
    assert judge(evidence, "The poster says “sale starts today”.").label == "not told"
    assert judge(evidence, "The shirt says “sale ends today”.").label == "not told"
    assert judge(evidence, "The sale ends today.").label == "not told"


@parser
def test_an_order_that_was_not_read_is_not_entailed(monkeypatch):
    evidence, claim = "She fetched a rope before she left.", "She left after she fetched a rope."
    assert judge(evidence, claim).label == "entailed"
    monkeypatch.setattr(judging, "read", lambda text: tuple(
        replace(c, follows=()) for c in read(text)))  # fmt: skip
    assert judge(evidence, claim).label == "not told"


@parser
def test_what_a_claim_holds():
    (claim,) = read("Ella hands the old man two red apples at the gate.")
    assert (claim.predicate, claim.subject.head, claim.recipient.head) == ("give", "ella", "man")
    assert claim.recipient.attributes == {"old"}
    assert (claim.object.head, claim.object.count) == ("apple", 2)
    assert [(r, p.head) for r, p in claim.places] == [("at", "gate")]
    assert claim.happened
    (reported,) = read("Max says that the ferry was late.")
    assert (reported.speaker, reported.happened) == ("max", False)


@pytest.fixture
def no_parser(monkeypatch):
    monkeypatch.setattr(judging, "has_parser", lambda: False)


@pytest.mark.parametrize(
    ("evidence", "claim", "label"),
    [
        ("I lock the bike.", "I lock a bike.", "entailed"),
        ("I do not lock the bike.", "I lock the bike.", "contradicted"),
        ("The heater is off.", "The heater is on.", "contradicted"),
        ("The dog watched.", "The dog was watched.", "not told"),
        ("Did I lock the bike?", "I lock the bike.", "not told"),
        ("I should lock the bike.", "I do not lock the bike.", "not told"),
        ("I fasten the bike with a chain.", "I lock the bike.", "not told"),
        ("Ella hands Max a cup.", "Max hands Ella a cup.", "not told"),
    ],
)
def test_without_a_parser_only_the_same_words_conclude(no_parser, evidence, claim, label):
    assert judge(evidence, claim).label == label


@parser
@pytest.mark.parametrize(
    ("evidence", "claim", "label"),
    [
        ("Nobody rings the bell.", "I ring the bell.", "contradicted"),
        ("No one waters the fern.", "Ana waters the fern.", "contradicted"),
        ("Nobody rings the bell.", "I ring the neighbour.", "not told"),
        ("Nobody rings the bell.", "The clock rings the bell.", "not told"),
        ("A person rings the bell.", "I ring the bell.", "not told"),
    ],
)
def test_what_nobody_did_is_denied_of_each(evidence: str, claim: str, label: str) -> None:
    assert judge(evidence, claim).label == label
