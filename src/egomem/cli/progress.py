"""Progress of long work on standard error: bars on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from pathlib import PurePath
from typing import TYPE_CHECKING, Self, TextIO

from egomem.cli.terminal import make_console

if TYPE_CHECKING:
    from rich.progress import TaskID

    from egomem.evaluate import RunProgress
    from egomem.ingest import Step

LINE_EVERY_S = 30.0
"""Seconds between two lines of a run where the output is no terminal."""
MAX_ERRORS = 5
"""So many different errors are printed as they come; all are counted."""


class ProgressDisplay:
    """The steps of an ingest (`step`) or of a run (`update`), with notes above them (`say`)."""

    def __init__(self, *, quiet: bool = False, stream: TextIO | None = None) -> None:
        from rich.progress import BarColumn, Progress, TextColumn

        self._console = make_console(stream or sys.stderr)
        self._bars = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            console=self._console,
            transient=True,
            disable=quiet or not self._console.is_terminal,
        )
        self._quiet = quiet
        self._tasks: dict[str, TaskID] = {}
        self._lines: set[str] = set()
        self._errors: set[str] = set()
        self._last_line = -LINE_EVERY_S

    def say(self, line: str) -> None:
        """Print a note once: each file of an ingest may repeat it."""
        if not self._quiet and line not in self._lines:
            self._lines.add(line)
            self._console.print(line, highlight=False, soft_wrap=True)

    def ask(self, line: str) -> None:
        """Ask whether to go on with what `line` says. Raises UsageError where that is not wished,
        or where nobody is there to answer."""
        from egomem.errors import UsageError

        wished = False
        if not self._quiet and sys.stdin.isatty() and self._console.is_terminal:
            import typer

            self._bars.stop()  # it would draw over the question
            wished = typer.confirm(f"{line}. Go on?", err=True)
            self._bars.start()
        if not wished:
            raise UsageError(line, "add --again to do that, or give the same --fps as before")

    def step(self, step: Step) -> None:
        """Where an ingest stands. Reading a file's facts takes too little time for a bar."""
        if step.stage != "reading":
            name = f"{step.stage} {PurePath(step.path).name}"
            text = f"{name} {min(step.done, step.total):.0f} / {step.total:.0f} s"
            self._show(name, text, step.done, step.total)

    def count_digests(self, level: str, count: int, total: int) -> None:
        """How many digests of a level are written."""
        self._show(
            f"digest {level}", f"digests of a level ({level}) {count} / {total}", count, total
        )

    def update(self, progress: RunProgress) -> None:
        """Where a run stands, and its latest error."""
        error = progress.last_error
        if error and error not in self._errors and len(self._errors) < MAX_ERRORS:
            self._errors.add(error)
            self.say(f"error: {error}")
        if self._console.is_terminal:
            self._show(progress.stage, progress.line(), progress.done, progress.total)
            return
        now = time.monotonic()
        due = now - self._last_line >= LINE_EVERY_S or progress.done >= progress.total
        if due and not self._quiet:
            self._last_line = now
            self._console.print(progress.line(), highlight=False, soft_wrap=True)

    def _show(self, key: str, text: str, done: float, total: float) -> None:
        if done >= total:
            if key in self._tasks:
                self._bars.remove_task(self._tasks.pop(key))
            return
        if key not in self._tasks:
            self._tasks[key] = self._bars.add_task(text, total=total)
        self._bars.update(self._tasks[key], description=text, completed=done, total=total)

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._bars.stop()
