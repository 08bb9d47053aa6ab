"""What a captioner is asked about a window, before any question is known."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from egomem.defaults import CAPTION_TOKENS
from egomem.models import ImagePart, Request, RequestTags, Role, TextPart
from egomem.observe.frame_encoding import check_frame_labels
from egomem.records import Observation
from egomem.timeline import Span, format_span, format_time

PROMPT = "caption@1"
"""Name and version of the prompt below. A change of its text is a new version, and a new track."""

INSTRUCTIONS = """\
You keep the log of a camera that its wearer carries through the day. What you write will be \
searched later by someone who cannot see the video, and nobody knows yet what will be asked.

You get the frames of one stretch of the recording in order of time. Before each frame stands its \
time in the recording. Words that were heard may follow.

Write a few lines in order of time. Begin each line with the time or range that it describes, in \
square brackets, in times of the recording as given with the frames, like [M:SS-M:SS]. Cover:
- what the wearer does, step by step, and what is picked up, put down, opened, closed or passed on;
- objects with their colour, material, number and state, and where each one is or is left;
- how things lie to each other: on, in, under, beside, left or right of the wearer;
- the place, the other people there and what they do and say;
- text that can be read, word for word.

Call the person behind the camera "the wearer". Write only what is seen or heard; where it is \
unclear, say that it is unclear. No introduction and no summary."""


WHOLE_PROMPT = "whole-video@1"

WHOLE_INSTRUCTIONS = """\
You describe a video for someone who cannot see it. What you write will be searched later, and \
nobody knows yet what will be asked.

You get frames from the whole of the video in order of time, each after its time in the video. \
Words that were heard may follow.

Write lines in order of time that together cover the video from its beginning to its end. Begin \
each line with the time or range that it describes, in square brackets, in times of the video as \
given with the frames, like [M:SS-M:SS]. Say what happens and in which order; who and what is \
there, with colours, numbers, states and places; what changes and moves; and text that can be \
read, word for word. Write only what is seen or heard; where it is unclear, say that it is \
unclear. No introduction and no summary."""
"""Of a whole video by anyone's camera: it supposes no wearer, and gives all systems the same task
(OACap's protocol of captions as memory; its words are not recoverable)."""


def caption_request(
    images: Sequence[ImagePart],
    span: Span,
    speech: str,
    *,
    tags: RequestTags,
    max_tokens: int = CAPTION_TOKENS,
    whole: bool = False,
) -> Request:
    """The request for one window's caption, or that of a `whole` video; `speech`: its
    `spoken_lines`.

    It holds no question, and cannot: none is known yet.
    """
    parts: list[TextPart | ImagePart] = list(images)
    if speech:
        parts.append(TextPart(f"Heard in this stretch:\n{speech}"))
    stretch = "the video" if whole else "the recording"
    parts.append(TextPart(f"Write the lines for {format_span(span)} of {stretch}."))
    return check_frame_labels(
        Request(
            role=Role.CAPTIONER,
            parts=tuple(parts),
            prompt=WHOLE_PROMPT if whole else PROMPT,
            system=WHOLE_INSTRUCTIONS if whole else INSTRUCTIONS,
            max_tokens=max_tokens,
            tags=tags,
        )
    )


def spoken_lines(speech: Iterable[Observation], span: Span) -> str:
    """A line for each utterance, with its time, that of the window's start at the earliest."""
    lines = []
    for utterance in speech:
        speaker = utterance.data.get("speaker")
        name = f"{speaker}: " if isinstance(speaker, str) and speaker else ""
        start = max(utterance.span.start, span.start)
        lines.append(f"[{format_time(round(start, 1))}] {name}{utterance.text}")
    return "\n".join(lines)
