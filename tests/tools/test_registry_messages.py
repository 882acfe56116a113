"""What a registry says about mistakes: where, and what to do about it."""

from __future__ import annotations

import functools
import pickle
import sys

import pytest

from operator_schema import DuplicateToolError, Registry, SchemaError, ToolNotFoundError, tool


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
        "Rename one (tool.with_(name=…)) or a group (registry.prefix(…))"
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
        registry.merge([other().with_(name="fine"), other()])
    assert [entry.name for entry in registry] == ["add"]


@pytest.mark.parametrize("make", [Registry, Registry().merge])
def test_the_keys_of_a_mapping_are_the_names_of_the_tools(make):
    message = (
        r'the key "renamed" isn\'t the name of its tool, "add": '
        r'give a list, or rename the tool: add\.with_\(name="renamed"\)'
    )
    with pytest.raises(TypeError, match=message):
        make({"renamed": add})
    assert Registry({"add": add})["add"] is add


def test_a_tool_by_its_name_in_brackets():
    registry = Registry([add])
    assert registry["add"] is add
    with pytest.raises(ToolNotFoundError, match='did you mean "add"'):
        registry["ad"]
    with pytest.raises(KeyError):
        registry["ad"]


def of_context(context):
    return bool(context)


class Asked:
    def __call__(self):
        return True

    def method(self):
        return True

    def of(self, context):
        return bool(context)


class AskedWith:
    def __call__(self, context):
        return bool(context)


@pytest.mark.parametrize(
    "switch",
    [lambda context: True, of_context, lambda *, context: True, Asked().of, AskedWith()],  # the point
)
def test_a_switch_that_takes_arguments_is_refused_at_once(switch):
    with pytest.raises(SchemaError, match="a function without parameters"):
        tool(enabled=switch)(add)
    with pytest.raises(SchemaError, match="a function without parameters"):
        add.with_(enabled=switch)
    with pytest.raises(TypeError, match="a function without parameters, not one that takes arguments"):
        Registry([add], enabled=switch)
    with pytest.raises(TypeError, match="takes arguments"):
        Registry([add]).switch("add", enabled=switch)


@pytest.mark.parametrize(
    "switch",
    [
        lambda: True,
        lambda context=None: True,  # the point
        lambda *args, **kwargs: True,  # likewise
        lambda *, context=None: True,  # likewise
        Asked(),
        Asked().method,
        functools.partial(of_context, 1),
        bool,
    ],
)
def test_a_switch_that_needs_no_arguments_is_asked(switch):
    registry = Registry([add], enabled=switch)
    assert registry.is_enabled("add") is bool(switch())


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
        Registry.from_module("packed_tools")
    assert "packed_tools.files, packed_tools.web" in str(caught.value)
    assert 'Registry.from_module("packed_tools.files")' in str(caught.value)
    assert Registry.from_module("packed_tools.web")["ping"]() == "pong"
    (package / "__init__.py").write_text("__all__ = []\n")
    del sys.modules["packed_tools"]
    assert len(Registry.from_module("packed_tools")) == 0


def test_a_package_with_tools_is_taken_as_it_is(package):
    (package / "__init__.py").write_text("from .web import ping\n__all__ = ['ping']\n")
    assert [entry.name for entry in Registry.from_module("packed_tools")] == ["ping"]
