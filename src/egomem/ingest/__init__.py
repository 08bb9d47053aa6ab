"""Recordings -> observers -> store, resumable; and what places recordings on a timeline."""

from egomem.ingest.observer_set import ObserverSet, choose_observers
from egomem.ingest.report import FileOutcome, IngestReport, OnStep, Step
from egomem.ingest.run import Observers, SamplingOptions, ingest
from egomem.ingest.sources import MEDIA_SUFFIXES, media_files

__all__ = [
    "MEDIA_SUFFIXES",
    "FileOutcome",
    "IngestReport",
    "ObserverSet",
    "Observers",
    "OnStep",
    "SamplingOptions",
    "Step",
    "choose_observers",
    "ingest",
    "media_files",
]
