"""A window of a recording, as observers get it, and the error of one that cannot be observed."""

from __future__ import annotations

from dataclasses import dataclass

from egomem.errors import ModelError
from egomem.media import Frame
from egomem.records import Observation, Recording, Source, Status, Usage
from egomem.timeline import Span


@dataclass(frozen=True, slots=True)
class Window:
    """One window of one recording, as an observer gets it.

    `frames` are in display order with their true times, decoded once and shared by all observers.
    `context`: observations that overlap the window and were made before (speech, and those of the
    observers that come before in the same window).
    """

    recording: Recording
    span: Span
    frames: tuple[Frame, ...]
    context: tuple[Observation, ...] = ()

    def finished(self, source: Source) -> list[Observation]:
        """The context of a source that ends within the window, in order of time.

        A caption must not tell what comes after it, so what runs over the end is left to the next
        window; only the recording's last window takes all that remains.
        """
        last = self.span.end >= self.recording.duration
        overlapping = (o for o in self.context if o.source == source and o.span.overlaps(self.span))
        return sorted(
            (o for o in overlapping if o.span.end <= self.span.end or last),
            key=lambda o: (o.span, o.text),
        )


class WindowFailed(ModelError):
    """A model replied, and nothing can be observed from its reply.

    The window counts as finished: asking the same again would cost again and end the same.
    `tokens`: the limit at which the reply was cut off. `usage`: what the replies used.
    """

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
