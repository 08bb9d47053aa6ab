"""What is wrong with a stream: of each kind of fault the first place and a count."""

from __future__ import annotations

from dataclasses import dataclass, field

from egomem.records import Record
from egomem.text import plural


class StreamProblem(Record):
    """A fault of a stream: what it is, where it was met first, and how many samples it concerns.

    `line` counts from 1; `time` is in seconds of the stream's own clock.
    """

    what: str
    line: int | None = None
    time: float | None = None
    count: int = 1

    def __str__(self) -> str:
        where = [f"line {self.line}"] if self.line is not None else []
        where += [f"{self.time:.3f} s"] if self.time is not None else []
        first = f" (the first at {', '.join(where)})" if where and self.count > 1 else ""
        at = f" at {', '.join(where)}" if where and not first else ""
        count = f": {plural(self.count, 'sample')}" if self.count > 1 else ""
        return f"{self.what}{at}{count}{first}"


@dataclass(slots=True)
class ProblemLog:
    """Collects the faults of one reading of a stream; equal ones are counted."""

    _problems: dict[str, StreamProblem] = field(default_factory=dict)

    def add(
        self, what: str, *, line: int | None = None, time: float | None = None, count: int = 1
    ) -> None:
        if count < 1:
            return
        first = self._problems.get(what)
        if first is None:
            self._problems[what] = StreamProblem(what=what, line=line, time=time, count=count)
        else:
            self._problems[what] = first.model_copy(update={"count": first.count + count})

    @property
    def problems(self) -> tuple[StreamProblem, ...]:
        return tuple(self._problems.values())
