"""The smaller reading, without a parser: the same words in the same order, or a plain denial.

It concludes little, and nothing that the words themselves do not say.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from egomem.claims.lexicon import lexicon, word_set
from egomem.claims.model import Judgement
from egomem.text import stems, tokens

_ARTICLES = word_set("a an the")
_DENYING = word_set("not never no without nobody nothing none neither nor cannot t")
_HELPING = word_set("do does did")
_FORMS = dict.fromkeys(word_set("is are was were been being am"), "be")
_OPEN = word_set(
    "may might could would should will shall must can if whether perhaps maybe almost nearly ask "
    "asks asked want wants wanted say says said tell tells told hope hopes plan plans remind "
    "reminds reminded try tries tried forget forgets forgot think thinks believe believes"
)
_OF_TEXT = word_set(
    "text sign label read reads show shows say says said word words write written caption title "
    "hear heard voice somebody someone view visible appear appears see seen stand stands with "
    "person display displayed screen"
)
_SENTENCE = re.compile(r"(?<=[.;!?])\s+|\n+")


def normal(text: str) -> list[str]:
    """A text's words in order, stemmed, without articles and helping verbs."""
    words = [_FORMS.get(w, w) for w in tokens(text.replace("n't", " not").replace("n’t", " not"))]
    return stems([w for w in words if w not in _ARTICLES and w not in _HELPING])


def same_words(evidence: str, claim: str) -> bool:
    """True where a sentence of the evidence is the claim, but for articles and tense."""
    claim_text = normal(claim)
    if not claim_text or claim.rstrip().endswith("?"):
        return False
    return any(
        normal(sentence) == claim_text and not sentence.rstrip().endswith("?")
        for sentence in _SENTENCE.split(evidence)
    )


def judge_words(evidence: Sequence[str], claim: str) -> Judgement:
    """The verdict by words alone: entailed by the same ones, contradicted by one that turns it."""
    claimed = normal(claim)
    for text in evidence:
        for sentence in _SENTENCE.split(text):
            if sentence.rstrip().endswith("?") or _is_open(sentence):
                continue
            words = normal(sentence)
            if words == claimed:
                return Judgement("entailed", "it is said in the same words", (sentence,))
            if denies(words, claimed):
                return Judgement("contradicted", "the evidence denies it", (sentence,), "polarity")
            if turned := _turned(words, claimed):
                return Judgement("contradicted", turned, (sentence,), "opposite")
    return Judgement("not told", "no line says it in these words")


_ASKING = re.compile(r"^\s*(?:did|do|does)\s+", re.IGNORECASE)
_BEING = re.compile(r"^\s*(?:is|are|was|were)\s+", re.IGNORECASE)


def judge_question_words(evidence: Sequence[str], question: str) -> Judgement:
    """The verdict on a yes/no question by words alone: it is asked of the statement in it."""
    body = question.strip().rstrip("?").strip()
    if _ASKING.match(body):
        return judge_words(evidence, _ASKING.sub("", body))
    if not _BEING.match(body):
        return Judgement("not told", "the question could not be read as a statement")
    claimed = normal(_BEING.sub("", body))
    for text in evidence:
        for sentence in _SENTENCE.split(text):
            words = normal(sentence)
            if "be" not in words or sentence.rstrip().endswith("?") or _is_open(sentence):
                continue
            words.remove("be")
            if words == claimed:
                return Judgement("entailed", "it is said in the same words", (sentence,))
            if denies(words, claimed):
                return Judgement("contradicted", "the evidence denies it", (sentence,), "polarity")
            if turned := _turned(words, claimed):
                return Judgement("contradicted", turned, (sentence,), "opposite")
    return Judgement("not told", "no line says it in these words")


def denies(words: Sequence[str], claimed: Sequence[str]) -> bool:
    """True where two sentences are the same but for a denial in one."""
    denying = set(stems(sorted(_DENYING)))
    mine, theirs = [w for w in words if w in denying], [w for w in claimed if w in denying]
    rest = [w for w in words if w not in denying]
    return len(mine) != len(theirs) and rest == [w for w in claimed if w not in denying]


def _is_open(sentence: str) -> bool:
    return not _OPEN.isdisjoint(tokens(sentence))


def _turned(words: Sequence[str], claimed: Sequence[str]) -> str:
    if len(words) != len(claimed):
        return ""
    lex = lexicon()
    differ = [(a, b) for a, b in zip(words, claimed, strict=True) if a != b]
    if len(differ) != 1:
        return ""
    (a, b) = differ[0]
    turned = any(c.opposed(a, b) for c in (lex.particles, lex.adjectives, lex.verbs))
    return f"{a}, not {b}" if turned else ""


def speaks_of_text(evidence: str, claim: str) -> list[str]:
    """What a claim says beside its quotation that the evidence does not: whose words, on what."""
    outside = re.compile(r"[“\"«„][^”\"»“]*[”\"»“]")
    evidence_stems = set(stems(tokens(outside.sub(" ", evidence))))
    small = set(stems(sorted(_OF_TEXT | _ARTICLES | _FORMS.keys() | {"on", "in", "that"})))
    words = tokens(outside.sub(" ", claim))
    denying = [w for w in words if w in _DENYING]
    return denying + [w for w, s in zip(words, stems(words), strict=True)
                      if s not in evidence_stems and s not in small]  # fmt: skip
