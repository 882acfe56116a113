"""What a registry says about mistakes: where, and what to do about it."""

from __future__ import annotations

import functools
import pickle
import sys

import pytest

from operator_schema import Registry, SchemaError, Toolset, describe_tools, tool
from operator_schema.errors import DuplicateToolError, ToolNotFoundError


@tool
def add(x: int) -> int:
    """Add."""
    return x


def other():
    @tool(name="add")
    def plus(x: int) -> int:
        """Add as well."""
        return x

    return plus


def test_a_name_that_is_taken_names_both_places_and_the_way_out():
    with pytest.raises(DuplicateToolError) as caught:
        Registry([add, other()])
    assert str(caught.value) == (
        f'tool "add" already registered: {__name__}.add and {__name__}.other.<locals>.plus have this name. '
        "Rename one (tool.with_(name=…)) or a group (group.prefix(…))"
    )
    assert caught.value.places == (f"{__name__}.add", f"{__name__}.other.<locals>.plus")
    again = pickle.loads(pickle.dumps(caught.value))  # its own
    assert (str(again), again.places) == (str(caught.value), caught.value.places)


def test_the_same_tool_twice():
    with pytest.raises(DuplicateToolError, match=r"\.add is there twice\. Leave one out, or rename it"):
        Registry([add, add])


def test_two_tools_of_one_place_are_told_apart_by_their_lines():
    made = []
    for _ in range(2):

        @tool
        def work() -> None: ...

        made.append(work)
    with pytest.raises(DuplicateToolError, match=r"work is there twice|work \(line \d+\)"):
        Registry(made)


def test_a_merge_that_would_give_two_tools_one_name_adds_none_and_names_both():
    registry = Registry([add])
    with pytest.raises(DuplicateToolError, match="plus have this name"):
        registry.register([other().with_(name="fine"), other()])
    assert [entry.name for entry in registry] == ["add"]


def test_the_keys_of_a_mapping_are_the_names_of_the_tools():
    registry = Registry({"sum": add, "add": add}, {"total": add})
    assert [entry.name for entry in registry] == ["sum", "add", "total"]
    assert registry["add"] is add
    assert registry["sum"].definition() == {**add.definition(), "name": "sum"}
    assert (registry["sum"](1), registry["total"].home) == (1, add.home)
    with pytest.raises(
        DuplicateToolError, match=rf'"sum" already registered: {__name__}\.add is there twice'
    ):
        registry.register(add.with_(name="sum"))


@pytest.mark.parametrize("make", [Registry, Registry().register, describe_tools])
def test_a_key_that_is_no_name_is_refused(make):
    with pytest.raises(SchemaError, match='the name "a b" is refused by providers'):
        make({"a b": add})
    for key in (None, 5, ("add",)):
        with pytest.raises(TypeError, match="the key of the tool add is its name and must be a string, not"):
            make({key: add})


def test_describe_tools_takes_the_names_of_a_mapping():
    assert (
        describe_tools({"total": add.with_(description="Add. More.")})
        .run({"tools": ["total"]})
        .startswith("## total")
    )


def test_a_tool_by_its_name_in_brackets():
    registry = Registry([add])
    assert registry["add"] is add
    with pytest.raises(ToolNotFoundError, match='did you mean "add"'):
        registry["ad"]
    with pytest.raises(KeyError):
        registry["ad"]


def of_context(context):
    return bool(context)


def of_two(first, second):
    return bool(first) and bool(second)


def passing_on(function):
    @functools.wraps(function)
    def wrapped(*args, **kwargs):
        return function(*args, **kwargs)

    return wrapped


def answering(function):
    @functools.wraps(function)
    def wrapped():
        return function({"user": "Ada"})

    return wrapped


class Asked:
    def __call__(self):
        return True

    def method(self):
        return True

    def of(self, context):
        return bool(context)

    def of_two(self, context, user):
        return bool(context) and bool(user)

    @classmethod
    def of_class(cls, context):
        return bool(context)


class AskedWith:
    def __call__(self, context):
        return bool(context)


@pytest.mark.parametrize(
    "switch",
    [
        of_two,
        lambda *, context: True,  # the point
        lambda context, *, user: True,  # likewise
        Asked().of_two,
        Asked.of,
        functools.partial(of_two),
        functools.partial(of_two, first=1),
        passing_on(of_two),
    ],
)
def test_a_switch_that_takes_other_arguments_is_refused_at_once(switch):
    with pytest.raises(SchemaError, match=r"a function \(def\) that takes nothing or the context"):
        tool(enabled=switch)(add)
    with pytest.raises(SchemaError, match="that takes nothing or the context"):
        add.with_(enabled=switch)
    with pytest.raises(
        TypeError, match="a function that takes nothing or the context, not one that takes other arguments"
    ):
        Toolset(add).switch(add, enabled=switch)
    with pytest.raises(TypeError, match="takes other arguments"):
        Registry([add]).switch("add", enabled=switch)


@pytest.mark.parametrize(
    "switch",
    [
        lambda: True,
        lambda context=None: not context,  # the point
        lambda *args, **kwargs: not args,
        lambda *, context=None: not context,  # likewise
        Asked(),
        Asked().method,
        functools.partial(of_context, 1),
        functools.partial(of_context, context=1),
        functools.partial(of_two, 1, second=1),
        answering(of_context),
        bool,
    ],
)
def test_a_switch_that_needs_no_arguments_gets_none(switch):
    registry = Toolset(add).switch(add, enabled=switch)
    assert registry.is_enabled("add", context={"user": "Ada"}) is bool(switch())


@pytest.mark.parametrize(
    "switch",
    [
        of_context,
        lambda context, user=None: bool(context) and user is None,
        lambda context, *args: bool(context) and not args,
        Asked().of,
        Asked.of_class,
        AskedWith(),
        functools.partial(of_two, 1),
        functools.partial(of_two, second=1),
        functools.cache(lambda context: len(context) > 0),
        passing_on(of_context),
    ],
)
def test_a_switch_that_needs_one_argument_gets_the_context(switch):
    class Context(dict):
        __hash__ = object.__hash__  # `functools.cache` asks for it

    for registry in (Toolset(add).switch(add, enabled=switch), Registry([add.with_(enabled=switch)])):
        if not hasattr(switch, "cache_info"):
            assert not registry.is_enabled("add")
            assert not registry.is_enabled("add", context={})
        assert registry.is_enabled("add", context=Context(user="Ada"))


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package whose tools are in its submodules."""
    folder = tmp_path / "packed_tools"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    source = "from operator_schema import tool\n@tool\ndef ping() -> str: return 'pong'\n"
    (folder / "web.py").write_text(source)
    (folder / "files.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    yield folder
    for name in [name for name in sys.modules if name.partition(".")[0] == "packed_tools"]:
        del sys.modules[name]


def test_a_package_without_tools_of_its_own_says_where_they_may_be(package):
    with pytest.raises(ValueError, match="the package packed_tools itself has no tools") as caught:
        Toolset.from_module("packed_tools")
    assert "packed_tools.files, packed_tools.web" in str(caught.value)
    assert 'Toolset.from_module("packed_tools.files")' in str(caught.value)
    assert Toolset.from_module("packed_tools.web")["ping"]() == "pong"
    (package / "__init__.py").write_text("__all__ = []\n")
    del sys.modules["packed_tools"]
    assert len(Toolset.from_module("packed_tools")) == 0


def test_a_package_with_tools_is_taken_as_it_is(package):
    (package / "__init__.py").write_text("from .web import ping\n__all__ = ['ping']\n")
    assert [entry.name for entry in Toolset.from_module("packed_tools")] == ["ping"]


@pytest.mark.parametrize(
    "place", [Toolset, lambda thing: Registry([thing]), lambda thing: Registry([add, thing])]
)
def test_an_object_with_tools_among_its_methods_names_the_way_to_them(place):
    class Desk:
        @tool
        def find(self, x: int) -> int:
            """Find."""
            return x

    class Wider(Desk):
        def __call__(self) -> None: ...

    for thing in (Desk(), Wider()):
        with pytest.raises(
            TypeError, match=r"isn't a Tool; Toolset.from_object\((desk|wider)\) takes the tools"
        ):
            place(thing)
    assert Toolset.from_object(Wider())["find"](x=3) == 3
