"""What each caption took when it was made.

The replies themselves may be deleted at any time; what the memory of a run cost may not go with
them. A row holds the key of a request and its usage, and no text. A window that was asked about,
and has no caption, has a row as well.
"""

from __future__ import annotations

from collections.abc import Container, Iterable

from pydantic import Field

from egomem.memory import Store
from egomem.memory.failed_windows import window_unit
from egomem.memory.replies import ReplyCache
from egomem.records import Observation, Record, Usage
from egomem.timeline import Span


class CaptionUsage(Record):
    """What the captions that an arm reads took, by video. `missing` says why some of it is not
    known, so that no sum of it is the whole; "" where all is."""

    by_video: dict[str, Usage] = Field(default_factory=dict)
    missing: str = ""


def usage_of_captions(
    store: Store, cache: ReplyCache, tracks: Iterable[str], recorded: Container[str]
) -> dict[str, Usage]:
    """Key of a request -> its usage, of the captions of these tracks whose replies are cached;
    without the `known` keys."""
    names = list(tracks)
    by_request = {}
    for caption in store.view().observations(tracks=names) if names else ():
        key = caption.provenance.request
        if key and key not in recorded and (usage := cached_usage(caption, cache)):
            by_request[key] = usage
    return by_request


def failed_window_key(track: str, recording: str, window: Span) -> str:
    """What stands for the request of a window that has no caption."""
    return f"gap {recording} {window_unit(window)} {track}"


def at_least_one_request(usage: Usage) -> Usage:
    """A reply out of the cache counts as one request, as if its caption had been made alone."""
    # Without it two runs that share a cache would report different costs for the same captions.
    return usage.model_copy(update={"requests": max(1, usage.requests)})


def cached_usage(caption: Observation, cache: ReplyCache) -> Usage | None:
    """What a caption took, by its cached reply; None where that is gone."""
    reply = cache.get(caption.provenance.request or "")
    return None if reply is None else at_least_one_request(reply.usage)
