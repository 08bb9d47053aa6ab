"""What an observer is shown, and what it gives back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from egomem.errors import ModelError
from egomem.media import AudioBlock, Frame
from egomem.records import Observation, Recording, Status, Track, Usage
from egomem.timeline import Span


@dataclass(frozen=True, slots=True)
class Window:
    """One window of one recording: its frames, and what is already known of it.

    `frames` are in display order with their true times, decoded once and shared by all observers.
    `held` are observations that overlap the window and were made before (speech, and what earlier
    observers of the same window saw).
    """

    recording: Recording
    span: Span
    frames: tuple[Frame, ...]
    held: tuple[Observation, ...] = ()


class WindowFailed(ModelError):
    """A model replied, and nothing of the window can be told from it. Asking the same again would
    be paid for again, and end the same. `tokens`: the limit at which the reply was cut off.
    `usage`: what the replies took."""

    def __init__(
        self,
        message: str,
        remedy: str = "",
        *,
        status: Status,
        tokens: int | None = None,
        usage: Usage | None = None,
    ) -> None:
        super().__init__(message, remedy)
        self.status = status
        self.tokens = tokens
        self.usage = usage or Usage()


class Observer(Protocol):
    """Turns a window into observations. It knows no store, and never sees a question.

    Raises NoObservation where the window is finished without one, and any other EgomemError where
    it is not finished. One that sets a limit to replies has it as `max_tokens`: windows that were
    cut off at a lower one are shown again.
    """

    @property
    def track(self) -> Track: ...

    async def observe(self, window: Window) -> list[Observation]: ...


class SpeechObserver(Protocol):
    """Hears a recording from start to end, whatever its windows, in stretches of its own choice.

    Blocks may begin in the middle of a recording; times are seconds of the recording all the same.
    """

    @property
    def track(self) -> Track: ...

    def hear(
        self, blocks: Iterable[AudioBlock], recording: Recording
    ) -> Iterator[tuple[float, list[Observation]]]:
        """For each stretch where it ends, and what is said in it. Hearing stopped at such an end
        goes on from there as it would have without a stop."""
        ...

    def transcribe(
        self, blocks: Iterable[AudioBlock], recording: Recording
    ) -> Iterator[Observation]:
        """What is said in all stretches."""
        ...
