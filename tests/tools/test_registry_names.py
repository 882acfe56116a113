"""Tools by name, in order."""

from __future__ import annotations

import pytest
from registry_samples import delete_file, names, read_file, web_search

from operator_schema import Registry, describe_tools, tool
from operator_schema.errors import DuplicateToolError, ToolNotFoundError
from operator_schema.tools import schema_response


def test_tools_come_back_in_the_order_of_their_registration():
    registry = Registry([web_search, read_file])
    registry.register(delete_file)
    assert names(registry) == ["web_search", "read_file", "delete_file"]
    assert len(registry) == 3
    assert registry["read_file"] is read_file
    assert "read_file" in registry
    assert "nothing" not in registry
    assert ["unhashable"] not in names(registry)
    assert repr(registry) == "<Registry of 3>"


def test_a_name_is_taken_once():
    registry = Registry([web_search])
    with pytest.raises(DuplicateToolError) as caught:
        registry.register(web_search)
    assert str(caught.value).startswith('tool "web_search" already registered: ')
    assert caught.value.tool == "web_search"
    with pytest.raises(DuplicateToolError):
        Registry([read_file, read_file])
    assert names(registry) == ["web_search"]


def test_a_name_that_is_not_there_has_the_nearest_ones():
    registry = Registry([web_search, read_file, read_file.with_(name="read_files")])
    with pytest.raises(ToolNotFoundError) as caught:
        registry["readfile"]
    assert str(caught.value) == 'tool "readfile" not found; did you mean "read_file" or "read_files"?'
    assert caught.value.suggestions == ("read_file", "read_files")
    with pytest.raises(LookupError) as caught:
        registry["zzz"]
    assert str(caught.value) == 'tool "zzz" not found'


def test_a_hostile_name_gives_a_bounded_message():
    with pytest.raises(ToolNotFoundError) as caught:
        Registry([web_search])["x\n\x1b[2J" + "y" * 10**6]
    assert len(str(caught.value)) < 200
    assert "\\u001b" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_errors_travel():
    import pickle

    for error in (DuplicateToolError("a"), ToolNotFoundError("a", ["b"])):
        again = pickle.loads(pickle.dumps(error))
        assert (type(again), str(again), vars(again)) == (type(error), str(error), vars(error))


def test_register_is_a_decorator():
    registry = Registry()

    @registry.register
    @tool
    def double(x: int) -> int:
        return 2 * x

    assert double(4) == 8
    assert registry["double"] is double


def test_only_tools_are_registered():
    registry = Registry()
    for wrong in (len, "web_search", None):
        with pytest.raises(TypeError, match=r"isn't a Tool; (decorate it with @tool|give what @tool or)"):
            registry.register(wrong)
    for wanted in (schema_response, describe_tools):
        with pytest.raises(TypeError, match=r"not the tool web_search alone: write \[web_search\]"):
            wanted(web_search)
    with pytest.raises(TypeError, match="a str isn't a Tool"):
        describe_tools(["web_search"])
    assert len(registry) == 0


def test_methods_are_registered_bound():
    class Shelf:
        def __init__(self, books):
            self.books = books

        @tool
        def count(self) -> int:
            """Count the books."""
            return len(self.books)

        @classmethod
        @tool
        def kind(cls) -> str:
            """Tell the kind."""
            return cls.__name__

    registry = Registry([Shelf(["a", "b"]).count, Shelf.kind])
    assert registry["count"].run({}) == "2"
    assert registry["kind"].run({}) == "Shelf"


def test_unregister():
    registry = Registry([web_search, read_file])
    registry.switch("web_search", enabled=False)
    assert registry.unregister("web_search") is web_search
    assert names(registry) == ["read_file"]
    with pytest.raises(ToolNotFoundError):
        registry.unregister("web_search")
    registry.register(web_search)
    assert registry.is_enabled("web_search")  # what was said about it is forgotten with it


def test_iteration_sees_the_registry_as_it_was():
    registry = Registry([web_search, read_file])
    for entry in registry:
        registry.unregister(entry.name)
    assert len(registry) == 0


def test_a_describing_tool_that_is_removed_describes_no_more():
    registry = Registry([web_search])
    registry.register(describe_tools(registry))
    assert registry.shown("web_search").described_by == "describe_tools"
    registry.unregister("describe_tools")
    assert registry.shown("web_search").described_by is None


def test_an_unknown_tool_is_neither_on_nor_off():
    with pytest.raises(ToolNotFoundError, match='did you mean "read_file"'):
        Registry([read_file]).is_enabled("read_fil")
