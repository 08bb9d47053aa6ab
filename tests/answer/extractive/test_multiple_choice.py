"""Multiple choice: order, words, first and last, "none of these", and abstention."""

from __future__ import annotations

import numpy as np
import pytest

from egomem.records import Question, Status


def best(answer) -> str:
    return max(answer.scores, key=answer.scores.__getitem__)


@pytest.mark.parametrize(
    ("question", "options", "right"),
    [
        ("What did I use after the fork?", ("sink", "fridge", "fork"), "B"),
        ("What did I use before the fork?", ("fridge", "sink", "bowl"), "C"),
        ("What did I do after cracking the eggs?", ("wash the bowl", "whisk the eggs"), "B"),
        ("Which came first?", ("a drum kit", "the market hall sign", "a bus"), "C"),
        ("Which came last?", ("a drum kit", "the market hall sign", "a bus"), "A"),
        ("Where is the spare key?", ("in the fridge door", "under the flower pot"), "B"),
        ("What did I wash?", ("the car", "the bowl", "the dog"), "B"),
        ("What did I see?", ("an elephant", "a bus", "a tram"), "B"),
    ],
)
def test_the_best_supported_option(ask, question, options, right):
    answer = ask(question, options)
    assert answer.status is Status.PARSED
    assert answer.choice == right == best(answer)
    assert answer.text.startswith(f"{right}. ")
    assert answer.evidence
    assert list(answer.scores) == [chr(65 + i) for i in range(len(options))]


def test_scores_are_shares(ask):
    answer = ask("What did I wash?", ("the car", "the bowl", "the dog"))
    assert sum(answer.scores.values()) == pytest.approx(1.0, abs=1e-5)
    assert min(answer.scores.values()) >= 0


def test_the_order_of_options_does_not_matter(ask):
    options = ["sink", "fridge", "fork", "bowl"]
    one = ask("What did I use after the fork?", options)
    other = ask("What did I use after the fork?", options[::-1])
    by_text = dict(zip(options, one.scores.values(), strict=True))
    assert by_text == dict(zip(options[::-1], other.scores.values(), strict=True))


def test_a_mention_belongs_to_the_more_specific_option(store, caption, recording, run):
    store.put_recording(recording("k", 60, None))
    store.add(
        [
            caption("k", 0, 3, "take the pan"),
            caption("k", 4, 6, "take the pot lid"),
            caption("k", 8, 9, "close the jar lid"),
        ]
    )
    asked = Question.of("What did I use after the pan at 0:02?", ("lid", "pot lid"))
    shares = run(store.view(), asked).scores
    assert shares["B"] > shares["A"] + 0.005  # the lid's own mention is the jar's, seconds later
    alone = Question.of("What did I use after the pan at 0:02?", ("jar", "lid"))
    assert run(store.view(), alone).choice == "B"


def test_the_gap_counts_from_the_end_of_an_event(store, caption, recording, run):
    """The pan is taken long before the fork ends: by middles, it would be the nearer."""
    store.put_recording(recording("k", 200, None))
    store.add(
        [
            caption("k", 0, 100, "stir with the fork"),
            caption("k", 101, 140, "scrub the plate"),
            caption("k", 104, 106, "take the cup"),
        ]
    )
    asked = Question.of("What did I use after the fork at 0:50?", ("cup", "plate"))
    assert run(store.view(), asked).choice == "B"


def test_none_of_these_is_chosen_where_nothing_supports_another(ask):
    options = ("on the piano", "in the garage", "This cannot be answered from the memory")
    answer = ask("Where is my umbrella?", options)
    assert answer.choice == "C" == best(answer)
    assert answer.status is Status.PARSED
    supported = ask("Who bought a drum kit?", ("Ben bought a drum kit", "Ana", "None of these"))
    assert supported.choice == "A"
    assert supported.scores["C"] == 0.0


def test_it_abstains_where_no_option_is_observed(ask):
    answer = ask("What did I see?", ("a zebra", "a walrus"))
    assert answer.abstained
    assert answer.choice is None
    assert set(answer.scores) == {"A", "B"}


def test_a_common_word_tells_less_than_a_rare_one(store, caption, recording, run):
    store.put_recording(recording("k", 100, None))
    store.add(caption("k", i, i + 1, f"a man in a room, number {i}") for i in range(20))
    store.add([caption("k", 30, 31, "a woman with a violin")])
    asked = Question.of("What is there?", ("a man", "a violin"))
    narrow = run(store.view(), asked)
    assert narrow.scores["B"] > narrow.scores["A"]


class Toy:
    """An embedder for which only the sea and the coast are alike."""

    name, dimensions = "toy", 3

    def embed(self, texts, *, query=False):
        def one(text: str) -> list[float]:
            if any(word in text for word in ("coast", "waves")):
                return [1.0, 0.0, 0.0]
            return [0.0, 1.0, 0.0] if "forest" in text else [0.0, 0.0, 1.0]

        return np.array([one(t) for t in texts], dtype=np.float32)


def test_an_embedder_helps_where_no_word_is_shared(store, caption, recording, run):
    store.put_recording(recording("k", 100, None))
    store.add([caption("k", 0, 1, "waves roll in"), caption("k", 2, 3, "a street with shops")])
    asked = Question.of("Where was I?", ("in a forest", "at the coast"))
    assert run(store.view(), asked).abstained
    assert run(store.view(), asked, embedder=Toy()).choice == "B"


def test_what_is_near_to_everything_tells_nothing(store, caption, recording, run):
    class Usual(Toy):
        dimensions = 2

        def embed(self, texts, *, query=False):
            rare = [any(w in t for w in ("xylophone", "marimba")) for t in texts]
            return np.array([[0.6, 0.8] if r else [1.0, 0.0] for r in rare], dtype=np.float32)

    store.put_recording(recording("k", 100, None))
    texts = ["grey wall", "white wall", "long corridor", "marimba"]
    store.add(caption("k", i, i + 1, text) for i, text in enumerate(texts))
    asked = Question.of("What was there?", ("furniture", "xylophone"))
    assert run(store.view(), asked, embedder=Usual()).choice == "B"


def test_the_event_nearest_to_a_time_is_the_one_asked_about(store, caption, recording, run):
    store.put_recording(recording("k", 60, None))
    texts = ["take the fork", "take the plate", "take the fork", "take the cup"]
    store.add(caption("k", 4 * i, 4 * i + 2, text) for i, text in enumerate(texts))
    view = store.view()
    assert (
        run(view, Question.of("What came after the fork at 0:01?", ("cup", "plate"))).choice == "B"
    )
    assert (
        run(view, Question.of("What came after the fork at 0:09?", ("cup", "plate"))).choice == "A"
    )
