"""The options of an executor."""

from __future__ import annotations

import ast
import inspect
import math
import re
from pathlib import Path

import pytest
from executor_samples import add

from operator_schema import (
    Executor,
    RawCall,
    Registry,
    tool,
)
from operator_schema.rounds import SqliteStore


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"timeout": 0}, "timeout must be a positive number of seconds, or None, not 0"),
        ({"timeout": math.nan}, "timeout must be"),
        ({"timeout": True}, "timeout must be"),
        ({"timeout": "30"}, "timeout must be"),
        ({"max_concurrency": 0}, "max_concurrency must be an integer of at least 1, or None, not 0"),
        ({"max_concurrency": 1.5}, "max_concurrency must be"),
        ({"max_threads": None}, "max_threads must be an integer of at least 1, not None"),
        ({"grace": -1}, "grace must be a number of seconds, not -1"),
        ({"max_content": 199}, "max_content must be an integer of at least 200, or None, not 199"),
        ({"max_content": True}, "max_content must be"),
        ({"max_content": 1e6}, "max_content must be"),
        ({"show_errors": "all"}, "show_errors must be one of 'type', 'message', 'traceback', not \"all\""),
    ],
)
def test_options_are_checked(options, message):
    with pytest.raises(ValueError, match="^" + message.replace('"', '"')):
        Executor([], **options)


@pytest.mark.parametrize(
    ("store", "what"),
    [
        ("chats.db", r'SqliteStore\("chats\.db"\), not string "chats\.db"'),
        (Path("chats.db"), r"SqliteStore\(path\), not \w*Path"),
        (SqliteStore, r"SqliteStore\(path\), not the class SqliteStore itself"),
        ({}, r"SqliteStore\(path\), not object"),
    ],
)
def test_a_store_is_checked_when_the_executor_is_made(store, what):
    with pytest.raises(TypeError, match=f"^store must be a store of rounds, such as {what}"):
        Executor([add], store=store)
    with pytest.raises(TypeError, match=r"^store must be"):
        Executor([add]).with_(store=store)


@pytest.mark.parametrize(
    ("option", "given", "what"),
    [
        ("confirm", lambda: True, "one argument, a ToolCall"),
        ("report", lambda error, call: "", "one argument, a DecodeError"),
        ("context", lambda *, host: host, "one argument, what a framework gives (None in your own loop)"),
    ],
)
def test_a_function_is_refused_that_does_not_take_what_it_gets(option, given, what):
    with pytest.raises(TypeError, match=f"^the function given as {option} has to take {re.escape(what)}$"):
        Executor([add], **{option: given})


@pytest.mark.needs_threads
@pytest.mark.parametrize(
    ("option", "what"),
    [
        ("on_result", "two arguments, a call and its result"),
        ("on_progress", "two arguments, a call and an update"),
        ("confirm", "one argument, a ToolCall"),
    ],
)
def test_nothing_runs_if_a_function_for_one_run_does_not_take_what_it_gets(option, what):
    ran = []

    @tool
    def act() -> None:
        """Act."""
        ran.append(1)

    with pytest.raises(TypeError, match=f"^the function given as {option} has to take {what}$"):
        Executor(act).run_sync(RawCall("1", "act", {}), **{option: lambda: None})
    assert ran == []


def test_functions_without_a_signature_are_taken():
    assert Executor([add], report=str, confirm=dict.fromkeys([1]).get).with_(report=repr)


def test_an_executor_makes_a_registry_of_tools():
    registry = Registry([add])
    assert Executor(registry).registry is registry
    assert [entry.name for entry in Executor(iter([add])).registry] == ["add"]


@pytest.mark.needs_threads
def test_one_call_alone_is_not_a_list_of_calls():
    with pytest.raises(TypeError, match=r"^expected a list of calls, not one RawCall alone: write \[call\]$"):
        Executor([add]).stream(RawCall("c", "add", {}))


def test_the_docs_table_has_the_default_of_every_option():
    page = Path(__file__).parents[2] / "docs" / "executing.md"
    section = (
        page.read_text(encoding="utf-8").partition("## Options of the executor")[2].partition("\n## ")[0]
    )
    said = dict(re.findall(r"^\| `(\w+)` \| (.+?) \|", section, re.MULTILINE))
    options = {
        name: parameter.default
        for name, parameter in inspect.signature(Executor).parameters.items()
        if parameter.kind is parameter.KEYWORD_ONLY
    }
    assert said.keys() == options.keys()
    for name, default in options.items():
        text = said[name].strip("`")
        assert text == "str" if default is str else ast.literal_eval(text) == default, name
