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
from egomem.score.scored_answers import Floats, abstain_label, normal

Baseline = Callable[[Sequence[Question]], Floats]

TIME = re.compile(r"(?<![\d:])(?:(\d{1,2}):)?(\d{1,3}):([0-5]\d)(?:\.(\d+))?(?![\d:])")
"""A time of a recording in an option: `15:53`, `1:15:30`."""


def chance(questions: Sequence[Question]) -> Floats:
    """One over the number of options; NaN for an open question."""
    return np.array([1 / len(q.options) if q.options else np.nan for q in questions])


def longest(questions: Sequence[Question]) -> Floats:
    """The option with the most characters."""
    return _choose(questions, lambda texts: [float(len(text)) for text in texts])


def fixed_position(questions: Sequence[Question]) -> Floats:
    """Always the position that is right most often among these very questions."""
    most = max((len(q.options) for q in questions), default=0)
    each = [_at(questions, k) for k in range(most)]
    return max(each, key=lambda got: (float(np.nansum(got)),), default=_nothing(questions))


def overlap(questions: Sequence[Question]) -> Floats:
    """The option that shares most of its words with the other options (on average).

    Distractors are often made by changing a part of the right answer, which then lies between them.
    """
    return _choose(questions, _shared)


def earliest_time(questions: Sequence[Question]) -> Floats:
    """The option that names the earliest time; only where two or more options name one."""
    return _choose(questions, _first_times)


def always_abstain(questions: Sequence[Question]) -> Floats:
    """Right on the items that cannot be answered."""
    return np.array([float(q.answerable is False) for q in questions])


BASELINES: dict[str, Baseline] = {
    "longest option": longest,
    "fixed position": fixed_position,
    "option overlap": overlap,
    "earliest time": earliest_time,
    "always abstain": always_abstain,
}
"""Every blind baseline by the name that tables show."""


Means = dict[str, tuple[float, int]]
"""For chance and each baseline that has something to go by: its mean rightness, over how many."""

_MEANS: dict[tuple[int, ...], tuple[tuple[Question, ...], Means]] = {}
_KEPT = 1024


def means(questions: tuple[Question, ...]) -> Means:
    """The baselines of a group of questions; "chance" is one of the names.

    A report asks again and again for the same groups, one time for each column, so they are kept by
    the identity of the questions, which are held on to as long.
    """
    key = tuple(map(id, questions))
    if key not in _MEANS:
        if len(_MEANS) >= _KEPT:
            _MEANS.clear()
        found: Means = {}
        for name, baseline in {"chance": chance, **BASELINES}.items():
            got = baseline(questions)
            known = got[~np.isnan(got)]
            if len(known):
                found[name] = (float(known.mean()), len(known))
        _MEANS[key] = (questions, found)
    return _MEANS[key][1]


def _choose(
    questions: Sequence[Question], rank: Callable[[tuple[str, ...]], list[float] | None]
) -> Floats:
    ranked = (rank(tuple(o.text for o in q.options)) if q.options else None for q in questions)
    return np.array(
        [_expected(q, scores) for q, scores in zip(questions, ranked, strict=True)], np.float64
    )


def _expected(question: Question, scores: list[float] | None) -> float:
    """Probability of choosing the key where one of the best options is drawn at random."""
    if not scores:
        return float("nan")
    best = max(scores)
    chosen = {o.label for o, s in zip(question.options, scores, strict=True) if s == best}
    return (key_of(question) in chosen) / len(chosen)


def key_of(question: Question) -> str | None:
    """The label that is right: that of the abstaining option where nothing can be answered."""
    return abstain_label(question) if question.answerable is False else question.answer


def _at(questions: Sequence[Question], k: int) -> Floats:
    return np.array(
        [
            float(k < len(q.options) and q.options[k].label == key_of(q)) if q.options else np.nan
            for q in questions
        ]
    )


@lru_cache(maxsize=1 << 14)  # a question stands in many rows of many views
def _shared(texts: tuple[str, ...]) -> list[float]:
    words = [set(normal(text).split()) for text in texts]
    return [
        round(sum(_jaccard(a, b) for j, b in enumerate(words) if j != i), 9)
        for i, a in enumerate(words)
    ]


def _jaccard(a: set[str], b: set[str]) -> float:
    return len(a & b) / len(a | b) if a | b else 0.0


@lru_cache(maxsize=1 << 14)
def _first_times(texts: tuple[str, ...]) -> list[float] | None:
    firsts = [TIME.search(text) for text in texts]
    if sum(found is not None for found in firsts) < 2:
        return None
    return [-_seconds(found) if found else float("-inf") for found in firsts]


def _seconds(found: re.Match[str]) -> float:
    hours, minutes, seconds, part = found.groups()
    return int(hours or 0) * 3600 + int(minutes) * 60 + float(f"{seconds}.{part or 0}")


def _nothing(questions: Sequence[Question]) -> Floats:
    return np.full(len(questions), np.nan)
