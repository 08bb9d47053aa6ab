"""Which language a text is written in, of those whose stems differ from English ones."""

from __future__ import annotations

_HINTS = {
    "german": "der die das und ist nicht ein eine einen einem einer mit auf dem den im zu von wo "
    "wer ich mein meine meinen habe liegt steht wann welche welcher sich für über",
    "spanish": "el los las una unos es en con por para que qué dónde donde cuándo mi mis está "
    "están del al lo su sus sobre hay he",
    "french": "le les une et est dans avec pour que qui où quand mon mes sur du au aux des ce "
    "cette je il elle ai",
    "italian": "il gli una è nel nella con per che dove quando mio mia sul sulla della delle "
    "dei ho sono",
    "portuguese": "os uma é na com por para que onde quando meu minha sobre do da dos "
    "das em está não",
}
# Words that English shares with one of the above say nothing.
_ENGLISH = frozenset(
    word
    for line in (
        "the a an and is are was in on at of to with for i my me he she it his her you your where",
        "when what who which did do does not no as from into by up down out that this there have",
        "has had am be been we they their our die per",
    )
    for word in line.split()
)
_LANGUAGE = {
    word: tuple(name for name, words in _HINTS.items() if word in words.split())
    for words in _HINTS.values()
    for word in words.split()
    if word not in _ENGLISH
}
_LETTERS = {"ß": "german", "ä": "german", "ö": "german", "ü": "german", "ñ": "spanish",
            "¿": "spanish", "¡": "spanish", "ã": "portuguese", "õ": "portuguese"}  # fmt: skip


def language_of(text: str, words: list[str]) -> str | None:
    """German, Spanish, French, Italian or Portuguese, where function words or letters show it."""
    votes: dict[str, int] = {}
    english = 0
    for word in words:
        if word in _ENGLISH:
            english += 1
        for name in _LANGUAGE.get(word, ()):
            votes[name] = votes.get(name, 0) + 1
    # A letter is stronger evidence than a word: "ß" occurs in German alone.
    if not text.isascii():
        for letter, name in _LETTERS.items():
            if letter in text:
                votes[name] = votes.get(name, 0) + 2
    if not votes:
        return None
    # Sorted first, so that a tie is decided the same way in every process.
    best = max(sorted(votes), key=lambda name: votes[name])
    return best if votes[best] > english else None
