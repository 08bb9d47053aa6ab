"""Frames and sound in, observations out. Observers know nothing of the store and see no question.

ObserverPlugin, OBSERVERS       what an observer declares, and those that are installed
FrameObserver, SoundObserver    what one does: a track, and a function of a window or of sound
StreamObserver                  the same of streams beside the recording: gaze, motion, position
Window, WindowFailed            what a frame observer gets, and how it gives a window up
Speech, ScreenText, Objects     the observers that need no vision-language model
TemplateCaptioner               a caption composed from what those observed
"""

from egomem.observe.objects import Objects
from egomem.observe.plugin import (
    OBSERVERS,
    AnyObserver,
    AsksModel,
    FetchesWeights,
    FrameObserver,
    NoSettings,
    ObserverPlugin,
    ObserverSetup,
    SoundObserver,
    StreamObserver,
)
from egomem.observe.screen_text import ScreenText
from egomem.observe.speech import Speech
from egomem.observe.status import ObserverStatus, observer_status
from egomem.observe.template_captioner import TemplateCaptioner, compose
from egomem.observe.window import Window, WindowFailed

__all__ = [
    "OBSERVERS",
    "AnyObserver",
    "AsksModel",
    "FetchesWeights",
    "FrameObserver",
    "NoSettings",
    "Objects",
    "ObserverPlugin",
    "ObserverSetup",
    "ObserverStatus",
    "ScreenText",
    "SoundObserver",
    "Speech",
    "StreamObserver",
    "TemplateCaptioner",
    "Window",
    "WindowFailed",
    "compose",
    "observer_status",
]
