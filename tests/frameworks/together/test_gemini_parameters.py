"""Gemini's older `parameters`, judged by the types of Google's SDK: other keywords are refused."""

from dataclasses import dataclass, field
from datetime import date, datetime
from enum import Enum
from typing import Annotated, Any, Literal
from uuid import UUID

import pytest
from google.genai import types
from pydantic import ValidationError

from operator_schema import tool_input
from operator_schema.providers import gemini_parameters


class Color(Enum):
    """A color."""

    RED = "red"
    BLUE = "blue"


@dataclass
class Node:
    """A node that has others."""

    value: int
    below: list["Node"]
    other: "Node | None" = None


@dataclass
class Limits:
    """Numbers within limits."""

    count: Annotated[int, type("Ge", (), {"ge": 1})()] = 3
    ratio: float = 0.5


ANNOTATIONS = [
    int, float, bool, str, None, Any, date, datetime, UUID, Color, Node, Limits, bytes,
    list[int], set[str], dict[str, int], dict[str, list[Limits]], tuple[int, str], tuple[int, int], tuple[()],
    tuple[Node, ...],
    Literal["a", "b"], Literal[1, 2], Literal["a", 1, True, None],
    int | str, int | None, list[int] | Limits, Color | int | None, list[Node | int | None],
]  # fmt: skip


@pytest.mark.parametrize("annotation", ANNOTATIONS, ids=str)
def test_googles_types_take_every_schema(annotation):
    made = dataclass(
        type(
            "Input",
            (),
            {
                "__annotations__": {"value": annotation, "many": list[annotation]},
                "many": field(default_factory=list),
            },
        )
    )
    body = gemini_parameters.request([tool_input(made, name="send", description="Send it.")])
    (declaration,) = types.Tool.model_validate(body["tools"][0]).function_declarations
    sent = declaration.parameters.model_dump(exclude_none=True, by_alias=True, mode="json")
    assert sent == body["tools"][0]["functionDeclarations"][0]["parameters"]


def test_googles_types_refuse_what_the_api_does_not_know():
    with pytest.raises(ValidationError):
        types.Schema.model_validate({"type": "OBJECT", "exclusiveMinimum": 3})
