"""Every error that egomem raises on purpose.

    EgomemError                what went wrong, where, and what to do about it
     ├── UsageError            the caller asked for something that cannot be (exit code 2)
     │    ├── TimeError        a time that cannot be read, or that cannot exist
     │    └── ConfigError      a setting that is unknown or has an impossible value
     ├── MediaError            a file that cannot be used, or not wholly
     ├── MissingExtraError     an optional part that is not installed
     ├── WeightsError          model weights that cannot be had, or are not what they should be
     ├── StoreError            a memory that cannot be opened, read or written
     │    ├── NoMemoryError    there is no memory at this place
     │    ├── ForgottenError   what was to be stored belongs to a recording that is gone
     │    ├── LockedError      another process is writing to this memory
     │    ├── FullError        the disk is full or the folder is read-only; nothing was lost
     │    └── DamagedError     stored data that is not what was written
     └── ModelError            a model request that ended without a usable reply

An error's text is one line: what, where, and the remedy. A fault of a *reply* (refused, cut off,
unreadable) is not an exception: it is the reply's status, see `egomem.records.Status`.
"""

from __future__ import annotations

from pathlib import Path

from egomem.extras import install_line


class EgomemError(Exception):
    """An error with one clear line for the person who can fix it.

    `message` says what is wrong and where; `remedy` says what to do. `egomem.cli.exit_codes` has
    the exit code of a command that ends with it.
    """

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message, remedy)
        self.message = message
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.message}; {self.remedy}" if self.remedy else self.message


def reason(fault: BaseException) -> str:
    """The cause as text, without the number and path of an OSError, which our messages name."""
    return str(getattr(fault, "strerror", None) or fault or type(fault).__name__)


def missing_folder(path: Path) -> str:
    """What a message adds of a folder whose name is mistyped: "" where it exists."""
    return "" if path.exists() else ": that folder does not exist"


class UsageError(EgomemError):
    pass


class TimeError(UsageError):
    pass


class ConfigError(UsageError):
    pass


class MediaError(EgomemError):
    pass


class MissingExtraError(EgomemError):
    """An optional part is not installed. The remedy is the line that installs it."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} is not installed", f"run: {install_line(extra)}")
        self.extra = extra


class WeightsError(EgomemError):
    pass


class StoreError(EgomemError):
    pass


class NoMemoryError(StoreError):
    pass


class ForgottenError(StoreError):
    pass


class LockedError(StoreError):
    pass


class FullError(StoreError):
    pass


class DamagedError(StoreError):
    pass


class ModelError(EgomemError):
    pass
