"""What a terminal would obey never reaches it from a caption, a name or a file."""

from __future__ import annotations

import io
import json
import re
import sys
from pathlib import Path

import pytest

from egomem.cli import main
from egomem.cli.terminal import escaped, escaped_json, escaped_output, make_console
from egomem.memory import Store
from egomem.recall import MAX_QUESTION_CHARS
from egomem.records import Observation, Recording
from egomem.timeline import Span

HOSTILE = (
    "lamp \x1b[31mRED\x1b[0m \x1b]0;TITLE\x07 \x1b]8;;http://evil\x1b\\here\x1b]8;;\x1b\\ "
    "\x9b2J \u202egnp.exe\u202c \u2066x\u2069 \rFAKE \x00 \x7f [bold]lamp[/bold]"
)
OBEYED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    folder = tmp_path / "memory"
    with Store.open(folder, create=True) as store:
        for k, text in enumerate((HOSTILE, f"a lamp and {HOSTILE}")):
            id = f"v\x1b[2J{k}"
            store.put_recording(Recording(id=id, name=f"{id}\u202e.mp4", duration=60))
            o = Observation(
                recording=id,
                span=Span(k, k + 5),
                text=text,
                source="caption",
                track="caption/\x1b[5mtest",
            )
            store.add([o])
    return folder


COMMANDS = {
    "search": ["search", "lamp"],
    "ask": ["ask", "Where is the lamp?"],
    "explain": ["ask", "What says \x1b[31mlamp?", "--explain"],
    "show": ["show"],
    "forget": ["forget", "--match", "lamp", "--dry-run"],
    "compare": ["compare", "Is there a lamp?"],
    "check": ["check"],
    "export": ["export", "OUT\x1b[2J"],
    "fault": ["forget", "--recording", "no\x1b[31msuch"],
}


@pytest.mark.parametrize("arguments", COMMANDS.values(), ids=COMMANDS)
@pytest.mark.parametrize("as_json", [False, True], ids=["text", "json"])
def test_no_command_prints_what_a_terminal_would_obey(
    memory: Path, arguments: list[str], as_json: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [a.replace("OUT", str(memory.parent / "out")) for a in arguments]
    if arguments[0] == "export":
        arguments += ["--format", "srt"]
    main([*arguments, "--memory", str(memory), *(["--json"] if as_json else [])])
    printed = capsys.readouterr()
    assert printed.out + printed.err
    assert not OBEYED.search(printed.out + printed.err)
    if as_json:
        result = json.loads(printed.out)
        if arguments[0] == "search":
            texts = [o["text"] for hit in result["result"]["hits"] for o in hit["observations"]]
            assert HOSTILE in texts


def test_what_is_printed_as_it_is() -> None:
    for text in ("schön, 東京, שלום\u200f, 😀", "two\nlines\tand tabs", "[bold]x[/bold] \\x1b"):
        assert escaped(text) == text
    assert escaped("\x1b[0m\u202e\x9b\r") == "\\x1b[0m\\u202e\\x9b\\x0d"
    assert json.loads(escaped_json(json.dumps("\u202e\x9b", ensure_ascii=False))) == "\u202e\x9b"


def test_a_console_styles_and_escapes_what_it_is_given() -> None:
    from rich.table import Table

    file = io.StringIO()
    console = make_console(file, force_terminal=True, highlight=False)  # type: ignore[arg-type]
    console.print("\x1b[31mred", style="bold")
    table = Table("name")
    table.add_row("\x1b]0;title\x07")
    console.print(table)
    printed = file.getvalue()
    assert "\x1b[1m" in printed  # its own style
    assert "\\x1b[31mred" in printed
    assert "\\x1b]0;title\\x07" in printed
    assert "\x1b]0" not in printed


def test_streams_come_back_and_are_wrapped_once(capsys: pytest.CaptureFixture[str]) -> None:
    before = sys.stdout
    with escaped_output(), escaped_output():
        print("\x07", file=sys.stderr)
        sys.stdout.writelines(["\x1b", "\\"])
    assert sys.stdout is before
    assert capsys.readouterr() == ("\\x1b\\", "\\x07\n")


@pytest.mark.parametrize("command", ["ask", "search"])
def test_a_question_of_a_megabyte_is_refused(
    memory: Path, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command, "lamp " * 200_000, "--memory", str(memory)]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert f"the limit is {MAX_QUESTION_CHARS:,}" in error
    long = "lamp " * (MAX_QUESTION_CHARS // 5)
    assert main([command, long, "--memory", str(memory)]) == 0
    main(["ask", "Which?", "--option", "a" * MAX_QUESTION_CHARS, "--memory", str(memory)])
    assert "characters" in capsys.readouterr().err
