"""Frames and sound in, observations out. Observers know nothing of the store and see no question.

Observer, SpeechObserver   what an observer is: a track, and a function of a window or of sound
embedded_observers         those that can run here without a vision-language model
embedded_status            what works here and what is missing, without fetching anything
"""

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
from egomem.observe.template_captioner import TemplateCaptioner, compose
from egomem.observe.window import Observer, SpeechObserver, Window, WindowFailed

__all__ = [
    "PARTS",
    "Embedded",
    "Objects",
    "Observer",
    "Part",
    "PartStatus",
    "ScreenText",
    "Speech",
    "SpeechObserver",
    "TemplateCaptioner",
    "Window",
    "WindowFailed",
    "compose",
    "embedded_observers",
    "embedded_status",
]
