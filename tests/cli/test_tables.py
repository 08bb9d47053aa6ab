"""Tables of the command line in a narrow place."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from egomem.cli import main
from egomem.cli.output import make_table
from egomem.memory import Store
from egomem.records import Observation, Recording
from egomem.timeline import Span


def test_what_does_not_fit_is_wrapped_and_not_cut() -> None:
    """Two names of 50 characters that differ in the last one, 40 columns wide."""
    table = make_table("model", "n", box=None, show_header=False)
    for end in "ab":
        table.add_row("x" * 49 + end, "7")
    out = StringIO()
    Console(file=out, width=40, soft_wrap=True).print(table)
    assert "".join(out.getvalue().replace("7", "").split()) == "x" * 49 + "a" + "x" * 49 + "b"


def test_a_piped_table_has_a_line_a_row(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = [f"{'a very long name of a walk by the river ' * 4}{i}.mp4" for i in range(3)]
    with Store.open(tmp_path, create=True) as store:
        for name in names:
            store.put_recording(Recording(id=name[-5:], name=name, duration=60))
    assert main(["show", "--memory", str(tmp_path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    for line, name in zip(lines[1:], names, strict=False):
        assert line.startswith(name)
        assert line.split()[-1] == "1:00"


def test_names_in_brackets_are_printed_as_they_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = "[bold]walk [/red] :smile:.mp4"
    with Store.open(tmp_path, create=True) as store:
        store.put_recording(Recording(id="r", name=name, duration=60))
        track = "caption/[i]hand"
        store.add(
            [
                Observation(
                    recording="r",
                    span=Span(0, 30),
                    text="a [red]mug[/red] on the table",
                    source="caption",
                    track=track,
                )
            ]
        )
    memory = ["--memory", str(tmp_path)]
    assert main(["show", *memory]) == 0
    assert name in capsys.readouterr().out
    for command in (["search", "mug"], ["ask", "Where is the mug?"]):
        assert main([*command, *memory]) == 0
        printed = capsys.readouterr().out
        assert name in printed
        assert "a [red]mug[/red] on the table" in printed
