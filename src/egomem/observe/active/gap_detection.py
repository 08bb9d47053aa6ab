"""Where a composed draft and the coarse view disagree, and the inspection that would settle it."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from egomem.media import Frame
from egomem.observe.active.actions import Box, Detect, Inspection, Listen, ReadText
from egomem.observe.active.crops import region_around
from egomem.observe.active.regions import (
    MIN_SCORE,
    RegionChange,
    detected_frames,
    find_regions,
    intersection_over_union,
    region_changes,
)
from egomem.observe.active.state import (
    CaptionGap,
    CaptionState,
    Finding,
)
from egomem.observe.active.statements import (
    MAX_PLACED_S,
    MIN_TEXT_SCORE,
    change_statement,
    passing_objects,
    text_regions,
)
from egomem.observe.active.tools import Tools
from egomem.observe.coco_classes import with_article
from egomem.observe.keyframes import brightness_grid
from egomem.timeline import Span

STEP_S = 1.0
"""Seconds between the frames of a look for a change."""
ZOOM = 1.5
"""Size of the region around a thing that is looked at closely, in sizes of the thing."""
STRUCTURE = 6.0
"""Spread of brightness (0-255) above which a part of a picture holds something."""


def tiles(shape: tuple[int, ...]) -> list[Box]:
    """Squares of the short side that overlap by half or more; a square picture has four corners and
    its middle, at 0.6 of its side."""
    height, width = shape[:2]
    side = min(height, width) if max(height, width) >= 1.25 * min(height, width) else None
    if side is None:
        return [
            (x, y, round(x + 0.6, 4), round(y + 0.6, 4))
            for x, y in ((0.2, 0.2), (0.0, 0.0), (0.4, 0.0), (0.0, 0.4), (0.4, 0.4))
        ]
    long = max(height, width)
    count = max(3, -(-2 * (long - side) // side) + 1)
    starts = [k * (long - side) / (count - 1) / long for k in range(count)]
    share = side / long
    if width > height:
        return [(round(s, 4), 0.0, round(s + share, 4), 1.0) for s in starts]
    return [(0.0, round(s, 4), 1.0, round(s + share, 4)) for s in starts]


def uncovered_regions(
    tools: Tools, coarse: Sequence[Frame], state: CaptionState
) -> list[CaptionGap]:
    """Gaps for regions of the coarse view that hold something and in which nothing was named."""
    if tools.detector is None or not coarse:
        return []
    centres = [
        ((t.box[0] + t.box[2]) / 2, (t.box[1] + t.box[3]) / 2)
        for view in detected_frames(state.findings)
        for t in view.things
        if t.score >= MIN_SCORE
    ]
    centres += [
        ((box[0] + box[2]) / 2, (box[1] + box[3]) / 2)
        for lines in text_regions(state.findings)
        for *_, box, _, _ in lines
    ]
    gaps = []
    for tile in tiles(coarse[0].image.shape):
        inner = _shrunk(tile)
        if any(inner[0] < x < inner[2] and inner[1] < y < inner[3] for x, y in centres):
            continue
        # The median over frames: a hand that passes once makes no empty wall interesting.
        spread = float(np.median([_spread(f.image, inner) for f in coarse]))
        if spread < STRUCTURE:
            continue
        look = Detect(start=coarse[0].time, end=coarse[-1].time, count=len(coarse), boxes=(tile,))
        where = "-".join(f"{v:.2f}" for v in tile)
        gaps.append(
            CaptionGap(
                id="",
                kind="observation",
                concern="omission",
                change=f"name what stands in the part {where} of the picture",
                priority=0.9 + min(spread, 99) / 1000,
                look=look,
            )
        )
    return gaps


def _shrunk(box: Box) -> Box:
    wide, high = (box[2] - box[0]) * 0.2, (box[3] - box[1]) * 0.1
    return box[0] + wide, box[1] + high, box[2] - wide, box[3] - high


def _spread(image: Any, box: Box) -> float:
    grid = brightness_grid(image)
    rows, columns = grid.shape
    part = grid[
        int(box[1] * rows) : max(int(box[1] * rows) + 1, int(box[3] * rows)),
        int(box[0] * columns) : max(int(box[0] * columns) + 1, int(box[2] * columns)),
    ]
    return float((part - part.mean(axis=1, keepdims=True)).std())


def unplaced_changes(coarse: Sequence[Frame], state: CaptionState) -> list[CaptionGap]:
    """Gaps for changes that are known only to within the coarse step."""
    if not coarse:
        return []
    height, width = coarse[0].image.shape[:2]
    changes_by_span: defaultdict[Span, list[RegionChange]] = defaultdict(list)
    for place in find_regions(detected_frames(state.findings)):
        for change in region_changes(place):
            if change.span.length > MAX_PLACED_S:
                changes_by_span[change.span].append(change)
    gaps = []
    for span, group in _joined(changes_by_span):
        boxes = [_close_up(c.place.box, width, height) for c in group]
        # Both ends are known from the coarse view already.
        count = max(2, math.ceil(span.length / STEP_S - 0.05) - 1)
        step = span.length / (count + 1)
        look = Detect(
            start=span.start + step, end=span.end - step, count=count, boxes=tuple(boxes[:3])
        )
        texts = {change_statement(c)[0] for c in group}
        claim = next((c for c in state.claims if c.text in texts and c.span == span), None)
        gaps.append(
            CaptionGap(
                id="",
                kind="observation",
                concern="temporal",
                change=f"place a change between {span.start:g} and {span.end:g} s: "
                + " ".join(sorted(texts)),
                claim=claim.id if claim else None,
                priority=0.8 + 0.01 * min(len(group), 5),
                look=look,
            )
        )
    return gaps


def unconfirmed_objects(coarse: Sequence[Frame], state: CaptionState) -> list[CaptionGap]:
    """Gaps for objects that a single picture showed once: the region of each is enlarged."""
    if not coarse:
        return []
    height, width = coarse[0].image.shape[:2]
    gaps = []
    for thing in passing_objects(detected_frames(state.findings)):
        if thing.settled:
            continue
        time = thing.views[0].time
        box = _close_up(thing.best.box, width, height)
        look = Detect(start=time, end=time, boxes=(box,))
        claim = next(
            (c for c in state.claims if c.text == thing.text and c.span.start == thing.time), None
        )
        gaps.append(
            CaptionGap(
                id="",
                kind="observation",
                concern="ambiguity",
                change=f"confirm {with_article(thing.label)} at {thing.time:.1f} s",
                claim=claim.id if claim else None,
                priority=0.4 + thing.best.score / 10,
                look=look,
            )
        )
    return gaps


def _joined(
    changes_by_span: dict[Span, list[RegionChange]],
) -> list[tuple[Span, list[RegionChange]]]:
    """The changes, grouped if their spans nearly agree: one inspection serves a group."""
    joined: list[tuple[Span, list[RegionChange]]] = []
    for span in sorted(changes_by_span):
        if joined:
            before, group = joined[-1]
            shared = min(before.end, span.end) - max(before.start, span.start)
            # A look holds three regions at most.
            if shared >= 0.8 * max(before.length, span.length) and len(group) < 3:
                joint = Span(min(before.start, span.start), max(before.end, span.end))
                joined[-1] = (joint, [*group, *changes_by_span[span]])
                continue
        joined.append((span, list(changes_by_span[span])))
    return joined


def _close_up(box: Box, width: int, height: int) -> Box:
    """A square region around a box."""
    short = min(width, height)
    size = max((box[2] - box[0]) * width, (box[3] - box[1]) * height) * ZOOM
    size = min(max(size, short / 3), short)
    return region_around(box, size / width, size / height)


def is_change_placed(findings: Sequence[Finding], span: Span, look: Inspection) -> bool:
    """True if a change within the inspection's span is now placed."""
    near = Span(max(0.0, span.start - STEP_S * 1.5), span.end + STEP_S * 1.5)
    return any(
        c.span.length <= MAX_PLACED_S and near.start <= c.span.start and c.span.end <= near.end
        for p in find_regions(detected_frames(findings))
        if any(intersection_over_union(p.box, b) > 0 for b in look.regions)
        for c in region_changes(p)
    )


def unread_text(tools: Tools, state: CaptionState) -> list[CaptionGap]:
    """Gaps for text that is small, has a low score, or changes."""
    if tools.reader is None:
        return []
    gaps = []
    for lines in text_regions(state.findings):
        if any(close for *_, close in lines):
            continue
        texts = {row[1] for row in lines}
        times = {row[0] for row in lines}
        if len(texts) == 1 and len(times) > 1 and min(row[2] for row in lines) >= MIN_TEXT_SCORE:
            continue
        box = (
            min(r[3][0] for r in lines) - 0.02,
            min(r[3][1] for r in lines) - 0.03,
            max(r[3][2] for r in lines) + 0.02,
            max(r[3][3] for r in lines) + 0.03,
        )
        box = (max(box[0], 0.0), max(box[1], 0.0), min(box[2], 1.0), min(box[3], 1.0))
        coarse = tools.scene.coarse
        changing = len(texts) > 1 and len(times) > 1
        start, end = (coarse[0], coarse[-1]) if changing and coarse else (min(times), max(times))
        look = ReadText(start=start, end=end, count=len(coarse) if changing else 2, boxes=(box,))
        gaps.append(
            CaptionGap(
                id="",
                kind="observation",
                concern="ambiguity",
                change=f"read the text around {box[0]:.2f}, {box[1]:.2f}",
                priority=0.7,
                look=look,
            )
        )
    return gaps


def unheard_speech(tools: Tools, state: CaptionState) -> list[CaptionGap]:
    """Gaps for speech that was not transcribed, and for words that nobody in view says."""
    gaps = []
    heard_findings = [f for f in state.findings if f.data.get("said")]
    span = tools.scene.span
    tried = any(
        g.look is not None and g.look.tool == "listen" and g.state != "open" for g in state.gaps
    )
    if not heard_findings and not tried and tools.listener is not None:
        gaps.append(
            CaptionGap(
                id="",
                kind="observation",
                concern="omission",
                change="write down the words that are said",
                priority=0.75,
                look=Listen(start=span.start, end=span.end),
            )
        )
    if tools.detector is None or not tools.scene.coarse or not heard_findings:
        return gaps
    people = [
        v.time for v in detected_frames(state.findings) for t in v.things if t.label == "person"
    ]
    for finding in heard_findings:
        near = Span(finding.span.start - 1, finding.span.end + 1)
        if any(near.start <= t <= near.end for t in people):
            continue
        look = Detect(start=finding.span.start, end=finding.span.end, count=4)
        gaps.append(
            CaptionGap(
                id="",
                kind="observation",
                concern="unsupported",
                change=f"tell who is in view while words are heard from {finding.span.start:.1f} s",
                priority=0.4,
                look=look,
            )
        )
    return gaps
