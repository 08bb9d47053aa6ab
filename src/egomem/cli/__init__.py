"""The command line: one file a command, no logic.

A command is a plain function with typer annotations in `cli/<command>.py`, listed in `COMMANDS`
below, and imported only when it runs or when help is printed. It gets its memory with
`options.open_memory`, hands its result to `output.report`, and lets EgomemError fly: `main` turns
it into one line and an exit code.

    from egomem.cli.options import JsonOption, MemoryOption, open_memory
    from egomem.cli.output import report

    def search(query: str, memory: MemoryOption = None, json: JsonOption = False) -> None:
        "Find the moments that match QUERY."
        with open_memory(memory) as opened:
            hits = opened.search(query)
        report("search", {"hits": [...]}, show=lambda out: out.print(...), json=json)

A group of commands (`egomem models test`) is a `typer.Typer()` of that name in its file.
Import nothing heavy at the top of such a file: help must stay quick.
"""

from __future__ import annotations

import sys
from importlib import import_module
from io import TextIOWrapper
from typing import Any

import typer
from typer.core import TyperGroup

from egomem.cli.exit_codes import ExitCode, exit_code_of
from egomem.cli.lazy_help import LazyHelpCommand
from egomem.cli.terminal import escaped_output
from egomem.errors import EgomemError, reason

COMMANDS: dict[str, str] = {
    "ingest": "egomem.cli.ingest:ingest",
    "search": "egomem.cli.search:search",
    "ask": "egomem.cli.ask:ask",
    "look": "egomem.cli.look:look",
    "compare": "egomem.cli.compare:compare",
    "show": "egomem.cli.show:show",
    "digest": "egomem.cli.digest:digest",
    "probe": "egomem.cli.probe:probe",
    "caption": "egomem.cli.caption:caption",
    "import": "egomem.cli.import_:import_",
    "export": "egomem.cli.export:export",
    "forget": "egomem.cli.forget:forget",
    "check": "egomem.cli.check:check",
    "benchmark": "egomem.cli.benchmark:benchmark",
    "score": "egomem.cli.score:score",
    "eval": "egomem.cli.eval:eval",
    "report": "egomem.cli.report:report_",
    "models": "egomem.cli.models:models",
    "cache": "egomem.cli.cache:cache",
    "fake-server": "egomem.cli.fake_server:fake_server",
    "plugins": "egomem.cli.plugins:plugins",
    "doctor": "egomem.cli.doctor:doctor",
    "demo": "egomem.cli.demo:demo",
}
"""Every command, in the order of help: name -> module:function."""


class Commands(TyperGroup):
    """Imports a command's file when it is asked for, so that starting up costs little."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        target = COMMANDS.get(cmd_name)
        if target is None:
            return None
        module, _, name = target.partition(":")
        group = getattr(import_module(module), name)
        if not isinstance(group, typer.Typer):
            function, group = group, typer.Typer(add_completion=False)
            group.command(cmd_name, cls=LazyHelpCommand)(function)
        group.rich_markup_mode = None  # plain help: it is quick, and can be piped
        command = typer.main.get_command(group)
        command.name = cmd_name
        return command


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(requested: bool) -> None:
    if requested:
        from importlib.metadata import version

        typer.echo(f"egomem {version('egomem')}")
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(
        False, "--version", callback=_print_version, is_eager=True, help="Print the version."
    ),
) -> None:
    """Turn hours of first-person video into a memory that answers with evidence and times.

    Exit codes: 0 all done, 1 some items failed, 2 wrong usage, 3 nothing could be done.
    """


_STOPPED = ("stopped", "the same command goes on where it stopped")
_DISK = "check that path, its permissions and the room on the disk"


def main(arguments: list[str] | None = None) -> int:
    """Run one command line; returns its exit code."""
    with escaped_output():
        return _main(arguments)


def _main(arguments: list[str] | None) -> int:
    from egomem.cli.output import print_error

    arguments = sys.argv[1:] if arguments is None else arguments
    as_json = any(a.partition("=")[0] == "--json" for a in _options(arguments))
    try:
        code = app(args=arguments, standalone_mode=False, prog_name="egomem")
    except EgomemError as error:
        print_error(error.message, error.remedy, json=as_json)
        return exit_code_of(error)
    except (KeyboardInterrupt, typer.Abort):
        print_error(*_STOPPED, json=as_json)
        return ExitCode.STOPPED
    except OSError as error:  # such as a full disk where our output goes
        name = error.filename2 or error.filename
        what = f"cannot use {name}" if name is not None else "cannot go on"
        print_error(f"{what}: {reason(error)}", _DISK, json=as_json)
        return ExitCode.NOTHING_DONE
    except Exception as error:
        # Wrong usage. Some releases of typer carry a click of their own, so the kind is recognised
        # by what all of click's errors have and no other exception has.
        if not hasattr(error, "format_message"):
            if as_json:  # a script that reads JSON gets some, and a person the traceback
                fault = f"a fault of egomem: {type(error).__name__}: {error}"
                print_error(fault, "report it with the traceback", json=True)
            raise
        if type(error).__name__ == "NoArgsIsHelpError":  # its message is the whole help
            typer.echo(error.format_message(), err=True)
            return ExitCode.WRONG_USAGE
        context = getattr(error, "ctx", None)
        command = context.command_path if context else "egomem"
        print_error(error.format_message(), f"see: {command} --help", json=as_json)
        return ExitCode.WRONG_USAGE
    if code == ExitCode.STOPPED:  # typer keeps the interrupt to itself
        print_error(*_STOPPED, json=as_json)
    return code if isinstance(code, int) else ExitCode.DONE


def _options(arguments: list[str]) -> list[str]:
    """The arguments before a lone `--`, behind which nothing is an option."""
    return arguments[: arguments.index("--")] if "--" in arguments else arguments


def run() -> None:
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # what a terminal cannot show is escaped
            stream.reconfigure(errors="backslashreplace")
    sys.exit(main())
