"""Whether one claim's parts say, deny or leave open another's."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from egomem.claims.lexicon import lexicon, word_set
from egomem.claims.model import Claim, Participant

_NOBODY = re.compile(r"\b(?:nobody|no one)\b", re.IGNORECASE)
_STATIC = word_set("be sleep live wait kneel remain stay float stick")


@dataclass(frozen=True, slots=True)
class Match:
    """How parts meet: `conflicts` are pairs of a kind and words; `open` is what is not told."""

    conflicts: tuple[tuple[str, str], ...] = ()
    open: tuple[str, ...] = ()

    def __add__(self, other: Match) -> Match:
        return Match(self.conflicts + other.conflicts, self.open + other.open)

    @property
    def entailed(self) -> bool:
        return not self.conflicts and not self.open


def conflict(kind: str, words: str) -> Match:
    return Match(conflicts=((kind, words),))


def unknown(words: str) -> Match:
    return Match(open=(words,))


def match_participant(
    stated: Participant | None,
    claimed: Participant | None,
    loose: Sequence[tuple[str, Participant]] = (),
) -> Match:
    """Does what is told of a thing hold all that is claimed; `loose` phrases may be its own."""
    if claimed is None:
        return Match()
    if stated is None:
        return unknown(claimed.head)
    lex = lexicon()
    same = stated.head == claimed.head
    if not (same or lex.nouns.entails(stated.head, claimed.head) or _anyone(stated, claimed)):
        return unknown(claimed.head)
    result = Match()
    places = {p.head for _, p in (*stated.within, *loose)}
    adjectives = {lex.adjectives.norm(a) for a in stated.attributes}
    for attribute in sorted(claimed.attributes):
        word = lex.adjectives.norm(attribute)
        if word in adjectives or any(lex.nouns.entails(a, word) for a in adjectives | places):
            continue
        against = next((a for a in sorted(adjectives) if lex.adjectives.opposed(a, word)), "")
        result += conflict("attribute", f"{against}, not {word}") if against else unknown(word)
    if claimed.count is not None and claimed.count != stated.count:
        if stated.count is None:
            result += unknown(str(claimed.count))
        else:
            result += conflict("number", f"{stated.count}, not {claimed.count}")
    if claimed.owner and claimed.owner != stated.owner:
        result += unknown(f"{claimed.owner}'s {claimed.head}")
    for relation, governed in claimed.within:
        result += _match_phrase((*stated.within, *loose), relation, governed, of=stated)
    return result


def _anyone(stated: Participant, claimed: Participant) -> bool:
    return claimed.head == "person" and stated.person


def _match_phrase(
    stated: Iterable[tuple[str, Participant]],
    relation: str,
    governed: Participant,
    of: Participant | None = None,
) -> Match:
    """A phrase of place among those told: held, opposed by another of the same thing, or open."""
    lex = lexicon()
    stated = tuple(stated)
    if of is not None and relation == "in" and lex.nouns.norm(governed.head) in of.attributes:
        return Match()
    best: Match | None = None
    for told_relation, told_governed in stated:
        same_thing = match_participant(told_governed, governed)
        if _relation_entails(told_relation, relation) or (
            {told_relation, relation} == {"in", "with"} and of is not None
        ):
            if same_thing.entailed:
                return Match()
            if same_thing.conflicts and not same_thing.open:
                best = best or same_thing
        elif same_thing.entailed and lex.places.opposed(told_relation, relation):
            kind = {"from": "from/to", "to": "from/to", "before": "order", "after": "order"}.get(
                relation, "polarity" if "with" in (told_relation, relation) else "place"
            )
            best = best or conflict(kind, f"{told_relation}, not {relation} {governed.head}")
    return best or unknown(f"{relation} {governed.head}")


def _relation_entails(stated: str, claimed: str) -> bool:
    return stated == claimed or (stated, claimed) in _IMPLIED


_IMPLIED = {("out", "from"), ("off", "from"), ("beside", "near"), ("with", "in"), ("to", "toward")}


def match_claim(stated: Claim, claimed: Claim) -> Match:
    """How a claim told meets a claim to be judged, polarity and modality aside."""
    straight = _match_roles(stated, claimed)
    if straight.entailed:
        return straight
    placed = _match_place(stated, claimed)
    if placed is not None and placed.entailed:
        return placed
    if (turned := _turned(stated, claimed)) is not None:
        return turned
    return straight if placed is None else placed


def _match_roles(stated: Claim, claimed: Claim) -> Match:
    lex = lexicon()
    result = match_predicate(stated, claimed)
    opposed = any(kind == "opposite" for kind, _ in result.conflicts)
    if not _of_nobody(stated, claimed):
        result += match_participant(stated.subject, claimed.subject)
    # The parser hangs a phrase of place on the verb here and on the object there.
    result += match_participant(stated.object, claimed.object, stated.places)
    result += match_participant(stated.recipient, claimed.recipient)
    all_told = [*stated.places]
    for whole in (stated.subject, stated.object, stated.recipient):
        all_told += whole.within if whole is not None else ()
    for relation, governed in claimed.places:
        part = _match_phrase(all_told, relation, governed, of=stated.object or stated.subject)
        if opposed and part.conflicts:
            continue
        # "Takes the cake out of the oven" and "puts it into the oven" differ in one thing, not two.
        result += part
    for state in sorted(claimed.states):
        owner = stated.subject
        states = stated.states | (owner.attributes if owner is not None else frozenset())
        if _verb_state(stated, claimed, state):
            continue
        if state in states:
            continue
        against = next((s for s in sorted(states) if lex.adjectives.opposed(s, state)), "")
        kind = "opposite" if state in ("on", "off", "open", "shut") else "attribute"
        result += conflict(kind, f"{against}, not {state}") if against else unknown(state)
    missing = sorted(claimed.manner - stated.manner)
    return result + (unknown(" ".join(missing)) if missing else Match())


def _of_nobody(stated: Claim, claimed: Claim) -> bool:
    """What nobody did, none of those did whom a claim may name."""
    subject = stated.subject
    return (
        not stated.positive
        and subject is not None
        and subject.head == "person"
        and _NOBODY.search(stated.text) is not None
        and claimed.subject is not None
        and (claimed.subject.person or claimed.subject.head in ("i", "we", "he", "she", "they"))
    )


def _verb_state(stated: Claim, claimed: Claim, state: str) -> bool:
    return claimed.predicate == "be" and stated.predicate.endswith(f"_{state}")


def match_predicate(stated: Claim, claimed: Claim) -> Match:
    lex = lexicon()
    a, b = stated.predicate, claimed.predicate
    if lex.verbs.entails(a, b):
        return Match()
    if lex.verbs.opposed(a, b):
        return conflict("opposite", f"{a}, not {b}".replace("_", " "))
    verb_a, _, particle_a = a.partition("_")
    verb_b, _, particle_b = b.partition("_")
    if lex.verbs.entails(verb_a, verb_b) or {verb_a, verb_b} == {"come", "go"}:
        if particle_a and particle_b and lex.particles.opposed(particle_a, particle_b):
            return conflict("opposite", f"{particle_a}, not {particle_b}")
        # A direction may be left out; "turn" for "turn off" says nothing wrong either.
        if particle_a and not particle_b:
            return Match()
        if particle_b in ("up", "down") and any(r == particle_b for r, _ in stated.places):
            return Match()
    return unknown(b.replace("_", " "))


def _match_place(stated: Claim, claimed: Claim) -> Match | None:
    """A claim that something is somewhere, against any verb of rest, also seen the other way."""
    lex = lexicon()
    if claimed.predicate not in ("be", *lex.verbs.broader) or not claimed.places:
        return None
    rests = stated.predicate in _STATIC or "be" in lex.verbs.broader.get(stated.predicate, ())
    if not rests or claimed.states or claimed.object or claimed.subject is None:
        return None
    if not lex.verbs.entails(stated.predicate, claimed.predicate) and claimed.predicate != "be":
        return None
    result = Match()
    for relation, governed in claimed.places:
        straight = match_participant(stated.subject, claimed.subject) + _match_phrase(
            stated.places, relation, governed, of=stated.subject
        )
        best = straight
        for told_relation, told_governed in stated.places:
            crossed = match_participant(told_governed, claimed.subject)
            crossed += match_participant(stated.subject, governed)
            if not crossed.entailed:
                continue
            if relation in lex.inverse.get(told_relation, ()):
                best = Match()
            elif relation == told_relation and relation in _ONE_WAY:
                best = conflict("place", f"{told_relation} the other way round")
        result += best
    missing = sorted(claimed.manner - stated.manner)
    return result + (unknown(" ".join(missing)) if missing else Match())


_ONE_WAY = word_set("left right above below under front behind on in")


def _turned(stated: Claim, claimed: Claim) -> Match | None:
    """The same event with two parts exchanged: who with whom, whose, of which colour."""
    if not match_predicate(stated, claimed).entailed:
        return None
    a, b = _roles(stated), _roles(claimed)
    shared = [role for role in b if role in a]
    for k, one in enumerate(shared):
        for two in shared[k + 1 :]:
            if a[one].head == a[two].head:
                continue
            if _is(a[one], b[two]) and _is(a[two], b[one]):
                return conflict("roles", f"{b[one].head} and {b[two].head} are exchanged")
            heads = a[one].head == b[one].head and a[two].head == b[two].head
            if not heads:
                continue
            if _exchanged(
                (a[one].attributes, a[two].attributes), (b[one].attributes, b[two].attributes)
            ) or _exchanged((a[one].owner, a[two].owner), (b[one].owner, b[two].owner)):
                return conflict("attribute", f"{b[one].head} and {b[two].head} are exchanged")
    return None


def _exchanged(stated: tuple[object, object], claimed: tuple[object, object]) -> bool:
    return all(stated) and stated[0] != stated[1] and claimed == (stated[1], stated[0])


def _roles(claim: Claim) -> dict[str, Participant]:
    roles = {"subject": claim.subject, "object": claim.object, "recipient": claim.recipient}
    named = {name: value for name, value in roles.items() if value is not None}
    return named | dict(claim.places)


def _is(stated: Participant, claimed: Participant) -> bool:
    return match_participant(stated, claimed).entailed
