"""A document that a developer gives to `document_tool`: what it says is kept, or it is refused."""

from __future__ import annotations

from typing import Any

import pytest
from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError as NotASchemaError

from operator_schema import SchemaError
from operator_schema.engine import KEYWORDS
from operator_schema.tools import document_tool

VALUES: dict[str, Any] = {
    "text": "strng",
    "name of a type": "string",
    "number": 5,
    "below 0": -1,
    "zero": 0,
    "fraction": 1.5,
    "bool": True,
    "null": None,
    "list": [],
    "texts": ["string"],
    "numbers": [1, "a", None],
    "schemas": [{"type": "string"}],
    "object": {},
    "table": {"b": 5},
    "table of lists": {"b": ["c"]},
    "schema": {"type": "string"},
}
OTHERWISE = {
    **dict.fromkeys(
        [("exclusiveMinimum", "bool"), ("exclusiveMaximum", "bool")], "until draft 4, and in OpenAPI"
    ),
    **dict.fromkeys([("items", "list"), ("items", "schemas")], "until draft 2019-09"),
    ("prefixItems", "list"): "it says nothing, and nothing is kept",
    **dict.fromkeys(
        [("dependentRequired", "table"), ("dependentRequired", "schema")], "read as dependencies"
    ),
}
"""What the metaschema refuses and we don't, with the reason."""

CHECKED = [
    name
    for name, row in KEYWORDS.items()
    if row.says == "values" and name[0] != "$" and name != "additionalItems"
]


def run(arguments: dict[str, Any]) -> None:
    """Run."""


def is_refused(part: Any) -> bool:
    whole = {"type": "object", "properties": {"a": part}}
    try:
        document_tool(run, whole)
    except SchemaError as error:
        assert "#/properties/a" in str(error)
        with pytest.raises(SchemaError, match="output_schema has"):
            document_tool(run, {"type": "object"}, output_schema=whole)
        return True
    document_tool(run, {"type": "object"}, output_schema=whole)
    return False


@pytest.mark.parametrize("keyword", CHECKED)
def test_a_keyword_is_refused_if_it_means_nothing_as_it_is_written(keyword):
    differing = []
    for name, value in VALUES.items():
        try:
            Draft202012Validator.check_schema({keyword: value})
            is_wrong = False
        except NotASchemaError:
            is_wrong = True
        if is_refused({keyword: value}) != (is_wrong and (keyword, name) not in OTHERWISE):
            differing.append((keyword, name))
    assert differing == []


@pytest.mark.parametrize("reference", ["#/nope", "#/properties/b", "#nope", 5, None])
def test_a_reference_that_leads_nowhere_is_refused(reference):
    assert is_refused({"$ref": reference})


@pytest.mark.parametrize("reference", ["#", "#/properties/a", "https://example.com/x.json", "x.json#/a"])
def test_a_reference_that_leads_somewhere_or_elsewhere_is_allowed(reference):
    assert not is_refused({"$ref": reference})
