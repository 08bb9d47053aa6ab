"""Documents outside of the recording, to name what is visible. Off unless a retriever is given.

A document never proves that something happened: it can only name what a finding, its anchor, shows.
Source of the rule: OACap ("needs a visible anchor, never substitutes for evidence").
"""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from egomem.errors import UsageError
from egomem.observe.active.actions import Retrieve
from egomem.observe.active.claims import content
from egomem.observe.active.inspection_result import InspectionResult
from egomem.observe.active.state import CaptionState
from egomem.records import Record

MAX_BYTES = 200_000
"""Bytes of a document that are read."""


class Document(Record):
    """A document: `name` is its subject, `text` its content."""

    name: str
    text: str


class Retriever(Protocol):
    def find(self, query: str) -> list[Document]:
        """The documents that hold every word of the query, the best first."""
        ...


class DocumentFolder:
    """A local folder of text files (.txt, .md). A file's name is its subject.

    Raises UsageError where there is no such folder.
    """

    def __init__(self, folder: Path) -> None:
        if not folder.is_dir():
            raise UsageError(f"there is no folder of documents at {folder}", "check the path")
        self.folder = folder

    def find(self, query: str) -> list[Document]:
        query_words = content(query).all
        matches = []
        for path in sorted(self.folder.rglob("*")):
            if path.suffix.lower() not in (".txt", ".md") or not path.is_file():
                continue
            with path.open("rb") as file:
                text = file.read(MAX_BYTES).decode("utf-8", "replace")
            words = content(text).all | content(path.stem).all
            if query_words and query_words <= words:
                matches.append((len(words), path, text))
        return [Document(name=_name(p), text=t) for _, p, t in sorted(matches, key=lambda f: f[0])]


def _name(path: Path) -> str:
    return path.stem.replace("_", " ").replace("-", " ")


def retrieve(retriever: Retriever | None, look: Retrieve, state: CaptionState) -> InspectionResult:
    """Look a query up in the documents; conclusive if exactly one document fits.

    Refused without a retriever, or without a visible anchor that the query is about.
    """
    if retriever is None:
        return InspectionResult(refused="retrieval is off")
    anchor = state.finding(look.anchor)
    if anchor is None or not anchor.conclusive or anchor.tool in ("retrieve", "listen"):
        return InspectionResult(refused="retrieval needs a visible anchor")
    if not content(look.query).all & _shown_words(anchor.text):
        return InspectionResult(refused="the query is not about its anchor")
    documents = retriever.find(look.query)
    if not documents:
        return InspectionResult(
            text="No document holds all words of the query.", rests_on=(anchor.id,)
        )
    text = "; ".join(f"Document “{d.name}”" for d in documents[:3])
    return InspectionResult(
        text=text,
        data={
            "name": documents[0].name if len(documents) == 1 else None,
            "documents": len(documents),
        },
        confidence=1.0 if len(documents) == 1 else 0.3,
        conclusive=len(documents) == 1,
        rests_on=(anchor.id,),
    )


def _shown_words(text: str) -> frozenset[str]:
    anchor_content = content(text)
    quoted = frozenset(w for q in anchor_content.quotes for w in content(q).all)
    return anchor_content.all | quoted
