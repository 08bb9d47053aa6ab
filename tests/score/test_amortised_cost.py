"""The published accounting comes out of a manifest with the paper's totals."""

from __future__ import annotations

from typing import Any

import pytest

from egomem.records import Question, Usage, Video
from egomem.score import amortise, count_frames, pareto_front, tokens_per_question


@pytest.fixture
def capmem() -> tuple[list[Video], list[Question]]:
    """75 videos of 33.7 h, 47 of them long; 1,000 questions, 792 of them on long videos.

    Which short video has which length is ours; only totals are published.
    """
    long = [Video(id=f"long{k}", duration=2266.15) for k in range(47)]
    lengths = [(707, 23), *[(700, 8)] * 12, (700, 7), (350, 0), *[(358, 6)] * 12, (358, 10)]
    short = [Video(id=f"short{k}", duration=d + 0.9) for k, (d, _) in enumerate(lengths)]
    about = [f"long{k % 47}" for k in range(792)]
    about += [f"short{k}" for k, (_, count) in enumerate(lengths) for _ in range(count)]
    return long + short, [Question(id=str(k), text="?", recording=v) for k, v in enumerate(about)]


def test_frames(capmem: tuple[list[Video], list[Question]]) -> None:
    videos, questions = capmem
    assert (len(videos), len(questions)) == (75, 1000)
    assert sum(v.duration or 0 for v in videos) / 3600 == pytest.approx(33.7, abs=0.01)
    frames = count_frames(videos, questions, cap=768, fps=1.0, passes=2)
    assert (frames.per_pass, frames.build, frames.direct) == (50_907, 101_814, 725_973)
    assert frames.ratio == pytest.approx(7.130, abs=5e-4)
    assert count_frames(videos, questions, cap=None).per_pass > 121_000


def test_tokens_at_reuse() -> None:
    for build, ask, once, often in (
        (326_200, 3_800, 330_000, 14_000),
        (325_000, 9_800, 334_800, 20_000),
    ):
        tokens = tokens_per_question(build, ask)
        assert list(tokens) == [1, 2, 4, 8, 16, 32]
        assert tokens[1] == once
        assert tokens[32] == pytest.approx(often, abs=50)
        assert tokens[2] == (tokens[1] - ask) / 2 + ask


def test_a_video_of_unknown_length_is_counted_apart_and_frames_are_whole() -> None:
    videos = [Video(id="a", duration=29.999), Video(id="b"), Video(id="c", duration=30.0)]
    questions = [Question(id=v, text="?", recording=v) for v in "abc"]
    frames = count_frames(videos, questions, cap=None, passes=1)
    assert (frames.per_pass, frames.direct, frames.unknown) == (59, 59, 1)
    assert count_frames(videos, questions, cap=None, fps=0.1, passes=1).per_pass == 5
    assert count_frames([], []).ratio is None


def test_costs_per_question_and_money_as_a_lower_bound() -> None:
    asked = {
        str(k): Usage(requests=1, tokens_in=90, tokens_out=10, frames=4, cost=0.01)
        for k in range(8)
    }
    built = {
        v: Usage(requests=3, tokens_in=3000, tokens_out=200, frames=60, cost=0.2) for v in "ab"
    }
    costs = amortise(asked, built, reuse=(1, 4))
    assert costs.tokens == {1: 3300.0, 4: 900.0}
    assert costs.frames == {1: 64.0, 4: 19.0}
    assert costs.money == pytest.approx(0.48)
    assert not costs.money_is_lower_bound
    asked["8"] = Usage(requests=1, tokens_in=5)
    assert amortise(asked, built).money_is_lower_bound
    assert not amortise({"9": Usage()}).money_is_lower_bound  # nothing was asked: it cost nothing


def test_money_is_a_lower_bound_where_one_of_a_questions_requests_has_no_price() -> None:
    """A reader without a price and a verifier with one, and the other way round."""
    free, priced = Usage(requests=2, tokens_in=40), Usage(requests=1, tokens_in=9, cost=0.5)
    for both in (free + priced, priced + free, Usage() + free + priced):
        costs = amortise({"q": both})
        assert (costs.money, costs.money_is_lower_bound) == (0.5, True)
    assert amortise({"q": Usage()}, {"v": free + priced}).money_is_lower_bound
    assert not amortise({"q": priced + priced, "r": Usage() + priced}).money_is_lower_bound


def test_what_is_not_known_makes_no_smaller_number() -> None:
    asked = {"q": Usage(requests=1, tokens_in=90, frames=2, seconds=3.0, cost=0.5)}
    built = {"v": Usage(requests=1, tokens_in=800, frames=30, seconds=4.0, cost=0.25)}
    whole = amortise(asked, built, reuse=(1, 5))
    assert (whole.tokens, whole.prices) == ({1: 890.0, 5: 250.0}, {1: 0.75, 5: 0.55})
    assert (whole.counted, whole.whole, whole.money_is_lower_bound) == (True, True, False)
    part = amortise(asked, built, counted=False)
    assert (part.tokens, part.frames, part.prices) == ({}, {}, {})
    assert (part.counted, part.whole, part.money_is_lower_bound) == (False, False, True)
    few = amortise(asked, built, reuse=(1, 5), lost=1)
    assert (few.tokens, few.whole, few.money_is_lower_bound) == (whole.tokens, False, True)


def test_the_front_holds_what_nothing_beats() -> None:
    points: dict[str, Any] = {
        "dear": (9.0, 0.6), "good": (5.0, 0.6), "cheap": (1.0, 0.3), "worse": (2.0, 0.3),
        "same": (1.0, 0.3), "middle": (2.0, 0.5), "near": (2.0, 0.4),
    }  # fmt: skip
    assert pareto_front(points) == ["cheap", "same", "middle", "good"]
    assert pareto_front({}) == []
