"""Digests: observations that tell of ten minutes, an hour or a day what the shorter ones hold.

They are written before any question is known, by the model in the summarizer role or by choosing
lines; each keeps the ids of what it rests on, and carries exact attributes beside its text.
"""

from egomem.ingest.digests.build import DigestReport, LevelReport, build_digests
from egomem.ingest.digests.extractive import ExtractiveSummarizer, Summarizer, Summary
from egomem.ingest.digests.facts import DigestFigures, Fact
from egomem.ingest.digests.levels import DEFAULT_LEVELS, LEVELS, Level, read_levels
from egomem.ingest.digests.parts import Part, Statement

__all__ = [
    "DEFAULT_LEVELS",
    "LEVELS",
    "DigestFigures",
    "DigestReport",
    "ExtractiveSummarizer",
    "Fact",
    "Level",
    "LevelReport",
    "Part",
    "Statement",
    "Summarizer",
    "Summary",
    "build_digests",
    "read_levels",
]
