"""The outline of digests, for `egomem show --digests`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from egomem.cli.output import print_result

if TYPE_CHECKING:
    from rich.console import Console

    from egomem.api import Memory
    from egomem.ingest.digests.outline import DigestOutline, OutlineFact

_KINDS = {
    "name": "names",
    "price": "prices",
    "time": "times",
    "number": "numbers",
    "quote": "quoted",
}
_MAX_SHORT = 12
"""Facts of a kind in a line of the outline; `--facts` prints all."""


def show_digests(
    memory: Memory, *, day: str | None, at: str | None, facts: bool, json: bool
) -> None:
    """Print the digests of a memory, days first and their hours in them."""
    tree = memory.digests(day=day, at=at)

    def show(out: Console) -> None:
        if not tree:
            of_day = f" of {day}" if day else ""
            out.print(f"no digests{of_day}; write them with: egomem digest")
        for _, digests in groupby(tree, lambda d: (d.wearer, d.track)):
            for digest in digests:
                _print(out, digest, 0, facts)

    result = {"digests": [digest.model_dump(mode="json") for digest in tree]}
    print_result("show", result, show=show, json=json)


def _print(out: Console, digest: DigestOutline, depth: int, facts: bool) -> None:
    indent = "  " * depth
    mark = "  (out of date; run: egomem digest)" if digest.stale else ""
    wearer = f" of {digest.wearer}" if depth == 0 and digest.wearer != "me" else ""
    if depth == 0:
        out.print()
    out.print(f"{indent}{digest.title}{wearer}{mark}", style="bold", markup=False)
    for line in digest.lines:
        doubt = f"  [no observation bears this out: {line.problem}]" if line.problem else ""
        style = "dim" if line.problem else None
        text = f"{indent}  {line.when:11}  {line.text}{doubt}"
        out.print(text, markup=False, style=style)
    # A day's facts are those of its hours, where they stand with the moments that hold them.
    if facts:
        for fact in () if digest.parts else digest.facts:
            again = f", {fact.count} times" if fact.count > 1 else ""
            where = f"{fact.when}{again}, {fact.source}"
            out.print(f"{indent}    {fact.kind}: {fact.text}  ({where})", style="dim", markup=False)
    else:
        for row in _short(digest.facts if not digest.parts else ()):
            out.print(f"{indent}    {row}", style="dim", markup=False)
    for part in digest.parts:
        _print(out, part, depth + 1, facts)


def _short(facts: Sequence[OutlineFact]) -> Iterator[str]:
    """A line for each kind of fact: `names: Ana, Ben and 3 more`."""
    for kind, heading in _KINDS.items():
        texts = list(dict.fromkeys(fact.text for fact in facts if fact.kind == kind))
        if not texts:
            continue
        more = f" and {len(texts) - _MAX_SHORT} more" if len(texts) > _MAX_SHORT else ""
        quote = "“{}”" if kind == "quote" else "{}"
        yield f"{heading}: {', '.join(quote.format(t) for t in texts[:_MAX_SHORT])}{more}"
