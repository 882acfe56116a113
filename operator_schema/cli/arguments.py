"""What may be written on the command line, and the help that says so."""

from __future__ import annotations

import os
from argparse import ArgumentParser, ArgumentTypeError, RawDescriptionHelpFormatter
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

from .. import __version__
from ..codec.codec import UnknownFields
from ..wording import escape

if TYPE_CHECKING:
    from collections.abc import Callable

    AddParser = Callable[..., ArgumentParser]

__all__ = ["PROGRAM", "Target", "make_parser"]

PROGRAM = "operator-schema"

_EPILOG = """\
examples:
  operator-schema schema tools:WebSearch
  operator-schema decode tools:WebSearch arguments.json
  operator-schema decode --lines --quiet tools:WebSearch calls.jsonl
  operator-schema check tools more.tools

exit status:
  0  all is well
  1  a value failed, or a type has complaints
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

_TYPE_HELP = "a dataclass or any other annotation: tools:WebSearch, tools:Outer.Inner, tools:Calls"


class Target(NamedTuple):
    """What `MODULE:TYPE` names.

    Attributes:
        module: name of the module.
        path: names that lead from the module to the type, with dots between them.
    """

    module: str
    path: str


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
        default="-",
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
        "--traceback", action="store_true", help="when a module can't be imported, show the whole traceback"
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
    module, colon, path = text.partition(":")
    if not colon:
        parent, dot, last = module.rpartition(".")
        meant = dot and parent and last.isidentifier() and not _is_path(module)
        hint = f"; did you mean {escape(parent)}:{last}?" if meant else ", such as tools:WebSearch"
        message = f"{escape(text)!r} is no MODULE:TYPE{hint}"
        raise ArgumentTypeError(message)
    if not all(step.isidentifier() for step in path.split(".")):
        message = f"{escape(text)!r} is no MODULE:TYPE: a TYPE is a name, or names with dots between them"
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
