"""`egomem demo`"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from egomem.cli.options import JsonOption
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
    from egomem.demo.run import run_demo

    with ProgressDisplay(quiet=json) as progress:
        demo = run_demo(folder, progress.say, progress.step)
    asked = list(zip(demo.questions, demo.answers, demo.right, strict=True))

    def show(out: Console) -> None:
        out.print("One day of one wearer:")
        for clip in demo.clips:
            out.print(f"  {clip.start[11:16]}  {clip.path.name:12}  {clip.about}")
        for question, answer, right in asked:
            out.print(f"\n{question.text}   ({question.kind})", style="bold")
            for label, option in zip("ABC", question.options, strict=False):
                out.print(f"  {label} {option}")
            print_answer(out, answer, demo.names)
            if right:
                out.print("  as it is in truth")
            else:
                out.print("  not as it is in truth", style="red")
        out.print(
            f"\n{sum(demo.right)} of {len(asked)} answers agree with what was seen and heard."
        )
        out.print(f"Ask more:  egomem ask --memory {folder / 'memory'} 'What did the sign say?'")

    result = [
        {
            "kind": question.kind,
            "question": question.text,
            "right": right,
            **answer_json(answer, demo.names),
        }
        for question, answer, right in asked
    ]
    problems = [
        *demo.faults,
        *(
            (f"the answer to {question.text!r} is not as it is in truth", "")
            for question, _, right in asked
            if not right
        ),
    ]
    print_result("demo", {"answers": result}, show=show, json=json, problems=problems)
