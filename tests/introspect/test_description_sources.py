"""Where the description of a field comes from, and which source wins."""

from dataclasses import dataclass, field, make_dataclass
from typing import (
    Annotated,
    ClassVar,
)
from uuid import UUID

import pytest
from annotation_samples import Cat, Point, complaint_of, schema_of


class Doc:
    def __init__(self, documentation):
        self.documentation = documentation


@dataclass
class Nearest:
    """Every source of a description, and one less at each field.

    Args:
        a: docstring
        b: docstring
        c: docstring
        d: docstring
    """

    a: Annotated[UUID, "annotated"] = field(metadata={"description": "metadata"})
    """attribute"""
    b: Annotated[UUID, "annotated"] = field(metadata={"description": "metadata"})
    """attribute"""
    c: UUID = field(metadata={"description": "metadata"})
    """attribute"""
    d: UUID
    """attribute"""
    e: UUID
    """attribute
    over two lines
    """
    f: UUID
    g: str
    h: Annotated[UUID, Doc("documentation")] = field(metadata={"description": "metadata"})

    param_descriptions = {"a": "param"}


def texts_of(annotation, **options):
    properties = schema_of(annotation, **options)["properties"]
    return {name: schema.get("description") for name, schema in properties.items()}


def test_the_nearest_description_wins():
    assert texts_of(Nearest) == {
        "a": "param",
        "b": "annotated",
        "c": "metadata",
        "d": "docstring",
        "e": "UUID string",
        "f": "UUID string",
        "g": None,
        "h": "documentation",
    }


def test_attribute_docstrings_are_read_when_asked_for():
    assert texts_of(Nearest, attribute_docs=True) == {
        "a": "param",
        "b": "annotated",
        "c": "metadata",
        "d": "docstring",
        "e": "attribute\nover two lines",
        "f": "UUID string",
        "g": None,
        "h": "documentation",
    }


def test_descriptions_given_to_the_codec_win_over_all():
    given = {"a": "given", "g": "given", "f": ""}
    found = texts_of(Nearest, param_descriptions=given)
    assert (found["a"], found["b"], found["f"], found["g"]) == ("given", "annotated", None, "given")


def test_attribute_docstrings_without_source():
    made = make_dataclass("Made", [("a", int)])
    assert texts_of(made, attribute_docs=True) == {"a": None}


@dataclass
class Ancestor:
    """The ancestor.

    Args:
        a: ancestor's docstring
        b: ancestor's docstring
    """

    a: int = 0
    b: int = 0
    c: int = 0
    """ancestor's attribute"""

    param_descriptions = {"c": "ancestor's param"}


@dataclass
class Descendant(Ancestor):
    """The descendant.

    Args:
        b: descendant's docstring
        d: descendant's docstring
    """

    d: int = 0
    param_descriptions = {"a": "descendant's param"}


def test_descriptions_along_the_mro():
    assert texts_of(Descendant) == {
        "a": "descendant's param",
        "b": "descendant's docstring",
        "c": "ancestor's param",
        "d": "descendant's docstring",
    }
    assert texts_of(Ancestor) == {
        "a": "ancestor's docstring",
        "b": "ancestor's docstring",
        "c": "ancestor's param",
    }


@dataclass
class Documented:
    """A thing that says what it is.

    Over several lines.

    Args:
        x: A number.
    """

    x: int = 0


@dataclass
class DocumentedNode:
    """A node."""

    next: "DocumentedNode | None" = None


@dataclass
class HoldsDocumented:
    plain: Documented
    own: Annotated[Documented, "own"]
    items: list[Documented]
    maybe: Documented | None
    point: Point
    taken: Annotated[Documented, ""]
    node: DocumentedNode | None = None


def test_a_nested_class_is_described_by_its_docstring():
    text = "A thing that says what it is.\n\nOver several lines."
    properties = schema_of(HoldsDocumented)["properties"]
    assert properties["plain"]["description"] == text
    assert properties["own"]["description"] == "own"
    assert properties["items"]["items"]["description"] == text
    assert "description" not in properties["items"]
    assert properties["maybe"]["description"] == text
    assert "description" not in properties["point"]
    assert "description" not in properties["taken"]
    assert properties["plain"]["properties"]["x"]["description"] == "A number."
    assert properties["node"] == {"$ref": "#/$defs/DocumentedNode"}
    assert schema_of(HoldsDocumented)["$defs"]["DocumentedNode"]["description"] == "A node."


def test_the_docstring_of_the_registered_class_is_not_in_its_schema():
    assert "description" not in schema_of(Documented)
    assert schema_of(Annotated[Documented, "said outside"])["description"] == "said outside"


@pytest.mark.parametrize(
    ("documented", "near"), [("max_result", '"max_results"'), ("maxResults", '"max_results"'), ("zzz", None)]
)
@pytest.mark.parametrize(
    "form",
    ["Args:\n        {}: text", ":param {}: text", "Parameters\n    ----------\n    {} : int\n        text"],
)
def test_a_documented_parameter_that_does_not_exist(documented, near, form):
    made = make_dataclass("Made", [("max_results", int), ("query", str)])
    made.__doc__ = f"Search.\n\n    {form.format(documented)}\n    "
    complaint = complaint_of(made)
    assert complaint.code == "unknown_description"
    assert f'"{documented}"' in complaint.message
    assert complaint.suggestion == near
    assert '"max_results", "query"' in complaint.remedy


def test_a_documented_attribute_that_is_no_field():
    @dataclass
    class Some:
        """Some.

        Attributes:
            a: A field.
            b: Set afterwards.
            c: Of the class.
            d: A property.
        """

        a: int
        b: int = field(init=False, default=0)
        c: ClassVar[int] = 3

        @property
        def d(self):
            return self.a

    assert texts_of(Some) == {"a": "A field."}


def test_the_docstring_that_dataclass_writes_is_no_description():
    holder = make_dataclass("Holder", [("cat", Cat), ("point", Point)])
    assert texts_of(holder) == {"cat": None, "point": None}
