"""What a sentence claims: whether evidence entails it, contradicts it or is silent."""

from egomem.claims.judging import TOLERANCE_S, judge, judge_claims, lines_of
from egomem.claims.model import Claim, EvidenceLine, Judgement, Label, Participant
from egomem.claims.parser import has_parser
from egomem.claims.reading import read, read_question

__all__ = [
    "TOLERANCE_S",
    "Claim",
    "EvidenceLine",
    "Judgement",
    "Label",
    "Participant",
    "has_parser",
    "judge",
    "judge_claims",
    "lines_of",
    "read",
    "read_question",
]
