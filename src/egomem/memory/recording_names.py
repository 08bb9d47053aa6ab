"""Recordings as people name them: by id, by name, by path, or by the start of an id."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from difflib import get_close_matches
from pathlib import Path

from egomem.errors import UsageError
from egomem.records import Recording

MAX_LISTED = 5


def find_recording(recordings: Sequence[Recording], name: str) -> Recording:
    """The recording that `name` means: its id, its name (with or without the suffix), the path of
    its file, or the start of its id, whichever of these fits first.

    Raises UsageError where none does, or where several do, which it names.
    """
    matches = matching_recordings(recordings, name)
    if len(matches) == 1:
        return matches[0]
    if matches:
        listed = "; ".join(_described(r) for r in matches[:MAX_LISTED])
        more = f" and {len(matches) - MAX_LISTED} more" if len(matches) > MAX_LISTED else ""
        raise UsageError(
            f"{name!r} names {len(matches)} recordings: {listed}{more}",
            "give more of the id of one",
        )
    near = get_close_matches(name, [r.name for r in recordings], n=1)
    raise UsageError(
        f"there is no recording {name!r} in this memory",
        f"is it {near[0]}?" if near else "egomem show lists the recordings",
    )


def matching_recordings(recordings: Sequence[Recording], name: str) -> list[Recording]:
    """All recordings that `name` may mean; see `find_recording`."""
    for fits in _forms(name):
        if matches := [r for r in recordings if fits(r)]:
            return matches
    return []


def _forms(name: str) -> tuple[Callable[[Recording], bool], ...]:
    return (
        lambda r: r.id == name,
        lambda r: r.name == name,
        lambda r: Path(r.name).stem == name,
        lambda r: r.path is not None and "/" in name and Path(name).resolve() == Path(r.path),
        lambda r: bool(name) and r.id.startswith(name),
    )


def _described(r: Recording) -> str:
    start = f" of {r.clock.start:%Y-%m-%d %H:%M}" if r.clock else ""
    return f"{r.name}{start} (id {r.id})"
