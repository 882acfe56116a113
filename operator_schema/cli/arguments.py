"""What may be written on the command line, and the help that says so."""

from __future__ import annotations

import os
from argparse import ArgumentParser, ArgumentTypeError, RawDescriptionHelpFormatter
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

from .. import __version__
from ..codec.options import UnknownFields
from ..wording import escape

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Sequence

    AddParser = Callable[..., ArgumentParser]

__all__ = ["PROGRAM", "Target", "make_parser", "read_arguments"]

PROGRAM = "operator-schema"

_EPILOG = """\
examples:
  operator-schema schema tools:WebSearch
  operator-schema decode tools:WebSearch arguments.json
  operator-schema decode --lines --quiet tools:WebSearch calls.jsonl
  operator-schema check tools more.tools
  operator-schema call tools:web_search '{"query":"x"}'

exit status:
  0  all is well
  1  a value or a call failed, or a type has complaints
  2  wrong use: no such module, type or file, or a module that can't be imported
"""

_SCHEMA_EPILOG = """\
examples:
  operator-schema schema tools:WebSearch
  operator-schema schema --compact tools:Calls > calls.schema.json
"""

_DECODE_EPILOG = """\
Each value that decodes is printed on one line, encoded again: what the tool would get. Problems go
to standard error, under the name of the file and the number of the line.

examples:
  operator-schema decode tools:WebSearch arguments.json
  echo '{"query": "x"}' | operator-schema decode tools:WebSearch
  operator-schema decode --lines tools:WebSearch calls.jsonl > decoded.jsonl
  operator-schema decode --lines --quiet --unknown-fields reject tools:WebSearch calls.jsonl
"""

_CHECK_EPILOG = """\
Dataclasses that a module merely imports are left to the module that defines them.

examples:
  operator-schema check tools
  operator-schema check tools more.tools
"""

_TOOLS_EPILOG = """\
Tools that a module merely imports are left to the module that defines them. The bytes are those of
the definition: what a model is sent with every request.

examples:
  operator-schema tools tools
  operator-schema tools --json tools > definitions.json
"""

_CALL_EPILOG = """\
The result goes to standard output, the reason why there is none to standard error. What the tool
itself prints goes there too.

examples:
  operator-schema call tools:web_search '{"query":"x"}'
  operator-schema call --timeout 5 tools:web_search - < arguments.json
"""

_DESCRIBE_EPILOG = """\
This is what a model gets from the tool that describe_tools makes.

examples:
  operator-schema describe tools:web_search
"""

_SAMPLES = {"TYPE": "tools:WebSearch", "TOOL": "tools:web_search"}

_TOOL_HELP = "what @tool or @tool_input made, by its name in the module, or by the name of the tool"

_TYPE_HELP = "a dataclass or any other annotation: tools:WebSearch, tools:Outer.Inner, tools:Calls"


class Target(NamedTuple):
    """What `MODULE:TYPE` names.

    Attributes:
        module: name of the module.
        path: names that lead from the module to the type, with dots between them.
    """

    module: str
    path: str


_LAST = {"decode": ("file", "-"), "call": ("arguments", "{}")}
"""Command to the argument that may be left out, and what it is then."""


def read_arguments(argv: Sequence[str] | None) -> Namespace:
    """Read the command line.

    Args:
        argv: what follows the program's name; that of the process unless given.

    Raises:
        SystemExit: with status 2 for wrong use, with 0 after `--help` and `--version`.
    """
    parser = make_parser()
    found, left = parser.parse_known_args(argv)
    name, default = _LAST.get(found.command, ("", ""))
    if name and getattr(found, name) is None:
        # Behind an option, argparse does not know it any more (Python 3.11).
        is_there = bool(left) and (left[0] == "-" or not left[0].startswith("-"))
        setattr(found, name, left.pop(0) if is_there else default)
    if left:
        parser.error(f"unrecognized arguments: {' '.join(left)}")
    return found


def make_parser() -> ArgumentParser:
    """Return the parser of the whole command line."""
    parser = ArgumentParser(
        PROGRAM,
        description="Write a plain dataclass; get a tool: its JSON Schema, its decoder, its complaints.",
        epilog=_EPILOG,
        formatter_class=RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, title="commands")
    _add_schema(commands.add_parser)
    _add_decode(commands.add_parser)
    _add_check(commands.add_parser)
    _add_tools(commands.add_parser)
    _add_call(commands.add_parser)
    _add_describe(commands.add_parser)
    return parser


def _add_schema(add_parser: AddParser) -> None:
    parser = _add(add_parser, "schema", "print the JSON Schema of a type", _SCHEMA_EPILOG)
    parser.add_argument("target", metavar="MODULE:TYPE", type=_target, help=_TYPE_HELP)
    parser.add_argument("--compact", action="store_true", help="print it on one line, without spaces")
    _add_unknown_fields(parser)


def _add_decode(add_parser: AddParser) -> None:
    parser = _add(add_parser, "decode", "decode JSON values as a type", _DECODE_EPILOG)
    parser.add_argument("target", metavar="MODULE:TYPE", type=_target, help=_TYPE_HELP)
    parser.add_argument(
        "file",
        metavar="FILE",
        nargs="?",
        help="one JSON value, in UTF-8; - is standard input, and the default",
    )
    parser.add_argument(
        "--lines", action="store_true", help="FILE is JSON Lines: one value a line; empty lines are skipped"
    )
    parser.add_argument("--quiet", action="store_true", help="print problems only, not what was decoded")
    _add_unknown_fields(parser)


def _add_check(add_parser: AddParser) -> None:
    parser = _add(add_parser, "check", "register every dataclass of a module", _CHECK_EPILOG)
    parser.add_argument(
        "modules", metavar="MODULE", nargs="+", type=_module, help="name of a module: tools, more.tools"
    )


def _add_tools(add_parser: AddParser) -> None:
    parser = _add(add_parser, "tools", "list the tools of a module", _TOOLS_EPILOG)
    parser.add_argument("module", metavar="MODULE", type=_module, help="name of a module: tools, more.tools")
    parser.add_argument(
        "--json", action="store_true", help="print name, description and input schema of each"
    )


def _add_call(add_parser: AddParser) -> None:
    parser = _add(add_parser, "call", "call a tool as a model does", _CALL_EPILOG)
    parser.add_argument("target", metavar="MODULE:TOOL", type=_tool_target, help=_TOOL_HELP)
    parser.add_argument(
        "arguments",
        metavar="ARGUMENTS",
        nargs="?",
        help="a JSON object; - is standard input; none unless given",
    )
    parser.add_argument(
        "--timeout",
        metavar="SECONDS",
        type=_seconds,
        default=30.0,
        help="that the call may take, where the tool does not say so (default: 30)",
    )


def _add_describe(add_parser: AddParser) -> None:
    parser = _add(add_parser, "describe", "print the whole documentation of a tool", _DESCRIBE_EPILOG)
    parser.add_argument("target", metavar="MODULE:TOOL", type=_tool_target, help=_TOOL_HELP)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not seconds > 0:
        message = f"{escape(text)!r} is no positive number of seconds"
        raise ArgumentTypeError(message)
    return seconds


def _add(add_parser: AddParser, name: str, summary: str, epilog: str) -> ArgumentParser:
    parser = add_parser(
        name,
        help=summary,
        description=f"{summary.capitalize().replace('json', 'JSON')}.",
        epilog=epilog,
        formatter_class=RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "--traceback",
        action="store_true",
        help="when a module can't be imported, or a tool fails, show the whole traceback",
    )
    return parser


def _add_unknown_fields(parser: ArgumentParser) -> None:
    choices: tuple[Any, ...] = get_args(UnknownFields)
    parser.add_argument(
        "--unknown-fields",
        choices=choices,
        default="ignore",
        help="what to do with a key that names no field (default: ignore)",
    )


def _target(text: str) -> Target:
    return _read_target(text, "TYPE")


def _tool_target(text: str) -> Target:
    return _read_target(text, "TOOL")


def _read_target(text: str, what: str) -> Target:
    module, colon, path = text.partition(":")
    if not colon:
        parent, dot, last = module.rpartition(".")
        meant = dot and parent and last.isidentifier() and not _is_path(module)
        hint = f"; did you mean {escape(parent)}:{last}?" if meant else f", such as {_SAMPLES[what]}"
        message = f"{escape(text)!r} is no MODULE:{what}{hint}"
        raise ArgumentTypeError(message)
    # The name of a tool may have a - in it.
    name = path.replace("-", "_") if what == "TOOL" else path
    if not all(step.isidentifier() for step in name.split(".")):
        message = f"{escape(text)!r} is no MODULE:{what}: a {what} is a name, or names with dots between them"
        raise ArgumentTypeError(message)
    return Target(_module(module), path)


def _module(text: str) -> str:
    if _is_path(text):
        path = os.path.relpath(text.removesuffix(".py"))
        name = os.path.basename(path) if path.startswith(os.pardir) else path.replace(os.sep, ".")  # noqa: PTH119
        message = f"{escape(text)!r} is a path; a MODULE is given by name: {escape(name)}"
        raise ArgumentTypeError(message)
    if not all(text.split(".")):
        message = f"{escape(text)!r} is no name of a module"
        raise ArgumentTypeError(message)
    return text


def _is_path(text: str) -> bool:
    return text.endswith(".py") or os.sep in text or "/" in text
