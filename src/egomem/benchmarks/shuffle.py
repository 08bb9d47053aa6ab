"""Options in another order, the same one whenever it is asked for; the key moves with its text."""

from __future__ import annotations

import random

from egomem.hashing import hash_text
from egomem.records import ABSTAIN_OPTION, Option, Question

SHUFFLED_FROM = "shuffled_from"
"""The tag that holds the permutation: the labels that the texts had before, in the new order."""


def shuffle_options(question: Question, seed: int = 0) -> Question:
    """The question with its options in an order that follows from `seed` and its id alone.

    Labels stay in their places and texts move; `answer` and the abstaining option's label follow
    their texts. The permutation is kept in the tag `shuffled_from`, of a question shuffled before
    with respect to its first order.
    """
    labels = [option.label for option in question.options]
    if len(labels) < 2:
        return question
    # By its id: adding or leaving out other questions must not reorder this one.
    digest = hash_text(f"{seed}\x00{question.id}")
    order = list(range(len(labels)))
    random.Random(int(digest, 16)).shuffle(order)
    moved = {labels[old]: labels[new] for new, old in enumerate(order)}
    # Shuffled twice, the tag still leads back to the order of the file.
    previous = question.tags.get(SHUFFLED_FROM, labels)
    first = previous if isinstance(previous, list) else labels
    tags = {**question.tags, SHUFFLED_FROM: [first[old] for old in order]}
    abstaining = tags.get(ABSTAIN_OPTION)
    if isinstance(abstaining, str):
        tags[ABSTAIN_OPTION] = moved.get(abstaining, abstaining)
    return question.model_copy(
        update={
            "options": tuple(
                Option(label=label, text=question.options[old].text)
                for label, old in zip(labels, order, strict=True)
            ),
            "answer": moved.get(question.answer or "", question.answer),
            "tags": tags,
        }
    )
