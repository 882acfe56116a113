"""The tools that are methods of an object."""

from __future__ import annotations

import abc
import functools
import types
from dataclasses import dataclass

import pytest

from operator_schema import Executor, RawCall, Registry, Toolset, tool, tool_input
from operator_schema.errors import DuplicateToolError


class Base:
    def __init__(self, name):
        self.name = name

    @tool
    def greet(self, other: str) -> str:
        """Greet."""
        return f"{self.name} greets {other}"

    @tool
    def replaced(self) -> str:
        return "base"

    @tool
    def dropped(self) -> str:
        return "base"


class Shop(Base):
    @tool
    @classmethod
    def made_by(cls) -> str:
        return cls.__name__

    @classmethod
    @tool
    def also_made_by(cls) -> str:
        return cls.__name__

    @tool
    @staticmethod
    def add(a: int, b: int) -> int:
        return a + b

    @staticmethod
    @tool
    def double(a: int) -> int:
        return 2 * a

    @property
    def broken(self):
        raise AssertionError("a property was run")

    @functools.cached_property
    def costly(self):
        raise AssertionError("a property was run")

    @tool
    def _hidden(self) -> str:
        return "hidden"

    @tool
    async def wait(self) -> str:
        return self.name

    def plain(self) -> str:
        return self.name

    @tool
    def replaced(self) -> str:
        return "shop"

    dropped = None
    again = wait


def names_of(registry):
    return [entry.name for entry in registry]


def test_methods_are_bound_and_in_the_order_of_their_definition():
    registry = Toolset.from_object(Shop("Ann"))
    assert names_of(registry) == [
        *("greet", "replaced", "made_by", "also_made_by", "add", "double", "wait"),
    ]
    assert registry["greet"].run({"other": "Bob"}) == "Ann greets Bob"
    assert [registry[name].run({}) for name in ("replaced", "made_by", "also_made_by")] == [
        "shop",
        "Shop",
        "Shop",
    ]
    assert (registry["add"].run({"a": 1, "b": 2}), registry["double"].run({"a": 2})) == ("3", "4")


@pytest.mark.needs_threads
def test_they_are_executed():
    executor = Executor(Toolset.from_object(Shop("Ann")))
    calls = [
        RawCall(name="greet", arguments={"other": "Bob"}),
        RawCall(name="wait"),
        RawCall(name="also_made_by"),
    ]
    assert [result.content for result in executor.run_sync(calls)] == [
        "Ann greets Bob",
        "Ann",
        "Shop",
    ]


def test_two_objects_keep_apart():
    one, two = (
        Toolset.from_object(Base("Ann")).prefix("ann_"),
        Toolset.from_object(Base("Bob")).prefix("bob_"),
    )
    both = Registry(one, two)
    assert both["ann_greet"].run({"other": "x"}) == "Ann greets x"
    assert both["bob_greet"].run({"other": "x"}) == "Bob greets x"
    with pytest.raises(DuplicateToolError, match="greet"):
        Toolset(Toolset.from_object(Base("Ann")), Toolset.from_object(Base("Bob")))


def test_an_attribute_of_the_instance_counts_instead_of_its_method():
    shop = Shop("Ann")
    shop.greet = shop.greet.with_(name="welcome")
    shop.replaced = None
    shop.other = Base.dropped  # it has no method of this name
    registry = Toolset.from_object(shop)
    assert names_of(registry)[:2] == ["welcome", "made_by"]
    assert "replaced" not in registry
    assert "dropped" not in registry


def test_no_code_of_the_object_runs():
    class Hostile(Base):
        def __init__(self):
            pass

        def __getattr__(self, name):
            raise AssertionError(name)

        def __eq__(self, other):
            raise AssertionError("eq")

        def __hash__(self):
            raise AssertionError("hash")

        def __repr__(self):
            raise AssertionError("repr")

        def __bool__(self):
            raise AssertionError("bool")

    assert names_of(Toolset.from_object(Hostile())) == ["greet", "replaced", "dropped"]


def test_slots_and_abstract_methods_and_input_types():
    class Abstract(abc.ABC):
        __slots__ = ()

        @tool
        @abc.abstractmethod
        def act(self) -> str: ...

        @tool_input
        @dataclass
        class Query:
            """Ask."""

            text: str

    class Concrete(Abstract):
        __slots__ = ()

        @tool
        def act(self) -> str:
            return "done"

    registry = Toolset.from_object(Concrete())
    assert names_of(registry) == ["act", "query"]
    assert registry["act"].run({}) == "done"


def test_an_object_without_tools_gives_an_empty_registry():
    assert len(Toolset.from_object(object())) == 0


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (
            Shop,
            r"Shop is a class, and its methods need an instance: write Toolset\.from_object\(Shop\(…\)\)",
        ),
        (types, r"types is a module: write Toolset\.from_module\(types\)"),
    ],
)
def test_a_class_or_a_module_is_refused(wrong, message):
    with pytest.raises(TypeError, match=message):
        Toolset.from_object(wrong)
