"""What the commands about tools do: arguments in, exit status out."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from typing import TYPE_CHECKING, Any

from ..errors import EncodeError, ToolError
from ..introspect.nodes import ObjectNode, UnionNode
from ..tools.calls import RawCall
from ..tools.describe import documentation_of
from ..tools.discovery import tools_in
from ..tools.execution.executor import Executor
from ..wording import escape
from .lookup import find_tool, load_module
from .plain_output import Offer, count, to_json

if TYPE_CHECKING:
    from argparse import Namespace

    from ..tools.execution.failures import ShowErrors
    from ..tools.tool import Tool
    from .plain_output import Output

__all__ = ["call", "describe", "tools"]


def tools(arguments: Namespace, out: Output, err: Output) -> int:  # noqa: ARG001  # the form that all commands have
    """List the tools of a module."""
    module = load_module(arguments.module, show_traceback=arguments.traceback)
    found = tools_in(module)
    if arguments.json:
        out.write_json([tool.definition() for tool in found], 2)
    elif not found:
        out.write_line(f"{escape(module.__name__)} defines no tools")
    else:
        offers = [_offer(tool) for tool in found]
        out.write_offers(offers)
        size = sum([offer.size for offer in offers])
        out.write_line(f"{count(len(found), 'tool')}, {count(size, 'byte')}")
    return 0


def _offer(tool: Tool[..., Any]) -> Offer:
    kind = "input" if not tool.has_function else "async" if tool.is_async else "sync"
    size = len(to_json(tool.definition()).encode())
    return Offer(tool.name, kind, _count_parameters(tool), size, tool.summary)


def _count_parameters(tool: Tool[..., Any]) -> int:
    """Count the keys that arguments may have, in a union those of all its members."""
    graph = tool.codec.graph
    root = graph.resolve_root()
    if isinstance(root, UnionNode):
        members = [graph.resolve(member) for member in root.members]
        return len({field.key for node in members if isinstance(node, ObjectNode) for field in node.fields})
    if isinstance(root, ObjectNode):
        return len(root.fields)
    return len(tool.input_schema().get("properties", ()))  # raw arguments


def call(arguments: Namespace, out: Output, err: Output) -> int:
    """Call a tool as a model does."""
    from logging import NullHandler, getLogger  # noqa: PLC0415  # the other commands do not load it

    tool = find_tool(arguments.target, show_traceback=arguments.traceback)
    text: str | bytes = sys.stdin.buffer.read() if arguments.arguments == "-" else arguments.arguments
    show: ShowErrors = "traceback" if arguments.traceback else "message"
    executor = Executor(
        [tool.with_(enabled=True)], timeout=arguments.timeout, show_errors=show, strict_results=True
    )
    # What fails is printed below; without a handler `logging` would print it as well.
    getLogger("operator_schema").addHandler(NullHandler())
    # Standard output is for the result: what a tool prints is none.
    with redirect_stdout(sys.stderr):
        result = executor.execute_sync(RawCall("1", tool.name, text))
    if not result.is_error:
        out.write_text(result.content)
        return 0
    error = (result.details or {}).get("exception")
    # Who calls here is model and host at once.
    err.write_report("", str(error) if isinstance(error, (EncodeError, ToolError)) else result.content)
    return 1


def describe(arguments: Namespace, out: Output, err: Output) -> int:  # noqa: ARG001  # likewise
    """Print the whole documentation of a tool."""
    out.write_text(documentation_of(find_tool(arguments.target, show_traceback=arguments.traceback)))
    return 0
