"""`egomem probe`"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from egomem.cli.options import JsonOption
from egomem.cli.output import print_result
from egomem.cli.stream_options import StreamOption, StreamStartOption, stream_files
from egomem.defaults import DEFAULT_FPS, DEFAULT_WINDOW

if TYPE_CHECKING:
    from rich.console import Console

    from egomem.media import Frame, MediaInfo


def probe(
    file: Annotated[Path, typer.Argument(help="A video or sound file.")],
    decode: Annotated[
        bool, typer.Option("--decode", help="Decode what would be looked at, to find damage.")
    ] = False,
    list_windows: Annotated[
        bool, typer.Option("--windows", help="List the windows and frames that would be used.")
    ] = False,
    window: Annotated[
        float | None,
        typer.Option(help=f"Length of a window in seconds (default {DEFAULT_WINDOW:g}); lists."),
    ] = None,
    fps: Annotated[
        float | None,
        typer.Option(help=f"Frames a second to look at (default {DEFAULT_FPS:g}); lists."),
    ] = None,
    stream: StreamOption = None,
    stream_start: StreamStartOption = None,
    start: Annotated[
        str | None,
        typer.Option(
            metavar="TIME", help="When the recording began, with its zone; places streams."
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Show what FILE says that it holds, and the streams beside it.

    It is decoded, and its windows are listed, only where asked.
    """
    from egomem.ingest.stream_files import streams_for_probe
    from egomem.media import distinct, frames
    from egomem.media import probe as look
    from egomem.media.streams import describe, details
    from egomem.timeline import sample_times, windows

    stream_options = stream_files(stream, stream_start)
    facts = look(file)
    streams = streams_for_probe(file, facts, stream_options, start)
    problems: list[tuple[str, str]] = [(fault, "") for fault in streams.faults]
    listed = list_windows or window is not None or fps is not None
    spans = windows(facts.duration, DEFAULT_WINDOW if window is None else window)
    rate = DEFAULT_FPS if fps is None else fps
    sampled_frames: list[Frame] = []
    if facts.video is not None and (decode or listed):
        times = [t for span in spans for t in sample_times(span, rate)]
        reader = frames(file, times, side=16, info=facts)
        sampled_frames = list(reader)
        if reader.report.failed:
            lost = f"{_lost(reader.report.lost)} ({reader.report.cause})"
            problems.append((lost, "what lies outside is used"))
    cut = [
        [f.time for f in distinct(f for f in sampled_frames if f.requested in span)]
        for span in spans
    ]

    def text(out: Console) -> None:
        from egomem.timeline import format_span

        for name, value in _lines(facts):
            out.print(f"{name:10} {value}")
        for info in streams.infos:
            out.print(f"{info.kind:10} {describe(info)}")
            for line in details(info):
                out.print(f"{'':10} {line}")
        for span, times in zip(spans, cut, strict=True) if listed else ():
            row = " ".join(f"{t:.3f}" for t in times) or "no frame"
            out.print(f"window     {format_span(span)}  {row}")
        if decode and not listed:
            out.print(f"decoded    {len(sampled_frames)} frames, {rate:g} a second")

    result: dict[str, Any] = facts.model_dump(mode="json")
    result["streams"] = [info.model_dump(mode="json", exclude={"basis"}) for info in streams.infos]
    if decode:
        result["decoded"] = len(sampled_frames)
    if listed:
        result["windows"] = [
            {"start": span.start, "end": span.end, "frames": times}
            for span, times in zip(spans, cut, strict=True)
        ]
    print_result("probe", result, show=text, json=json, problems=problems)


def _lost(stretches: tuple[tuple[float | None, float | None], ...]) -> str:
    ends = [
        f"from {0.0 if a is None else a:.3f} s to {'the end' if b is None else f'{b:.3f} s'}"
        for a, b in stretches
    ]
    return "nothing can be decoded " + ", ".join(ends)


def _lines(facts: MediaInfo) -> list[tuple[str, str]]:
    """What is known of a file, as names and values for a person."""
    from egomem.timeline import format_time

    lines = [
        ("file", f"{facts.path} ({facts.bytes:,} bytes, {facts.container})"),
        ("length", f"{format_time(facts.duration)} ({facts.duration:.3f} s)"),
    ]
    if video := facts.video:
        turned = f", turned by {video.rotation} degrees" if video.rotation else ""
        rate = f"{video.fps:g} fps" if video.fps else "unknown rate"
        steps = f"variable rate, {rate} on average" if video.variable_rate else rate
        count = "unknown" if video.frames is None else f"{video.frames}"
        lines += [
            ("video", f"{video.codec}, {video.width}x{video.height}{turned}, {steps}"),
            ("frames", f"{count}, the first at {video.start:.3f} s on the file's clock"),
        ]
    lines += [
        (
            "sound",
            f"stream {s.index}: {s.codec}, {s.rate} Hz, {s.channels} channels,"
            f" from {s.start:.3f} s{f', {s.language}' if s.language else ''}",
        )
        for s in facts.audio
    ]
    for stream in (*facts.subtitles, *facts.other):
        about = ", ".join(v for v in (stream.codec, stream.note, stream.language) if v)
        lines.append((stream.kind, f"stream {stream.index}: {about or 'unknown'}, not used"))
    if facts.created:
        lines.append(("created", f"{facts.created} (the file's word, not a known clock)"))
    if facts.speed_note:
        lines.append(("real time", facts.speed_note))
    if facts.decoded_until is not None:
        lines.append(("good until", f"{facts.decoded_until:.3f} s"))
    lines += [("wrong", fault) for fault in facts.faults]
    return lines
