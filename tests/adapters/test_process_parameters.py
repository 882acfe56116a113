"""Programs that describe their tools as `schema_response` does: parameters by name, no JSON Schema."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import pytest
from jsonschema import Draft202012Validator

from operator_schema import DecodeError, SchemaError, Tool, json_schema, tool, tool_input
from operator_schema.adapters.process import tools_of
from operator_schema.tools import parameters_of, schema_of_parameters, schema_response

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.needs_process


@dataclass
class Part:
    """One part.

    Attributes:
        size: How large. In millimetres.
        required: whether it must be there.
    """

    size: int
    required: bool = True
    parts: list[Part] = field(default_factory=list)


@tool
def order(
    parts: list[Part],
    where: Literal["here", "there"],
    by_name: dict[str, Part] | None = None,
    either: int | list[Part] | None = None,
    summary: str = "",
) -> None:
    """Order parts. They are sent at once.

    Args:
        parts: which ones. All of one maker.
        where: to which shop.
    """


def told(folder: Path, answer: Any) -> list[Tool[..., Any]]:
    """Return the tools of a program that gives this answer."""
    path = folder / "program.py"
    path.write_text(f"print({json.dumps(json.dumps(answer))})", encoding="utf-8")
    return tools_of([sys.executable, str(path)])


VALID = [
    {"parts": [], "where": "here"},
    {"parts": [{"size": 1, "required": False, "parts": [{"size": 2}]}], "where": "there", "either": 3},
    {"parts": [], "where": "here", "by_name": {"required": {"size": 2}}, "either": [{"size": 1}]},
]
INVALID = [
    {"where": "here"},
    {"parts": [{}], "where": "here"},
    {"parts": [], "where": "elsewhere"},
    {"parts": [], "where": "here", "by_name": {"a": {"required": True}}},
    {"parts": [], "where": "here", "either": [{"required": True}]},
]


def test_tools_of_takes_what_schema_response_makes(tmp_path: Path) -> None:
    (again,) = told(tmp_path, schema_response([order]))
    assert (again.name, again.summary, again.details) == (order.name, order.summary, order.details)
    Draft202012Validator.check_schema(again.input_schema())
    assert again.input_schema()["required"] == ["parts", "where"]
    assert again.input_schema()["properties"]["parts"]["description"] == "which ones.\nAll of one maker."
    for arguments in VALID:
        assert again.decode(arguments) == arguments
    for arguments in INVALID:
        with pytest.raises(DecodeError):
            again.decode(arguments)
    assert schema_response([again])["tools"][0]["parameters"].keys() == dict(parameters_of(order)).keys()


@pytest.mark.parametrize("source", [order, tool_input(name="part", description="A part.")(Part)])
def test_a_schema_of_parameters_takes_the_same_values(source: Tool[..., Any]) -> None:
    theirs: Any = Draft202012Validator(source.input_schema())
    ours: Any = Draft202012Validator(schema_of_parameters(dict(parameters_of(source))))
    for value in (*VALID, *INVALID, {"size": 1}, {"size": "x"}, {"required": True}):
        assert ours.is_valid(value) == theirs.is_valid(value)


def test_a_schema_without_required_properties_lists_none() -> None:
    assert schema_of_parameters({}) == {"type": "object", "properties": {}}
    assert "required" not in schema_of_parameters({"a": {"type": "string", "required": False}})
    assert schema_of_parameters({"a": True, "b": {"required": ["c"]}}) == {
        "type": "object",
        "properties": {"a": True, "b": {"required": ["c"]}},
    }
    assert json_schema(Part)["required"] == ["size"]


def test_parameters_that_nest_too_deep_are_refused(tmp_path: Path) -> None:
    deep: Any = {"type": "string"}
    for _ in range(150):
        deep = {"properties": {"a": deep}}
    with pytest.raises(SchemaError, match="nests too deep"):
        told(tmp_path, {"tools": [{"name": "deep", "parameters": {"a": deep}}]})
