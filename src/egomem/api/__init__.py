"""The one door that the command line, pages and Python users take: `open_memory` and `Memory`."""

from egomem.api.memory import Memory
from egomem.api.opening import open_memory

__all__ = ["Memory", "open_memory"]
