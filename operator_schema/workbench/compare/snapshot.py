"""Which parts of tools do callers and readers depend on, as data for a file or a comparison?

A snapshot is made from tools of this package, or read from foreign JSON: the answer of an MCP server to
`tools/list`, or the tools of a request to a provider.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from ...engine import SchemaDocument
from ...errors import SchemaError
from ...findings import Finding
from ...immutable import Value
from ...json_values import copy_json, is_array, is_object
from ...message_text import excerpt, quote, received
from ...tools import MCP_HINTS, tools_of
from .decoder_marks import marks_of, text_marks_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ...tools import Tool

FORMAT: Final = "operator_schema snapshot 1"
"""The header of the file."""

_INPUT_NAMES = ("input_schema", "inputSchema", "parameters", "parametersJsonSchema")
_OUTPUT_NAMES = ("output_schema", "outputSchema")
_NOTHING: Final[Mapping[str, Any]] = {"type": "object", "properties": {}}


class SnapshotError(ValueError):
    """JSON doesn't describe tools.

    Attributes:
        reason: the fault, and the right form.
        findings: the faults of a schema, if there are any.
    """

    def __init__(self, reason: str, findings: Sequence[Finding] = ()) -> None:
        super().__init__(reason)
        self.reason = reason
        self.findings = tuple(findings)


class ToolSnapshot(Value):
    """The known facts about one tool.

    Attributes:
        name: the name of the tool.
        description: the description for the model; empty if there is none.
        input_schema: the JSON Schema of its arguments.
        output_schema: the JSON Schema of its results, or None.
        hints: the properties that the tool states: `title`, `read_only`, `destructive`, `idempotent`,
            `open_world` and `confirm`.
        decoder: facts about the decoder that the schema doesn't contain, by the JSON pointer to a schema:
            `null` if null is also accepted, and the name of the type that reads its texts; None if nothing is
            known.
        encoder: the same for results: the name of the type that writes the texts of a schema.
    """

    name: str
    description: str
    input_schema: dict[str, Any]
    output_schema: dict[str, Any] | None
    hints: dict[str, Any]
    decoder: dict[str, list[str]] | None = None
    encoder: dict[str, list[str]] | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the snapshot as JSON values, without properties that aren't stated."""
        data: dict[str, Any] = {
            "name": self.name,
            "description": self.description,
            "input_schema": self.input_schema,
        }
        if self.output_schema is not None:
            data["output_schema"] = self.output_schema
        if self.hints:
            data["hints"] = self.hints
        if self.decoder is not None:
            data["decoder"] = self.decoder
        if self.encoder:
            data["encoder"] = self.encoder
        copied: dict[str, Any] = copy_json(data)
        return copied


class Snapshot(Value):
    """The state of some tools at one time.

    Attributes:
        tools: in the order of their names, each name once.
    """

    tools: tuple[ToolSnapshot, ...]

    def __init__(self, tools: Iterable[ToolSnapshot]) -> None:
        super().__init__(tuple(sorted(tools, key=lambda tool: tool.name)))

    def as_text(self) -> str:
        """Return the content of a file: one line for each keyword, always in the same order."""
        data = {"format": FORMAT, "tools": [tool.as_dict() for tool in self.tools]}
        return json.dumps(data, indent=1, ensure_ascii=False, sort_keys=False) + "\n"

    def by_name(self) -> dict[str, ToolSnapshot]:
        """Return the tools by their names."""
        return {tool.name: tool for tool in self.tools}


def snapshot_of(tools: Iterable[Tool[..., Any]]) -> Snapshot:
    """Take a snapshot of tools of this package.

    Args:
        tools: a toolset, a registry, or any tools.

    Raises:
        TypeError: something isn't a tool, or `tools` is a single one.
    """
    return Snapshot([_of_tool(tool) for tool in tools_of(tools)])


def _of_tool(tool: Tool[..., Any]) -> ToolSnapshot:
    stated = tool.annotations.as_dict()
    hints = {name: stated[name] for name in (*MCP_HINTS, "confirm") if name in stated}
    schema, output, codec = tool.input_schema(), tool.output_schema(), tool.result_codec()
    written = None if codec is None or output is None else text_marks_of(codec, output)
    decoder = marks_of(tool.codec, schema)
    return ToolSnapshot(tool.name, tool.description, schema, output, hints, decoder, written)


def read_snapshot(data: Any) -> Snapshot:
    """Read tools from JSON values.

    Args:
        data: a snapshot; the result of `tools/list`, with or without the JSON-RPC message around it; the
            body of a request to a provider; or a list of tools in one of their forms.

    Raises:
        SnapshotError: the data contain no tools, or one of them can't be read.
    """
    tools, faults = _read_each(data)
    if faults:
        raise faults[0][1]
    return Snapshot(tools)


def read_tools(data: Any) -> tuple[list[ToolSnapshot], list[Finding]]:
    """Read tools from JSON values, each separately.

    Args:
        data: as for `read_snapshot`.

    Returns:
        The tools that can be read, in their order, and the faults of the others.

    Raises:
        SnapshotError: the data contain no tools.
    """
    tools, faults = _read_each(data)
    findings: list[Finding] = []
    for name, error in faults:
        whole = Finding((), "bad_definition", error.reason, remedy="Correct the definition")
        findings += [each.replace(tool=name, where=None) for each in error.findings or (whole,)]
    return tools, findings


def _read_each(data: Any) -> tuple[list[ToolSnapshot], list[tuple[str, SnapshotError]]]:
    """Read tools separately; return them, and the faults of the others, each with the name of its tool."""
    found: dict[str, ToolSnapshot] = {}
    faults: list[tuple[str, SnapshotError]] = []
    for index, each in enumerate(_definitions_in(data)):
        try:
            tool = _read_tool(each, index)
        except SnapshotError as error:
            name = _inner(each).get("name") if is_object(each) else None
            faults.append((name if isinstance(name, str) and name else f"tool {index + 1}", error))
            continue
        if tool.name in found:
            faults.append((tool.name, SnapshotError(f"two tools are called {quote(tool.name)}")))
        found.setdefault(tool.name, tool)
    return list(found.values()), faults


def _definitions_in(data: Any) -> list[Any]:
    """Return the tools of a document, each separately.

    Raises:
        SnapshotError: there are no tools.
    """
    said = data.get("format") if is_object(data) else None
    if said is not None and said != FORMAT:
        message = f"its format is {excerpt(said)}; this version reads {quote(FORMAT)}"
        raise SnapshotError(message)
    listed = _tools_in(data)
    if listed is None:
        message = 'it has no tools: a snapshot, the result of "tools/list" or a request to a provider has'
        raise SnapshotError(message)
    return listed


def _tools_in(data: Any) -> list[Any] | None:
    """Return the tools of a document, each separately; None if there are none."""
    if is_object(data):
        around = (data, data.get("result"), data.get("toolConfig"))
        data = next((each["tools"] for each in around if is_object(each) and "tools" in each), None)
    if not is_array(data):
        return None
    found: list[Any] = []
    for each in data:
        declared = each.get("functionDeclarations") if is_object(each) else None
        found += declared if is_array(declared) else [each]
    return found


def _read_tool(data: Any, index: int) -> ToolSnapshot:
    place = f"tool {index + 1}"
    if not is_object(data):
        message = f"{place} is {received(data)}, not an object"
        raise SnapshotError(message)
    data = _inner(data)
    name = data.get("name")
    if not isinstance(name, str) or not name:
        message = f"{place} has no name"
        raise SnapshotError(message)
    description = data.get("description", "")
    if not isinstance(description, str):
        message = f"the description of {quote(name)} is {received(description)}, not a text"
        raise SnapshotError(message)
    schema = _schema_of(data, _INPUT_NAMES, name)
    output = _schema_of(data, _OUTPUT_NAMES, name)
    schema = dict(_NOTHING) if schema is None else schema
    decoder, encoder = (_marks_in(data, key, name) for key in ("decoder", "encoder"))
    if output is not None and decoder is not None and encoder is None:
        encoder = {}
    return ToolSnapshot(name, description, schema, output, _hints_of(data), decoder, encoder)


def _marks_in(data: dict[str, Any], key: str, tool: str) -> dict[str, list[str]] | None:
    """Return the facts about a decoder or encoder in a snapshot, checked; None if there are none."""
    said = data.get(key)
    if said is None:
        return None
    lists: list[Any] = list(said.values()) if is_object(said) else [None]
    if not all(is_array(each) and all(isinstance(name, str) for name in each) for each in lists):
        message = f'"{key}" of {quote(tool)} isn\'t an object of lists of names'
        raise SnapshotError(message)
    known: dict[str, list[str]] = said
    return known


def _inner(data: dict[str, Any]) -> dict[str, Any]:
    """Return the definition inside a provider's form."""
    for key in ("function", "toolSpec"):
        if is_object(data.get(key)):
            data = data[key]
    return data


def _schema_of(data: dict[str, Any], names: tuple[str, ...], tool: str) -> dict[str, Any] | None:
    """Return the schema under the first of some names that exists, checked; None if none exists."""
    for name in names:
        schema = data.get(name)
        if is_object(schema) and is_object(schema.get("json")):  # in the form of Bedrock
            schema = schema["json"]
        if schema is not None:
            try:
                is_arguments = names is _INPUT_NAMES
                return SchemaDocument(f"{name} of {tool}", schema, is_arguments).schema
            except SchemaError as error:
                message = f"{name} of {quote(tool)}: {error.findings[0].message}"
                raise SnapshotError(message, error.findings) from error
    return None


def _hints_of(data: dict[str, Any]) -> dict[str, Any]:
    if is_object(data.get("hints")):  # a snapshot of ours
        return {name: data["hints"][name] for name in (*MCP_HINTS, "confirm") if name in data["hints"]}
    given = data.get("annotations")
    annotations: dict[str, Any] = given if is_object(given) else {}
    found = {name: annotations[key] for name, key in MCP_HINTS.items() if annotations.get(key) is not None}
    title = data.get("title")
    return {"title": title, **found} if isinstance(title, str) else found
