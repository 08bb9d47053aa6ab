"""Windows that have no caption: those who answered from the captions did without them."""

from __future__ import annotations

from collections.abc import Sequence

from egomem.evaluate.captions import Uncaptioned, is_cut
from egomem.evaluate.run_reader import Run
from egomem.report.table import Section, build_table
from egomem.timeline import Span, format_span


def missing_captions_section(runs: Sequence[Run]) -> Section:
    """Each track and video with such windows, and which they are; empty where there is none."""
    rows: list[list[object]] = []
    for run in runs:
        settings: dict[str, list[str]] = {}
        for column in run.columns:
            track = run.about.get("tracks", {}).get(column.label)
            if track:
                settings.setdefault(track, []).append(column.setting)
        found: dict[tuple[str, str], list[Uncaptioned]] = {}
        for window in run.uncaptioned():
            found.setdefault((window.track, window.video), []).append(window)
        for (track, video), held in found.items():
            read = (s for t, own in settings.items() if track == t or is_cut(track, t) for s in own)
            read_by = ", ".join(dict.fromkeys(read))
            which = ", ".join(f"{format_span(Span(w.start, w.end))} {w.status}" for w in held)
            rows.append([track, read_by, video, len(held), which])
    heads = ("captions", "read by", "video", "windows", "which, and how the reply ended")
    note = (
        "The captioner refused, was cut off, or said nothing that can be read. Readers are told "
        "that nothing could be noted there."
    )
    parts = (build_table("Windows without a caption", heads, rows, note),) if rows else ()
    return Section(title="Gaps in the captions", parts=parts)
