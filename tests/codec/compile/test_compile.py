"""The compiled tier: one meaning, user code once, source that can be seen."""

from __future__ import annotations

import copy
import enum
import functools
import gc
import inspect
import linecache
import pickle
import random
import sys
import traceback
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import InitVar, dataclass, field, make_dataclass
from datetime import datetime
from decimal import Decimal
from functools import partial
from pathlib import Path, PurePath, PurePosixPath
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, NotRequired, Optional, TypedDict, Union
from uuid import UUID, uuid4

import pytest
from compare import same
from hypothesis import given
from hypothesis import strategies as st
from strategies import TYPES, Limits, values_for

from operator_schema import Codec, DecodeError, EncodeError, SchemaError, SchemaLeaf
from operator_schema.codec import tiers
from operator_schema.codec.compile import writer
from operator_schema.codec.compile.construction import way_of
from operator_schema.codec.compile.decoder import compile_decoder, decoder_source, why_interpreted
from operator_schema.codec.compile.encoder import compile_encoder
from operator_schema.codec.encode import encode_node
from operator_schema.codec.interpret import interpret
from operator_schema.codec.problems import GIVE_UP

sys.path.insert(0, str(Path(__file__).parents[2] / "campaign"))

from types_ import random_type
from values import Values


class Refused(Exception):  # noqa: N818  # what an exception that is handed on carries
    pass


class Asked:
    """Stands for the codec that compiled functions ask, with no interpreter behind it."""

    def _decode_interpreted(self, _value: object) -> Any:
        return GIVE_UP

    _encode_interpreted = _decode_interpreted
    _refusal = Refused


def compiled_decoder(graph: Any, max_depth: int, **options: Any) -> Callable[[Any], Any] | None:
    compiled = compile_decoder(graph, max_depth, **options)
    return None if compiled is None else partial(compiled, Asked())


@functools.lru_cache(maxsize=32)
def decoder_of(codec: Codec[Any]) -> Callable[[Any], Any]:
    """Return the compiled decoder with no interpreter behind it."""
    options = codec._options
    decode = compiled_decoder(codec.graph, options["max_depth"], exact=options["repair"])
    return decode or Asked()._decode_interpreted


@functools.lru_cache(maxsize=32)
def encoder_of(codec: Codec[Any]) -> Callable[[Any], Any]:
    compiled = compile_encoder(codec.graph, codec._options["max_depth"], codec._graph_of)
    return Asked()._decode_interpreted if compiled is None else partial(compiled, Asked())


# --- law 3 ---------------------------------------------------------------------------------------


def check_decoder(codec: Codec[Any], value: Any) -> Any:
    """Hold the compiled decoder against the interpreter; return the instance, if there is one."""
    expected, problems = interpret(codec.graph, value, codec._options["max_depth"])
    before = copy.deepcopy(value)
    try:
        made = decoder_of(codec)(value)
    except Refused as refused:
        assert [p.code for p in problems.found] == ["rejected"]
        assert str(refused.args[0]) in str(problems.found[0])
        made = GIVE_UP
    assert same(value, before)
    if problems.found:
        assert made is GIVE_UP
        with pytest.raises(DecodeError) as caught:
            codec.decode(value)
        assert list(caught.value.problems) == problems.found
        return GIVE_UP
    assert made is GIVE_UP or same(made, expected)
    assert same(codec.decode(value), expected)
    return expected


def check_encoder(codec: Codec[Any], instance: Any) -> None:
    graph = codec.graph
    expected, problems = encode_node(graph.root, graph.definitions, instance, 100, codec._graph_of)
    made = encoder_of(codec)(instance)
    assert made is GIVE_UP if problems.found else made is GIVE_UP or same(made, expected)


def check(codec: Codec[Any], value: Any) -> None:
    instance = check_decoder(codec, value)
    if instance is not GIVE_UP:
        check_encoder(codec, instance)


@given(st.data())
def test_one_meaning(data):
    """Law 3: compiled and interpreted agree on every value, both ways."""
    unknown = data.draw(st.sampled_from(["ignore", "ignore", "reject"]))
    codec = Codec(data.draw(TYPES), unknown_fields=unknown).compile()
    for value in data.draw(values_for(codec)):
        check(codec, value)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.filterwarnings("ignore::FutureWarning")  # of the regular expressions among the values
def test_one_meaning_over_the_campaigns_types(seed):
    rng = random.Random(f"compiled:{seed}")  # noqa: S311  # repeatable on purpose
    taken = valid = 0
    for _ in range(25):
        try:
            codec = Codec(random_type(rng, 3), unknown_fields=rng.choice(["ignore", "reject"])).compile()
        except SchemaError:
            continue
        values = Values(codec.graph, rng)
        for _ in range(20):
            value = values.value()
            check(codec, value)
            valid += not codec.problems(value)
            taken += not codec.problems(value) and decoder_of(codec)(value) is not GIVE_UP
    assert taken / valid > 0.7


@given(TYPES, st.data())
def test_an_encoder_refuses_what_the_interpreter_refuses(annotation, data):
    """Instances of one type given to the encoder of another."""
    codec = Codec(annotation).compile()
    other = Codec(data.draw(TYPES))
    for value in data.draw(values_for(other)):
        instance, problems = interpret(other.graph, value, 100)
        if not problems.found:
            check_encoder(codec, instance)


# --- values that are nearly right ----------------------------------------------------------------


class Colour(enum.Enum):
    RED = "red"
    BLUE = 2


class Text(str):
    __slots__ = ()


@dataclass
class Part:
    name: str
    size: int = 3


@dataclass
class Many:
    text: str
    number: float
    whole: int
    flag: bool
    colour: Colour
    choice: Literal["a", 1, True, None]
    mode: Literal["fast", "slow"]
    parts: list[Part]
    pair: tuple[int, str]
    empty: tuple[()]
    kinds: dict[int, set[str]]
    by_day: OrderedDict[UUID, frozenset[int]]
    queue: deque[float]
    anything: Any
    nothing: None
    items: Sequence[Any] = ()
    first: Part | None = None
    tags: dict[Literal["x", "y"], int | float | str | None] = field(default_factory=dict)


RIGHT: dict[str, Any] = {
    "text": "größe",
    "number": 1.5,
    "whole": 5,
    "flag": True,
    "colour": "red",
    "choice": 1,
    "mode": "fast",
    "parts": [{"name": "a"}, {"name": "b", "size": 4}],
    "pair": [1, "x"],
    "empty": [],
    "kinds": {"1": ["a", "b"], "-2": []},
    "by_day": {"12345678-1234-5678-1234-567812345678": [1, 2]},
    "queue": [1.0, 2],
    "anything": [{"x": 1}],
    "nothing": None,
    "items": [1],
    "first": {"name": "c"},
    "tags": {"x": 1, "y": 2.5},
}
WRONG = [
    ("text", ["\ud800", 5, None, Text("a")]),
    ("number", [float("nan"), float("inf"), -float("inf"), "1", True, 2**53, 10**400, 7]),
    ("whole", [True, 1.0, 1.5, 10**4300, -(10**4300), 10**4300 - 1, 2**30, "1"]),
    ("flag", [1, 0, None, "true"]),
    ("colour", ["blue", 2, 2.0, True, None, [], {}]),
    ("choice", [True, 1.0, 0, False, None, "b", [], Text("a")]),
    ("mode", ["medium", 5, Text("fast")]),
    ("parts", [None, {}, (), [None], [{"size": 1}], [{"name": "x", "more": 1}], [{"name": "x", "size": ""}]]),
    ("pair", [[1], [1, "x", 2], ["x", 1], (1, "x")]),
    ("empty", [[1], {}]),
    ("kinds", [{"01": []}, {"0": [], "-0": []}, {"x": []}, {"1\n": []}, {"1" * 65: []}, {1: []}]),
    ("kinds", [{"1": ["a", "a"]}]),
    ("by_day", [{"x": []}, {UUID(int=1).hex: []}, {"ABCDEFAB" + "-1234" * 3 + "-567812345678": [1, 1]}]),
    ("queue", [[None], "12", [float("nan")]]),
    ("anything", [None, {1, 2}]),
    ("nothing", [0, False, "null"]),
    ("items", [None, "ab", []]),
    ("first", [None, {}, {"name": 5}, []]),
    ("tags", [{"z": 1}, {"x": None}, {"x": "s"}, {"x": True}, {"x": []}, {"x": 10**400}]),
]  # fmt: skip


@pytest.mark.parametrize("unknown", ["ignore", "reject"])
def test_each_kind_of_value_right_and_nearly(unknown):
    codec = Codec(Many, unknown_fields=unknown).compile()
    assert decoder_of(codec)(RIGHT) is not GIVE_UP
    check(codec, RIGHT)
    check(codec, {**RIGHT, "more": 1})
    check(codec, [RIGHT])
    for key, values in WRONG:
        check(codec, {name: item for name, item in RIGHT.items() if name != key})
        for value in values:
            check_decoder(codec, {**RIGHT, key: value})
    instance = codec.decode(RIGHT)
    for key, values in WRONG:
        for value in values:
            check_encoder(codec, instance.__class__(**{**vars(instance), key: value}))
    del instance.text
    check_encoder(codec, instance)


class Cents(int):
    pass


CENTS = SchemaLeaf(Cents, {"type": ["integer", "null"]}, lambda v: Cents(v or 0), int, Cents(1))
GRAMS = SchemaLeaf(Decimal, {"type": "number"}, Decimal, float, Decimal(1))


@pytest.mark.parametrize("leaf", [CENTS, GRAMS])
def test_leaves_of_other_json_types(leaf):
    codec = Codec(list[leaf.type], leaves=[leaf]).compile()
    for value in (1, 1.0, 1.5, None, True, "1", float("inf"), float("nan"), []):
        check(codec, [value])
    check_encoder(codec, [Decimal("inf")])
    check_encoder(codec, [Decimal(1), Cents(1)])


LIMITED: list[Any] = [
    Annotated[int, Limits(ge=1, lt=5, multiple_of=2)],
    Annotated[float, Limits(gt=0.5, le=10**400)],
    Annotated[float, Limits(multiple_of=0.5)],
    Annotated[list[int], Limits(min_length=1, max_length=2)],
    Annotated[dict[str, Any], Limits(min_length=1, max_length=2)],
    Annotated[str, Limits(min_length=1, max_length=2)],
    Annotated[int, Limits(ge=1)] | str,
    Annotated[int, Limits(ge=3)] | float,
    Annotated[float, Limits(ge=3)] | int,
]


@pytest.mark.parametrize("annotation", LIMITED)
def test_constraints(annotation):
    codec = Codec(annotation).compile()
    for value in (
        0,
        1,
        2,
        3,
        4,
        5,
        0.5,
        1.5,
        2.0,
        3.25,
        "",
        "a",
        "abc",
        [],
        [1],
        [1, 2, 3],
        {},
        {"a": 1},
        dict.fromkeys("abc"),
    ):
        check(codec, value)


# --- unions --------------------------------------------------------------------------------------


@dataclass
class Add:
    kind: Literal["add"]
    left: Expression
    right: Expression


@dataclass
class Neg:
    kind: Literal["neg"]
    of: Expression


Expression = Union[Add, Neg, int]


@dataclass
class One:
    kind: Literal[1] = 1
    a: int = 0


@dataclass
class Yes:
    kind: Literal[True] = True
    b: int = 0


@dataclass
class Named:
    name: str
    first: int = 0


@dataclass
class Numbered:
    name: str
    second: int
    third: int = 0


class Small(TypedDict):
    a: int


class Large(TypedDict):
    a: int
    b: NotRequired[int]
    c: int


Choices = Literal["a", 3]
UNIONS: list[tuple[Any, list[Any]]] = [
    (Expression, [1, {"kind": "add", "left": 1, "right": {"kind": "neg", "of": 2}}, {"kind": "x"}]),
    (Expression, [{"kind": []}, {}]),
    (One | Yes, [{"kind": 1}, {"kind": True}, {"kind": 1.0}, {"kind": 2}, {}, {"a": 1}, {"b": 1}]),
    (Named | Numbered, [{"name": "x"}, {"name": "x", "second": 1}, {"name": "x", "first": 1}]),
    (Named | Numbered, [{}, {"name": "x", "second": "x"}]),
    (Small | Large, [{"a": 1}, {"a": 1, "c": 2}, {"a": 1, "b": 2, "c": 3}, {"c": 1}]),
    (UUID | datetime | str, ["x", "12345678-1234-5678-1234-567812345678", "2026-01-31T09:30:00Z", "\ud800"]),
    (Union[Choices, str, int], ["a", "b", 3, 4, 3.0, 10**400, None]),
    (Colour | float, ["red", 2, 2.5, 3, "x"]),
    (Optional[Literal[None, "a"]], [None, "a", "b"]),
    (list[int] | dict[str, int] | bool, [[1], {"a": 1}, True, ["x"], None]),
    (Any | None, [None, 1, [2], {"a": "x"}]),
    (PurePath | None, ["a/b", None, "", 5]),
    (tuple[int, int] | str, [[1, 2], "x", [1]]),
    (int | bool, [1, True, 0.0]),
]  # fmt: skip


@pytest.mark.parametrize(("annotation", "values"), UNIONS)
def test_unions(annotation, values):
    codec = Codec(list[annotation]).compile()
    for value in values:
        check(codec, [value])
        check(codec, [values[0], value])
    for odd in (
        None,
        5,
        "a",
        Named("x"),
        PurePosixPath("a"),
        object(),
        Colour.RED,
        True,
        (1, 2),
        {"a": 1, "c": 2},
    ):
        check_encoder(codec, [odd])


def test_a_subclass_is_left_to_the_interpreter():
    class Same(Part):
        pass

    codec = Codec(list[Part]).compile()
    assert encoder_of(codec)([Same("a")]) is GIVE_UP
    assert codec.encode([Same("a")]) == [{"name": "a", "size": 3}]


# --- how instances are made ----------------------------------------------------------------------


@dataclass(frozen=True)
class Frozen:
    x: int
    y: int = 2


@dataclass(frozen=True, slots=True)
class FrozenSlots:
    x: int
    y: int = 2


@dataclass(slots=True, kw_only=True)
class Slots:
    x: int
    y: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class Mixed(FrozenSlots):
    z: int = 3


@dataclass
class Counting:
    x: int
    made: list[int] = field(default_factory=list, init=False)
    hint: InitVar[int] = 0


@dataclass
class Hinted:
    x: int
    hint: InitVar[int]


@dataclass(frozen=True)
class Empty:
    constant: ClassVar[int] = 3


class Pair(NamedTuple):
    a: int
    b: str = "b"


class OwnPair(Pair):
    def __new__(cls, a, b="b"):
        return super().__new__(cls, a + 1, b)


class Movie(TypedDict, total=False):
    title: str
    größe: int  # noqa: PLC2401  # names that are not of ASCII are what is tested


Grand = make_dataclass("Grand", [("größe", int), ("x", Optional[int], None)])


@dataclass
class Checked:
    x: int

    def __post_init__(self):
        if self.x < 0:
            raise ValueError("x is negative")


@dataclass
class OwnInit:
    x: int
    y: int = 5

    def __init__(self, x, y=5):
        self.x, self.y = x, y


class Loud:
    def __set_name__(self, owner, name):
        self.name = "_" + name

    def __get__(self, instance, owner):
        return 7 if instance is None else vars(instance)[self.name]

    def __set__(self, instance, value):
        vars(instance)[self.name] = value


@dataclass
class Described:
    x: int = Loud()  # type: ignore[assignment]  # as the documentation of dataclasses has it


@dataclass
class Setting:
    x: int

    def __setattr__(self, name, value):
        super().__setattr__(name, value)


@dataclass
class Dying:
    x: int

    def __del__(self):
        pass


class Meta(type):
    def __call__(cls, *args, **kwargs):
        return super().__call__(*args, **kwargs)


@dataclass
class Governed(metaclass=Meta):
    x: int


@dataclass
class Later(Checked):
    pass


WAYS = [
    (Part, "attributes"),
    (Frozen, "dictionary"),
    (FrozenSlots, "slots"),
    (Slots, "attributes"),
    (Mixed, "call"),
    (Counting, "call"),
    (Hinted, "attributes"),
    (Empty, "slots"),
    (Pair, "tuple"),
    (OwnPair, "user"),
    (Movie, "dict"),
    (Grand, "attributes"),
    (Checked, "user"),
    (Later, "user"),
    (OwnInit, "user"),
    (Described, "user"),
    (Setting, "user"),
    (Dying, "user"),
    (Governed, "user"),
]


@pytest.mark.parametrize(("cls", "way"), WAYS)
def test_each_way_of_making_an_instance(cls, way):
    codec = Codec(cls).compile()
    assert way_of(codec.graph.resolve_root()) == way
    if cls is not Movie and cls is not Empty and cls is not Grand:
        first = "a" if issubclass(cls, tuple) else "name" if cls is Part else "x"
        for value in (1, -1, "s", None):
            check(codec, {first: value})
    for value in (
        {},
        {"größe": 3},
        {"größe": 3, "x": 4},
        {"title": "a", "größe": 1},
        {"title": 1},
        {"y": 1, "x": 1},
    ):
        check(codec, value)


# --- code of the user's runs once ----------------------------------------------------------------


@dataclass
class Logged:
    x: int
    y: int | None
    z: int | None = None
    id: UUID = field(default_factory=uuid4)

    log: ClassVar[list[int]] = []

    def __post_init__(self):
        self.log.append(self.x)
        if self.x < 0:
            raise ValueError("x is negative")
        if self.x == 100:
            raise RecursionError
        if self.x == 101:
            raise KeyError("a bug")


@pytest.mark.parametrize("raised", [(100, RecursionError), (101, KeyError)])
def test_the_root_s_own_check_runs_once(raised):
    codec = Codec(Logged).compile()
    Logged.log.clear()
    assert codec.decode({"x": 1, "z": None}).y is None
    assert codec.decode({"x": 1.0, "y": 3}).x == 1
    with pytest.raises(DecodeError) as caught:
        codec.decode({"x": -1})
    problem = caught.value.problems[0]
    assert (problem.path, problem.code, problem.message) == (
        (),
        "rejected",
        "Logged refused it: x is negative",
    )
    assert str(caught.value) == str(interpreted_error(Codec(Logged), {"x": -1}))
    with pytest.raises(DecodeError):
        codec.decode({"x": "5"})
    with pytest.raises(raised[1]):
        codec.decode({"x": raised[0]})
    assert Logged.log == [1, 1, -1, -1, raised[0]]


def interpreted_error(codec, value):
    with pytest.raises(DecodeError) as caught:
        codec.decode(value)
    return caught.value


@dataclass
class Stamped:
    x: int
    id: int = field(default_factory=lambda: Stamped.made.append(1) or len(Stamped.made))

    made: ClassVar[list[int]] = []


def test_factories_run_once_and_only_on_valid_values():
    codec = Codec(list[Stamped]).compile()
    Stamped.made.clear()
    assert codec._tiers.decode([{"x": 1, "id": 7}]) == [Stamped(1, 7)]
    assert Stamped.made == []
    assert [s.id for s in codec.decode([{"x": 1}, {"x": 2}])] == [1, 2]
    with pytest.raises(DecodeError):
        codec.decode([{"x": "a"}])
    assert len(Stamped.made) == 2


@dataclass
class Nest:
    inner: Nest | None = None
    checked: Checked | None = None


@dataclass
class Ring:
    next: Ring | None = None

    def __post_init__(self):
        pass


@pytest.mark.parametrize("annotation", [list[Checked], Nest, Ring, Checked | None])
def test_classes_inside_that_run_their_own_code_stay_interpreted(annotation):
    codec = Codec(annotation).compile()
    assert "stays interpreted: making a '" in codec.source()
    assert why_interpreted(codec.graph)
    assert compile_decoder(codec.graph, 100) is None
    for value in ([{"x": 1}], {"checked": {"x": -1}}, {}, {"next": {}}, {"x": 1}, None):
        check(codec, value)


# --- bounds --------------------------------------------------------------------------------------


@dataclass
class Tree:
    value: Any = None
    kids: list[Tree] = field(default_factory=list)
    named: dict[str, Tree] = field(default_factory=dict)
    pair: tuple[Tree, int] | None = None


def nested(levels):
    value: dict[str, Any] = {}
    for i in range(levels):
        value = [{"kids": [value]}, {"named": {"a": value}}, {"pair": [value, 1]}][i % 3]
    return value


@pytest.mark.parametrize("max_depth", [2, 3, 4, 5, 6, 7, 8, 9])
def test_depth(max_depth):
    codec = Codec(Tree, max_depth=max_depth).compile()
    for levels in range(6):
        check(codec, nested(levels))
    everything = Codec(Tree).decode(nested(5))
    made = encoder_of(codec)(everything)
    assert (made is GIVE_UP) == (max_depth < 11)
    check_encoder(Codec(Tree).compile(), Tree(value=[[[1]]]))


def test_a_value_deeper_than_the_stack_is_a_problem():
    codec = Codec(Tree, max_depth=10**6).compile()
    value: dict[str, Any] = {}
    for _ in range(10**5):
        value = {"kids": [value]}
    assert decoder_of(codec)(value) is GIVE_UP
    with pytest.raises(DecodeError, match="nested deeper"):
        codec.decode(value)
    ring = Tree()
    ring.kids.append(ring)
    assert encoder_of(codec)(ring) is GIVE_UP
    with pytest.raises(EncodeError, match="nested deeper"):
        codec.encode(ring)
    while value:  # taken apart by hand: freeing it whole may exhaust the C stack
        value = value.pop("kids").pop()


def doubling(levels):
    made = int
    for i in range(levels):
        made = make_dataclass(f"C{i}", [("a", made), ("b", made)])
    return made


def test_classes_that_come_again_have_one_function():
    codec = Codec(doubling(60)).compile()
    assert codec.source().count("\n") < 60 * 40
    small = Codec(doubling(3)).compile()
    check(
        small,
        {
            "a": {"a": {"a": 1, "b": 1}, "b": {"a": 1, "b": 1}},
            "b": {"a": {"a": 1, "b": 1}, "b": {"a": 1, "b": 1}},
        },
    )
    check(small, {"a": {}, "b": {}})


def test_nesting_past_what_python_allows_in_one_function():
    deep: Any = int
    for _ in range(40):
        deep = list[deep]
    codec = Codec(deep).compile()
    value: Any = 1
    for _ in range(40):
        value = [value]
    assert same(codec._tiers.decode(value), value)
    assert same(codec._tiers.encode(value), value)


def test_large_types_stay_interpreted():
    flat = make_dataclass("Flat", [(f"f{i}", int) for i in range(writer.MAX_PLACES)])
    codec = Codec(flat).compile()
    value = {f"f{i}": i for i in range(writer.MAX_PLACES)}
    check(codec, value)
    assert codec.source().count("stays interpreted: the type has more than") == 2
    assert compile_encoder(codec.graph, 100, codec._graph_of) is None
    wide = Codec(make_dataclass("Wide", [(f"f{i}", int) for i in range(writer.MAX_PLACES - 1)])).compile()
    assert decoder_of(wide)(value) is not GIVE_UP


def test_exact_gives_up_on_keys_that_are_not_used():
    graph = Codec(Part).graph
    exact = compiled_decoder(graph, 100, exact=True)
    assert exact({"name": "a"}) == Part("a")
    assert exact({"name": "a", "size": 1}) == Part("a", 1)
    assert exact({"name": "a", "more": 1}) is GIVE_UP
    assert exact({"name": "a", "size": 1, "more": 1}) is GIVE_UP
    assert compiled_decoder(graph, 100)({"name": "a", "more": 1}) == Part("a")
    assert "used" in decoder_source(graph, 100, exact=True)


# --- tiers ---------------------------------------------------------------------------------------


@dataclass
class Queued:
    queue: deque[int] = field(default_factory=deque)
    ordered: OrderedDict[str, int] = field(default_factory=OrderedDict)


def test_containers_that_are_empty_by_default():
    codec = Codec(Queued).compile()
    check(codec, {})
    assert codec._tiers.decode({}) == Queued()


class Digit(enum.Enum):
    ZERO, ONE, TWO, THREE, FOUR, FIVE, SIX, SEVEN, EIGHT, NINE = range(10)
    NONE = 0


def test_an_enum_of_many_members():
    codec = Codec(list[Digit]).compile()
    check(codec, list(range(10)))
    check_encoder(codec, [Digit.ONE, 1])
    assert codec._tiers.encode(list(Digit)) == list(range(10))


def test_a_codec_compiles_when_it_is_warm():
    codec = Codec(Part)
    for i in range(tiers.COLD_CALLS - 1):
        codec.encode(codec.decode({"name": "a", "size": i}))
    assert codec._tiers.decode is None
    assert codec._tiers.encode is None
    codec.encode(codec.decode({"name": "a"}))
    assert codec._tiers.decode({"name": "a"}) == Part("a")
    assert codec._tiers.encode(Part("a")) == {"name": "a", "size": 3}
    assert codec.decode({"name": "a"}) == Part("a")
    assert codec.encode(Part("a")) == {"name": "a", "size": 3}


def test_a_warm_codec_has_the_compiled_functions_under_the_names_of_its_methods():
    codec = Codec(Part)
    early = codec.decode
    codec.compile()
    assert codec.decode is codec._tiers.decode
    assert codec.encode is codec._tiers.encode
    cold = Codec(Part)
    for bound, method in ((codec.decode, cold.decode), (codec.encode, cold.encode)):
        assert inspect.ismethod(bound)
        assert bound.__self__ is codec
        for what in (inspect.getdoc, inspect.signature, inspect.getmodule):
            assert what(bound) == what(method)
        assert (bound.__name__, bound.__qualname__) == (method.__name__, method.__qualname__)
    again = pickle.loads(pickle.dumps(codec.decode))
    assert again({"name": "a"}) == Part("a")
    for decode in (codec.decode, early, partial(Codec.decode, codec)):
        assert decode({"name": "a"}) == Part("a")
        with pytest.raises(DecodeError, match="name: missing"):
            decode({})
    assert Codec.encode(codec, Part("a")) == {"name": "a", "size": 3}
    with pytest.raises(AttributeError, match="immutable"):
        codec.decode = None


def test_a_method_of_a_subclass_is_not_passed_over():
    class Counting(Codec[Any]):
        __slots__ = ("calls",)

        def decode(self, value):
            object.__setattr__(self, "calls", getattr(self, "calls", 0) + 1)
            return super().decode(value)

    codec = Counting(Part).compile()
    assert codec.decode({"name": "a"}) == codec.decode({"name": "a"}) == Part("a")
    assert codec.calls == 2
    assert codec.encode is codec._tiers.encode


def test_what_stands_under_a_method_s_name_stays_there(monkeypatch):
    codec = Codec(Part)
    object.__setattr__(codec, "decode", len)
    assert codec.compile().decode("ab") == 2
    patched = Codec(Part)
    monkeypatch.setattr(Codec, "decode", lambda _codec, value: value)
    assert patched.compile().decode(7) == 7


class Fussy:
    pass


def refuse_to_read(calls: list[Any], error: type[Exception]) -> SchemaLeaf[Any]:
    fussy = Fussy()

    def read(text: str) -> Any:
        if text == "f":
            return fussy
        calls.append(text)
        raise error

    return SchemaLeaf(Fussy, {"type": "string"}, read, lambda _: "f", placeholder=fussy)


@pytest.mark.parametrize("repair", [False, True])
@pytest.mark.parametrize("value", [{}, {"n": "no", "f": "a"}, {"n": 1, "f": "a"}])
def test_an_error_of_a_warm_codec_has_no_other_behind_it(value, repair):
    calls: list[Any] = []
    fields = [("n", int), ("f", Annotated[Fussy, refuse_to_read(calls, ValueError)])]
    codec = Codec(make_dataclass("Holder", fields), repair=repair).compile()
    with pytest.raises(DecodeError) as caught:
        codec.decode(value)
    assert caught.value.__context__ is None
    with pytest.raises(EncodeError) as unwritten:
        codec.encode(object.__new__(codec.type))
    assert unwritten.value.__context__ is None


def test_a_recursion_error_of_a_leaf_s_is_not_met_twice():
    calls: list[Any] = []
    leaf = refuse_to_read(calls, RecursionError)
    codec = Codec(make_dataclass("Holder", [("n", int), ("f", Annotated[Fussy, leaf])])).compile()
    with pytest.raises(RecursionError):
        codec.decode({"n": "no", "f": "a"})
    assert calls == ["a"]


def test_options_are_a_codec_s_own():
    codec = Codec(Part)
    codec.__reduce__()[1][1]["repair"] = True
    assert Codec(Part)._options["repair"] is False


@pytest.mark.parametrize("annotation", [list[Checked], list[Part]])
def test_what_stays_interpreted_and_what_is_left_answer_alike(annotation):
    cold, warm = Codec(annotation), Codec(annotation).compile()
    for value in ([{}], [{"x": 1, "name": "a"}], [1], None):
        outcomes = []
        for codec in (cold, warm):
            try:
                outcomes.append(codec.decode(value))
            except DecodeError as error:
                outcomes.append(str(error))
        assert outcomes[0] == outcomes[1]


@pytest.mark.parametrize("method", ["compile_decoder", "compile_encoder"])
def test_a_caller_that_stands_deep_compiles_later(monkeypatch, method):
    codec = Codec(Part)
    attempts = []

    def run_out(_tiers, *_functions):
        attempts.append(1)
        raise RecursionError

    monkeypatch.setattr(tiers, "COLD_CALLS", 2)
    monkeypatch.setattr(tiers.Tiers, method, run_out)
    for _ in range(4):
        assert codec.encode(codec.decode({"name": "a"})) == {"name": "a", "size": 3}
    assert len(attempts) == 2


@pytest.mark.needs_threads
def test_threads_may_compile_at_once():
    codec = Codec(list[Part])
    value = [{"name": "a", "size": i} for i in range(5)]
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _: codec.decode(value), range(8 * tiers.COLD_CALLS)))
        written = list(pool.map(codec.encode, made))
    assert all(same(one, made[0]) for one in made)
    assert all(same(one, value) for one in written)
    assert codec._tiers.decode is not None


def test_a_compiled_codec_pickles_and_copies():
    codec = Codec(Part).compile()
    assert codec.compile() is codec
    for again in (pickle.loads(pickle.dumps(codec)), copy.deepcopy(codec)):
        assert again._tiers.decode is None
        assert again.decode({"name": "a"}) == Part("a")


# --- source --------------------------------------------------------------------------------------


def explode(value):
    if value == "bad":
        raise KeyError("a bug in a leaf")
    return Text(value)


def test_a_traceback_shows_the_generated_source():
    codec = Codec(
        list[Text], leaves=[SchemaLeaf(Text, {"type": "string"}, explode, str, Text("a"))]
    ).compile()
    with pytest.raises(KeyError) as caught:
        codec.decode(["bad"])
    shown = "".join(traceback.format_exception(caught.value))
    assert "<operator_schema decoder " in shown
    assert "= decode_" in shown


def test_the_source_goes_away_with_its_codec():
    def files():
        gc.collect()
        return {name for name in linecache.cache if name.startswith("<operator_schema ")}

    before = files()
    for annotation in (Part, Tree, Expression):
        codec = Codec(annotation).compile()
        assert len(files() - before) == 2
        codec.compile()
        assert len(files() - before) == 2
        del codec
        assert files() <= before


HOSTILE = [
    "x'] if print(1) else d['x",
    "it's",
    'a"b',
    "a\nb",
    "\u2028",
    "{x}",
    "%s",
    "\\",
    "class",
    "größe",
    "",
]


def test_text_of_the_user_s_is_no_code():
    for text in HOSTILE:
        fields = [
            ("x", Literal[text], field(metadata={"alias": text})),
            ("y", str, field(default=text, metadata={"alias": text + "y"})),
        ]
        codec = Codec(make_dataclass("Hostile", fields)).compile()
        value = {text: text, text + "y": "b"}
        assert decoder_of(codec)(value) is not GIVE_UP
        assert codec._tiers.encode(codec.decode(value)) == value
        check(codec, value)
        check(codec, {text: text})
        record = Codec(TypedDict("Record", {text: int})).compile()
        check(record, {text: 1})
        assert record._tiers.decode({text: 1}) == {text: 1}


def test_names_of_the_user_s_do_not_get_in_the_way():
    names = ["value", "make", "depth", "GIVE_UP_1", "str", "len", "print", "new_2", "_x", "__dunder"]
    cls = make_dataclass("main", [(name, int) for name in names])
    codec = Codec(cls).compile()
    value = dict.fromkeys(names, 1)
    assert codec._tiers.decode(value) == cls(**value)
    assert codec._tiers.encode(cls(**value)) == value
