"""A window's caption without a vision-language model: a template over what was observed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from egomem.hashing import TRACK_LENGTH, hash_text
from egomem.observe.plugin import NoSettings, ObserverPlugin, ObserverSetup
from egomem.observe.window import Window
from egomem.records import Observation, Provenance, Source, Track
from egomem.timeline import format_time

SOURCES: tuple[Source, ...] = ("object", "screen_text", "speech")
"""What a caption is composed from."""

NOTE = "composed from detections, read text and a transcript; no vision-language model looked"

MAX_TEXTS = 12
"""Lines of text that a caption quotes at most: those that stood longest. All are observations."""


class TemplateCaptioner:
    """Composes a caption of each window from its observations, the objects' first.

    `window`: length in seconds. `of`: the tracks to compose from; if one of them is of a source,
    other tracks of that source are ignored. They are part of this track's name: with other
    observers or settings, captions are composed anew. A window in which nothing was recognised gets
    no caption: it could only be found by mistake.
    """

    def __init__(self, window: float | None = None, of: Iterable[Track] = ()) -> None:
        self.window = window
        self.of = {track.source: track.id for track in of}

    @property
    def track(self) -> Track:
        named = ";".join(f"{source} {id}" for source, id in sorted(self.of.items()))
        mark = hash_text(named)[:TRACK_LENGTH]
        sources = "+".join(sorted(self.of))
        return Track(
            source="caption",
            observer="composed",
            window=self.window,
            sampling=f"{sources},{mark}" if self.of else None,
        )

    async def observe(self, window: Window) -> list[Observation]:
        parts = [
            o
            for o in window.context
            if _belongs(o, window) and self.of.get(o.source, o.track) == o.track
        ]
        parts.sort(key=lambda o: (o.span, o.text))
        text = compose(parts)
        if not text:
            return []
        return [
            Observation(
                recording=window.recording.id,
                wearer=window.recording.wearer,
                span=window.span,
                text=text,
                source="caption",
                track=self.track.id,
                provenance=Provenance(rests_on=tuple(o.id for o in parts), note=NOTE),
            )
        ]


def _belongs(o: Observation, window: Window) -> bool:
    """True if an observation ends in the window.

    A caption must not tell what is said after it: a sentence that runs over the end belongs to the
    next window, and only the last window takes all that is left.
    """
    if o.source not in SOURCES:
        return False
    last = window.span.end >= window.recording.duration
    return window.span.start < o.span.end and (o.span.end <= window.span.end or last)


def compose(parts: Sequence[Observation]) -> str:
    """Return plain English over observations of objects, screen text and speech; "" over none."""
    presences = [o for o in parts if o.source == "object" and "event" not in o.data]
    events = [o for o in parts if o.source == "object" and "event" in o.data]
    sentences = []
    if presences:
        sentences.append(f"In view: {_join(_unique(o.text for o in presences))}.")
    sentences += [f"At {format_time(round(o.span.end))} {o.text}." for o in events]
    lines = [o for o in parts if o.source == "screen_text"]
    # What stood longest is the scene's; what flickered past seldom matters.
    longest = sorted(lines, key=lambda o: -o.span.length)[:MAX_TEXTS]
    if texts := _unique(o.text for o in lines if o in longest):
        sentences.append(f"Text in view: {_join(_quoted(texts))}.")
    if words := " ".join(o.text for o in parts if o.source == "speech"):
        sentences.append(f"Words heard: {_quoted([words])[0]}")
    return " ".join(sentences)


def _unique(texts: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(texts))


def _quoted(texts: Iterable[str]) -> list[str]:
    return [f"“{text}”" for text in texts]


def _join(items: Sequence[str]) -> str:
    return " and ".join([", ".join(items[:-1]), items[-1]] if len(items) > 1 else items)


def _make(setup: ObserverSetup, settings: NoSettings) -> TemplateCaptioner:
    tracks = [observer.track for observer in setup.earlier]
    return TemplateCaptioner(setup.window, [track for track in tracks if track.source in SOURCES])


COMPOSED = ObserverPlugin(
    summary="A caption of each window, composed from its objects, texts and speech.",
    source="caption",
    reads=SOURCES,
    make=_make,
)
