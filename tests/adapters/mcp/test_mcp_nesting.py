"""Gateways that start each other: none starts without end."""

from __future__ import annotations

import json
import os

import anyio
import pytest
from gateway_cases import OLD, behind
from mcp import StdioServerParameters, types

from operator_schema import tool
from operator_schema.adapters.mcp import server
from operator_schema.adapters.mcp.gateway import Gateway
from operator_schema.adapters.mcp.nesting import gateways_above, note_gateways_above, started_below
from operator_schema.adapters.mcp.stdio import opening_request

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
