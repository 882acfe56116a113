"""An Enum's own docstring describes it, where nothing nearer does."""

from dataclasses import dataclass, field
from enum import Enum, IntEnum
from typing import Annotated

import pytest

from operator_schema import Codec, SchemaError


class Unit(Enum):
    """c is Celsius, f is Fahrenheit.

    Attributes:
        CELSIUS: the usual one.
    """

    CELSIUS = "c"
    FAHRENHEIT = "f"


class Bare(Enum):
    A = "a"


class Blank(IntEnum):
    """ """

    A = 1


SCHEMA = {"description": "c is Celsius, f is Fahrenheit.", "enum": ["c", "f"], "type": "string"}


def test_the_docstring_of_an_enum_is_its_description():
    assert Codec(Unit).json_schema() == SCHEMA
    assert Codec(list[Unit]).json_schema()["items"] == SCHEMA


@pytest.mark.parametrize("cls", [Bare, Blank, Enum("Made", "A B")])
def test_an_enum_without_a_docstring_has_no_description(cls):
    assert "description" not in Codec(cls).json_schema()


def test_every_other_description_wins():
    @dataclass
    class Reading:
        """A reading.

        Args:
            documented: from the docstring
        """

        plain: Unit
        documented: Unit
        annotated: Annotated[Unit, "from the annotation"]
        metadata: Unit = field(metadata={"description": "from the metadata"})
        given: Unit = Unit.CELSIUS
        maybe: Unit | None = None
        param_descriptions = {"given": "from param_descriptions"}  # as users write it

    properties = Codec(Reading).json_schema()["properties"]
    assert {name: schema["description"] for name, schema in properties.items()} == {
        "plain": "c is Celsius, f is Fahrenheit.",
        "documented": "from the docstring",
        "annotated": "from the annotation",
        "metadata": "from the metadata",
        "given": "from param_descriptions",
        "maybe": "c is Celsius, f is Fahrenheit.",
    }


def test_a_docstring_that_json_cannot_hold_is_complained_about():
    class Odd(Enum):
        A = "a"

    Odd.__doc__ = "\ud800"
    with pytest.raises(SchemaError, match="has a lone surrogate, which JSON can't hold"):
        Codec(Odd)


@pytest.mark.parametrize(("default", "hint"), [("c", " Did you mean Unit.CELSIUS?"), ("x", ""), (None, "")])
def test_a_default_that_is_a_value_of_the_enum_names_the_member(default, hint):
    made = dataclass(type("Made", (), {"__annotations__": {"x": Annotated[Unit, "a"]}, "x": default or 1}))
    with pytest.raises(SchemaError) as caught:
        Codec(made)
    assert f"{hint} Change the default or the annotation." in str(caught.value)
    assert ("Did you mean" in str(caught.value)) == bool(hint)
