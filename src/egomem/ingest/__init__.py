"""Ingest: recordings -> observers -> store, resumable; and when each recording began."""

from egomem.ingest.job import Observers, SamplingOptions
from egomem.ingest.observer_set import ObserverSet, choose_observers
from egomem.ingest.report import FileOutcome, IngestReport, OnStep, Step
from egomem.ingest.run import ingest
from egomem.ingest.sources import MEDIA_SUFFIXES, MediaFiles, find_media, media_files

__all__ = [
    "MEDIA_SUFFIXES",
    "FileOutcome",
    "IngestReport",
    "MediaFiles",
    "ObserverSet",
    "Observers",
    "OnStep",
    "SamplingOptions",
    "Step",
    "choose_observers",
    "find_media",
    "ingest",
    "media_files",
]
