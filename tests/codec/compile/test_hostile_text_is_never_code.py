"""Text, numbers and classes that would write code of their own into what is generated."""

from __future__ import annotations

import builtins
import enum
import keyword
from dataclasses import dataclass, field, make_dataclass
from typing import Annotated, Any, Literal, NamedTuple, TypedDict, Union

import pytest
from annotated_types import Ge, Len, MultipleOf
from compile_samples import check

from operator_schema import Codec, DecodeError, SchemaLeaf
from operator_schema.codec.compile.generated_source import GeneratedSource
from operator_schema.message_text import class_name

CODE = "x'] or __import__('builtins').ran_code.append(1) or ['x"


class Text(str):
    """Says that it is code, or another text, by every method that a writer of source could call."""

    __slots__ = ()

    def __repr__(self):
        return "__import__('builtins').ran_code.append(1)"

    __str__ = __repr__

    def __format__(self, _spec):
        return repr(self)

    def __eq__(self, other):
        return False

    def __hash__(self):
        return 1


class Number(int):
    """Says the same of a number."""

    __repr__ = Text.__repr__
    __str__ = Text.__repr__
    __format__ = Text.__format__


class Fraction(float):
    """Says the same of a fraction."""

    __repr__ = Text.__repr__
    __str__ = Text.__repr__
    __format__ = Text.__format__


class Key(enum.StrEnum):
    FIRST = "the first"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Mood(enum.Enum):
    GOOD = Text("good")
    BAD = Number(3)


class Equal(type):
    """Makes classes that equal every other, and have the name of their choice."""

    def __eq__(cls, other):
        return True

    def __hash__(cls):
        return hash(int)

    @property
    def __name__(cls):
        return CODE


class Claimed(metaclass=Equal):
    def __init__(self, x: int = 0):
        self.x = x


ONE_FIELD = ("x", int)
HOSTILE_TEXTS = [
    "\n",
    "'",
    '"""',
    "\\",
    "{x}",
    "%s",
    "\u2028",
    "größe",
    "",
    CODE,
    "__class__",
    "__dict__",
    "class",
]


@pytest.fixture(autouse=True)
def ran_code(monkeypatch):
    ran: list[int] = []
    monkeypatch.setattr(builtins, "ran_code", ran, raising=False)
    yield
    assert ran == []


def compiled(annotation: Any, **options: Any) -> Codec[Any]:
    codec = Codec(annotation, **options).compile()
    assert codec.compiled == {"decode", "encode"}
    return codec


def of_one_field(annotation: Any = int, **options: Any) -> type[Any]:
    return make_dataclass("Holder", [("x", annotation, field(**options))])


@pytest.mark.parametrize("alias", [Key.FIRST, Text("a key"), *HOSTILE_TEXTS], ids=ascii)
def test_aliases(alias):
    key = str.__str__(alias)
    for options in ({}, {"default": 3}):
        codec = compiled(of_one_field(metadata={"alias": alias}, **options))
        for value in ({key: 1}, {}, {key: "1"}, {key: 1, "more": 2}):
            check(codec, value)
        assert codec.encode(codec.decode({key: 1})) == {key: 1}


@pytest.mark.parametrize("text", [Text("a default"), Key.FIRST, *HOSTILE_TEXTS], ids=ascii)
def test_defaults(text):
    codec = compiled(of_one_field(str, default=text))
    for value in ({}, {"x": "a"}):
        check(codec, value)
    made = codec.decode({}).x
    assert (type(made), str.__str__(made)) == (type(text), str.__str__(text))


@pytest.mark.parametrize("number", [Number(5), Level.LOW, True], ids=["subclass", "member", "boolean"])
def test_defaults_that_are_numbers(number):
    codec = compiled(of_one_field(type(number) if number is True else int, default=number))
    check(codec, {})
    assert codec.decode({}).x is number


@pytest.mark.parametrize("name", [*keyword.kwlist, *keyword.softkwlist, "__init__", "self", "größe"])
def test_names_of_fields(name):
    if not keyword.iskeyword(name):
        cls = make_dataclass("Holder", [(name, int)], namespace={})
        codec = compiled(cls) if name != "__init__" else None
        if codec is not None:
            check(codec, {name: 1})
    record = compiled(TypedDict("Record", {name: int}))
    check(record, {name: 1})
    check(record, {})


@pytest.mark.parametrize("key", [Text("a key"), Key.FIRST, *HOSTILE_TEXTS], ids=ascii)
@pytest.mark.parametrize("total", [True, False])
def test_keys_of_typed_dicts(key, total):
    plain = str.__str__(key)
    codec = compiled(TypedDict("Record", {key: int}, total=total))
    for value in ({plain: 1}, {}, {plain: "1"}):
        check(codec, value)
    assert codec.decode({plain: 1}) == {plain: 1}


@pytest.mark.parametrize("member", [Key.FIRST, *HOSTILE_TEXTS, Level.HIGH, 7, True, None], ids=ascii)
def test_members_of_literals(member):
    codec = compiled(of_one_field(Literal[member, "other"]))
    given = member.value if isinstance(member, enum.Enum) else member
    for value in (given, "other", "neither", 2, 1, None):
        check(codec, {"x": value})


@pytest.mark.parametrize("cls", [Key, Level, Mood])
def test_values_of_enums(cls):
    codec = compiled(list[cls])
    for value in (["the first"], [1, 2], [2.0], ["good"], [3], [True]):
        check(codec, value)


@pytest.mark.parametrize("tag", [*HOSTILE_TEXTS, Key.FIRST, Level.LOW], ids=ascii)
def test_discriminators(tag):
    first = make_dataclass("First", [("kind", Literal[tag]), ONE_FIELD])
    second = make_dataclass("Second", [("kind", Literal["second"]), ONE_FIELD])
    codec = compiled(Union[first, second])
    given = tag.value if isinstance(tag, enum.Enum) else tag
    for value in ({"kind": given, "x": 1}, {"kind": "second", "x": 1}, {"kind": "none"}, {"x": 1}):
        check(codec, value)


@pytest.mark.parametrize(
    ("annotation", "values"),
    [
        (Annotated[int, Ge(Number(3))], [2, 3, 3.0]),
        (Annotated[float, Ge(Fraction(0.5))], [0, 1, 0.5]),
        (Annotated[int, MultipleOf(Number(3))], [3, 4]),
        (Annotated[str, Len(Number(2), Number(3))], ["a", "ab", "abcd"]),
        (Annotated[list[int], Len(Number(1))], [[], [1]]),
    ],
    ids=str,
)
def test_limits(annotation, values):
    codec = compiled(of_one_field(annotation))
    for value in values:
        check(codec, {"x": value})


def test_a_depth_that_is_a_subclass_of_int():
    codec = compiled(list[list[int]], max_depth=Number(5))
    check(codec, [[1]])
    assert type(codec.__reduce__()[1][1]["max_depth"]) is int


def test_names_of_classes():
    named = make_dataclass("Holder", [ONE_FIELD])
    named.__name__ = Text("Holder")
    check(compiled(named), {"x": 1})
    renamed = make_dataclass("Holder", [ONE_FIELD])
    renamed.__name__ = renamed.__qualname__ = CODE
    check(compiled(renamed), {"x": 1})
    assert compiled(renamed).decode({"x": 1}) == renamed(1)


def test_a_class_that_says_it_equals_int():
    leaf = SchemaLeaf(Claimed, {"type": "integer"}, Claimed, lambda claimed: claimed.x, Claimed(1))
    codec = compiled(make_dataclass("Holder", [("one", Annotated[Claimed, leaf]), ("two", int)]))
    made = codec.decode({"one": 1, "two": 2})
    assert (type.__instancecheck__(Claimed, made.one), made.one.x, made.two) == (True, 1, 2)
    assert codec.encode(made) == {"one": 1, "two": 2}
    with pytest.raises(DecodeError, match="two"):
        codec.decode({"one": 1, "two": "2"})
    assert CODE not in codec.source()
    assert class_name(Claimed) == "Claimed"


@dataclass(frozen=True, slots=True)
class Slotted:
    x: int
    größe: str = "a"  # noqa: PLC2401  # such names are what is tested


class Named(NamedTuple):
    x: int
    type: str = CODE


@pytest.mark.parametrize("cls", [Slotted, Named])
def test_other_ways_to_make_an_instance(cls):
    codec = compiled(cls)
    for value in ({"x": 1}, {"x": 1, "größe": CODE, "type": "'"}):
        check(codec, value)


@pytest.mark.parametrize("write", [GeneratedSource.quoted, GeneratedSource.attribute])
def test_a_subclass_of_str_that_gets_as_far_as_the_source_is_refused(write):
    with pytest.raises(TypeError, match="internal error: generated code takes text of class str alone"):
        write(GeneratedSource("decoder"), Text("x"))


def test_a_constant_that_isnt_exact_is_bound_by_its_name():
    source = GeneratedSource("decoder")
    for constant in (Text("x"), Number(1), Fraction(0.5), Key.FIRST, Level.LOW):
        assert source.literal(constant, Text("a hint")).isidentifier()
    assert source.literal("x") == "'x'"
