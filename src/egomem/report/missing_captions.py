"""Windows without a caption, which readers of captions had to answer without."""

from __future__ import annotations

from collections.abc import Sequence

from egomem.evaluate.captions import Uncaptioned, is_cut
from egomem.evaluate.run_reader import Run
from egomem.report.table import Section, build_table
from egomem.timeline import Span, format_span


def missing_captions_section(runs: Sequence[Run]) -> Section:
    """Each track and video that lacks captions, with the windows; empty where none does."""
    rows: list[list[object]] = []
    for run in runs:
        settings: dict[str, list[str]] = {}
        for arm in run.columns:
            track = run.about.get("tracks", {}).get(arm.label)
            if track:
                settings.setdefault(track, []).append(arm.setting)
        by_video: dict[tuple[str, str], list[Uncaptioned]] = {}
        for window in run.uncaptioned():
            by_video.setdefault((window.track, window.video), []).append(window)
        for (track, video), windows in by_video.items():
            # A question that may see only a part of a video reads a cut of its setting's track.
            readers = (
                setting
                for whole, names in settings.items()
                if track == whole or is_cut(track, whole)
                for setting in names
            )
            spans = ", ".join(f"{format_span(Span(w.start, w.end))} {w.status}" for w in windows)
            rows.append([track, ", ".join(dict.fromkeys(readers)), video, len(windows), spans])
    headings = ("captions", "read by", "video", "windows", "which, and the status of the reply")
    note = (
        "The captioner refused, was cut off, or gave no readable reply. Readers are told that "
        "these windows have no caption."
    )
    tables = (build_table("Windows without a caption", headings, rows, note),) if rows else ()
    return Section(title="Missing captions", parts=tables)
