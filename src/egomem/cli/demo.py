"""`egomem demo`"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from egomem.cli.options import JsonOption, open_memory
from egomem.cli.output import answer_json, print_answer, print_result
from egomem.cli.progress import ProgressDisplay

if TYPE_CHECKING:
    from rich.console import Console


def demo(
    folder: Annotated[
        Path, typer.Option("--folder", help="Where the recordings and the memory go.")
    ] = Path("demo-memory"),
    json: JsonOption = False,
) -> None:
    """Ingest real recordings as one day of one wearer, ask six questions, show the evidence.

    No key, no GPU and no video-language model: what is remembered comes from speech recognition,
    reading of on-screen text and object detection. The last question cannot be answered.
    """
    from egomem.demo import QUESTIONS, demo_day, is_right

    with ProgressDisplay(quiet=json) as progress:
        day = demo_day(folder / "recordings", progress.say)
        with open_memory(folder / "memory", create=True) as memory:
            failed = []
            for clip in day:
                outcome = memory.ingest(
                    clip.path,
                    window=5,
                    fps=2.5,
                    start=clip.start,
                    on_note=progress.say,
                    on_step=progress.step,
                ).outcomes[0]
                failed += [(fault, outcome.remedy) for fault in outcome.faults]
            names = {r.id: r.name for r in memory.store.recordings()}
            answers = [memory.ask(q.text, options=q.options) for q in QUESTIONS]
    right = [is_right(q, a, names) for q, a in zip(QUESTIONS, answers, strict=True)]

    def show(out: Console) -> None:
        out.print("One day of one wearer:")
        for clip in day:
            out.print(f"  {clip.start[11:16]}  {clip.path.name:12}  {clip.about}")
        for asked, answer, good in zip(QUESTIONS, answers, right, strict=True):
            out.print(f"\n{asked.text}   ({asked.kind})", style="bold")
            for label, option in zip("ABC", asked.options, strict=False):
                out.print(f"  {label} {option}")
            print_answer(out, answer, names)
            if good:
                out.print("  as it is in truth")
            else:
                out.print("  not as it is in truth", style="red")
        out.print(f"\n{sum(right)} of {len(right)} answers agree with what was seen and heard.")
        out.print(f"Ask more:  egomem ask --memory {folder / 'memory'} 'What did the sign say?'")

    result = [
        {"kind": q.kind, "question": q.text, "right": good, **answer_json(a, names)}
        for q, a, good in zip(QUESTIONS, answers, right, strict=True)
    ]
    failed += [
        (f"the answer to {q.text!r} is not as it is in truth", "")
        for q, good in zip(QUESTIONS, right, strict=True)
        if not good
    ]
    print_result("demo", {"answers": result}, show=show, json=json, problems=failed)
