"""A store that is opened when it is first needed: reading never makes a memory, writing does."""

from __future__ import annotations

from pathlib import Path

from egomem.errors import UsageError
from egomem.memory.database_errors import DATABASE_NAME
from egomem.memory.store import Store


class StoreOnDemand:
    """The store of a folder. `create`: True makes it now, False raises NoMemoryError now where
    there is none, None leaves both to the first use.
    """

    def __init__(self, folder: Path, create: bool | None) -> None:
        self.folder = folder
        self._store: Store | None = None
        self._closed = False
        if create is not None or (folder / DATABASE_NAME).exists():
            self._store = Store.open(folder, create=bool(create))

    def to_write(self) -> Store:
        """The store, made where there is none."""
        return self._opened(create=True)

    def to_read(self) -> Store:
        """The store. Raises NoMemoryError where there is none."""
        return self._opened(create=False)

    def _opened(self, *, create: bool) -> Store:
        if self._closed:
            raise UsageError(f"the memory at {self.folder} has been closed", "open it again")
        self._store = self._store or Store.open(self.folder, create=create)
        return self._store

    def close(self) -> None:
        """Close the store; it is opened no more."""
        self._closed = True
        if self._store is not None:
            self._store.close()
