"""The commands: what may be written after `operator-schema`, and what each does."""

from __future__ import annotations

import json
import os
import sys
from contextlib import redirect_stdout, suppress
from typing import TYPE_CHECKING, Any, get_args

import click

from .. import __version__
from ..codec.options import UnknownFields
from ..errors import EncodeError, SchemaError, ToolError
from ..wording import escape, nearest
from .lookup import (
    Target,
    WrongUse,
    find_context,
    find_tool,
    find_tools,
    modules_of,
    register,
)
from .output import Output, count, to_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ..tools.registry import Registry
    from ..tools.tool import Tool

__all__ = ["app", "run"]

PROGRAM = "operator-schema"
_INTERRUPTED = 130
_PIPE_CLOSED = 141
_SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 100}

_EPILOG = """\b
examples:
  operator-schema schema tools:WebSearch
  operator-schema decode tools:WebSearch arguments.json
  operator-schema decode --lines --quiet tools:WebSearch calls.jsonl
  operator-schema check tools more.tools
  operator-schema call tools:web_search query=rye

\b
exit status:
  0  all is well
  1  a value or a call failed, or a type has complaints
  2  wrong use: no such module, type or file, or a module that can't be imported
"""


class _Named(click.ParamType[Target]):
    """`MODULE:NAME`, where NAME may have dots.

    Args:
        kind: the metavar of the name.
        sample: an example of the whole.
        optional: whether the module alone is enough.
    """

    def __init__(self, kind: str, sample: str, *, optional: bool = False) -> None:
        self.name = f"MODULE[:{kind}]" if optional else f"MODULE:{kind}"
        self._kind = kind
        self._sample = sample
        self._optional = optional

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Target:
        text = str(value)
        module, colon, path = text.partition(":")
        if not colon and not self._optional:
            self.fail(f"{escape(text)!r} isn't {self.name}{self._hint(module)}", param, ctx)
        self._check_module(module, param, ctx)
        # The name of a tool may have a - in it.
        steps = (path.replace("-", "_") if self._kind == "TOOL" else path).split(".")
        if colon and not all(step.isidentifier() for step in steps):
            reason = f"{self._kind} must be a name, or names with dots between them"
            self.fail(f"{escape(text)!r} isn't {self.name}: {reason}", param, ctx)
        return Target(module, path)

    def _hint(self, module: str) -> str:
        parent, _, last = module.rpartition(".")
        if parent and last.isidentifier() and not _is_path(module):
            return f"; did you mean {escape(parent)}:{last}?"
        return f", such as {self._sample}"

    def _check_module(self, module: str, param: click.Parameter | None, ctx: click.Context | None) -> None:
        if _is_path(module):
            path = os.path.relpath(module.removesuffix(".py"))
            name = os.path.basename(path) if path.startswith(os.pardir) else path.replace(os.sep, ".")  # noqa: PTH119  # only text
            self.fail(f"{escape(module)!r} is a path; give MODULE by its name: {escape(name)}", param, ctx)
        if not all(module.split(".")):
            self.fail(f"{escape(module)!r} isn't the name of a module", param, ctx)


def _is_path(text: str) -> bool:
    return text.endswith(".py") or os.sep in text or "/" in text


_TYPE = _Named("TYPE", "tools:WebSearch")
_TOOL = _Named("TOOL", "tools:web_search")
_NAME = _Named("NAME", "app:make_context")
_REGISTRY = _Named("REGISTRY", "app:registry", optional=True)
_MODULE = _Named("NAME", "tools", optional=True)


class _Commands(click.Group):
    """A group that names the nearest command on a miss."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if self.get_command(ctx, args[0]) is None and not args[0].startswith("-"):
            near = nearest(args[0], self.list_commands(ctx))
            hint = f"; did you mean {near}?" if near else f"; the commands are {', '.join(self.commands)}"
            ctx.fail(f"no command {escape(args[0])!r}{hint}")
        return super().resolve_command(ctx, args)


def _show_traceback(command: Callable[..., Any]) -> Callable[..., Any]:
    text = "If a module can't be imported, or a tool fails, show the whole traceback."
    return click.option("--traceback", "show_traceback", is_flag=True, help=text)(command)


def _unknown_fields(command: Callable[..., Any]) -> Callable[..., Any]:
    return click.option(
        "--unknown-fields",
        type=click.Choice(get_args(UnknownFields)),
        default="ignore",
        help="What to do with a key that names no field (default: ignore).",
    )(command)


@click.group(PROGRAM, cls=_Commands, epilog=_EPILOG, context_settings=_SETTINGS)
@click.version_option(__version__, "-V", "--version", prog_name=PROGRAM, message="%(prog)s %(version)s")
def app() -> None:
    """Show, check and call what a model is told about your types and tools."""


@app.command(
    epilog="""\b
examples:
  operator-schema schema tools:WebSearch
  operator-schema schema --compact tools:Calls > calls.schema.json
"""
)
@click.argument("target", type=_TYPE, metavar="MODULE:TYPE")
@click.option("--compact", is_flag=True, help="Print it on one line, without spaces.")
@_unknown_fields
@_show_traceback
@click.pass_obj
def schema(
    outputs: tuple[Output, Output],
    target: Target,
    unknown_fields: UnknownFields,
    *,
    compact: bool,
    show_traceback: bool,
) -> int:
    """Print the JSON Schema of a type, or of the input of a tool.

    TYPE is a dataclass, a tool or any other annotation: tools:WebSearch, tools:Outer.Inner,
    tools:Calls.
    """
    codec = register(target, unknown_fields, show_traceback=show_traceback)
    outputs[0].json(codec.json_schema(), None if compact else 2)
    return 0


@app.command(
    epilog="""\b
examples:
  operator-schema decode tools:WebSearch arguments.json
  echo '{"query": "x"}' | operator-schema decode tools:WebSearch
  operator-schema decode --lines tools:WebSearch calls.jsonl > decoded.jsonl
  operator-schema decode --lines --quiet --unknown-fields reject tools:WebSearch calls.jsonl
"""
)
@click.argument("target", type=_TYPE, metavar="MODULE:TYPE")
@click.argument("file", default="-")
@click.option("--lines", is_flag=True, help="FILE is JSON Lines: one value a line; empty lines are skipped.")
@click.option("--quiet", is_flag=True, help="Print problems only, not what was decoded.")
@click.option("--json", "as_json", is_flag=True, help="Print each problem report as JSON.")
@_unknown_fields
@_show_traceback
@click.pass_obj
def decode(
    outputs: tuple[Output, Output],
    target: Target,
    file: str,
    unknown_fields: UnknownFields,
    *,
    lines: bool,
    quiet: bool,
    as_json: bool,
    show_traceback: bool,
) -> int:
    """Decode JSON values as a type.

    FILE is one JSON value in UTF-8; without it, or if it is -, standard input is read. Each value that
    decodes is printed on one line, encoded again: this is what the tool would get. Problems go to
    standard error, with the file and the number of the line.
    """
    from .decoding import Decoder, decode_file

    codec = register(target, unknown_fields, show_traceback=show_traceback)
    out, err = outputs
    return decode_file(Decoder(codec, None if quiet else out, err, as_json=as_json), file, err, lines=lines)


@app.command(
    epilog="""\b
examples:
  operator-schema check tools
  operator-schema check --strict package
"""
)
@click.argument("modules", type=_MODULE, nargs=-1, required=True, metavar="MODULE...")
@click.option("--strict", is_flag=True, help="Exit with 1 if there are warnings.")
@click.option("--json", "as_json", is_flag=True, help="Print the verdicts as JSON.")
@_show_traceback
@click.pass_obj
def check(
    outputs: tuple[Output, Output],
    modules: tuple[Target, ...],
    *,
    strict: bool,
    as_json: bool,
    show_traceback: bool,
) -> int:
    """Register every dataclass and tool of a module, and of the modules of a package.

    Dataclasses and tools that a module merely imports are checked with the module that defines them.
    Warnings name what tells a model too little: no docstring, no descriptions, Any, an Enum of numbers.
    """
    from .checking import check_module, write_verdict

    given = [name for module in modules for name in modules_of(module.module, show_traceback=show_traceback)]
    names = list(dict.fromkeys(given))
    found = {name: check_module(name, show_traceback=show_traceback) for name in names}
    verdicts = [verdict for each in found.values() for verdict in each]
    bad = sum(bool(verdict.complaints) for verdict in verdicts)
    warned = sum(len(verdict.warnings) for verdict in verdicts)
    status = 1 if bad or (strict and warned) else 0
    out = outputs[0]
    if as_json:
        out.json({name: [verdict.as_dict() for verdict in each] for name, each in found.items()}, 2)
        return status
    for name, each in found.items():
        if not each:
            out.line(f"{escape(name)} defines no dataclasses or tools")
        elif len(found) > 1:
            out.line(f"{escape(name)}:")
        for verdict in each:
            write_verdict(verdict, out)
    if verdicts:
        warnings = f", {count(warned, 'warning')}" if warned else ""
        out.line(f"{len(verdicts):,} checked: {len(verdicts) - bad:,} ok, {bad:,} with complaints{warnings}")
    return status


@app.command(
    epilog="""\b
examples:
  operator-schema tools tools more.tools
  operator-schema tools app:registry
  operator-schema tools --json tools > definitions.json
"""
)
@click.argument("targets", type=_REGISTRY, nargs=-1, required=True, metavar="MODULE[:REGISTRY]...")
@click.option("--json", "as_json", is_flag=True, help="Print name, description and input schema of each.")
@_show_traceback
@click.pass_obj
def tools(
    outputs: tuple[Output, Output], targets: tuple[Target, ...], *, as_json: bool, show_traceback: bool
) -> int:
    """List the tools of modules or registries.

    Tools that a module merely imports belong to the module that defines them. A registry shows what
    your program really offers: with prefixes, and with "off" for what is switched off. The bytes are
    those of the definition, which a model is sent with every request.
    """
    out = outputs[0]
    found: list[tuple[Tool[..., Any], Registry | None]] = []
    for target in targets:
        listed, registry = find_tools(target, show_traceback=show_traceback)
        if not listed and not as_json:
            out.line(f"{escape(':'.join(filter(None, target)))} defines no tools")
        found += [(tool, registry) for tool in listed]
    if as_json:
        out.json([tool.definition() for tool, _ in found], 2)
    elif found:
        rows = [_row(tool, registry) for tool, registry in found]
        out.table(
            ("tool", "kind", "parameters", "bytes", "summary"), rows, frozenset({"parameters", "bytes"})
        )
        size = sum(_size(tool) for tool, _ in found)
        out.line(f"{count(len(found), 'tool')}, {count(size, 'byte')}")
    return 0


_TITLES = ("tool", "kind", "parameters", "bytes", "summary")
_NUMBERS = frozenset({"parameters", "bytes"})


def _row(tool: Tool[..., Any], registry: Registry | None) -> tuple[str, ...]:
    kind = "input" if not tool.has_function else "async" if tool.is_async else "sync"
    if registry is not None and not registry.is_enabled(tool.name):
        kind += ", off"
    summary = escape(tool.summary.partition("\n")[0])
    return escape(tool.name), kind, f"{_count_parameters(tool):,}", f"{_size(tool):,}", summary


def _size(tool: Tool[..., Any]) -> int:
    return len(to_json(tool.definition()).encode())


def _count_parameters(tool: Tool[..., Any]) -> int:
    """Count the keys that arguments may have, in a union those of all its members."""
    schema = tool.input_schema()
    members = [schema, *schema.get("anyOf", ())]
    resolved = [_follow(member, schema) for member in members]
    return len({key for member in resolved for key in member.get("properties", ())})


def _follow(schema: dict[str, Any], document: dict[str, Any]) -> dict[str, Any]:
    name = schema.get("$ref", "").removeprefix("#/$defs/")
    found: dict[str, Any] = document["$defs"][name] if name else schema
    return found


@app.command(
    epilog="""\b
examples:
  operator-schema call tools:web_search '{"query": "x"}'
  operator-schema call tools:web_search query=x max_results=3
  operator-schema call --timeout 5 tools:web_search - < arguments.json
  operator-schema call --context app:make_context app:registry.search query=x
"""
)
@click.argument("target", type=_TOOL, metavar="MODULE:TOOL")
@click.argument("arguments", nargs=-1)
@click.option(
    "--context", type=_NAME, metavar="MODULE:NAME", help="A mapping to inject, or a function that returns it."
)
@click.option(
    "--timeout",
    metavar="SECONDS",
    type=click.FloatRange(min=0, min_open=True),
    default=30.0,
    help="Seconds that the call may take, unless the tool has a limit of its own (default: 30).",
)
@_show_traceback
@click.pass_obj
def call(
    outputs: tuple[Output, Output],
    target: Target,
    arguments: tuple[str, ...],
    context: Target | None,
    timeout: float,
    *,
    show_traceback: bool,
) -> int:
    """Call a tool as a model does.

    TOOL is a name in the module, the name of a tool of the module, or REGISTRY.TOOL. ARGUMENTS are one
    JSON object, - for standard input, or words such as query=x. The result goes to standard output;
    everything else, also what the tool itself prints, goes to standard error.
    """
    from logging import NullHandler, getLogger

    from ..tools.calls import RawCall
    from ..tools.execution.executor import Executor

    tool = find_tool(target, show_traceback=show_traceback)
    given = None if context is None else find_context(context, show_traceback=show_traceback)
    executor = Executor(
        [tool.with_(enabled=True)],
        timeout=timeout,
        show_errors="traceback" if show_traceback else "message",
        strict_results=True,
    )
    # A failure is printed below; without a handler, `logging` would print it as well.
    getLogger("operator_schema").addHandler(NullHandler())
    raw = RawCall("1", tool.name, _arguments(arguments))
    # Standard output is for the result, not for what the tool prints.
    with redirect_stdout(sys.stderr):
        result = executor.execute_sync(raw, context=given)
    out, err = outputs
    if not result.is_error:
        out.text(result.content)
        return 0
    error = (result.details or {}).get("exception")
    # Whoever calls here is model and host at once.
    err.report("", str(error) if isinstance(error, (EncodeError, ToolError)) else result.content)
    return 1


def _arguments(words: Sequence[str]) -> str | bytes | dict[str, Any]:
    if list(words) == ["-"]:
        return sys.stdin.buffer.read()
    if len(words) == 1 and "=" not in words[0].partition("{")[0]:
        return words[0]
    pairs = [word.partition("=") for word in words]
    for key, equals, _ in pairs:
        if not key or not equals:
            message = f"{escape(key)!r} isn't KEY=VALUE; give one JSON object, or words such as query=x"
            raise WrongUse(message)
    return {key: _value(text) for key, _, text in pairs}


def _value(text: str) -> Any:
    with suppress(ValueError):
        return json.loads(text)
    return text


@app.command(
    epilog="""\b
examples:
  operator-schema describe tools:web_search
"""
)
@click.argument("target", type=_TOOL, metavar="MODULE:TOOL")
@_show_traceback
@click.pass_obj
def describe(outputs: tuple[Output, Output], target: Target, *, show_traceback: bool) -> int:
    """Print the whole documentation of a tool.

    This is what a model gets from the tool that describe_tools makes, and one line that names every
    parameter with its type.
    """
    from ..codec.expected import expected_fields
    from ..tools.documentation import documentation_of

    tool = find_tool(target, show_traceback=show_traceback)
    outputs[0].text(documentation_of(tool))
    outputs[0].text(f"\n{expected_fields(tool.name, tool.codec.graph)}")
    return 0


@app.command(name="help")
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


def run(argv: Sequence[str] | None) -> int:
    """Run the command line, with modules of the current directory found first.

    Args:
        argv: the words after the program's name; those of the process unless given.

    Returns:
        The exit status.
    """
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:  # the shell closed it: `<&-`
            setattr(sys, name, open(os.devnull, "r" if name == "stdin" else "w", encoding="utf-8"))  # noqa: SIM115,PTH123  # for as long as the process lives
    # What `python -m` does, for the console script as well.
    sys.path.insert(0, "")
    try:
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
        return _INTERRUPTED
    finally:
        with suppress(ValueError):
            sys.path.remove("")
    return status


def _run(argv: Iterable[str] | None) -> int:
    out, err = Output(sys.stdout), Output(sys.stderr)
    try:
        given = sys.argv[1:] if argv is None else list(argv)
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
    # What is still buffered would be written, and fail once more, when the interpreter ends.
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
