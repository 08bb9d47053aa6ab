"""The exit codes of every command; docs/reference/cli.md has the same table."""

from __future__ import annotations

from enum import IntEnum

from egomem.errors import EgomemError, UsageError


class ExitCode(IntEnum):
    """What the end of a command means to a script."""

    DONE = 0
    """All was done; an answer that abstains is an answer."""
    SOME_FAILED = 1
    """Some items failed or were left at a budget; the others are done."""
    WRONG_USAGE = 2
    """An unknown option, an unreadable time, an impossible setting."""
    NOTHING_DONE = 3
    """No memory there, a full disk, a part that is not installed, no usable reply."""
    STOPPED = 130
    """Stopped by the user: 128 and the number of SIGINT, as shells have it."""


def exit_code_of(error: EgomemError) -> ExitCode:
    """The exit code of a command that ends with this error."""
    return ExitCode.WRONG_USAGE if isinstance(error, UsageError) else ExitCode.NOTHING_DONE
