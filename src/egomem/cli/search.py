"""`egomem search`"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from egomem.cli.look import ClipOption, LookOption, OpenOption, ToOption, save_looks
from egomem.cli.options import AtOption, JsonOption, MemoryOption, ModelOption, open_memory
from egomem.cli.output import format_place, print_query, print_result, query_json

if TYPE_CHECKING:
    from rich.console import Console


def search(
    query: Annotated[str, typer.Argument(help="Words, codes or a whole question.")],
    count: Annotated[int, typer.Option("-k", "--count", min=1, help="Number of moments.")] = 5,
    at: AtOption = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Print how the query was read.")
    ] = False,
    look: LookOption = False,
    clip: ClipOption = False,
    to: ToOption = None,
    open: OpenOption = False,
    memory: MemoryOption = None,
    model: ModelOption = None,
    json: JsonOption = False,
) -> None:
    """Find the moments that match QUERY best, with what was observed there."""
    with open_memory(memory, models=model) as opened:
        matches = opened.find(query, k=count, at=at)
        names = opened.names()
        pictures, problems = save_looks(
            opened, matches.hits, at=at, look=look, clip=clip, to=to, open=open
        )

    def show(out: Console) -> None:
        from egomem.timeline import format_span

        if explain:
            print_query(matches.query)
        for note in matches.notes:
            print(note)
        if not matches.hits:
            print("nothing in this memory speaks for that")
        for hit, picture in zip(matches.hits, pictures, strict=True):
            parts = ", ".join(f"{name} {value:.2f}" for name, value in hit.parts.items())
            place = format_place(hit.recording, hit.span, hit.when, names)
            print(f"{hit.score:.2f}  {place}  ({parts})")
            for o in hit.observations[:3]:
                span = f"{format_span(o.span)}  " if o.recording else ""
                print(f"      {span}{o.source}: {o.text}")
            if picture is not None:
                print(f"      {picture}")

    result = {
        "hits": [
            {
                "recording": hit.recording,
                "name": names.get(hit.recording or ""),
                "span": {"start": hit.span.start, "end": hit.span.end},
                "when": hit.when and hit.when.isoformat(),
                "score": hit.score,
                "parts": hit.parts,
                "observations": [
                    {"id": o.id, **o.model_dump(mode="json", include=_SHOWN)}
                    for o in hit.observations
                ],
                "look": picture and str(picture),
            }
            for hit, picture in zip(matches.hits, pictures, strict=True)
        ],
        "notes": list(matches.notes),
    }
    if explain:
        result["query"] = query_json(matches.query)
    print_result("search", result, show=show, json=json, problems=problems)


_SHOWN = {"span", "text", "source", "track", "data"}
