"""One bad definition in a server's list of tools hides no other tool, from a session or by a gateway."""

from __future__ import annotations

import json
from copy import deepcopy
from functools import cache
from pathlib import Path

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp import Client, ClientSession
from raw_servers import CACHED, MODERN, answer_to, raw
from shares import share

from operator_schema import Executor, RawCall, Registry
from operator_schema.adapters.mcp.gateway import Gateway, ServerBehind
from operator_schema.adapters.mcp_client import tools_from

RECORDED = sorted((Path(__file__).parents[2] / "workbench" / "compare" / "histories").glob("*/*.json"))
LATEST = list({path.parent.name: path for path in RECORDED}.values())
MODES = ["legacy", MODERN]
NONSENSE = [None, True, 5, "nonsense", [None], {"nonsense": 5}]
DROPPED = object()
MOST_TOOLS = 2
"""Tools of each server all of whose parts are changed."""


def recorded(path):
    """Return the tools of a recorded server as it lists them."""
    found = json.loads(path.read_text(encoding="utf-8"))["tools"]
    return [
        {
            "name": each["name"],
            "description": each.get("description", ""),
            "inputSchema": {"type": "object", **(each.get("input_schema") or each.get("inputSchema") or {})},
            "annotations": {"readOnlyHint": True},
            "_meta": {"own": 1},
            "title": each["name"],
            "icons": [{"src": "https://example.com/a.png"}],
            "outputSchema": {"type": "object", "properties": {"said": {"type": "string"}}},
        }
        for each in found
    ]


def places(value, path=()):
    """Return the paths to all parts of a JSON value."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inside in items:
        yield from places(inside, (*path, key))


def mutated(value, path, new):
    """Return a copy of a JSON value with another part, or without it."""
    if not path:
        return new
    made = deepcopy(value)
    inner = made
    for key in path[:-1]:
        inner = inner[key]
    if new is DROPPED:
        del inner[path[-1]]
    else:
        inner[path[-1]] = new
    return made


def listing(tools, mode, **more):
    """Return a source: a server with tools that say what they got."""

    def called(message):
        said = {"said": json.dumps(message["params"]["arguments"])}
        content = [{"type": "text", "text": json.dumps(said)}]
        return answer_to(message, {"content": content, "structuredContent": said, **of_mode})

    of_mode = {"resultType": "complete"} if mode == MODERN else {}
    page = {"tools": tools, **(CACHED if mode == MODERN else {}), **more}
    page = {key: value for key, value in page.items() if value is not DROPPED}
    return raw({"tools/list": lambda message: answer_to(message, page), "tools/call": called}, mode=mode)


async def offered(source):
    """Return the tools that clients of both generations get of a server by a gateway."""
    async with Gateway(source) as gateway:
        app = gateway.server()
        for each in MODES:
            async with Client(app, mode=each, cache=None) as client:
                found = {tool.name: tool.input_schema for tool in (await client.list_tools()).tools}
                yield f"gateway, {each}", found


def check(bad, good, mode, **more):
    """Check that all good tools of a server are offered, whatever the bad ones are."""

    async def main():
        async for way, found in offered(listing([*bad, *good], mode, **more)):
            assert {each["name"] for each in good} <= set(found), way

    anyio.run(main)


@cache
def mutants(path):
    """Return each tool of a recorded server with each of its parts dropped, or something else."""
    found = []
    for number, tool in enumerate(recorded(path)[:MOST_TOOLS]):
        for place in places(tool):
            for new in [DROPPED, *NONSENSE] if place else NONSENSE:
                made = mutated(tool, place, new)
                if isinstance(made, dict) and made.get("name") == tool["name"]:
                    made["name"] = f"mutant_{number}_{len(found)}"
                found.append(made)
    return found


@pytest.mark.hypothesis
@pytest.mark.slow("reads thousands of definitions by three ways")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("path", LATEST, ids=[path.parent.name for path in LATEST])
def test_whatever_one_definition_says_all_other_tools_are_offered(path, mode):
    """Each part of a tool is changed in each mode, by one value of five; `make laws` tries all of them."""
    check(share(mutants(path), 5, MODES.index(mode)), recorded(path), mode)


@pytest.mark.slow("makes a gateway for each example")
@given(
    path=st.sampled_from(RECORDED),
    mode=st.sampled_from(MODES),
    key=st.sampled_from(["nextCursor", "_meta", *CACHED, "more"]),
    new=st.sampled_from([DROPPED, *NONSENSE]),
)
def test_whatever_a_list_says_beside_its_tools_they_are_offered(path, mode, key, new):
    check([], recorded(path), mode, **{key: new})


GOOD = {"name": "good", "inputSchema": {"type": "object"}}
BY_ID = {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}
BY_SLUG = {"type": "object", "properties": {"slug": {"type": "string"}}, "required": ["slug"]}
REFUSED = [
    (5, "tool 1", "it is integer 5, not an object"),
    ({"inputSchema": {"type": "object"}}, "tool 1", "it has no name"),
    ({"name": 5}, "tool 1", "its name isn't a text"),
    ({"name": ""}, "tool 1", "it has no name"),
    ({"name": "bad", "inputSchema": 5}, "bad", "its inputSchema is integer 5, not an object"),
    (
        {"name": "bad", "inputSchema": {"type": "string"}},
        "bad",
        'the "type" of its inputSchema is string "string", and arguments are an object',
    ),
]


def used(tools, use, *, mode="legacy", **options):
    """Return what a function of the tools of a session returns."""

    async def main():
        async with Client(listing(tools, mode)(), mode="auto") as client:
            return await use(client, await tools_from(client, **options))

    return anyio.run(main)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("bad", "name", "why"), REFUSED)
def test_a_tool_that_is_left_out_is_named_with_the_reason(bad, name, why, mode, caplog):
    async def report(_, tools):
        return [tool.name for tool in tools], tools.report(), await tools.refresh()

    said = f"{name}: refused: {why}"
    assert used([bad, GOOD], report, mode=mode) == (["good"], said, False)
    (line,) = [one.getMessage() for one in caplog.records if one.name == "operator_schema.mcp_client"]
    assert f'the tool "{name}" of the server' in line
    assert line.endswith(f"is left out: {why}")


def test_of_two_tools_with_one_name_the_first_one_is_offered():
    async def report(_, tools):
        return tools[0].description, tools.report()

    other = {**GOOD, "description": "another one"}
    said = 'tool 3: refused: another tool is called "good"'
    assert used([GOOD, GOOD, other], report) == ("", said)


def test_a_gateway_names_the_server_of_a_tool_that_is_left_out(caplog):
    async def main():
        source = listing([{"name": "bad", "inputSchema": 5}, GOOD], "legacy")
        servers = {"shop": ServerBehind(source, only=["bad", "good"], confirm=["bad"])}
        async with Gateway(servers) as gateway:
            return [tool.name for tool in gateway.registry]

    assert anyio.run(main) == ["shop_good"]
    lines = [one.getMessage() for one in caplog.records if "left out" in one.getMessage()]
    assert lines == [
        'the tool "bad" of the server "shop" is left out: its inputSchema is integer 5, not an object'
    ]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "schema", [None, {}, {"anyOf": [BY_ID, BY_SLUG]}, {"type": ["object", "null"], "anyOf": [BY_ID, BY_SLUG]}]
)
def test_arguments_are_an_object_even_if_a_schema_does_not_say_so(schema, mode):
    async def call(_, tools):
        executor = Executor(Registry(tools))
        found = await executor.run(RawCall("1", "find", {"id": "a"}))
        return tools[0].input_schema(), found, await executor.run(RawCall("2", "find", {"id": 5}))

    shown, found, wrong = used([{"name": "find", "inputSchema": schema}], call, mode=mode)
    assert shown == {"properties": {}, **(schema or {}), "type": "object"}
    assert found.json == {"said": '{"id": "a"}'}
    assert wrong.is_error is bool(schema)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("wrong", "shown"),
    [
        ({"required": 5}, {"properties": {}}),
        ({"required": ["a", 5, None]}, {"properties": {}, "required": ["a"]}),
        ({"properties": [1]}, {"properties": {}}),
        (
            {"properties": {"a": 5, "b": {"type": "string"}}},
            {"properties": {"a": {}, "b": {"type": "string"}}},
        ),
        ({"properties": {"a": True}, "$schema": 5}, {"properties": {"a": True}}),
    ],
)
def test_parts_of_a_schema_that_are_none_are_ignored(wrong, shown, mode):
    async def call(_, tools):
        result = await Executor(Registry(tools)).run(RawCall("1", "find", {"a": 1}))
        return tools[0].input_schema(), result.json

    found = used([{"name": "find", "inputSchema": {"type": "object", **wrong}}], call, mode=mode)
    assert found == ({"type": "object", **shown}, {"said": '{"a": 1}'})


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("schema", "declared"),
    [
        ({"description": "x"}, {"description": "x", "type": "object"}),
        ({"type": "object", "properties": 5}, {"type": "object"}),
        (5, None),
        (None, None),
    ],
)
def test_a_schema_of_results_that_cannot_be_used_leaves_the_tool_without_one(schema, declared, mode):
    async def call(_, tools):
        result = await Executor(Registry(tools)).run(RawCall("1", "find", {}))
        return tools[0].output_schema(), result.json

    found = used([{"name": "find", "outputSchema": schema}], call, mode=mode)
    assert found == (declared, {"said": "{}"})


def test_a_session_of_ones_own_class_keeps_what_it_does():
    calls = []

    class Counting(ClientSession):
        async def call_tool(self, *args, **kwargs):
            calls.append(args)
            return await super().call_tool(*args, **kwargs)

    async def main():
        source = listing([5, GOOD], "legacy")
        async with source() as streams, Counting(*streams) as session:
            await session.initialize()
            tools = await tools_from(session)
            return await Executor(Registry(tools)).run(RawCall("1", "good", {}))

    assert anyio.run(main).json == {"said": "{}"}
    assert calls == [("good", {})]
