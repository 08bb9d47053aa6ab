"""The statements that findings add up to: a composed caption's lines, and which are settled."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from egomem.observe.active.actions import Box
from egomem.observe.active.regions import (
    MIN_SCORE,
    DetectedFrame,
    Region,
    RegionChange,
    detected_frames,
    find_regions,
    intersection_over_union,
    max_simultaneous,
    outside_regions,
    region_changes,
)
from egomem.observe.active.state import (
    CaptionLine,
    Finding,
)
from egomem.observe.coco_classes import with_article, with_count
from egomem.observe.object_detector import Detection
from egomem.timeline import Span

MAX_PLACED_S = 1.25
"""Seconds within which a change must be placed to be stated as fact."""
MIN_TEXT_SCORE = 0.9
"""Recogniser's score above which a line counts as read where two coarse frames agree."""
MAX_PASSING = 5
"""Things passing by that a caption tells, of each label."""


def compose(findings: Sequence[Finding]) -> list[CaptionLine]:
    """The caption's lines in order of time, each an atomic claim with the tally it rests on."""
    proofs = {(f.text, f.span): f.id for f in findings if f.tool == "tally"}
    lines = []
    for text, span, _, _, _ in statements(findings):
        proof = proofs.get((text, span))
        lines.append(
            CaptionLine(span=span, text=text, claims=(text,), evidence=((proof,) if proof else (),))
        )
    return sorted(lines, key=lambda line: (line.span, line.text))


def tally_findings(findings: Sequence[Finding], count: int) -> list[Finding]:
    """Return a finding for each statement that follows from the findings and has none yet."""
    tallied = {(f.text, f.span, f.conclusive) for f in findings if f.tool == "tally"}
    tallies: list[Finding] = []
    for text, span, rests_on, frames, conclusive in statements(findings):
        if (text, span, conclusive) in tallied:
            continue
        tallies.append(
            Finding(
                id=f"e{count + len(tallies) + 1}",
                tool="tally",
                span=span,
                text=text,
                frames=frames,
                conclusive=conclusive,
                rests_on=rests_on,
            )
        )
    return tallies


CaptionStatement = tuple[str, Span, tuple[str, ...], tuple[float, ...], bool]
"""Text, span, findings it rests on, frames, whether it is settled."""


def statements(findings: Sequence[Finding]) -> list[CaptionStatement]:
    detected = detected_frames(findings)
    regions = find_regions(detected)
    return [
        *_in_view(detected, regions),
        *(change_statement(c) for p in regions for c in region_changes(p)),
        *(_told_passing(thing) for thing in passing_objects(detected)),
        *_texts(findings),
        *_words(findings),
    ]


def _in_view(
    detected: Sequence[DetectedFrame], regions: Sequence[Region]
) -> list[CaptionStatement]:
    by_label: defaultdict[str, list[Region]] = defaultdict(list)
    for place in regions:
        by_label[place.label].append(place)
    span = Span(detected[0].time, detected[-1].time) if detected else Span(0, 0)
    statements_in_view: list[CaptionStatement] = []
    for label, group in sorted(by_label.items()):
        count = max_simultaneous(group)
        if not count:
            continue
        sides = ", ".join(dict.fromkeys(p.side for p in group))
        rests = dict.fromkeys(s.finding for p in group for s in p.sightings if s.there)
        frames = sorted({s.time for p in group for s in p.sightings if s.there})
        most = "" if not any(region_changes(p) for p in group) else "up to "
        text = f"In view: {most}{with_count(label, count)} ({sides})."
        statements_in_view.append((text, span, tuple(rests), tuple(frames), True))
    return statements_in_view


def change_statement(change: RegionChange) -> CaptionStatement:
    place = change.place
    where = {"left": "at the left", "right": "at the right", "middle": "in the middle"}[place.side]
    if change.comes:
        again = any(s.there and s.time < change.span.start for s in place.sightings)
        text = f"{with_article(place.label).capitalize()} is {'back' if again else 'put'} {where}."
    else:
        text = f"The {place.label} {where} leaves."
    settled = change.span.length <= MAX_PLACED_S and change.score >= MIN_SCORE
    return text, change.span, change.findings, change.frames, settled


@dataclass(frozen=True, slots=True)
class PassingObject:
    """An object seen at one time: in which pictures, and its best detection."""

    label: str
    time: float
    views: tuple[DetectedFrame, ...]
    best: Detection

    @property
    def text(self) -> str:
        return f"{with_article(self.label).capitalize()} is seen."

    @property
    def settled(self) -> bool:
        """True if two pictures agree: the whole and a close one, or two close ones.

        A detector that is wrong about one of them is seldom wrong about the other.
        """
        return len({v.region for v in self.views}) > 1


def passing_objects(detected: Sequence[DetectedFrame]) -> list[PassingObject]:
    by_label_and_time: defaultdict[tuple[str, float], list[tuple[DetectedFrame, Detection]]] = (
        defaultdict(list)
    )
    for label, view, thing in outside_regions(detected, find_regions(detected)):
        by_label_and_time[label, round(view.time, 1)].append((view, thing))
    counts: Counter[str] = Counter()
    objects = []
    for (label, time), rows in sorted(by_label_and_time.items()):
        counts[label] += 1
        if counts[label] <= MAX_PASSING:
            best = max((thing for _, thing in rows), key=lambda t: t.score)
            objects.append(PassingObject(label, time, tuple(view for view, _ in rows), best))
    return objects


def _told_passing(thing: PassingObject) -> CaptionStatement:
    ids = tuple(dict.fromkeys(v.finding for v in thing.views))
    exact = tuple(sorted({v.time for v in thing.views}))
    return thing.text, Span(thing.time, thing.time), ids, exact, thing.settled


def _texts(findings: Sequence[Finding]) -> list[CaptionStatement]:
    text_statements: list[CaptionStatement] = []
    for lines in text_regions(findings):
        by_text: defaultdict[str, list[tuple[float, float, str, bool]]] = defaultdict(list)
        inspected = any(close for *_, close in lines)
        for time, text, score, _, finding, close in lines:
            if close or not inspected or time not in {row[0] for row in lines if row[5]}:
                by_text[text].append((time, score, finding, close))
        for text, rows in by_text.items():
            times = [row[0] for row in rows]
            read = any(close and score >= 0.85 for _, score, _, close in rows)
            agreed = len(set(times)) > 1 and all(score >= MIN_TEXT_SCORE for _, score, _, _ in rows)
            if inspected and not (read or agreed):
                continue  # a misreading that a closer look did not repeat
            ids = tuple(dict.fromkeys(row[2] for row in rows))
            statement = f"Text in view: “{text}”."
            text_statements.append(
                (
                    statement,
                    Span(min(times), max(times)),
                    ids,
                    tuple(sorted(set(times))),
                    read or agreed,
                )
            )
    return text_statements


_TextRow = tuple[float, str, float, Box, str, bool]
"""Time, text, score, box, finding, whether a look (not the coarse view) read it."""


def text_regions(findings: Sequence[Finding]) -> list[list[_TextRow]]:
    """Lines of text by the region of the picture that they stand in, whatever they say."""
    groups: list[list[_TextRow]] = []
    for finding in findings:
        for row in cast("list[list[Any]]", finding.data.get("lines", [])):
            box = (row[3], row[4], row[5], row[6])
            item = (row[0], row[1], row[2], box, finding.id, finding.tool != "coarse")
            near = next((g for g in groups if intersection_over_union(g[0][3], box) >= 0.3), None)
            if near is None:
                groups.append([item])
            else:
                near.append(item)
    return groups


def _words(findings: Sequence[Finding]) -> list[CaptionStatement]:
    return [
        (f"Words heard: “{text}”", Span(start, end), (f.id,), (), True)
        for f in findings
        for start, end, text in cast("list[Any]", f.data.get("said", []))
    ]
