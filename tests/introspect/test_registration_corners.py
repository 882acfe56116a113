"""Registration in the corners: classes that can't be built, leaves that don't work, odd aliases."""

from __future__ import annotations

import abc
import enum
import re
import sys
from dataclasses import dataclass, field, make_dataclass
from typing import Annotated, Any, ClassVar, Literal, Optional, Union

import pytest
from typing_extensions import TypeAliasType

from operator_schema import Codec, SchemaError, SchemaLeaf
from operator_schema.introspect.ambiguity_checks import node_name
from operator_schema.introspect.source_code import attribute_docstrings
from operator_schema.types import register_leaf


def complaint_of(annotation, **options):
    with pytest.raises(SchemaError) as caught:
        Codec(annotation, **options)
    [complaint] = caught.value.findings
    return complaint


@dataclass
class Parent:
    x: int


def test_a_subclass_that_forgot_its_decorator():
    class Child(Parent):
        y: int

    assert "@dataclass" in complaint_of(Child).remedy

    class Plain(Parent):
        pass

    assert Codec(Plain).decode({"x": 1}) == Plain(1)


def test_an_abstract_class():
    @dataclass
    class Shape(abc.ABC):
        x: int

        @abc.abstractmethod
        def area(self): ...

    assert "abstract" in complaint_of(Shape).message


def test_an_init_of_its_own():
    @dataclass(init=False)
    class Own:
        x: int
        y: int

        def __init__(self, x, *, y):
            self.x, self.y = x, y

    @dataclass(init=False)
    class Anything:
        x: int

        def __init__(self, **fields):
            vars(self).update(fields)

    @dataclass(init=False)
    class Other:
        x: int

        def __init__(self, foo):
            self.x = foo

    assert Codec(Own).decode({"x": 1, "y": 2}) == Own(1, y=2)
    assert Codec(Anything).decode({"x": 1}) == Anything(x=1)
    assert '"x"' in complaint_of(Other).message


def test_an_init_of_its_own_beside_the_decorator():
    """`@dataclass` leaves an `__init__` alone that the class brings."""

    @dataclass
    class Hand:
        a: int

        def __init__(self, b): ...

    class Child(Parent):
        def __init__(self, q): ...

    @dataclass(init=False)
    class Positional:
        a: int

        def __init__(self, a, /): ...

    @dataclass
    class Wanting:
        a: int

        def __init__(self, a, extra, more=1, *, word, other=2): ...

    @dataclass
    class Fitting:
        a: int
        constant: ClassVar[int] = 5

        def __init__(self, a, more=1, *, other=2):
            self.a = a * more + 0 * other

    for cls, name in ((Hand, '"a"'), (Child, '"x"'), (Positional, '"a"'), (Wanting, '"extra", "word"')):
        complaint = complaint_of(cls)
        assert (complaint.path, complaint.code) == (("__init__",), "unsupported")
        assert name in complaint.message
    assert Codec(Fitting).decode({"a": 3}) == Fitting(3)


class Grams(float):
    __slots__ = ()


def leaf(**changes):
    parts = {
        "type": Grams,
        "json_schema": {"type": "number"},
        "decode": Grams,
        "encode": float,
        "placeholder": Grams(1),
    }
    return SchemaLeaf(**{**parts, **changes})


ENDLESS: dict[str, Any] = {"type": "number"}
ENDLESS["anyOf"] = [ENDLESS]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"json_schema": {"type": 5}}, 'has no "type"'),
        ({"json_schema": {"type": None}}, 'has no "type"'),
        ({"json_schema": ENDLESS}, "contains itself"),
        ({"encode": str}, "not of the type"),
        ({"decode": lambda value: float(value)}, "not an instance of Grams"),  # noqa: PLW0108  # no class of its own
        ({"decode": {}.__getitem__}, "KeyError"),
    ],
)
def test_a_leaf_that_does_not_work(changes, words):
    with pytest.raises(SchemaError, match=words):
        leaf(**changes)


@pytest.mark.parametrize("wrong", [Grams, 5, None])
def test_register_leaf_takes_a_leaf(wrong):
    with pytest.raises(TypeError, match="SchemaLeaf"):
        register_leaf(wrong)


def test_leaves_of_a_generic_class():
    pattern = SchemaLeaf(re.Pattern, {"type": "string"}, re.compile, lambda p: p.pattern, re.compile("x"))
    assert Codec(re.Pattern[str], leaves=[pattern]).json_schema() == {"type": "string"}


def test_memory_errors_are_nobodys_complaint():
    class Hungry:
        def __class_getitem__(cls, item):
            raise MemoryError

    @dataclass
    class One:
        a: Hungry[int]

    with pytest.raises(MemoryError):
        Codec(One, namespace=locals())

    @dataclass
    class Inner:
        a: Optional[list["Hungry[int]"]]  # noqa: UP037  # a forward reference inside

    with pytest.raises(MemoryError):
        Codec(Inner, namespace=locals())


@pytest.mark.skipif(sys.version_info < (3, 12), reason="aliases are evaluated lazily since Python 3.12")
def test_memory_errors_of_an_alias():
    scope: dict[str, Any] = {}
    exec("def eat(): raise MemoryError\ntype Eats = eat()", scope)  # noqa: S102  # syntax of Python 3.12
    with pytest.raises(MemoryError):
        Codec(scope["Eats"])


def test_aliases_that_are_known_already():
    number = TypeAliasType("number", int)
    made = make_dataclass("Made", [("a", number), ("b", list[number])])
    assert Codec(made).decode({"a": 1, "b": [2]}) == made(1, [2])


def test_classes_of_one_module_and_name_are_numbered():
    def node():
        @dataclass
        class Node:
            next: Node | None = None

        return Node

    made = make_dataclass("Made", [("a", node()), ("b", node())])
    names = list(Codec(made).json_schema()["$defs"])
    assert len(set(names)) == 2
    assert names[1] == f"{names[0]}_2"


def test_a_literal_without_values_and_annotations_inside_bad_ones():
    assert "no values" in complaint_of(Literal[()]).message
    assert complaint_of(Annotated[complex, "text"]).code == "unsupported"


def test_unions_inside_what_can_t_be_told_apart():
    one, other = list[Union[int, str]], list[Union[int, bool]]
    assert "a union" in complaint_of(Union[one, other]).message
    json = TypeAliasType("json", Union[int, "list[json]"])
    names = complaint_of(Union[list[json], list[int]], namespace={"json": json}).message
    assert "integer" in names


def test_every_kind_of_node_has_a_name():
    assert node_name(Codec(dict[str, list[Any]]).graph.root) == "a map of an array of any value"


def test_null_and_any_may_stand_together():
    assert Codec(Optional[Annotated[None, "nothing"]]).decode(None) is None
    codec = Codec(list[Optional[Any]])
    assert codec.encode([None, 5, "x"]) == [None, 5, "x"]


@dataclass
class Documented:
    """A class.

    Args:
        a:
        b: The second.
    """

    a: int
    """The first,
    on two lines."""
    b: int = 0
    "not this one"
    c: int = field(default=0)
    constant = 3
    "no field"
    odd: int = 0
    5  # noqa: B018  # no docstring


def test_attribute_docstrings():
    properties = Codec(Documented, attribute_docs=True).json_schema()["properties"]
    assert properties["a"]["description"] == "The first,\non two lines."
    assert properties["b"]["description"] == "The second."
    assert "description" not in properties["c"]
    assert "description" not in Codec(Documented).json_schema()["properties"]["a"]


def test_attribute_docstrings_without_source():
    made = make_dataclass("Made", [("a", int)])
    assert Codec(made, attribute_docs=True).decode({"a": 1}) == made(1)
    assert attribute_docstrings(Documented, ["c"]) == {}


def test_an_unhashable_metaclass():
    class Meta(type):
        def __eq__(cls, other):
            return True

        __hash__ = None

    class Odd(metaclass=Meta):
        pass

    assert complaint_of(Odd).code == "unsupported"


def test_an_enum_that_says_itself_what_value_is():
    class Spelled(enum.Enum):
        ONE = 1
        TWO = 2

        @property
        def value(self):
            return self.name.lower()

    class Base(enum.Enum):
        @property
        def value(self):
            return f"#{self._value_}"

    class Inherited(Base):
        ONE = 1

    assert Codec(Spelled).json_schema() == {"type": "string", "enum": ["one", "two"]}
    assert Codec(Spelled).decode("two") is Spelled.TWO
    assert Codec(Spelled).encode(Spelled.TWO) == "two"
    assert Codec(Inherited).json_schema() == {"type": "string", "enum": ["#1"]}


def test_aliases_of_an_enum_stand_for_their_member():
    class Named(enum.StrEnum):
        FIRST = "a"
        ALSO = "a"
        SECOND = "b"

    class Numbered(enum.Enum):
        ONE = 1
        YES = True
        UNO = 1.0
        NONE = None

    assert Codec(Named).json_schema() == {"type": "string", "enum": ["a", "b"]}
    assert Codec(Named).decode("a") is Named.FIRST
    assert Codec(Numbered).json_schema() == {"enum": [1, None]}


def test_a_metaclass_that_equals_everything():
    class Meta(enum.EnumMeta):
        def __hash__(cls):
            return hash(int)

        def __eq__(cls, _other):
            return True

    class Odd(enum.Enum, metaclass=Meta):
        ONLY = "only"

    assert Codec(Odd).json_schema() == {"type": "string", "enum": ["only"]}
    assert Codec(list[Odd]).decode(["only"]) == [Odd.ONLY]


class Lazy:
    """An alias whose value can't be had, as those of Python 3.12 may be."""

    def __init__(self, error):
        self.error = error
        self.__name__ = "Odd"

    @property
    def __value__(self):
        raise self.error


Lazy.__name__ = "TypeAliasType"  # by which every implementation of PEP 695 is known


def test_an_alias_whose_value_can_t_be_had():
    complaint = complaint_of(Lazy(KeyError("gone")))
    assert complaint.code == "unresolved"
    assert "gone" in complaint.message
    with pytest.raises(MemoryError):
        Codec(Lazy(MemoryError()))


def test_text_that_stands_twice():
    made = make_dataclass("Made", [("a", list["Both"]), ("b", list["Both"])])  # noqa: F821  # given below
    codec = Codec(made, namespace={"Both": int | str})
    assert codec.decode({"a": [1], "b": ["x"]}) == made([1], ["x"])


def test_objects_past_the_depth_of_the_codec():
    assert complaint_of(list[Parent], max_depth=1).code == "too_deep"
