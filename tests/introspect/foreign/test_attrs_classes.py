"""Classes of attrs: objects like dataclasses, made by their constructors."""

from __future__ import annotations

import json
import pickle
from typing import Annotated, Any, Generic, TypeVar

import pytest
from libraries import library

from operator_schema import Codec, DecodeError, EncodeError, SchemaError, json_schema, tool

attrs = library("attrs")

T = TypeVar("T")


@attrs.define
class Author:
    """Who wrote it."""

    name: str
    age: int | None = None


def _is_positive(_instance: object, _attribute: object, value: int) -> None:
    if value < 1:
        message = "it has no pages"
        raise ValueError(message)


@attrs.frozen
class Book:
    """A book.

    Args:
        title: What is on the cover
    """

    title: str
    author: Author
    pages: int = attrs.field(default=1, validator=_is_positive, kw_only=True)
    tags: list[str] = attrs.field(factory=list, metadata={"description": "Any", "alias": "labels"})
    shelf: str = attrs.field(converter=str.upper, default="a")
    length: int = attrs.field(init=False, default=0)

    def __attrs_post_init__(self) -> None:
        if self.title == "forbidden":
            message = "that book is forbidden"
            raise ValueError(message)


@attrs.define
class Novel(Book):
    genre: str = "crime"


@attrs.define
class Page(Generic[T]):
    items: list[T]
    next: Page[T] | None = None


VALUE = {"title": "A", "author": {"name": "B"}, "pages": 3, "labels": ["x"], "shelf": "C"}


def test_its_schema_is_that_of_a_dataclass_with_these_fields() -> None:
    assert json_schema(Book) == {
        "type": "object",
        "properties": {
            "title": {"type": "string", "description": "What is on the cover"},
            "author": {
                "type": "object",
                "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
                "required": ["name"],
                "description": "Who wrote it.",
            },
            "pages": {"type": "integer", "default": 1},
            "labels": {"type": "array", "items": {"type": "string"}, "description": "Any"},
            "shelf": {"type": "string", "default": "a"},
        },
        "required": ["title", "author"],
    }


@pytest.mark.parametrize("calls", [1, 300])
def test_it_is_decoded_and_encoded_in_both_tiers(calls: int) -> None:
    codec = Codec(Book)
    for _ in range(calls):
        value = codec.decode(VALUE)
        assert value == Book("A", Author("B"), ["x"], "c", pages=3)
        assert value.shelf == "C"
        assert codec.encode(value) == VALUE
        assert codec.decode({"title": "A", "author": {"name": "B", "age": 2}}).tags == []


@pytest.mark.parametrize("calls", [1, 300])
def test_validators_run_and_what_they_say_is_a_problem_there(calls: int) -> None:
    codec = Codec(list[Book])
    for _ in range(calls):
        with pytest.raises(DecodeError) as caught:
            codec.decode([VALUE, {**VALUE, "pages": 0}, {**VALUE, "title": "forbidden"}])
    assert [(p.path, p.code) for p in caught.value.findings] == [((1,), "rejected"), ((2,), "rejected")]
    assert "it has no pages" in caught.value.findings[0].message


def test_inheritance_and_generics_work() -> None:
    novel = Codec(Novel).decode({**VALUE, "genre": "love"})
    assert (novel.genre, novel.title) == ("love", "A")
    page = Codec(Page[Author]).decode({"items": [{"name": "a"}], "next": {"items": []}})
    assert page == Page([Author("a")], Page([]))
    with pytest.raises(DecodeError):
        Codec(Page[int]).decode({"items": ["a"]})


def test_members_of_a_union_are_told_apart_like_dataclasses() -> None:
    codec: Codec[Any] = Codec(Author | Book | str)
    assert codec.decode({"name": "x"}) == Author("x")
    assert isinstance(codec.decode(VALUE), Book)
    assert codec.encode(Author("x")) == {"name": "x"}


def test_a_codec_of_one_pickles() -> None:
    codec = pickle.loads(pickle.dumps(Codec(Book)))  # made right here
    assert codec.decode(VALUE).title == "A"


def test_a_tool_takes_and_returns_one() -> None:
    @tool
    def find(author: Author, limit: int = 3) -> list[Author]:
        """Find."""
        return [author] * limit

    assert find.run({"author": {"name": "x"}, "limit": 1}) == '[{"name":"x"}]'


@attrs.define
class Client:
    _token: str
    host: str = attrs.field(default="localhost", alias="hostName")
    _retries: int = attrs.field(default=3, metadata={"alias": "maxRetries"})


@pytest.mark.parametrize("calls", [1, 300])
def test_the_key_of_a_field_is_the_name_by_which_the_constructor_takes_it(calls: int) -> None:
    for codec, wrap in ((Codec(Client), lambda each: each), (Codec(list[Client]), lambda each: [each])):
        for _ in range(calls):
            full = wrap({"token": "x", "hostName": "h", "maxRetries": 4})
            assert codec.decode(full) == wrap(Client("x", "h", 4))
            assert codec.decode(wrap({"token": "x"})) == wrap(Client("x"))
            assert codec.encode(wrap(Client("x", "h", 4))) == full
    schema = json_schema(Client)
    assert list(schema["properties"]) == ["token", "hostName", "maxRetries"]
    assert schema["required"] == ["token"]
    with pytest.raises(DecodeError, match="token: missing"):
        Codec(Client).decode({"_token": "x"})


@attrs.define
class Doubled:
    amount: int
    total: int = attrs.field(init=False, metadata={"description": "Twice the amount"})

    def __attrs_post_init__(self) -> None:
        self.total = 2 * self.amount


def test_what_the_class_computes_is_in_the_result_of_a_tool() -> None:
    @tool
    def double(given: Doubled) -> Doubled:
        return given

    assert "total" not in str(double.input_schema())
    output = double.output_schema()
    assert output is not None
    assert output["properties"]["total"] == {"type": "integer", "description": "Twice the amount"}
    assert json.loads(double.run({"amount": 2})) == {"amount": 2, "total": 4}
    assert Codec(Doubled).encode(Doubled(2)) == {"amount": 2}


def test_a_field_without_annotation_is_named() -> None:
    bare = attrs.make_class("Bare", ["x"])
    with pytest.raises(SchemaError, match=r"x.*there is none"):
        json_schema(bare)


def test_a_subclass_that_was_not_decorated_is_named() -> None:
    class Plain(Author):
        more: int

    with pytest.raises(SchemaError, match="it isn't an attrs class itself"):
        json_schema(Plain)


def test_annotations_written_as_text_in_another_module_are_read_there() -> None:
    made: dict[str, Any] = {}
    source = "@define\nclass Base:\n    when: 'Stamp'\n"
    exec(source, {"define": attrs.define, "__name__": "elsewhere", "Stamp": int}, made)  # noqa: S102  # another module

    @attrs.define
    class Mine(Author):
        size: Annotated[int, "How large"] = 3

    assert json_schema(Mine)["properties"]["size"] == {
        "type": "integer",
        "default": 3,
        "description": "How large",
    }


@attrs.define
class Converted:
    a: list[int] = attrs.field(converter=tuple)


def test_what_a_converter_makes_of_another_type_than_annotated_cannot_be_encoded() -> None:
    codec = Codec(Converted)
    value = codec.decode({"a": [1]})
    assert value.a == (1,)
    with pytest.raises(EncodeError, match="expected list, got tuple"):
        codec.encode(value)
