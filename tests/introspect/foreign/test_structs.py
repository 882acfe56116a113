"""`msgspec.Struct` classes: objects like dataclasses, with their keys, tags and defaults."""

from __future__ import annotations

import pickle
from typing import Annotated, Any, Generic, TypeVar

import pytest
from libraries import library

from operator_schema import Codec, DecodeError, SchemaError, json_schema, tool

msgspec = library("msgspec")

T = TypeVar("T")


class Item(msgspec.Struct, rename="camel", frozen=True):
    """What is sold.

    Args:
        unit_price: In cents
    """

    unit_price: Annotated[int, msgspec.Meta(ge=1)]
    name: str = msgspec.field(name="label")
    in_stock: bool = True


class Order(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    note: str | None = None
    items: list[Item]
    tags: list[str] = []
    extra: dict[str, int] = msgspec.field(default_factory=lambda: {"a": 1})

    def __post_init__(self) -> None:
        if not self.items:
            message = "nothing is ordered"
            raise ValueError(message)


class Urgent(Order):
    hours: int


class Page(msgspec.Struct, Generic[T]):
    items: list[T]


class Cat(msgspec.Struct, tag="cat", tag_field="kind"):
    lives: int = 9


class Dog(msgspec.Struct, tag="dog", tag_field="kind"):
    lives: int = 1


VALUE = {"items": [{"unitPrice": 3, "label": "x", "inStock": False}]}
WRITTEN = {**VALUE, "tags": [], "extra": {"a": 1}}


def test_its_schema_has_its_keys_limits_and_defaults() -> None:
    assert json_schema(Order) == {
        "type": "object",
        "properties": {
            "note": {"type": "string"},
            "items": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "unitPrice": {"type": "integer", "minimum": 1, "description": "In cents"},
                        "label": {"type": "string"},
                        "inStock": {"type": "boolean", "default": True},
                    },
                    "required": ["unitPrice", "label"],
                    "description": "What is sold.",
                },
            },
            "tags": {"type": "array", "items": {"type": "string"}},
            "extra": {"type": "object", "additionalProperties": {"type": "integer"}},
        },
        "required": ["items"],
        "additionalProperties": False,
    }


@pytest.mark.parametrize("calls", [1, 300])
def test_it_is_decoded_and_encoded_in_both_tiers_as_msgspec_does(calls: int) -> None:
    codec = Codec(Order)
    for _ in range(calls):
        value = codec.decode(VALUE)
        assert value == msgspec.convert(VALUE, Order)
        assert codec.encode(value) == WRITTEN
        assert codec.decode(codec.encode(value)) == value


@pytest.mark.parametrize("calls", [1, 300])
def test_what_it_refuses_is_a_problem(calls: int) -> None:
    codec = Codec(Order)
    for _ in range(calls):
        with pytest.raises(DecodeError) as caught:
            codec.decode({"items": []})
        assert [p.code for p in caught.value.findings] == ["rejected"]
        with pytest.raises(DecodeError) as caught:
            codec.decode({**VALUE, "other": 1})
        assert [p.code for p in caught.value.findings] == ["unknown"]


def test_inheritance_and_generics_work() -> None:
    assert Codec(Urgent).decode({**VALUE, "hours": 2}).hours == 2
    assert list(json_schema(Urgent)["properties"]) == [*Urgent.__struct_encode_fields__]
    assert Codec(Page[Item]).decode({"items": VALUE["items"]}).items[0].name == "x"


@pytest.mark.parametrize("calls", [1, 300])
def test_a_tag_is_checked_by_decode_and_written_by_encode(calls: int) -> None:
    codec: Codec[Any] = Codec(list[Cat | Dog])
    alone = Codec(Cat)
    written = [{"kind": "dog", "lives": 1}, {"kind": "cat", "lives": 7}]
    for _ in range(calls):
        assert codec.decode(written) == [Dog(), Cat(7)]
        assert codec.encode([Dog(), Cat(7)]) == written == msgspec.to_builtins([Dog(), Cat(7)])
        assert alone.decode({"kind": "cat"}) == Cat()
        assert alone.encode(Cat()) == {"kind": "cat", "lives": 9}
        with pytest.raises(DecodeError) as caught:
            alone.decode({"kind": "dog"})
        assert [p.path for p in caught.value.findings] == [("kind",)]
    assert json_schema(Cat)["required"] == ["kind"]


class Priced:
    """What has a price.

    Args:
        price: in cents
    """

    __slots__ = ()


class Apple(msgspec.Struct, Priced):
    price: int


class Pear(Priced, msgspec.Struct):
    price: int


@pytest.mark.parametrize("cls", [Apple, Pear])
def test_the_docstring_of_a_mixin_describes_fields_on_either_side_of_struct(cls: Any) -> None:
    assert json_schema(cls)["properties"] == {"price": {"type": "integer", "description": "in cents"}}


class Rows(msgspec.Struct, array_like=True):
    a: int


class Partial(msgspec.Struct):
    a: int | msgspec.UnsetType = msgspec.UNSET


def test_what_has_no_json_keys_is_refused() -> None:
    with pytest.raises(SchemaError, match="it is array_like, so its JSON has no keys"):
        json_schema(Rows)
    with pytest.raises(SchemaError, match=r"UnsetType.*See .*docs/other-libraries\.md"):
        json_schema(Partial)


def test_codecs_and_tools_of_them_work_like_those_of_dataclasses() -> None:
    @tool
    def count(order: Order, times: int = 1) -> Item:
        """Count."""
        return order.items[times - 1]

    assert count.run({"order": VALUE, "times": 1}) == '{"unitPrice":3,"label":"x","inStock":false}'
    assert pickle.loads(pickle.dumps(Codec(Order))).decode(VALUE).note is None  # made right here
