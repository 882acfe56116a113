"""The base of immutable values."""

from __future__ import annotations

import copy
import importlib
import inspect
import pickle
import pkgutil
import re
from dataclasses import MISSING
from typing import Generic, TypeVar, get_args, get_origin

import pytest

import operator_schema
from operator_schema import Codec, SchemaLeaf, immutable
from operator_schema.findings import DecodeReport
from operator_schema.immutable import HAS_GIL, Value, ValueType, content_of
from operator_schema.introspect.nodes import ANY, AnyNode, ArrayNode, Field, Graph, ScalarNode
from operator_schema.tools import ToolAnnotations


def test_nodes_are_values():
    one, two = ArrayNode(ScalarNode("string")), ArrayNode(ScalarNode("string"))
    assert one == two
    assert hash(one) == hash(two)
    assert one != ArrayNode(ANY)
    assert one != ScalarNode("string")
    assert repr(ANY) == "AnyNode(description=None)"
    assert one.replace(description="x").description == "x"
    assert one.description is None
    assert pickle.loads(pickle.dumps(one)) == one


def test_what_holds_a_dict_has_a_hash_only_where_it_can():
    graph = Graph(AnyNode(), {})
    assert graph == Graph(ANY, {})
    with pytest.raises(TypeError):
        hash(graph)


def test_a_name_that_there_is_not_is_refused_and_not_lost():
    with pytest.raises(TypeError) as refused:
        ArrayNode(ANY).replace(other=1, descripton="x", items=ANY)
    said = "ArrayNode has nothing to replace that is named descripton, other; did you mean description?"
    assert str(refused.value) == said
    with pytest.raises(TypeError, match=r"that is named zzz$"):
        ArrayNode(ANY).replace(zzz=1)


def test_fields_are_replaced_by_name():
    field = Field("a", "a", ANY, True, None, False, False, None, ())
    assert field.replace(key="b").key == "b"


@pytest.mark.parametrize("default", [MISSING, None, 0, (), [1]])
def test_a_copied_field_has_a_default_where_the_field_has_one(default):
    field = Field("a", "b", ANY, False, default, False, False, "text", (1,))
    for copied in (pickle.loads(pickle.dumps(field)), copy.copy(field), copy.deepcopy(field)):
        assert copied == field
        assert (copied.default is MISSING) == (default is MISSING)


def all_subclasses() -> list[type[Value]]:
    for module in pkgutil.walk_packages(operator_schema.__path__, "operator_schema."):
        if not module.name.endswith("__main__"):
            try:
                importlib.import_module(module.name)
            except ImportError as error:
                # WebAssembly has no event loop for trio, and serves no pages. Frameworks are in environments
                # of their own, and without them, a folder of tests may have the name of one.
                if error.name not in {"trio", "starlette", "uvicorn"} and ".adapters." not in module.name:
                    raise
    return sorted(Value.__subclasses__(), key=lambda cls: cls.__name__)


VALUES = [cls for cls in all_subclasses() if not cls.__name__.endswith("Draft")]


@pytest.mark.parametrize("cls", VALUES)
def test_every_value_has_a_slot_for_each_annotation(cls):
    assert list(cls.__slots__) == list(cls.__annotations__)
    assert not hasattr(cls, "__dict__") or "__dict__" not in vars(cls)


FAST = [cls for cls in VALUES if "__new__" in vars(cls)]


@pytest.mark.parametrize("cls", FAST)
def test_a_fast_constructor_stores_what_the_class_annotates(cls):
    own = inspect.signature(vars(cls)["__new__"])
    assert list(own.parameters)[1:] == list(cls.__annotations__) or not HAS_GIL
    given = tuple(range(len(cls.__slots__)))
    made = cls(*given)
    assert made.__class__ is cls
    assert content_of(made) == given


def without_gil(cls, monkeypatch):
    """Make a class again, as it is made where threads run at once."""
    written = {name: vars(cls)[name] for name in vars(cls).keys() - {*cls.__slots__, "_draft", "__dict__"}}
    monkeypatch.setattr(immutable, "HAS_GIL", False)
    return ValueType(cls.__name__, cls.__bases__, {**written, **cls.__field_defaults__})


@pytest.mark.parametrize("cls", FAST)
def test_a_class_stores_the_same_without_the_gil(cls, monkeypatch):
    made_again = without_gil(cls, monkeypatch)
    names, defaults = cls.__slots__, cls.__field_defaults__
    least = len(names) - len(defaults)
    needed = tuple(map(str, range(least)))
    ways = [(needed, {}), ((), dict(zip(names, needed, strict=False)))]
    for name in defaults:
        text = str(cls.__annotations__[name])
        is_tuple = cls in WITH_TUPLES and name[0] != "_" and text.startswith("tuple[")
        others = ((), [], ("x",), ["x"]) if is_tuple else (0, False, None, "x")
        ways += [(needed, {name: given}) for given in others]
    for content, named in ways:
        one, other = cls(*content, **named), made_again(*content, **named)
        assert type(other) is made_again
        for name in names:
            # The part that a result makes of its text is another one each time.
            assert repr(getattr(other, name)) == repr(getattr(one, name))
    with pytest.raises(AttributeError, match="is immutable"):
        setattr(other, names[0], 1)
    with pytest.raises(TypeError, match="has no argument zzz"):
        made_again(*needed, zzz=1)


@pytest.mark.parametrize(
    "cls", [cls for cls in VALUES if "__init__" not in vars(cls) or "__reduce__" not in vars(cls)]
)
def test_the_signature_of_a_value_is_its_attributes_unless_it_is_made_of_something_else(cls):
    assert list(inspect.signature(cls).parameters) == list(cls.__annotations__)


def test_the_signature_has_the_defaults():
    assert str(inspect.signature(DecodeReport)) == "(instance: 'T', findings: 'tuple[Finding, ...]')"
    assert str(inspect.signature(AnyNode)) == "(description: 'str | None' = None)"
    assert inspect.signature(ArrayNode).parameters["container"].default is list


class Point(Value):
    x: int
    y: int = 0


def test_a_value_takes_its_attributes_by_position_and_name():
    assert Point(1) == Point(x=1) == Point(1, 0) == Point(1, y=0) == Point(y=0, x=1)
    assert repr(Point(1, y=2)) == "Point(x=1, y=2)"


@pytest.mark.parametrize(
    ("args", "named", "fault"),
    [
        ((), {}, "Point() is missing x"),
        ((), {"y": 1}, "Point() is missing x"),
        ((1, 2, 3), {}, "Point() takes 2 arguments, not 3"),
        ((1,), {"x": 2}, "Point() got x twice"),
        ((1,), {"z": 2}, "Point() has no argument z"),
    ],
)
def test_a_value_refuses_other_arguments(args, named, fault):
    with pytest.raises(TypeError, match=re.escape(fault)):
        Point(*args, **named)


@pytest.mark.parametrize("value", [Point(1, 2), ArrayNode(ANY)])
def test_a_value_refuses_to_change(value):
    name = value.__slots__[0]
    with pytest.raises(AttributeError, match=f"is immutable: {name} can't be set"):
        setattr(value, name, 3)
    with pytest.raises(AttributeError, match="can't be deleted"):
        delattr(value, name)
    with pytest.raises(AttributeError, match="immutable"):
        value.__class__ = AnyNode
    with pytest.raises(AttributeError, match="immutable"):
        value.other = 1


T = TypeVar("T")


def test_classes_that_say_their_type_are_subscribed_with_it():
    for cls in (Codec, SchemaLeaf, DecodeReport):
        assert get_origin(cls[int]) is cls
        assert get_args(cls[int]) == (int,)
        assert cls[(int,)] == cls[int]  # as `typing.get_type_hints` writes it
        with pytest.raises(TypeError, match=f"{cls.__name__} takes one type, not 2"):
            _ = cls[int, str]
    assert DecodeReport[int](1, ()) == DecodeReport(1, ())
    assert Codec[int](int).decode(3) == 3


def test_so_are_subclasses_of_a_codec():
    class Mine(Codec[T], Generic[T]):
        pass

    class Ints(Codec[int]):
        pass

    assert Mine[int](int).decode(3) == Ints(int).decode(3) == 3


INTERNAL = {"operator_schema.introspect.nodes", "operator_schema.tools.metadata"}
"""Only registration makes their values, by the dozen, and gives them tuples."""

WITH_TUPLES = [
    cls
    for cls in VALUES
    if cls.__module__ not in INTERNAL
    and vars(cls).get("__init__") in {None, object.__init__}
    and any(str(text).startswith("tuple[") and name[0] != "_" for name, text in cls.__annotations__.items())
]


@pytest.mark.parametrize("cls", WITH_TUPLES)
def test_a_list_in_place_of_a_tuple_is_copied_to_one(cls):
    kinds = {name: str(text) for name, text in cls.__annotations__.items()}
    names = [name for name, text in kinds.items() if text.startswith("tuple[") and name[0] != "_"]
    lists = {name: ["x"] for name in names}
    given = [lists.get(name) for name in kinds]
    made = cls(*given)
    same = cls(*[tuple(one) if isinstance(one, list) else one for one in given])
    for one in lists.values():
        one.append("y")
    assert [getattr(made, name) for name in names] == [("x",)] * len(names)
    if cls.__eq__ is Value.__eq__:
        assert made == same
        assert cls.__hash__ is None or hash(made) == hash(same)


def test_there_are_values_with_tuples_of_each_way_to_be_made():
    assert {"ToolResult", "Answer", "Finding", "Turn", "Change"} <= {cls.__name__ for cls in WITH_TUPLES}


def test_own_constructors_keep_nothing_that_can_be_changed():
    schema, meta = {"type": "string"}, {"a": {"b": 1}}
    leaf = SchemaLeaf(str, json_schema=schema, decode=str, encode=str, placeholder="x")
    annotations = ToolAnnotations(meta=meta)
    schema["type"] = "integer"
    meta["a"]["b"] = 2
    assert leaf.json_schema == {"type": "string"}
    assert annotations.meta == {"a": {"b": 1}}
