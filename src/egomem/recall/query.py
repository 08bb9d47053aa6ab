"""A question as it was read: one value that `search`, `ask` and `verify` all take.

Where did I put the cup after washing it?   where; put, cup; after "washing it"
When was the last time I saw Ana?           when; see; Ana; the last of several
What did the sign say at 10:30 am?          what was read; on the sign; at 10:30
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from egomem.recall.words import Word
from egomem.records import Source

if TYPE_CHECKING:
    from egomem.timeline import TimeMention

Kind = Literal[
    "what", "when", "where", "who", "said", "read", "times", "count", "how_long", "order", "whether"
]
Relation = Literal["after", "before", "while"]
Order = Literal["first", "last"]
Part = Literal["start", "middle", "end"]

PART_PLACES: dict[Part, float] = {"start": 0.0, "middle": 0.5, "end": 1.0}
"""The parts of a recording as shares of it."""


@dataclass(frozen=True, slots=True)
class Anchor:
    """An event that a question starts from: "after washing the cup". `event` is as written."""

    relation: Relation
    event: str
    words: tuple[Word, ...] = ()


@dataclass(frozen=True, slots=True)
class Query:
    """A question, read.

    What is asked for:
    `kind` of answer; `words`: content words of what is asked about; `phrases`: what stands in
    quotation marks; `speakers`: people of the memory whom the question asks about; `items`: things
    to be put in order; `options` to choose from.

    Where the answer lies in time:
    `anchor`: the event that it is placed by; `times` that the question names, also those that could
    not be worked out; `order`: the first or the last of several; `part` of a recording; `leaving`:
    the end of something is asked for.

    Where the answer is to be looked for, if the question says so:
    `sources`; then `words` are what was said or read about, `carrier` who said it or what it stood
    on, and `caption_words` what a caption would say instead. `visible`: something that was only
    spoken of is no answer.

    For a search: `search_text` is the question without its times, "last", "at the end" and the
    like; `target_text` is that without the anchor's clause. `name_texts` are the memory's speakers
    as the question writes them, asked about or not.
    """

    text: str
    search_text: str
    target_text: str
    kind: Kind = "what"
    words: tuple[Word, ...] = ()
    phrases: tuple[str, ...] = ()
    speakers: tuple[str, ...] = ()
    items: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    anchor: Anchor | None = None
    times: tuple[TimeMention, ...] = ()
    order: Order | None = None
    part: Part | None = None
    leaving: bool = False
    sources: tuple[Source, ...] = ()
    carrier: tuple[Word, ...] = ()
    caption_words: tuple[Word, ...] = ()
    visible: bool = False
    name_texts: tuple[str, ...] = ()

    @property
    def bounds(self) -> tuple[TimeMention, ...]:
        """The times that could be worked out: they limit where is looked."""
        return tuple(t for t in self.times if not t.unresolved)

    @property
    def unresolved(self) -> tuple[str, ...]:
        """What could not be worked out and is left out of account, in words for the asker."""
        return tuple(f"“{t.text}” was not used: {t.problem}" for t in self.times if t.unresolved)

    @property
    def at(self) -> float | None:
        """Seconds of a recording, where the question names such a time."""
        return next((t.span.start for t in self.times if t.span is not None), None)

    @property
    def relation(self) -> Relation | None:
        """How the answer lies to the anchor, or to a time of a recording ("after 5:00")."""
        if self.anchor is not None:
            return self.anchor.relation
        # "After 5:00" names no event, but places the answer just as one does.
        for time in self.times:
            if time.span is not None and time.relation != "at":
                return time.relation
        return None

    @property
    def latest_place(self) -> bool:
        """True where the place is asked for that a thing has now, or was left at last."""
        return self.kind == "where" and self.order == "last"

    @property
    def anchor_words(self) -> tuple[Word, ...]:
        return self.anchor.words if self.anchor else ()
