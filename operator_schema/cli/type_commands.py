"""The commands schema, decode and check."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ..wording import escape
from .arguments import REGISTRY, TYPE, traceback_option, unknown_fields_option
from .checking import check_target, write_verdict
from .decoding import Decoder, decode_file
from .lookup import codec_of_name
from .output import count

if TYPE_CHECKING:
    from ..codec.options import UnknownFields
    from .checking import Verdict
    from .lookup import ObjectName
    from .output import Output

__all__ = ["check", "decode", "schema"]


@click.command(
    epilog="""\b
examples:
  operator-schema schema tools:WebSearch
  operator-schema schema --compact tools:Calls > calls.schema.json
"""
)
@click.argument("target", type=TYPE, metavar="MODULE:TYPE")
@click.option("--compact", is_flag=True, help="Print it on one line, without spaces.")
@unknown_fields_option
@traceback_option
@click.pass_obj
def schema(
    outputs: tuple[Output, Output],
    target: ObjectName,
    unknown_fields: UnknownFields,
    *,
    compact: bool,
    show_traceback: bool,
) -> int:
    """Print the JSON Schema of a type, or of the input of a tool.

    TYPE is a dataclass, a tool or any other annotation: tools:WebSearch, tools:Outer.Inner,
    tools:Calls.
    """
    codec = codec_of_name(target, unknown_fields, show_traceback=show_traceback)
    outputs[0].json(codec.json_schema(), None if compact else 2)
    return 0


@click.command(
    epilog="""\b
examples:
  operator-schema decode tools:WebSearch arguments.json
  echo '{"query": "x"}' | operator-schema decode tools:WebSearch
  operator-schema decode --lines tools:WebSearch calls.jsonl > decoded.jsonl
  operator-schema decode --lines --quiet --unknown-fields reject tools:WebSearch calls.jsonl
"""
)
@click.argument("target", type=TYPE, metavar="MODULE:TYPE")
@click.argument("file", default="-")
@click.option("--lines", is_flag=True, help="FILE is JSON Lines: one value a line; empty lines are skipped.")
@click.option("--quiet", is_flag=True, help="Print problems only, not what was decoded.")
@click.option("--json", "as_json", is_flag=True, help="Print each problem report as JSON.")
@unknown_fields_option
@traceback_option
@click.pass_obj
def decode(
    outputs: tuple[Output, Output],
    target: ObjectName,
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
    codec = codec_of_name(target, unknown_fields, show_traceback=show_traceback)
    out, err = outputs
    return decode_file(Decoder(codec, None if quiet else out, err, as_json=as_json), file, err, lines=lines)


@click.command(
    epilog="""\b
examples:
  operator-schema check tools
  operator-schema check --strict package
  operator-schema check app:registry
"""
)
@click.argument("targets", type=REGISTRY, nargs=-1, required=True, metavar="MODULE[:REGISTRY]...")
@click.option("--strict", is_flag=True, help="Exit with 1 if there are warnings.")
@click.option("--json", "as_json", is_flag=True, help="Print the verdicts as JSON.")
@traceback_option
@click.pass_obj
def check(
    outputs: tuple[Output, Output],
    targets: tuple[ObjectName, ...],
    *,
    strict: bool,
    as_json: bool,
    show_traceback: bool,
) -> int:
    """Check every dataclass and tool of a module or package, or the tools of a registry.

    Dataclasses and tools that a module merely imports are checked with the module that defines them.
    Warnings name what leaves a model guessing: no docstring, no descriptions, Any, an Enum of numbers.
    """
    found: dict[str, list[Verdict]] = {}
    for target in targets:
        found |= check_target(target, show_traceback=show_traceback)
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
