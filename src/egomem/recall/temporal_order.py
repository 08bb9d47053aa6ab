"""What comes after, before or during an event, and which of several matches is meant."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from egomem.recall.corpus import Corpus, Scores
from egomem.recall.query import Order, Relation

FADING = 60.0
"""Seconds after which what follows an event is 1/e as likely to be what "after" means."""
_ANCHORS = 5
_STRONG = 0.7


def beside_event(
    relation: Relation, strength: Scores, corpus: Corpus, line: NDArray[np.int64], zeros: Scores
) -> Scores:
    """For each observation, how well it stands in a relation to the event that `strength` names.

    `line` is each observation's timeline, and `zeros` what is added to its seconds on that.

    "after" counts from the end of what tells of the event to the start of what follows, "before"
    from its start back to the end of what precedes, and fades; "while" is an overlap in time.
    """
    scores = np.zeros(len(strength))
    if not len(strength) or strength.max() <= 0:
        return scores
    starts, ends = corpus.starts + zeros, corpus.ends + zeros
    # Several, as the event may have happened more than once, or be told by two sources.
    anchors = np.argsort(-strength, kind="stable")[:_ANCHORS]
    for a in anchors[strength[anchors] >= _STRONG * strength.max()]:
        if relation == "after":
            gap = starts - ends[a]
        elif relation == "before":
            gap = starts[a] - ends
        else:
            gap = np.maximum(starts - ends[a], starts[a] - ends)
        # A second of overlap is allowed: captions of adjoining windows and speech touch and overlap
        # a little.
        follows = (gap > -1.0) if relation != "while" else (gap < 0)
        nearness = np.exp(-np.maximum(gap, 0.0) / FADING)
        score = np.where(follows & (line == line[a]), nearness, 0.0) * strength[a]
        # What tells of the event is no answer to what came after it.
        if relation != "while":
            score[a] = 0.0
        scores = np.maximum(scores, score)
    return scores


def ordered(
    ranked: Sequence[int],
    total: Scores,
    instant: Callable[[int], tuple[int, float]],
    order: Order,
) -> list[int]:
    """Those that match about as well as the best, by time; then the others as they were."""
    if not ranked:
        return []
    best = float(total[list(ranked)].max())
    # By time alone "the last time I saw Ana" would be the last moment that mentions anybody.
    strong = [i for i in ranked if total[i] >= _STRONG * best]
    chosen = set(strong)
    strong.sort(key=instant, reverse=order == "last")
    return strong + [i for i in ranked if i not in chosen]
