"""Ranking metrics against independent implementations, and their edge rules."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import ir_measures
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import label_ranking_average_precision_score

from egomem.records import Evidence, Question, Status
from egomem.score import (
    hit_at,
    mrr,
    option_rank,
    recall_at,
    reciprocal_rank,
    reciprocal_rank_at,
    retrieval_metrics,
    score_answers,
)
from egomem.timeline import Span

few = st.lists(st.integers(0, 3).map(float), min_size=1, max_size=5)


@given(few, st.data())
def test_ties_share_the_expected_rank_over_every_order(scores: list[float], data: Any) -> None:
    gold = data.draw(st.integers(0, len(scores) - 1))
    ranks = []
    for order in itertools.permutations(range(len(scores))):
        ranked = sorted(order, key=lambda i: -scores[i])  # stable: ties as in this order
        ranks.append(1 / (ranked.index(gold) + 1))
    assert reciprocal_rank(scores, gold) == pytest.approx(np.mean(ranks))


@given(st.lists(st.floats(-5, 5), min_size=2, max_size=6, unique=True), st.data())
def test_without_ties_it_is_scikit_learns(scores: list[float], data: Any) -> None:
    gold = data.draw(st.integers(0, len(scores) - 1))
    truth = np.eye(len(scores), dtype=int)[[gold]]
    expected = label_ranking_average_precision_score(truth, [scores])
    assert reciprocal_rank(scores, gold) == pytest.approx(expected)


def test_a_constant_scorer_earns_the_expectation_wherever_the_key_stands(
    ask: Any, say: Any
) -> None:
    flat = dict.fromkeys("ABCD", 0.25)
    for key in "ABCD":
        answer = say("A", scores=flat)
        # Its choice is A, and choosing does not break a tie of the scores.
        assert option_rank(ask(key=key), answer) == pytest.approx((1 + 1 / 2 + 1 / 3 + 1 / 4) / 4)


def test_a_lone_letter_is_first_and_the_others_are_tied(ask: Any, say: Any) -> None:
    assert option_rank(ask(key="C"), say("C")) == 1.0
    assert option_rank(ask(key="D"), say("C")) == pytest.approx((1 / 2 + 1 / 3 + 1 / 4) / 3)
    scored = say("B", scores={"B": 0.7, "A": 0.2})
    assert option_rank(ask(key="A"), scored) == 1 / 2
    assert option_rank(ask(key="D"), scored) == pytest.approx((1 / 3 + 1 / 4) / 2)


def test_a_reply_without_a_reading_has_no_rank_and_abstaining_ranks_its_option(
    ask: Any, say: Any
) -> None:
    assert option_rank(ask(key="A"), say(status=Status.ERROR, scores={"A": 1.0})) == 0.0
    assert option_rank(ask(key="A"), None) == 0.0
    offered = ask(key="D", answerable=False)
    assert option_rank(offered, say()) == 1.0
    assert option_rank(ask(key="A"), say()) == pytest.approx(25 / 48)
    assert option_rank(Question(id="o", text="?", answer="red"), say(text="red")) is None


def test_the_mean_is_of_reciprocals_and_leaves_out_what_cannot_be_ranked(
    ask: Any, say: Any
) -> None:
    scores = {"A": 0.9, "B": 0.5, "C": 0.3, "D": 0.1}
    questions = [ask("first", "A"), ask("last", "D"), Question(id="open", text="?", answer="x")]
    answers = {q.id: say("A", scores=scores, text="x") for q in questions}
    value = mrr(score_answers(questions, answers))
    assert value.value == pytest.approx((1 + 1 / 4) / 2)
    assert (value.n, value.left_out) == (2, 1)


@settings(max_examples=60)
@given(
    st.lists(st.integers(0, 9), min_size=1, max_size=10, unique=True),
    st.sets(st.integers(0, 9), min_size=1, max_size=4),
    st.integers(1, 10),
)
def test_retrieval_agrees_with_ir_measures(ranked: list[int], gold: set[int], k: int) -> None:
    qrels = [ir_measures.Qrel("q", str(d), 1) for d in gold]
    run = [ir_measures.ScoredDoc("q", str(d), -float(r)) for r, d in enumerate(ranked)]
    metrics = [ir_measures.R @ k, ir_measures.RR @ k, ir_measures.Success @ k]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = ir_measures.calc_aggregate(metrics, qrels, run)
    got = [f(ranked, gold, k) for f in (recall_at, reciprocal_rank_at, hit_at)]
    assert got == pytest.approx([expected[m] for m in metrics])


def test_edge_rules() -> None:
    assert recall_at(["w7", "w7", "w2"], ["w7"], 2) == 1.0  # retrieved counts once
    assert recall_at(["w7", "w7", "w2"], ["w2"], 2) == 1.0  # and takes one place
    assert reciprocal_rank_at([*range(11), "hit"], ["hit"], 10) == 0.0
    assert reciprocal_rank_at([*range(11), "hit"], ["hit"], 12) == 1 / 12
    assert recall_at(["w1"], [], 5) is reciprocal_rank_at(["w1"], [], 5) is None
    assert recall_at([], ["w1"], 5) == 0.0


def test_moments_hit_where_they_overlap_evidence_of_their_recording() -> None:
    def asked(id: str, *spans: tuple[float, float]) -> Question:
        pieces = tuple(Evidence(recording="v", span=Span(*s)) for s in spans)
        return Question(id=id, text="?", recording="v", evidence=pieces)

    questions = [asked("a", (10, 20), (95, 95)), asked("b", (0, 5)), asked("none")]
    retrieved = {
        "a": [("w", Span(0, 30)), ("v", Span(20, 30)), ("v", Span(90, 120)), ("v", Span(0, 11))],
        "none": [("v", Span(0, 30))],
    }
    values = retrieval_metrics(retrieved, questions, ks=(2, 3, 10))
    assert (values.n, values.left_out) == (2, 1)
    assert values.hit == {2: 0.0, 3: 0.5, 10: 0.5}
    assert values.recall == {2: 0.0, 3: 0.25, 10: 0.5}
    assert values.mrr == {2: 0.0, 3: pytest.approx(1 / 6), 10: pytest.approx(1 / 6)}
