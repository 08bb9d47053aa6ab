"""The nouns of egomem, as immutable records.

Everything remembered is an `Observation`: captions, transcript lines, screen text, objects and
digests differ only in its fields.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Protocol, Self, get_args

from pydantic import BaseModel, ConfigDict, Field, JsonValue, PrivateAttr, model_validator

from egomem.errors import UsageError
from egomem.hashing import OBSERVATION_ID_LENGTH, hash_json
from egomem.timeline import Clock, Moment, Span

Source = Literal[
    "caption", "speech", "sound", "screen_text", "object", "gaze", "motion", "place", "digest"
]

OBSERVED_SOURCES: tuple[Source, ...] = tuple(s for s in get_args(Source) if s != "digest")
"""The sources of what was observed itself; a digest tells it again."""


class Record(BaseModel):
    model_config = ConfigDict(
        frozen=True, extra="forbid", ser_json_inf_nan="constants", defer_build=True
    )

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """As pydantic's; values that follow from the content, such as an id, are computed anew."""
        copied = super().model_copy(update=update, deep=deep)
        # Cached properties are copied along with the fields, and would keep the old values.
        for name in copied.__dict__.keys() - type(self).model_fields.keys():
            del copied.__dict__[name]
        return copied


class Recording(Record):
    """One file (or imported stream) of one wearer.

    `duration` is in seconds of display time; `clock` is None where the start instant or its zone is
    not known. `facts` holds what probing found (streams, size, rotation, faults).
    """

    id: str
    wearer: str = "me"
    name: str
    path: str | None = None
    sha256: str | None = None
    duration: float = Field(ge=0)
    clock: Clock | None = None
    facts: dict[str, JsonValue] = {}

    @property
    def span(self) -> Span:
        return Span(0.0, self.duration)

    @property
    def has_pictures(self) -> bool:
        """Whether there are frames to look at. True where the file was never probed."""
        return self.facts.get("video", True) is not None

    def instant(self, seconds: float) -> datetime | None:
        """The wall-clock instant of a second of this recording, where its clock is known."""
        return self.clock.at(seconds) if self.clock else None


class Track(Record):
    """Who observed, and how: two captioners, or two window lengths, are two tracks side by side.

    `window` is in seconds. `id` is readable and follows from the fields alone.
    """

    source: Source
    observer: str
    model: str | None = None
    prompt: str | None = None
    window: float | None = None
    sampling: str | None = None

    @cached_property
    def id(self) -> str:
        parts = [f"{self.source}/{self.observer}"]
        parts += [
            f"{mark}{value}" for mark, value in (("=", self.model), ("#", self.prompt)) if value
        ]
        if self.window is not None:
            parts.append(f"@{self.window:g}s")
        if self.sampling:
            parts.append(f"~{self.sampling}")
        return "".join(parts)


class Provenance(Record):
    """What an observation rests on.

    `frames`: true times (s) of the frames used. `request`: the key of the cached model reply.
    `rests_on`: ids of other observations. `note`: how it was made, where a reader should know.
    """

    frames: tuple[float, ...] = ()
    request: str | None = None
    rests_on: tuple[str, ...] = ()
    note: str | None = None


class Observation(Record):
    """Something remembered: a span, a text, where it came from, and typed data of its source.

    `span` is in seconds of the recording; where `recording` is None (a digest), it is in POSIX
    seconds on the wearer's timeline. `track` is a `Track.id`. `id` follows from the content, so the
    same observation made twice is one.
    """

    recording: str | None
    wearer: str = "me"
    span: Span
    text: str
    source: Source
    track: str
    data: dict[str, JsonValue] = {}
    provenance: Provenance = Provenance()

    @cached_property
    def id(self) -> str:
        # Without provenance: the same sentence by another request is the same observation.
        content = [
            self.recording or self.wearer,
            self.track,
            float(self.span.start),
            float(self.span.end),
            self.text,
            self.data,
        ]
        return hash_json(content)[:OBSERVATION_ID_LENGTH]


class Video(Record):
    """A video that a benchmark asks about. Its file is never part of the benchmark.

    `duration` is in seconds, None where not stated. `path` is set where the file is available;
    `source_dataset` and `source_uid` name where it comes from, `licence` notes its terms.
    """

    id: str
    path: str | None = None
    duration: float | None = Field(default=None, ge=0)
    source_dataset: str = ""
    source_uid: str = ""
    scenario: str = ""
    domain: str = ""
    sha256: str | None = None
    licence: str = ""
    clock: Clock | None = None
    tags: dict[str, JsonValue] = {}


ABSTAIN_OPTION = "abstain_option"
"""The key of `Question.tags` that holds the label of an option such as "cannot be answered"."""


class Option(Record):
    """One of the answers that a question offers; `label` is the letter or numeral before it."""

    label: str
    text: str


class Evidence(Record):
    """A moment that an answer rests on, or that a question's key names."""

    recording: str | None
    span: Span
    quote: str = ""
    source: Source | None = None
    observation: str | None = None
    when: datetime | None = None
    score: float | None = None
    _viewer: EvidenceViewer | None = PrivateAttr(default=None)

    def __eq__(self, other: object) -> bool:
        """Equal where all fields are, wherever it can be looked at."""
        return isinstance(other, Evidence) and self.model_dump() == other.model_dump()

    __hash__ = Record.__hash__

    def frame(self, *, side: int | None = None, boxes: bool = True) -> Any:
        """The frame in which this was seen, an `egomem.media.Frame`; see `Memory.look`."""
        return self._looked_at().frame(self, side=side, boxes=boxes)

    def clip(self, target: str | Path | None = None) -> Any:
        """A clip of this with what lies around it, an `egomem.media.Clip`; see `Memory.look`."""
        return self._looked_at().clip(self, target)

    def seen_by(self, viewer: EvidenceViewer) -> Evidence:
        """A copy that `viewer` shows."""
        copy = self.model_copy()
        copy._viewer = viewer
        return copy

    def _looked_at(self) -> EvidenceViewer:
        if self._viewer is None:
            raise UsageError(
                "this evidence is not of an open memory", "ask a memory, or use Memory.look"
            )
        return self._viewer


class EvidenceViewer(Protocol):
    """Shows evidence; `egomem.memory.evidence_view` has one."""

    def frame(self, evidence: Evidence, *, side: int | None, boxes: bool) -> Any: ...

    def clip(self, evidence: Evidence, target: str | Path | None) -> Any: ...


class Question(Record):
    """A question, asked at a moment; with options, exactly one of them is asked for.

    `answer` is the key (an option's label, or free text), where known. `answerable=False` marks an
    item that the memory cannot answer. `recording` limits a question to one video.
    """

    id: str = ""
    text: str
    options: tuple[Option, ...] = ()
    at: Moment | None = None
    recording: str | None = None
    answer: str | None = None
    answerable: bool | None = None
    evidence: tuple[Evidence, ...] = ()
    tags: dict[str, JsonValue] = {}

    @model_validator(mode="after")
    def _labels_are_distinct(self) -> Question:
        labels = [option.label for option in self.options]
        if len(set(labels)) != len(labels):
            raise ValueError(f"two options of question {self.id or self.text!r} share a label")
        return self

    @classmethod
    def of(cls, text: str, options: tuple[str, ...] | list[str] = (), **fields: Any) -> Question:
        """A question with options labelled A, B, C ... in the order given."""
        lettered = tuple(Option(label=chr(65 + i), text=o) for i, o in enumerate(options))
        return cls(text=text, options=lettered, **fields)


class Status(StrEnum):
    """How a reply ended. It is never folded into "wrong" and never leaves a denominator."""

    PARSED = "parsed"
    ABSTAINED = "abstained"
    REFUSED = "refused"
    TRUNCATED = "truncated"
    UNPARSABLE = "unparsable"
    ERROR = "error"


class Usage(Record):
    """What an answer or a caption cost.

    `cost` is in US dollars, None where no price is known. In a sum, `unpriced` counts requests of
    unknown price, which `cost` leaves out: the sum is then a lower bound.
    """

    requests: int = 0
    tokens_in: int = 0
    tokens_cached: int = 0
    tokens_out: int = 0
    frames: int = 0
    seconds: float = 0.0
    cost: float | None = None
    unpriced: int = 0

    @property
    def without_price(self) -> int:
        """The number of requests whose price is unknown: all of them where there is no cost."""
        if self.cost is not None:
            return self.unpriced
        return max(self.requests, int(self.tokens_in + self.tokens_out > 0))

    def __add__(self, other: Usage) -> Usage:
        costs = [c for c in (self.cost, other.cost) if c is not None]
        without = self.without_price + other.without_price
        return Usage(
            requests=self.requests + other.requests,
            tokens_in=self.tokens_in + other.tokens_in,
            tokens_cached=self.tokens_cached + other.tokens_cached,
            tokens_out=self.tokens_out + other.tokens_out,
            frames=self.frames + other.frames,
            seconds=self.seconds + other.seconds,
            cost=sum(costs) if costs else None,
            unpriced=without if costs else 0,
        )


class Answer(Record):
    """A strategy's answer, with the evidence it rests on.

    `text` is for a person; `choice` is the label of the chosen option (None for open questions and
    abstentions); `scores` ranks the options, higher is better. `reason` says why an answer was
    withheld, or how it was reached. `trace` holds the steps, as JSON values.
    """

    text: str
    status: Status
    strategy: str
    choice: str | None = None
    scores: dict[str, float] = {}
    evidence: tuple[Evidence, ...] = ()
    confidence: float | None = None
    reason: str = ""
    usage: Usage = Usage()
    trace: tuple[JsonValue, ...] = ()

    @property
    def abstained(self) -> bool:
        return self.status is Status.ABSTAINED
