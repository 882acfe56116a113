"""Dataclasses: fields, inheritance, InitVar, slots."""

import json
from dataclasses import InitVar, dataclass, field, make_dataclass
from typing import (
    Annotated,
    Any,
    Final,
    Generic,
    NamedTuple,
    NewType,
    Optional,
    Self,
    TypedDict,
)

import pytest
from annotation_samples import (
    FUTURE,
    INTEGER,
    STRING,
    Cat,
    T,
    array_of,
    complaint_of,
    property_of,
    same,
    schema_of,
)

from operator_schema import Codec, DecodeError, EncodeError

INIT_VARS = """
{future}
import dataclasses
from dataclasses import InitVar, dataclass, field
from typing import Annotated

@dataclass
class Built:
    width: int
    height: InitVar[int]
    unit: InitVar["str | None"] = None
    scale: dataclasses.InitVar[Annotated[int, "How large"]] = 2
    area: int = field(init=False, default=0)

    def __post_init__(self, height, unit, scale):
        self.area = self.width * height * scale
        self.unit = unit
"""


@FUTURE
def test_init_vars(define, future):
    built = define(INIT_VARS.format(future=future)).Built
    assert schema_of(built) == {
        "type": "object",
        "properties": {
            "width": INTEGER,
            "height": INTEGER,
            "unit": STRING,
            "scale": {"type": "integer", "description": "How large", "default": 2},
        },
        "required": ["width", "height"],
    }
    codec = Codec(built)
    assert codec.decode({"width": 2, "height": 3}).area == 12
    assert codec.decode({"width": 2, "height": 3, "unit": "cm", "scale": 1}).unit == "cm"
    assert codec.report({"width": 2})[0].path == ("height",)
    with pytest.raises(EncodeError) as caught:
        codec.encode(built(1, 2))
    assert [(p.path, p.code) for p in caught.value.findings] == [(("height",), "missing")]


def test_an_init_var_with_a_default_is_left_out_of_what_is_encoded():
    @dataclass
    class Seeded:
        a: int
        seed: InitVar[int] = 0

        def __post_init__(self, seed):
            self.a += seed

    assert Codec(Seeded).decode({"a": 1, "seed": 2}) == Seeded(3)
    assert Codec(Seeded).encode(Seeded(1, 2)) == {"a": 3}


KEYWORD_ONLY = """
{future}
from dataclasses import KW_ONLY, dataclass, field
from typing import ClassVar

@dataclass
class Base:
    a: int = 1
    _: KW_ONLY
    b: str
    constant: ClassVar[int] = 5

@dataclass
class Derived(Base):
    c: float = 0.5
    d: bool = field(kw_only=True)

@dataclass(kw_only=True)
class All:
    a: int = 1
    b: str
"""


@FUTURE
def test_keyword_only_fields(define, future):
    module = define(KEYWORD_ONLY.format(future=future))
    assert schema_of(module.Derived)["required"] == ["b", "d"]
    assert list(schema_of(module.Derived)["properties"]) == ["a", "b", "c", "d"]
    decoded = Codec(module.Derived).decode({"b": "x", "d": True, "_": 1, "constant": 2})
    assert decoded == module.Derived(1, 0.5, b="x", d=True)
    assert Codec(module.Derived).encode(decoded) == {"a": 1, "b": "x", "c": 0.5, "d": True}
    assert Codec(module.All).decode({"b": "x"}) == module.All(b="x")


@pytest.mark.parametrize("frozen", [False, True])
@pytest.mark.parametrize("slots", [False, True])
def test_frozen_and_slotted_dataclasses(frozen, slots):
    @dataclass(frozen=frozen, slots=slots)
    class Base:
        a: int
        b: tuple[int, ...] = (1,)

    @dataclass(frozen=frozen, slots=slots)
    class Derived(Base):
        c: list[Base] = field(default_factory=list)
        d: frozenset[str] = frozenset({"x"})

    assert Codec(Derived).decode({"a": 1, "c": [{"a": 2, "b": [3, 4]}]}) == Derived(
        1, (1,), [Base(2, (3, 4))]
    )
    assert property_of(Derived, "d")["default"] == ["x"]
    assert Codec(Derived).encode(Derived(1)) == {"a": 1, "b": [1], "c": [], "d": ["x"]}
    assert set(schema_of(Derived)["required"]) == {"a"}


def test_frozen_dataclasses_in_a_set():
    @dataclass(frozen=True)
    class Key:
        a: int
        b: str = ""

    codec = Codec(set[Key])
    assert codec.decode([{"a": 1}, {"a": 2}]) == {Key(1), Key(2)}
    assert [(p.path, p.code) for p in codec.report([{"a": 1}, {"a": 1, "b": ""}])] == [((1,), "duplicate")]


@FUTURE
def test_finals_and_class_variables(define, future):
    module = define(f"""
        {future}
        from dataclasses import dataclass
        from typing import Annotated, ClassVar, Final
        @dataclass
        class Some:
            a: Final[int]
            b: Annotated[Final[str | None], "maybe"] = None
            c: ClassVar[int] = 3
            d: ClassVar = 4
            e: Final[list[int]] = None
    """)
    assert schema_of(module.Some) == {
        "type": "object",
        "properties": {
            "a": INTEGER,
            "b": {"type": "string", "description": "maybe"},
            "e": array_of(INTEGER),
        },
        "required": ["a"],
    }
    assert Codec(module.Some).decode({"a": 1}) == module.Some(1)


def test_a_final_that_leaves_its_type_open():
    @dataclass
    class Open:
        a: Final = 3

    assert (complaint_of(Open).path, complaint_of(Open).code) == (("a",), "unsupported")


def test_a_new_type_is_what_it_stands_for():
    one = NewType("one", int)
    two = NewType("two", Annotated[one, "a number"])
    assert schema_of(two) == {"type": "integer", "description": "a number"}
    assert same(Codec(NewType("Users", list[two])).decode([1.0]), [1])
    assert schema_of(NewType("Cats", Cat)) == schema_of(Cat)


@dataclass
class Selfish:
    children: list[Self] = field(default_factory=list)
    parent: Self | None = None


@dataclass
class Named(Selfish):
    name: str = ""


class SelfishTuple(NamedTuple):
    value: int
    next: Optional["Self"] = None


@dataclass
class SelfishBox(Generic[T]):
    value: T
    next: Self | None = None


def test_self():
    value = {"children": [{"name": "x", "parent": {"name": "y"}}], "name": "z"}
    assert Codec(Named).decode(value) == Named([Named([], Named([], None, "y"), "x")], None, "z")
    assert set(schema_of(Named)["$defs"]) == {"Named"}
    assert set(schema_of(Selfish)["$defs"]) == {"Selfish"}
    assert type(Codec(Selfish).decode(value).children[0]) is Selfish


def test_self_in_generic_classes_and_named_tuples():
    codec = Codec(SelfishBox[int])
    assert codec.decode({"value": 1, "next": {"value": 2}}) == SelfishBox(1, SelfishBox(2))
    assert codec.report({"value": 1, "next": {"value": "x"}})[0].path == ("next", "value")
    assert Codec(SelfishTuple).decode({"value": 1, "next": {"value": 2}}) == SelfishTuple(1, SelfishTuple(2))


def test_self_outside_a_class():
    assert complaint_of(Self).code == "unsupported"
    assert complaint_of(list[Self]).path == ("*",)


HARD_NAMES = [
    "self", "cls", "json", "title", "type", "properties", "items", "required", "copy", "model_dump",
    "größe", "名前",
    "x_", "_x", "fields", "value", "path", "node", "dict", "None_", "MISSING", "object", "len",
]  # fmt: skip


@pytest.mark.parametrize("kind", ["dataclass", "frozen", "typed_dict", "named_tuple"])
def test_fields_of_hard_names(kind):
    names = [name for name in HARD_NAMES if not (kind == "named_tuple" and name.startswith("_"))]
    made: Any = {
        "dataclass": lambda: make_dataclass("made", [(name, int) for name in names]),
        "frozen": lambda: make_dataclass("made", [(name, int) for name in names], frozen=True, slots=True),
        "typed_dict": lambda: TypedDict("made", dict.fromkeys(names, int)),
        "named_tuple": lambda: NamedTuple("made", [(name, int) for name in names]),
    }[kind]()
    value = {name: i for i, name in enumerate(names)}
    codec = Codec(made)
    assert schema_of(made)["properties"] == dict.fromkeys(names, INTEGER)
    decoded = codec.decode(value)
    assert decoded == made(**value)
    assert codec.encode(decoded) == value
    assert codec.decode_json(json.dumps(value)) == decoded


@pytest.mark.parametrize("count", [0, 1, 500])
def test_dataclasses_of_many_fields(count):
    made = make_dataclass("Many", [(f"f{i}", int if i % 2 else list[int]) for i in range(count)])
    value = {f"f{i}": i if i % 2 else [i] for i in range(count)}
    codec = Codec(made)
    assert len(schema_of(made)["properties"]) == count
    assert codec.encode(codec.decode(value)) == value
    if count == 500:
        [problem] = codec.report({**value, "f499": "x"})
        assert problem.path == ("f499",)
        with pytest.raises(DecodeError) as caught:
            codec.decode({})
        assert len(str(caught.value)) <= 2000
