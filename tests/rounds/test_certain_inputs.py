"""What the types alone say of an input is what decoding and encoding say of it."""

from __future__ import annotations

import copy
import math
from collections import OrderedDict, deque
from contextlib import suppress
from dataclasses import InitVar, dataclass, field, fields, is_dataclass
from datetime import date
from enum import Enum, IntEnum
from typing import Any, Literal, NamedTuple, NotRequired, TypedDict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import DATACLASSES

from operator_schema import (
    DecodeError,
    EncodeError,
    SchemaLeaf,
    ToolError,
    tool,
    tool_input,
)
from operator_schema.codec.faithful_values import comparison
from operator_schema.rounds.input_copies import gives_back, is_certainly, makes
from operator_schema.rounds.signatures import canonical_text
from operator_schema.testing import arguments

attrs = pytest.importorskip("attrs")
pydantic = pytest.importorskip("pydantic")

# --- types whose values the types alone can tell -------------------------------------------------


class Color(Enum):
    RED = "red"
    NONE = None


class Level(IntEnum):
    LOW = 1


class Part(TypedDict):
    name: str
    size: NotRequired[int]


@dataclass
class Plain:
    text: str
    number: float = 0.5
    whole: int = 1
    yes: bool = True
    nothing: None = None
    note: str | None = None
    mixed: int | str | list[bool] | None = 3
    choice: Literal["a", 1, True, None] = "a"
    color: Color = Color.RED
    level: Level = Level.LOW
    anything: Any = None
    parts: list[Part] = field(default_factory=list)
    pair: tuple[int, str] = (1, "a")
    row: tuple[int, ...] = ()
    table: dict[str, list[int]] = field(default_factory=dict)
    again: list[Plain] = field(default_factory=list)


@dataclass(frozen=True)
class Frozen:
    text: str
    note: str | None = None


@dataclass(slots=True)
class Slotted:
    text: str
    inner: Frozen | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FrozenSlotted:
    text: str
    inner: list[Slotted] = field(default_factory=list)


@dataclass
class Mixed(Slotted):  # its base has slots, and it has a dictionary
    more: int = 0


@dataclass(eq=False)
class Incomparable:
    text: str


@dataclass
class OwnEquality:
    text: str

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = None


PLAIN = [Plain, Frozen, Slotted, FrozenSlotted, Incomparable, OwnEquality, Part]

# --- types of which only decoding and encoding can tell ------------------------------------------


@dataclass
class WithInitVar:
    text: str
    mode: InitVar[str] = "hard"

    def __post_init__(self, mode: str) -> None:
        self.mode = mode


@dataclass
class Stripped:
    text: str

    def __post_init__(self) -> None:
        self.text = self.text.strip()


@dataclass
class Counted:
    text: str
    length: int = field(init=False, default=0)


@dataclass
class OwnInit:
    text: str

    def __init__(self, text: str) -> None:
        self.text = text * 2


@dataclass
class OwnSetter:
    text: str

    def __setattr__(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value.lower())


@dataclass
class OwnGetter:
    text: str

    def __getattribute__(self, name: str) -> Any:
        found = object.__getattribute__(self, name)
        return found.upper() if name == "text" else found


class Upper:
    def __get__(self, instance: Any, owner: Any) -> Any:
        return "" if instance is None else instance.__dict__["text"]

    def __set__(self, instance: Any, value: str) -> None:
        instance.__dict__["text"] = value.upper()


@dataclass
class OwnDescriptor:
    text: str = Upper()


class Hidden:
    __slots__ = ("secret",)


@dataclass
class OwnSlot(Hidden):
    text: str


class Meta(type):
    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        made = super().__call__(*args, **kwargs)
        made.text += "!"
        return made


@dataclass
class OwnMeta(metaclass=Meta):
    text: str


class OfPydantic(pydantic.BaseModel):
    text: str
    _state: int = pydantic.PrivateAttr(default=1)


@pydantic.dataclasses.dataclass
class PydanticDataclass:
    text: str


@attrs.define
class OfAttrs:
    text: str = attrs.field(converter=str.strip)


class Named(NamedTuple):
    text: str


@dataclass
class Cat:
    text: str


@dataclass
class Dog:
    text: str
    age: int = 1


@dataclass
class Ambiguous:
    pet: Cat | Dog
    number: int | float = 0
    day: date | str = "today"


@dataclass
class Containers:
    names: set[str]
    line: deque[int]
    order: OrderedDict[str, int]
    by_number: dict[int, str]
    nothing: Color | None = None


class Text(str):
    __slots__ = ()


class Items(list):
    pass


class Word(str):
    __slots__ = ("more",)


WORD = SchemaLeaf(Word, {"type": "string"}, lambda text: Word(text.strip()), str, Word("a"))


@dataclass
class OwnLeaf:
    word: Word


OTHERS = [
    Mixed,
    WithInitVar,
    Stripped,
    Counted,
    OwnInit,
    OwnSetter,
    OwnGetter,
    OwnDescriptor,
    OwnSlot,
    OwnMeta,
    OfPydantic,
    PydanticDataclass,
    OfAttrs,
    Named,
    Ambiguous,
    Containers,
    OwnLeaf,
]


def inside(cls: Any) -> Any:
    """Return a function's tool with the class in several places."""

    @tool(name="inside", leaves=[WORD])
    def run(job: cls, jobs: list[cls] | None = None, by_name: dict[str, cls] | None = None) -> str:
        """Run it."""

    return run


TOOLS = [tool_input(name="run")(cls) for cls in PLAIN] + [inside(cls) for cls in [*PLAIN, *OTHERS]]

# --- values in every branch ----------------------------------------------------------------------


def checked(run: Any, now: Any, given: Any) -> bool:
    """Check the law for one input; return whether the types alone could tell."""
    if not is_certainly(run, now, given):
        return False
    again = run.encode_input(given)
    assert canonical_text(again) == canonical_text(now)
    assert gives_back(run, now, again)
    assert makes(run, now, given)
    return True


SENT = {
    "text": "a",
    "number": 1.5,
    "note": "b",
    "mixed": [True],
    "choice": 1,
    "color": None,
    "level": 1,
    "anything": [{"a": [1, 0.5, None]}],
    "parts": [{"name": "a", "size": 1}, {"name": "b"}],
    "pair": [2, "b"],
    "row": [1, 2],
    "table": {"a": [1], "b": []},
    "again": [{"text": "c"}],
}


def test_the_types_alone_tell_that_an_input_is_what_was_written():
    run = tool_input(name="run")(Plain)
    given = run.decode(SENT)
    assert checked(run, run.encode_input(given), given)


@pytest.mark.parametrize("cls", PLAIN)
def test_the_types_alone_can_tell_of_usual_classes(cls):
    for run in (tool_input(name="run")(cls), inside(cls)):
        sent = {"text": "a", "name": "a"} if run.name == "run" else {"job": {"text": "a", "name": "a"}}
        given = run.decode(sent)
        assert checked(run, run.encode_input(given), given)


@pytest.mark.parametrize("cls", OTHERS)
def test_only_decoding_tells_of_classes_with_code_or_a_state_of_their_own(cls):
    run = inside(cls)
    assert comparison(run.codec.graph) is None


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("text", Text("a")),
        ("text", "b"),
        ("number", 1),
        ("number", math.nan),
        ("whole", True),
        ("yes", 1),
        ("nothing", False),
        ("note", None),
        ("mixed", None),
        ("mixed", Items([True])),
        ("choice", True),
        ("choice", "a"),
        ("color", Color.RED),
        ("level", 1),
        ("anything", ({"a": [1, 0.5, None]},)),
        ("anything", [{"a": (1, 0.5, None)}]),
        ("anything", [{"b": [1, 0.5, None]}]),
        ("anything", [OrderedDict(a=[1, 0.5, None])]),
        ("anything", [{Text("a"): [1, 0.5, None]}]),
        ("anything", []),
        ("parts", [{"name": "a", "size": 1}]),
        ("parts", ({"name": "a", "size": 1}, {"name": "b"})),
        ("parts", [{"name": "a", "size": 1}, {"name": "b", "more": 1}]),
        ("parts", [{"name": "a", "size": 1}, OrderedDict(name="b")]),
        ("parts", [{"name": "a", "size": 1}, {"size": 1}]),
        ("pair", [2, "b"]),
        ("pair", (2, "b", 1)),
        ("row", [1, 2]),
        ("table", {"a": [1]}),
        ("table", {"b": [], "a": [1]}),
        ("table", OrderedDict(a=[1], b=[])),
        ("again", [Frozen("c")]),
        ("extra", 1),
    ],
)
def test_an_input_with_another_part_is_not_certainly_the_same(name, other):
    run = tool_input(name="run")(Plain)
    given = run.decode(SENT)
    now = run.encode_input(given)
    setattr(given, name, other)
    assert not is_certainly(run, now, given)


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("text", 1),
        ("number", "1.5"),
        ("note", None),
        ("nothing", 0),
        ("more", 1),
        ("color", []),
        ("color", "red"),
        ("choice", {}),
        ("parts", [[], {"name": "b"}]),
        ("parts", {}),
        ("pair", {}),
        ("again", [[]]),
        ("again", [{}]),
        ("table", []),
    ],
)
def test_an_input_is_not_certainly_what_other_data_say(name, other):
    run = tool_input(name="run")(Plain)
    given = run.decode(SENT)
    now = {**run.encode_input(given), name: other}
    assert not is_certainly(run, now, given)
    assert not is_certainly(run, [now], given)


def test_a_key_for_a_field_that_is_none_is_not_certainly_the_same():
    run = tool_input(name="run")(Frozen)
    assert checked(run, {"text": "a"}, Frozen("a"))
    assert not is_certainly(run, {"text": "a", "note": None}, Frozen("a"))


def test_an_instance_of_a_subclass_or_with_an_attribute_less_is_not_certainly_the_same():
    class Special(Plain):
        pass

    run = tool_input(name="run")(Plain)
    given = run.decode({"text": "a"})
    now = run.encode_input(given)
    assert not is_certainly(run, now, Special("a"))
    del given.note
    given.extra = None
    assert not is_certainly(run, now, given)


def test_too_deep_in_calls_nothing_is_certain():
    run = tool_input(name="run")(Plain)
    given = run.decode({"text": "a", "anything": [[[1]]]})
    now = run.encode_input(given)
    assert checked(run, now, given)

    def at_the_bottom() -> bool:
        try:
            return at_the_bottom()
        except RecursionError:
            return is_certainly(run, now, given)

    assert not at_the_bottom()


# --- edits -------------------------------------------------------------------------------------


ALIKE: dict[type, Any] = {
    str: [Text, str.strip, str.upper, lambda text: text + " ", lambda _: None, lambda _: "2020-01-01"],
    int: [float, bool, str, lambda number: -number, lambda number: Level.LOW if number == 1 else number],
    float: [math.floor, lambda number: -number, lambda _: math.nan, lambda _: -0.0, str],
    bool: [int, lambda value: not value, str],
    list: [tuple, Items, lambda items: [*items, *items], lambda items: items[1:], lambda _: [], set],
    tuple: [list, lambda items: items[1:], lambda items: (*items, 1)],
    dict: [
        OrderedDict,
        lambda entries: dict(reversed(entries.items())),
        lambda entries: {**entries, "extra": 1},
        lambda entries: {**entries, Text("extra"): None},
        lambda entries: dict([*entries.items()][1:]),
        dict.fromkeys,
        lambda entries: dict(enumerate(entries.values())),
    ],
    type(None): [lambda _: "", lambda _: 0, lambda _: [], lambda _: Color.NONE],
}


def edited(value: Any, draw: Any) -> Any:
    """Return a value in which one part, at any depth, is one like it; an instance is edited in place."""
    try:
        if is_dataclass(value):
            name = draw(st.sampled_from([*[each.name for each in fields(value)], "extra"]))
            if name == "extra":
                object.__setattr__(value, name, 1)
            elif draw(st.integers(0, 5)) == 0:
                object.__delattr__(value, name)
                object.__setattr__(value, "extra", 1)
            else:
                object.__setattr__(value, name, edited(getattr(value, name), draw))
            return value
        if isinstance(value, (list, dict)) and value and draw(st.booleans()):
            key = draw(st.sampled_from([*value] if isinstance(value, dict) else range(len(value))))
            made = copy.copy(value)
            made[key] = edited(value[key], draw)
            return made
        return draw(st.sampled_from(ALIKE.get(type(value), [lambda same: same])))(value)
    except (AttributeError, TypeError, ValueError, OverflowError):
        return value  # there is nothing like it


def written(run: Any, given: Any) -> Any:
    """Return an input as arguments; None if it can't be written."""
    try:
        return run.encode_input(given)
    except (EncodeError, ToolError):
        return None


def check(run: Any, data: Any) -> None:
    """Check the law for an input as it was decoded, as it was edited, and for data that were changed."""
    try:
        given = run.decode(data.draw(arguments(run)))
    except DecodeError:  # a class's own code refuses what fits its types
        return
    now = written(run, given)
    if now is None:
        return
    checked(run, now, given)
    other = edited(copy.deepcopy(now), data.draw)
    checked(run, other, given)
    with suppress(DecodeError):
        checked(run, other, run.decode(other))
    changed = edited(given, data.draw)
    again = written(run, changed)
    if again is not None:
        checked(run, again, changed)


@pytest.mark.parametrize("run", TOOLS, ids=lambda run: f"{run.name}-{run.codec.name}")
@settings(max_examples=1 + settings().max_examples // 10)
@given(st.data())
def test_what_the_types_say_of_an_input_is_true(run, data):
    check(run, data)


@pytest.mark.slow("draws many types")
@settings(deadline=None, max_examples=3 * settings().max_examples // 5)
@given(DATACLASSES, st.data())
def test_what_any_types_say_of_an_input_is_true(cls, data):
    check(tool_input(name="run")(cls), data)
