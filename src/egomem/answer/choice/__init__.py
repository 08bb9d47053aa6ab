"""Reading a choice out of a reply: the option that it chooses, or why there is none; no guess."""

from egomem.answer.choice.read import ChoiceReading, read_choice

__all__ = ["ChoiceReading", "read_choice"]
