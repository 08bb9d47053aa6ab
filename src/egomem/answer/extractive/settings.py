"""The reader's settings."""

from __future__ import annotations

from pydantic import Field

from egomem.answer.strategy import StrategySettings

NAME = "extractive"


class ExtractiveSettings(StrategySettings):
    """Settings of the extractive reader; all are our reconstruction.

    `support`: least support of an open question, 0 to 1; below it, the reader abstains.
    `option_support`: least share of the winning option's words that one observation must hold.
    `doubt`: difference of coverage at which the share of the asked person moves by one logit.
    `episode_gap`: seconds below which two spans are one episode. `slack`: seconds around a clock
    time in which its event is looked for. `fade`: seconds at which a mention beside the anchor
    counts 1/e. `sharpness`: how much an observation that speaks to the question counts over others,
    per unit of coverage, in nats. `part_width`: share of a recording over which "at the start"
    falls off. `meaning`: what a unit of cosine above the usual counts for an option, in nats (with
    an embedder). `quotes`: most quotes and times in an answer. `most`: matching observations
    that are read; of more, those that hold most of the question's words.
    """

    support: float = Field(0.35, ge=0, le=1)
    option_support: float = Field(0.1, ge=0, le=1)
    doubt: float = Field(0.03, gt=0)
    episode_gap: float = Field(5.0, ge=0)
    slack: float = Field(12.0, ge=0)
    fade: float = Field(100.0, gt=0)
    sharpness: float = Field(3.0, ge=0)
    part_width: float = Field(0.25, gt=0)
    meaning: float = Field(15.0, ge=0)
    quotes: int = Field(3, ge=1)
    most: int = Field(5_000, ge=1)
