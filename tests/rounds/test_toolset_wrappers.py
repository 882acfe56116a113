"""`Toolset.map`: wrappers that anybody can write, and the methods that are made of it."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from operator_schema import Executor, RawCall, Registry, Reject, Toolset, tool
from operator_schema.errors import DuplicateToolError
from operator_schema.rounds import ToolEntry


@tool
def look(path: str = "") -> str:
    """Look at a file."""
    return path


@tool(destructive=True)
def erase(path: str = "") -> str:
    """Erase a file."""
    return path


@tool(tags=["notes"])
def note(text: str = "") -> str:
    """Write a note."""
    return text


def refuse(_call):
    return Reject("not today")


TOOLS = (look, erase, note)


# --- wrappers of one's own --------------------------------------------------------------------


def with_approval(entry):
    """Ask a person before a tool deletes something."""
    risky = entry.tool.annotations.destructive
    return entry.replace(tool=entry.tool.with_(confirm=True)) if risky else entry


def without_notes(entry):
    return None if "notes" in entry.tool.tags else entry


def renamed(entry):
    return entry.replace(tool=entry.tool.with_(name=f"my_{entry.name}"))


def made_anew(entry):
    """Return an entry that has nothing of the old one but its tool, as somebody might."""
    return ToolEntry(entry.tool)


def test_a_wrapper_changes_tools_or_leaves_them_out():
    toolset = Toolset(*TOOLS).hide(look)
    assert [entry.name for entry in toolset.entries] == ["look", "erase", "note"]
    assert [entry.is_hidden for entry in toolset.entries] == [True, False, False]
    careful = toolset.map(with_approval)
    assert [one.annotations.confirm for one in careful] == [None, True, None]
    assert careful.is_hidden("look")
    assert toolset.map(without_notes).names == ("look", "erase")
    assert toolset.map(renamed).names == ("my_look", "my_erase", "my_note")
    assert toolset.map(renamed).name_of(look) == "my_look"
    assert toolset.map(lambda entry: entry) == toolset
    fewer = toolset.map(without_notes)
    assert pickle.loads(pickle.dumps(fewer)) == fewer  # its own


def test_a_registry_takes_a_wrapper_where_it_is_updated():
    registry = Registry(*TOOLS)
    registry.update(lambda tools: tools.map(with_approval).map(without_notes))
    assert [(one.name, one.annotations.confirm) for one in registry] == [("look", None), ("erase", True)]
    assert [entry.name for entry in registry.entries] == ["look", "erase"]
    assert registry.listed_names == registry.toolset.listed_names == ("look", "erase")


@pytest.mark.parametrize("made", [look, "look", True, ToolEntry("look"), [ToolEntry(look)]])
def test_a_wrapper_returns_entries_and_nothing_else(made):
    with pytest.raises(TypeError, match="map takes a function that returns a ToolEntry or None, not"):
        Toolset(look).map(lambda _: made)


@pytest.mark.parametrize("wrong", ["off", 0, 1, (), lambda a, b: True])
def test_a_wrapper_gives_switches_and_booleans(wrong):
    with pytest.raises(TypeError, match="enabled must be a boolean, or a function"):
        Toolset(look).map(lambda entry: entry.replace(switch=wrong))
    with pytest.raises(TypeError, match="is_hidden must be True or False"):
        Toolset(look).map(lambda entry: entry.replace(is_hidden=wrong))


def test_a_wrapper_is_a_function_and_changes_the_tool_of_its_entry():
    with pytest.raises(TypeError, match=r"not Tool.*: write entry\.replace\(tool=…\)"):
        Toolset(look).map(lambda entry: entry.tool)
    for wrong in (None, look.name, [look]):
        with pytest.raises(TypeError, match="map takes a function of a ToolEntry, not"):
            Toolset(look).map(wrong)


def test_two_tools_with_one_name_are_refused():
    with pytest.raises(DuplicateToolError, match='tool "same" already registered'):
        Toolset(look, note).map(lambda entry: entry.replace(tool=entry.tool.with_(name="same")))


def test_what_a_wrapper_raises_comes_through():
    with pytest.raises(ZeroDivisionError):
        Toolset(look).map(lambda _: 1 / 0)


# --- methods and wrappers ---------------------------------------------------------------------

STEPS = {
    "only": lambda tools: tools.only(*tools.names[:2]),
    "without": lambda tools: tools.without(*tools.names[2:]),
    "hide": lambda tools: tools.hide(*tools.names[:1]),
    "switch": lambda tools: tools.switch(tools, enabled=True) if len(tools) else tools,
    "prefix": lambda tools: tools.prefix("x_", "X: "),
    "with_": lambda tools: tools.with_(repair=True),
    "or": lambda tools: tools | Toolset(),
    "nested": Toolset,
    "registry": lambda tools: Toolset(Registry(tools)),
    "with_approval": lambda tools: tools.map(with_approval),
    "without_notes": lambda tools: tools.map(without_notes),
    "renamed": lambda tools: tools.map(renamed),
    "made_anew": lambda tools: tools.map(made_anew),
}


@pytest.mark.needs_threads
@given(st.lists(st.sampled_from(sorted(STEPS)), max_size=6), st.sampled_from([None, *TOOLS]))
def test_no_chain_of_wrappers_loses_a_hook(names, refused):
    """A hook of the innermost toolset still decides, whatever is made of its tools, and by whom."""
    decide = refuse if refused is None else _about(refused)
    inner = tools = Toolset(*TOOLS, hooks=decide)
    for name in names:
        tools = STEPS[name](tools)
    executor = Executor(tools.map(lambda entry: entry.replace(is_hidden=False)), confirm="run")
    for here in tools.names:
        (there,) = [name for name, ways in tools.names_from(inner).items() if here in ways]
        is_refused = refused is None or refused.name == there
        result = executor.run_sync(RawCall("1", here, {}))
        assert (result.code == "rejected") == is_refused, (here, result)


def _about(one):
    def decide(call):
        return Reject("not today") if call.tool.summary.endswith(one.summary) else None

    return decide


@given(st.permutations(sorted(STEPS)[:7]), st.data())
def test_the_methods_are_wrappers(names, data):
    """Each of them is the same as a function that anybody could give to `map`."""
    tools = Toolset(*TOOLS)
    for name in data.draw(st.sampled_from([names[:size] for size in range(4)])):
        tools = STEPS[name](tools)
    first, last = set(tools.names[:1]), set(tools.names[1:])
    assert tools.only(*first) == tools.without(*last)
    assert tools.only(*first) == tools.map(lambda entry: entry if entry.name in first else None)
    assert tools.hide(*first) == tools.map(
        lambda entry: entry.replace(is_hidden=True) if entry.name in first else entry
    )
    assert tools.with_(repair=True) == tools.map(
        lambda entry: entry.replace(tool=entry.tool.with_(repair=True))
    )
    longer = tools.map(lambda entry: entry.replace(tool=entry.tool.with_(name=f"y_{entry.name}")))
    assert tools.prefix("y_") == longer
    assert longer.names == tuple([f"y_{name}" for name in tools.names])
