"""Recordings -> observers -> store, resumable; and what places recordings on a timeline."""

from egomem.ingest.observers import Chosen, choose
from egomem.ingest.report import OnStep, Outcome, Report, Step
from egomem.ingest.run import Observers, Watching, ingest
from egomem.ingest.sources import MEDIA_SUFFIXES, media_files

__all__ = [
    "MEDIA_SUFFIXES",
    "Chosen",
    "Observers",
    "OnStep",
    "Outcome",
    "Report",
    "Step",
    "Watching",
    "choose",
    "ingest",
    "media_files",
]
