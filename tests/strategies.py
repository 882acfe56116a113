"""Random types of everything supported, with valid, nearly valid and arbitrary JSON values for each.

A type comes as its annotation; what is valid for it comes from `operator_schema.testing`. Classes
are made anew for every example.
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

from operator_schema import Codec, SchemaLeaf
from operator_schema.introspect.node_kinds import spread_members, takes_null
from operator_schema.introspect.shipped_leaves import _SHIPPED
from operator_schema.testing import arguments, instances, near_misses
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


@st.composite
def one_of(draw: st.DrawFn, *alternatives: st.SearchStrategy[Any]) -> Any:
    """One of them, each as likely: in `a | (b | c)` Hypothesis draws a, b and c alike."""
    return draw(draw(st.sampled_from(alternatives)))


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


@st.composite
def texts(draw: st.DrawFn) -> Any:
    pattern = draw(st.none() | st.sampled_from(PATTERNS))
    if pattern is not None:
        longest = draw(st.none() | st.integers(5, 8))
        more = [] if longest is None else [Limits(max_length=longest)]
        return Annotated[(str, re.compile(pattern), *more)]
    return Annotated[str, draw(lengths())]


@st.composite
def lengths(draw: st.DrawFn, highest_least: int = 3) -> Limits:
    least = draw(st.none() | st.integers(0, highest_least))
    most = draw(st.none() | st.integers(least or 0, (least or 0) + 3))
    return Limits(min_length=least, max_length=most)


@st.composite
def numbers(draw: st.DrawFn) -> Any:
    kind = draw(st.sampled_from([int, float]))
    bound = st.integers(-100, 100) if kind is int else st.integers(-100, 100) | st.floats(-100, 100)
    least = draw(st.none() | bound)
    most = draw(st.none() | bound.map(lambda number: number if least is None else least + abs(number) + 11))
    low, high = draw(st.sampled_from(["ge", "gt"])), draw(st.sampled_from(["le", "lt"]))
    return Annotated[kind, Limits(**{low: least, high: most}, multiple_of=draw(st.none() | STEPS))]


# Past 2**53 not every integer is a float, past 10**308 none is.
LARGE = st.sampled_from([2**53, 2**53 + 1, 2**60 + 1, 10**400]).flatmap(lambda n: st.sampled_from([n, -n]))


@st.composite
def large_numbers(draw: st.DrawFn) -> Any:
    kind, number = draw(st.sampled_from([int, float])), draw(LARGE)
    inwards = ["ge", "gt"] if number < 0 else ["le", "lt"]
    # No float is above 10**400.
    limits = inwards if kind is float and abs(number) == 10**400 else ["ge", "gt", "le", "lt"]
    return Annotated[kind, Limits(**{draw(st.sampled_from(limits)): number})]


def choices(values: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    return st.lists(values, min_size=1, max_size=4, unique_by=lambda value: (type(value) is bool, value))


WORDS = st.text(max_size=4)


def literals(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return choices(values).map(lambda values: Literal[tuple(values)])


@st.composite
def enums(draw: st.DrawFn, *bases: type[enum.Enum]) -> Any:
    base = draw(st.sampled_from(bases))
    values = {enum.StrEnum: WORDS, enum.IntEnum: st.integers()}.get(base, WORDS | st.integers() | FINITE)
    made = draw(choices(values))
    return base("Choice", [(f"M{i}", value) for i, value in enumerate(made)])


SHIPPED: list[type] = list(
    dict.fromkeys(
        getattr(import_module(module), name)
        for module, name in _SHIPPED
        if module != "pathlib._local"  # the same classes, where Python has this module
    )
)
"""The types of the shipped leaves."""

LEAVES = st.sampled_from([*SHIPPED, Celsius])
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
    one_of(literals(WORDS), literals(st.integers()), enums(enum.StrEnum, enum.IntEnum)),
)


@st.composite
def limited(draw: st.DrawFn, made: st.SearchStrategy[Any], highest_least: int = 2) -> Any:
    """A type with length constraints, or without."""
    annotation = draw(made)
    return Annotated[annotation, draw(lengths(highest_least))] if draw(st.booleans()) else annotation


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


@st.composite
def nullable(draw: st.DrawFn, inner: st.SearchStrategy[Any]) -> Any:
    """`T | None`, but for a `T` that takes null by itself, where null would have two meanings."""
    annotation = draw(inner)
    return annotation if may_be_null(annotation) else Optional[annotation]


def may_be_null(annotation: Any) -> bool:
    graph = Codec(annotation).graph
    node = graph.resolve_root()
    return any(map(takes_null, spread_members(node, {})))


@st.composite
def unions(draw: st.DrawFn, inner: st.SearchStrategy[Any]) -> Any:
    """Members that the JSON type tells apart, and where they are of one type, what comes first."""
    kinds = [
        st.sampled_from([(str,), (UUID, str), (date, time, UUID), (datetime, str), (bytes, str)]),
        enums(enum.StrEnum).map(lambda made: (made, str)) | literals(WORDS).map(lambda made: (made, UUID)),
        st.sampled_from([(int,), (float,), (int, float), (Celsius,)]),
        st.just((bool,)),
        arrays(inner).map(lambda made: (made,)) | tuples(inner).map(lambda made: (made,)),
        maps(inner).map(lambda made: (made,)) | tagged(inner) | told_apart_by_keys(inner),
    ]
    chosen = draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=3, unique_by=id))
    members = [member for kind in chosen for member in draw(kind)]
    return Union[tuple(draw(st.permutations(members)))]


@st.composite
def tagged(draw: st.DrawFn, inner: st.SearchStrategy[Any]) -> Any:
    tags = draw(choices(WORDS | st.integers(-3, 3)))
    optional = draw(st.booleans())
    return tuple(
        make_dataclass(
            f"Tagged{i}",
            [("kind", Literal[tag], field(default=tag) if optional else field()), ("value", draw(inner))],
            kw_only=True,
        )
        for i, tag in enumerate(tags)
    )


@st.composite
def told_apart_by_keys(draw: st.DrawFn, inner: st.SearchStrategy[Any]) -> Any:
    keys = draw(st.lists(NAMES, min_size=2, max_size=3, unique=True))
    shared = [("shared", draw(inner))] if draw(st.booleans()) else []
    return tuple(make_dataclass(f"With{key}", [(key, int), *shared]) for key in keys if key != "shared")


# --- classes -------------------------------------------------------------------------------------


class _Field(NamedTuple):
    name: str
    annotation: Any
    spec: Any
    has_default: bool


RECURSIVE = [Optional[Self], list[Self], dict[str, Self], tuple[Self, ...]]


@st.composite
def fields(draw: st.DrawFn, inner: st.SearchStrategy[Any], name: str, key: str) -> _Field:
    metadata: dict[str, Any] = {} if key == name else {"alias": key}
    if draw(st.booleans()):
        metadata["description"] = "a field"
    kinds = ["plain", "plain", "nullable", "default", "none", "described", "init_only", "self"]
    kind = draw(st.sampled_from(kinds))
    if kind == "self":
        return _Field(name, draw(st.sampled_from(RECURSIVE)), field(metadata=metadata), has_default=False)
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


@st.composite
def dataclasses_of(draw: st.DrawFn, inner: st.SearchStrategy[Any]) -> Any:
    names = draw(st.lists(NAMES, max_size=4, unique=True))
    keys = draw(
        st.lists(KEYS, min_size=len(names), max_size=len(names), unique=True).filter(
            lambda keys: not set(keys) & set(names)
        )
    )
    made = [
        draw(fields(inner, name, draw(st.sampled_from([name, key]))))
        for name, key in zip(names, keys, strict=True)
    ]
    kw_only = draw(st.booleans())
    if not kw_only:
        made.sort(key=lambda field: field.has_default)
    members: list[Any] = [(f.name, f.annotation, f.spec) for f in made]
    if draw(st.booleans()):
        members.append(("constant", ClassVar[int], 3))
    own = {"__post_init__": _check} if draw(st.integers(0, 7)) == 7 else {}
    return make_dataclass("Made", members, kw_only=kw_only, frozen=draw(st.booleans()), namespace=own)


def _check(self: Any, *_init_only: Any) -> None:
    """Refuse some values, the same ones after a round trip."""
    if len(repr(vars(self))) % 4 == 3:
        raise ValueError("its length is odd")


def points(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return inner.map(lambda annotation: make_dataclass("Point", [("x", annotation)], frozen=True))


@st.composite
def typed_dicts(draw: st.DrawFn, inner: st.SearchStrategy[Any]) -> Any:
    keys = draw(st.lists(KEYS, max_size=3, unique=True))
    qualifiers = st.sampled_from([NotRequired, Required, Annotated])
    members = {}
    for key in keys:
        annotation, qualifier = draw(inner), draw(qualifiers)
        members[key] = annotation if qualifier is Annotated else qualifier[annotation]
    return TypedDict("MadeDict", members, total=draw(st.booleans()))


@st.composite
def named_tuples(draw: st.DrawFn, inner: st.SearchStrategy[Any]) -> Any:
    names = draw(st.lists(NAMES, max_size=3, unique=True))
    annotations = {name: draw(inner | nullable(inner)) for name in names}
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


@st.composite
def edited(draw: st.DrawFn, valid: Any) -> Any:
    """A value like a valid one, with one small thing changed somewhere inside, valid or not."""
    if isinstance(valid, dict) and valid and draw(INSIDE):
        key = draw(st.sampled_from(sorted(valid)))
        rest = {k: v for k, v in valid.items() if k != key}
        what = draw(st.sampled_from(["drop", "rename", "twice", "inside", "inside", "null"]))
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
        what = draw(st.sampled_from(["drop", "twice", "inside", "inside"]))
        if what == "inside":
            return [*valid[:index], draw(edited(valid[index])), *valid[index + 1 :]]
        return [*valid[:index], *valid[index : index + 1] * (what == "twice") * 2, *valid[index + 1 :]]
    return draw(st.sampled_from(_changes(valid)) | JSON_VALUES)


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


def supposed_misses(codec: Codec[Any]) -> st.SearchStrategy[Any]:
    """What `near_misses` would give if it did not ask the decoder."""
    found = _UncheckedMisses(codec.graph, ValidValues(codec.graph, {})).root()
    return JSON_VALUES if found.is_empty else found


def values_for(codec: Codec[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
    """JSON values: valid ones, near misses, anything.

    The decoder has its say in the first two, so that only the others can find out what it should
    have said.
    """
    valid, unsure = arguments(codec), supposed_misses(codec)
    checked = (valid, misses(codec))
    return st.tuples(*checked, supposedly_valid(codec), unsure, unsure, valid.flatmap(edited), JSON_VALUES)
