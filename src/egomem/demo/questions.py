"""Six questions about the day, and what is true of each.

The truths were written down by looking at the frames and listening, before any answer was seen:

- street.mp4 (10 s, six shots): roofs of vans and a red car from above until 1.2 s; a man in a dark
  suit and a striped tie among cars 1.2-1.9 s, then, in the same shot, the roof of a black car with
  a sign TAXI, cut off at the left from 2.2 s, whole 2.6-3.0 s; the back of a grey van 3.0-5.5 s,
  and behind it a cyclist with a helmet on a bicycle: seen 3.0-3.2 s, hidden by a bus and a silver
  car, seen again 4.1-5.5 s, beside a parked motorcycle; a junction with cars behind a green
  railing to which a bicycle is locked 5.5-7.5 s; a bicycle with saddlebags at a wall 7.5-9.7 s, a
  walker, seen up to the chest, passing 7.5-8.6 s; the pedal and wheel of a white bicycle that lies
  on the ground from 9.7 s to the end.
- car.mp4 (4 s): a man in a dark jacket with a red bow tie talks in a moving car; the sentence "The
  quick brown fox jumps over the lazy dog", put in by the demo, 0.5-3.4 s.
- cartoon.mp4 (5 s): a fat grey rabbit comes out of its burrow and stretches; no words.
- note.wav (3 s): "One two three four five six seven eight nine ten".
- screen.mp4 (7 s): yellow THANKS FOR WATCHING on slate grey, whole from 2.2 s to 4.9 s.
"""

from __future__ import annotations

from dataclasses import dataclass

from egomem.records import Answer
from egomem.timeline import Span


@dataclass(frozen=True, slots=True)
class DemoQuestion:
    """A question with the true answer.

    `kind` says what is asked about. With `abstain`, abstaining is right. Otherwise an answer is
    right if its text contains one of `says` (ignoring case) and a piece of evidence lies in
    `recording` and overlaps `span` (seconds of the recording). With `options`, `choice` is the
    right label.
    """

    kind: str
    text: str
    recording: str = ""
    span: Span | None = None
    says: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    choice: str | None = None
    abstain: bool = False


QUESTIONS = (
    DemoQuestion(
        "an object that comes or goes",
        "When did a person first come into view on the street?",
        recording="street.mp4",
        span=Span(1.2, 1.9),
        says=("08:10:01",),
    ),
    DemoQuestion(
        "what a sign said",
        "What did the sign on the roof of the car say?",
        recording="street.mp4",
        span=Span(2.2, 3.1),
        says=("TAXI",),
    ),
    DemoQuestion(
        "what was said",
        "What did the man say about a fox?",
        recording="car.mp4",
        span=Span(0.5, 3.5),
        says=("quick brown fox jumps over the lazy dog",),
    ),
    DemoQuestion(
        "when",
        'When did the screen read "thanks for watching"?',
        recording="screen.mp4",
        span=Span(2.0, 5.2),
        says=("18:30:02", "18:30:03"),
    ),
    DemoQuestion(
        "in which order",
        "Which came first today?",
        recording="street.mp4",
        span=Span(2.2, 3.1),
        options=("someone counting from one to ten", "the taxi sign", "the quick brown fox"),
        choice="B",
    ),
    DemoQuestion(
        "not in the memory",
        "Where did I leave my umbrella?",
        abstain=True,
    ),
)


def is_right(question: DemoQuestion, answer: Answer, recordings: dict[str, str]) -> bool:
    """Whether an answer is right; `recordings` maps ids to file names."""
    if question.abstain or answer.abstained:
        return question.abstain and answer.abstained
    if question.options:
        correct = answer.choice == question.choice
    else:
        correct = any(text.casefold() in answer.text.casefold() for text in question.says)
    # The right words with the wrong evidence are a guess.
    return correct and any(
        recordings.get(e.recording or "") == question.recording
        and question.span is not None
        and e.span.overlaps(question.span)
        for e in answer.evidence
    )
