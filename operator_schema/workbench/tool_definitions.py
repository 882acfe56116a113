"""Read tools from a list of definitions, with the faults of the definitions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ..adapters.conversions import NameGiver
from ..engine import DocumentCodec
from ..errors import SchemaError
from ..findings import Finding
from ..tools import Tool, document_output, tool_of_document
from .compare.snapshot import ToolSnapshot, read_tools

if TYPE_CHECKING:
    from collections.abc import Mapping

_NAME_RULE: Final = "1 to 64 characters: A to Z, a to z, 0 to 9, _ and -"


class Described(NamedTuple):
    """Foreign tools, as far as their definitions can be read.

    Attributes:
        tools: tools that decode their arguments, but can't be run.
        originals: the foreign name of each of these tools, which providers may refuse, by its name here.
        findings: the faults of definitions and names.
    """

    tools: list[Tool[..., Any]]
    originals: dict[str, str]
    findings: list[Finding]


def read_described(data: Any) -> Described:
    """Read tools from JSON values, each separately.

    Args:
        data: the data, as for `read_tools`.

    Raises:
        SnapshotError: the data contain no tools.
    """
    read, findings = read_tools(data)
    names = NameGiver("")
    tools: list[Tool[..., Any]] = []
    originals: dict[str, str] = {}
    for each in read:
        name = names.give(each.name)
        if name != each.name:
            findings.append(_renamed(each.name))
        try:
            tools.append(_tool(each, name))
            originals[name] = each.name
            findings += _unchecked(tools[-1], each.name)
        except SchemaError as error:
            findings += [finding.replace(tool=each.name, where=None) for finding in error.findings]
    return Described(tools, originals, findings)


def _unchecked(tool: Tool[..., Any], name: str) -> list[Finding]:
    """Return a note for each keyword in the schema of a tool that can't be checked.

    Mistakes aren't included, since `lint` reports them.
    """
    if not isinstance(tool.codec, DocumentCodec):
        return []
    mistakes = {(one.where, one.keyword) for one in tool.codec.mistakes}
    left = [one for one in tool.codec.left if (one.where, one.keyword) not in mistakes]
    return [
        one.replace(tool=name, where=None, message=f"its {one.keyword} isn't checked: {one.message}")
        for one in left
    ]


def _renamed(name: str) -> Finding:
    message = "providers refuse its name, so each program has to give it another one"
    return Finding((), "bad_name", message, remedy=f"Rename it: {_NAME_RULE}", severity="warning", tool=name)


def _tool(described: ToolSnapshot, name: str) -> Tool[..., Any]:
    hints: Mapping[str, Any] = described.hints
    if hints.get("read_only"):  # a tool that only reads can't be destructive
        hints = {hint: value for hint, value in hints.items() if hint != "destructive"}
    options: dict[str, Any] = {"name": name, "description": described.description, **hints}
    schema = described.output_schema
    output = None if schema is None else document_output(name, schema)
    return tool_of_document(not_run, described.input_schema, output, **options)


def not_run(**arguments: Any) -> Any:  # the result may have any type
    """Take the place of the function of a tool that has only a definition."""
