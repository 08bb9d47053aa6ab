"""Captions that look again (OACap): a caption that is a testable account of its video.

A draft's claims are checked against evidence, what is missing is looked for exactly there, and the
caption is rewritten; what could not be established is not stated as fact.

caption_actively, caption_once   a run over one scene, and the single pass with the same backend
EmbeddedBackend, VlmBackend      who drafts and looks: detector, text and speech; or a model
ActiveCaptioner                  the same as an observer of every window of a long recording
Log, State                       a run as a value: saved after every event, resumed, replayed
"""

from egomem.observe.active.embedded_backend import EmbeddedBackend
from egomem.observe.active.loop import (
    CaptionBackend,
    CaptionRun,
    caption_actively,
    caption_once,
    load_log,
    replay,
    save_log,
)
from egomem.observe.active.observer import ActiveCaptioner
from egomem.observe.active.reduce import fold, states
from egomem.observe.active.retrieval import Document, DocumentFolder, Retriever
from egomem.observe.active.state import CaptionBudget, CaptionLog, CaptionState, Scene, StopReason
from egomem.observe.active.tools import Tools, decoded_frames, file_frames
from egomem.observe.active.vlm_backend import VlmBackend

__all__ = [
    "ActiveCaptioner",
    "CaptionBackend",
    "CaptionBudget",
    "CaptionLog",
    "CaptionRun",
    "CaptionState",
    "Document",
    "DocumentFolder",
    "EmbeddedBackend",
    "Retriever",
    "Scene",
    "StopReason",
    "Tools",
    "VlmBackend",
    "caption_actively",
    "caption_once",
    "decoded_frames",
    "file_frames",
    "fold",
    "load_log",
    "replay",
    "save_log",
    "states",
]
