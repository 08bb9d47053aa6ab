"""What is asked of an observer while it runs: its own track, and a line where it fails."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from egomem.errors import EgomemError, ModelError
from egomem.observe import AnyObserver
from egomem.records import Observation

log = logging.getLogger(__name__)


def check_emitted(observer: AnyObserver, observations: Sequence[Observation]) -> None:
    """Raise ModelError where an observation is not of its observer's track: it would be stored
    among another's, and never be observed anew with its own."""
    track = observer.track
    for observation in observations:
        if (observation.track, observation.source) != (track.id, track.source):
            raise ModelError(
                f"{type(observer).__name__} emitted {observation.source} of the track "
                f"{observation.track}, and its own is {track.id}",
                "fix the observer",
            )


def failure_line(observer: AnyObserver, error: Exception) -> str:
    """Why an observer failed, in a line; an error that is none of ours is logged with its trace."""
    if isinstance(error, EgomemError):
        return str(error)
    log.error("%s", observer.track.id, exc_info=error)
    return f"{type(observer).__name__} failed with {type(error).__name__}: {error}"
