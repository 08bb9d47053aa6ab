"""Answers given without looking at any memory: what a figure has to beat.

Each baseline gives the expected rightness of each question (ties between options are shared), or
NaN where it has nothing to go by.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np

from egomem.records import Question
from egomem.score.scored_answers import Floats, abstain_label, normalise_text

BaselineFunction = Callable[[Sequence[Question]], Floats]

TIME_PATTERN = re.compile(r"(?<![\d:])(?:(\d{1,2}):)?(\d{1,3}):([0-5]\d)(?:\.(\d+))?(?![\d:])")
"""A time of a recording in an option: `15:53`, `1:15:30`."""


def chance(questions: Sequence[Question]) -> Floats:
    """One over the number of options; NaN for an open question."""
    return np.array([1 / len(q.options) if q.options else np.nan for q in questions])


def longest_option(questions: Sequence[Question]) -> Floats:
    """The option with the most characters."""
    return _expected_rightness(questions, lambda texts: [float(len(text)) for text in texts])


def fixed_position(questions: Sequence[Question]) -> Floats:
    """Always the position that is right most often among these very questions."""
    max_options = max((len(q.options) for q in questions), default=0)
    by_position = [_right_at_position(questions, k) for k in range(max_options)]
    return max(
        by_position,
        key=lambda rightness: (float(np.nansum(rightness)),),
        default=_all_nan(questions),
    )


def option_overlap(questions: Sequence[Question]) -> Floats:
    """The option that shares most of its words with the other options (on average).

    Distractors are often made by changing a part of the right answer, which then lies between them.
    """
    return _expected_rightness(questions, _mean_word_overlap)


def earliest_time(questions: Sequence[Question]) -> Floats:
    """The option that names the earliest time; only where two or more options name one."""
    return _expected_rightness(questions, _earliness)


def always_abstain(questions: Sequence[Question]) -> Floats:
    """Right on the items that cannot be answered."""
    return np.array([float(q.answerable is False) for q in questions])


BASELINES: dict[str, BaselineFunction] = {
    "longest option": longest_option,
    "fixed position": fixed_position,
    "option overlap": option_overlap,
    "earliest time": earliest_time,
    "always abstain": always_abstain,
}
"""Every blind baseline by the name that tables show."""


BaselineMeans = dict[str, tuple[float, int]]
"""For chance and each baseline that has something to go by: its mean rightness, over how many."""

_MEANS_CACHE: dict[tuple[int, ...], tuple[tuple[Question, ...], BaselineMeans]] = {}
_MAX_CACHED = 1024


def baseline_means(questions: tuple[Question, ...]) -> BaselineMeans:
    """The baselines of a group of questions; "chance" is one of the names.

    A report asks again and again for the same groups, one time for each column, so they are kept by
    the identity of the questions, which are held on to as long.
    """
    key = tuple(map(id, questions))
    if key not in _MEANS_CACHE:
        # Emptied at once rather than by age: a report asks for the same groups in each pass, and
        # never for more than this many.
        if len(_MEANS_CACHE) >= _MAX_CACHED:
            _MEANS_CACHE.clear()
        result: BaselineMeans = {}
        for name, baseline in {"chance": chance, **BASELINES}.items():
            rightness = baseline(questions)
            defined = rightness[~np.isnan(rightness)]
            if len(defined):
                result[name] = (float(defined.mean()), len(defined))
        # The questions are kept with the result: else Python may give their ids to others, and the
        # cache would answer for those.
        _MEANS_CACHE[key] = (questions, result)
    return _MEANS_CACHE[key][1]


def _expected_rightness(
    questions: Sequence[Question], rank: Callable[[tuple[str, ...]], list[float] | None]
) -> Floats:
    ranked = (rank(tuple(o.text for o in q.options)) if q.options else None for q in questions)
    return np.array(
        [_chance_of_key(q, scores) for q, scores in zip(questions, ranked, strict=True)], np.float64
    )


def _chance_of_key(question: Question, scores: list[float] | None) -> float:
    """Probability of choosing the key where one of the best options is drawn at random."""
    # An open question has no options to choose from by a rule, and is left out by NaN: 0 would
    # lower the baseline and flatter the figure beside it.
    if not scores:
        return float("nan")
    best = max(scores)
    # Taking the first of tied options would give the baseline the key's position as a hint.
    chosen = {o.label for o, s in zip(question.options, scores, strict=True) if s == best}
    return (key_label(question) in chosen) / len(chosen)


def key_label(question: Question) -> str | None:
    """The label that is right: that of the abstaining option where nothing can be answered."""
    return abstain_label(question) if question.answerable is False else question.answer


def _right_at_position(questions: Sequence[Question], k: int) -> Floats:
    return np.array(
        [
            # A question with fewer options is missed by a position it does not have, not left out:
            # who always says E is wrong there.
            float(k < len(q.options) and q.options[k].label == key_label(q))
            if q.options
            else np.nan
            for q in questions
        ]
    )


@lru_cache(maxsize=1 << 14)  # a question stands in many rows of many views
def _mean_word_overlap(texts: tuple[str, ...]) -> list[float]:
    words = [set(normalise_text(text).split()) for text in texts]
    return [
        # Sums in another order differ in the last bits, and options that tie in truth would not be
        # tied.
        round(sum(_jaccard(a, b) for j, b in enumerate(words) if j != i), 9)
        for i, a in enumerate(words)
    ]


def _jaccard(a: set[str], b: set[str]) -> float:
    return len(a & b) / len(a | b) if a | b else 0.0


@lru_cache(maxsize=1 << 14)
def _earliness(texts: tuple[str, ...]) -> list[float] | None:
    matches = [TIME_PATTERN.search(text) for text in texts]
    # A single time among the options says nothing about which is earliest.
    if sum(match is not None for match in matches) < 2:
        return None
    return [-_seconds(match) if match else float("-inf") for match in matches]


def _seconds(match: re.Match[str]) -> float:
    hours, minutes, seconds, fraction = match.groups()
    return int(hours or 0) * 3600 + int(minutes) * 60 + float(f"{seconds}.{fraction or 0}")


def _all_nan(questions: Sequence[Question]) -> Floats:
    return np.full(len(questions), np.nan)
