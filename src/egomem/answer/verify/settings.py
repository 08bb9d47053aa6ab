"""The settings of retrieve and verify."""

from __future__ import annotations

from pydantic import Field

from egomem.answer.strategy import ReaderSettings
from egomem.defaults import DEFAULT_WINDOW


class VerifySettings(ReaderSettings):
    """How moments are found and looked at (methods A.6); `format` and the like are the reader's.

    `profile`: of recall. `window`: seconds of a moment. `windows`: with neighbours, at most.
    `intervals`, `frames`: at most so many stretches, with so many frames each, and no more in all
    than the verifier takes (limits.verifier.images). `pad`: seconds added on each side. `track`: of
    captions.

    Two extensions of ours, off by default. `abstain_unsupported`: answer nothing where neither the
    notes found nor the frames support any option. `second_look`: where the question names a time
    that can be placed in the memory, look there too; strong support from that look may replace the
    answer although a clock time is named.
    """

    profile: str = "capmem"
    window: float = Field(default=DEFAULT_WINDOW, gt=0)
    windows: int = Field(default=9, ge=1)
    intervals: int = Field(default=3, ge=1)
    frames: int = Field(default=4, ge=1)
    pad: float = Field(default=5.0, ge=0)
    track: str | None = None
    abstain_unsupported: bool = False
    second_look: bool = False
