"""Options that name the streams beside a recording: `--stream gaze=FILE`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, get_args

import typer

if TYPE_CHECKING:
    from egomem.media.streams import StreamFile

StreamOption = Annotated[
    list[str] | None,
    typer.Option(
        "--stream",
        metavar="KIND=FILE",
        help="A stream of the recording: gaze, imu, trajectory, points or gps; or the calibration "
        "of its gaze. Repeatable.",
    ),
]
StreamStartOption = Annotated[
    list[str] | None,
    typer.Option(
        "--stream-start",
        metavar="KIND=TIME",
        help="When in the recording a stream's first sample lies: gaze=2.5, gps=1:20. Repeatable.",
    ),
]


def stream_files(streams: Sequence[str] | None, starts: Sequence[str] | None) -> list[StreamFile]:
    """The streams that the options name. Raises UsageError where one cannot be read."""
    from egomem.errors import UsageError
    from egomem.media.streams import StreamFile

    seconds = {kind: _seconds(value) for kind, value in _pairs(starts, "--stream-start")}
    paths = dict(_pairs(streams, "--stream"))
    if len(paths) < len(streams or ()):
        raise UsageError("two streams of one kind were given", "give one of each kind")
    if alone := sorted(seconds.keys() - paths.keys()):
        raise UsageError(
            f"--stream-start {alone[0]} is of no stream that was given",
            f"name its file, too: --stream {alone[0]}=FILE",
        )
    return [StreamFile(kind, path, seconds.get(kind)) for kind, path in paths.items()]  # type: ignore[arg-type]


def _pairs(values: Sequence[str] | None, option: str) -> list[tuple[str, str]]:
    from egomem.errors import UsageError
    from egomem.media.streams import StreamKind

    kinds = (*get_args(StreamKind), "calibration")
    pairs = []
    for value in values or ():
        kind, mark, rest = value.partition("=")
        if not mark or not rest.strip() or kind.strip() not in kinds:
            raise UsageError(
                f"{option} {value!r} is no KIND=VALUE", f"the kinds are: {', '.join(kinds)}"
            )
        pairs.append((kind.strip(), rest.strip()))
    return pairs


def _seconds(text: str) -> float:
    from egomem.errors import UsageError
    from egomem.timeline import read_time

    try:
        return float(text)  # also negative: the stream began before the recording
    except ValueError:
        time = read_time(text)
    if time.span is None:
        raise UsageError(
            f"--stream-start {text} is no time of a recording", "give seconds, or 1:20"
        )
    return time.span.start
