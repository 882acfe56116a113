"""Whose connection to a server behind a gateway is it: who is asked by it, who hears by it, and how long."""

from __future__ import annotations

from contextlib import asynccontextmanager

import anyio
import anyio.lowlevel
import pytest
from gateway_cases import NEW, OLD, altered, ask_user, at_once, behind, count
from mcp import Client, MCPError, types

from operator_schema import tool
from operator_schema.adapters.mcp import behind as behind_module
from operator_schema.adapters.mcp import server
from operator_schema.adapters.mcp.gateway import Gateway

URI = "note://today"
pytestmark = pytest.mark.filterwarnings("ignore:resources/.*subscribe is removed")


def noted():
    """Return a server with a memory of its own, as a process has: its note changes when it is told to."""

    @tool
    def write() -> str:
        """Change the note."""
        made.handlers.resource_updated(URI)
        return "written"

    made = server([ask_user, count, write], resources={URI: "rye"}, logger="gateway_tests")
    return made


class Servers:
    """A source for `Gateway`: each connection reaches a server of its own.

    Args:
        most: how many connections it takes at the same time.
        lacks: as for `behind`.

    Attributes:
        open: how many there are.
        asked: how many were asked for.
        gate: an event for which connections wait; None for none.
    """

    def __init__(self, most=100, lacks=OLD):
        self.most, self.lacks, self.open, self.asked, self.gate = most, lacks, 0, 0, None

    @asynccontextmanager
    async def __call__(self):
        self.asked += 1
        if self.open >= self.most:
            message = "no more connections"
            raise ConnectionError(message)
        self.open += 1
        try:
            if self.gate is not None:
                await self.gate.wait()
            async with behind(noted(), lacks=self.lacks)() as streams:
                yield streams
        finally:
            self.open -= 1


class Person:
    """A client of a gateway before 2026-07-28, with what it was asked and heard.

    Args:
        app: the server in front.
        lacks: notifications that it never sends.
    """

    def __init__(self, app, lacks=()):
        self.asked, self.logged, self.heard = 0, [], anyio.Event()
        self._client = Client(
            _without(app, lacks),
            mode="legacy",
            cache=None,
            elicitation_callback=self._answer,
            logging_callback=self._log,
            message_handler=self._hear,
        )

    async def _answer(self, _context, _params):
        self.asked += 1
        return types.ElicitResult(action="accept", content={})

    async def _log(self, params):
        self.logged.append(params.data)

    async def _hear(self, message):
        if isinstance(message, types.ResourceUpdatedNotification):
            self.heard.set()

    async def call(self, name):
        try:
            return (await self._client.call_tool(name, {})).content[0].text
        except MCPError as error:
            return error.message

    async def watch(self):
        await self._client.subscribe_resource(URI)

    async def __aenter__(self):
        await self._client.__aenter__()
        return self

    async def __aexit__(self, *failure):
        await self._client.__aexit__(*failure)


def _without(app, lacks):
    async def leave_out(method, send):
        if method not in lacks:
            await send()

    return altered(behind(app), leave_out)()


async def until(is_so):
    with anyio.fail_after(30):
        while not is_so():
            await anyio.lowlevel.checkpoint()


CANNOT_TELL = "can't tell which of its clients is meant"


# --- who watches -------------------------------------------------------------------------------------


def test_a_client_that_watches_a_resource_takes_no_questions_from_another_one():
    async def main():
        async with Gateway(Servers()) as gateway:
            app = gateway.server()
            async with Person(app) as ann, Person(app) as bob:
                found = [await ann.call("ask_user")]
                await bob.watch()
                return [*found, await ann.call("ask_user"), await bob.call("ask_user")], ann.asked, bob.asked

    assert anyio.run(main) == (["accept {}"] * 3, 2, 1)


def test_a_client_that_watches_a_newer_server_takes_no_log_records_from_another_one():
    async def main():
        async with Gateway(Servers(lacks=NEW)) as gateway:
            app = gateway.server()
            async with Person(app) as ann, Person(app) as bob:
                await bob.watch()
                await ann.call("count")
                return ann.logged, bob.logged

    assert anyio.run(main) == (["counted"], [])


def test_a_client_hears_of_what_changes_behind_its_own_connection():
    async def main():
        async with Gateway(Servers()) as gateway:
            app = gateway.server()
            async with Person(app) as ann, Person(app) as bob:
                await ann.watch()
                await bob.watch()
                await bob.call("write")
                with anyio.fail_after(30):
                    await bob.heard.wait()
                before = ann.heard.is_set()
                await ann.call("write")
                with anyio.fail_after(30):
                    await ann.heard.wait()
                return before, len(gateway._watched)

    assert anyio.run(main) == (False, 2)


@pytest.mark.parametrize("most", [0, 16])
def test_what_is_watched_by_a_connection_that_was_lost_is_watched_by_the_next_one(monkeypatch, most):
    monkeypatch.setattr(behind_module, "_MOST_OWN", most)

    async def main():
        async with Gateway(Servers()) as gateway:
            app = gateway.server()
            async with Person(app) as ann, Person(app) as bob:
                await ann.call("count")
                await bob.watch()
                link = gateway._links[0]
                lost = next((own.connection for own in link._opened), link.home)
                lost.close()
                await bob.call("count")
                await until(lambda: all(known.is_begun for known in gateway._watched._known.values()))
                await bob.call("write")
                with anyio.fail_after(30):
                    await bob.heard.wait()
                return [connection is lost for connection, _ in gateway._watched._known]

    assert anyio.run(main) == [False]


# --- how long ----------------------------------------------------------------------------------------


def test_the_first_connection_is_opened_anew_for_the_next_client_when_its_own_has_gone():
    servers = Servers(most=1)

    async def main():
        found = []
        async with Gateway(servers) as gateway:
            app = gateway.server()
            for _ in range(3):
                async with Person(app) as one:
                    found.append(await one.call("ask_user"))
                await until(lambda: gateway._links[0].home.is_left)
        return found

    assert anyio.run(main) == ["accept {}"] * 3
    assert servers.asked == 3


def test_a_connection_that_clients_shared_is_opened_anew_when_all_of_them_have_gone(caplog):
    servers = Servers(most=1)

    async def main():
        async with Gateway(servers) as gateway:
            app = gateway.server()
            async with Person(app) as ann:
                first = await ann.call("ask_user")
                async with Person(app) as bob:
                    shared = await bob.call("ask_user")
                still = await ann.call("ask_user")
            await until(lambda: gateway._links[0].home.is_left)
            async with Person(app) as cid:
                return first, shared, still, await cid.call("ask_user")

    first, shared, still, last = anyio.run(main)
    assert (first, last) == ("accept {}", "accept {}")
    assert CANNOT_TELL in shared
    assert CANNOT_TELL in still  # the server may ask about a call of the other one
    assert "its clients share a connection, so it can't ask them; another one is tried in 60 s" in caplog.text


def test_the_first_connection_stays_as_long_as_one_who_has_shared_it_is_there():
    async def main():
        async with Gateway(Servers(most=1)) as gateway:
            app, home = gateway.server(), gateway._links[0].home
            async with Person(app) as bob:
                async with Person(app) as ann:
                    await ann.call("count")
                    await bob.call("count")
                await until(lambda: len(home._clients) == 1)
                async with Person(app) as cid:
                    return await cid.call("ask_user"), home.is_open

    answer, is_open = anyio.run(main)
    assert CANNOT_TELL in answer
    assert is_open


def test_the_first_connection_stays_while_the_gateway_asks_by_it_itself():
    servers, asked = Servers(), []

    async def wait(method, send):
        if method == "tools/list":
            asked.append(method)
            if len(asked) == 2:
                await release.wait()
        await send()

    async def main():
        nonlocal release
        release = anyio.Event()
        async with Gateway(altered(servers, wait)) as gateway:
            app, [link] = gateway.server(), gateway._links
            async with Person(app) as ann:
                await ann.call("count")
            gateway._refresh_soon(link)
            await until(lambda: len(asked) == 2)
            async with Person(app) as bob:
                found = await bob.call("ask_user"), link.home.is_open, servers.open
                release.set()
                await until(lambda: not gateway._is_stale)
                return found

    release = None
    assert anyio.run(main) == ("accept {}", True, 2)


def test_a_connection_that_is_being_opened_again_keeps_its_place(monkeypatch):
    monkeypatch.setattr(behind_module, "_MOST_OWN", 1)
    servers = Servers()

    async def main():
        async with Gateway(servers) as gateway:
            app, [link] = gateway.server(), gateway._links
            async with Person(app) as ann, Person(app) as bob, Person(app) as cid:
                await ann.call("count")
                await bob.call("count")
                [own] = link._opened
                own.connection.close()
                await own.connection.over()
                servers.gate = anyio.Event()
                async with anyio.create_task_group() as group:
                    group.start_soon(bob.call, "count")
                    await until(lambda: servers.open == 2)
                    gate, servers.gate = servers.gate, None
                    shared = await cid.call("ask_user")
                    gate.set()
                return shared, servers.open, await bob.call("ask_user")

    shared, number, own = anyio.run(main)
    assert CANNOT_TELL in shared
    assert (number, own) == (2, "accept {}")


# --- what was refused --------------------------------------------------------------------------------


async def tries(servers, client, *pauses):
    """Return how many connections a client has had asked for after each pause, while there are no more."""
    found, before = [], servers.asked
    for seconds in pauses:
        await anyio.sleep(seconds)
        for _ in range(5):
            assert "accept" not in await client.call("ask_user")
        found.append(servers.asked - before)
    return found


def test_a_connection_that_a_server_refused_is_tried_again_after_a_while():
    servers = Servers(most=1)

    async def main():
        async with Gateway(servers) as gateway:
            app, [link] = gateway.server(), gateway._links
            async with Person(app) as ann, Person(app) as bob:
                await ann.call("count")
                tried = await tries(servers, bob, 0, 59, 2, 118, 3)
                servers.most = 2
                await anyio.sleep(3600)
                answer = await bob.call("ask_user")
                [own] = link._opened
                own.connection.close()
                servers.most = 1
                return tried, answer, await tries(servers, bob, 0, 59, 2, 118, 3)

    assert at_once(main) == ([1, 1, 2, 2, 3], "accept {}", [1, 1, 2, 2, 3])


def test_a_connection_of_the_earlier_generation_that_was_refused_is_tried_again_after_a_while():
    servers = Servers(most=1, lacks=())

    async def main():
        async with Gateway(servers) as gateway, Client(gateway.server(), cache=None) as newer:
            await newer.call_tool("count", {})
            async with Person(gateway.server()) as ann:
                tried = await tries(servers, ann, 0, 59, 2, 118, 3)
                servers.most = 2
                await anyio.sleep(3600)
                answer = await ann.call("ask_user")
                gateway._links[0]._other.close()
                servers.most = 1
                return tried, answer, await tries(servers, ann, 0, 59, 2, 118, 3), await ann.call("count")

    assert at_once(main) == ([1, 1, 2, 2, 3], "accept {}", [1, 1, 2, 2, 3], "counted")


def test_the_connection_of_the_earlier_generation_is_opened_anew_for_the_next_client_too():
    servers = Servers(most=2, lacks=())

    async def main():
        found = []
        async with Gateway(servers) as gateway, Client(gateway.server(), cache=None) as newer:
            await newer.call_tool("count", {})
            for _ in range(2):
                async with Person(gateway.server()) as one:
                    found.append(await one.call("ask_user"))
                await until(lambda: gateway._links[0]._other.is_left)
        return found, servers.asked

    assert anyio.run(main) == (["accept {}", "accept {}"], 3)


# --- what is watched later ---------------------------------------------------------------------------


def test_a_client_that_goes_watches_nothing_of_a_newer_server_any_more():
    async def main():
        async with Gateway(Servers(lacks=NEW)) as gateway:
            async with Person(gateway.server()) as ann:
                await ann.watch()
                during = len(gateway._watched)
            await until(lambda: not len(gateway._watched))
            return during

    assert anyio.run(main) == 1


def test_what_two_watch_by_two_connections_is_watched_by_one_that_stands_in_for_the_other():
    async def main():
        async with Gateway(Servers()) as gateway:
            app, [link] = gateway.server(), gateway._links
            async with Person(app) as ann, Person(app) as bob:
                await ann.watch()
                await bob.watch()
                [own] = link._opened
                gateway._reopened(link, own.connection, link.home)
                await ann.call("write")
                with anyio.fail_after(30):
                    await ann.heard.wait()
                    await bob.heard.wait()
                return len(gateway._watched)

    assert anyio.run(main) == 1


def test_what_is_watched_by_a_connection_that_ended_for_another_client_is_watched_by_the_next_one(
    monkeypatch,
):
    monkeypatch.setattr(behind_module, "_MOST_OWN", 1)

    async def main():
        async with Gateway(Servers()) as gateway:
            app = gateway.server()
            async with Person(app) as ann, Person(app) as bob, Person(app) as cid:
                await ann.call("count")
                await bob.watch()
                await cid.call("count")
                found = [await bob.call("count"), await bob.call("count")]
                await until(lambda: all(known.is_begun for known in gateway._watched._known.values()))
                await bob.call("write")
                with anyio.fail_after(30):
                    await bob.heard.wait()
                return found, len(gateway._watched)

    (closed, again), watched = anyio.run(main)
    assert closed.startswith("the server server was closed for this client because 1 others use it")
    assert (again, watched) == ("counted", 1)


def test_what_is_watched_moves_to_the_first_connection_if_the_client_gets_that_one(monkeypatch):
    monkeypatch.setattr(behind_module, "_MOST_OWN", 1)

    async def main():
        async with Gateway(Servers()) as gateway:
            app = gateway.server()
            async with Person(app) as bob:
                async with Person(app) as ann:
                    await ann.call("count")
                    await bob.watch()
                    async with Person(app) as cid:
                        await cid.call("count")
                        await bob.call("count")  # it is told that its connection was closed
                await until(lambda: gateway._links[0].home.is_left)
                await bob.call("count")
                await until(lambda: all(known.is_begun for known in gateway._watched._known.values()))
                await bob.call("write")
                with anyio.fail_after(30):
                    await bob.heard.wait()
                return [connection is gateway._links[0].home for connection, _ in gateway._watched._known]

    assert anyio.run(main) == [True]


def test_the_connection_of_a_client_that_never_says_that_it_has_begun_ends_with_it():
    servers = Servers()

    async def main():
        async with Gateway(servers) as gateway:
            app = gateway.server()
            async with Person(app) as ann:
                await ann.call("count")
                async with Person(app, lacks=["notifications/initialized"]) as bob:
                    await bob.call("count")
                    await bob.watch()
                    during = servers.open, len(gateway._watched)
                await until(lambda: servers.open == 1 and not len(gateway._watched))
                return during

    assert anyio.run(main) == (2, 1)


def test_what_a_server_has_is_asked_for_again_after_its_connection_was_lost():
    async def main():
        async with Gateway(Servers()) as gateway, Client(gateway.server(), cache=None) as client:
            home = gateway._links[0].home
            home.close()
            await home.over()
            return (await client.read_resource(URI)).contents[0].text

    assert anyio.run(main) == "rye"
