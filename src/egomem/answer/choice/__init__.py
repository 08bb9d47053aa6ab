"""Reading a choice out of a reply: the option that it chooses, or why there is none; no guess."""

from egomem.answer.choice.open_answer import is_no_answer, open_answer_status
from egomem.answer.choice.read import ChoiceReading, read_choice

__all__ = ["ChoiceReading", "is_no_answer", "open_answer_status", "read_choice"]
