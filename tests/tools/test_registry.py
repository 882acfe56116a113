"""The registry: names, order, switches, and what the model is told (rows M2, N6, O8, J5, J8)."""

from __future__ import annotations

import functools
import sys
import textwrap
import threading
import types

import pytest

from operator_schema import (
    DecodeError,
    DuplicateToolError,
    Executor,
    Registry,
    SchemaError,
    ToolNotFoundError,
    describe_tools,
    schema_response,
    tool,
    tool_input,
)


@tool
def web_search(query: str, max_results: int = 5) -> list[str]:
    """Search the web. It takes a while.

    Args:
        query: what to look for.
    """
    return [query] * max_results


@tool
def read_file(path: str) -> str:
    """Read a file."""
    return path


@tool("Delete a file. It is gone for ever.", enabled=False)
def delete_file(path: str) -> None:
    del path


def names(registry):
    return [entry.name for entry in registry]


def told_names(registry):
    return [definition["name"] for definition in registry.definitions()]


# --- names and order -----------------------------------------------------------------------------


def test_m2_tools_come_back_in_the_order_of_their_registration():
    registry = Registry([web_search, read_file])
    registry.register(delete_file)
    assert names(registry) == ["web_search", "read_file", "delete_file"]
    assert len(registry) == 3
    assert registry.get("read_file") is read_file
    assert "read_file" in registry
    assert "nothing" not in registry
    assert ["unhashable"] not in names(registry)
    assert repr(registry) == "<Registry of 3>"


def test_m2_o8_a_name_is_taken_once():
    registry = Registry([web_search])
    with pytest.raises(DuplicateToolError) as caught:
        registry.register(web_search)
    assert str(caught.value) == 'tool "web_search" already registered'
    assert caught.value.tool == "web_search"
    with pytest.raises(DuplicateToolError):
        Registry([read_file, read_file])
    assert names(registry) == ["web_search"]


def test_m2_a_name_that_is_not_there_has_the_nearest_ones():
    registry = Registry([web_search, read_file, read_file.with_(name="read_files")])
    with pytest.raises(ToolNotFoundError) as caught:
        registry.get("readfile")
    assert str(caught.value) == 'tool "readfile" not found; did you mean "read_file" or "read_files"?'
    assert caught.value.suggestions == ("read_file", "read_files")
    with pytest.raises(LookupError) as caught:
        registry.get("zzz")
    assert str(caught.value) == 'tool "zzz" not found'


def test_a_hostile_name_gives_a_bounded_message():
    with pytest.raises(ToolNotFoundError) as caught:
        Registry([web_search]).get("x\n\x1b[2J" + "y" * 10**6)
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
    assert registry.get("double") is double


def test_only_tools_are_registered():
    registry = Registry()
    for wrong in (len, "web_search", None):
        with pytest.raises(TypeError, match=r"is no Tool; decorate it with @tool"):
            registry.register(wrong)
    for wanted in (Registry, registry.merge, Executor, schema_response, describe_tools):
        with pytest.raises(TypeError, match=r"not the tool web_search alone: write \[web_search\]"):
            wanted(web_search)
    with pytest.raises(TypeError, match="a str is no Tool"):
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
    assert registry.get("count").run({}) == "2"
    assert registry.get("kind").run({}) == "Shelf"


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


# --- merge and prefix ----------------------------------------------------------------------------


def test_merge_takes_all_or_nothing():
    registry = Registry([web_search])
    assert registry.merge(Registry([read_file]), [delete_file]) is registry
    assert names(registry) == ["web_search", "read_file", "delete_file"]
    other = read_file.with_(name="other")
    with pytest.raises(DuplicateToolError, match="read_file"):
        registry.merge([other], Registry([read_file]))
    assert names(registry) == ["web_search", "read_file", "delete_file"]


def test_what_a_registry_says_of_its_tools_goes_with_them():
    is_on = False
    closed = Registry([web_search, delete_file.with_(enabled=True)], enabled=lambda: is_on)
    opened = Registry([read_file])
    opened.switch("read_file", enabled=False)
    registry = Registry().merge(closed, opened)
    assert told_names(registry) == ["delete_file"]
    is_on = True
    assert told_names(registry) == ["web_search", "delete_file"]
    registry.switch("read_file", enabled=None)
    assert registry.is_enabled("read_file")


def test_o8_a_group_may_prefix_names_and_descriptions():
    files = Registry([read_file, web_search])
    files.switch("read_file", enabled=False)
    group = files.prefix("fs_", "Files: ")
    assert names(group) == ["fs_read_file", "fs_web_search"]
    assert group.get("fs_web_search").summary == "Files: Search the web."
    assert group.get("fs_web_search").description == "It takes a while."
    assert not group.is_enabled("fs_read_file")
    assert group.get("fs_web_search").run({"query": "a", "max_results": 2}) == '["a","a"]'
    with pytest.raises(DecodeError, match="fs_read_file: 1 problem"):
        group.get("fs_read_file").decode({})
    assert names(files) == ["read_file", "web_search"]
    assert names(files.prefix()) == names(files)
    assert files.prefix(descriptions="Only: ").get("read_file").summary == "Only: Read a file."
    with pytest.raises(SchemaError, match="refused by providers"):
        files.prefix("fs.")


# --- switches ------------------------------------------------------------------------------------


def test_n6_a_tool_wins_over_the_registry_and_a_switch_over_both():
    registry = Registry([web_search, delete_file])
    assert told_names(registry) == ["web_search"]
    registry.enabled = False
    assert told_names(registry) == []
    registry.switch("delete_file", enabled=True)
    assert told_names(registry) == ["delete_file"]
    registry.switch("delete_file", enabled=None)
    assert told_names(registry) == []
    assert registry.enabled is False
    assert names(registry) == ["web_search", "delete_file"]


def test_n6_a_function_is_asked_every_time():
    asked = []

    def is_on():
        asked.append(1)
        return len(asked) % 2 == 1

    registry = Registry([read_file.with_(enabled=is_on)])
    assert [told_names(registry) for _ in range(4)] == [["read_file"], [], ["read_file"], []]
    assert len(asked) == 4


def test_switches_are_checked():
    registry = Registry([web_search])
    with pytest.raises(
        TypeError, match='enabled is a boolean or a function without parameters, not string "no"'
    ):
        registry.switch("web_search", enabled="no")
    with pytest.raises(TypeError):
        registry.enabled = None
    with pytest.raises(TypeError):
        Registry(enabled=1)
    with pytest.raises(ToolNotFoundError):
        registry.switch("web_serch", enabled=True)
    assert registry.is_enabled("web_search")


def test_a_name_that_is_off_is_not_suggested():
    registry = Registry([delete_file])
    with pytest.raises(ToolNotFoundError) as caught:
        registry.told("delete_fil")
    assert caught.value.suggestions == ()


# --- definitions ---------------------------------------------------------------------------------


def test_definitions_are_those_of_the_tools_and_the_callers_own():
    registry = Registry([web_search, read_file])
    first = registry.definitions()
    assert first == [web_search.definition(), read_file.definition()]
    first[0]["input_schema"]["properties"].clear()
    first[0]["name"] = "other"
    assert registry.definitions() == [web_search.definition(), read_file.definition()]


def test_definitions_are_made_once(monkeypatch):
    made = []
    real = type(web_search).definition

    def count(self):
        made.append(self.name)
        return real(self)

    monkeypatch.setattr(type(web_search), "definition", count)
    registry = Registry([web_search, read_file])
    registry.definitions()
    registry.definitions()
    assert made == ["web_search", "read_file"]
    registry.unregister("read_file")
    assert [definition["name"] for definition in registry.definitions()] == ["web_search"]
    assert made == ["web_search", "read_file", "web_search"]


# --- documentation on demand ---------------------------------------------------------------------


def test_j5_with_describe_tools_the_others_tell_their_summary():
    registry = Registry([web_search, read_file])
    assert registry.definitions()[0]["description"] == "Search the web. It takes a while."
    registry.register(describe_tools(registry))
    assert registry.definitions()[0]["description"] == "Search the web."
    assert told_names(registry) == ["web_search", "read_file", "describe_tools"]
    assert registry.get("web_search") is web_search
    assert registry.told("web_search").described_by == "describe_tools"
    assert registry.told("describe_tools").described_by is None
    answer = registry.get("describe_tools").run({"tools": ["web_search"]})
    assert answer.startswith("## web_search\n\nSearch the web.\n\nIt takes a while.")


def test_j8_errors_point_there():
    registry = Registry([web_search, read_file])
    registry.register(describe_tools(registry, name="help"))
    with pytest.raises(DecodeError) as caught:
        registry.told("web_search").decode({"qurey": "x"})
    assert 'call help with {"tools": ["web_search"]}' in str(caught.value)
    with pytest.raises(DecodeError) as caught:
        registry.told("read_file").decode({})
    assert "help" not in str(caught.value)  # there is no more to tell


def test_nothing_is_lost_while_describe_tools_is_off():
    registry = Registry([web_search])
    registry.register(describe_tools(registry))
    registry.switch("describe_tools", enabled=False)
    assert registry.definitions() == [web_search.definition()]
    registry.switch("describe_tools", enabled=True)
    assert registry.definitions()[0]["description"] == "Search the web."


def test_tools_that_are_off_are_not_described():
    registry = Registry([web_search, delete_file])
    registry.register(describe_tools(registry))
    assert registry.get("describe_tools").run({"tools": ["delete_file"]}) == "No such tool: delete_file"
    registry.switch("delete_file", enabled=True)
    assert "gone for ever" in registry.get("describe_tools").run({"tools": ["delete_file"]})


def test_describe_tools_stays_with_its_registry():
    inner = Registry([web_search])
    inner.register(describe_tools(inner))
    outer = Registry([read_file]).merge(inner)
    assert names(outer) == ["read_file", "web_search"]
    assert names(inner.prefix("a_")) == ["a_web_search"]
    outer.register(describe_tools(outer))
    assert "It takes a while." in outer.get("describe_tools").run({"tools": ["web_search"]})


# --- threads -------------------------------------------------------------------------------------


@pytest.mark.needs_threads
def test_threads_may_change_and_read_it():
    registry = Registry([web_search])
    failures = []

    def work(number):
        try:
            for turn in range(50):
                own = read_file.with_(name=f"read_{number}_{turn}")
                registry.register(own)
                registry.switch(own.name, enabled=turn % 2 == 0)
                found = [definition["name"] for definition in registry.definitions()]
                assert "web_search" in found
                assert (own.name in found) == (turn % 2 == 0)
                if turn % 5:
                    registry.unregister(own.name)
        except BaseException as error:  # noqa: BLE001  # shown by the test
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(registry) == 1 + 8 * 10
    assert sorted(names(registry)) == sorted({*names(registry)})


@pytest.mark.needs_threads
def test_one_of_many_threads_gets_the_name():
    for _ in range(20):
        registry = Registry()
        taken = []
        barrier = threading.Barrier(8)

        def register(registry=registry, taken=taken, barrier=barrier):
            barrier.wait()
            try:
                registry.register(web_search)
            except DuplicateToolError:
                taken.append(1)

        threads = [threading.Thread(target=register) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(taken) == 7
        assert len(registry) == 1


# --- modules and distributions -------------------------------------------------------------------

MODULE = '''
from operator_schema import tool, tool_input
from dataclasses import dataclass
{imports}

@tool
def second(x: int) -> int:
    "Two."
    return x

@tool
def first(x: int) -> int:
    "One."
    return x

again = first

@tool
def _hidden(x: int) -> int:
    "None."
    return x

@tool_input
@dataclass
class Third:
    """Three."""
    x: int

def plain(x: int) -> int:
    return x
'''


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if name.startswith("rtools"):
            del sys.modules[name]


def test_from_module_takes_what_the_module_defines(folder):
    (folder / "rtools_a.py").write_text(MODULE.format(imports=""))
    (folder / "rtools_b.py").write_text(MODULE.format(imports="from rtools_a import first as imported"))
    registry = Registry.from_module("rtools_b")
    assert names(registry) == ["second", "first", "third"]
    assert registry.get("first") is sys.modules["rtools_b"].first
    assert names(Registry.from_module(sys.modules["rtools_a"], enabled=False)) == names(registry)
    assert Registry.from_module("rtools_a", enabled=False).definitions() == []


def test_from_module_takes_what_all_names(folder):
    (folder / "rtools_a.py").write_text(MODULE.format(imports=""))
    (folder / "rtools_c.py").write_text(
        "from rtools_a import first, _hidden\n__all__ = ['_hidden', 'first']\n"
    )
    assert names(Registry.from_module("rtools_c")) == ["_hidden", "first"]
    module = types.ModuleType("rtools_d")
    module.__all__ = ["nothing"]
    with pytest.raises(AttributeError, match="nothing"):
        Registry.from_module(module)


def distribution(folder, name, entry_points):
    """Install a distribution into a folder, as pip would leave it."""
    info = folder / f"{name.replace('-', '_')}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(textwrap.dedent(entry_points))


def test_from_entry_points(folder):
    (folder / "rtools_a.py").write_text(MODULE.format(imports=""))
    more = "from rtools_a import first\nfrom operator_schema import Registry\n"
    more += "ones = Registry([first]).prefix('r_')\nlisted = [first.with_(name='listed')]\nnothing = 5\n"
    (folder / "rtools_e.py").write_text(more)
    group = "[operator_schema.tools]"
    distribution(folder, "z-tools", f"{group}\nall = rtools_a\n\n[console_scripts]\nx = rtools_e:nothing\n")
    distribution(
        folder,
        "a-tools",
        f"{group}\nb = rtools_e:ones\na = rtools_e:listed\n[other.group]\none = rtools_a:first\n",
    )
    assert names(Registry.from_entry_points()) == ["listed", "r_first", "second", "first", "third"]
    assert names(Registry.from_entry_points("other.group")) == ["first"]
    assert names(Registry.from_entry_points("no.group")) == []
    assert Registry.from_entry_points(enabled=False).definitions() == []


@pytest.mark.parametrize(
    ("target", "error", "note"),
    [
        (
            "rtools_a:nothing",
            AttributeError,
            "while loading the entry point x of b-tools, group operator_schema.tools",
        ),
        (
            "rtools_nowhere",
            ModuleNotFoundError,
            "while loading the entry point x of b-tools, group operator_schema.tools",
        ),
        ("rtools_a:plain", TypeError, "in the entry point x of b-tools, group operator_schema.tools"),
        (
            "rtools_a:first",
            DuplicateToolError,
            "in the entry point x of b-tools, group operator_schema.tools",
        ),
    ],
)
def test_an_entry_point_that_is_wrong_says_where(folder, target, error, note):
    (folder / "rtools_a.py").write_text(MODULE.format(imports=""))
    distribution(folder, "a-tools", "[operator_schema.tools]\nall = rtools_a\n")
    distribution(folder, "b-tools", f"[operator_schema.tools]\nx = {target}\n")
    with pytest.raises(error) as caught:
        Registry.from_entry_points()
    assert caught.value.__notes__ == [note]


def test_input_tools_are_tools_too():
    from dataclasses import dataclass

    @tool_input(name="move", description="Move a piece.")
    @dataclass
    class Move:
        to: str

    assert Registry([Move]).definitions()[0]["description"] == "Move a piece."


# --- switches that fail ----------------------------------------------------------------------------


async def async_switch():
    return False


def generator_switch():
    yield False


def asking(switch):
    return switch()


class AsyncSwitch:
    async def __call__(self):
        return False


@pytest.mark.parametrize("switch", [async_switch, generator_switch, AsyncSwitch()])
def test_a_switch_that_is_async_is_refused(switch):
    with pytest.raises(SchemaError, match="enabled is"):
        tool(enabled=switch)(plain_function)
    with pytest.raises(SchemaError, match="enabled is"):
        read_file.with_(enabled=switch)
    with pytest.raises(SchemaError, match="enabled is"):
        tool_input(name="ask", enabled=switch)(dict)
    registry = Registry([read_file])
    for change in (
        lambda: registry.switch("read_file", enabled=switch),
        lambda: setattr(registry, "enabled", switch),
        lambda: Registry(enabled=switch),
    ):
        with pytest.raises(TypeError, match="not one that is async or a generator"):
            change()
    assert registry.is_enabled("read_file")


def plain_function(path: str) -> str:
    return path


def test_a_switch_that_gives_something_to_await_counts_as_off(caplog):
    registry = Registry([read_file.with_(enabled=functools.partial(asking, async_switch)), web_search])
    assert told_names(registry) == ["web_search"]
    assert "read_file: its switch failed" in caplog.text
    with pytest.raises(TypeError, match="nothing to await"):
        registry.is_enabled("read_file")


def failing_switch():
    raise ZeroDivisionError("secret")


def test_a_switch_that_fails_takes_no_other_tool_along(caplog):
    registry = Registry([read_file.with_(enabled=failing_switch), web_search, describe_tools([web_search])])
    assert told_names(registry) == ["web_search", "describe_tools"]
    assert [entry.name for entry in registry.offered()] == ["web_search", "describe_tools"]
    assert registry.told("read_file").name == "read_file"
    with pytest.raises(ToolNotFoundError) as caught:
        registry.told("read_fil")
    assert caught.value.suggestions == ()
    with pytest.raises(ZeroDivisionError):
        registry.is_enabled("read_file")
    assert "ZeroDivisionError" in caplog.text


def test_a_describing_tool_whose_switch_fails_describes_nothing(caplog):
    registry = Registry([web_search, describe_tools([web_search]).with_(enabled=failing_switch)])
    assert told_names(registry) == ["web_search"]
    assert registry.definitions()[0]["description"].endswith("It takes a while.")
    assert "describe_tools: its switch failed" in caplog.text


ODD_MODULE = """
import functools
from dataclasses import dataclass
from typing import Literal
from operator_schema import describe_tools, tool, tool_input
from rtools_a import first, first as again, plain

@dataclass
class Create:
    kind: Literal["create"]

@dataclass
class Remove:
    kind: Literal["remove"]

edit = tool_input(name="edit")(Create | Remove)
partial = tool(name="partial")(functools.partial(plain, 1))
wrapped = tool(plain)
copied = first.with_(name="copied")
describe = describe_tools([edit])
"""


def test_from_module_takes_what_the_module_makes_of_things_from_elsewhere(folder):
    (folder / "rtools_a.py").write_text(MODULE.format(imports=""))
    (folder / "rtools_o.py").write_text(ODD_MODULE)
    (folder / "rtools_p.py").write_text("from rtools_o import copied, edit, partial, wrapped\n")
    registry = Registry.from_module("rtools_o")
    assert names(registry) == ["edit", "partial", "plain", "copied", "describe_tools"]
    assert registry.get("partial").home == registry.get("copied").home == "rtools_o"
    assert names(Registry.from_module("rtools_p")) == []


def test_from_module_takes_what_a_helper_makes_for_it(folder):
    (folder / "rtools_h.py").write_text(
        "from operator_schema import tool\ndef make(name):\n"
        "    @tool(name=name)\n    def made(x: int) -> int:\n        return x\n    return made\n"
    )
    (folder / "rtools_i.py").write_text("from rtools_h import make\none = make('one')\n")
    assert names(Registry.from_module("rtools_i")) == ["one"]
    assert names(Registry.from_module("rtools_h")) == []
