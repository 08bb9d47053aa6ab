"""What a summarizer is asked, before any question is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from egomem.ingest.digests.choose import Episode
from egomem.ingest.digests.extractive import LINES
from egomem.ingest.digests.levels import WindowKey
from egomem.ingest.digests.record import stretch
from egomem.models import Request, RequestTags, Role, TextPart

VERSION = "1"
"""Of the prompts below. A change of their text is a new version, and a new track of digests."""

_STRETCHES = {
    "10min": "ten minutes",
    "hour": "an hour",
    "day": "a day",
    "recording": "a whole recording",
}
INSTRUCTIONS = """\
You keep the diary of a person who wears a camera. What you write will be searched and read later \
by someone who cannot see the video, and nobody knows yet what will be asked.

You get numbered notes of {stretch} in order of time, each with the time that it speaks of. Write \
at most {lines} statements that together tell what happened, in order of time. Merge what belongs \
together; keep who did it, with what and where, and every name, number, price, time and quoted \
word that matters, exactly as the notes have it.

Each statement is one sentence and lists the numbers of all notes that it rests on. State nothing \
that these notes do not say: no guess, no detail of another note, nobody else's action. Call the \
person who wears the camera "the wearer" or "I", as the notes do."""

AGAIN = """\
These statements of yours say what their notes do not:
{problems}
Write all statements again. Correct these or leave them out; keep the others."""

SCHEMA: Mapping[str, JsonValue] = {
    "type": "object",
    "properties": {
        "statements": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "text": {"type": "string"},
                    "notes": {"type": "array", "items": {"type": "integer"}},
                },
                "required": ["text", "notes"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["statements"],
    "additionalProperties": False,
}


def prompt_name(level: str) -> str:
    """Name and version of a level's prompt: `digest-hour@1`."""
    return f"digest-{level}@{VERSION}"


def digest_request(
    window: WindowKey,
    notes: Sequence[Episode],
    *,
    max_tokens: int,
    rejected: Sequence[tuple[str, str]] = (),
    recording: str | None = None,
) -> Request:
    """The request for a window's digest.

    `rejected` are statements of an earlier reply, each with what is wrong with it. `recording` is
    the only one that the notes are of, by which forgetting finds the reply; None for several.
    """
    parts = [TextPart(f"Notes:\n{note_lines(notes)}")]
    if rejected:
        problems = "\n".join(f"- “{text}”: {why}" for text, why in rejected)
        parts.append(TextPart(AGAIN.format(problems=problems)))
    else:
        parts.append(TextPart("Write the statements."))
    instructions = INSTRUCTIONS.format(stretch=_STRETCHES[window.level], lines=LINES[window.level])
    return Request(
        role=Role.SUMMARIZER,
        parts=tuple(parts),
        prompt=prompt_name(window.level),
        system=instructions,
        schema=SCHEMA,
        max_tokens=max_tokens,
        tags=RequestTags(recording),
    )


def note_lines(notes: Sequence[Episode]) -> str:
    """`[3] 10:05-10:12 I chop onions (5 times)`, a line a note."""
    lines = []
    for number, note in enumerate(notes, 1):
        head = note.head
        times = f" ({note.count} times)" if note.count > 1 else ""
        when = stretch(head.start, max(note.end, head.end), head.offset)
        lines.append(f"[{number}] {when} {note.statement().line}{times}")
    return "\n".join(lines)
