"""Objects of everyday classes in a window: how many, and when they appear and leave."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict, JsonValue

from egomem.defaults import DEFAULT_FPS
from egomem.extras import install_line
from egomem.models import weights
from egomem.models.weights import WeightsOrigin
from egomem.observe.coco_classes import with_article, with_count
from egomem.observe.keyframes import MIN_CHANGE, Keyframe, select_keyframes
from egomem.observe.object_detector import Detection, Detector
from egomem.observe.object_tracks import CountChange, Presence, find_presences
from egomem.observe.plugin import ObserverPlugin, ObserverSetup
from egomem.observe.window import Window
from egomem.records import Observation, Provenance, Track
from egomem.timeline import Span

OBJECT_CHANGE = 2 * MIN_CHANGE
"""An object covers more of the picture than a letter does, so less sensitivity is enough."""


class Objects:
    """One observation for each stretch in which objects of a class are present, one for each
    change.

    A presence says "2 to 3 bottles"; a change "a bottle leaves, 2 bottles remain", over the time
    within which it happened. `fps`: keyframes a second at most (see `keyframes`). `score`: what a
    detection needs. `hold`: seconds for which a count must hold (see `object_tracks`). `sure`: the
    score that needs no holding. `dropped` counts detections without either.
    """

    def __init__(
        self,
        *,
        fps: float = DEFAULT_FPS,
        score: float = 0.5,
        sure: float = 0.8,
        hold: float = 1.5,
        change: float = OBJECT_CHANGE,
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
        """Fetch the weights unless they are here; return where they came from."""
        return self._detector.prepare()

    async def observe(self, window: Window) -> list[Observation]:
        return await asyncio.to_thread(self._observe, window)

    def _observe(self, window: Window) -> list[Observation]:
        keyframes = select_keyframes(window.frames, window.span, fps=self.fps, change=self.change)
        by_frame = [self._detector.detect(look.frame.image, self.score) for look in keyframes]
        observations: list[Observation] = []
        for label in sorted({d.label for detections in by_frame for d in detections}):
            of_label = [[d for d in detections if d.label == label] for detections in by_frame]
            label_presences = find_presences(
                [len(detections) for detections in of_label],
                # By time and not by keyframes: where nothing changes, one keyframe stands for many
                # seconds.
                [look.span.length for look in keyframes],
                [any(d.score >= self.sure for d in detections) for detections in of_label],
                self.hold,
            )
            kept = {look for p in label_presences for look in range(p.first, p.past)}
            self.dropped["flicker"] += sum(
                len(detections) for look, detections in enumerate(of_label) if look not in kept
            )
            for presence in label_presences:
                observations.append(self._presence(window, label, presence, keyframes, of_label))
                observations += [
                    self._change(window, label, c, keyframes) for c in presence.changes
                ]
        return sorted(observations, key=lambda o: (o.span, o.text))

    def _presence(
        self,
        window: Window,
        label: str,
        presence: Presence,
        keyframes: Sequence[Keyframe],
        detections: Sequence[Sequence[Detection]],
    ) -> Observation:
        first, past, low, high = presence.first, presence.past, presence.low, presence.high
        text = with_count(label, high) if low == high else f"{low} to {with_count(label, high)}"
        best = max(d.score for look in range(first, past) for d in detections[look])
        boxes: list[JsonValue] = [
            {
                "time": round(keyframes[look].frame.time, 3),
                "boxes": [[round(v, 4) for v in d.box] for d in detections[look]],
                "scores": [round(d.score, 3) for d in detections[look]],
            }
            # First, middle and last: one for each keyframe would outweigh the text.
            for look in sorted({first, (first + past - 1) // 2, past - 1})
        ]
        return self._make(
            window,
            text,
            Span(keyframes[first].span.start, keyframes[past - 1].span.end),
            [keyframes[look].frame.time for look in range(first, past)],
            {
                "label": label,
                "min_count": low,
                "max_count": high,
                "score": round(best, 3),
                "boxes": boxes,
            },
        )

    def _change(
        self, window: Window, label: str, change: CountChange, keyframes: Sequence[Keyframe]
    ) -> Observation:
        last, first = keyframes[change.last], keyframes[change.first]
        return self._make(
            window,
            describe_change(label, change.before, change.after),
            # It happened between the last frame that showed the old count and the first that shows
            # the new one.
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


class ObjectSettings(BaseModel):
    """See `Objects`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    score: float = 0.5
    sure: float = 0.8
    hold: float = 1.5
    change: float = OBJECT_CHANGE
    squares: bool = True


def _make(setup: ObserverSetup, settings: ObjectSettings) -> Objects:
    return Objects(fps=setup.fps, **settings.model_dump())


OBJECTS = ObserverPlugin(
    summary="Things of 80 everyday classes: how many, and when they come and go.",
    source="object",
    reads=("frames",),
    make=_make,
    settings=ObjectSettings,
    modules=("cv2",),
    install=install_line("objects"),
    weights=lambda: weights.describe("SSD MobileNet v2 COCO", "detector"),
)
