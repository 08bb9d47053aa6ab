"""The state of a caption that is being checked: findings, claims, gaps, as frozen values.

A run is a log of events (drafted, diagnosed, looked, revised). The state is what the events add up
to (`fold` in reduce.py): the log is saved after every event, and a run can be continued, compared
and replayed from it without a model.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import Field, JsonValue, model_validator

from egomem.observe.active.actions import Box, Inspection
from egomem.records import Record, Status, Usage
from egomem.timeline import Span

Tool = Literal[
    "coarse", "check", "tally", "crop", "dense", "ocr", "detect", "gaze", "listen", "retrieve"
]
"""Who made a finding: the coarse view, a model's check of a claim against it, a count over other
findings, or a look."""


class CaptionBudget(Record):
    """How much one run may do. Reconstruction: the paper gives no figures (methods.md, C.3).

    `rounds` of diagnosis; `per_round`: looks for the most urgent gaps of each; `looks`, `frames`
    (beyond the coarse view; a region of a frame counts as one) and `tokens` (in and out) in all;
    `tries`: inconclusive looks after which a gap is left unresolved; `quiet`: rounds without an
    accepted edit after which the run ends; `times`: frames of one look at most.
    """

    rounds: int = Field(default=6, ge=0)
    per_round: int = Field(default=2, ge=1)
    looks: int = Field(default=12, ge=0)
    frames: int = Field(default=128, ge=0)
    tokens: int = Field(default=200_000, ge=0)
    tries: int = Field(default=2, ge=1)
    quiet: int = Field(default=2, ge=1)
    times: int = Field(default=16, ge=1)


class Scene(Record):
    """The part of a recording that is captioned. `coarse`: true times of the coarse view."""

    recording: str
    name: str
    span: Span
    coarse: tuple[float, ...] = ()


class Finding(Record):
    """An evidence item: what one inspection showed.

    `text` says it in words; `data` is the tool's output (detections, lines). `frames` are true
    times. An inconclusive finding is kept, and supports nothing. `rests_on`: ids of other findings.
    """

    id: str
    tool: Tool
    span: Span
    text: str
    box: Box | None = None
    frames: tuple[float, ...] = ()
    confidence: float = 1.0
    conclusive: bool = False
    rests_on: tuple[str, ...] = ()
    data: dict[str, JsonValue] = Field(default_factory=dict)


class ClaimStatus(StrEnum):
    """What the evidence says of a claim."""

    SUPPORTED = "supported"
    CONTRADICTED = "contradicted"
    UNSUPPORTED = "unsupported"
    UNCERTAIN = "uncertain"


class Claim(Record):
    """One atomic statement of the caption.

    `supports` and `denies` are ids of conclusive findings, `hints` of inconclusive ones that speak
    for it: with hints alone it is uncertain.
    """

    id: str
    text: str
    span: Span
    line: int
    standing: ClaimStatus = ClaimStatus.UNSUPPORTED
    supports: tuple[str, ...] = ()
    denies: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()


class CaptionLine(Record):
    """A line of the caption; `claims` are the atomic statements in it, `evidence` of each."""

    span: Span
    text: str
    claims: tuple[str, ...] = ()
    evidence: tuple[tuple[str, ...], ...] = ()


class ClaimVerdict(Record):
    """What findings say of a claim; inconclusive ones only hint."""

    claim: str
    stance: Literal["supports", "denies", "silent"]
    evidence: tuple[str, ...] = ()


Concern = Literal["omission", "unsupported", "conflict", "temporal", "ambiguity"]


class CaptionGap(Record):
    """Something missing: from the text (`revision`: the evidence is there), or from the evidence
    (`observation`: one inspection, tied to a possible change of the caption).
    """

    id: str
    kind: Literal["revision", "observation"]
    concern: Concern
    change: str
    claim: str | None = None
    priority: float = 0.5
    look: Inspection | None = None
    evidence: tuple[str, ...] = ()
    attempts: int = 0
    state: Literal["open", "resolved", "unresolved"] = "open"


class Edit(Record):
    """One difference between a caption and its revision, and whether the rules accepted it.

    `evidence`: the findings that an accepted one rests on; none where nothing supported the claim.
    """

    kind: Literal["added", "removed", "changed"]
    before: str | None = None
    after: str | None = None
    accepted: bool = True
    why: str = ""
    evidence: tuple[str, ...] = ()


class StopReason(StrEnum):
    NO_GAP = "no open gap"
    QUIET = "no accepted edit for some rounds"
    ROUNDS = "rounds spent"
    LOOKS = "looks spent"
    FRAMES = "frames spent"
    TOKENS = "tokens spent"
    SINGLE = "single pass"
    FAILED = "no draft"


class Drafted(Record):
    """The first caption, from `frames` frames (0: those of the coarse view alone). `status`: of a
    reply that is no draft."""

    event: Literal["drafted"] = "drafted"
    lines: tuple[CaptionLine, ...]
    findings: tuple[Finding, ...] = ()
    frames: int = 0
    usage: Usage = Usage()
    faults: tuple[str, ...] = ()
    status: Status | None = None


class Diagnosed(Record):
    """A check of claims and of coverage. `obsolete`: open gaps that were settled elsewhere."""

    event: Literal["diagnosed"] = "diagnosed"
    findings: tuple[Finding, ...] = ()
    verdicts: tuple[ClaimVerdict, ...] = ()
    gaps: tuple[CaptionGap, ...] = ()
    obsolete: tuple[str, ...] = ()
    usage: Usage = Usage()
    faults: tuple[str, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _older_name(cls, data: Any) -> Any:
        """Logs of 0.1 call obsolete gaps moot."""
        if isinstance(data, dict) and "moot" in data:
            data = {**data, "obsolete": data["moot"]}
            del data["moot"]
        return data


class Inspected(Record):
    """One inspection for one gap. `refused`: why it was not done; `cached`: it cost nothing."""

    event: Literal["looked"] = "looked"
    gap: str
    look: Inspection
    clamped: tuple[str, ...] = ()
    refused: str = ""
    cached: bool = False
    pictures: int = 0
    findings: tuple[Finding, ...] = ()
    verdicts: tuple[ClaimVerdict, ...] = ()
    usage: Usage = Usage()
    faults: tuple[str, ...] = ()


class Revised(Record):
    """A new whole caption, as proposed; the state says how much of it was accepted."""

    event: Literal["revised"] = "revised"
    lines: tuple[CaptionLine, ...] | None
    usage: Usage = Usage()
    faults: tuple[str, ...] = ()


class Stopped(Record):
    event: Literal["stopped"] = "stopped"
    reason: StopReason
    detail: str = ""


CaptionEvent = Annotated[
    Drafted | Diagnosed | Inspected | Revised | Stopped, Field(discriminator="event")
]


class CaptionLog(Record):
    """A run, as it is saved."""

    scene: Scene
    backend: str
    budget: CaptionBudget = CaptionBudget()
    events: tuple[CaptionEvent, ...] = ()


class CaptionState(Record):
    """The state after the events so far.

    `round` counts diagnoses; `edits` are those of the last revision; `refused` counts rejected
    proposals by reason.
    """

    lines: tuple[CaptionLine, ...] = ()
    claims: tuple[Claim, ...] = ()
    findings: tuple[Finding, ...] = ()
    gaps: tuple[CaptionGap, ...] = ()
    edits: tuple[Edit, ...] = ()
    round: int = 0
    looks: int = 0
    pictures: int = 0
    quiet: int = 0
    usage: Usage = Usage()
    refused: dict[str, int] = Field(default_factory=dict)
    faults: tuple[str, ...] = ()
    stop: StopReason | None = None
    stop_detail: str = ""
    made: int = 0
    """Claims and gaps numbered so far."""

    def finding(self, id: str) -> Finding | None:
        return next((f for f in self.findings if f.id == id), None)

    def claim(self, id: str | None) -> Claim | None:
        return next((c for c in self.claims if c.id == id), None)

    def fresh(self, count: int) -> list[str]:
        """Ids for `count` findings to come."""
        return [f"e{len(self.findings) + k + 1}" for k in range(count)]

    @property
    def asserted(self) -> tuple[Claim, ...]:
        """The claims that may be stated as fact."""
        return tuple(c for c in self.claims if c.standing is ClaimStatus.SUPPORTED)

    @property
    def open(self) -> tuple[CaptionGap, ...]:
        """Open gaps: the least tried first, and the most urgent of those first."""
        return tuple(
            sorted(
                (g for g in self.gaps if g.state == "open"),
                key=lambda g: (g.attempts, -g.priority),
            )
        )
