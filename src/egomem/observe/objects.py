"""Things of everyday classes in a window: how many, and when they appear and leave."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from pydantic import JsonValue

from egomem.models.weights import WeightsOrigin
from egomem.observe.coco_classes import with_article, with_count
from egomem.observe.keyframes import MIN_CHANGE, Keyframe, select_keyframes
from egomem.observe.object_detector import Detection, Detector
from egomem.observe.object_tracks import CountChange, Presence, find_presences
from egomem.observe.window import Window
from egomem.records import Observation, Provenance, Track
from egomem.timeline import DEFAULT_FPS, Span


class Objects:
    """One observation for each stretch in which things of a class are there, one for each change.

    A presence says "2 to 3 bottles"; a change "a bottle leaves, 2 bottles remain", over the time
    within which it happened. `fps`: looks a second at most; unchanged frames are passed over (see
    `changes`). `score`: what a detection needs. `hold`: seconds for which a count must hold (see
    `presence`). `sure`: the score that needs no holding. `dropped` counts sightings without either.
    """

    def __init__(
        self,
        *,
        fps: float = DEFAULT_FPS,
        score: float = 0.5,
        sure: float = 0.8,
        hold: float = 1.5,
        change: float = 2 * MIN_CHANGE,  # a thing covers more than a letter does
        squares: bool = True,
        folder: Path | None = None,
    ) -> None:
        self.fps, self.score, self.sure, self.hold, self.change = fps, score, sure, hold, change
        self.dropped: Counter[str] = Counter()
        self._detector = Detector(squares=squares, folder=folder)

    @property
    def track(self) -> Track:
        sampling = f"{self.fps:g}fps,score{self.score:g},sure{self.sure:g},hold{self.hold:g}s"
        sampling += f",change{self.change:g}" + (",squares" if self._detector.squares else "")
        return Track(
            source="object", observer="opencv", model="ssd-mobilenet-v2-coco", sampling=sampling
        )

    def prepare(self) -> WeightsOrigin:
        """Fetches the weights where they are not here yet; says where they came from."""
        return self._detector.prepare()

    async def observe(self, window: Window) -> list[Observation]:
        return await asyncio.to_thread(self._observe, window)

    def _observe(self, window: Window) -> list[Observation]:
        seen = select_keyframes(window.frames, window.span, fps=self.fps, change=self.change)
        found = [self._detector.detect(look.frame.image, self.score) for look in seen]
        made: list[Observation] = []
        for label in sorted({d.label for detections in found for d in detections}):
            here = [[d for d in detections if d.label == label] for detections in found]
            there = find_presences(
                [len(detections) for detections in here],
                [look.span.length for look in seen],
                [any(d.score >= self.sure for d in detections) for detections in here],
                self.hold,
            )
            believed = {look for p in there for look in range(p.first, p.past)}
            self.dropped["flicker"] += sum(
                len(detections) for look, detections in enumerate(here) if look not in believed
            )
            for presence in there:
                made.append(self._presence(window, label, presence, seen, here))
                made += [self._change(window, label, c, seen) for c in presence.changes]
        return sorted(made, key=lambda o: (o.span, o.text))

    def _presence(
        self,
        window: Window,
        label: str,
        presence: Presence,
        seen: Sequence[Keyframe],
        here: Sequence[Sequence[Detection]],
    ) -> Observation:
        first, past, low, high = presence.first, presence.past, presence.low, presence.high
        text = with_count(label, high) if low == high else f"{low} to {with_count(label, high)}"
        boxes: list[JsonValue] = [
            {
                "time": round(seen[look].frame.time, 3),
                "boxes": [[round(v, 4) for v in d.box] for d in here[look]],
                "scores": [round(d.score, 3) for d in here[look]],
            }
            for look in sorted({first, (first + past - 1) // 2, past - 1})
        ]
        return self._make(
            window,
            text,
            Span(seen[first].span.start, seen[past - 1].span.end),
            [seen[look].frame.time for look in range(first, past)],
            {
                "label": label,
                "min_count": low,
                "max_count": high,
                "score": round(max(d.score for look in range(first, past) for d in here[look]), 3),
                "boxes": boxes,
            },
        )

    def _change(
        self, window: Window, label: str, change: CountChange, seen: Sequence[Keyframe]
    ) -> Observation:
        last, first = seen[change.last], seen[change.first]
        return self._make(
            window,
            describe_change(label, change.before, change.after),
            Span(min(last.last, first.span.start), first.span.start),
            [last.frame.time, first.frame.time],
            {
                "label": label,
                "event": "appears" if change.after > change.before else "leaves",
                "before": change.before,
                "after": change.after,
            },
        )

    def _make(
        self,
        window: Window,
        text: str,
        span: Span,
        frames: Sequence[float],
        data: dict[str, JsonValue],
    ) -> Observation:
        return Observation(
            recording=window.recording.id,
            wearer=window.recording.wearer,
            span=span,
            text=text,
            source="object",
            track=self.track.id,
            data=data,
            provenance=Provenance(frames=tuple(frames)),
        )


def describe_change(label: str, before: int, after: int) -> str:
    """`a bottle leaves, 2 bottles remain`; `2 people appear`."""
    many = abs(after - before)
    who = with_article(label) if many == 1 else with_count(label, many)
    verb = ("appear" if after > before else "leave") + ("s" if many == 1 else "")
    if before == 0:
        return f"{who} {verb}"
    if after == 0:
        return f"{who} {verb}, none remains"
    rest = with_count(label, after)
    return f"{who} {verb}, " + (
        f"now {rest}" if after > before else f"{rest} remain" + ("s" if after == 1 else "")
    )
