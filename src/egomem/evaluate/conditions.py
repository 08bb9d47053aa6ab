"""The settings of a protocol by the names that tables show: `clean`, `video`, `caption@30` ...

clean               the question and its options alone
video               frames spread over the whole video
caption@30          all captions of 30 s windows
verify@30           the same, and a look at the frames of the moments found
aligned@30          captions of exactly the frames that `video` looks at
caption@whole       one caption of the whole video, from frames of a budget of their own and by a
                    prompt that supposes no wearer
caption@evidence    the captions of the evidence alone (an oracle: what a perfect recall finds), of
                    the first window that is named; caption@60@evidence and aligned@30@evidence
                    are of that window, and of those frames
video@evidence      the frames of the evidence alone (an oracle)
caption, extractive, NAME   any strategy, on the captions of the memory that is given
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Literal

from egomem.answer import get, strategies
from egomem.answer.strategy import Strategy, lineage
from egomem.defaults import DEFAULT_WINDOW
from egomem.errors import ConfigError, UsageError
from egomem.records import Record

Captions = Literal["none", "windows", "aligned", "whole", "held"]
"""What a setting reads: no captions, those of windows of the whole video, those of the frames of
`video`, one of the whole video, or whatever the memory holds."""

# The names that CapMem gives its settings; nothing else of egomem knows a strategy by its name.
CLEAN = "clean"
VIDEO = "video"
CAPTION = "caption"
VERIFY = "verify"
ALIGNED = "aligned"
EVIDENCE = "evidence"
WHOLE = "whole"
ORACLES = {CAPTION: "evidence-captions", VIDEO: "evidence-frames"}
"""The strategies of `caption@evidence` and `video@evidence`."""


class Condition(Record):
    """One setting. `window` is in seconds; `strategy` is the registered name that answers.

    `evidence`: what is read is cut to the evidence before the strategy sees it.
    """

    name: str
    strategy: str
    captions: Captions = "none"
    window: float | None = None
    evidence: bool = False

    @property
    def lineage(self) -> list[Strategy]:
        """The strategies that answer: those that it starts from first."""
        return lineage(self.strategy)

    @property
    def asks(self) -> bool:
        """Whether a model is asked."""
        return any(each.roles for each in self.lineage)

    @property
    def captioned(self) -> bool:
        """Whether it reads captions that a run makes where no memory is given."""
        return self.captions in ("windows", "aligned", "whole")

    @property
    def blind(self) -> bool:
        """Whether nothing of the memory is shown: no captions, no frames."""
        return self.captions == "none" and not self.looks

    @property
    def looks(self) -> bool:
        """Whether frames are needed when answering."""
        return any(each.looks for each in self.lineage)

    @property
    def reads_track(self) -> bool:
        """Whether it reads one track of captions, which the run names."""
        return any("track" in each.run_decides for each in self.lineage)

    @property
    def verifies(self) -> bool:
        """Whether a verifier checks the answer."""
        return any(role == "verifier" for each in self.lineage for role in each.roles)

    @property
    def oracle(self) -> Literal["", "captions", "frames"]:
        """What of the evidence an oracle is shown; "" for what is none."""
        if not get(self.strategy).oracle:
            return ""
        return "frames" if self.looks else "captions"

    @property
    def bounds(self) -> bool:
        """Whether it only bounds the others: nobody could ask a memory so."""
        return self.blind or self.evidence or bool(self.oracle)

    @property
    def judges_bias(self) -> bool:
        """Whether it is stage 1 of CapMem, whose answers the gate judges."""
        return self.strategy == CLEAN

    @property
    def is_caption_qa(self) -> bool:
        """Whether it is the paper's CaptionQA, with windows or aligned."""
        return self.strategy == CAPTION

    @property
    def is_video_qa(self) -> bool:
        """Whether it is the paper's VideoQA."""
        return self.strategy == VIDEO


def read_condition(name: str) -> Condition:
    """The setting of a name. Raises UsageError, saying what there is."""
    head, at, tail = name.strip().partition("@")
    window, _, last = tail.rpartition("@")
    kind: Captions = "aligned" if head == ALIGNED else "windows"
    if window and last == EVIDENCE and head in (CAPTION, ALIGNED):
        seconds = _seconds(name, window)
        return Condition(name=name, strategy=ORACLES[CAPTION], captions=kind, window=seconds)
    if tail == EVIDENCE and head in (CLEAN, VERIFY, ALIGNED):
        raise UsageError(f"there is no setting {name!r}", "use caption@evidence or video@evidence")
    if tail == EVIDENCE and head == VIDEO:
        return Condition(name=name, strategy=ORACLES[VIDEO])
    if tail == EVIDENCE and head == CAPTION:
        return Condition(
            name=name, strategy=ORACLES[CAPTION], captions="windows", window=DEFAULT_WINDOW
        )
    if head == CAPTION and tail == WHOLE:
        return Condition(name=name, strategy=CAPTION, captions="whole")
    if head == ALIGNED:
        seconds = _seconds(name, tail)
        return Condition(name=name, strategy=CAPTION, captions=kind, window=seconds)
    if not _is_strategy(head):
        raise UsageError(f"there is no setting {name!r}", f"use one of: {', '.join(_known())}")
    condition = Condition(name=name, strategy=head, captions=_captions(head))
    if not at:
        return condition
    if tail == EVIDENCE and condition.captions == "held":
        return condition.model_copy(update={"evidence": True})
    if condition.reads_track:
        seconds = _seconds(name, tail)
        return condition.model_copy(update={"captions": "windows", "window": seconds})
    raise UsageError(f"there is no setting {name!r}", f"use one of: {', '.join(_known())}")


def read_conditions(names: Iterable[str]) -> tuple[Condition, ...]:
    """The settings in the order given, each once; `caption@evidence` is of the first window that is
    named beside it."""
    conditions = tuple(dict.fromkeys(read_condition(n) for n in names if n.strip()))
    if not conditions:
        raise UsageError("no setting is named", "for example --settings clean,video,caption@30")
    tracked = [c for c in conditions if c.reads_track and not c.oracle]
    windows = [c.window for c in tracked if c.captions == "windows"]
    of_memory = any(c.captions == "held" for c in tracked)
    settled = []
    for condition in conditions:
        if condition.oracle == "captions" and condition.name.count("@") == 1:
            if windows:
                condition = condition.model_copy(update={"window": windows[0]})
            elif of_memory:
                condition = condition.model_copy(update={"window": None, "captions": "held"})
        settled.append(condition)
    return tuple(settled)


def _captions(strategy: str) -> Captions:
    """What a strategy reads of a memory that is given: nothing where it reads no observations."""
    for each in lineage(strategy):
        if each.reads is None or each.reads - {"frames"}:
            return "held"
    return "none"


def _is_strategy(name: str) -> bool:
    """Whether a setting may name it: the oracles have settings of their own."""
    try:
        return not get(name).oracle
    except UsageError as fault:
        if isinstance(fault, ConfigError):
            raise
        return False


def _known() -> list[str]:
    """What --settings takes."""
    windows = [f"{name}@30" for name in (CAPTION, VERIFY, ALIGNED)]
    oracles = [f"{name}@{EVIDENCE}" for name in ORACLES]
    others = [n for n, s in strategies().items() if not s.oracle and n not in (CLEAN, VIDEO)]
    return [CLEAN, VIDEO, *windows, f"{CAPTION}@{WHOLE}", *oracles, *others]


def _seconds(name: str, text: str) -> float:
    try:
        seconds = float(text.removesuffix("s"))
    except ValueError:
        seconds = math.nan
    if not (0 < seconds < math.inf):
        raise UsageError(f"the setting {name!r} has no window", "write its seconds: caption@30")
    return seconds
