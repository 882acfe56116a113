"""What does a client read of a tool, and in which form does it get its results as data?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, get_args

import mcp_types as types
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from ...introspect.traits import json_types_of
from ...json_values import without_surrogates
from ...wording import as_written, listed

if TYPE_CHECKING:
    from ...tools.results.structured_output import StructuredOutput
    from ...tools.tool import Tool
    from ...tools.tool_annotations import ToolAnnotations

__all__ = [
    "Structured",
    "checked_structured",
    "described",
    "hints_of",
    "is_modern",
    "output_of",
    "structured_content",
]

Structured = Literal["objects", "all", "none"]
"""Which results a client gets as data beside the text: those that are objects, all that say more than
a text, or none."""


def checked_structured(value: Any) -> Structured:
    """Return the option, if it is one.

    Raises:
        ValueError: it isn't.
    """
    kinds = get_args(Structured)
    if value not in kinds:
        message = (
            f"structured is one of {listed([as_written(kind) for kind in kinds])}, not {as_written(value)}"
        )
        raise ValueError(message)
    found: Structured = value
    return found


def is_modern(protocol_version: str) -> bool:
    """Return whether requests carry their own version, without a handshake: 2026-07-28 and later."""
    return protocol_version in MODERN_PROTOCOL_VERSIONS


def output_of(tool: Tool[..., Any], structured: Structured) -> StructuredOutput | None:
    """Return how the results of a tool become data, None where they are text alone."""
    if structured == "none":
        return None
    output = tool.structured_output()
    return None if output is None or (output.is_wrapped and structured == "objects") else output


def described(
    tool: Tool[..., Any], _: object, /, *, structured: Structured, protocol_version: str
) -> types.Tool:
    """Return a tool as a client reads it, whatever runs its calls.

    Args:
        tool: as the model sees it.
        structured: which results are data.
        protocol_version: of the request. Before 2026-07-28 the schema of a result says `"type": "object"`.
    """
    definition, said = tool.definition(), tool.annotations
    output = output_of(tool, structured)
    return types.Tool(
        name=tool.name,
        title=said.title,
        description=without_surrogates(definition["description"]),
        input_schema=definition["input_schema"],
        output_schema=None if output is None else _output_schema(output, protocol_version),
        annotations=hints_of(said),
        _meta=said.meta or None,
    )


def structured_content(output: StructuredOutput, json: Any, protocol_version: str) -> Any:
    """Return a result as data, None if it doesn't fit what the tool declares.

    Args:
        output: of `output_of`.
        json: as in `ToolResult.json`.
        protocol_version: of the request.
    """
    return json if _is_bare(output, protocol_version) else output.of(json)


def _output_schema(output: StructuredOutput, protocol_version: str) -> dict[str, Any]:
    return output.codec.json_schema() if _is_bare(output, protocol_version) else output.schema


def _is_bare(output: StructuredOutput, protocol_version: str) -> bool:
    """Return whether a result that isn't an object stands for itself.

    One that may be null never does: the SDK drops `"structuredContent": null`, and clients then miss it.
    """
    if not output.is_wrapped or not is_modern(protocol_version):
        return False
    graph = output.codec.graph
    return "null" not in json_types_of(graph.resolve_root(), graph.definitions)


def hints_of(said: ToolAnnotations) -> types.ToolAnnotations | None:
    """Return what a tool says about itself as hints of the protocol, None if it says nothing."""
    hints = types.ToolAnnotations(
        read_only_hint=said.read_only,
        destructive_hint=said.destructive,
        idempotent_hint=said.idempotent,
        open_world_hint=said.open_world,
    )
    return None if hints == _NO_HINTS else hints


_NO_HINTS = types.ToolAnnotations()
