"""Registration: what every annotation of this step means, and every complaint."""

from __future__ import annotations

import enum
import sys
import types
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Dict, List, Literal, Optional, Union  # noqa: UP035

import pytest
from judge import validator
from typing_extensions import TypeAliasType

from operator_schema import Codec, SchemaError, json_schema


def complaints_of(annotation, **options):
    with pytest.raises(SchemaError) as caught:
        Codec(annotation, **options)
    return caught.value.findings


def schema_of(annotation, **options):
    schema = Codec(annotation, **options).json_schema()
    validator(schema)
    return schema


class Suit(enum.StrEnum):
    HEARTS = "hearts"
    SPADES = "spades"


class Rank(enum.IntEnum):
    ACE = 1
    KING = 13


class Mixed(enum.Enum):
    ONE = 1
    HALF = 0.5
    NAME = "name"
    NOTHING = None


NULL = {"type": "null"}


@pytest.mark.parametrize(
    ("annotation", "schema"),
    [
        (str, {"type": "string"}),
        (int, {"type": "integer"}),
        (float, {"type": "number"}),
        (bool, {"type": "boolean"}),
        (None, NULL),
        (type(None), NULL),
        (Any, {}),
        (object, {}),
        (list, {"type": "array", "items": {}}),
        (List, {"type": "array", "items": {}}),  # noqa: UP006  # one of the two spellings
        (list[int], {"type": "array", "items": {"type": "integer"}}),
        (List[int], {"type": "array", "items": {"type": "integer"}}),  # noqa: UP006  # likewise
        (dict, {"type": "object", "additionalProperties": {}}),
        (dict[str, int], {"type": "object", "additionalProperties": {"type": "integer"}}),
        (Dict[str, Any], {"type": "object", "additionalProperties": {}}),  # noqa: UP006  # likewise
        (int | None, {"anyOf": [{"type": "integer"}, NULL]}),
        (Optional[int], {"anyOf": [{"type": "integer"}, NULL]}),  # likewise
        (Union[None, int], {"anyOf": [NULL, {"type": "integer"}]}),  # likewise
        (list[int | None], {"type": "array", "items": {"anyOf": [{"type": "integer"}, NULL]}}),
        (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}),
        (Literal[1, 2], {"type": "integer", "enum": [1, 2]}),
        (Literal["a", None], {"enum": ["a", None]}),
        (Literal[True, False, 0, 1, "y", "n"], {"enum": [True, False, 0, 1, "y", "n"]}),
        (Literal[Suit.HEARTS, 3], {"enum": ["hearts", 3]}),
        (Suit, {"type": "string", "enum": ["hearts", "spades"]}),
        (Rank, {"type": "integer", "enum": [1, 13]}),
        (Mixed, {"enum": [1, 0.5, "name", None]}),
        (Annotated[int, "how many"], {"type": "integer", "description": "how many"}),
        (
            list[Annotated[str, "a tag"]],
            {"type": "array", "items": {"type": "string", "description": "a tag"}},
        ),
        (Annotated[int, "kept", object()], {"type": "integer", "description": "kept"}),
        ("int", {"type": "integer"}),
    ],
)
def test_schema_of_annotation(annotation, schema):
    assert schema_of(annotation) == schema


def test_numbers_of_both_kinds_are_a_number():
    class Steps(enum.Enum):
        WHOLE = 1
        HALF = 0.5

    assert schema_of(Steps) == {"type": "number", "enum": [1, 0.5]}


@dataclass
class Fields:
    plain: int
    nullable: int | None
    none: Optional[int] = None  # one of the two spellings
    sloppy: int = None  # type: ignore[assignment]  # read as int | None = None
    number: int = 5
    nullable_number: int | None = 5
    made: list[str] = field(default_factory=list)
    nullable_made: list[str] | None = field(default_factory=list)
    choice: Suit = Suit.SPADES
    anything: Any = None
    constant: ClassVar[int] = 3
    internal: int = field(default=0, init=False)


def test_fields():
    array = {"type": "array", "items": {"type": "string"}}
    assert schema_of(Fields) == {
        "type": "object",
        "properties": {
            "plain": {"type": "integer"},
            "nullable": {"type": "integer"},
            "none": {"type": "integer"},
            "sloppy": {"type": "integer"},
            "number": {"type": "integer", "default": 5},
            "nullable_number": {"anyOf": [{"type": "integer"}, NULL], "default": 5},
            "made": array,
            "nullable_made": {"anyOf": [array, NULL]},
            "choice": {"type": "string", "enum": ["hearts", "spades"], "default": "spades"},
            "anything": {},
        },
        "required": ["plain"],
    }


@dataclass(frozen=True)
class Position:
    x: int
    y: int


def test_defaults_and_examples_stand_encoded():
    @dataclass
    class Defaults:
        at: Position = Position(1, 2)  # frozen, so it can be shared
        suit: Suit = field(default=Suit.HEARTS, metadata={"examples": [Suit.SPADES]})

    properties = schema_of(Defaults, namespace={"Position": Position})["properties"]
    assert properties["at"]["default"] == {"x": 1, "y": 2}
    assert properties["suit"]["examples"] == ["spades"]


def test_inheritance_describes_and_orders():
    @dataclass
    class Base:
        a: int
        b: str = "x"

        param_descriptions = {"a": "base a", "b": "base b"}

    @dataclass
    class Derived(Base):
        c: Annotated[bool, "own c"] = True
        b: str = "y"

        param_descriptions = {"b": "derived b"}

    assert schema_of(Derived) == {
        "type": "object",
        "properties": {
            "a": {"type": "integer", "description": "base a"},
            "b": {"type": "string", "default": "y", "description": "derived b"},
            "c": {"type": "boolean", "default": True, "description": "own c"},
        },
        "required": ["a"],
    }


def test_description_precedence():
    @dataclass
    class Described:
        a: Annotated[int, "annotated"] = field(metadata={"description": "metadata"})
        b: Annotated[int, "annotated"] = field(metadata={"description": "metadata"})
        c: int = field(metadata={"description": "metadata"})
        d: Annotated[int | None, "around"] = field(metadata={"description": "metadata"})
        e: Annotated[int, "inside"] | None = field(metadata={"description": "metadata"})
        f: Annotated[int, "taken away"] = 0

        param_descriptions = {"a": "param", "f": ""}

    properties = schema_of(Described)["properties"]
    assert {name: p.get("description") for name, p in properties.items()} == {
        "a": "param",
        "b": "annotated",
        "c": "metadata",
        "d": "around",
        "e": "inside",
        "f": None,
    }


def test_descriptions_given_to_the_codec_win_for_the_root_alone():
    @dataclass
    class Inner:
        a: int

    @dataclass
    class Outer:
        a: int
        inner: Inner

        param_descriptions = {"a": "own"}

    schema = schema_of(Outer, param_descriptions={"a": "given"}, namespace={"Inner": Inner})
    assert schema["properties"]["a"]["description"] == "given"
    assert "description" not in schema["properties"]["inner"]["properties"]["a"]


def test_aliases():
    @dataclass
    class Aliased:
        max_results: int = field(metadata={"alias": "maxResults"})
        odd: str = field(metadata={"alias": "it's \"x\"\n']"})
        empty: str = field(metadata={"alias": ""})

    codec = Codec(Aliased)
    value = {"maxResults": 3, "it's \"x\"\n']": "a", "": "b"}
    assert list(codec.json_schema()["properties"]) == list(value)
    assert codec.decode(value) == Aliased(3, "a", "b")
    assert codec.encode(Aliased(3, "a", "b")) == value


@dataclass
class Left:
    right: Right | None = None


@dataclass
class Right:
    left: Left | None = None
    both: list[Left] = field(default_factory=list)


def test_mutual_recursion():
    schema = schema_of(Left)
    assert set(schema["$defs"]) == {"Left"}
    schema = schema_of(Right)
    assert set(schema["$defs"]) == {"Right"}


def test_only_the_recursive_type_is_shared():
    @dataclass
    class Holder:
        one: Position
        two: Position
        tree: Left

    schema = schema_of(Holder, namespace=globals())
    assert set(schema["$defs"]) == {"Left"}
    assert schema["properties"]["one"] == schema["properties"]["two"]


def make_node(name, monkeypatch):
    module = types.ModuleType(name)
    monkeypatch.setitem(sys.modules, name, module)
    source = (
        "from __future__ import annotations\n"
        "from dataclasses import dataclass\n"
        "@dataclass\n"
        f"class Node:\n    {name}: list[Node]\n"
    )
    exec(source, vars(module))  # noqa: S102  # two classes of one name, in two modules
    return module.Node


def test_definitions_of_one_name_are_told_apart(monkeypatch):
    first, second = make_node("first", monkeypatch), make_node("second", monkeypatch)

    @dataclass
    class Both:
        a: first
        b: second

    @dataclass
    class Reversed:
        b: second
        a: first

    names = {"first": first, "second": second}
    schema = schema_of(Both, namespace=names)
    assert set(schema["$defs"]) == {"first_Node", "second_Node"}
    assert schema["properties"]["a"] == {"$ref": "#/$defs/first_Node"}
    assert schema_of(Reversed, namespace=names)["$defs"] == schema["$defs"]


def test_a_name_is_looked_up_in_the_module_before_the_class():
    @dataclass
    class Shadowed:
        Suit: Suit | None = None

    assert schema_of(Shadowed)["properties"]["Suit"]["enum"] == ["hearts", "spades"]


# --- complaints ----------------------------------------------------------------------------------


def test_everything_wrong_is_said_at_once():
    @dataclass
    class Inner:
        odd: complex

    @dataclass
    class Wrong:
        number: complex
        inner: list[Inner]
        again: Inner
        missing: Undefined  # noqa: F821  # on purpose
        count: int = "many"  # type: ignore[assignment]  # on purpose
        named: str = field(default="", metadata={"alias": 5, "description": 6, "examples": "x"})

        param_descriptions = {"cuont": "?", "number": 7}

    found = complaints_of(Wrong, namespace={"Inner": Inner})
    assert [(c.path, c.code, c.type) for c in found] == [
        (("number",), "bad_description", "Wrong"),
        (("param_descriptions",), "unknown_description", "Wrong"),
        (("number",), "unsupported", "Wrong"),
        (("inner", "*", "odd"), "unsupported", "Inner"),
        (("missing",), "unresolved", "Wrong"),
        (("named",), "bad_metadata", "Wrong"),
        (("named",), "bad_metadata", "Wrong"),
        (("named",), "bad_metadata", "Wrong"),
        (("count",), "bad_default", "Wrong"),
    ]
    assert found[1].suggestion == '"count"'
    assert all(c.message and c.remedy for c in found)


def test_param_descriptions_declared_as_a_field():
    @dataclass
    class Declared:
        name: str
        param_descriptions: dict[str, str] = field(default_factory=dict)

    [complaint] = complaints_of(Declared)
    assert complaint.code == "bad_description"
    assert "ClassVar" in complaint.remedy


def test_param_descriptions_as_class_variable():
    @dataclass
    class Right:
        name: str
        param_descriptions: ClassVar[dict[str, str]] = {"name": "Who"}

    assert schema_of(Right)["properties"]["name"]["description"] == "Who"


@pytest.mark.parametrize("wrong", [["name"], "name", 5, dict])
def test_param_descriptions_that_are_no_dict(wrong):
    @dataclass
    class Wrong:
        name: str

    Wrong.param_descriptions = wrong  # type: ignore[attr-defined]  # on purpose
    [complaint] = complaints_of(Wrong)
    assert complaint.code == "bad_description"


def test_param_descriptions_in_a_kind_of_dict():
    @dataclass
    class Described:
        a: int
        b: int

        param_descriptions = OrderedDict(a="First", b="Second")

    properties = schema_of(Described)["properties"]
    assert [properties[name]["description"] for name in ("a", "b")] == ["First", "Second"]
    Described.param_descriptions["c"] = "Third"
    [complaint] = complaints_of(Described)
    assert complaint.code == "unknown_description"


def test_param_descriptions_with_a_key_that_is_no_string():
    [complaint] = complaints_of(Position, param_descriptions={3: "x"})
    assert complaint.code == "unknown_description"


def test_param_descriptions_for_what_has_no_fields():
    [complaint] = complaints_of(int, param_descriptions={"x": "y"})
    assert complaint.code == "unknown_description"


def test_alias_collision():
    @dataclass
    class Colliding:
        a: int = field(metadata={"alias": "c"})
        b: int = field(metadata={"alias": "c"})

    [complaint] = complaints_of(Colliding)
    assert (complaint.path, complaint.code) == (("b",), "alias_collision")


def test_a_missing_init():
    @dataclass(init=False)
    class WithoutInit:
        a: int

    assert complaints_of(WithoutInit)[0].path == ("__init__",)


@pytest.mark.parametrize(
    "annotation",
    [
        complex,
        set,
        set[list[int]],
        tuple[int, ..., str],
        dict[float, str],
        dict[int],
        Callable[[int], str],
        list[int, str],
        type,
        type[int],
        Literal[b"x"],
        5,
        "no such name",
        "(",
        lambda: None,
        Ellipsis,
    ],
)
def test_unsupported_annotations_are_said_clearly(annotation):
    [complaint] = complaints_of(annotation)
    assert complaint.code in {"unsupported", "unresolved"}
    assert complaint.message
    assert complaint.remedy


def test_enums_that_json_cannot_hold():
    class Tuples(enum.Enum):
        A = (1, 2)

    class Infinite(enum.Enum):
        A = float("inf")

    class Nothing(enum.Enum):
        pass

    class Bits(enum.Flag):
        A = 1

    for bad in (Tuples, Infinite, Nothing, Bits):
        assert complaints_of(bad)[0].code == "bad_enum"


def test_null_that_means_two_things():
    [complaint] = complaints_of(Mixed | None)
    assert complaint.code == "ambiguous"


def test_literal_members_that_are_the_same_in_json():
    [complaint] = complaints_of(Literal["hearts", Suit.HEARTS])
    assert complaint.code == "ambiguous"


def test_members_of_an_enum_that_are_the_same_in_json():
    class Folded(enum.Enum):
        RED = "Red"
        CRIMSON = "RED"

        @property
        def value(self):
            return self._value_.lower()

    class Alias(enum.Enum):
        RED = "red"
        CRIMSON = "red"  # noqa: PIE796  # an alias is what it is about

    [complaint] = complaints_of(Folded)
    assert (complaint.code, complaint.message) == ("ambiguous", "two members of Folded are the same in JSON")
    assert Codec(Alias).decode("red") is Alias.CRIMSON


def test_a_local_class_under_future_annotations():
    class Local:
        pass

    @dataclass
    class Uses:
        local: Inner  # noqa: F821  # defined in the namespace of the second codec only

    [complaint] = complaints_of(Uses)
    assert complaint.code == "unresolved"
    assert "inside a function" in complaint.remedy
    assert "namespace" in complaint.remedy
    assert Codec(Uses, namespace={"Inner": int}).decode({"local": 3}) == Uses(3)


def test_types_that_nest_too_deep():
    deep = int
    for _ in range(150):
        deep = list[deep]
    assert complaints_of(deep)[0].code == "too_deep"
    assert complaints_of(list[list[int]], max_depth=1)[0].code == "too_deep"
    Codec(list[list[int]], max_depth=2)
    number = TypeAliasType("number", int)  # an alias is no level
    Codec(tuple[number, list[number]], max_depth=2)
    for _ in range(100_000):
        deep = list[deep]
    assert complaints_of(deep)[0].code == "too_deep"
    with pytest.raises(SchemaError):
        json_schema(deep)


def test_an_object_that_cannot_be_shown():
    class Rude:
        def __repr__(self):
            raise RuntimeError

    [complaint] = complaints_of(Rude())
    assert "Rude" in complaint.message


def test_schema_error_says_it_line_by_line():
    @dataclass
    class Wrong:
        number: complex

        param_descriptions = {"nubmer": "?"}

    with pytest.raises(SchemaError) as caught:
        Codec(Wrong)
    lines = str(caught.value).split("\n")
    assert lines[0] == "Wrong: 2 complaints about the type"
    assert lines[1].startswith('- param_descriptions (in Wrong): it describes "nubmer", which isn\'t a field')
    assert 'Did you mean "number"?' in lines[1]
    assert lines[2].startswith("- number (in Wrong): complex is not supported.")
