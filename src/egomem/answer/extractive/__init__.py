"""The extractive reader: answers out of the memory alone, with no language model."""

from egomem.answer.extractive.reader import extractive
from egomem.answer.extractive.settings import ExtractiveSettings

__all__ = ["ExtractiveSettings", "extractive"]
