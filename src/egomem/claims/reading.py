"""From a sentence to its claims, over spaCy's dependencies."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from egomem.claims.lexicon import lexicon, word_set
from egomem.claims.modality import is_beside, standing
from egomem.claims.model import Claim, Participant
from egomem.claims.parser import has_parser, parse
from egomem.claims.participants import participant, phrases

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span, Token

QUOTED = re.compile(r"[“\"«„]([^”\"»“]*)[”\"»“]")
_ONE_WORD = (
    (re.compile(r"(?<!the )\b(left|right) of\b", re.I), r"to the \1 of"),
    (re.compile(r"\bnext to\b", re.I), "beside"),
    (re.compile(r"\bclose to\b", re.I), "near"),
    (re.compile(r"\bon top of\b", re.I), "on"),
    (re.compile(r"\bno one\b", re.I), "nobody"),
)
_CLAUSES = word_set("ROOT conj ccomp xcomp advcl relcl acl pcomp")
_CONTENT = word_set("NOUN PROPN VERB ADJ ADV NUM")
_LIGHT = word_set(
    "there then also just so too here not never n't n’t again now already be when while after "
    "before as until since possibly perhaps maybe almost nearly hardly probably apparently "
    "nobody nothing no none neither"
)
_ORDERED = {"before": -1, "until": -1, "after": 1, "once": 1, "since": 1}


@lru_cache(maxsize=8192)
def read(text: str) -> tuple[Claim, ...]:
    """What a text states, clause by clause; nothing where no parser is installed.

    Quoted words are kept apart: they are nobody's claim but whoever says or shows them.
    """
    if not has_parser():
        return ()
    return tuple(_claims(parse(plain(text)), asked=True))


@lru_cache(maxsize=512)
def read_question(text: str) -> tuple[Claim, ...]:
    """What a yes/no question asks about, as claims; nothing where no parser is installed."""
    if not has_parser():
        return ()
    doc = parse(plain(text))
    return tuple(_claims(_as_statement(doc) or doc, asked=False))


def _as_statement(doc: Doc) -> Doc | None:
    """A question of what something is, as a statement: "Is the lamp on?" as "The lamp is on."

    In the question the parser takes what follows the thing for a part of it, and the state or
    place that is asked for would be lost. None for a question of another form.
    """
    if not doc or doc[0].lower_ not in ("is", "are", "was", "were"):
        return None
    end = len(doc) - (doc[-1].pos_ == "PUNCT")
    adjectives = lexicon().adjectives
    last = doc[end - 1].lower_
    is_state = last in _BARE_STATES or any(adjectives.norm(last) in p for p in adjectives.opposites)
    if end > 3 and is_state and doc[end - 2].pos_ in ("NOUN", "PROPN", "ADJ", "PRON"):
        start_of_rest = end - 1
    else:
        chunk = next((c for c in doc.noun_chunks if c.start == 1), None)
        if chunk is None or chunk.end >= end or doc[chunk.end].pos_ == "VERB":
            return None
        start_of_rest = chunk.end
    thing, rest = doc[1:start_of_rest].text, doc[start_of_rest:end].text
    return parse(f"{thing[0].upper()}{thing[1:]} {doc[0].lower_} {rest}.")


def quotes_in(text: str) -> tuple[str, ...]:
    """The words in quotation marks, without case and punctuation at their ends."""
    return tuple(q for raw in QUOTED.findall(text) if (q := quote_form(raw)))


def quote_form(words: str) -> str:
    return " ".join(words.casefold().split()).strip(" .,!?;:")


def plain(text: str) -> str:
    """A text as it goes to the parser: without quotations, places of two words as one."""
    text = " ".join(QUOTED.sub(" ", text).split())
    for pattern, put in _ONE_WORD:
        text = pattern.sub(put, text)
    return text


def _claims(doc: Doc, *, asked: bool) -> Iterable[Claim]:
    position = 0
    last: tuple[int, ...] = ()
    for sentence in doc.sents:
        question = asked and sentence.text.rstrip().endswith("?")
        claims = _of_sentence(sentence, position, question)
        if claims and sentence[0].lower_ in ("then", "afterwards", "next") and last:
            claims[0] = replace(claims[0], follows=(*claims[0].follows, *last))
        yield from claims
        position += len(claims)
        last = (claims[-1].position,) if claims else ()


def _of_sentence(sentence: Span, position: int, question: bool) -> list[Claim]:
    heads = [
        t
        for t in sentence
        if t.dep_ in _CLAUSES and (t.pos_ in ("VERB", "AUX") or t.tag_.startswith("VB"))
    ]
    indices = frozenset(t.i for t in heads)
    used: set[int] = set()
    claims: list[Claim] = []
    where: dict[int, int] = {}
    for verb in heads:
        if _governs_only(verb, indices):
            used.add(verb.i)
            used |= {c.i for c in verb.children if c.dep_ in ("aux", "prt", "nsubj", "dobj")}
            continue
        where[verb.i] = position + len(claims)
        claim = _of_verb(verb, indices, used, question)
        claims.append(replace(claim, position=where[verb.i]))
        claims += [
            replace(extra, position=position + len(claims)) for extra in _without(verb, claim, used)
        ]
    claims = _in_order(claims, heads, where)
    unread = tuple(
        t.lemma_.lower()
        for t in sentence
        if t.i not in used and t.pos_ in _CONTENT and t.lower_ not in _LIGHT and t.dep_ != "aux"
    )
    return [replace(c, unread=unread) for c in claims]


def _governs_only(verb: Token, indices: frozenset[int]) -> bool:
    """True for "wants", "begins", "says" above a clause: they only say how that one stands."""
    below = [
        c
        for c in verb.children
        if c.dep_ in ("xcomp", "ccomp") and c.i in indices and not is_beside(c)
    ]
    return bool(below) and (
        verb.lemma_.lower() in lexicon().governors
        or any(c.dep_ == "ccomp" for c in below)
        or verb.lemma_ in ("go", "use")
    )


def _of_verb(verb: Token, indices: frozenset[int], used: set[int], question: bool) -> Claim:
    used.add(verb.i)
    children = list(verb.children)
    stands = standing(verb, indices, question=question)
    subject, passive = _subject(verb, used)
    objects = [participant(c, used) for c in children if c.dep_ == "dobj"]
    datives = [c for c in children if c.dep_ == "dative"]
    recipient: Participant | None = None
    places: list[tuple[str, Participant]] = []
    particle, states, manner = "", set[str](), set[str]()
    for child in datives:
        if child.pos_ == "ADP":
            places += phrases(child, used)
        else:
            recipient = participant(child, used)
    if recipient is None and len(objects) > 1:
        recipient, objects = objects[0], objects[1:]
    agent: Participant | None = None
    for child in children:
        match child.dep_:
            case "prt":
                particle = particle or child.lower_
                used.add(child.i)
            # "The lights are on": the parser takes it for a place, and no place follows.
            case "prep" if (
                verb.lemma_ == "be" and child.lower_ in _BARE_STATES and not [*child.children]
            ):
                used.add(child.i)
                states.add(_BARE_STATES[child.lower_])
            case "prep":
                places += phrases(child, used)
            case "agent":
                by = phrases(child, used)
                agent = by[0][1] if by else None
            case "acomp" | "attr" | "oprd" if verb.lemma_ in ("be", "stand", "get", "become"):
                if child.dep_ == "attr" and any(c.dep_ == "expl" for c in children):
                    continue
                inner = [c for c in child.children if c.dep_ == "prep"]
                states |= _states(child, used)
                for prep in inner:
                    places += phrases(prep, used)
            case "npadvmod" if child.pos_ == "PROPN" and objects and recipient is None:
                recipient = participant(child, used)  # "hands Mia a map"
            case "advmod" | "npadvmod":
                inner = [c for c in child.children if c.dep_ == "prep"]
                if inner:
                    used.add(child.i)
                    name = child.lower_
                    places += [(name, p) for prep in inner for _, p in phrases(prep, used)]
                elif verb.lemma_ == "be" and child.lower_ in _BARE_STATES:
                    used.add(child.i)
                    states.add(_BARE_STATES[child.lower_])
                elif child.lower_ in _PARTICLES and not particle:
                    used.add(child.i)
                    particle = child.lower_
                elif child.lower_ not in _LIGHT and child.tag_ != "WRB":
                    manner |= {t.lemma_.lower() for t in child.subtree}
                    used |= {t.i for t in child.subtree}
    lemma = verb.lemma_.lower()
    if lemma == "be" and any(c.dep_ == "expl" for c in children):
        exists = next((c for c in children if c.dep_ in ("attr", "nsubj")), None)
        subject = participant(exists, used) if exists is not None else subject
        if subject is not None and not places:
            places, subject = list(subject.within), replace(subject, within=())
    if passive:
        if not objects:
            objects, subject = ([subject] if subject else []), agent
        elif recipient is None:
            recipient, subject = subject, agent
    claim = Claim(
        predicate=f"{lemma}_{particle}" if particle else lemma,
        text=" ".join(t.text for t in sorted(verb.subtree, key=lambda t: t.i)),
        subject=subject,
        object=objects[0] if objects else None,
        recipient=recipient,
        places=tuple(places),
        states=frozenset(states),
        manner=frozenset(manner),
        positive=stands.positive,
        modality=stands.modality,
        speaker=stands.speaker,
    )
    return _as_state(verb, claim) or standard_form(claim)


def _as_state(verb: Token, claim: Claim) -> Claim | None:
    """ "The gate is closed" as what the gate is: the parser takes it for something done to it."""
    words = lexicon().adjectives
    state = words.norm(verb.lower_)
    is_listed = verb.lower_ in words.standard or any(state in pair for pair in words.opposites)
    done = claim.subject is not None or claim.places or verb.tag_ != "VBN" or claim.object is None
    if done or not is_listed:
        return None
    return replace(
        claim, predicate="be", subject=claim.object, object=None, states=frozenset({state})
    )


_BARE_STATES = {"on": "on", "off": "off", "out": "off", "in": "in", "open": "open"}
"""Words that say alone what a thing is: the lamp is on, the fire is out."""
_PARTICLES = word_set("on off in out up down away back over inside outside")


def _states(token: Token, used: set[int]) -> set[str]:
    used |= {token.i}
    states = {lexicon().adjectives.norm(token.lemma_.lower())}
    for child in token.children:
        if child.dep_ in ("conj", "amod", "advmod", "compound") and child.pos_ != "VERB":
            states |= _states(child, used)
    return states


def _subject(verb: Token, used: set[int]) -> tuple[Participant | None, bool]:
    """Who or what the verb speaks of, and whether in the passive."""
    for child in verb.children:
        if child.dep_ in ("nsubj", "nsubjpass") and child.dep_ != "expl":
            passive = child.dep_ == "nsubjpass" or (verb.tag_ == "VBN" and _passive(verb))
            if child.tag_ in ("WP", "WDT") or (child.lower_ == "that" and verb.dep_ == "relcl"):
                used.add(child.i)
                above = verb
                while above.dep_ == "conj":
                    above = above.head
                if above.dep_ == "relcl":
                    return participant(above.head, used, depth=2), passive
            return participant(child, used), passive
    passive = verb.tag_ == "VBN" and any(c.dep_ == "auxpass" for c in verb.children)
    head = verb.head
    if verb.dep_ == "acl":
        return participant(head, used, depth=2), verb.tag_ == "VBN"
    if head.i == verb.i or head.pos_ not in ("VERB", "AUX"):
        return None, passive
    if verb.dep_ == "xcomp":
        addressee = next((c for c in head.children if c.dep_ in ("dobj", "nsubjpass")), None)
        if addressee is not None:
            return participant(addressee, used, depth=2), passive
    subject, _ = _subject(head, used)
    return subject, passive or (verb.dep_ == "conj" and _passive(head) and verb.tag_ == "VBN")


def _passive(verb: Token) -> bool:
    return any(c.dep_ in ("nsubjpass", "auxpass") for c in verb.children)


def standard_form(claim: Claim) -> Claim:
    """One form for one event: "gets X from Y" is "Y gives X"; "goes into" is "enters"."""
    lex = lexicon()
    predicate, places = claim.predicate, list(claim.places)
    for k, (relation, governed) in enumerate(places):
        joined = next(
            (
                f"{predicate}_{form}"
                for form in (relation, f"{relation}to", f"{relation}_of")
                if f"{predicate}_{form}" in lex.verbs.standard
            ),
            "",
        )
        if joined and claim.object is None:
            del places[k]
            claim = replace(claim, object=governed)
            predicate = joined
            break
    predicate = lex.verbs.norm(predicate)
    if (turned := lex.converse.get(predicate)) and claim.object is not None:
        # The parser hangs "from Ella" on the ticket as often as on the verb.
        places += [w for w in claim.object.within if w[0] == "from"]
        source = next((k for k, (r, _) in enumerate(places) if r == "from"), None)
        if source is not None:
            rest = tuple(w for w in claim.object.within if w[0] != "from")
            claim = replace(claim, object=replace(claim.object, within=rest))
            giver = places.pop(source)[1]
            predicate = turned
            claim = replace(claim, subject=giver, recipient=claim.subject)
    if claim.recipient is None and claim.object is not None and predicate in _HANDING:
        to = next((k for k, (r, p) in enumerate(places) if r == "to"), None)
        if to is not None:
            claim = replace(claim, recipient=places.pop(to)[1])
    return replace(claim, predicate=lex.verbs.norm(predicate), places=tuple(places))


_HANDING = word_set("give sell lend send throw bring show offer read tell feed pay")


def _without(verb: Token, claim: Claim, used: set[int]) -> list[Claim]:
    """What "without" denies: "without a saw", "without saying hello"."""
    for prep in (c for c in verb.subtree if c.lower_ == "without" and c.dep_ == "prep"):
        for child in prep.children:
            if child.dep_ == "pobj":
                denied = ("with", participant(child, used))
                kept = tuple(p for p in claim.places if p[0] != "without")
                return [replace(claim, places=(*kept, denied), positive=not claim.positive)]
            if child.dep_ == "pcomp":
                used.add(child.i)
                objects = [participant(c, used) for c in child.children if c.dep_ == "dobj"]
                return [
                    standard_form(
                        Claim(
                            predicate=child.lemma_.lower(),
                            text=f"without {child.text}",
                            subject=claim.subject,
                            object=objects[0] if objects else None,
                            positive=not claim.positive,
                            modality=claim.modality,
                            speaker=claim.speaker,
                        )
                    )
                ]
    return []


def _in_order(claims: list[Claim], heads: list[Token], where: dict[int, int]) -> list[Claim]:
    """The claims with what the sentence places before each."""
    by_position = {c.position: c for c in claims}
    for verb in heads:
        above, mine = where.get(verb.head.i), where.get(verb.i)
        if mine is None or above is None or above == mine:
            continue
        marks = [c.lower_ for c in verb.children if c.dep_ in ("mark", "advmod", "prep")]
        order = next((_ORDERED[m] for m in marks if m in _ORDERED), 0)
        if verb.dep_ in ("advcl", "pcomp") and order:
            later, earlier = (mine, above) if order < 0 else (above, mine)
            claim = by_position[later]
            by_position[later] = replace(claim, follows=(*claim.follows, earlier))
        elif verb.dep_ == "conj" or is_beside(verb):
            first = by_position[above]
            then = any(c.lower_ == "then" for c in verb.children) or any(
                c.lower_ == "then" for c in verb.head.children if c.i > verb.head.i
            )
            early, late = (above, mine) if verb.i > verb.head.i else (mine, above)
            claim = by_position[late]
            if then:
                by_position[late] = replace(claim, follows=(*claim.follows, early))
            elif verb.dep_ == "conj" and claim.subject == first.subject:
                by_position[late] = replace(claim, sequence=(*claim.sequence, early))
    return [by_position[c.position] for c in claims]
