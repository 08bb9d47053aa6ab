"""Strict, answered and macro accuracy, and many tests at once, against plain loops and scipy."""

from __future__ import annotations

import itertools
import random
from collections import defaultdict
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from egomem.records import Status, Video
from egomem.score import (
    MIN_CLUSTERS,
    Interval,
    ScoredAnswers,
    accuracies,
    bootstrap,
    by_evidence_position,
    duration_strata,
    holm,
    interval_caution,
    middle_drop,
    middle_drop_interval,
    permutation_test,
    permutation_tests,
    score_answers,
    slice_table,
    summarise,
)


@pytest.fixture
def uneven(ask: Any, say: Any) -> list[ScoredAnswers]:
    """Two columns over 12 videos of 1 to 12 questions; some replies cannot be read."""
    rng = random.Random(4)
    videos = [Video(id=f"v{k:02}", duration=600.0 if k % 3 else 3000.0) for k in range(12)]
    questions = [
        ask(f"q{k}-{i}", "A", video=video.id)
        for k, video in enumerate(videos)
        for i in range(k + 1)
    ]
    runs = []
    for _ in range(2):
        answers = {}
        for q in questions:
            draw = rng.random()
            if draw < 0.15:
                answers[q.id] = say(status=Status.UNPARSABLE)
            elif draw < 0.2:
                answers[q.id] = say()  # abstained: read, and wrong
            elif draw < 0.97:
                answers[q.id] = say("A" if rng.random() < 0.3 + 0.05 * len(q.id) else "B")
        runs.append(score_answers(questions, answers, videos=videos))
    return runs


def test_the_three_accuracies_are_those_of_a_loop(uneven: list[ScoredAnswers]) -> None:
    for three, one in zip(accuracies(uneven), uneven, strict=True):
        right = read = 0
        by_video: dict[str | None, list[float]] = defaultdict(list)
        for question, answer in zip(one.questions, one.answers, strict=True):
            good = answer is not None and answer.choice == "A"
            right += good
            read += answer is not None and answer.status in (Status.PARSED, Status.ABSTAINED)
            by_video[question.recording].append(float(good))
        means = [sum(marks) / len(marks) for marks in by_video.values()]
        assert three.n == len(one) == 78
        assert three.strict.value == pytest.approx(right / 78)
        assert three.n_answered == read < 78
        assert three.answered is not None
        assert three.answered.value == pytest.approx(right / read)
        assert three.macro.value == pytest.approx(sum(means) / 12)
        assert three.clusters == 12
        assert len({three.strict.value, three.answered.value, three.macro.value}) == 3


def test_their_intervals_are_those_of_a_loop_over_videos(uneven: list[ScoredAnswers]) -> None:
    """Written again in plain Python: draw videos within strata, and count."""
    one = uneven[0]
    by_video: dict[str, list[int]] = defaultdict(list)
    for i, name in enumerate(one.clusters):
        by_video[name].append(i)
    kinds = dict(zip(one.clusters, duration_strata(one), strict=True))
    groups = [[v for v in by_video if kinds[v] == kind] for kind in sorted(set(kinds.values()))]
    assert [len(g) for g in groups] == [8, 4]
    rng = random.Random(11)
    drawn: dict[str, list[float]] = defaultdict(list)
    read = [float(s in ("parsed", "abstained")) for s in one.statuses]
    for _ in range(4000):
        videos = [v for g in groups for v in rng.choices(g, k=len(g))]
        picked = [i for v in videos for i in by_video[v]]
        drawn["strict"].append(sum(one.right[i] for i in picked) / len(picked))
        drawn["answered"].append(sum(one.right[i] for i in picked) / sum(read[i] for i in picked))
        means = [sum(one.right[i] for i in by_video[v]) / len(by_video[v]) for v in videos]
        drawn["macro"].append(sum(means) / len(means))
    three = accuracies([one], duration_strata(one), intervals="percentile")[0]
    for name, draws in drawn.items():
        interval = getattr(three, name)
        ends = sorted(draws)[100], sorted(draws)[3899]
        assert (interval.low, interval.high) == pytest.approx(ends, abs=0.012)


def test_macro_draws_within_strata_as_the_others_do(graded: Any) -> None:
    """All right on short videos and all wrong on long ones: no draw can differ."""
    rows = [(f"v{k}", 60.0 if k % 2 else 3000.0, "A", "A" if k % 2 else "B") for k in range(12)]
    one = graded(rows)
    three = accuracies([one], duration_strata(one))[0]
    assert (three.macro.low, three.macro.high) == (0.5, 0.5)
    assert accuracies([one])[0].macro.has_spread


def test_the_middle_drop_has_the_interval_of_a_loop(ask: Any, say: Any) -> None:
    rng = random.Random(2)
    videos = [Video(id=f"v{k:02}", duration=900.0 if k % 2 else 3000.0) for k in range(14)]
    questions = [
        ask(f"q{v.id}{i}", video=v.id, at=(v.duration or 0) * share)
        for v in videos
        for i, share in enumerate((0.1, 0.2, 0.4, 0.6, 0.8, 0.9))
    ]
    answers = {q.id: say("A" if rng.random() < (0.3 if q.id[-1] in "23" else 0.7) else "B")
               for q in questions}  # fmt: skip
    one = score_answers(questions, answers, videos=videos)

    def drop(rows: list[int]) -> float:
        bins: dict[int, list[float]] = defaultdict(list)
        for i in rows:
            bins[int(one.questions[i].id[-1]) // 2].append(one.right[i])
        first, middle, last = (sum(bins[b]) / len(bins[b]) for b in range(3))
        return (first + last) / 2 - middle

    by_video = {v.id: [i for i, c in enumerate(one.clusters) if c == v.id] for v in videos}
    groups = [[v.id for v in videos if v.duration == d] for d in (900.0, 3000.0)]
    drawn = sorted(
        drop([i for g in groups for v in rng.choices(g, k=len(g)) for i in by_video[v]])
        for _ in range(4000)
    )
    strata = duration_strata(one)
    interval = middle_drop_interval(one, by_evidence_position(), strata, intervals="percentile")
    assert interval is not None
    assert interval.value == pytest.approx(drop(list(range(len(one)))))
    assert interval.value == pytest.approx(middle_drop(slice_table(one, by_evidence_position())))
    assert (interval.low, interval.high) == pytest.approx((drawn[100], drawn[3899]), abs=0.025)
    assert (
        middle_drop_interval(
            one.only([q.id[-1] in "0123" for q in questions]), by_evidence_position()
        )
        is None
    )
    assert middle_drop_interval(one, by_evidence_position(2)) is None
    unstratified = middle_drop_interval(one, by_evidence_position(), intervals="percentile")
    assert unstratified != interval
    wider = middle_drop_interval(one, by_evidence_position(), strata)
    assert wider is not None
    assert wider.low < interval.low < interval.high < wider.high


def test_nothing_read_has_no_answered_accuracy(ask: Any, say: Any) -> None:
    scored = score_answers([ask("a"), ask("b", video="w")], {"a": say(status=Status.REFUSED)})
    got = accuracies([scored])[0]
    assert (got.answered, got.n_answered, got.strict.value) == (None, 0, 0.0)
    assert accuracies([]) == []


def test_a_summary_warns_of_few_videos(graded: Any) -> None:
    few = summarise(graded([("v1", 60.0, "A", "A"), ("v2", 3000.0, "A", "B")]))
    assert few.caution == "only 2 videos"  # each alone in its regime, so drawn together
    assert few.accuracies is not None
    assert few.accuracies.strict == few.accuracy
    many = summarise(graded([(f"v{k}", 60.0, "A", "AB"[k % 2]) for k in range(MIN_CLUSTERS)]))
    assert many.caution == ""


def test_a_caution_names_what_is_amiss() -> None:
    wide, point = Interval(value=0.5, low=0.4, high=0.6), Interval(value=1, low=1, high=1)
    assert interval_caution(wide, MIN_CLUSTERS) == ""
    assert interval_caution(wide, MIN_CLUSTERS - 1) == f"only {MIN_CLUSTERS - 1} videos"
    assert interval_caution(point, 75) == "all draws are alike"


def test_a_mean_over_models_is_that_of_a_loop() -> None:
    """Three models, frames and captions each; the interval keeps all of them for a drawn video."""
    rng = np.random.default_rng(8)
    videos = [f"v{k}" for k in rng.integers(0, 15, 150)]
    kinds = ["long" if int(v[1:]) < 9 else "short" for v in videos]
    right = rng.integers(0, 2, (150, 6)).astype(float)
    right[:, 3:] = np.maximum(right[:, 3:], rng.random((150, 3)) < 0.2)
    draws = bootstrap(right, videos, kinds, intervals="percentile")
    gap = draws.difference([3, 4, 5], [0, 1, 2])
    each = [sum(right[i][3 + m] - right[i][m] for i in range(150)) / 150 for m in range(3)]
    assert gap.value == pytest.approx(sum(each) / 3)
    by_video = defaultdict(list)
    for i, v in enumerate(videos):
        by_video[v].append(i)
    groups = [[v for v in by_video if kinds[by_video[v][0]] == k] for k in ("long", "short")]
    picker, drawn = random.Random(3), []
    for _ in range(4000):
        picked = [i for g in groups for v in picker.choices(g, k=len(g)) for i in by_video[v]]
        gaps = [sum(right[i][3 + m] - right[i][m] for i in picked) / len(picked) for m in range(3)]
        drawn.append(sum(gaps) / 3)
    drawn.sort()
    assert (gap.low, gap.high) == pytest.approx((drawn[100], drawn[3899]), abs=0.012)
    assert draws.standard_error([3, 4, 5], [0, 1, 2]) == pytest.approx(np.std(drawn), rel=0.06)


def test_the_test_of_a_mean_swaps_all_models_of_a_video() -> None:
    rng = np.random.default_rng(5)
    right = rng.integers(0, 2, (60, 4)).astype(float)
    videos = [f"v{k % 8}" for k in range(60)]
    gaps = right[:, :2] - right[:, 2:]
    got = permutation_tests(np.column_stack([gaps.mean(axis=1), gaps[:, 0]]), videos)
    by_video = [sum(gaps[i].mean() for i in range(60) if videos[i] == f"v{k}") for k in range(8)]
    observed = abs(sum(by_video)) - 1e-9
    as_far = [
        abs(sum(s * g for s, g in zip(signs, by_video, strict=True))) >= observed
        for signs in itertools.product((1, -1), repeat=8)
    ]
    assert got[0] == pytest.approx(sum(as_far) / 256)
    theirs = scipy_stats.permutation_test(
        (np.array(by_video), np.zeros(8)),
        lambda x, y, axis: np.sum(x - y, axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=np.inf,
    )
    assert got[0] == pytest.approx(theirs.pvalue)
    assert got[1] == permutation_test(right[:, 0], right[:, 2], videos)


def test_many_videos_are_tested_alike_at_once_and_alone() -> None:
    rng = np.random.default_rng(6)
    right = rng.integers(0, 2, (200, 3)).astype(float)
    videos = [f"v{k % 40}" for k in range(200)]
    gaps = right[:, :2] - right[:, 2:]
    both = permutation_tests(gaps, videos, resamples=500)
    alone = [permutation_test(right[:, k], right[:, 2], videos, resamples=500) for k in range(2)]
    assert both == pytest.approx(alone)


def test_holm_is_that_of_the_books() -> None:
    # Four tests: 0.005 * 4, 0.01 * 3, then never below what came before it.
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=9), st.floats(0.001, 0.5))
def test_holm_rejects_what_stepping_down_rejects(p: list[float], alpha: float) -> None:
    rejected = set()
    for step, k in enumerate(sorted(range(len(p)), key=lambda k: p[k])):
        if (len(p) - step) * p[k] > alpha:
            break
        rejected.add(k)
    assert {k for k, adjusted in enumerate(holm(p)) if adjusted <= alpha} == rejected
