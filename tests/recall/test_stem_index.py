"""The short way of reading texts in counts what reading them one by one does."""

from __future__ import annotations

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from egomem.recall.stem_index import StemIndex
from egomem.recall.terms import bag_of

WORDS = """
the cup Cups, on a shelf. B-17 10:30 km/h wife's -- der Tasse und Tisch wo red rouge une über 杯子 ①
"""
words = st.sampled_from(WORDS.split())
texts = st.lists(st.lists(words | st.text(max_size=5), max_size=8).map(" ".join), max_size=5)


@given(texts)
@example([])
@example(["", "the cup is on the shelf", "der Tisch und die Tasse"])
@example(["die cup", "die Tasse und der Tisch", "red cup"])
def test_words_pairs_and_lengths_are_those_of_each_text(texts):
    bags = [bag_of(text) for text in texts]
    postings = StemIndex(texts)
    np.testing.assert_array_equal(postings.lengths, [bag.length for bag in bags])
    for word in {word for bag in bags for word in bag.words} | {"absent"}:
        expected = [bag.words.get(word, 0) for bag in bags]
        np.testing.assert_array_equal(postings.counts([word]), expected)
    absent = {("absent", "cup"), ("cup", "absent")}
    for pair in {pair for bag in bags for pair in bag.pairs} | absent:
        expected = [bag.pairs.get(pair, 0) for bag in bags]
        np.testing.assert_array_equal(postings.pair_counts([pair]), expected)


def test_several_words_count_together():
    postings = StemIndex(["red cup", "red mug and cup", "plate"])
    assert postings.counts(["cup", "mug"]).tolist() == [1, 2, 0]
    assert postings.counts([]).tolist() == [0, 0, 0]
    assert postings.pair_counts([("red", "cup"), ("mug", "cup")]).tolist() == [1, 1, 0]


def test_the_last_word_of_a_text_is_no_neighbour_of_the_next_texts_first():
    assert StemIndex(["red cup", "plate"]).pair_counts([("cup", "plate")]).tolist() == [0, 0]
