"""A gateway starts with servers that fail at the start: each is named, and the others go on."""

from __future__ import annotations

import json
import logging
from contextlib import asynccontextmanager
from math import inf

import anyio
import anyio.lowlevel
import pytest
from gateway_cases import OLD, Writer, altered, at_once, behind
from mcp import Client, types
from mcp.server.lowlevel import Server
from mcp.shared.message import SessionMessage
from patience import LONGEST_WAIT

from operator_schema import Registry, tool
from operator_schema.adapters.mcp import server
from operator_schema.adapters.mcp.gateway import Gateway, ServerBehind
from operator_schema.errors import ToolError


@tool
def add(a: int, b: int) -> int:
    """Add."""
    return a + b


class Failing(Writer):
    """What a client writes to a server that fails when its tools are listed, from some time on."""

    def __init__(self, inner, failure, good):
        super().__init__(inner.inner, inner.back, inner.lacks, inner.seen)
        self.failure, self.good = failure, good

    async def send(self, item):
        if getattr(item.message, "method", None) != "tools/list":
            await super().send(item)
        elif self.good:
            self.good -= 1
            await super().send(item)
        elif self.failure == "end":
            await self.back.aclose()
        elif self.failure is not None:
            answer = {"jsonrpc": "2.0", "id": item.message.id, **self.failure}
            message = types.jsonrpc_message_adapter.validate_json(json.dumps(answer))
            await self.back.send(SessionMessage(message))


def failing(failure, closed=None, good=0):
    """Return a source: a server in this process that fails when its tools are listed.

    Args:
        failure: its answer; "end" if it ends, None if it says nothing.
        closed: a list that gets an item when the connection ends.
        good: how often it lists them before.
    """

    @asynccontextmanager
    async def connect():
        try:
            async with behind(server([add]))() as (read, write):
                yield read, Failing(write, failure, good)
        finally:
            if closed is not None:
                closed.append(True)

    return connect


ERROR = {"error": {"code": -32603, "message": "boom"}}
FAILURES = [
    (ERROR, "boom"),
    ("end", "Connection closed"),
    ({"result": {"tools": 5}}, "it gave an answer that isn't one of the protocol"),
]


@pytest.mark.parametrize(("failure", "reason"), FAILURES)
def test_a_server_that_does_not_list_its_tools_is_left_out_and_the_others_go_on(failure, reason):
    told, closed = [], []

    async def main():
        servers = {"bad": failing(failure, closed), "good": behind(server([add]))}
        async with Gateway(servers, unreachable=lambda *said: told.append(said)) as gateway:
            with anyio.fail_after(LONGEST_WAIT):
                while not closed:  # nothing tells of it
                    await anyio.lowlevel.checkpoint()
            return [one.name for one in gateway.registry]

    assert anyio.run(main) == ["good_add"]
    ((name, error),) = told
    assert name == "bad"
    assert isinstance(error, ConnectionError)
    assert str(error) == f"the server bad can't be reached: it doesn't list its tools: {reason}"


@pytest.mark.parametrize(("failure", "reason"), [*FAILURES, (None, "it gave no answer within 60 s")])
def test_without_a_function_for_it_the_error_names_the_server(failure, reason):
    async def main():
        async with Gateway({"bad": failing(failure)}):
            pytest.fail("it was opened")

    with pytest.raises(ConnectionError, match=f"the server bad can't be reached: .*: {reason}$"):
        at_once(main)


ENDING = [(failing(ERROR), ConnectionError), (ServerBehind(behind(server([add])), only=["none"]), ToolError)]


@pytest.mark.parametrize(("bad", "kind"), ENDING)
def test_the_first_failure_that_ends_a_gateway_ends_it_at_once(bad, kind):
    closed = []

    async def main():
        begin = anyio.current_time()
        servers = {"mute": failing(None, closed), "bad": bad, "silent": late(None, "server/discover")}
        with pytest.raises(kind, match="bad"):
            async with Gateway(servers):
                pytest.fail("it was opened")
        return anyio.current_time() - begin

    assert at_once(main) == 0
    assert closed == [True]


# --- how long it takes ---------------------------------------------------------------------------------


def late(seconds, method, of=add):
    """Return a server that answers requests of a method after some time; it never does so if that is None."""

    async def wait(sent, send):
        if sent == method:
            await anyio.sleep(inf if seconds is None else seconds)
        await send()

    return altered(behind(server([of])), wait)


async def opened(servers, **options):
    """Return the seconds that a gateway takes to open, its tools, and whom it leaves out for which reason."""
    told, begin = [], anyio.current_time()
    gateway = Gateway(servers, unreachable=lambda name, error: told.append((name, str(error))), **options)
    async with gateway:
        return anyio.current_time() - begin, [one.name for one in gateway.registry], told


def test_servers_are_waited_for_at_the_same_time_and_keep_their_order():
    servers = {
        "a": late(20, "tools/list"),
        "b": late(15, "server/discover"),
        "c": behind(server([add])),
        "d": late(10, "tools/list", drop),
    }
    assert at_once(lambda: opened(servers)) == (20, ["a_add", "b_add", "c_add", "d_drop"], [])


def test_tools_that_change_while_another_server_is_waited_for_are_listed_again():
    tools = Registry([add])

    async def change(method, send):
        if method == "tools/list":  # the other server has listed its own
            await anyio.sleep(1)
            tools.register(drop)
            await anyio.sleep(1)
        await send()

    async def main():
        servers = {"a": behind(server(tools), lacks=OLD), "b": altered(behind(server([add])), change)}
        async with Gateway(servers) as gateway:
            with anyio.fail_after(LONGEST_WAIT):
                while "a_drop" not in gateway.registry:  # noqa: ASYNC110  # what is waited for is a set
                    await anyio.sleep(0.1)

    at_once(main)


def test_silent_servers_cost_their_limit_once():
    silent = {
        "a": late(None, "tools/list"),
        "b": late(None, "tools/list"),
        "c": late(None, "server/discover"),
        "d": behind(server([add])),
    }
    seconds, names, told = at_once(lambda: opened(silent))
    assert (seconds, names) == (60, ["d_add"])
    listing = "can't be reached: it doesn't list its tools: it gave no answer within 60 s"
    assert told == [
        ("a", f"the server a {listing}"),
        ("b", f"the server b {listing}"),
        ("c", "the server c can't be reached: it gave no answer within 60 s"),
    ]


@pytest.mark.parametrize("method", ["tools/list", "server/discover"])
def test_each_server_may_have_its_own_limit(method):
    servers = {
        "quick": ServerBehind(late(None, method), seconds=2),
        "slow": ServerBehind(late(20, method), seconds=30),
        "other": late(None, method),
    }
    seconds, names, told = at_once(lambda: opened(servers, seconds=5))
    assert (seconds, names) == (20, ["slow_add"])
    assert [name for name, _ in told] == ["quick", "other"]


def test_if_no_server_lists_its_tools_none_can_be_reached():
    told = []

    async def main():
        async with Gateway(
            {"a": failing(ERROR), "b": failing("end")}, unreachable=lambda *it: told.append(it)
        ):
            pytest.fail("it was opened")

    with pytest.raises(ConnectionError, match="none of the servers behind the gateway can be reached"):
        anyio.run(main)
    assert [name for name, _ in told] == ["a", "b"]


@tool
def drop() -> str:
    """Drop."""
    return "dropped"


def test_a_server_is_asked_once_for_its_tools_whatever_is_chosen_of_them():
    seen = []

    async def main():
        source = behind(server([add, drop]), seen=seen)
        async with Gateway({"a": ServerBehind(source, only=["add", "drop"], confirm=["add"])}) as gateway:
            return [one.name for one in gateway.registry]

    assert anyio.run(main) == ["a_drop", "a_add"]
    assert [getattr(one, "method", "") for one in seen].count("tools/list") == 1


def named(name):
    return tool(lambda: name, name=name, description="Do it.")


@pytest.mark.parametrize("is_later", [False, True])
def test_of_two_tools_with_one_name_the_later_one_is_left_out_and_both_servers_are_named(caplog, is_later):
    registry = Registry([named("d")] if is_later else [named("c"), named("d")])

    async def main():
        servers = {"a": behind(server([named("b_c")])), "a_b": behind(server(registry), lacks=OLD)}
        async with Gateway(servers) as gateway:
            if is_later:
                registry.register([named("c"), named("e")])
                with anyio.fail_after(LONGEST_WAIT):
                    while "a_b_e" not in gateway.registry:
                        await anyio.lowlevel.checkpoint()
            return [one.name for one in gateway.registry], await call(gateway, "a_b_c")

    names, answer = anyio.run(main)
    assert names == ["a_b_c", "a_b_d", *(["a_b_e"] if is_later else [])]
    assert answer == "b_c"
    said = {record.getMessage() for record in caplog.records if record.levelno == logging.WARNING}
    where = (
        'the tool "c" of the server "a_b" is left out: the server "a" has a tool of this name here, a_b_c; '
    )
    assert said == {f'{where}rename a server or use "only"'}


async def call(gateway, name):
    async with Client(gateway.server()) as client:
        return (await client.call_tool(name, {})).content[0].text


def test_two_tools_of_one_server_may_not_get_one_name_either(caplog):
    async def main():
        asked = ServerBehind(behind(spelled("x y", "x_y")), confirm=["x_y"])
        async with Gateway({"a": asked}) as gateway:
            return [one.name for one in gateway.registry]

    assert anyio.run(main) == ["a_x_y"]
    assert (
        'the tool "x_y" of the server "a" is left out: the server "a" has a tool of this name' in caplog.text
    )


def spelled(*names):
    """Return a server with tools of any names."""

    async def listed(_, __):
        return types.ListToolsResult(
            tools=[types.Tool(name=name, input_schema={"type": "object"}) for name in names]
        )

    return Server("spelled", on_list_tools=listed)


def test_a_tool_that_appears_before_the_gateway_listens_for_changes_is_found():
    tools = Registry([tool(plain, name="first")])

    async def main():
        async with Gateway(behind(server(tools))) as gateway:
            tools.register(tool(plain, name="second"))  # nobody is told yet
            with anyio.fail_after(LONGEST_WAIT):
                while "second" not in gateway.registry:  # noqa: ASYNC110  # what is waited for is a set
                    await anyio.sleep(0.001)

    anyio.run(main)


def plain() -> str:
    """Return something."""
    return "something"


def test_a_server_in_this_process_goes_on_when_its_client_reads_no_more():
    async def main():
        async with behind(server([add]))() as (read, write):
            await read.aclose()
            request = types.JSONRPCRequest(jsonrpc="2.0", id=1, method="ping")
            await write.send(SessionMessage(request))
            for _ in range(50):  # nothing tells that the answer came
                await anyio.lowlevel.checkpoint()

    anyio.run(main)


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_a_gateway_that_another_task_closes_says_so_and_its_connections_end(backend):
    closed = anyio.Event()

    @asynccontextmanager
    async def connect():
        try:
            async with behind(server([add]))() as streams:
                yield streams
        finally:
            closed.set()

    async def main():
        gateway, opened = Gateway(connect), anyio.Event()

        async def hold():
            async with gateway:
                opened.set()
                await anyio.sleep_forever()

        async with anyio.create_task_group() as group:
            group.start_soon(hold)
            await opened.wait()
            with pytest.raises(RuntimeError, match="must be closed by the task that opened it"):
                await gateway.__aexit__()
            await closed.wait()
            group.cancel_scope.cancel()

    anyio.run(main, backend=backend)


def test_a_server_in_front_of_a_gateway_that_is_not_open_says_what_to_write():
    with pytest.raises(RuntimeError, match=r"write async with gateway, and call gateway.server\(\) inside"):
        Gateway(["nothing"]).server()
