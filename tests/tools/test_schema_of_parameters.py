"""The schema of arguments is read back from their parameters, as a program of any language lists them."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from judge import validator

from operator_schema import DecodeError, tool
from operator_schema.testing import arguments
from operator_schema.tools import document_tool, parameters_of, schema_of_parameters


@dataclass
class Change:
    old: str
    paths: list[str] | None
    regex: bool = False


@dataclass
class Cat:
    kind: Literal["cat"]
    lives: int = 9


@dataclass
class Dog:
    kind: Literal["dog"]
    tricks: Annotated[dict[str, list[Change]], "By name. None at first."] = field(default_factory=dict)


@tool
def adopt(
    pet: Cat | Dog | None, required: bool, summary: str, when: datetime, properties: dict[str, int] | str
) -> None:
    """Adopt a pet."""


@tool
def change(changes: list[Change], path: Annotated[str, "Where. Below the root."] | None) -> None:
    """Change files."""


@tool
def nothing() -> None:
    """Do nothing."""


@pytest.mark.slow("draws many types")
@pytest.mark.parametrize("own", [adopt, nothing, change])
def test_arguments_are_read_back_from_parameters(own):
    parameters = dict(parameters_of(own))

    def run(arguments: dict[str, Any]) -> None:
        del arguments

    again = document_tool(run, schema_of_parameters(parameters), name=own.name)
    assert dict(parameters_of(again)) == parameters
    assert again.codec.left == again.codec.beyond == ()

    # null for what may be left out is taken by our own types, and stands in no schema.
    @given(arguments(own).filter(validator(own.input_schema()).is_valid))
    def takes(sent: dict[str, Any]) -> None:
        assert again.decode(sent) == sent

    takes()
    for key in (key for key, parameter in parameters.items() if parameter["required"]):
        with pytest.raises(DecodeError, match=f"{key}: missing"):
            again.decode({other: {} for other in parameters if other != key})


def test_a_schema_inside_of_parameters_may_be_plain():
    plain = {"type": "object", "properties": {"a": {"type": "string"}, "b": True}, "required": ["a"]}
    parameter = {"required": True, "summary": "Which.", "default": {"required": True}, **plain}
    parameter["required"] = ["a"]
    assert schema_of_parameters({"p": parameter, "q": {"enum": [{"summary": "x"}]}}) == {
        "type": "object",
        "properties": {
            "p": {**plain, "description": "Which.", "default": {"required": True}},
            "q": {"enum": [{"summary": "x"}]},
        },
    }
