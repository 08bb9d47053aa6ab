"""The settings of a protocol by the names that tables show: `clean`, `video`, `caption@30` ...

clean               the question and its options alone
video               frames spread over the whole video
caption@30          all captions of 30 s windows
verify@30           the same, and a look at the frames of the moments found
aligned@30          captions of exactly the frames that `video` looks at
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
from egomem.answer.reader import ReaderSettings
from egomem.errors import UsageError
from egomem.evaluate import oracle
from egomem.records import Record
from egomem.timeline import DEFAULT_WINDOW

Captions = Literal["none", "windows", "aligned", "held"]
"""What a setting reads: no captions, those of windows of the whole video, those of the frames of
`video`, or whatever the memory holds."""

CAPTIONED = ("caption", "verify")


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
    def asks(self) -> bool:
        """Whether a reader is asked."""
        return issubclass(get(self.strategy).settings, ReaderSettings)

    @property
    def blind(self) -> bool:
        """Whether nothing of the memory is shown: no captions, no frames."""
        return self.captions == "none" and not self.looks

    @property
    def looks(self) -> bool:
        """Whether frames are needed when answering."""
        return self.strategy in ("video", "verify", oracle.FRAMES)


def read_condition(name: str) -> Condition:
    """The setting of a name. Raises UsageError, saying what there is."""
    head, at, tail = name.strip().partition("@")
    window, _, last = tail.rpartition("@")
    kind: Captions = "aligned" if head == "aligned" else "windows"
    if window and last == "evidence" and head in ("caption", "aligned"):
        seconds = _seconds(name, window)
        return Condition(name=name, strategy=oracle.CAPTIONS, captions=kind, window=seconds)
    if tail == "evidence" and head in ("clean", "verify", "aligned"):
        raise UsageError(f"there is no setting {name!r}", "use caption@evidence or video@evidence")
    if tail == "evidence" and head in ("caption", "video"):
        if head == "video":
            return Condition(name=name, strategy=oracle.FRAMES)
        return Condition(
            name=name, strategy=oracle.CAPTIONS, captions="windows", window=DEFAULT_WINDOW
        )
    if head in (*CAPTIONED, "aligned"):
        if not at and head in CAPTIONED:
            return Condition(name=name, strategy=head, captions="held")
        strategy = "caption" if head == "aligned" else head
        return Condition(name=name, strategy=strategy, captions=kind, window=_seconds(name, tail))
    if (at and tail != "evidence") or not _is_strategy(head):
        raise UsageError(f"there is no setting {name!r}", f"use one of: {', '.join(_known())}")
    if head in ("clean", "video"):
        return Condition(name=name, strategy=head)
    return Condition(name=name, strategy=head, captions="held", evidence=bool(at))


def read_conditions(names: Iterable[str]) -> tuple[Condition, ...]:
    """The settings in the order given, each once; `caption@evidence` is of the first window that is
    named beside it."""
    ways = tuple(dict.fromkeys(read_condition(n) for n in names if n.strip()))
    if not ways:
        raise UsageError("no setting is named", "for example --settings clean,video,caption@30")
    whole = [w.window for w in ways if w.captions == "windows" and w.strategy in CAPTIONED]
    held = any(w.captions == "held" and w.strategy in CAPTIONED for w in ways)
    found = []
    for way in ways:
        named = way.strategy == oracle.CAPTIONS and way.name.count("@") > 1
        if way.strategy == oracle.CAPTIONS and whole and not named:
            way = way.model_copy(update={"window": whole[0]})
        elif way.strategy == oracle.CAPTIONS and held and not named:
            way = way.model_copy(update={"window": None, "captions": "held"})
        found.append(way)
    return tuple(found)


def _is_strategy(name: str) -> bool:
    """Whether a setting may name it: our oracles have settings of their own."""
    try:
        get(name)
    except UsageError:
        return False
    return name not in (oracle.CAPTIONS, oracle.FRAMES)


def _known() -> list[str]:
    """What --settings takes."""
    named = ("clean", "video", "caption@30", "verify@30", "aligned@30")
    oracles = ("caption@evidence", "video@evidence")
    rest = [s for s in strategies() if s not in ("clean", "video") and _is_strategy(s)]
    return [*named, *oracles, *rest]


def _seconds(name: str, text: str) -> float:
    try:
        seconds = float(text.removesuffix("s"))
    except ValueError:
        seconds = math.nan
    if not (0 < seconds < math.inf):
        raise UsageError(f"the setting {name!r} has no window", "write its seconds: caption@30")
    return seconds
