"""Made-up narrations for the benches: short and repetitive as real ones are, words Zipfian.

Real first-person narrations repeat ("open door" a hundred times a day) and have a long tail of
names, brands and codes; both matter for a search engine, so both are here. Seeded: the same
arguments give the same texts.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

VERBS = """
    opens closes picks takes puts holds washes cuts stirs pours wipes moves turns looks walks reads
    writes lifts drops carries folds pushes pulls shakes peels checks fills empties hangs plugs
    unplugs presses types scrolls talks waits sits stands leans points throws
"""
NOUNS = """
    door drawer cupboard fridge tap sink pan pot plate bowl cup mug glass knife fork spoon board
    table chair shelf box bag bottle lid cloth towel sponge bin phone laptop screen keyboard key
    wallet coat shoe book paper pen lamp window bed stairs car bicycle bus street shop counter
    receipt ticket onion carrot potato tomato egg bread cheese butter milk oil salt pepper rice
    pasta water kettle oven stove microwave toaster dishwasher hand finger arm head floor wall
"""
ADJECTIVES = "red blue green white black small large wooden metal plastic old new wet dry"
PLACES = "left hand;right hand;kitchen;hall;office;living room;garden;counter;bag;top shelf"
SYLLABLES = "ka lo mi ren tas vor bel dun shi pra gol nex ori quin zan wel fra hup jes yor"


def tail_word(rank: int) -> str:
    """The name of a rank in the long tail: brands, people, streets."""
    syllables = SYLLABLES.split()
    word = ""
    rank += len(syllables)
    while rank:
        rank, syllable = divmod(rank, len(syllables))
        word += syllables[syllable]
    return word


class Narrator:
    def __init__(self, seed: int = 0) -> None:
        self._random = random.Random(seed)
        self._verbs, self._nouns = VERBS.split(), NOUNS.split()
        self._adjectives, self._places = ADJECTIVES.split(), PLACES.split(";")

    def _zipf(self, size: int) -> int:
        """Ranks 0 .. size-1, the chance of a rank about 1 / (rank + 1)."""
        return min(int((size + 1) ** self._random.random()) - 1, size - 1)

    def sentence(self) -> str:
        r = self._random
        noun = self._nouns[self._zipf(len(self._nouns))]
        parts = ["the wearer", self._verbs[self._zipf(len(self._verbs))], "the"]
        if r.random() < 0.4:
            parts.append(r.choice(self._adjectives))
        parts.append(noun)
        if r.random() < 0.5:
            parts += [
                r.choice(("with the", "from the", "into the", "on the")),
                r.choice(self._places),
            ]
        if r.random() < 0.25:
            parts += ["next to", tail_word(self._zipf(50_000))]
        if r.random() < 0.03:
            parts.append(f"{r.choice('ABCDEF')}-{r.randrange(100)}")
        return " ".join(parts)

    def text(self) -> str:
        return ". ".join(self.sentence() for _ in range(1 + self._zipf(6)))

    def texts(self, count: int) -> Iterator[str]:
        for _ in range(count):
            yield self.text()

    def query(self) -> str:
        """About six words, as people ask: two or three of them say something."""
        r = self._random
        rare = tail_word(self._zipf(50_000)) if r.random() < 0.3 else r.choice(self._adjectives)
        noun, verb = (words[self._zipf(len(words))] for words in (self._nouns, self._verbs))
        where = r.choice(("in the kitchen", "with my left hand", verb))
        return f"where did I put the {rare} {noun} {where}"
