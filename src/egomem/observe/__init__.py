"""Frames and sound in, observations out. Observers know nothing of the store and see no question.

Observer, SpeechObserver   what an observer is: a track, and a function of a window or of sound
embedded_observers         those that can run here without a vision-language model
embedded_status            what works here and what is missing, without fetching anything
"""

from egomem.observe.compose import Composed, compose
from egomem.observe.embedded import (
    PARTS,
    Embedded,
    Part,
    PartStatus,
    embedded_observers,
    embedded_status,
)
from egomem.observe.objects import Objects
from egomem.observe.screen_text import ScreenText
from egomem.observe.speech import Speech
from egomem.observe.window import NoObservation, Observer, SpeechObserver, Window

__all__ = [
    "PARTS",
    "Composed",
    "Embedded",
    "NoObservation",
    "Objects",
    "Observer",
    "Part",
    "PartStatus",
    "ScreenText",
    "Speech",
    "SpeechObserver",
    "Window",
    "compose",
    "embedded_observers",
    "embedded_status",
]
