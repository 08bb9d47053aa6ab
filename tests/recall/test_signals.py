"""Each signal on a case worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from egomem.recall import signals, windows_of
from egomem.recall.corpus import Corpus
from egomem.recall.lexicon import alike, forms
from egomem.recall.speech import names_in, said, without
from egomem.recall.terms import bag_of, term_query

from .conftest import observation


def corpus(*texts: str) -> Corpus:
    corpus_ = [observation("r", 30 * i, 30 * i + 30, text) for i, text in enumerate(texts)]
    return Corpus(windows_of(corpus_))


def plain(text: str):
    return term_query(text, related=False)


def test_bm25_is_lucenes():
    # "cup" is in 2 of 3 windows; lengths without stop words are 2, 3, 1 (mean 2).
    corpus_ = corpus("red cup", "cup cup washed", "goes")
    idf = math.log(1 + (3 - 2 + 0.5) / (2 + 0.5))
    k1, b = 1.2, 0.75
    expected = [
        idf * 1 * (k1 + 1) / (1 + k1 * (1 - b + b * 2 / 2)),
        idf * 2 * (k1 + 1) / (2 + k1 * (1 - b + b * 3 / 2)),
        0.0,
    ]
    assert signals.bm25(plain("the cup?"), corpus_, k1=k1, b=b) == pytest.approx(expected)


def test_a_text_without_words_scores_nothing():
    corpus_ = corpus("the", "a red cup", "")
    assert list(signals.bm25(plain("cup"), corpus_, b=1.0) > 0) == [False, True, False]
    assert not signals.bm25(plain("cup"), corpus("the"), b=1.0).any()


def test_idf_is_never_negative():
    assert signals.idf(100, 100) > 0


def test_statistics_of_a_view_stand_for_those_of_the_candidates():
    corpus_ = corpus("red cup")
    rare = signals.Statistics(1000, {"cup": 1})
    common = signals.Statistics(1000, {"cup": 900})
    scores = [signals.bm25(plain("cup"), corpus_, statistics=s)[0] for s in (rare, common)]
    assert scores[0] > 10 * scores[1]


def test_a_word_counts_in_all_its_forms():
    corpus_ = corpus("she sits down", "she walks")
    assert list(signals.bm25(term_query("who sat?"), corpus_) > 0) == [True, False]
    assert not signals.bm25(plain("who sat?"), corpus_).any()


def test_words_much_like_it_count_less_than_the_word_however_often_they_occur():
    corpus_ = corpus("the couch", "a sofa and a sofa and a sofa", "a chair")
    score = signals.bm25(term_query("couch"), corpus_, like=0.4, b=0.0)
    assert score[0] > score[1] > score[2] == 0
    assert signals.bm25(term_query("couch"), corpus_)[1] == 0


def test_the_best_observation_is_scored_by_itself():
    corpus_ = Corpus(
        windows_of([observation("r", 0, 9, "red cup"), observation("r", 9, 20, "a wall")])
    )
    assert list(corpus_.best(signals.bm25(plain("cup"), corpus_, by="observation")) > 0) == [True]
    assert list(signals.bm25(plain("cup"), corpus_, by="observation") > 0) == [True, False]


def test_pairs_are_found_in_either_order_and_over_stop_words():
    corpus_ = corpus("the rice bag", "a bag of rice", "rice, then a red bag")
    assert list(signals.pairs(term_query("my rice bag"), corpus_) > 0) == [True, True, False]


def test_overlap_is_a_share_of_the_questions_words():
    corpus_ = corpus("a red cup on a table", "a blue cup", "nothing")
    assert list(signals.overlap(plain("red cup shelf"), corpus_)) == pytest.approx(
        [2 / 3, 1 / 3, 0]
    )


def test_hash_cosine_is_one_for_the_same_text_and_bounded():
    corpus_ = corpus("washes the red cup", "drives to work", "washing red cups")
    same, other, near = signals.hash_cosine("washes the red cup", corpus_.windows)
    assert same == pytest.approx(1.0)
    assert near > other
    assert all(abs(x) <= 1 for x in (same, other, near))
    assert signals.hash_cosine("", corpus_.windows).tolist() == [0, 0, 0]


def test_time_hints_fade_with_the_distance():
    corpus_ = corpus("a", "b", "c", "d")
    end = signals.time_hints(corpus_.windows, {"r": 120.0}, {"r": (1.0,)})
    assert list(np.argsort(end)) == [0, 1, 2, 3]
    assert end[3] == pytest.approx(math.exp(-(1 - 105 / 120) / 0.2))
    assert not signals.time_hints(corpus_.windows, {"r": 120.0}, {"r": ()}).any()


@given(arrays(np.float64, st.integers(0, 6), elements=st.floats(-1e6, 1e6)))
def test_minmax_is_within_bounds_and_silent_where_all_are_equal(scores):
    scaled = signals.minmax(scores)
    assert ((scaled >= 0) & (scaled <= 1)).all()
    if len(scores) and scores.max() - scores.min() > 1e-6:
        assert scaled[scores.argmax()] == 1
    if len(scores) > 1 and len(set(scores.tolist())) == 1:
        assert not scaled.any()


def test_scores_that_hardly_differ_stay_low():
    assert signals.minmax(np.array([0.2, 0.3, 0.25]), least=0.4).tolist() == pytest.approx(
        [0, 0.25, 0.125]
    )
    assert signals.minmax(np.array([0.2, 0.8]), least=0.4).tolist() == [0, 1]


def test_others_near_the_nearest_count_with_it():
    corpus_ = Corpus(
        windows_of([observation("r", s, s + 1, f"t{s}") for s in (0, 1, 31, 61, 62, 63)], 30)
    )
    cosines = np.array([0.5, 0.5, 0.5, 0.6, -0.9, -0.9])
    soft = signals.nearest(cosines, corpus_, softness=0.1)
    assert soft.tolist() == pytest.approx([0.5 + 0.1 * math.log(2), 0.5, 0.6], abs=1e-6)
    assert signals.nearest(cosines, corpus_, softness=0).tolist() == [0.5, 0.5, 0.6]
    # Many that are all on the other side do not add up to a match.
    assert (signals.nearest(-np.abs(cosines) / 10, corpus_, softness=0.1) < 0).all()


def test_a_lone_candidate_that_speaks_scores():
    assert signals.minmax(np.array([0.3])).tolist() == [1]
    assert signals.minmax(np.array([0.0])).tolist() == [0]


def speech(start: float, text: str, speaker: str | None = None):
    data = {"speaker": speaker} if speaker else {}
    return observation("r", start, start + 5, text, source="speech", track="speech/t", data=data)


def test_a_speaker_is_told_by_data_or_by_a_name_before_a_colon():
    assert said(speech(0, "hello", "Ana")) == ("Ana", "hello")
    assert said(speech(0, "Ana: hello there")) == ("Ana", "hello there")
    assert said(speech(0, "Ana: hello", "Ana")) == ("Ana", "hello")
    assert said(observation("r", 0, 1, "Note: hot")) == ("", "Note: hot")


def test_a_named_speaker_is_taken_out_of_the_question():
    text = "What did Ana's friend say to Bo?"
    assert names_in(text, ["Ana", "Bo", ""]) == {"Ana": "Ana", "Bo": "Bo"}
    assert without(text, ["Ana", "Bo", ""]) == "What did friend say to ?"
    assert names_in("Analysis of it?", ["Ana"]) == {}


def test_capitals_tell_a_name_from_a_word():
    assert names_in("Will I see Mark?", ["Will Rose", "Mark"]) == {
        "Will": "Will Rose",
        "Mark": "Mark",
    }
    assert names_in("Did it mark where the rose will be?", ["Will Rose", "Mark Ray"]) == {
        "rose": "Will Rose", "mark": "Mark Ray",
    }  # fmt: skip
    assert names_in("Did Ana mark where the rose will be?", ["Will Rose", "Mark Ray"]) == {}


def test_a_part_of_a_name_that_two_share_names_neither():
    assert names_in("What did the Speaker say?", ["Speaker 1", "Speaker 2"]) == {}


def test_an_answer_earns_from_the_question_before_it():
    corpus_ = Corpus(
        windows_of(
            [
                speech(0, "Where do you keep the ladder?", "Ana"),
                speech(30, "In the shed.", "Bo"),
                speech(60, "Nice.", "Ana"),
            ]
        )
    )
    of_each = signals.bm25(term_query("ladder"), corpus_, by="observation")
    assert list(signals.reply(of_each, corpus_) > 0) == [False, True, False]
    assert list(signals.speaker(["Bo"], corpus_)) == [0, 1, 0]
    assert not signals.speaker(["Bo", "Ana"], corpus_).any()


def test_options_count_their_share_and_a_shared_word_in_full():
    query = term_query("red cup", ["blue cup", "green"], share=0.3)
    assert {t.stem: t.weight for t in query.terms} == {
        "red": 1.0, "cup": 1.0, "blue": 0.3, "green": 0.3,
    }  # fmt: skip
    assert [(a.stem, b.stem) for a, b in query.pairs] == [("red", "cup")]


def test_a_question_of_stop_words_alone_is_still_a_question():
    assert [t.stem for t in term_query("who was it").terms] == ["who", "was", "it"]


def test_stop_words_are_not_counted():
    assert bag_of("the cup is on the shelf").words == {"cup": 1, "shelf": 1}


def test_the_lexicon_is_symmetric_and_never_names_a_word_its_own_relative():
    for stem in ("sit", "couch", "trash", "bag", "water"):
        for other in forms(stem):
            assert stem in forms(other)
        for other in alike(stem):
            assert stem in alike(other) or any(stem in alike(f) for f in forms(other))
        assert stem not in forms(stem) | alike(stem)
