"""Segments of speech, cut where their words leave a gap.

A speech model hears a recording without its quiet stretches, and may join what was said before and
after one: such a segment dates its last words to its beginning, and a question that looks back
from between would see none of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import accumulate, pairwise

from egomem.observe.asr_filter import SpeechSegment

MAX_GAP_S = 1.0
"""Seconds between two words of a segment above which it is two (our reconstruction)."""


def cut_at_gaps(segment: SpeechSegment, max_gap: float = MAX_GAP_S) -> Iterator[SpeechSegment]:
    """The parts of a segment between gaps of its words, each with its own words, text and times.

    A segment without words, or whose words are not those of its text, stays whole.
    """
    words = list(segment.words)
    ends = list(accumulate((word[1] for word in words), max))
    begins = [k for k in range(1, len(words)) if words[k][0] - ends[k - 1] > max_gap]
    places = _places(segment) if begins else None
    if places is None:
        yield segment
        return
    edges = [0, *begins, len(words)]
    for first, after in pairwise(edges):
        text = segment.text[places[first] if first else 0 : places[after]]
        yield replace(
            segment,
            start=words[first][0] if first else min(segment.start, words[0][0]),
            end=max(word[1] for word in words[first:after]),
            text=text.strip(),
            words=words[first:after],
        )


def _places(segment: SpeechSegment) -> list[int] | None:
    """Where each word begins in the text, and the text's length; None where one is not there."""
    places, position = [], 0
    for _, _, word, _ in segment.words:
        place = segment.text.find(word.strip(), position)
        if place < 0:
            return None
        places.append(place)
        position = place + len(word.strip())
    return [*places, len(segment.text)]
