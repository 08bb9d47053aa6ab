"""Whether a clause says that something happened, and if not, how it is held out.

A verb that the lexicon does not know leaves open what stands below it: unknown is never a fact.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from egomem.claims.lexicon import lexicon, word_set

if TYPE_CHECKING:
    from spacy.tokens import Token

_MODALS = {
    "may": "may", "might": "may", "can": "can", "could": "can", "will": "will", "wo": "will",
    "'ll": "will", "’ll": "will", "shall": "will", "would": "would", "should": "should",
    "ought": "should", "must": "must", "ca": "can", "'d": "would",
}  # fmt: skip
_DOUBTING = {
    "perhaps": "may", "maybe": "may", "possibly": "may", "probably": "may", "almost": "almost",
    "nearly": "almost", "hardly": "almost", "barely": "almost", "apparently": "may",
}  # fmt: skip
_REPORTING = word_set(
    "say tell think believe report claim hear read know ask wonder explain write announce mention "
    "suspect guess shout whisper answer reply remember see feel note show state swear insist"
)
DENYING = word_set("not n't n’t never no nobody nothing none neither nowhere")


@dataclass(frozen=True, slots=True)
class Standing:
    """How a clause stands: held out in which ways, reported by whom, denied or not."""

    modality: frozenset[str]
    speaker: str
    positive: bool


def standing(verb: Token, clauses: frozenset[int], *, question: bool) -> Standing:
    """The standing of a verb's clause, with what the clauses above it do to it.

    `clauses` are the indices of all verbs that head a clause; `question` tells that its sentence
    asks.
    """
    ways: set[str] = {"asked"} if question else set()
    speaker, positive, bare = "", True, True
    token = verb
    while True:
        children = list(token.children)
        ways |= _ways(token, children)
        positive ^= _denied(children)
        head, dep = token.head, token.dep_
        if head.i == token.i:
            if _commands(token, children, bare):
                ways.add("told to")
            break
        if is_beside(token) or dep in ("advcl", "relcl", "acl"):
            if _is_condition(token):
                ways.add("if")
            break  # what is told beside an event stands by itself
        bare = bare and not _has_subject(children)
        if dep == "conj" and not bare:
            # The first clause's own "may" and "not" are not those of a clause beside it.
            token = head
            while token.dep_ == "conj":
                token = token.head
            if token.dep_ not in ("xcomp", "ccomp") or is_beside(token):
                break
            head, dep = token.head, token.dep_
        if dep in ("xcomp", "ccomp", "acomp", "pcomp", "prep"):
            denied, said_by, way = _below(token, head)
            positive ^= denied
            speaker = said_by or speaker
            ways |= {way} if way else set()
        elif dep != "conj":
            break
        token = head
    if any(c.dep_ == "advcl" and _is_condition(c) for c in verb.children):
        ways.add("if")
    if not positive and ways == {"can"}:
        ways = set()  # what somebody could not do was not done
    return Standing(frozenset(ways), speaker, positive)


def is_beside(token: Token) -> bool:
    """True where the parser hangs one main clause below the next: "I brush, then I comb".

    Only a comma or a semicolon parts them, and the verb above is none that reports.
    """
    head = token.head
    between = token.doc[token.i : head.i] if token.i < head.i else ()
    return (
        token.dep_ == "ccomp"
        and any(t.text in (",", ";", ":", "-", "–") for t in between)
        and head.lemma_.lower() not in _REPORTING
        and head.lemma_.lower() not in lexicon().governors
        and _has_subject(list(token.children))
    )


def _below(token: Token, head: Token) -> tuple[bool, str, str]:
    """What the verb above makes of a clause: denied or not, who says it, how it is held out."""
    verb, dep = head.lemma_.lower(), token.dep_
    effect = lexicon().governors.get(verb)
    marks = {c.lower_ for c in token.children if c.dep_ in ("mark", "advmod")}
    if verb == "go" and head.tag_ == "VBG" and dep == "xcomp":
        return False, "", "will"
    if verb == "use" and dep == "xcomp":
        return False, "", "used to"
    if verb == "be":
        return False, "", "" if dep == "ccomp" else "may"
    if effect == "never":
        return True, "", ""
    if effect == "happens" and "that" not in marks:
        return False, "", ""
    if {"whether", "if"} & marks:
        return False, "", "asked"
    if dep == "ccomp" and effect is None:
        return False, _speaker(head) or "somebody", ""
    return False, "", effect or f"under {verb}"


def _is_condition(token: Token) -> bool:
    return any(c.lower_ in ("if", "unless") for c in token.children if c.dep_ == "mark")


def _has_subject(children: list[Token]) -> bool:
    return any(c.dep_ in ("nsubj", "nsubjpass", "expl") for c in children)


def _ways(token: Token, children: list[Token]) -> set[str]:
    ways = {_MODALS[c.lower_] for c in children if c.dep_ == "aux" and c.lower_ in _MODALS}
    ways |= {_DOUBTING[c.lower_] for c in children if c.lower_ in _DOUBTING}
    about = next((c for c in children if c.lower_ == "about" and c.dep_ in ("acomp", "prep")), None)
    if token.lemma_ == "be" and about is not None:
        ways.add("will")
    return ways


def _denied(children: list[Token]) -> bool:
    for child in children:
        if child.dep_ == "neg" or (child.dep_ == "preconj" and child.lower_ == "neither"):
            return True
        if child.dep_ in ("nsubj", "nsubjpass", "dobj", "attr", "dative", "advmod"):
            if child.lower_ in DENYING:
                return True
            dets = [c.lower_ for c in child.children if c.dep_ in ("det", "cc", "preconj", "neg")]
            if not DENYING.isdisjoint(dets):
                return True
    return False


def _commands(token: Token, children: list[Token], bare: bool) -> bool:
    """True for an imperative: a bare verb without a subject."""
    plain = token.tag_ == "VB" and bare
    helped = any(c.dep_ == "aux" and c.lower_ in _MODALS for c in children)
    return plain and not _has_subject(children) and not helped


def _speaker(head: Token) -> str:
    subject = next((c for c in head.children if c.dep_ in ("nsubj", "agent")), None)
    return subject.lemma_.lower() if subject is not None else ""
