"""One writer at a time.

While a process writes, it locks `writer.lock` in the memory's folder (flock, or its like on
Windows) and writes one line into it: process id, host, since when. The operating system releases
the lock when the process ends, so a killed writer leaves no lock behind; the line that remains is
not a lock. Readers never need it.
"""

from __future__ import annotations

import os
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from egomem.errors import FullError, LockedError, StoreError
from egomem.memory.permissions import open_private

NAME = "writer.lock"
_RETRY_S = 0.02
"""Seconds between two tries."""


class WriterLock:
    """Re-entrant within a process; between processes, waits up to `wait` seconds."""

    def __init__(self, folder: Path, wait: float) -> None:
        self.path = folder / NAME
        self.wait = wait
        self._threads = threading.RLock()
        self._depth = 0
        self._handle = -1

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the lock. Raises LockedError, naming the holder, where another process keeps it."""
        if not self._threads.acquire(timeout=max(self.wait, 0)):
            raise LockedError(f"another thread is writing to {self.path.parent}", "try again")
        try:
            if self._depth == 0:
                self._handle = self._take()
            self._depth += 1
            try:
                yield
            finally:
                self._depth -= 1
                if self._depth == 0:
                    os.close(self._handle)
        finally:
            self._threads.release()

    def _take(self) -> int:
        try:
            handle = open_private(self.path, os.O_RDWR | os.O_CREAT)
        except FileNotFoundError as fault:
            raise StoreError(
                f"there is no folder {self.path.parent}", "name one that is there, or make it"
            ) from fault
        except OSError as fault:
            raise FullError(
                f"cannot write to {self.path.parent}: {fault.strerror}",
                "nothing was lost; make the folder writable",
            ) from fault
        until = time.monotonic() + self.wait
        while not _lock(handle):
            if time.monotonic() >= until:
                holder = os.pread(handle, 200, 0).decode(errors="replace").strip()
                os.close(handle)
                raise LockedError(
                    f"{self.path.parent} is being written to by {holder or 'another process'}",
                    "wait until it has finished, or end it",
                )
            time.sleep(_RETRY_S)
        since = datetime.now().astimezone().isoformat(timespec="seconds")
        line = f"process {os.getpid()} on {socket.gethostname()} since {since}\n".encode()
        try:
            os.ftruncate(handle, 0)
            os.pwrite(handle, line, 0)
        except OSError:  # a full disk: the lock holds all the same, only unnamed
            pass
        return handle


if sys.platform == "win32":
    import msvcrt

    def _lock(handle: int) -> bool:
        try:
            os.lseek(handle, 4096, os.SEEK_SET)  # beyond the line, which others may read
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _lock(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True
