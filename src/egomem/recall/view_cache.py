"""What was worked out of a view, kept for the next question about the same view."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

from egomem.memory import MemoryReader, View

T = TypeVar("T")
_Key = tuple[Hashable, ...]


class ViewCache(Generic[T]):
    """Keeps a value for the last `size` views of each store, by what they see.

    What a view sees never grows. It shrinks where something is forgotten: its count shows that.
    """

    def __init__(self, size: int = 4) -> None:
        self._size = size
        self._kept: WeakKeyDictionary[MemoryReader, OrderedDict[_Key, tuple[int, T]]] = (
            WeakKeyDictionary()
        )

    def get(self, view: View, make: Callable[[], T], *key: Hashable) -> T:
        """The value for this view and `key`, made if it is not kept."""
        values = self._kept.setdefault(view.store, OrderedDict())
        full_key = (*key, *_seen_by(view))
        count = view.count()
        # The count is no part of the key: a value of before something was forgotten must be
        # replaced, not kept beside the new one.
        kept = values.get(full_key)
        if kept is None or kept[0] != count:
            kept = values[full_key] = count, make()
        values.move_to_end(full_key)
        while len(values) > self._size:
            values.popitem(last=False)
        return kept[1]


def _seen_by(view: View) -> _Key:
    """What tells one view of a store from another."""
    scope = view.filter
    spans = tuple(bound.tobytes() for pair in scope.spans for bound in pair)
    return scope.catalog.horizon, tuple(scope.catalog.ids), scope.cut.tobytes(), scope.tracks, spans
