"""Regions of the picture in which an object stands, and when it comes and goes, from detections.

Whole pictures and enlarged regions are combined: an object that only an enlargement can show is not
denied by the whole picture, in which it is too small. Our reconstruction.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, cast

from egomem.observe.active.actions import WHOLE_PICTURE, Box
from egomem.observe.active.state import Finding
from egomem.observe.object_detector import Detection
from egomem.timeline import Span

MIN_SCORE = 0.5
"""Score of a thing that counts as seen."""
MIN_SCORE_AGAIN = 0.4
"""Score that is enough where the thing was seen in the same place before."""
MIN_OVERLAP = 0.35
"""Intersection over union above which two boxes are one place: what is put back stands a little
beside where it stood."""
MAX_NEIGHBOUR_GAP_S = 1.2
"""Seconds between the neighbours of a single sighting that both contradict, for it to be flicker.
The rule is for dense inspections, not for the coarse view."""


@dataclass(frozen=True, slots=True)
class DetectedFrame:
    """The detections in one picture: its region, and the finding that they belong to."""

    time: float
    region: Box
    things: tuple[Detection, ...]
    finding: str

    @property
    def whole(self) -> bool:
        return self.region == WHOLE_PICTURE


@dataclass(frozen=True, slots=True)
class Sighting:
    """Whether a region held its object at a time."""

    time: float
    there: bool
    score: float
    finding: str


@dataclass(slots=True)
class Region:
    """A region of the picture where objects of a label stand at times."""

    box: Box
    labels: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    times: set[float] = field(default_factory=set)
    by_whole: bool = False
    sightings: list[Sighting] = field(default_factory=list)

    @property
    def label(self) -> str:
        return max(sorted(self.labels), key=lambda name: self.labels[name])

    @property
    def side(self) -> str:
        middle = (self.box[0] + self.box[2]) / 2
        return "left" if middle < 0.37 else "right" if middle > 0.63 else "middle"

    def there_at(self, time: float) -> bool:
        """Whether the object was there when last seen by then; before the first sighting, as in
        that.
        """
        past = [s for s in self.sightings if s.time <= time + 1e-6]
        latest = past[-1] if past else self.sightings[0]
        return latest.there


@dataclass(frozen=True, slots=True)
class RegionChange:
    """An object came to its region or left it within `span`."""

    place: Region
    comes: bool
    span: Span
    findings: tuple[str, ...]
    frames: tuple[float, float]
    score: float


def detected_frames(findings: Iterable[Finding]) -> list[DetectedFrame]:
    """Return the detections in the data of findings, in order of time."""
    detected = []
    for finding in findings:
        for entry in cast("list[dict[str, Any]]", finding.data.get("seen", [])):
            things = tuple(
                Detection(str(t[0]), float(t[1]), (t[2], t[3], t[4], t[5])) for t in entry["things"]
            )
            region = cast(Box, tuple(entry["region"]))
            detected.append(DetectedFrame(float(entry["time"]), region, things, finding.id))
    return sorted(detected, key=lambda v: (v.time, v.region))


def find_regions(detected: Sequence[DetectedFrame]) -> list[Region]:
    """Return the regions that held an object at two times at least, from left to right."""
    regions: list[Region] = []
    things = [(t, view) for view in detected for t in view.things if t.score >= MIN_SCORE]
    # The surest box founds the region: a bad one would pull in its neighbours.
    for thing, view in sorted(things, key=lambda p: -p[0].score):
        region = max(regions, key=lambda p: intersection_over_union(p.box, thing.box), default=None)
        if region is None or intersection_over_union(region.box, thing.box) < MIN_OVERLAP:
            region = Region(thing.box)
            regions.append(region)
        region.labels[thing.label] += thing.score
        region.times.add(view.time)
        region.by_whole |= view.whole
    # A single detection may be an error, and nothing is built on it.
    lasting = [p for p in regions if len(p.times) > 1]
    for region in lasting:
        region.sightings = _quieted(_sightings(region, detected))
    return sorted(lasting, key=lambda p: p.box)


def outside_regions(
    detected: Sequence[DetectedFrame], regions: Sequence[Region]
) -> list[tuple[str, DetectedFrame, Detection]]:
    """Return detections outside of all regions, such as a person who walks by."""
    return [
        (thing.label, view, thing)
        for view in detected
        for thing in view.things
        if thing.score >= MIN_SCORE
        and not any(
            intersection_over_union(p.box, thing.box) > (0.0 if p.label == thing.label else 0.3)
            for p in regions
        )
    ]


def _sightings(region: Region, detected: Sequence[DetectedFrame]) -> list[Sighting]:
    by_time: dict[float, tuple[bool, Sighting]] = {}  # time -> (an enlargement?, sighting)
    for view in detected:
        # What only an enlargement shows is not absent because the whole picture does not show it.
        if (view.whole and not region.by_whole) or not _holds(view.region, region.box):
            continue
        match = max(
            (
                t
                for t in view.things
                if t.score >= MIN_SCORE_AGAIN
                and intersection_over_union(t.box, region.box) >= MIN_OVERLAP
            ),
            key=lambda t: t.score,
            default=None,
        )
        sighting = Sighting(
            view.time, match is not None, match.score if match else 1.0, view.finding
        )
        old = by_time.get(view.time)
        better = old is None or (not view.whole and not old[0])
        if better or (old is not None and sighting.there and old[0] == (not view.whole)):
            by_time[view.time] = (not view.whole, sighting)
    return [by_time[time][1] for time in sorted(by_time)]


def _quieted(sightings: list[Sighting]) -> list[Sighting]:
    """The sightings without single ones that both neighbours, close in time, contradict."""
    kept = list(sightings)
    for before, now, after in zip(sightings, sightings[1:], sightings[2:], strict=False):
        # In the coarse view seconds lie between two sightings, in which a thing may well have come
        # and gone.
        near = after.time - before.time <= MAX_NEIGHBOUR_GAP_S
        if near and before.there == after.there != now.there:
            kept.remove(now)
    return kept


def region_changes(region: Region) -> list[RegionChange]:
    return [
        RegionChange(
            region,
            comes=after.there,
            span=Span(before.time, after.time),
            findings=tuple(dict.fromkeys((before.finding, after.finding))),
            frames=(before.time, after.time),
            score=min(s.score for s in (before, after)),
        )
        # Nothing is known between two sightings, so the change lies somewhere in their span.
        for before, after in pairwise(region.sightings)
        if before.there != after.there
    ]


def max_simultaneous(group: Sequence[Region]) -> int:
    # At one time: two places that held a ball one after the other are one ball.
    times = sorted({s.time for p in group for s in p.sightings})
    return max((sum(p.there_at(t) for p in group) for t in times), default=0)


def intersection_over_union(a: Box, b: Box) -> float:
    """Intersection over union of two boxes, 0 to 1."""
    wide = min(a[2], b[2]) - max(a[0], b[0])
    high = min(a[3], b[3]) - max(a[1], b[1])
    if wide <= 0 or high <= 0:
        return 0.0
    areas = [(x[2] - x[0]) * (x[3] - x[1]) for x in (a, b)]
    return wide * high / (sum(areas) - wide * high)


def _holds(region: Box, box: Box) -> bool:
    wide = min(region[2], box[2]) - max(region[0], box[0])
    high = min(region[3], box[3]) - max(region[1], box[1])
    area = (box[2] - box[0]) * (box[3] - box[1])
    return wide > 0 and high > 0 and wide * high >= 0.9 * area
