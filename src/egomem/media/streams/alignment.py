"""How the own times of a stream become seconds of its recording."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

ClockKind = Literal["recording", "wall", "local", "device"]
"""What times count: seconds from the recording's first frame, POSIX seconds, the time on a wall of
no named zone (in seconds, as if it were UTC), or the device's own time, whose zero nobody states.
"""


@dataclass(frozen=True, slots=True)
class Alignment:
    """A stream's clock set against its recording.

    `origin`: the time on the stream's own clock (s) at the recording's second 0. `rate`: seconds of
    the recording in a second of the stream's clock; 1 without drift. `reason`: what it rests on, in
    words. `assumed`: nothing ties the two clocks, and the reason is a guess.
    """

    origin: float
    reason: str
    rate: float = 1.0
    assumed: bool = False

    def seconds(self, times: NDArray[np.float64]) -> NDArray[np.float64]:
        """Seconds of the recording of own times."""
        return (times - self.origin) * self.rate

    def own(self, seconds: float) -> float:
        """The own time of a second of the recording."""
        return seconds / self.rate + self.origin
