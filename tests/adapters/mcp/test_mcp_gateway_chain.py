"""Gateways that start each other: none starts without end."""

from __future__ import annotations

import json
import os
from contextlib import AsyncExitStack
from functools import partial

import anyio
import anyio.lowlevel
import pytest
from gateway_cases import NEW, OLD, behind
from mcp import Client, StdioServerParameters, types

from operator_schema import tool
from operator_schema.adapters.mcp import gateway as gateway_module
from operator_schema.adapters.mcp import server
from operator_schema.adapters.mcp.gateway import Gateway
from operator_schema.adapters.mcp.gateway_chain import (
    gateways_above,
    note_gateways_above,
    path_in,
    started_below,
)
from operator_schema.adapters.mcp.stdio import opening_request
from operator_schema.adapters.mcp.tool_server import handlers, server_of

VARIABLE = "OPERATOR_SCHEMA_GATEWAYS"
KEY = "operator-schema/gateways"


@tool
def add(a: int, b: int) -> int:
    """Add."""
    return a + b


def above(source):
    return json.loads(source.env[VARIABLE])


def opened():
    async def main():
        async with Gateway(behind(server([add]))) as gateway:
            return [one.name for one in gateway.registry]

    return anyio.run(main)


def test_a_server_that_is_started_knows_of_the_gateways_above_it(monkeypatch):
    first = started_below(StdioServerParameters(command="x", args=["y"], env={"KEY": "1"}), "/a.json")
    assert (first.command, first.args, first.env["KEY"], above(first)) == ("x", ["y"], "1", ["/a.json"])
    assert started_below(first) is first
    monkeypatch.setenv(VARIABLE, first.env[VARIABLE])
    assert gateways_above() == ["/a.json"]
    second = started_below(["x", "y"])
    assert (second.command, second.args, above(second)) == ("x", ["y"], ["/a.json", ""])
    assert above(started_below(StdioServerParameters(command="x"), "/b.json")) == ["/a.json", "/b.json"]


@pytest.mark.parametrize("given", ["[]", '["/b.json", "/c.json"]', "null", '["/a.json"]'])
def test_a_server_can_not_be_given_another_past(monkeypatch, given):
    monkeypatch.setenv(VARIABLE, '["/a.json"]')
    source = StdioServerParameters(command="x", env={VARIABLE: given})
    assert above(started_below(source)) == ["/a.json", ""]


def test_what_is_not_started_stays_as_it_is():
    def transport():
        raise NotImplementedError

    assert started_below("https://example.com/mcp") == "https://example.com/mcp"
    assert started_below(transport) is transport


@pytest.mark.parametrize("text", ["", "{", "[1]", "{}", "[" * 100_000])
def test_what_is_not_a_list_of_files_counts_as_one_gateway(monkeypatch, text):
    monkeypatch.setenv(VARIABLE, text)
    assert gateways_above() == [""]


def test_at_most_four_gateways_may_be_behind_each_other(monkeypatch):
    monkeypatch.setenv(VARIABLE, json.dumps([""] * 3))
    assert opened() == ["add"]
    monkeypatch.setenv(VARIABLE, json.dumps([""] * 4))
    with pytest.raises(
        ConnectionError, match="more than 4 gateways are chained: move the servers of the last one into"
    ):
        opened()


# --- what the first request says -----------------------------------------------------------------------


def opening(**meta):
    return types.JSONRPCRequest(jsonrpc="2.0", id=1, method="initialize", params={"_meta": meta})


def noted(monkeypatch, request, before="[]"):
    monkeypatch.setenv(VARIABLE, before)
    note_gateways_above(request)
    return gateways_above()


@pytest.mark.parametrize(("number", "known"), [(1, 1), (4, 4), (5, 4), (10**9, 4)])
def test_a_process_whose_environment_was_cleaned_learns_of_gateways_by_its_first_request(
    monkeypatch, number, known
):
    assert noted(monkeypatch, opening(**{KEY: number})) == [""] * known


@pytest.mark.parametrize(
    "request_", [None, opening(), *[opening(**{KEY: one}) for one in (0, -1, True, "3", 2.0, None, [])]]
)
def test_a_first_request_that_says_nothing_of_gateways_changes_nothing(monkeypatch, request_):
    assert noted(monkeypatch, request_) == []


def test_the_environment_says_more_than_a_number(monkeypatch):
    files = ["/a.json", "/b.json"]
    assert noted(monkeypatch, opening(**{KEY: 2}), json.dumps(files)) == files


@pytest.mark.parametrize(("number", "unknown"), [(3, 1), (9, 2)])
def test_files_that_the_environment_knows_stay_known(monkeypatch, number, unknown):
    files = ["/a.json", "/b.json"]
    found = noted(monkeypatch, opening(**{KEY: number}), json.dumps(files))
    assert found == [*[""] * unknown, *files]


@pytest.mark.parametrize("params", [None, {}, {"_meta": None}, {"_meta": [KEY]}])
def test_a_first_request_without_what_belongs_to_it_changes_nothing(monkeypatch, params):
    request = types.JSONRPCRequest(jsonrpc="2.0", id=1, method="initialize", params=params)
    assert noted(monkeypatch, request) == []


OPENED = opening(**{KEY: 2}).model_dump_json()


@pytest.fixture
def pipe():
    """Return a pipe: what reads from it, and what writes to it."""
    reader, writer = os.pipe()
    with os.fdopen(reader, "rb") as source, os.fdopen(writer, "wb", 0) as sink:
        yield source, sink


def test_the_first_request_stays_to_be_read(pipe):
    source, sink = pipe
    line = opening(**{KEY: 2}).model_dump_json().encode() + b"\n"
    sink.write(line + b"more\n")
    found, whole = opening_request(source)
    assert found.params == {"_meta": {KEY: 2}}
    sink.write(b"later\n")
    sink.close()
    assert whole.readlines() == [line, b"more\n", b"later\n"]


class Parts:
    """What reads from a pipe, to which a further part is written after each part that was read.

    Args:
        source: reads from the pipe.
        sink: writes to it.
        parts: what is written.
    """

    def __init__(self, source, sink, parts):
        self.fileno, self.isatty = source.fileno, source.isatty
        self.source, self.sink, self.parts = source, sink, iter(parts)
        self.sink.write(next(self.parts))

    def read1(self, size=-1):
        """Read a part, and have the next one written."""
        found = self.source.read1(size)
        for part in self.parts:
            self.sink.write(part)
            break
        return found


@pytest.mark.parametrize("length", [20, 5000, 300_000])
def test_a_first_request_that_is_long_or_arrives_in_parts_is_waited_for_and_stays_to_be_read(pipe, length):
    source, sink = pipe
    line = opening(**{"padding": "x" * length, KEY: 2}).model_dump_json().encode() + b"\n"
    size = min(len(line) // 3, 60_000)
    parts = [line[start : start + size] for start in range(0, len(line), size)]
    found, whole = opening_request(Parts(source, sink, parts))
    assert found.params["_meta"][KEY] == 2
    sink.close()
    assert whole.read() == line


@pytest.mark.parametrize(
    "text",
    [b"", b"\n", b"{", b"5\n", b'{"jsonrpc": "2.0", "method": "x"}\n', b"x" * 9000, OPENED.encode()],
)
def test_what_is_no_request_is_left_to_the_server(pipe, text):
    source, sink = pipe
    sink.write(text)
    sink.close()
    found, whole = opening_request(source)
    assert found is None
    assert whole.read() == text


@pytest.mark.parametrize("lacks", [OLD, ()])
def test_a_server_that_is_not_started_here_reads_nothing_of_gateways(lacks):
    seen = []

    async def main():
        async with Gateway(behind(server([add]), lacks=lacks, seen=seen)):
            pass

    anyio.run(main)
    assert "server/discover" in [getattr(one, "method", "") for one in seen]
    assert not any(KEY in str(one) for one in seen)


# --- gateways that reach each other --------------------------------------------------------------


def said() -> str:
    """Say something."""
    return "1"


def front_of(gateway):
    """Return a server in front of a gateway that isn't open yet, with resources and prompts."""
    own = handlers(gateway.registry)
    front = gateway_module._GatewayHandlers(gateway, own)
    of_documents = {
        "on_list_resources": front.list_resources,
        "on_read_resource": front.read_resource,
        "on_list_prompts": front.list_prompts,
        "on_get_prompt": front.get_prompt,
    }
    return server_of(own, "front", may_change=True, **{**front.handlers(), **of_documents})


async def passes(number):
    for _ in range(number):
        await anyio.lowlevel.checkpoint()


@pytest.mark.parametrize("lacks", [OLD, NEW], ids=["old", "new"])
@pytest.mark.parametrize("lengths", [2, 3])
def test_gateways_in_a_circle_offer_what_each_other_has_once(lacks, lengths):
    letters = "abc"[:lengths]

    async def main():
        apps, gateways = {}, {}
        for letter, following in zip(letters, letters[1:] + letters[0], strict=True):
            has = tool(name=f"of_{letter}")(said)
            own = server([has], resources={f"note://{letter}": letter}, prompts=[tool(name=letter)(said)])
            source = partial(lambda following: behind(apps[following], lacks=lacks)(), following)
            gateways[letter] = Gateway({"own": behind(own, lacks=lacks), following: source}, seconds=30)
            apps[letter] = front_of(gateways[letter])
        async with AsyncExitStack() as stack:
            for letter in letters:
                await stack.enter_async_context(gateways[letter])
            for _ in range(100):
                if all(len(gateway.registry.names) >= lengths for gateway in gateways.values()):
                    break
                await passes(50)
            await passes(500)
            async with Client(apps["a"], mode="legacy" if lacks is OLD else "auto", cache=None) as client:
                resources = [str(each.uri) for each in (await client.list_resources()).resources]
                prompts = [each.name for each in (await client.list_prompts()).prompts]
                read = (await client.read_resource("note://b")).contents[0].text
            return (
                {letter: gateway.registry.names for letter, gateway in gateways.items()},
                resources,
                prompts,
                read,
            )

    names, resources, prompts, read = anyio.run(main)
    assert resources == [f"note://{letter}" for letter in letters]
    assert read == "b"
    if lengths == 2:
        assert names == {"a": ("own_of_a", "b_own_of_b"), "b": ("own_of_b", "a_own_of_a")}
        assert prompts == ["own_a", "b_own_b"]
    else:
        assert names["a"] == ("own_of_a", "b_own_of_b", "b_c_own_of_c")
        assert {letter: len(each) for letter, each in names.items()} == {"a": 3, "b": 3, "c": 3}
        assert prompts == ["own_a", "b_own_b", "b_c_own_c"]


@pytest.mark.parametrize("path", [None, "x", [1], ["x"] * 17, ["x" * 65], {"a": "b"}])
def test_a_path_that_no_gateway_wrote_is_none(path):
    assert path_in({"operator-schema/gatewayPath": path}) == ()
    assert path_in(path) == ()


PATH = "operator-schema/gatewayPath"


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_what_passed_too_many_gateways_goes_to_no_other_one(mode):
    """Their ids would no longer fit, so nobody would know of a circle."""
    ids = [str(number) for number in range(16)]
    has = [tool(name="far", meta={PATH: ids})(said), tool(name="near", meta={PATH: ids[:14]})(said)]

    async def main():
        own = behind(server(has, resources={"note://a": "a"}))
        async with (
            Gateway({"own": own}) as gateway,
            Client(front_of(gateway), mode=mode, cache=None) as client,
        ):
            listed = {}
            for way in ([], ["x"], ["x"] * 16):
                tools = (await client.list_tools(meta={PATH: way})).tools
                resources = (await client.list_resources(meta={PATH: way})).resources
                listed[len(way)] = [each.name for each in tools], len(resources)
            return listed

    assert anyio.run(main) == {0: (["own_far", "own_near"], 1), 1: (["own_near"], 1), 16: ([], 0)}


def test_what_gateways_say_to_each_other_reaches_no_client():
    async def main():
        async with (
            Gateway({"a": behind(server([add]))}) as inner,
            Gateway({"b": behind(inner.server())}) as outer,
            Client(outer.server()) as client,
        ):
            return (await client.list_tools()).tools, outer.path_of("b_a_add")

    (listed,), path = anyio.run(main)
    assert "gatewayPath" not in listed.model_dump_json(by_alias=True)
    assert len(path) == 2
