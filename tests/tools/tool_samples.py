"""Functions and helpers that several tests of tools share."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import (
    Annotated,
    Any,
    Literal,
    TypeVar,
)

from operator_schema import (
    tool,
)

T = TypeVar("T")


@dataclass
class Point:
    x: int
    y: int = 0


def codes_of(caught):
    return [complaint.code for complaint in caught.value.findings]


def many(
    a: int,
    b: Annotated[str, "text", object(), 7],
    c: list[Later],
    d: dict[str, Later],
    e: Later | None,
    f: Literal["x", "y"],
    g: Sequence[int],
    h: tuple[int, str],
    i: float = 1.5,
    j: bool = False,
    k: str = "k",
    l: Later | None = None,  # noqa: E741  # a name like any other
    m: list[int] = [],  # noqa: B006  # what people write
    n: dict[str, int] = {},  # noqa: B006  # likewise
    o: Annotated[int | None, "number", []] = None,
    p: int = None,  # noqa: RUF013  # likewise
    q: Any = None,
    r: object = None,
    s: frozenset[str] = frozenset(),
    t: list[Later] | None = None,
) -> str:
    return f"{a}{b}{c}{e}{m}{t}"


@dataclass
class Later:
    name: str


class Service:
    def __init__(self, name="s"):
        self.name = name

    def plain(self, query: str) -> str:
        return self.name + query

    @tool
    def search(self, query: str) -> str:
        """Search."""
        return self.name + query

    @tool
    async def later(self, query: str) -> str:
        return self.name + query

    @tool
    @classmethod
    def outer_class(cls, query: str) -> str:
        return cls.__name__ + query

    @classmethod
    @tool
    def inner_class(cls, query: str) -> str:
        return cls.__name__ + query

    @tool
    @staticmethod
    def outer_static(query: str) -> str:
        return query

    @staticmethod
    @tool
    def inner_static(query: str) -> str:
        return query


class Derived(Service):
    pass


def wrapping(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return "<" + function(*args, **kwargs) + ">"

    return wrapper


def scale(value: int, by: int, *rest: int, unit: str = "m") -> str:
    """Scale.

    Args:
        value: What to scale.
        by: How much.
        rest: Not used.
        unit: Of the result.
    """
    return f"{value * by}{unit}{rest}"


@tool
def quick(text: str) -> str:
    return text


def rest(query: str, *terms: str, limit: int = 5) -> str:
    """Search it.

    Longer.

    :param query: What to look for,
        over two lines.
    :param str terms: More of it.
    :param limit: How many.
    :type limit: int
    :returns: Something.
    """
