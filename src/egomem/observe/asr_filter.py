"""Transcribed words that nobody said: dropped by the model's own figures, never by phrase.

Whisper writes subtitles for silence and noise ("Thanks for watching!"). Such text gives itself
away: the model itself thinks there was no speech and was unsure of the words, or it repeats itself.
A phrase list would also drop the person who does say "thank you".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Reason = Literal["no speech", "unsure", "repetition", "too fast"]


@dataclass(frozen=True, slots=True)
class SpeechSegment:
    """One segment of a transcript. Times in seconds; the figures are Whisper's.

    `words` are (start, end, word, probability, None where unknown).
    """

    start: float
    end: float
    text: str
    no_speech_prob: float = 0.0
    avg_logprob: float = 0.0
    words: Sequence[tuple[float, float, str, float | None]] = ()


@dataclass(frozen=True, slots=True)
class SegmentFilter:
    """Limits beyond which a segment is dropped; our reconstruction, after Whisper's own.

    `no_speech` and `unsure_of_silence` together: Whisper's rule for silence (0.6 and -1.0), with a
    stricter second half. `unsure`: mean log-probability of the tokens. `repeats`: a group of one to
    four words repeated this often in a row, or an equal segment this often. `rate`: letters a
    second; the fastest speakers stay below 30.
    """

    no_speech: float = 0.6
    unsure_of_silence: float = -0.7
    unsure: float = -1.2
    repeats: int = 6
    rate: float = 40.0

    def reason(self, segment: SpeechSegment) -> Reason | None:
        """Why a segment is dropped, or None if it is kept."""
        if segment.no_speech_prob > self.no_speech and segment.avg_logprob < self.unsure_of_silence:
            return "no speech"
        # Whisper invents whole sentences over silence and noise, and knows it: they have a low
        # probability.
        if segment.avg_logprob < self.unsure:
            return "unsure"
        # Its decoder gets caught in loops; nobody says one word six times over.
        if longest_run(segment.text.casefold().split()) >= self.repeats:
            return "repetition"
        # Half a second at least: short segments have rounded times.
        if len(segment.text) > self.rate * max(segment.end - segment.start, 0.5):
            return "too fast"
        return None

    def loops(self, segments: Sequence[SpeechSegment]) -> set[int]:
        """The positions of segments that only repeat: of a run of equal ones (or of two or three in
        turn) all but the first, and those that are one group of words over and over.
        """
        within = {
            position
            for position, segment in enumerate(segments)
            if longest_run(segment.text.casefold().split()) >= self.repeats
        }
        return within | _repeated(segments, self.repeats)

    def sift(
        self, segments: Sequence[SpeechSegment]
    ) -> tuple[list[SpeechSegment], Counter[Reason]]:
        """Return the segments to keep, and how many were dropped for which reason.

        Of equal segments in a row the first is kept, if nothing else speaks against it.
        """
        kept: list[SpeechSegment] = []
        dropped: Counter[Reason] = Counter()
        repeats = _repeated(segments, self.repeats)
        for position, segment in enumerate(segments):
            reason = "repetition" if position in repeats else self.reason(segment)
            if reason:
                dropped[reason] += 1
            else:
                kept.append(segment)
        return kept, dropped


def longest_run(words: Sequence[str]) -> int:
    """The most times that a group of one to four words follows itself: "no no no" is 3."""
    longest = 1 if words else 0
    for size in range(1, 5):
        run = 0  # how many words in a row equal the word `size` before them
        for position in range(size, len(words)):
            run = run + 1 if words[position] == words[position - size] else 0
            longest = max(longest, 1 + run // size)
    return longest


def _repeated(segments: Sequence[SpeechSegment], repeats: int) -> set[int]:
    """Positions of runs in which one to three segments come at least `repeats` times in turn,
    without their first time.
    """
    texts = [_plain(segment) for segment in segments]
    positions: set[int] = set()
    # Loops of the decoder take turns, too: "Thank you." "Bye." "Thank you." "Bye."
    for size in range(1, 4):
        run = 0  # how many segments in a row equal the one `size` before them
        for position in range(size, len(texts) + 1):
            if position < len(texts) and texts[position] == texts[position - size]:
                run += 1
                continue
            if run >= size * (repeats - 1):
                positions.update(range(position - run, position))
            run = 0
    return positions


def _plain(segment: SpeechSegment) -> str:
    # Each round of a loop may have another dot or capital.
    return "".join(c for c in segment.text.casefold() if c.isalnum())
