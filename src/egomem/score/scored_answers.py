"""Scored answers as parallel vectors, which every figure is made from."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from egomem.records import ABSTAIN_OPTION, Answer, Question, Status, Video

Mask = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]

MISSING = "missing"
"""The status of a question that has no answer; it counts as wrong, and is shown."""

STATUSES = (*(s.value for s in Status), MISSING)
"""Every status, in the order of tables."""


def abstains(question: Question, answer: Answer | None) -> bool:
    """Whether an answer says that the question cannot be answered, by status or by option."""
    if answer is None:
        return False
    return answer.abstained or (
        answer.choice is not None and answer.choice == abstain_label(question)
    )


def abstain_label(question: Question) -> str | None:
    """The label of the option that says "cannot be answered", where the question offers one.

    It is named by the tag `abstain_option`; of an item that cannot be answered it is the key.
    """
    label = question.tags.get(ABSTAIN_OPTION)
    # The tag comes first: a data set may offer "cannot tell" also where the question can be
    # answered.
    if isinstance(label, str):
        return label
    offered = question.answerable is False and bool(question.options)
    return question.answer if offered else None


def has_key(question: Question) -> bool:
    """Whether the truth is known, so that an answer can be scored."""
    return question.answerable is False or question.answer is not None


def correctness(question: Question, answer: Answer | None, verdict: float | None = None) -> float:
    """1 for a right answer, 0 for any other; a judge's verdict (0 to 1) stands for an open answer.

    Strict: whatever is not a right answer is wrong, whatever its status. An item that cannot be
    answered is right where the answer abstains. An open answer without a verdict is compared with
    the key after normalising, which is a lower bound.
    """
    # A refusal or a cut reply may hold the right letter by chance; only what was read counts.
    if answer is None or answer.status not in (Status.PARSED, Status.ABSTAINED):
        return 0.0
    if question.answerable is False:
        return float(abstains(question, answer))
    if answer.abstained or question.answer is None:
        return 0.0
    if question.options:
        return float(answer.choice == question.answer)
    if verdict is not None:
        return min(1.0, max(0.0, float(verdict)))
    return float(normalise_text(answer.text) == normalise_text(question.answer))


def normalise_text(text: str) -> str:
    """NFKC, case folded, without punctuation, articles and extra space."""
    # NFKC: full-width letters and ligatures are the same answer as plain ones.
    folded = unicodedata.normalize("NFKC", text).casefold()
    words = re.sub(r"[^\w\s]", " ", folded).split()
    # An answer that is nothing but an article ("A") must not become equal to every other such one.
    return " ".join(w for w in words if w not in ("a", "an", "the")) or " ".join(words)


@dataclass(frozen=True)
class ScoredAnswers:
    """Keyed questions in order, with their videos, answers' statuses and rightness.

    `right[i]` lies in [0, 1] and belongs to `questions[i]`, as all sequences do. `unscored` counts
    the questions that were left out because their truth is not known.
    """

    questions: tuple[Question, ...]
    videos: tuple[Video | None, ...]
    answers: tuple[Answer | None, ...]
    right: Floats
    unscored: int = 0

    def __len__(self) -> int:
        return len(self.questions)

    @cached_property
    def statuses(self) -> tuple[str, ...]:
        return tuple(a.status.value if a else MISSING for a in self.answers)

    @cached_property
    def clusters(self) -> tuple[str, ...]:
        """What questions are drawn together by: their video (or a question's id without one)."""
        # Questions on one video rise and fall together, so they are drawn together; CapMem's
        # intervals are over videos.
        return tuple(q.recording or f"question {q.id}" for q in self.questions)

    @property
    def lone(self) -> int:
        """How many clusters are a question that names no video."""
        return sum(not q.recording for q in self.questions)

    @cached_property
    def durations(self) -> Floats:
        """Seconds of each question's video; NaN where not known."""
        durations = (None if v is None else v.duration for v in self.videos)
        return np.array([np.nan if d is None else d for d in durations], np.float64)

    def only(self, keep: Mask | Sequence[bool]) -> ScoredAnswers:
        """The questions where `keep` is true."""
        mask = np.asarray(keep, bool)
        index = np.flatnonzero(mask)
        return ScoredAnswers(
            tuple(self.questions[i] for i in index),
            tuple(self.videos[i] for i in index),
            tuple(self.answers[i] for i in index),
            self.right[index],
            self.unscored,
        )

    def by_status(self) -> dict[str, int]:
        """How many answers ended in each status that occurs."""
        counts = Counter(self.statuses)
        return {status: counts[status] for status in STATUSES if counts[status]}


def score_answers(
    questions: Iterable[Question],
    answers: Mapping[str, Answer],
    *,
    videos: Iterable[Video] = (),
    verdicts: Mapping[str, float] | None = None,
) -> ScoredAnswers:
    """Score the answers to the questions whose truth is known, in the order given.

    `answers` and `verdicts` are by question id. A question without an answer is wrong, with the
    status `missing`.
    """
    by_id = {video.id: video for video in videos}
    verdict_of = verdicts or {}
    all_questions = list(questions)
    # Public splits of EgoSchema and EgoMemReason have rows without a key: they can be asked, not
    # scored.
    keyed = [q for q in all_questions if has_key(q)]
    given_answers = [answers.get(q.id) for q in keyed]
    right = [
        correctness(q, a, verdict_of.get(q.id)) for q, a in zip(keyed, given_answers, strict=True)
    ]
    return ScoredAnswers(
        tuple(keyed),
        tuple(by_id.get(q.recording or "") for q in keyed),
        tuple(given_answers),
        np.array(right, np.float64),
        len(all_questions) - len(keyed),
    )
