"""The loop without a vision-language model: detector, text recogniser, speech.

A caption is composed from what was detected, read and heard. Gaps arise where the draft and the
coarse view disagree: a part of the picture in which something stands and nothing was named, a thing
whose presence changed between two samples, text that was seen and not read, speech that nobody in
view says. Denser, closer looks settle them.
"""

from __future__ import annotations

import asyncio
import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from pydantic import JsonValue

from egomem.media import Frame
from egomem.observe.active.looks import WHOLE, Box, Detect, Listen, Look, ReadText
from egomem.observe.active.places import (
    SEEN,
    Change,
    Place,
    View,
    changes,
    most_at_once,
    overlap,
    passing,
    places,
    views,
)
from egomem.observe.active.state import (
    Diagnosed,
    Drafted,
    Finding,
    Gap,
    Line,
    Looked,
    Revised,
    State,
)
from egomem.observe.active.tools import Picture, Shown, Tools, around, listed, things_in
from egomem.observe.changes import cells
from egomem.observe.coco import article, counted
from egomem.observe.detect import Detection
from egomem.timeline import Span

SETTLED = 1.25
"""Seconds within which a change must be placed to be stated as fact."""
STEP = 1.0
"""Seconds between the frames of a look for a change."""
ZOOM = 1.5
"""Size of the region around a thing that is looked at closely, in sizes of the thing."""
STRUCTURE = 6.0
"""Spread of brightness (0-255) above which a part of a picture holds something."""
READ_AT = 3
"""Coarse frames in which text is looked for."""
SURE_TEXT = 0.9
"""Recogniser's score above which a line counts as read where two coarse frames agree."""
MOST_PASSING = 5
"""Things passing by that a caption tells, of each label."""


class EmbeddedBackend:
    """`Backend` over the embedded observers. It has no state of its own."""

    name = "embedded"

    async def draft(self, tools: Tools, coarse: Sequence[Frame], *, split: bool = True) -> Drafted:
        return await asyncio.to_thread(self._draft, tools, coarse)

    async def diagnose(self, tools: Tools, coarse: Sequence[Frame], state: State) -> Diagnosed:
        gaps = (
            *_uncovered(tools, coarse, state),
            *_unplaced(coarse, state),
            *_unconfirmed(coarse, state),
            *_unread(tools, state),
            *_unheard(tools, state),
        )
        left = {g.change for g in gaps}
        moot = tuple(g.id for g in state.open if g.change not in left)
        return Diagnosed(gaps=gaps, moot=moot)

    async def read(self, tools: Tools, state: State, gap: Gap, look: Look, shown: Shown) -> Looked:
        span = look.span
        found = Finding(
            id=state.fresh(1)[0],
            tool=look.tool,
            span=span,
            text=shown.text or "nothing",
            box=look.boxes[0] if look.boxes else None,
            frames=tuple(dict.fromkeys(round(p.time, 3) for p in shown.pictures)),
            confidence=round(shown.confidence, 3),
            conclusive=shown.conclusive,
            rests_on=shown.rests_on,
            data=shown.data,
        )
        held = [*state.findings, found]
        tallies = _tallies(held, len(held))
        if gap.concern == "temporal":
            # Seeing the thing is not enough: the look must place its change.
            found = found.model_copy(update={"conclusive": _places_it(held, span, look)})
        if gap.change.startswith("confirm"):
            label = {t.label for v in views([found]) for t in v.things if t.score >= SEEN}
            named = any(f" {name} " in f"{gap.change} " for name in label)
            found = found.model_copy(update={"conclusive": named})
        if gap.concern == "unsupported" and isinstance(look, Detect):
            person = any(t.label == "person" for v in views([found]) for t in v.things)
            found = found.model_copy(update={"conclusive": person})
        return Looked(gap=gap.id, look=look, findings=(found, *tallies))

    async def revise(self, tools: Tools, coarse: Sequence[Frame], state: State) -> Revised:
        return Revised(lines=tuple(compose(state.findings)))

    def _draft(self, tools: Tools, coarse: Sequence[Frame]) -> Drafted:
        findings: list[Finding] = []
        for frame in coarse if tools.detector else ():
            findings.append(_seen_in(tools, frame, len(findings)))
        if tools.reader is not None:
            chosen = sorted({0, len(coarse) // 2, len(coarse) - 1}) if coarse else []
            for k in chosen[:READ_AT]:
                if (read := _text_in(tools, coarse[k], len(findings))) is not None:
                    findings.append(read)
        for o in tools.held:
            if o.source == "speech" and o.span.overlaps(tools.scene.span):
                findings.append(
                    Finding(
                        id=f"e{len(findings) + 1}",
                        tool="listen",
                        span=o.span,
                        text=f"Words heard: “{o.text}”",
                        conclusive=True,
                        data={"said": [[o.span.start, o.span.end, o.text]]},
                    )
                )
        findings += _tallies(findings, len(findings))
        return Drafted(lines=tuple(compose(findings)), findings=tuple(findings))


def _seen_in(tools: Tools, frame: Frame, number: int) -> Finding:
    assert tools.detector is not None
    things = things_in(tools.detector, Picture(frame.time, WHOLE, frame.image))
    sure = [t.label for t in things if t.score >= SEEN]
    data: dict[str, JsonValue] = {
        "seen": [
            {
                "time": round(frame.time, 3),
                "region": list(WHOLE),
                "things": [[t.label, round(t.score, 3), *t.box] for t in things],
            }
        ]
    }
    return Finding(
        id=f"e{number + 1}",
        tool="coarse",
        span=Span(frame.time, frame.time),
        text=f"In view: {listed(sure) or 'nothing named'}",
        frames=(round(frame.time, 3),),
        confidence=round(max((t.score for t in things), default=0.0), 3),
        conclusive=bool(sure),
        data=data,
    )


def _text_in(tools: Tools, frame: Frame, number: int) -> Finding | None:
    assert tools.reader is not None
    lines = tools.reader.read(frame.image)
    if not lines:
        return None
    rows: list[JsonValue] = [
        [round(frame.time, 3), line.text, round(line.score, 3), *line.box] for line in lines
    ]
    return Finding(
        id=f"e{number + 1}",
        tool="coarse",
        span=Span(frame.time, frame.time),
        text="; ".join(f"Text read: “{line.text}”" for line in lines),
        frames=(round(frame.time, 3),),
        confidence=round(min(line.score for line in lines), 3),
        conclusive=False,  # small: text is settled by a look, or where two frames agree (a tally)
        data={"lines": rows},
    )


# -- composing ---------------------------------------------------------------------------------


def compose(findings: Sequence[Finding]) -> list[Line]:
    """The caption's lines in order of time, each an atomic claim with the tally it rests on."""
    tallies = {(f.text, f.span): f.id for f in findings if f.tool == "tally"}
    lines = []
    for text, span, _, _, _ in _statements(findings):
        proof = tallies.get((text, span))
        lines.append(
            Line(span=span, text=text, claims=(text,), evidence=((proof,) if proof else (),))
        )
    return sorted(lines, key=lambda line: (line.span, line.text))


def _tallies(findings: Sequence[Finding], count: int) -> list[Finding]:
    """A finding for each statement that the findings amount to and that has none yet."""
    known = {(f.text, f.span, f.conclusive) for f in findings if f.tool == "tally"}
    made: list[Finding] = []
    for text, span, rests_on, frames, conclusive in _statements(findings):
        if (text, span, conclusive) in known:
            continue
        made.append(
            Finding(
                id=f"e{count + len(made) + 1}",
                tool="tally",
                span=span,
                text=text,
                frames=frames,
                conclusive=conclusive,
                rests_on=rests_on,
            )
        )
    return made


Statement = tuple[str, Span, tuple[str, ...], tuple[float, ...], bool]
"""Text, span, findings it rests on, frames, whether it is settled."""


def _statements(findings: Sequence[Finding]) -> list[Statement]:
    seen = views(findings)
    steady = places(seen)
    return [
        *_in_view(seen, steady),
        *(_told(c) for p in steady for c in changes(p)),
        *(_told_passing(thing) for thing in _passing(seen)),
        *_texts(findings),
        *_words(findings),
    ]


def _in_view(seen: Sequence[View], steady: Sequence[Place]) -> list[Statement]:
    by_label: defaultdict[str, list[Place]] = defaultdict(list)
    for place in steady:
        by_label[place.label].append(place)
    span = Span(seen[0].time, seen[-1].time) if seen else Span(0, 0)
    found: list[Statement] = []
    for label, group in sorted(by_label.items()):
        count = most_at_once(group)
        if not count:
            continue
        sides = ", ".join(dict.fromkeys(p.side for p in group))
        rests = dict.fromkeys(s.finding for p in group for s in p.sightings if s.there)
        frames = sorted({s.time for p in group for s in p.sightings if s.there})
        most = "" if not any(changes(p) for p in group) else "up to "
        text = f"In view: {most}{counted(label, count)} ({sides})."
        found.append((text, span, tuple(rests), tuple(frames), True))
    return found


def _told(change: Change) -> Statement:
    place = change.place
    where = {"left": "at the left", "right": "at the right", "middle": "in the middle"}[place.side]
    if change.comes:
        again = any(s.there and s.time < change.span.start for s in place.sightings)
        text = f"{article(place.label).capitalize()} is {'back' if again else 'put'} {where}."
    else:
        text = f"The {place.label} {where} leaves."
    settled = change.span.length <= SETTLED and change.score >= SEEN
    return text, change.span, change.findings, change.frames, settled


@dataclass(frozen=True, slots=True)
class _Passing:
    """A thing seen at one time: in which pictures, and the box that scored best."""

    label: str
    time: float
    views: tuple[View, ...]
    best: Detection

    @property
    def text(self) -> str:
        return f"{article(self.label).capitalize()} is seen."

    @property
    def settled(self) -> bool:
        """Two pictures agree, the whole and a close one or two close ones: a detector that is wrong
        about one of them is seldom wrong about the other."""
        return len({v.region for v in self.views}) > 1


def _passing(seen: Sequence[View]) -> list[_Passing]:
    by: defaultdict[tuple[str, float], list[tuple[View, Detection]]] = defaultdict(list)
    for label, view, thing in passing(seen, places(seen)):
        by[label, round(view.time, 1)].append((view, thing))
    counts: Counter[str] = Counter()
    found = []
    for (label, time), rows in sorted(by.items()):
        counts[label] += 1
        if counts[label] <= MOST_PASSING:
            best = max((thing for _, thing in rows), key=lambda t: t.score)
            found.append(_Passing(label, time, tuple(view for view, _ in rows), best))
    return found


def _told_passing(thing: _Passing) -> Statement:
    ids = tuple(dict.fromkeys(v.finding for v in thing.views))
    exact = tuple(sorted({v.time for v in thing.views}))
    return thing.text, Span(thing.time, thing.time), ids, exact, thing.settled


def _texts(findings: Sequence[Finding]) -> list[Statement]:
    found: list[Statement] = []
    for lines in _text_places(findings):
        by_text: defaultdict[str, list[tuple[float, float, str, bool]]] = defaultdict(list)
        looked = any(close for *_, close in lines)
        for time, text, score, _, finding, close in lines:
            if close or not looked or time not in {row[0] for row in lines if row[5]}:
                by_text[text].append((time, score, finding, close))
        for text, rows in by_text.items():
            times = [row[0] for row in rows]
            read = any(close and score >= 0.85 for _, score, _, close in rows)
            agreed = len(set(times)) > 1 and all(score >= SURE_TEXT for _, score, _, _ in rows)
            if looked and not (read or agreed):
                continue  # a misreading that a closer look did not repeat
            ids = tuple(dict.fromkeys(row[2] for row in rows))
            said = f"Text in view: “{text}”."
            found.append(
                (said, Span(min(times), max(times)), ids, tuple(sorted(set(times))), read or agreed)
            )
    return found


_TextRow = tuple[float, str, float, Box, str, bool]
"""Time, text, score, box, finding, whether a look (not the coarse view) read it."""


def _text_places(findings: Sequence[Finding]) -> list[list[_TextRow]]:
    """Lines that stand in one place of the picture, whatever they say."""
    groups: list[list[_TextRow]] = []
    for finding in findings:
        for row in cast("list[list[Any]]", finding.data.get("lines", [])):
            box = (row[3], row[4], row[5], row[6])
            item = (row[0], row[1], row[2], box, finding.id, finding.tool != "coarse")
            near = next((g for g in groups if overlap(g[0][3], box) >= 0.3), None)
            if near is None:
                groups.append([item])
            else:
                near.append(item)
    return groups


def _words(findings: Sequence[Finding]) -> list[Statement]:
    return [
        (f"Words heard: “{text}”", Span(start, end), (f.id,), (), True)
        for f in findings
        for start, end, text in cast("list[Any]", f.data.get("said", []))
    ]


# -- gaps ---------------------------------------------------------------------------------------


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


def _uncovered(tools: Tools, coarse: Sequence[Frame], state: State) -> list[Gap]:
    """Parts of the coarse view in which something stands, and nothing was named."""
    if tools.detector is None or not coarse:
        return []
    named = [
        ((t.box[0] + t.box[2]) / 2, (t.box[1] + t.box[3]) / 2)
        for view in views(state.findings)
        for t in view.things
        if t.score >= SEEN
    ]
    named += [
        ((box[0] + box[2]) / 2, (box[1] + box[3]) / 2)
        for lines in _text_places(state.findings)
        for *_, box, _, _ in lines
    ]
    found = []
    for tile in tiles(coarse[0].image.shape):
        inner = _shrunk(tile)
        if any(inner[0] < x < inner[2] and inner[1] < y < inner[3] for x, y in named):
            continue
        spread = float(np.median([_spread(f.image, inner) for f in coarse]))
        if spread < STRUCTURE:
            continue
        look = Detect(start=coarse[0].time, end=coarse[-1].time, count=len(coarse), boxes=(tile,))
        where = "-".join(f"{v:.2f}" for v in tile)
        found.append(
            Gap(
                id="",
                kind="observation",
                concern="omission",
                change=f"name what stands in the part {where} of the picture",
                priority=0.9 + min(spread, 99) / 1000,
                look=look,
            )
        )
    return found


def _shrunk(box: Box) -> Box:
    wide, high = (box[2] - box[0]) * 0.2, (box[3] - box[1]) * 0.1
    return box[0] + wide, box[1] + high, box[2] - wide, box[3] - high


def _spread(image: Any, box: Box) -> float:
    grid = cells(image)
    rows, columns = grid.shape
    part = grid[
        int(box[1] * rows) : max(int(box[1] * rows) + 1, int(box[3] * rows)),
        int(box[0] * columns) : max(int(box[0] * columns) + 1, int(box[2] * columns)),
    ]
    return float((part - part.mean(axis=1, keepdims=True)).std())


def _unplaced(coarse: Sequence[Frame], state: State) -> list[Gap]:
    """Changes known only to within the coarse step: the moment is to be found."""
    if not coarse:
        return []
    height, width = coarse[0].image.shape[:2]
    due: defaultdict[Span, list[Change]] = defaultdict(list)
    for place in places(views(state.findings)):
        for change in changes(place):
            if change.span.length > SETTLED:
                due[change.span].append(change)
    found = []
    for span, group in _joined(due):
        boxes = [_close_up(c.place.box, width, height) for c in group]
        count = max(2, math.ceil(span.length / STEP - 0.05) - 1)
        step = span.length / (count + 1)
        look = Detect(
            start=span.start + step, end=span.end - step, count=count, boxes=tuple(boxes[:3])
        )
        told = {_told(c)[0] for c in group}
        claim = next((c for c in state.claims if c.text in told and c.span == span), None)
        found.append(
            Gap(
                id="",
                kind="observation",
                concern="temporal",
                change=f"place a change between {span.start:g} and {span.end:g} s: "
                + " ".join(sorted(told)),
                claim=claim.id if claim else None,
                priority=0.8 + 0.01 * min(len(group), 5),
                look=look,
            )
        )
    return found


def _unconfirmed(coarse: Sequence[Frame], state: State) -> list[Gap]:
    """Things that one picture showed, and once: the place where each was seen is enlarged."""
    if not coarse:
        return []
    height, width = coarse[0].image.shape[:2]
    found = []
    for thing in _passing(views(state.findings)):
        if thing.settled:
            continue
        exact = thing.views[0].time
        box = _close_up(thing.best.box, width, height)
        look = Detect(start=exact, end=exact, boxes=(box,))
        claim = next(
            (c for c in state.claims if c.text == thing.text and c.span.start == thing.time), None
        )
        found.append(
            Gap(
                id="",
                kind="observation",
                concern="ambiguity",
                change=f"confirm {article(thing.label)} at {thing.time:.1f} s",
                claim=claim.id if claim else None,
                priority=0.4 + thing.best.score / 10,
                look=look,
            )
        )
    return found


def _joined(due: dict[Span, list[Change]]) -> list[tuple[Span, list[Change]]]:
    """Changes whose spans nearly agree are looked at together."""
    out: list[tuple[Span, list[Change]]] = []
    for span in sorted(due):
        if out:
            before, group = out[-1]
            shared = min(before.end, span.end) - max(before.start, span.start)
            if shared >= 0.8 * max(before.length, span.length) and len(group) < 3:
                joint = Span(min(before.start, span.start), max(before.end, span.end))
                out[-1] = (joint, [*group, *due[span]])
                continue
        out.append((span, list(due[span])))
    return out


def _close_up(box: Box, width: int, height: int) -> Box:
    """A square region around a place."""
    short = min(width, height)
    size = max((box[2] - box[0]) * width, (box[3] - box[1]) * height) * ZOOM
    size = min(max(size, short / 3), short)
    return around(box, size / width, size / height)


def _places_it(findings: Sequence[Finding], span: Span, look: Look) -> bool:
    """True where a change within the look's span is now placed."""
    near = Span(max(0.0, span.start - STEP * 1.5), span.end + STEP * 1.5)
    return any(
        c.span.length <= SETTLED and near.start <= c.span.start and c.span.end <= near.end
        for p in places(views(findings))
        if any(overlap(p.box, b) > 0 for b in look.regions)
        for c in changes(p)
    )


def _unread(tools: Tools, state: State) -> list[Gap]:
    """Text that was seen small, with a low score, or that changes."""
    if tools.reader is None:
        return []
    found = []
    for lines in _text_places(state.findings):
        if any(close for *_, close in lines):
            continue
        texts = {row[1] for row in lines}
        times = {row[0] for row in lines}
        if len(texts) == 1 and len(times) > 1 and min(row[2] for row in lines) >= SURE_TEXT:
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
        found.append(
            Gap(
                id="",
                kind="observation",
                concern="ambiguity",
                change=f"read the text around {box[0]:.2f}, {box[1]:.2f}",
                priority=0.7,
                look=look,
            )
        )
    return found


def _unheard(tools: Tools, state: State) -> list[Gap]:
    """Speech that was not transcribed, and words that nobody in view says."""
    found = []
    said = [f for f in state.findings if f.data.get("said")]
    span = tools.scene.span
    tried = any(
        g.look is not None and g.look.tool == "listen" and g.state != "open" for g in state.gaps
    )
    if not said and not tried and tools.listener is not None:
        found.append(
            Gap(
                id="",
                kind="observation",
                concern="omission",
                change="write down the words that are said",
                priority=0.75,
                look=Listen(start=span.start, end=span.end),
            )
        )
    if tools.detector is None or not tools.scene.coarse or not said:
        return found
    people = [v.time for v in views(state.findings) for t in v.things if t.label == "person"]
    for finding in said:
        near = Span(finding.span.start - 1, finding.span.end + 1)
        if any(near.start <= t <= near.end for t in people):
            continue
        look = Detect(start=finding.span.start, end=finding.span.end, count=4)
        found.append(
            Gap(
                id="",
                kind="observation",
                concern="unsupported",
                change=f"tell who is in view while words are heard from {finding.span.start:.1f} s",
                priority=0.4,
                look=look,
            )
        )
    return found
