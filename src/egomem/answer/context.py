"""A view's notes as a reader is given them: numbered, in order of time, under their recordings."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from pydantic import JsonValue

from egomem.answer.strategy import Task
from egomem.memory import View
from egomem.memory.failed_windows import FailedWindow, failed_windows_in_view
from egomem.observe.time_stamps import parse_times
from egomem.records import Evidence, Observation, Question, Recording, Source, Track
from egomem.timeline import format_instant, format_span


@dataclass(frozen=True, slots=True)
class Notes:
    """Numbered notes; `observations[k]` is number k + 1. `text` is "" where there are none."""

    text: str
    observations: tuple[Observation, ...]
    view: View

    def parse_evidence(self, listed: JsonValue) -> list[Evidence]:
        """The notes that a reply lists, once each; what cannot be placed is left out.

        A number is a note's (`3`, `[3]`, `note 3`, `3-5`); a time (`1:05`, `12 s`) means the notes
        whose stretch it lies in.
        """
        numbers: dict[int, None] = {}
        for value in listed if isinstance(listed, list) else []:
            text = _NOTE.sub("", str(value)).strip("[]() #.")
            if match := _NUMBERS.fullmatch(text):
                first, last = int(match[1]), int(match[2] or match[1])
                # Bounded: "1-99999999" must not make a hundred million numbers.
                numbers |= dict.fromkeys(range(first, min(last, len(self.observations)) + 1))
            elif times := [time.value for time in parse_times(value) if time.unit == "seconds"]:
                numbers |= dict.fromkeys(self._numbers_at(times[0], times[-1]))
        # A number of no note cites nothing, and is no reason to doubt the answer.
        inside = [number for number in numbers if 1 <= number <= len(self.observations)]
        return [evidence_of(self.observations[number - 1], self.view) for number in inside]

    def _numbers_at(self, start: float, end: float) -> list[int]:
        return [
            number
            for number, o in enumerate(self.observations, 1)
            if o.recording is not None and o.span.start <= end and start < o.span.end
        ]


_NOTE = re.compile(r"(?i)\b(?:notes?|numbers?|no)\b\.?")
_NUMBERS = re.compile(r"(\d{1,8})(?:\s*[-–]\s*(\d{1,8}))?")


def evidence_of(o: Observation, view: View) -> Evidence:
    return Evidence(
        recording=o.recording,
        span=o.span,
        quote=o.text,
        source=o.source,
        observation=o.id,
        when=view.when(o),
    )


def notes(
    view: View,
    observations: Sequence[Observation],
    gaps: Mapping[str, Sequence[FailedWindow]] | None = None,
) -> Notes:
    """Number observations that are in order of time, under a heading for each recording.

    `gaps`: recording -> windows whose captioning failed. They are listed where they lie,
    without a number, so that a reader does not take silence for an empty scene.
    """
    recordings = {r.id: r for r in view.recordings()}
    gaps_left = {id: sorted(windows) for id, windows in (gaps or {}).items()}
    ends = {o.recording: k for k, o in enumerate(observations)}
    lines: list[str] = []
    last: str | None = ""
    for number, o in enumerate(observations, 1):
        if o.recording != last:
            lines += ["", heading(recordings.get(o.recording or ""), named=len(recordings) > 1)]
            last = o.recording
        gaps_here = gaps_left.get(o.recording or "", [])
        while gaps_here and gaps_here[0].span.start < o.span.start:
            lines.append(_unnoted(gaps_here.pop(0)))
        time = format_span(o.span) if o.recording is not None else "summary"
        when = view.when(o) if o.recording is None else None
        stamp = f" {format_instant(when)}" if when else ""
        lines.append(f"[{number}] {time}{stamp} {_indented(o.text)}")
        if ends[o.recording] == number - 1:
            lines += map(_unnoted, gaps_left.pop(o.recording or "", ()))
    for id in recordings:
        if gaps_left.get(id):
            lines += [
                "",
                heading(recordings[id], named=len(recordings) > 1),
                *map(_unnoted, gaps_left[id]),
            ]
    return Notes("\n".join(lines).strip(), tuple(observations), view)


def _unnoted(gap: FailedWindow) -> str:
    return f"[-] {format_span(gap.span)} (nothing could be noted of this stretch)"


def heading(recording: Recording | None, *, named: bool = True) -> str:
    """What stands above the notes of a recording, and above its frames.

    Not `named` where there is one recording alone: a file's name tells nothing apart then, and may
    tell the answer (`making-tea.mp4`). Readers of captions and of frames are told the same.
    """
    if recording is None:
        return "Summaries"
    clock = recording.instant(0.0)
    begins = f", begins {clock:%A} {format_instant(clock)}" if clock else ", clock unknown"
    return f"Recording{f' {recording.name}' if named else ''}{begins}"


def _indented(text: str) -> str:
    return text.replace("\n", "\n    ")


def scope(view: View, question: Question) -> View:
    """The part of the view that a question is about: its recording, where it names one."""
    if question.recording is None:
        return view
    ids = {r.id for r in view.recordings()}
    # A recording that the view lacks gives an empty part, not the whole memory: its answer would be
    # from other videos.
    return view.narrow(recordings=[question.recording] if question.recording in ids else [])


def chosen_track(view: View, track: str | None = None) -> str | None:
    """The caption track to read: the one named, or the best one of the view.

    Two tracks say the same things twice, so one is read: captions by a model before composed ones,
    then the track that covers most time, then the shorter window. Deterministic for a view.
    """
    if track is not None:
        return track
    covered: dict[str, float] = {}
    for o in view.observations(sources=["caption"]):
        covered[o.track] = covered.get(o.track, 0.0) + o.span.length
    if not covered:
        return None
    tracks = {t.id: t for t in view.store.tracks()}

    def rank(id: str) -> tuple[bool, float, float, str]:
        stored: Track | None = tracks.get(id)
        composed = stored is not None and stored.model is None
        # By its id at last, so that two equal tracks are chosen alike on every machine.
        return composed, -covered[id], (stored.window or 0.0) if stored else 0.0, id

    return min(covered, key=rank)


class Read(NamedTuple):
    """What a reader of captions is given: `observations` in order of time, and the `gaps`
    (failed windows) of the caption track by recording."""

    observations: list[Observation]
    gaps: dict[str, list[FailedWindow]]


def captions(task: Task[Any], track: str | None, sources: Sequence[Source]) -> Read:
    """All captions of one track up to the question's time, with other sources where asked for."""
    view = scope(task.view, task.question)
    chosen = chosen_track(view, track) if "caption" in sources else None
    others = {s for s in sources if s != "caption"}
    tracks = [t.id for t in view.store.tracks() if t.source in others]
    observations = view.observations(tracks=[chosen, *tracks] if chosen else tracks)
    # Told in the trace, too, so that a wrong answer there can be explained by what was never
    # captioned.
    gaps = failed_windows_in_view(view, chosen) if chosen else {}
    without_caption: list[JsonValue] = [
        {"recording": id, "start": g.span.start, "end": g.span.end, "status": g.status}
        for id, windows in gaps.items()
        for g in windows
    ]
    without = {"without": without_caption} if without_caption else {}
    task.note(
        "notes", track=chosen, sources=list(sources), observations=len(observations), **without
    )
    return Read(observations, gaps)
