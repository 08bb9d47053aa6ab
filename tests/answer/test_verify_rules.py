"""Which moments are looked at, and what a look may change: pure functions."""

from __future__ import annotations

import pytest

from egomem.answer.choice import ChoiceReading
from egomem.answer.reader import ordered, token_scores
from egomem.answer.verify.moments import by_recording, intervals, merged, within
from egomem.answer.verify.verdict import (
    Support,
    Verdict,
    decide,
    effect,
    has_clock_cue,
)
from egomem.answer.video import spread
from egomem.models import TokenLogprob
from egomem.recall import Hit
from egomem.records import Answer, Question, Recording, Status
from egomem.timeline import Span

QUESTION = Question.of("Where?", ["here", "there", "nowhere", "away"])


def base(choice: str | None) -> Answer:
    return Answer(text="", status=Status.PARSED, strategy="caption", choice=choice)


def hit(start: float, *, seed: bool, recording: str | None = "r", length: float = 30.0) -> Hit:
    return Hit(recording, Span(start, start + length), None, (), 1.0, seed=seed)


def recordings(duration: float = 600.0) -> dict[str, Recording]:
    return {"r": Recording(id="r", name="r", duration=duration)}


@pytest.mark.parametrize("support", list(Support))
@pytest.mark.parametrize("clock", [False, True])
@pytest.mark.parametrize("answer", ["A", "B", None])
def test_only_strong_support_for_another_option_without_a_clock_time(
    support: Support, clock: bool, answer: str | None
) -> None:
    verdict = Verdict(answer=answer, support=support)
    decision = decide(QUESTION, base("B"), verdict, clock_cue=clock)
    allowed = support is Support.STRONG and not clock and answer == "A"
    assert (decision.outcome == "overridden") == allowed
    if answer == "A" and not allowed:
        assert decision.outcome == "blocked"


def test_an_abstaining_or_unreadable_baseline_can_be_replaced() -> None:
    verdict = Verdict(answer="A", support=Support.STRONG)
    assert decide(QUESTION, base(None), verdict, clock_cue=False).outcome == "overridden"


def test_nothing_changes_without_a_verdict_or_options() -> None:
    assert decide(QUESTION, base("B"), None, clock_cue=False).outcome == "kept"
    verdict = Verdict(answer="on the shelf", support=Support.STRONG)
    open_ = Question.of("Where?")
    assert decide(open_, base(None), verdict, clock_cue=False).outcome == "kept"


def test_effects_are_told_by_the_key_and_unknown_without_one() -> None:
    keyed = QUESTION.model_copy(update={"answer": "A"})
    assert effect(keyed, "B", "A") == "fixed"
    assert effect(keyed, "A", "B") == "broken"
    assert effect(keyed, "B", "C") == effect(keyed, "A", "A") == "none"
    assert effect(QUESTION, "B", "A") == "unknown"


@pytest.mark.parametrize(
    ("text", "cue"),
    [
        ("What was done at 10:30?", True),
        ("What was done at 3 pm?", True),
        ("Who came at five o'clock?", True),
        ("What was eaten at noon?", True),
        ("What was eaten by midnight?", True),
        ("Who called at half past three?", True),
        ("Who called at 17h30?", True),
        ("What stood there at midday?", True),
        ("Who came at a quarter to four?", True),
        ("Who came at 7 in the evening?", True),
        ("What was bought yesterday evening?", False),
        ("What happened in the first five minutes?", False),
        ("How long did it take, 2 hours or 3?", False),
        ("What is on page 10?", False),
        ("How many cups, 3 or 4?", False),
        ("Was the amplifier on?", False),
    ],
)
def test_clock_times(text: str, cue: bool) -> None:
    assert has_clock_cue(Question.of(text, ["a", "b"])) is cue
    assert has_clock_cue(Question.of("When?", [text, "b"])) is cue


def test_a_stretch_is_a_seed_its_neighbours_and_five_seconds_clipped() -> None:
    hits = [hit(300, seed=True), hit(270, seed=False), hit(330, seed=False)]
    (one,) = intervals(hits, recordings(), most=3, count=4, pad=5)
    assert one.span == Span(265, 365)
    assert one.times == (277.5, 302.5, 327.5, 352.5)
    (first,) = intervals(
        [hit(0, seed=True), hit(30, seed=False)], recordings(50), most=3, count=4, pad=5
    )
    assert first.span == Span(0, 50)


def test_each_of_at_most_three_seeds_has_four_frames_of_its_own() -> None:
    hits = [hit(s, seed=True) for s in (200, 0, 100, 300)]
    looks = intervals(hits, recordings(), most=3, count=4, pad=5)
    assert [look.span for look in looks] == [Span(195, 235), Span(0, 35), Span(95, 135)]
    near = [hit(100, seed=True), hit(130, seed=False), hit(160, seed=True)]
    looks = intervals(near, recordings(), most=3, count=4, pad=5)
    assert [look.span for look in looks] == [Span(95, 165), Span(125, 195)]
    (frame_times,) = by_recording(looks, recordings())
    assert len(frame_times.times) == 8
    assert list(frame_times.times) == sorted(frame_times.times)


def test_a_seed_beside_another_is_its_neighbour_and_equal_times_are_shown_once() -> None:
    looks = intervals(
        [hit(100, seed=True), hit(130, seed=True)], recordings(), most=3, count=4, pad=5
    )
    assert [look.span for look in looks] == [Span(95, 165)] * 2
    (frame_times,) = by_recording(looks, recordings())
    assert len(frame_times.times) == 4


def test_intervals_that_go_over_the_limit_are_left_out_the_best_first() -> None:
    looks = intervals(
        [hit(s, seed=True) for s in (200, 0, 400)], recordings(), most=3, count=4, pad=5
    )
    assert within(looks, 12) == looks
    assert within(looks, 11) == looks[:2]
    assert [look.times for look in within(looks, 2)] == [(205.0, 225.0)]
    assert within([], 4) == []


def test_digests_and_what_lies_past_the_end_are_not_looked_at() -> None:
    hits = [hit(0, seed=True, recording=None), hit(900, seed=True)]
    assert intervals(hits, recordings(600), most=3, count=4, pad=5) == []


def test_merged() -> None:
    spans = [Span(5, 9), Span(0, 3), Span(3, 4), Span(8, 12)]
    assert merged(spans) == [Span(0, 4), Span(5, 12)]


@pytest.mark.parametrize(("duration", "most", "count"), [(10, 768, 10), (1000, 8, 8), (0.4, 9, 1)])
def test_frames_are_spread_and_never_repeat(duration: float, most: int, count: int) -> None:
    (look,) = spread([Recording(id="r", name="r", duration=duration)], most, 1.0)
    assert len(look.times) == len(set(look.times)) == count
    assert all(0 <= t < duration for t in look.times)


def test_frames_are_spread_over_the_joined_length() -> None:
    long, short = (Recording(id=i, name=i, duration=d) for i, d in (("a", 90.0), ("b", 30.0)))
    looks = spread([long, short], 4, 1.0)
    assert [len(look.times) for look in looks] == [3, 1]
    assert spread([], 4, 1.0) == []
    assert spread([Recording(id="r", name="r", duration=0.0)], 4, 1.0)[0].times == ()


def test_a_ranking_becomes_scores_that_keep_its_order() -> None:
    scores = ordered(ChoiceReading(Status.PARSED, "C", ("C", "A", "B", "D")))
    assert sorted(scores, key=lambda label: -scores[label]) == ["C", "A", "B", "D"]


def test_token_scores_skip_what_is_no_label_and_join_spellings() -> None:
    tokens = [
        TokenLogprob(token="The", logprob=0.0, top={"A": -1.0}),
        TokenLogprob(token=" A", logprob=-0.7, top={" A": -0.7, "A": -2.0, "B": -2.0, "x": -1.0}),
    ]
    scores = token_scores(QUESTION, tokens)
    assert list(scores) == ["A", "B"]
    assert scores["A"] > 0.7
    assert sum(scores.values()) == pytest.approx(1)
    assert token_scores(QUESTION, tokens[:1]) == token_scores(QUESTION, None) == {}
