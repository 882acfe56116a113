"""What a program gives to a gateway, and to all that takes options for many tools, is checked at once."""

from __future__ import annotations

from math import inf, nan

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mcp.server.lowlevel import Server

from operator_schema import SchemaError
from operator_schema.adapters import process
from operator_schema.adapters.mcp.gateway import Gateway, ServerBehind
from operator_schema.adapters.mcp_client import tools_from


def transport():
    raise NotImplementedError


WRONG_SOURCES = [
    (5, TypeError, "must be a URL, a list with the words of a command, .* not integer 5"),
    (None, TypeError, "not null"),
    (b"x", TypeError, "not bytes"),
    (
        {"command": "x", "env": {"TOKEN": "swordfish"}},
        TypeError,
        "not a mapping: write StdioServerParameters",
    ),
    (StdioServerParameters, TypeError, "must be a URL"),
    ([], ValueError, "must have a command, such as"),
    ([""], ValueError, "must have a command, such as"),
    (StdioServerParameters(command=""), ValueError, "must have a command, such as"),
    (["x", 5], TypeError, "each word of the command must be a string, not integer 5"),
    ("", ValueError, "must be a URL that begins with http:// or https://, not string"),
    ("localhost:8000/mcp", ValueError, "must be a URL that begins with http:// or https://"),
    ("https://", ValueError, "must be a URL"),
    ("http://[::1", ValueError, "must be a URL"),
    ("uvx mcp-server-time", ValueError, r"A command is a list of its words: \['uvx', 'mcp-server-time'\]"),
]


@pytest.mark.parametrize(("source", "error", "said"), WRONG_SOURCES)
def test_what_says_not_how_a_server_is_reached_is_refused_when_the_gateway_is_made(source, error, said):
    with pytest.raises(error, match=f'the server "shop" {said}' if said[0] == "m" else said) as caught:
        Gateway({"shop": source})
    assert "swordfish" not in str(caught.value)
    with pytest.raises(error, match=said):
        ServerBehind(source)
    if not isinstance(source, dict):
        with pytest.raises(error, match=r"a server behind a gateway(:.*)? must"):
            Gateway(source)


@pytest.mark.parametrize(
    "source",
    [
        "http://127.0.0.1:9/mcp",
        "https://[::1]/mcp",
        ("uvx", "x"),
        StdioServerParameters(command="x"),
        transport,
    ],
)
def test_each_way_to_reach_a_server_is_taken(source):
    assert ServerBehind(source).source is source
    assert Gateway(source)
    assert Gateway({"shop": ServerBehind(source)})


@pytest.mark.parametrize("name", [5, "", None])
def test_the_name_of_a_server_is_a_text(name):
    with pytest.raises(TypeError, match="the name of a server must be a text"):
        Gateway({name: transport})


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"only": 5}, TypeError, "only must be a list of names of tools, or None, not integer 5"),
        ({"only": ["a", 5]}, TypeError, "only must be a list"),
        ({"only": "a"}, TypeError, r"only must be .*: write only=\['a'\]"),
        ({"only": b"a"}, TypeError, "only must be"),
        ({"confirm": None}, TypeError, "confirm must be True, False or a list of names of tools, not null"),
        ({"confirm": 1}, TypeError, "confirm must be True, False"),
        ({"confirm": "yes"}, TypeError, r"confirm must be .*: write confirm=\['yes'\]"),
    ],
)
def test_options_of_a_server_are_checked(options, error, said):
    with pytest.raises(error, match=said):
        ServerBehind(transport, **options)


WRONG_OPTIONS = [
    ({"repair": "yes"}, SchemaError, "repair must be True or False"),
    ({"repairs": True}, TypeError, "unexpected option 'repairs' .*; did you mean repair"),
    ({"timeout": "1"}, SchemaError, 'timeout is "1", not a positive number'),
    ({"confirm": "yes"}, SchemaError, 'confirm is "yes", not True or False'),
    ({"unknown_fields": "refuse"}, SchemaError, "unknown_fields"),
    ({"meta": 5}, SchemaError, "meta is 5, not a JSON object"),
]


@pytest.mark.parametrize(("options", "error", "said"), WRONG_OPTIONS)
def test_options_for_all_tools_are_checked_before_there_are_any(options, error, said):
    with pytest.raises(error, match=said):
        Gateway(transport, **options)

    async def main():
        async with Client(Server("empty")) as client:
            with pytest.raises(error, match=said):
                await tools_from(client, **options)

    anyio.run(main)
    if "timeout" in options:  # which is that of the program, too
        error, said = ValueError, "timeout must be a number of seconds"
    with pytest.raises(error, match=said):
        process.tools_of("no-such-program", **options)
    with pytest.raises(error, match=said):
        anyio.run(lambda: process.atools_of("no-such-program", **options))


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        *[
            ({"seconds": one}, ValueError, "seconds must be a number above 0")
            for one in (0, -1, True, "5", inf, nan, 10**400)
        ],
        ({"unreachable": 5}, TypeError, "unreachable must be a function"),
    ],
)
def test_what_a_gateway_waits_for_is_checked(options, error, said):
    with pytest.raises(error, match=said):
        Gateway(transport, **options)
    if "seconds" in options:
        with pytest.raises(error, match=said):
            ServerBehind(transport, **options)
