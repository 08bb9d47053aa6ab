"""What speaks for a window: small functions over candidates, one score each, in their order.

CapMem names BM25, hash-cosine, word overlap and time hints, and gives no formulas: these are our
reconstructions, and so are the signals of our own that stand beside them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal
from zlib import crc32

import numpy as np

from egomem.memory.bm25 import idf, norm
from egomem.recall.corpus import Corpus, Scores
from egomem.recall.moments import MomentWindow
from egomem.recall.query import Query
from egomem.recall.terms import Term, TermQuery, features


@dataclass(frozen=True, slots=True)
class Statistics:
    """How common each stem is among the view's observations, where the candidates are not all."""

    count: int
    frequencies: Mapping[str, int]

    def frequency(self, term: Term) -> int:
        return min(self.count, sum(self.frequencies.get(stem, 0) for stem in term.own))


def bm25(
    terms: TermQuery,
    corpus: Corpus,
    *,
    k1: float = 1.5,
    b: float = 0.4,
    like: float = 0.0,
    by: Literal["window", "observation"] = "window",
    statistics: Statistics | None = None,
) -> Scores:
    """BM25 of windows, or with `by="observation"` of observations, with Lucene's idf.

    A word counts in all its forms; words much like it count `like` of one
    together. Without `statistics`
    the candidates are all there is.
    """
    whole = by == "window"
    lengths = corpus.window_lengths if whole else corpus.lengths
    damping = norm(lengths, max(1e-9, lengths.mean()), k1=k1, b=b) if len(lengths) else lengths
    damping = np.maximum(damping, 1e-9)  # of a text without words, where b is 1
    scores = np.zeros(len(lengths))

    def spread(counts: Scores) -> Scores:
        return corpus.sums(counts) if whole else counts

    for term in terms.terms:
        times = spread(corpus.index.counts(term.own))
        weight = _weight(term, times, statistics)
        # Counted once, however often it stands there: three sofas are no better proof of a couch
        # than one.
        if like and term.like:
            times = times + like * (spread(corpus.index.counts(term.like)) > 0)
        scores += term.weight * weight * times * (k1 + 1) / (times + damping)
    return scores


def _weight(term: Term, times: Scores, statistics: Statistics | None) -> float:
    if statistics is None:
        return idf(len(times), int(np.count_nonzero(times)))
    return idf(statistics.count, statistics.frequency(term))


def pairs(terms: TermQuery, corpus: Corpus, statistics: Statistics | None = None) -> Scores:
    """BM25 of neighbouring words that stand together in a window too, in either order ("rice bag",
    "bag of rice"); k1 .9, no length.

    A pair is as telling as its two words are on average, so it needs no statistics of its own.
    """
    scores = np.zeros(len(corpus.windows))
    for one, two in terms.pairs:
        # Either order: who asks for the rice bag may have said "a bag of rice".
        either = (pair for a in one.own for z in two.own for pair in ((a, z), (z, a)))
        times = corpus.sums(corpus.index.pair_counts(either))
        if times.any():
            weights = [
                _weight(term, corpus.sums(corpus.index.counts(term.own)), statistics)
                for term in (one, two)
            ]
            scores += sum(weights) / 2 * times * 1.9 / (times + 0.9)
    return scores


def nearest(cosines: Scores, corpus: Corpus, *, softness: float) -> Scores:
    """How near a window's observations are to the question: `s ln sum(exp(cosine / s))` with the
    softness s, which is the largest cosine, or more where others come close to it.

    Where none is on the question's side (above 0) it is the largest alone.
    """
    largest = corpus.best(cosines)
    if softness <= 0 or not len(cosines):
        return largest
    top = cosines.max()
    # Below exp(-700) floats underflow, and the logarithm of a sum of zeros is no number.
    shares = np.exp(np.maximum((cosines - top) / softness, -700.0))
    soft: Scores = top + softness * np.log(corpus.sums(shares))
    # Many that are all on the other side of the question must not add up to a match.
    return np.where(largest > 0, soft, largest)


def hash_cosine(text: str, windows: Sequence[MomentWindow], *, dimensions: int = 1024) -> Scores:
    """The cosine of signed feature hashes of words, word pairs and 3- to 5-grams of letters."""
    query_features = _hashed(text, dimensions)
    return np.array([_cosine(query_features, _hashed(w.text, dimensions)) for w in windows])


def _hashed(text: str, dimensions: int) -> dict[int, float]:
    vector: dict[int, float] = {}
    for feature in features(text):
        code = crc32(feature.encode())
        slot = code % dimensions
        # The sign keeps two features that share a slot from always adding up (feature hashing,
        # Weinberger et al. 2009). CRC32, as Python's own hash differs from process to process.
        vector[slot] = vector.get(slot, 0.0) + (1.0 if code >> 31 else -1.0)
    return vector


def _cosine(a: Mapping[int, float], b: Mapping[int, float]) -> float:
    dot = sum(value * b.get(slot, 0.0) for slot, value in a.items())
    norms = math.sqrt(sum(v * v for v in a.values()) * sum(v * v for v in b.values()))
    return dot / norms if norms else 0.0


def overlap(terms: TermQuery, corpus: Corpus) -> Scores:
    """The share of the query's distinct words that a window holds: `|Q ∩ W| / |Q|`."""
    matched = np.zeros(len(corpus.windows))
    for term in terms.terms:
        # Each word once, as in |Q ∩ W|: repetition is BM25's matter.
        matched += corpus.sums(corpus.index.counts([term.stem])) > 0
    return matched / max(1, len(terms.terms))


def time_hints(
    windows: Sequence[MomentWindow],
    durations: Mapping[str, float],
    hints: Mapping[str, Sequence[float]],
) -> Scores:
    """How near a window is to a hinted place of its recording: `exp(-|place - hint| / 0.2)`.

    `hints` are places by recording, shares of it (0 its start, 1 its end); the nearest counts.
    """
    scores = np.zeros(len(windows))
    for i, w in enumerate(windows):
        duration = durations.get(w.recording or "", 0.0)
        here = hints.get(w.recording or "", ())
        if here and duration > 0:
            place = w.span.middle / duration
            # .2 of a recording is our reconstruction: CapMem names time hints and gives no formula.
            scores[i] = max(math.exp(-abs(place - hint) / 0.2) for hint in here)
    return scores


_PLACES = (
    (0.0, re.compile(r"\b(?:beginning|start|started|first|initially|earliest)\b", re.IGNORECASE)),
    (0.25, re.compile(r"\b(?:before|earlier|second)\b", re.IGNORECASE)),
    (0.5, re.compile(r"\b(?:middle|halfway|midway|third)\b", re.IGNORECASE)),
    (0.75, re.compile(r"\b(?:after|later|afterwards)\b", re.IGNORECASE)),
    (1.0, re.compile(r"\b(?:end|ending|last|finally|final|latest)\b", re.IGNORECASE)),
)


def hinted_places(query: Query, duration: float) -> tuple[float, ...]:
    """CapMem's time hints as shares of a recording of `duration` seconds (our reconstruction).

    Words for beginning, middle and end, first and last, before and after, and times of the
    recording such as 12:30.
    """
    shares = [place for place, words in _PLACES if words.search(query.text)]
    if duration > 0:
        spans = [t.span for t in query.times if t.span is not None]
        shares += [span.middle / duration for span in spans if span.middle <= duration]
    return tuple(shares)


def speaker(named: Sequence[str], corpus: Corpus) -> Scores:
    """1 for observations that the one named speaker said; 0 for all where several are named."""
    # "What did Ana tell Ben?": both speak, and which of them answers is not known.
    if len(named) != 1:
        return np.zeros(len(corpus.observations))
    return np.array([float(who == named[0]) for who in corpus.speakers])


def reply(question_scores: Scores, corpus: Corpus) -> Scores:
    """For a line that answers another speaker's question, what that question scored."""
    before = corpus.asked_before
    return np.where(before >= 0, question_scores[before], 0.0)


def fullness(corpus: Corpus) -> Scores:
    """How much was observed: of two windows that match alike, the fuller one likelier holds it."""
    # By the logarithm: a window with 300 words is not ten times likelier than one with 30.
    return np.log1p(corpus.window_lengths)


def minmax(scores: Scores, least: float = 0.0) -> Scores:
    """Scores on `[0, 1]`; a signal that says the same of every candidate says nothing: all 0.

    Scores that range over less than `least` stay below 1 in proportion.
    Of a lone candidate, which has nothing to be compared with, it says whether it speaks at all.
    """
    if len(scores) == 1:
        # Min-max of one value is 0 / 0.
        return (scores > 0).astype(np.float64)
    if not len(scores) or (spread := scores.max() - scores.min()) <= 1e-12:
        return np.zeros(len(scores))
    # Plain min-max makes much of cosines of .71 and .72, which is noise.
    scaled: Scores = (scores - scores.min()) / max(spread, least)
    return scaled
