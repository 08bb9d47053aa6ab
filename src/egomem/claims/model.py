"""What a sentence states, and what evidence makes of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from egomem.timeline import Span

Label = Literal["entailed", "contradicted", "not told"]


@dataclass(frozen=True, slots=True)
class Participant:
    """A thing or a person in a claim: head noun, what is said of it, whose it is, how many.

    `within` are the phrases that hang on the noun itself: ("in", bathroom).
    """

    head: str
    attributes: frozenset[str] = frozenset()
    owner: str = ""
    count: int | None = None
    person: bool = False
    within: tuple[tuple[str, Participant], ...] = ()


@dataclass(frozen=True, slots=True)
class Claim:
    """One event or state that a sentence tells.

    `predicate` is the verb's lemma, with its particle after "_" (turn_on); `places` are
    prepositions with what they govern; `states` what "is" says of the subject (open, off);
    `modality` is empty where the sentence says that it happened, else how it is held out (may,
    will, wants, told to, asked); `speaker` says it where it is reported; `follows` are the
    `position`s of claims that the sentence places before it.
    """

    predicate: str
    text: str
    position: int = 0
    subject: Participant | None = None
    object: Participant | None = None
    recipient: Participant | None = None
    places: tuple[tuple[str, Participant], ...] = ()
    states: frozenset[str] = frozenset()
    manner: frozenset[str] = frozenset()
    positive: bool = True
    modality: frozenset[str] = frozenset()
    speaker: str = ""
    follows: tuple[int, ...] = ()
    sequence: tuple[int, ...] = ()
    """Positions of claims that the sentence tells before it in one chain of verbs."""
    unread: tuple[str, ...] = ()
    """Content words of the sentence that no part of a claim holds."""
    quotes: tuple[str, ...] = ()

    @property
    def happened(self) -> bool:
        """True where the sentence itself says that it is so (or is not so)."""
        return not self.modality and not self.speaker


@dataclass(frozen=True, slots=True)
class EvidenceLine:
    """A sentence or more of evidence, and the seconds that it speaks of."""

    text: str
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the evidence makes of a claim, the reason in words, and the pieces that decided.

    `by` names the kind of conflict where the claim is contradicted: polarity, opposite, roles,
    attribute, number, place, order.
    """

    label: Label
    reason: str
    pieces: tuple[str, ...] = field(default=())
    by: str = ""
