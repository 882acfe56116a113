"""Random types from the whole of what is supported, for the agreement campaign."""

from __future__ import annotations

import collections.abc
import enum
import itertools
import re
from collections import OrderedDict, deque
from dataclasses import InitVar, dataclass, field, make_dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from ipaddress import IPv4Address, IPv4Interface, IPv4Network, IPv6Address, IPv6Network
from pathlib import PurePosixPath
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Generic,
    Literal,
    NamedTuple,
    NewType,
    NotRequired,
    Optional,
    TypedDict,
    TypeVar,
    Union,
)
from urllib.parse import ParseResult, SplitResult
from uuid import UUID
from zoneinfo import ZoneInfo

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

T = TypeVar("T")
Code = NewType("Code", str)
COUNTER = itertools.count()

LEAVES = [
    datetime, date, time, timedelta, UUID, SplitResult, Decimal, bytes, IPv4Address, IPv4Network,
    IPv6Address, IPv6Network, IPv4Interface, PurePosixPath, ZoneInfo, ParseResult, re.Pattern, re.Pattern[str],
]  # fmt: skip
KEY_LEAVES = [UUID, date, IPv4Address]
WORDS = ["", "a", "b", "A", "ab", "type", "kind", "x y", "größe", "1", "true", "null", "$ref", "title"]


class Limit:
    """A constraint in the annotated-types vocabulary."""

    def __init__(self, **limits: Any) -> None:
        vars(self).update(limits)

    def __repr__(self) -> str:
        return f"Limit({vars(self)})"


@dataclass(frozen=True)
class Box(Generic[T]):
    """A generic class."""

    content: T
    size: int = 0


class Chest(Box[T]):
    """A class that inherits from a generic one."""


@dataclass
class Tree:
    """A recursive class."""

    value: int | str | None
    children: list[Tree] = field(default_factory=list)


class Leafy(TypedDict):
    """A recursive TypedDict."""

    name: str
    inner: NotRequired[list[Leafy]]


@dataclass
class Add:
    """One of the members of a recursive tagged union."""

    kind: Literal["add"]
    left: Expression
    right: Expression


@dataclass
class Neg:
    """Another one."""

    kind: Literal["neg"]
    of: Expression


Expression = Union[Add, Neg, int]


def scalar(rng: random.Random, _depth: int) -> Any:
    return rng.choice([str, str, int, int, float, bool, Any, object, None, Code])


def constrained(rng: random.Random, _depth: int) -> Any:
    low, high = sorted([rng.randint(-5, 5), rng.randint(-5, 5)])
    short, long = sorted([rng.randint(0, 3), rng.randint(1, 4)])
    if rng.random() < 0.15:
        return Annotated[str, re.compile(rng.choice(["^a", "[0-9]{2}", "b+x?", "^(ab|cd)", "^[^a-z]"]))]
    base, limits = rng.choice([
        (int, {"ge": low, "le": high}),
        (int, {"gt": low - 1, "lt": high + 1}),
        (int, {"multiple_of": rng.choice([1, 2, 3, 7])}),
        (float, {"ge": low, "lt": high + 0.5}),
        (float, {"gt": low - 0.25}),
        (float, {"multiple_of": rng.choice([0.5, 0.25, 3])}),
        (str, {"min_length": short, "max_length": long}),
        (str, {"max_length": long}),
        (list[int], {"min_length": short, "max_length": long}),
        (dict[str, int], {"max_length": long}),
        (Optional[int], {"ge": low}),
    ])  # fmt: skip
    return Annotated[base, Limit(**limits), "limited"]


def leaf(rng: random.Random, _depth: int) -> Any:
    return rng.choice(LEAVES)


def literal(rng: random.Random, _depth: int) -> Any:
    values = rng.sample([*WORDS, True, False, 0, 1, 2, -1, None], rng.randint(1, 4))
    return Literal[tuple(values)]


def an_enum(rng: random.Random, _depth: int) -> Any:
    base = rng.choice([enum.Enum, enum.StrEnum, enum.IntEnum])
    pool: list[Any] = (
        WORDS if base is enum.StrEnum else [0, 1, 2, 3] if base is enum.IntEnum else [*WORDS, 0, 1.5, 7]
    )
    values = rng.sample(pool, rng.randint(1, 4))
    return base(f"Choice{next(COUNTER)}", [(f"M{i}", value) for i, value in enumerate(values)])


def array(rng: random.Random, depth: int) -> Any:
    origin = rng.choice([
        list, list, collections.abc.Sequence, collections.abc.Iterable, collections.abc.Collection, deque,
    ])  # fmt: skip
    inner = random_type(rng, depth - 1)
    return rng.choice([origin[inner], origin[inner], tuple[inner, ...]])


def a_set(rng: random.Random, _depth: int) -> Any:
    inner = rng.choice([str, int, float, UUID, date, Literal["a", "b", 3], Box[int], tuple[int, str]])
    return rng.choice([set, frozenset, collections.abc.Set])[inner]


def a_tuple(rng: random.Random, depth: int) -> Any:
    inner = tuple(random_type(rng, depth - 1) for _ in range(rng.randint(0, 3)))
    return tuple[inner]  # type: ignore[valid-type]  # made at run time


def a_map(rng: random.Random, depth: int) -> Any:
    keys = rng.choice(
        [str, str, int, *KEY_LEAVES, Literal["a", "b"], an_enum(rng, 0), Annotated[str, Limit(max_length=2)]]
    )
    if isinstance(keys, type) and issubclass(keys, enum.Enum) and any(type(m.value) is float for m in keys):
        keys = str
    origin = rng.choice([dict, dict, collections.abc.Mapping, OrderedDict])
    return origin[keys, random_type(rng, depth - 1)]


def nullable(rng: random.Random, depth: int) -> Any:
    return Optional[random_type(rng, depth - 1)]


def described(rng: random.Random, depth: int) -> Any:
    return Annotated[random_type(rng, depth - 1), rng.choice(["", "a text"])]


def union(rng: random.Random, depth: int) -> Any:
    tagged = [
        make_dataclass(
            f"Tagged{i}_{next(COUNTER)}",
            [
                ("kind", Literal[f"t{i}"], field(default=f"t{i}", kw_only=True)),
                (f"v{i}", random_type(rng, depth - 2)),
            ],
        )
        for i in range(2)
    ]
    keyed = [make_dataclass(f"Keyed{i}_{next(COUNTER)}", [("name", str), (f"k{i}", int)]) for i in range(2)]
    optional = [
        make_dataclass(f"Loose{i}_{next(COUNTER)}", [("name", str), (f"o{i}", int, 0)]) for i in range(2)
    ]
    several = [
        make_dataclass(f"Several{i}_{next(COUNTER)}", [("kind", values), ("v", random_type(rng, depth - 2))])
        for i, values in enumerate([Literal["a"], Optional[Literal["b"]], Literal["c", 1, True]])
    ]
    typed = [
        make_dataclass(f"Typed{i}_{next(COUNTER)}", [("name", str), ("v", inner)])
        for i, inner in enumerate([rng.choice([int, float]), str, list[int], Optional[tagged[0]]])
    ]
    nested = [
        make_dataclass(f"Nested{i}_{next(COUNTER)}", [("inner", inner)]) for i, inner in enumerate(tagged)
    ]
    pools: list[list[Any]] = [
        [*several, str, None],
        [*typed, int, None],
        [*nested, bool, None],
        [int, float, str, bool, None],
        [*tagged, str, None, list[int]],
        [*keyed, int, None],
        [*optional, int, str],
        [UUID, datetime, date, str, int],
        [an_enum(rng, 0), str, float],
        [Literal["a", 1], int, str],
        [IPv4Address, IPv4Network, bytes, None],
        [dict[str, int], list[str], str, Decimal],
    ]  # fmt: skip
    pool = rng.choice(pools)
    members = rng.sample(pool, rng.randint(2, min(4, len(pool))))
    return Union[tuple(members)]


def recursive(rng: random.Random, _depth: int) -> Any:
    return rng.choice([Tree, Leafy, Expression, Box[Tree]])


def generic(rng: random.Random, depth: int) -> Any:
    return rng.choice([Box, Chest])[random_type(rng, depth - 1)]


def dataclass_(rng: random.Random, depth: int) -> Any:
    members: list[Any] = []
    for name in rng.sample(["a", "b", "c", "title", "type", "self", "größe", "f_g"], rng.randint(0, 4)):
        kind = rng.choice(["plain", "plain", "nullable", "default", "factory"])
        metadata = {"alias": f"{name}-{rng.choice('xyz')}"} if rng.random() < 0.2 else {}
        if kind == "nullable":
            members.append((name, Optional[random_type(rng, depth - 1)], field(metadata=metadata)))
        elif kind == "default":
            members.append(
                (
                    name,
                    *rng.choice(
                        [
                            (int, field(default=3)),
                            (Optional[str], field(default="x")),
                            (Optional[int], field(default=None)),
                        ]
                    ),
                )
            )
        elif rng.random() < 0.05:
            members.append((name, InitVar[int], field(default=1)))
        elif kind == "factory":
            members.append(
                (name, list[random_type(rng, depth - 1)], field(default_factory=list, metadata=metadata))
            )  # type: ignore[misc]  # made at run time
        else:
            members.append((name, random_type(rng, depth - 1), field(metadata=metadata)))
    return make_dataclass(f"Made{next(COUNTER)}", members, kw_only=True)


def typed_dict(rng: random.Random, depth: int) -> Any:
    names = rng.sample(["a", "b", "x-y", "type", ""], rng.randint(0, 3))
    fields = {name: random_type(rng, depth - 1) for name in names}
    marked = {name: NotRequired[hint] if rng.random() < 0.3 else hint for name, hint in fields.items()}
    return TypedDict(f"Typed{next(COUNTER)}", marked, total=rng.random() < 0.8)  # type: ignore[misc]  # made at run time


def named_tuple(rng: random.Random, depth: int) -> Any:
    return NamedTuple(
        f"Named{next(COUNTER)}", [(name, random_type(rng, depth - 1)) for name in "abc"[: rng.randint(1, 3)]]
    )  # type: ignore[misc]  # made at run time


FLAT: list[Callable[[random.Random, int], Any]] = [scalar, scalar, constrained, leaf, literal, an_enum, a_set]
DEEP: list[Callable[[random.Random, int], Any]] = [
    array, array, a_tuple, a_map, a_map, nullable, described, union, union, recursive, generic,
    dataclass_, dataclass_, dataclass_, typed_dict, named_tuple,
]  # fmt: skip


def random_type(rng: random.Random, depth: int) -> Any:
    """Return a random annotation; one in a few hundred can't be registered, which the caller sees."""
    makers = FLAT if depth <= 0 or rng.random() < 0.25 else DEEP
    return rng.choice(makers)(rng, depth)
