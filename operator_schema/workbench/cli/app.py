"""The program `operator-schema`: its commands, its help and its exit status."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

import click

from ... import __version__
from ...errors import SchemaError
from ...message_text import escape
from ...similar_names import nearest
from .arguments import NearChoice
from .module_loading import WrongUse, imports_from_here
from .output import Printer

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

PROGRAM = "operator-schema"
COMPLETE = "_OPERATOR_SCHEMA_COMPLETE"
"""A shell sets this variable to request completions."""

_MODULES: Final = {
    "schema": "schema_command",
    "decode": "decode_command",
    "check": "check_command",
    "tools": "tool_commands",
    "call": "call_command",
    "describe": "tool_commands",
    "stubs": "tool_commands",
    "serve": "serve",
    "inspect": "inspect_command",
    "snapshot": "compare_commands",
    "diff": "compare_commands",
    "replay": "replay_command",
    "probe": "probe_command",
    "store": "store_command",
}
"""The module of each command, which is loaded only for that command, or for the help of all."""

_INTERRUPTED = 130
_PIPE_CLOSED = 141
_SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}

_EPILOG = """\b
examples:
  operator-schema schema tools:WebSearch
  operator-schema decode tools:WebSearch arguments.json
  operator-schema decode --lines --quiet tools:WebSearch calls.jsonl
  operator-schema check tools more/tools.py
  operator-schema check --provider openai_chat tools
  operator-schema call tools:web_search query=rye
  operator-schema serve tools
  operator-schema diff tools.json tools
  operator-schema probe "python server.py"
  operator-schema stubs tools
  operator-schema store desk.db waiting

\b
exit status:
  0  success
  1  a value or a call failed, or a type has complaints
  2  wrong usage: no such module, type or file, or a module that can't be imported
"""


class _Commands(click.Group):
    """A group that loads a command when it is used, and suggests the nearest name for an unknown one."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted([*_MODULES, *super().list_commands(ctx)])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _MODULES:
            return super().get_command(ctx, cmd_name)
        module = import_module(f".{_MODULES[cmd_name]}", __package__)
        commands = [found for found in vars(module).values() if isinstance(found, click.Command)]
        return next(found for found in commands if found.name == cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        names = [*_MODULES, *self.commands]
        if args[0] not in names and not args[0].startswith("-"):
            near = nearest(args[0], names)
            hint = f"; did you mean {near}?" if near else f"; the commands are {', '.join(names)}"
            ctx.fail(f"no command {escape(args[0])!r}{hint}")
        return super().resolve_command(ctx, args)


@click.group(PROGRAM, cls=_Commands, epilog=_EPILOG, context_settings=_SETTINGS)
@click.version_option(__version__, "-V", "--version", prog_name=PROGRAM, message="%(prog)s %(version)s")
def app() -> None:
    """Show, check and call your types and tools as a model sees them."""


@click.command(name="help")
@click.argument("command", required=False)
@click.pass_context
def show_help(ctx: click.Context, command: str | None) -> int:
    """Show the help of the program, or of a command."""
    parent = ctx.find_root()
    if command is None:
        click.echo(parent.get_help())
        return 0
    name, found, _ = app.resolve_command(parent, [command])
    assert found is not None  # noqa: S101  # a miss ends the program
    click.echo(found.get_help(click.Context(found, info_name=name, parent=parent)))
    return 0


@click.command(
    epilog="""\b
examples:
  operator-schema completion bash > ~/.local/share/bash-completion/completions/operator-schema
  operator-schema completion zsh > ~/.zfunc/_operator-schema
  operator-schema completion fish > ~/.config/fish/completions/operator-schema.fish
"""
)
@click.argument("shell", type=NearChoice(["bash", "zsh", "fish"]))
@click.pass_obj
def completion(outputs: tuple[Printer, Printer], /, shell: Any) -> int:
    """Print the script by which a shell completes commands, options, targets, tools and arguments.

    Save it in a file that your shell loads, or put this into its startup file: eval "$(operator-schema
    completion bash)". For zsh, the folder of the file must be in fpath before compinit runs. While you type,
    a module is imported only if you have written its name before a colon, or as a target.
    """
    from .completion import script_of

    outputs[0].text(script_of(shell))
    return 0


app.add_command(completion)
app.add_command(show_help)


def commands() -> dict[str, click.Command]:
    """Return all commands by their names, each loaded."""
    ctx = click.Context(app, info_name=PROGRAM)
    found = {name: app.get_command(ctx, name) for name in app.list_commands(ctx)}
    return {name: command for name, command in found.items() if command is not None}


def run(argv: Sequence[str] | None) -> int:
    """Run the command line; modules of the current directory are found first.

    Args:
        argv: the words after the program's name; by default, the arguments of the process.

    Returns:
        The exit status.
    """
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:  # the shell closed it: `<&-`
            setattr(sys, name, open(os.devnull, "r" if name == "stdin" else "w", encoding="utf-8"))  # noqa: SIM115,PTH123  # for as long as the process lives
    try:
        with imports_from_here():
            status = _run(argv)
        sys.stdout.flush()
    except BrokenPipeError:
        _drop_output()
        return _PIPE_CLOSED
    except OSError as error:
        _drop_output()
        WrongUse(f"can't read or write: {error.strerror or error}").show()
        return WrongUse.exit_code
    except (KeyboardInterrupt, click.Abort):
        if sys.stdin.isatty() and sys.stderr.isatty():  # so that the shell's next line begins at the left
            sys.stderr.write("\n")
        return _INTERRUPTED
    return status


def _run(argv: Iterable[str] | None) -> int:
    out, err = Printer(sys.stdout), Printer(sys.stderr)
    try:
        given = sys.argv[1:] if argv is None else list(argv)
        shell = os.environ.pop(COMPLETE, "")
        if shell:
            from .completion import complete

            out.text(complete(app, PROGRAM, shell))
            return 0
        # Not `app.main`, which ends the process itself when the reader of the output goes away.
        with app.make_context(PROGRAM, given, obj=(out, err)) as context:
            status: int = app.invoke(context)
            return status
    except click.exceptions.Exit as end:
        return end.exit_code
    except SchemaError as error:
        err.report("", str(error))
        for note in getattr(error, "__notes__", ()):
            err.line(f"({note})", "dim")
        return 1
    except click.ClickException as error:
        error.show()
        return error.exit_code


def _drop_output() -> None:
    # When the interpreter ends, it would try to write what is still buffered, and fail again.
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
