"""What a memory costs to build and to ask: frames, tokens, money, and what reuse makes of them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from pydantic import Field

from egomem.defaults import DEFAULT_FPS, MAX_FRAMES
from egomem.records import Question, Record, Usage, Video

REUSE_COUNTS = (1, 2, 4, 8, 16, 32)
"""Questions that share one memory, as CapMem reports them."""


class FrameCounts(Record):
    """Frames that go into building captions, and into asking with frames.

    `per_pass`: one caption granularity. `build`: all of them. `direct`: frames sent again for each
    question. `unknown`: videos without a length, which are not counted.
    """

    per_pass: int
    passes: int
    direct: int
    unknown: int = 0

    @property
    def build(self) -> int:
        return self.per_pass * self.passes

    @property
    def ratio(self) -> float | None:
        """How many times more frames direct asking takes; None where building takes none."""
        return self.direct / self.build if self.build else None


def count_frames(
    videos: Iterable[Video],
    questions: Iterable[Question],
    *,
    cap: int | None = MAX_FRAMES,
    fps: float = DEFAULT_FPS,
    passes: int = 2,
) -> FrameCounts:
    """Frames of captions built once for each video against frames for each question.

    Each is min(cap, floor(duration * fps)); `passes` is the number of caption granularities. That
    CapMem's totals are capped in both is inferred from its numbers (methods A.4).
    """
    videos_by_id = {video.id: video for video in videos}
    frames_of_video = {
        id: sampled_frames(v.duration, cap=cap, fps=fps) for id, v in videos_by_id.items()
    }
    return FrameCounts(
        per_pass=sum(n or 0 for n in frames_of_video.values()),
        passes=passes,
        direct=sum(frames_of_video.get(q.recording or "") or 0 for q in questions),
        unknown=sum(n is None for n in frames_of_video.values()),
    )


def sampled_frames(duration: float | None, *, cap: int | None, fps: float) -> int | None:
    """Frames of a video of that many seconds, at most `cap`; None where its length is unknown."""
    if duration is None:
        return None
    # Durations are floats: 12.6 s at 10 fps gives 125.999... frames without the tolerance.
    count = math.floor(duration * fps + 1e-9)
    return count if cap is None else min(cap, count)


def tokens_per_question(
    build: float, ask: float, reuse: Sequence[int] = REUSE_COUNTS
) -> dict[int, float]:
    """B/n + q for each n: `build` tokens for a video's memory, `ask` for one question (A.4)."""
    # CapMem publishes 330k-335k tokens at n = 1 and 14k-20k at n = 32; this formula and no other
    # gives one build of 325k-326k for both.
    return {n: build / n + ask for n in reuse}


class AmortisedCost(Record):
    """What asking took, and what building did; per question where n questions share a memory.

    `questions` are those whose usage is known. `money` is in US dollars, over all questions and the
    build; a lower bound where a price or the build is unknown, as `seconds` are where `whole` is
    False. `tokens`, `frames` and `prices` (US dollars) at each reuse are the build of one video
    over n, and one question; {} where the build is not `counted`, since less would be wrong.
    """

    questions: int
    videos: int
    tokens_build: int
    tokens_ask: int
    frames_build: int
    frames_ask: int
    seconds: float
    money: float
    money_is_lower_bound: bool
    tokens: dict[int, float]
    frames: dict[int, float]
    prices: dict[int, float] = Field(default_factory=dict)
    counted: bool = True
    whole: bool = True


def amortise(
    usage_of_questions: Mapping[str, Usage],
    usage_of_videos: Mapping[str, Usage] | None = None,
    *,
    reuse: Sequence[int] = REUSE_COUNTS,
    counted: bool = True,
    lost: int = 0,
) -> AmortisedCost:
    """From the usage of each question, and of each video's captions.

    Tokens are those sent and received; cached ones count, as the work was asked for. `counted`:
    whether `built` is all that building took. `lost`: questions whose usage is not known.
    """
    build_usage = sum((usage_of_videos or {}).values(), Usage())
    ask_usage = sum(usage_of_questions.values(), Usage())
    usages = [*usage_of_questions.values(), *(usage_of_videos or {}).values()]
    videos, questions = len(usage_of_videos or {}), len(usage_of_questions)
    per_video, per_question = 1 / max(1, videos), 1 / max(1, questions)
    complete = counted and not lost

    def each_at(built_of: float, asked_of: float) -> dict[int, float]:
        # Reuse counts the questions on one video's memory, so the build is that of a mean video,
        # whatever the number of questions in this run.
        spread = tokens_per_question(built_of * per_video, asked_of * per_question, reuse)
        return spread if counted else {}

    return AmortisedCost(
        questions=questions,
        videos=videos,
        tokens_build=_total_tokens(build_usage),
        tokens_ask=_total_tokens(ask_usage),
        frames_build=build_usage.frames,
        frames_ask=ask_usage.frames,
        seconds=build_usage.seconds + ask_usage.seconds,
        money=(build_usage.cost or 0.0) + (ask_usage.cost or 0.0),
        # One request without a price makes the sum too low; taking it for 0 would let a model of
        # unknown price win.
        money_is_lower_bound=not complete or any(u.without_price for u in usages),
        tokens=each_at(_total_tokens(build_usage), _total_tokens(ask_usage)),
        frames=each_at(build_usage.frames, ask_usage.frames),
        prices=each_at(build_usage.cost or 0.0, ask_usage.cost or 0.0),
        counted=counted,
        whole=complete,
    )


def _total_tokens(usage: Usage) -> int:
    return usage.tokens_in + usage.tokens_out


def pareto_front(points: Mapping[str, tuple[float, float]]) -> list[str]:
    """Names on the front of (cost, accuracy): none is cheaper and as good, or better and as cheap.

    In order of cost.
    """
    best = -math.inf
    names: list[str] = []
    # The better of two that cost the same must come first, or the worse one would enter the front.
    for name, (price, accuracy) in sorted(points.items(), key=lambda p: (p[1][0], -p[1][1], p[0])):
        # Of two that tie in both, neither beats the other: both stand on the front.
        if accuracy > best or (names and points[names[-1]] == (price, accuracy)):
            names.append(name)
            best = max(best, accuracy)
    return names
