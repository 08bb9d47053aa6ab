"""Words: tokens, stems and languages, shared by memory, recall and answering."""

from egomem.text.languages import language_of
from egomem.text.plural import plural
from egomem.text.stemming import respelled, stems, terms
from egomem.text.tokenise import normalise, normalise_phrase, tokens

__all__ = [
    "language_of",
    "normalise",
    "normalise_phrase",
    "plural",
    "respelled",
    "stems",
    "terms",
    "tokens",
]
