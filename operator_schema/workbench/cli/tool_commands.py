"""The commands `tools`, `describe` and `stubs`: tools in a table, in words and as declarations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ... import code_mode
from ...engine import expected_fields
from ...message_text import escape
from ...tools import documentation_of, schema_response
from .arguments import REGISTRY, TARGETS, NearChoice, complete_target, json_option, traceback_option
from .lookup import find_tool, find_tools
from .module_loading import WrongUse
from .output import count, subject_of, text_of, to_json
from .sources import described_tools_of, tool_source

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...rounds import Registry
    from ...tools import Tool
    from .lookup import ObjectName
    from .output import Printer

_TITLES = ("tool", "kind", "parameters", "bytes", "summary")
_NUMBERS = frozenset({"parameters", "bytes"})


@click.command(
    epilog="""\b
examples:
  operator-schema tools tools more.tools
  operator-schema tools app:registry
  operator-schema tools --json tools > definitions.json
"""
)
@click.argument("targets", type=REGISTRY, nargs=-1, required=True, metavar="MODULE[:REGISTRY]...")
@json_option("Print name, description and input schema of each.")
@traceback_option
@click.pass_obj
def tools(
    outputs: tuple[Printer, Printer], targets: tuple[ObjectName, ...], *, as_json: bool, show_traceback: bool
) -> int:
    """List the tools of modules, registries or executors.

    A package includes the modules below it. Tools that a module merely imports belong to the module that
    defines them. A registry shows what your program really offers: with prefixes, and with "off" for what is
    switched off. The bytes are those of the definition, which a model gets with every request.
    """
    out = outputs[0]
    found: list[tuple[Tool[..., Any], Registry | None]] = []
    for target in targets:
        listed, registry = find_tools(target, show_traceback=show_traceback)
        found += [(tool, registry) for tool in listed]
    if as_json:
        out.json([tool.definition() for tool, _ in found], 2)
    else:
        rows = [_row(tool, registry) for tool, registry in found]
        out.table(_TITLES, rows, _NUMBERS)
        size = sum(_size(tool) for tool, _ in found)
        out.line(f"{count(len(found), 'tool')}, {count(size, 'byte')}")
    return 0


def _row(tool: Tool[..., Any], registry: Registry | None) -> tuple[str, ...]:
    kind = "input" if not tool.has_function else "async" if tool.is_async else "sync"
    if registry is not None and not registry.is_enabled(tool.name):
        kind += ", off"
    summary = escape(tool.summary.partition("\n")[0])
    return escape(tool.name), kind, f"{_count_parameters(tool):,}", f"{_size(tool):,}", summary


def _size(tool: Tool[..., Any]) -> int:
    return len(to_json(tool.definition()).encode())


def _count_parameters(tool: Tool[..., Any]) -> int:
    """Count the keys that arguments may have; a union has the keys of all its members."""
    schema = tool.input_schema()
    members = [schema, *schema.get("anyOf", ())]
    resolved = [_follow(member, schema) for member in members]
    return len({key for member in resolved for key in member.get("properties", ())})


def _follow(schema: dict[str, Any], document: dict[str, Any]) -> dict[str, Any]:
    name = schema.get("$ref", "").removeprefix("#/$defs/")
    found: dict[str, Any] = document["$defs"][name] if name else schema
    return found


@click.command(
    epilog="""\b
examples:
  operator-schema describe tools:web_search
  operator-schema describe app:registry
  operator-schema describe --json tools
"""
)
@click.argument("target", type=REGISTRY, metavar="MODULE[:TOOL]")
@json_option("Print the same as JSON: summary, description and parameters of each tool.")
@traceback_option
@click.pass_obj
def describe(
    outputs: tuple[Printer, Printer], target: ObjectName, *, as_json: bool, show_traceback: bool
) -> int:
    """Print the whole documentation of a tool, or of all tools of a module or registry.

    This is what a model gets from the tool that describe_tools makes: each parameter and nested field with a
    description, and one line with all parameters and their types.
    """
    found = _tools_at(target, show_traceback=show_traceback)
    if as_json:
        outputs[0].json(schema_response(found)["tools"], 2)
        return 0
    for position, tool in enumerate(found):
        outputs[0].text(("\n" if position else "") + documentation_of(tool, with_summaries=True))
        outputs[0].text(f"\n{expected_fields(tool.name, tool.codec.graph)}")
    return 0


def _tools_at(target: ObjectName, *, show_traceback: bool) -> Sequence[Tool[..., Any]]:
    try:
        return find_tools(target, show_traceback=show_traceback)[0]
    except WrongUse:
        if not target.path:
            raise
        return [find_tool(target, show_traceback=show_traceback)[0]]  # its message names the tools


@click.command(
    epilog=f"""\b
examples:
  operator-schema stubs tools
  operator-schema stubs --language typescript tools > tools.d.ts
  operator-schema stubs mcp:"uvx mcp-server-time" > server.pyi

{TARGETS}"""
)
@click.argument("target", shell_complete=complete_target)
@click.option(
    "--language",
    type=NearChoice(["python", "typescript"]),
    default="python",
    help="What the declarations are written in (default: python).",
)
@traceback_option
@click.pass_obj
def stubs(outputs: tuple[Printer, Printer], target: str, language: Any, *, show_traceback: bool) -> int:
    """Print typed declarations of tools.

    A model that reads them can write a program that calls the tools. Definitions that can't be read are named
    on standard error, and left out.
    """
    tools, status = _tools_of(outputs[1], target, show_traceback=show_traceback)
    if not tools:
        message = "there are no tools to declare"
        raise WrongUse(message)
    outputs[0].text(code_mode.stubs(tools, language))
    return status


def _tools_of(err: Printer, target: str, *, show_traceback: bool) -> tuple[list[Tool[..., Any]], int]:
    """Return the tools of a target, and the exit status: 1 if some of them can't be read."""
    described = described_tools_of(target)
    if described is None:
        return tool_source(target, show_traceback=show_traceback)(), 0
    failed = [finding for finding in described.findings if finding.severity == "error"]
    for finding in failed:
        subject, text = subject_of(finding), text_of(finding)
        # The message about a tool without a name begins with its position in the list.
        err.report(f"{target}: ", text if text.startswith(f"{subject} ") else f"{subject}: {text}")
    return described.tools, 1 if failed else 0
