"""Tables of the command line in a narrow place."""

from __future__ import annotations

from io import StringIO

from rich.console import Console

from egomem.cli.output import plain_table


def test_what_does_not_fit_is_wrapped_and_not_cut() -> None:
    """Two names of 50 characters that differ in the last one, 40 columns wide."""
    table = plain_table("model", "n", box=None, show_header=False)
    for end in "ab":
        table.add_row("x" * 49 + end, "7")
    out = StringIO()
    Console(file=out, width=40, soft_wrap=True).print(table)
    assert "".join(out.getvalue().replace("7", "").split()) == "x" * 49 + "a" + "x" * 49 + "b"
