"""Random types of everything supported, with valid, nearly valid and arbitrary JSON values for each.

A type comes as its annotation; what is valid for it comes from `operator_schema.testing`. Classes
are made anew for every example. Strategies are made once where they can be: Hypothesis looks through each new
one, with all that it consists of.
"""

from __future__ import annotations

import collections
import collections.abc
import enum
import keyword
import math
import re
import string
import types
from collections import deque
from dataclasses import InitVar, dataclass, field, make_dataclass
from datetime import date, datetime, time
from functools import cache
from importlib import import_module
from ipaddress import IPv4Address
from typing import (
    Annotated,
    Any,
    ClassVar,
    Generic,
    Literal,
    NamedTuple,
    NewType,
    NotRequired,
    Optional,
    Required,
    Self,
    TypedDict,
    TypeVar,
    Union,
)
from uuid import UUID

from hypothesis import strategies as st
from own_leaves import held

from operator_schema import Codec, SchemaLeaf
from operator_schema.engine import Graph, LeafNode
from operator_schema.introspect.node_kinds import spread_members, takes_null, visit
from operator_schema.introspect.shipped_leaves import _SHIPPED
from operator_schema.schema.document_reader import reading_of
from operator_schema.schema.written import WrittenSchema
from operator_schema.testing import instances, near_misses
from operator_schema.testing.strategies import NearMisses, ValidValues

NAMES = st.text(string.ascii_lowercase + "_é", min_size=1, max_size=8).filter(
    lambda name: name.isidentifier() and not keyword.iskeyword(name) and not name.startswith("_")
)
KEYS = st.text(max_size=5)
FINITE = st.floats(allow_nan=False, allow_infinity=False)
JSON_SCALARS = st.none() | st.booleans() | st.integers() | FINITE | st.text(max_size=8) | st.just(10**400)
JSON_VALUES = st.recursive(
    JSON_SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)


@dataclass(frozen=True)
class Limits:
    """A constraint in the annotated-types vocabulary, known by its attributes."""

    ge: float | None = None
    gt: float | None = None
    le: float | None = None
    lt: float | None = None
    multiple_of: float | None = None
    min_length: int | None = None
    max_length: int | None = None


def one_of(*alternatives: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """One of them, each as likely: in `a | (b | c)` Hypothesis draws a, b and c alike."""
    return st.sampled_from(alternatives).flatmap(lambda chosen: chosen)


COIN = st.booleans()


# --- types without parts -------------------------------------------------------------------------


class Celsius(float):
    """A class that brings its own leaf, which is stricter than its schema."""


def _celsius(degrees: float) -> Celsius:
    if degrees < -273.15:
        raise ValueError("it is below absolute zero")
    return Celsius(degrees)


Celsius.__schema_leaf__ = SchemaLeaf(Celsius, {"type": "number"}, _celsius, float, Celsius(20))


PATTERNS = [r"^[a-z]+$", r"[0-9]{2}", r"^(foo|bar)-\d+$", r"^.{2,5}$", "a|^$"]
# Floats that divide: validators divide floats, which is exact for powers of two alone.
STEPS = st.sampled_from([1, 2, 3, 10, 0.5, 0.25])
MAYBE_STEPS = st.none() | STEPS
MAYBE_PATTERN = st.none() | st.sampled_from(PATTERNS)
MAYBE_LONGEST = st.none() | st.integers(5, 8)
KINDS_OF_NUMBERS = st.sampled_from([int, float])
WHOLE = st.integers(-100, 100)
BOUNDS = {int: WHOLE, float: WHOLE | st.floats(-100, 100)}
MAYBE_BOUNDS = {kind: st.none() | bound for kind, bound in BOUNDS.items()}
LOW, HIGH = st.sampled_from(["ge", "gt"]), st.sampled_from(["le", "lt"])


@st.composite
def texts(draw: st.DrawFn) -> Any:
    pattern = draw(MAYBE_PATTERN)
    if pattern is not None:
        longest = draw(MAYBE_LONGEST)
        more = [] if longest is None else [Limits(max_length=longest)]
        return Annotated[(str, re.compile(pattern), *more)]
    return Annotated[str, draw(lengths())]


@cache
def maybe_integers(low: int, high: int) -> st.SearchStrategy[int | None]:
    return st.none() | st.integers(low, high)


@cache
@st.composite
def lengths(draw: st.DrawFn, highest_least: int = 3) -> Limits:
    least = draw(maybe_integers(0, highest_least))
    most = draw(maybe_integers(least or 0, (least or 0) + 3))
    return Limits(min_length=least, max_length=most)


@st.composite
def numbers(draw: st.DrawFn) -> Any:
    kind = draw(KINDS_OF_NUMBERS)
    least, most = draw(MAYBE_BOUNDS[kind]), draw(MAYBE_BOUNDS[kind])
    if most is not None and least is not None:
        most = least + abs(most) + 11
    low, high = draw(LOW), draw(HIGH)
    return Annotated[kind, Limits(**{low: least, high: most}, multiple_of=draw(MAYBE_STEPS))]


# Past 2**53 not every integer is a float, past 10**308 none is.
LARGE = st.sampled_from([sign * n for n in (2**53, 2**53 + 1, 2**60 + 1, 10**400) for sign in (1, -1)])


@st.composite
def large_numbers(draw: st.DrawFn) -> Any:
    kind, number = draw(KINDS_OF_NUMBERS), draw(LARGE)
    inwards = ["ge", "gt"] if number < 0 else ["le", "lt"]
    # No float is above 10**400.
    limits = inwards if kind is float and abs(number) == 10**400 else ["ge", "gt", "le", "lt"]
    return Annotated[kind, Limits(**{draw(st.sampled_from(limits)): number})]


def choices(values: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    return st.lists(values, min_size=1, max_size=4, unique_by=lambda value: (type(value) is bool, value))


WORDS = st.text(max_size=4)


def literals(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return choices(values).map(lambda values: Literal[tuple(values)])


CHOICES = {
    enum.StrEnum: choices(WORDS),
    enum.IntEnum: choices(st.integers()),
    enum.Enum: choices(WORDS | st.integers() | FINITE),
}


@cache
@st.composite
def enums(draw: st.DrawFn, *bases: type[enum.Enum]) -> Any:
    base = draw(st.sampled_from(bases))
    made = draw(CHOICES[base])
    return base("Choice", [(f"M{i}", value) for i, value in enumerate(made)])


SHIPPED: list[type] = list(
    dict.fromkeys(
        getattr(import_module(module), name)
        for module, name in _SHIPPED
        if module != "pathlib._local"  # the same classes, where Python has this module
    )
)
"""The types of the shipped leaves."""

LEAVES = one_of(*[st.sampled_from([*SHIPPED, Celsius])] * 3, st.integers(0, 999).map(held))
PLAIN = st.sampled_from([str, int, float, bool])
HASHABLE = one_of(
    PLAIN,
    LEAVES,
    texts(),
    one_of(numbers(), numbers(), large_numbers()),
    one_of(literals(WORDS), literals(st.integers()), enums(enum.Enum, enum.StrEnum, enum.IntEnum)),
)
MIXED = WORDS | st.booleans() | st.integers(-3, 3) | st.none()
LEAFY = one_of(HASHABLE, HASHABLE, HASHABLE, literals(MIXED), st.sampled_from([Any, object, None]))

# --- types with parts ----------------------------------------------------------------------------

ARRAYS = [
    lambda item: list[item],
    lambda item: tuple[item, ...],
    lambda item: deque[item],
    lambda item: collections.abc.Sequence[item],
    lambda item: collections.abc.Collection[item],
    lambda item: collections.abc.Iterable[item],
]
SETS = [lambda item: set[item], lambda item: frozenset[item], lambda item: collections.abc.Set[item]]
MAPS = [
    lambda key, value: dict[key, value],
    lambda key, value: collections.abc.Mapping[key, value],
    lambda key, value: collections.OrderedDict[key, value],
]
MAP_KEYS = one_of(
    st.just(str),
    st.just(int),
    texts(),
    st.sampled_from([UUID, date, IPv4Address]),
    st.integers(0, 99).map(lambda number: held(number, ["text"])),
    one_of(literals(WORDS), literals(st.integers()), enums(enum.StrEnum, enum.IntEnum)),
)


@st.composite
def limited(draw: st.DrawFn, made: st.SearchStrategy[Any], highest_least: int = 2) -> Any:
    """A type with length constraints, or without."""
    annotation = draw(made)
    return Annotated[annotation, draw(lengths(highest_least))] if draw(COIN) else annotation


def arrays(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return limited(st.builds(lambda make, item: make(item), st.sampled_from(ARRAYS), inner))


def sets(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    # A set of booleans has two items at most, one of an Enum perhaps one.
    return limited(st.builds(lambda make, item: make(item), st.sampled_from(SETS), inner), 1)


def maps(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return limited(
        st.builds(lambda make, key, value: make(key, value), st.sampled_from(MAPS), MAP_KEYS, inner), 1
    )


def tuples(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(inner, max_size=3).map(lambda items: tuple[tuple(items)])


@cache
@st.composite
def nullable(draw: st.DrawFn, inner: st.SearchStrategy[Any]) -> Any:
    """`T | None`, but for a `T` that takes null by itself, where null would have two meanings."""
    annotation = draw(inner)
    return annotation if may_be_null(annotation) else Optional[annotation]


def may_be_null(annotation: Any) -> bool:
    graph = Codec(annotation).graph
    node = graph.resolve_root()
    return any(map(takes_null, spread_members(node, {})))


@cache
def kinds_of_members(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[list[st.SearchStrategy[Any]]]:
    """Several kinds of members that the JSON type tells apart."""
    kinds = [
        st.sampled_from([(str,), (UUID, str), (date, time, UUID), (datetime, str), (bytes, str)]),
        enums(enum.StrEnum).map(lambda made: (made, str)) | literals(WORDS).map(lambda made: (made, UUID)),
        st.sampled_from([(int,), (float,), (int, float), (Celsius,)]),
        st.just((bool,)),
        arrays(inner).map(lambda made: (made,)) | tuples(inner).map(lambda made: (made,)),
        maps(inner).map(lambda made: (made,)) | tagged(inner) | told_apart_by_keys(inner),
    ]
    return st.lists(st.sampled_from(kinds), min_size=1, max_size=3, unique_by=id)


@st.composite
def unions(draw: st.DrawFn, inner: st.SearchStrategy[Any]) -> Any:
    """Members that the JSON type tells apart, and where they are of one type, what comes first."""
    members = [member for kind in draw(kinds_of_members(inner)) for member in draw(kind)]
    return Union[tuple(draw(st.permutations(members)))]


TAGS = choices(WORDS | st.integers(-3, 3))


@st.composite
def tagged(draw: st.DrawFn, inner: st.SearchStrategy[Any]) -> Any:
    tags = draw(TAGS)
    optional = draw(COIN)
    return tuple(
        make_dataclass(
            f"Tagged{i}",
            [("kind", Literal[tag], field(default=tag) if optional else field()), ("value", draw(inner))],
            kw_only=True,
        )
        for i, tag in enumerate(tags)
    )


TWO_NAMES = st.lists(NAMES, min_size=2, max_size=3, unique=True)
FEW_NAMES = st.lists(NAMES, max_size=3, unique=True)
MORE_NAMES = st.lists(NAMES, max_size=4, unique=True)
FEW_KEYS = st.lists(KEYS, max_size=3, unique=True)


@st.composite
def told_apart_by_keys(draw: st.DrawFn, inner: st.SearchStrategy[Any]) -> Any:
    keys = draw(TWO_NAMES)
    shared = [("shared", draw(inner))] if draw(COIN) else []
    return tuple(make_dataclass(f"With{key}", [(key, int), *shared]) for key in keys if key != "shared")


# --- classes -------------------------------------------------------------------------------------


class _Field(NamedTuple):
    name: str
    annotation: Any
    spec: Any
    has_default: bool


RECURSIVE = st.sampled_from([Optional[Self], list[Self], dict[str, Self], tuple[Self, ...]])
KINDS_OF_FIELDS = st.sampled_from(
    ["plain", "plain", "nullable", "default", "none", "described", "init_only", "self"]
)


@st.composite
def fields(draw: st.DrawFn, inner: st.SearchStrategy[Any], name: str, key: str) -> _Field:
    metadata: dict[str, Any] = {} if key == name else {"alias": key}
    if draw(COIN):
        metadata["description"] = "a field"
    kind = draw(KINDS_OF_FIELDS)
    if kind == "self":
        return _Field(name, draw(RECURSIVE), field(metadata=metadata), has_default=False)
    annotation = draw(nullable(inner) if kind in {"nullable", "none"} else inner)
    if kind == "none":
        return _Field(name, annotation, field(default=None, metadata=metadata), has_default=True)
    if kind == "described":
        return _Field(name, Annotated[annotation, "a value"], field(metadata=metadata), has_default=False)
    if kind in {"default", "init_only"}:
        value = draw(instances(annotation))
        is_mutable = type(value).__hash__ is None
        default = {"default_factory": lambda: value} if is_mutable else {"default": value}
        if kind == "init_only" and not is_mutable:
            annotation = InitVar[annotation]
        return _Field(name, annotation, field(**default, metadata=metadata), has_default=True)
    return _Field(name, annotation, field(metadata=metadata), has_default=False)


UP_TO_SEVEN = st.integers(0, 7)


@st.composite
def dataclasses_of(draw: st.DrawFn, inner: st.SearchStrategy[Any]) -> Any:
    names = draw(MORE_NAMES)
    keys = draw(
        st.lists(KEYS, min_size=len(names), max_size=len(names), unique=True).filter(
            lambda keys: not set(keys) & set(names)
        )
    )
    made = [
        draw(fields(inner, name, name if draw(COIN) else key)) for name, key in zip(names, keys, strict=True)
    ]
    kw_only = draw(COIN)
    if not kw_only:
        made.sort(key=lambda field: field.has_default)
    members: list[Any] = [(f.name, f.annotation, f.spec) for f in made]
    if draw(COIN):
        members.append(("constant", ClassVar[int], 3))
    own = {"__post_init__": _check} if draw(UP_TO_SEVEN) == 7 else {}
    return make_dataclass("Made", members, kw_only=kw_only, frozen=draw(COIN), namespace=own)


def _check(self: Any, *_init_only: Any) -> None:
    """Refuse some values, the same ones after a round trip."""
    if len(repr(vars(self))) % 4 == 3:
        raise ValueError("its length is odd")


def points(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return inner.map(lambda annotation: make_dataclass("Point", [("x", annotation)], frozen=True))


QUALIFIERS = st.sampled_from([NotRequired, Required, Annotated])


@st.composite
def typed_dicts(draw: st.DrawFn, inner: st.SearchStrategy[Any]) -> Any:
    members = {}
    for key in draw(FEW_KEYS):
        annotation, qualifier = draw(inner), draw(QUALIFIERS)
        members[key] = annotation if qualifier is Annotated else qualifier[annotation]
    return TypedDict("MadeDict", members, total=draw(COIN))


@st.composite
def named_tuples(draw: st.DrawFn, inner: st.SearchStrategy[Any]) -> Any:
    names = draw(FEW_NAMES)
    annotations = {name: draw(nullable(inner) if draw(COIN) else inner) for name in names}
    first = draw(st.integers(0, len(names)))
    defaults = {name: draw(instances(annotations[name])) for name in names[first:]}
    own = {"__module__": __name__, "__annotations__": annotations, **defaults}
    return types.new_class("MadeTuple", (NamedTuple,), {}, lambda namespace: namespace.update(own))


T = TypeVar("T")


@dataclass
class Page(Generic[T]):
    items: list[T]
    next: Page[T] | None = None


class Entry(TypedDict, Generic[T]):
    value: T
    more: NotRequired[list[Entry[T]]]


GENERICS = [lambda inner: Page[inner], lambda inner: Entry[inner]]


@dataclass
class Folder:
    """Two classes that hold each other."""

    name: str
    files: list[File]


@dataclass
class File:
    folder: Folder | None
    versions: dict[str, File]


def with_parts(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Types made of others."""
    return one_of(
        one_of(dataclasses_of(inner), typed_dicts(inner), named_tuples(inner)),
        one_of(
            st.builds(lambda make, item: make(item), st.sampled_from(GENERICS), inner),
            st.sampled_from([Folder, File]),
        ),
        unions(inner),
        arrays(inner),
        tuples(inner),
        sets(one_of(HASHABLE, tuples(HASHABLE), points(HASHABLE))),
        maps(inner),
        nullable(inner),
        one_of(
            inner.map(lambda annotation: NewType("Other", annotation)),
            st.builds(lambda annotation, text: Annotated[annotation, text], inner, st.text(max_size=8)),
        ),
    )


SMALL = one_of(LEAFY, with_parts(LEAFY))
TYPES = one_of(SMALL, with_parts(SMALL))
DATACLASSES = dataclasses_of(SMALL)
OBJECTS = DATACLASSES | typed_dicts(SMALL) | named_tuples(SMALL)


# --- values --------------------------------------------------------------------------------------


INSIDE = st.sampled_from([False, True, True, True, True])
EDITS_OF_OBJECTS = st.sampled_from(["drop", "rename", "twice", "inside", "inside", "null"])
EDITS_OF_ARRAYS = st.sampled_from(["drop", "twice", "inside", "inside"])


@st.composite
def edited(draw: st.DrawFn, valid: Any) -> Any:
    """A value like a valid one, with one small thing changed somewhere inside, valid or not."""
    if isinstance(valid, dict) and valid and draw(INSIDE):
        key = draw(st.sampled_from(sorted(valid)))
        rest = {k: v for k, v in valid.items() if k != key}
        what = draw(EDITS_OF_OBJECTS)
        if what == "drop":
            return rest
        if what == "rename":
            return {**rest, key + "x": valid[key]}
        if what == "twice":
            return {**valid, key.upper(): valid[key]}
        if what == "null":
            return {**valid, key: None}
        return {**valid, key: draw(edited(valid[key]))}
    if isinstance(valid, list) and valid and draw(INSIDE):
        index = draw(st.integers(0, len(valid) - 1))
        what = draw(EDITS_OF_ARRAYS)
        if what == "inside":
            return [*valid[:index], draw(edited(valid[index])), *valid[index + 1 :]]
        return [*valid[:index], *valid[index : index + 1] * (what == "twice") * 2, *valid[index + 1 :]]
    return draw(st.sampled_from(_changes(valid)) if draw(COIN) else JSON_VALUES)


def _changes(valid: Any) -> list[Any]:
    changes: list[Any] = [None, str(valid)[:20], [valid], {"value": valid}, True, 0, 1, 1.5]
    if isinstance(valid, str):
        changes += [valid + "x", valid[:-1], valid.upper(), valid.replace("-", ""), valid + "\n"]
    if isinstance(valid, bool):
        changes += [int(valid), float(valid)]
    elif isinstance(valid, (int, float)):
        changes += [valid + 1, valid * 2, -valid, bool(valid), repr(valid)]
    return [change for change in changes if not isinstance(change, float) or math.isfinite(change)]


def misses(codec: Codec[Any]) -> st.SearchStrategy[Any]:
    try:
        return near_misses(codec)
    except ValueError:  # everything decodes
        return JSON_VALUES


class _Unchecked(ValidValues):
    def takes(self, node: Any) -> Any:  # noqa: ARG002  # whatever it is
        return lambda value: True  # noqa: ARG005  # likewise


class _UncheckedMisses(NearMisses):
    refuses = _Unchecked.takes


def supposedly_valid(codec: Codec[Any]) -> st.SearchStrategy[Any]:
    """What `arguments` would give if it did not ask the decoder."""
    return _Unchecked(codec.graph, {}).root()


def held_values(graph: Graph) -> dict[type, st.SearchStrategy[Any]]:
    """Values for the schemas of the leaves of one's own in a graph."""
    nodes = visit([graph.root, *graph.definitions.values()])
    leaves = [node.leaf for node in nodes if isinstance(node, LeafNode)]
    return {
        leaf.type: st.just(leaf.placeholder.value) | ValidValues(reading_of(leaf).graph, {}).root()
        for leaf in leaves
        if isinstance(leaf.json_schema, WrittenSchema)
    }


def values_for(codec: Codec[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
    """JSON values: valid ones, near misses, anything.

    The decoder has its say in the first two, so that only the others can find out what it should
    have said.
    """
    # What is valid is made once for all of them: `arguments` and `near_misses` make it anew.
    values = ValidValues(codec.graph, held_values(codec.graph))
    valid = values.root().filter(lambda value: not codec.report(value))
    near = NearMisses(codec.graph, values).root()
    wrong = JSON_VALUES if near.is_empty else near.filter(lambda value: bool(codec.report(value)))
    supposed = _UncheckedMisses(codec.graph, values).root()
    unsure = JSON_VALUES if supposed.is_empty else supposed
    return st.tuples(
        valid, wrong, supposedly_valid(codec), unsure, unsure, valid.flatmap(edited), JSON_VALUES
    )
