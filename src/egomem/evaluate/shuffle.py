"""Options under other letters, by a seed: what a reader's liking for a letter is worth.

The permutation follows from the seed and the question's id alone, so that shards, resumed runs and
other machines agree. Predictions are written with the letters of the benchmark.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence

from egomem.records import Answer, Question

_NAMES_OTHERS = re.compile(
    r"\b(?:all|none|both|neither|any|either)\b.{0,12}\b(?:above|below|these|options?|choices?)\b"
    r"|\b[A-J]\)? ?(?:and|or|&|,|nor) ?\(?[A-J]\b",
    re.IGNORECASE,
)
"""Options that speak of others by letter or place: elsewhere they would say another thing."""


def shuffled(question: Question, seed: int) -> Question:
    """The question with its options' texts under other labels, and the key moved with its text.

    A question stays as it is where an option speaks of others, and where it has fewer than two.
    """
    options = question.options
    if len(options) < 2 or any(_NAMES_OTHERS.search(option.text) for option in options):
        return question
    order = list(range(len(options)))
    random.Random(f"{seed} {question.id}").shuffle(order)
    moved = tuple(
        place.model_copy(update={"text": options[k].text})
        for place, k in zip(options, order, strict=True)
    )
    new_label = {options[k].label: place.label for place, k in zip(options, order, strict=True)}
    answer = question.answer
    return question.model_copy(
        update={"options": moved, "answer": new_label.get(answer, answer) if answer else answer}
    )


def original_labels(asked: Question, original: Question) -> dict[str, str]:
    """Label of the question as it was asked -> label of the benchmark."""
    left = list(original.options)
    labels = {}
    for option in asked.options:
        same = next((o for o in left if o.text == option.text), None)
        if same is not None:
            left.remove(same)
            labels[option.label] = same.label
    return labels


def with_original_labels(
    answers: Mapping[str, Answer], asked: Sequence[Question], originals: Sequence[Question]
) -> dict[str, Answer]:
    """Answers by question id, with choice and scores under the benchmark's labels."""
    by_id = {question.id: question for question in originals}
    restored = dict(answers)
    for question in asked:
        original, answer = by_id.get(question.id), answers.get(question.id)
        if original is None or answer is None or original.options == question.options:
            continue
        labels = original_labels(question, original)
        choice = labels.get(answer.choice, answer.choice) if answer.choice else answer.choice
        scores = {labels.get(label, label): score for label, score in answer.scores.items()}
        restored[question.id] = answer.model_copy(update={"choice": choice, "scores": scores})
    return restored
