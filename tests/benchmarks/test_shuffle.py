"""Shuffling keeps every text once, and the key with its text."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from egomem.benchmarks import demo, shuffle_options
from egomem.records import Question

TEXTS = ("cup", "ball", "hat", "key", "it was not recorded")


def texts(question: Question) -> dict[str, str]:
    return {option.label: option.text for option in question.options}


@given(st.integers(2, 5), st.data(), st.integers(0, 99))
def test_the_key_moves_with_its_text(size: int, data: st.DataObject, seed: int) -> None:
    key = data.draw(st.sampled_from("ABCDE"[:size]))
    last = "ABCDE"[size - 1]
    given_ = Question.of("?", list(TEXTS[-size:]), id=f"q{seed}", answer=key,
                         tags={"abstain_option": last})  # fmt: skip
    shuffled = shuffle_options(given_, seed)
    assert list(texts(shuffled)) == list("ABCDE"[:size])
    assert Counter(texts(shuffled).values()) == Counter(texts(given_).values())
    assert texts(shuffled)[shuffled.answer or ""] == texts(given_)[key]
    assert texts(shuffled)[str(shuffled.tags["abstain_option"])] == TEXTS[-1]
    origin = shuffled.tags["shuffled_from"]
    assert isinstance(origin, list)
    back = dict(zip(texts(shuffled), (texts(given_)[str(label)] for label in origin), strict=True))
    assert back == texts(shuffled)
    twice = shuffle_options(shuffled, seed + 1)
    again = twice.tags["shuffled_from"]
    assert isinstance(again, list)
    assert [texts(given_)[str(label)] for label in again] == list(texts(twice).values())


def test_it_follows_from_seed_and_id_alone_and_spreads_the_keys() -> None:
    questions = demo().questions
    assert [shuffle_options(q, 3) for q in questions] == [shuffle_options(q, 3) for q in questions]
    assert [shuffle_options(q, 3) for q in questions] != [shuffle_options(q, 4) for q in questions]
    fixed = [
        Question.of("?", list(TEXTS[:4]), id=str(k), answer="B", recording="v") for k in range(400)
    ]
    keys = Counter(shuffle_options(q).answer for q in fixed)
    assert all(70 < keys[label] < 130 for label in "ABCD")
    open_question = Question(id="o", text="?", answer="B")
    assert shuffle_options(open_question) == open_question
