"""Whose connection to a server behind a gateway is it: who is asked by it, who hears by it, and how long."""

from __future__ import annotations

from contextlib import asynccontextmanager

import anyio
import anyio.lowlevel
import pytest
from gateway_cases import NEW, OLD, altered, ask_user, at_once, behind, count
from mcp import Client, MCPError, types
from mcp.shared.message import SessionMessage
from patience import LONGEST_WAIT

from operator_schema import tool
from operator_schema.adapters.mcp import behind as behind_module
from operator_schema.adapters.mcp import server, watched_resources
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
        ways: what writes to each, in the order in which they were opened.
        gate: an event for which connections wait; None for none.
    """

    def __init__(self, most=100, lacks=OLD):
        self.most, self.lacks, self.open, self.asked, self.gate = most, lacks, 0, 0, None
        self.ways = []

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
            async with behind(noted(), lacks=self.lacks)() as (read, write):
                self.ways.append(write)
                yield read, write
        finally:
            self.open -= 1


async def die(way):
    """End the program that something writes to."""
    await way.back.aclose()


def connections_watched_by(gateway):
    """Return the connections by which a gateway watches resources."""
    return [connection for connection, _ in gateway.watched._known]


class Person:
    """A client of a gateway before 2026-07-28, with what it was asked and heard.

    Args:
        app: the server in front.
        lacks: notifications that it never sends.
    """

    def __init__(self, app, lacks=()):
        self.asked, self.logged, self.heard, self.times = 0, [], anyio.Event(), 0
        self.client = Client(
            _without(app, lacks),
            mode="legacy",
            cache=None,
            elicitation_callback=self.answer,
            logging_callback=self.log,
            message_handler=self.take_message,
        )

    async def answer(self, _context, _params):
        self.asked += 1
        return types.ElicitResult(action="accept", content={})

    async def log(self, params):
        self.logged.append(params.data)

    async def take_message(self, message):
        if isinstance(message, types.ResourceUpdatedNotification):
            self.times += 1
            self.heard.set()

    async def hear(self):
        """Wait for a change of the note that wasn't waited for so far."""
        with anyio.fail_after(LONGEST_WAIT):
            await self.heard.wait()
        self.heard = anyio.Event()

    async def call(self, name):
        try:
            return (await self.client.call_tool(name, {})).content[0].text
        except MCPError as error:
            return error.message

    async def watch(self, uri=URI):
        try:
            await self.client.subscribe_resource(uri)
        except MCPError as error:
            return error.message
        return "watched"

    async def leave(self, uri):
        await self.client.unsubscribe_resource(uri)

    async def __aenter__(self):
        await self.client.__aenter__()
        return self

    async def __aexit__(self, *failure):
        await self.client.__aexit__(*failure)


def _without(app, lacks):
    async def leave_out(method, send):
        if method not in lacks:
            await send()

    return altered(behind(app), leave_out)()


async def until(is_so):
    with anyio.fail_after(LONGEST_WAIT):
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
                await bob.hear()
                before = ann.heard.is_set()
                await ann.call("write")
                await ann.hear()
                return before, len(gateway.watched)

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
                link = gateway.links[0]
                lost = next(iter(link.own_connections), link.home)
                lost.close()
                await bob.call("count")
                await bob.hear()  # it may have missed a change
                await bob.call("write")
                await bob.hear()
                return [connection is lost for connection in connections_watched_by(gateway)]

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
                await until(lambda: gateway.links[0].home.is_abandoned)
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
            await until(lambda: gateway.links[0].home.is_abandoned)
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
            app, home = gateway.server(), gateway.links[0].home
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
            app, [link] = gateway.server(), gateway.links
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
            app, [link] = gateway.server(), gateway.links
            async with Person(app) as ann, Person(app) as bob, Person(app) as cid:
                await ann.call("count")
                await bob.call("count")
                [own] = link.own_connections
                own.close()
                await own.wait_for_end()
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
            app, [link] = gateway.server(), gateway.links
            async with Person(app) as ann, Person(app) as bob:
                await ann.call("count")
                tried = await tries(servers, bob, 0, 59, 2, 118, 3)
                servers.most = 2
                await anyio.sleep(3600)
                answer = await bob.call("ask_user")
                [own] = link.own_connections
                own.close()
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
                gateway.links[0].other.close()
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
                await until(lambda: gateway.links[0].other.is_abandoned)
        return found, servers.asked

    assert anyio.run(main) == (["accept {}", "accept {}"], 3)


# --- what is watched later ---------------------------------------------------------------------------


def test_a_client_that_goes_watches_nothing_of_a_newer_server_any_more():
    async def main():
        async with Gateway(Servers(lacks=NEW)) as gateway:
            async with Person(gateway.server()) as ann:
                await ann.watch()
                during = len(gateway.watched)
            await until(lambda: not len(gateway.watched))
            return during

    assert anyio.run(main) == 1


def test_what_two_watch_by_two_connections_is_watched_by_one_that_stands_in_for_the_other():
    async def main():
        async with Gateway(Servers()) as gateway:
            app, [link] = gateway.server(), gateway.links
            async with Person(app) as ann, Person(app) as bob:
                await ann.watch()
                await bob.watch()
                [own] = link.own_connections
                gateway._reopened(link, own, link.home)
                await bob.hear()  # it may have missed a change
                await ann.call("write")
                await ann.hear()
                await bob.hear()
                return len(gateway.watched)

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
                await bob.hear()  # it may have missed a change
                await bob.call("write")
                await bob.hear()
                return found, len(gateway.watched)

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
                await until(lambda: gateway.links[0].home.is_abandoned)
                await bob.call("count")
                await bob.hear()  # it may have missed a change
                await bob.call("write")
                await bob.hear()
                return [connection is gateway.links[0].home for connection in connections_watched_by(gateway)]

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
                    during = servers.open, len(gateway.watched)
                await until(lambda: servers.open == 1 and not len(gateway.watched))
                return during

    assert anyio.run(main) == (2, 1)


def test_what_a_server_has_is_asked_for_again_after_its_connection_was_lost():
    async def main():
        async with Gateway(Servers()) as gateway, Client(gateway.server(), cache=None) as client:
            home = gateway.links[0].home
            home.close()
            await home.wait_for_end()
            return (await client.read_resource(URI)).contents[0].text

    assert anyio.run(main) == "rye"


# --- what is watched by a connection that ends ---------------------------------------------------------


@asynccontextmanager
async def watching(servers):
    """Open a gateway with two clients; the second one does nothing but watch, by its own connection."""
    async with Gateway(servers) as gateway:
        app = gateway.server()
        async with Person(app) as ann, Person(app) as bob:
            await ann.call("count")
            await bob.watch()
            yield gateway, ann, bob


def test_a_client_that_only_watches_hears_again_after_its_program_has_ended(caplog):
    servers = Servers()

    async def main():
        async with watching(servers) as (_, ann, bob):
            await die(servers.ways[1])
            await bob.hear()
            missed = ann.times, bob.times
            await bob.call("write")
            await bob.hear()
            return missed, bob.times, await ann.call("ask_user"), servers.open

    assert anyio.run(main) == ((0, 1), 2, "accept {}", 2)
    assert "a connection by which resources are watched has ended: it is opened again" in caplog.text


@pytest.mark.parametrize("lacks", [OLD, NEW])
def test_clients_that_only_watch_by_a_shared_connection_hear_again_after_its_program_has_ended(
    monkeypatch, lacks
):
    monkeypatch.setattr(behind_module, "_MOST_OWN", 0)
    servers = Servers(lacks=lacks)

    async def main():
        async with watching(servers) as (gateway, ann, bob):
            await ann.watch()
            await die(servers.ways[0])
            await ann.hear()
            await bob.hear()
            await ann.call("write")
            await ann.hear()
            await bob.hear()
            return ann.times, bob.times, len(gateway.watched), servers.open

    assert anyio.run(main) == (2, 2, 1, 1)


def test_a_program_that_always_ends_is_started_less_and_less_often():
    servers, found = Servers(), []

    async def main():
        async with watching(servers):
            before = servers.asked
            await die(servers.ways[1])
            for seconds in (1, 58, 2, 118, 3, 238, 4, 2 * 3600):
                end = anyio.current_time() + seconds
                while anyio.current_time() < end:
                    await anyio.sleep(0.5 if seconds < 3600 else 5)
                    await die(servers.ways[-1])
                found.append(servers.asked - before)

    at_once(main)
    assert found[:7] == [1, 1, 2, 2, 3, 3, 4]
    assert found[7] <= 9


def test_a_server_that_takes_no_connection_for_a_while_is_watched_again_later():
    servers = Servers()

    async def main():
        async with watching(servers) as (_, _, bob):
            servers.most = 1
            await die(servers.ways[1])
            await anyio.sleep(59)
            asked = servers.asked
            servers.most = 2
            await anyio.sleep(2)
            return asked, servers.asked, bob.times, servers.open

    assert at_once(main) == (3, 4, 1, 2)


def test_a_program_that_ran_for_long_is_started_again_at_once():
    servers = Servers()

    async def main():
        async with watching(servers) as (_, _, bob):
            for _ in range(3):
                await anyio.sleep(61)
                begin = anyio.current_time()
                await die(servers.ways[-1])
                await bob.hear()
                assert anyio.current_time() == begin
            return bob.times

    assert at_once(main) == 3


def test_a_connection_that_is_opened_again_ends_if_its_client_goes_meanwhile():
    servers = Servers()

    async def main():
        async with Gateway(servers) as gateway:
            app = gateway.server()
            async with Person(app) as ann:
                await ann.call("count")
                async with Person(app) as bob:
                    await bob.watch()
                    servers.gate = anyio.Event()
                    await die(servers.ways[1])
                    await until(lambda: servers.asked == 3)
                await until(lambda: not len(gateway.watched))
                servers.gate.set()
                await until(lambda: len(servers.ways) == 3)
                await until(lambda: servers.open == 1)
                return gateway.links[0].own_connections

    assert anyio.run(main) == []


def test_a_connection_that_ended_for_another_client_is_not_opened_again_for_what_is_watched(monkeypatch):
    monkeypatch.setattr(behind_module, "_MOST_OWN", 1)
    servers = Servers()

    async def main():
        async with watching(servers) as (gateway, _, bob), Person(gateway.server()) as cid:
            await cid.call("count")
            await anyio.sleep(10_000)
            return servers.asked, bob.times

    assert at_once(main) == (3, 0)


def test_a_connection_that_a_server_has_forgotten_is_noticed_though_nothing_is_asked_by_it():
    servers, forgotten = Servers(), []

    @asynccontextmanager
    async def forgetful():
        async with servers() as (read, write):
            send = write.send

            async def answer(item):
                if getattr(item.message, "method", "") == "ping" and len(servers.ways) in forgotten:
                    error = types.ErrorData(code=types.INVALID_REQUEST, message="Session not found")
                    said = types.JSONRPCError(jsonrpc="2.0", id=item.message.id, error=error)
                    await write.back.send(SessionMessage(said))
                else:
                    await send(item)

            write.send = answer
            yield read, write

    async def main():
        async with watching(forgetful) as (_, _, bob):
            await anyio.sleep(130)
            before = servers.asked, bob.times
            forgotten.append(2)
            await anyio.sleep(61)
            return before, servers.asked, bob.times

    assert at_once(main) == ((2, 0), 3, 1)


def is_watch(message):
    """Return whether a message to a newer server asks for changes of a resource."""
    asked = (getattr(message, "params", None) or {}).get("notifications", {})
    return bool(asked.get("resourceSubscriptions"))


async def stop(way):
    """Have a newer server end its reports of changes of a resource."""
    request = [each for each in way.seen if is_watch(each)][-1]
    error = types.ErrorData(code=types.INTERNAL_ERROR, message="restarted")
    await way.back.send(SessionMessage(types.JSONRPCError(jsonrpc="2.0", id=request.id, error=error)))


def test_what_a_newer_server_stops_to_report_is_watched_again():
    servers = Servers(lacks=NEW)

    async def main():
        async with watching(servers) as (_, _, bob):
            await stop(servers.ways[0])
            await bob.hear()
            told = bob.times
            await bob.call("write")
            await bob.hear()
            return told

    assert anyio.run(main) == 1


def test_what_a_newer_server_always_stops_to_report_is_asked_for_less_and_less_often():
    servers = Servers(lacks=NEW)

    async def main():
        async with watching(servers) as (_, _, bob):
            found, way = [], servers.ways[0]
            for seconds in (1, 58, 2, 118, 3):
                await stop(way)
                await anyio.sleep(seconds)
                found.append(sum(is_watch(each) for each in way.seen))
            return found, bob.times

    assert at_once(main) == ([2, 2, 3, 3, 4], 3)


def test_what_is_watched_by_a_connection_that_takes_the_place_of_another_survives_a_refusal():
    asked = []

    async def refuse(method, send):
        if method == "resources/subscribe":
            asked.append(method)
            if len(asked) == 2:
                await release.wait()
                raise MCPError(types.INTERNAL_ERROR, "busy")
        await send()

    async def main():
        nonlocal release
        release = anyio.Event()
        async with Gateway(altered(Servers(), refuse)) as gateway:
            app, [link] = gateway.server(), gateway.links
            async with Person(app) as ann, Person(app) as bob, anyio.create_task_group() as group:
                await ann.call("count")
                await bob.watch()
                group.start_soon(ann.watch)
                await until(lambda: len(asked) == 2)
                [own] = link.own_connections
                gateway._reopened(link, own, link.home)
                release.set()
                await bob.hear()
                await ann.call("write")
                await bob.hear()
                return [len(known.watchers) for known in gateway.watched._known.values()], len(asked)

    release = None
    assert anyio.run(main) == ([1], 3)


# --- how many are watched ------------------------------------------------------------------------------


def test_a_client_cannot_take_what_others_may_watch_and_the_same_resources_count_once(monkeypatch):
    monkeypatch.setattr(watched_resources, "MOST_OF_ONE", 3)
    monkeypatch.setattr(watched_resources, "MOST_WATCHED", 4)
    made = server([count], resources={f"note://{number}": "rye" for number in range(6)})
    full = "this client watches 3 resources of server already"
    all_full = "4 resources of server are watched already"

    async def main():
        async with Gateway(behind(made, lacks=OLD)) as gateway:
            app = gateway.server()
            async with Person(app) as ann, Person(app) as bob, Person(app) as cid:

                async def watch(who, *numbers):
                    return [await who.watch(f"note://{number}") for number in numbers]

                watched = "watched"
                assert await watch(ann, 0, 1, 2, 3, 0) == [watched, watched, watched, full, watched]
                assert await watch(bob, 0, 1, 2) == [watched] * 3
                assert await watch(cid, 0, 1, 3, 4) == [watched, watched, watched, full]
                await cid.leave("note://0")
                assert await watch(cid, 4, 2) == [all_full, watched]
                await cid.leave("note://3")
                await until(lambda: len(gateway.watched) == 8)
                assert await watch(cid, 5) == [watched]
            await until(lambda: not gateway.watched._uris)

    anyio.run(main)


def test_a_newer_server_that_always_ends_is_connected_to_each_minute_at_most():
    servers = Servers(lacks=NEW)

    async def main():
        async with Gateway(servers):
            before, found = servers.asked, []
            for seconds in (2, 118, 480):
                end = anyio.current_time() + seconds
                while anyio.current_time() < end:
                    await die(servers.ways[-1])
                    await anyio.sleep(0.5)
                found.append(servers.asked - before)
            return found

    first, second, third = at_once(main)
    assert first <= 2
    assert first < second <= 8
    assert second < third <= second + 8


def test_a_program_that_ends_after_each_list_of_its_tools_is_not_started_again_for_these():
    servers = Servers()

    @asynccontextmanager
    async def listing_once():
        async with servers() as (read, write):
            send = write.send

            async def answer_and_end(item):
                await send(item)
                if getattr(item.message, "method", "") == "tools/list":
                    await anyio.sleep(0.01)  # it takes no time until the answer is there
                    await die(write)

            write.send = answer_and_end
            servers.most = 100 if servers.asked < 50 else 0
            yield read, write

    async def main():
        async with Gateway(listing_once) as gateway:
            gateway._refresh_soon(gateway.links[0])
            await anyio.sleep(600)
            assert not gateway._is_stale
            return servers.asked

    assert at_once(main) == 2
