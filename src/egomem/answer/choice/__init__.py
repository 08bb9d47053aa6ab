"""Reading a choice out of a reply: the option it names, or why there is none. It never guesses."""

from egomem.answer.choice.read import ChoiceReading, read_choice

__all__ = ["ChoiceReading", "read_choice"]
