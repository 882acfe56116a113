"""What a tool says about itself: stated and never guessed, kept by every copy, asked for by a registry."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import pytest

from operator_schema import (
    Executor,
    RawCall,
    Registry,
    SchemaError,
    Toolset,
    describe_tools,
    tool,
    tool_input,
)
from operator_schema.tools import ToolAnnotations
from operator_schema.tools.metadata import FLAGS, NOTHING_STATED, STATEMENTS

ALL = {
    "title": "Delete a file",
    "read_only": False,
    "destructive": True,
    "idempotent": True,
    "open_world": False,
    "confirm": True,
    "meta": {"icons": [{"src": "bin.svg"}], "none": None},
}


def delete(path: str) -> bool:
    """Delete a file."""
    return bool(path)


def plain(path: str) -> bool:
    """Do something."""
    return bool(path)


@dataclass
class Point:
    x: int


def test_all_that_can_be_stated():
    made = tool(**ALL)(delete)
    assert made.annotations == ToolAnnotations(**ALL)
    assert made.annotations.as_dict() == ALL
    assert ALL.keys() == STATEMENTS
    assert tool_input(**ALL)(Point).annotations == made.annotations
    assert tool(delete).with_(**ALL).annotations == made.annotations


@pytest.mark.parametrize("options", [{}, dict.fromkeys(ALL), {"tags": ["a"]}, {"meta": {}}])
def test_nothing_is_guessed_and_all_that_state_nothing_share_one(options):
    annotations = tool(**options)(delete).annotations
    assert annotations is NOTHING_STATED
    assert annotations.as_dict() == annotations.meta == {}
    assert [annotations.title, *[getattr(annotations, name) for name in FLAGS]] == [None] * 6


def test_the_model_sees_none_of_it():
    stated, silent = tool(**ALL)(delete), tool(delete)
    assert stated.definition() == silent.definition()
    assert repr(stated) == repr(silent)


def test_with_adds_to_what_is_stated():
    made = tool(read_only=True, meta={"a": 1})(delete)
    assert made.with_(name="other").annotations is made.annotations
    assert made.with_(title=None, meta=None).annotations is made.annotations
    changed = made.with_(read_only=False, destructive=True, meta={"b": 2})
    assert changed.annotations.as_dict() == {"read_only": False, "destructive": True, "meta": {"b": 2}}
    assert changed.with_(meta={}).annotations.as_dict() == {"read_only": False, "destructive": True}
    assert made.annotations.as_dict() == {"read_only": True, "meta": {"a": 1}}


class Files:
    @tool(read_only=True)
    def list(self, path: str) -> list[str]:
        """List files."""
        return [path]


def test_it_is_kept_by_all_that_makes_other_tools_or_registries():
    described = Registry([tool(**ALL)(delete)])
    described.register(describe_tools(described))
    found = [
        Toolset([tool(**ALL)(delete)]).prefix("files_", "Files: ")["files_delete"],
        Registry(Registry([tool(**ALL)(delete)]))["delete"],
        described.shown("delete"),
        copy.copy(tool(**ALL)(delete)),
        copy.deepcopy(tool(**ALL)(delete)),
    ]
    assert [each.annotations.as_dict() for each in found] == [ALL] * 5
    assert described.shown("delete").described_by == "describe_tools"
    assert Files().list.annotations is Files.list.annotations
    assert pickle.loads(pickle.dumps(Files.list)).annotations.read_only is True


def test_a_value_like_others():
    value = ToolAnnotations(**ALL)
    for copied in [
        copy.copy(value),
        copy.deepcopy(value),
        pickle.loads(pickle.dumps(value)),
        value.replace(),
    ]:
        assert copied == value
        assert hash(copied) == hash(value)
    assert value != value.replace(meta={})
    assert value != value.replace(confirm=False)
    assert repr(ToolAnnotations(title="x", confirm=False)) == "ToolAnnotations(title='x', confirm=False)"
    assert repr(NOTHING_STATED) == "ToolAnnotations()"
    with pytest.raises(AttributeError, match="immutable"):
        value.title = "other"
    with pytest.raises(AttributeError):
        value.meta = {}


def test_meta_is_copied_on_the_way_in_and_out():
    given = {"list": [1]}
    made = tool(meta=MappingProxyType(given))(delete)
    given["list"].append(2)
    made.annotations.meta["list"].append(3)
    made.annotations.as_dict()["meta"]["list"].append(4)
    assert made.annotations.meta == {"list": [1]}
    assert json.loads(json.dumps(made.annotations.as_dict())) == {"meta": {"list": [1]}}
    value = ToolAnnotations(meta=given)
    given["list"].append(5)
    assert value.meta == {"list": [1, 2]}


class Hostile(Mapping):
    def __getitem__(self, key):
        raise RuntimeError(key)

    def __iter__(self):
        return iter(["a"])

    def __len__(self):
        return 1


def contains_itself() -> dict[str, object]:
    made: dict[str, object] = {}
    made["self"] = made
    return made


WRONG = {
    "title": ["", " ", 5, "\ud800"],
    "meta": [
        [], "text", 5, {1: 2}, {"a": object()}, {"a": float("nan")}, {"a": "\ud800"},
        contains_itself(), Hostile(),
    ],
    **{name: [1, "yes", lambda: True] for name in FLAGS},
}  # fmt: skip


@pytest.mark.parametrize(("option", "value"), [(name, value) for name in WRONG for value in WRONG[name]])
def test_what_is_refused(option, value):
    for make in [tool(**{option: value}), lambda function: tool(function).with_(**{option: value})]:
        with pytest.raises(SchemaError) as caught:
            make(delete)
        [complaint] = caught.value.findings
        assert complaint.code == "bad_option"
        assert complaint.message.startswith(f"{option} is ")


def test_contradictions_are_refused_also_with_what_was_stated_before():
    made = tool(read_only=True)(delete)
    for make in [
        lambda: tool(read_only=True, destructive=True)(delete),
        lambda: tool_input(read_only=True, destructive=True)(Point),
        lambda: made.with_(destructive=True),
    ]:
        with pytest.raises(SchemaError, match="read_only and destructive") as caught:
            make()
        assert len(caught.value.findings) == 1
    assert tool(read_only=True, destructive=False)(delete).annotations.destructive is False


def test_a_misspelt_statement():
    with pytest.raises(TypeError, match="did you mean read_only"):
        tool(readonly=True)(delete)


# --- only ------------------------------------------------------------------------------------


def sample() -> Registry:
    registry = Registry(
        [
            tool(read_only=True, tags=["files", "disk"])(delete).with_(name="both"),
            tool(read_only=True, confirm=False)(delete).with_(name="reader"),
            tool(read_only=False, confirm=True, tags=["files"])(delete).with_(name="writer"),
            tool(plain),
        ]
    )
    registry.register(describe_tools(registry))
    return registry


@pytest.mark.parametrize(
    ("wanted", "names"),
    [
        ({"read_only": None}, ["both", "reader", "writer", "plain"]),
        ({"read_only": True}, ["both", "reader"]),
        ({"read_only": False}, ["writer"]),
        ({"confirm": False}, ["reader"]),
        ({"tags": ["files"]}, ["both", "writer"]),
        ({"tags": {"disk", "files"}}, ["both"]),
        ({"read_only": True, "tags": ("files",)}, ["both"]),
        ({"destructive": False}, []),
    ],
)
def test_only_tools_that_state_something(wanted, names):
    assert [each.name for each in Toolset(sample()).only(**wanted)] == names


@pytest.mark.needs_threads
def test_switches_go_along_and_an_executor_takes_it():
    registry = sample()
    registry.switch("both", enabled=False)
    found = Toolset(registry).only(read_only=True)
    assert [each.name for each in found.offered()] == ["reader"]
    results = Executor(found).run_sync(
        [RawCall("1", "reader", '{"path": "a"}'), RawCall("2", "writer", '{"path": "a"}')]
    )
    assert [result.is_error for result in results] == [False, True]
    registry.unregister("reader")
    assert "reader" in found


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ({"readonly": True}, "unexpected option 'readonly'; did you mean read_only"),
        ({"zzzzzzzz": True}, "it takes tags, read_only"),
        ({"confirm": 1}, "True or False for confirm, not 1"),
        ({"tags": "files"}, "tags="),
        ({"tags": [1]}, "tags="),
        ({"tags": 5}, "tags="),
    ],
)
def test_what_only_refuses(wanted, message):
    with pytest.raises(TypeError, match=message):
        Toolset(sample()).only(**wanted)
