"""The main job on real recordings: one day of one wearer, six questions, answers with evidence.

The recordings come as data out of pinned packages; `QUESTIONS` holds what was seen and heard in
them by looking and listening.
"""

from egomem.demo.day import Clip, demo_day
from egomem.demo.questions import QUESTIONS, DemoQuestion, is_right

__all__ = ["QUESTIONS", "Clip", "DemoQuestion", "demo_day", "is_right"]
