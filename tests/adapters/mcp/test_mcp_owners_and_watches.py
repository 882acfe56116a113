"""Servers behind a gateway that fail, change, collide or flood: what stays whose, and what is asked."""

from __future__ import annotations

from contextlib import asynccontextmanager

import anyio
import anyio.lowlevel
import pytest
from gateway_cases import NEW, OLD, at_once, behind, through
from hypothesis import given, settings
from hypothesis import strategies as st
from mcp import Client, MCPError, types
from mcp.server.lowlevel import Server
from patience import LONGEST_WAIT

from operator_schema import Registry, tool
from operator_schema.adapters.mcp import behind as behind_module
from operator_schema.adapters.mcp import server
from operator_schema.adapters.mcp.gateway import Gateway, ServerBehind
from operator_schema.errors import ToolError


class Listing:
    """A server whose lists a test sets.

    Attributes:
        uris: of its resources; None to fail.
        templates: of its resources.
    """

    def __init__(self, name, uris=(), templates=()):
        self.name, self.uris, self.templates = name, uris, templates

    async def resources(self, _ctx, _params):
        if self.uris is None:
            raise MCPError(-32603, "busy")
        return types.ListResourcesResult(resources=[types.Resource(name="r", uri=uri) for uri in self.uris])

    async def resource_templates(self, _ctx, _params):
        made = [types.ResourceTemplate(name="t", uri_template=text) for text in self.templates]
        return types.ListResourceTemplatesResult(resource_templates=made)

    async def read(self, _ctx, params):
        text = types.TextResourceContents(uri=params.uri, text=self.name)
        return types.ReadResourceResult(contents=[text])

    def source(self, lacks=frozenset()):
        made = Server(
            self.name,
            on_list_resources=self.resources,
            on_list_resource_templates=self.resource_templates,
            on_read_resource=self.read,
        )
        return behind(made, lacks=lacks)


async def owner(client, uri):
    return (await client.read_resource(uri)).contents[0].text


# --- what is whose -----------------------------------------------------------------------------------


def test_a_listing_that_fails_gives_no_resource_to_another_server():
    good, evil = Listing("good", ["x://a"]), Listing("evil")

    async def main(client):
        await client.list_resources()
        good.uris, evil.uris = None, ["x://a"]
        listed = [each.uri for each in (await client.list_resources()).resources]
        during = await owner(client, "x://a")
        good.uris = ["x://a"]
        await client.list_resources()
        after = await owner(client, "x://a")
        good.uris = []
        await client.list_resources()
        return listed, during, after, await owner(client, "x://a")

    servers = {"good": good.source(), "evil": evil.source()}
    assert through(main, servers) == ([], "good", "good", "evil")


def test_a_server_before_another_takes_none_of_its_resources():
    first, second = Listing("first"), Listing("second", ["x://a"])

    async def main(client):
        await client.list_resources()
        first.uris = ["x://a"]
        await client.list_resources()
        return await owner(client, "x://a")

    assert through(main, {"first": first.source(), "second": second.source()}) == "second"


def test_a_template_takes_no_resource_that_another_server_lists():
    wide, good = Listing("wide", templates=["{+any}"]), Listing("good", ["x://a"])

    async def main(client):
        await client.list_resource_templates()
        return await owner(client, "x://a"), await owner(client, "x://b")

    assert through(main, {"wide": wide.source(), "good": good.source()}) == ("good", "wide")


class Hiding(Listing):
    """A server that leaves its items out for a request through a gateway that it knows."""

    async def resources(self, ctx, params):
        is_back = "known" in (ctx.meta or {}).get(PATH, ())
        return types.ListResourcesResult(resources=[]) if is_back else await super().resources(ctx, params)


PATH = "operator-schema/gatewayPath"


@pytest.mark.parametrize("lacks", [OLD, NEW], ids=["old", "new"])
def test_a_client_that_claims_to_be_a_gateway_changes_nothing_for_others(lacks):
    evil, good = Listing("evil", templates=["{+any}"]), Hiding("good", ["x://a", "x://b"])

    async def main(client):
        await client.list_resource_templates()
        before = await owner(client, "x://a")
        evil.uris = ["x://b"]
        left = await client.list_resources(meta={PATH: ["known"]})
        return before, [each.uri for each in left.resources], [await owner(client, f"x://{a}") for a in "ab"]

    found = through(main, {"evil": evil.source(lacks), "good": good.source(lacks)})
    assert found == ("good", [], ["good", "good"])


LISTS = st.none() | st.frozensets(st.sampled_from("abc"))


@settings(max_examples=settings().max_examples // 3, deadline=None)
@given(st.lists(st.tuples(LISTS, LISTS), min_size=1, max_size=4))
def test_a_resource_changes_hands_only_when_its_server_lists_without_it(steps):
    one, two = Listing("one"), Listing("two")

    async def main(client):
        owners = {}
        for own, others in steps:
            lists = {"one": own, "two": others}
            one.uris, two.uris = (
                None if uris is None else [f"x://{uri}" for uri in uris] for uris in (own, others)
            )
            await client.list_resources()
            for uri in "abc":
                known = owners.get(uri)
                if known is not None and lists[known] is not None and uri not in lists[known]:
                    known = None
                if known is None:
                    known = next((name for name, uris in lists.items() if uris and uri in uris), None)
                owners[uri] = known
                if known is not None:
                    assert await owner(client, f"x://{uri}") == known

    through(main, {"one": one.source(), "two": two.source()})


# --- what is wrong is said where it belongs -------------------------------------------------------------


def test_why_a_server_cannot_be_reached_is_in_the_log_alone(caplog):
    opened = []

    def source():
        opened.append(1)
        if len(opened) > 1:
            message = "https://example.com/?key=hush"
            raise OSError(message)
        return behind(server([], resources={"x://a": "a"}), lacks=OLD)()

    async def main():
        async with (
            Gateway({"a": source}) as gateway,
            Client(gateway.server(), mode="legacy", cache=None) as client,
        ):
            gateway.links[0].home.close()
            with pytest.raises(MCPError) as caught:
                await client.read_resource("x://a")
            return caught.value.error.message

    assert anyio.run(main).startswith("the server a can't be reached: try again later")
    assert "hush" in caplog.text


@pytest.mark.parametrize("given", [{"only": "add"}, {"confirm": "add"}])
def test_a_text_is_no_list_of_names(given):
    with pytest.raises(TypeError, match=r"not string \"add\": write (only|confirm)=\['add'\]"):
        ServerBehind("https://example.com/mcp", **given)


def named(*names):
    def made(name):
        def run() -> str:
            """Run."""
            return name

        run.__name__ = name
        return tool(run)

    return [made(name) for name in names]


@pytest.mark.parametrize("given", [{"only": ["delet"]}, {"confirm": ["delet"]}])
def test_a_name_that_no_tool_has_is_refused(given):
    async def main():
        chosen = ServerBehind(behind(server(named("delete", "read"))), **given)
        async with Gateway({"shop": chosen}):
            pass

    (key,) = given
    said = f'delet: the server "shop", whose {key} names it, has no such tool; did you mean "delete"'
    with pytest.raises(ToolError, match=said):
        anyio.run(main)


def test_a_name_is_refused_if_a_server_has_no_tools_at_all():
    async def main():
        async with Gateway({"x": ServerBehind(Listing("x").source(), confirm=["delete"])}):
            pass

    with pytest.raises(
        ToolError, match='the server "x", whose confirm names it, has no such tool; it has none'
    ):
        anyio.run(main)


# --- changes of the tools --------------------------------------------------------------------------------


async def until(is_so):
    with anyio.fail_after(LONGEST_WAIT):
        while not is_so():  # noqa: ASYNC110  # nothing says that it is so
            await anyio.sleep(0.002)


def test_a_flood_of_changes_is_one_listing_at_a_time():
    running, most, sessions = [], [], []

    async def list_tools(ctx, _params):
        sessions.append(ctx.session)
        running.append(1)
        most.append(len(running))
        if len(most) > 1:
            await release.wait()
        running.pop()
        return types.ListToolsResult(tools=[types.Tool(name="t", input_schema={"type": "object"})])

    async def main():
        nonlocal release
        release = anyio.Event()
        async with Gateway({"a": behind(Server("x", on_list_tools=list_tools), lacks=OLD)}):
            for _ in range(200):
                await sessions[0].send_notification(types.ToolListChangedNotification())
                await anyio.lowlevel.checkpoint()
            await until(lambda: len(most) > 1)
            release.set()
            await until(lambda: not running and len(most) > 2)

    release = None
    anyio.run(main)
    assert max(most) == 1
    assert len(most) < 20


def test_of_tools_that_change_only_the_one_that_collides_is_left_out(caplog):
    first, second = Registry(named("one", "two")), Registry(named("c"))

    async def main():
        async with Gateway({"a": behind(server(first)), "a_b": behind(server(second))}) as gateway:
            tools = gateway._tools[gateway.links[0]][0]
            first.unregister("two")
            first.register(named("b_c", "new"))
            await tools.refresh(gateway.registry)
            collided = sorted(each.name for each in gateway.registry)
            second.unregister("c")
            await until(lambda: "a_b_c" not in gateway.registry or "a_b_c" in tools.originals)
            await tools.refresh(gateway.registry)
            return collided, sorted(each.name for each in gateway.registry)

    collided, after = anyio.run(main)
    assert collided == ["a_b_c", "a_new", "a_one"]
    assert after == ["a_b_c", "a_new", "a_one"]
    assert "a_b_c" in caplog.text
    assert "left out" in caplog.text


# --- resources that clients watch ------------------------------------------------------------------------


def watchable(begin):
    listing = Listing("x", ["x://a"])
    made = Server("x", on_list_resources=listing.resources, on_read_resource=listing.read)
    made.add_request_handler("resources/subscribe", types.SubscribeRequestParams, begin)
    return behind(made, lacks=OLD)


async def subscribe(client):
    params = types.SubscribeRequestParams(uri="x://a")
    try:
        await client.session.send_request(types.SubscribeRequest(params=params), types.EmptyResult)
    except MCPError as error:
        return error.error.message
    return "subscribed"


@pytest.mark.parametrize(("fails", "said"), [(2, ["no", "no"]), (1, ["no", "subscribed"])])
def test_a_watch_that_fails_counts_for_nobody_who_waits_for_it(monkeypatch, fails, said):
    monkeypatch.setattr(behind_module, "_MOST_OWN", 0)  # so that they share a connection
    begun = []

    async def begin(_ctx, _params):
        begun.append(1)
        number = len(begun)
        await anyio.sleep(0.05)
        if number <= fails:
            raise MCPError(-32603, "no")
        return types.EmptyResult()

    async def main():
        found = []

        async def watch(client):
            found.append(await subscribe(client))

        async with Gateway({"a": watchable(begin)}) as gateway:
            app = gateway.server()
            async with Client(app, mode="legacy") as ann, Client(app, mode="legacy") as bob:
                async with anyio.create_task_group() as group:
                    group.start_soon(watch, ann)
                    group.start_soon(watch, bob)
                watched = len(gateway.watched)
            await until(lambda: not len(gateway.watched))
            return sorted(found), watched

    assert anyio.run(main) == (said, said.count("subscribed"))


@pytest.mark.parametrize(("most", "times"), [(0, 1), (16, 2)])
def test_by_each_connection_a_server_is_asked_once_for_all_clients_that_watch_the_same(
    monkeypatch, most, times
):
    monkeypatch.setattr(behind_module, "_MOST_OWN", most)
    begun = []

    async def begin(_ctx, _params):
        begun.append(1)
        return types.EmptyResult()

    async def main(*clients):
        return [await subscribe(client) for client in clients]

    assert through(main, {"a": watchable(begin)}, clients=2) == ["subscribed", "subscribed"]
    assert len(begun) == times


@asynccontextmanager
async def one_client(begin):
    """Return a gateway in front of a server with a resource, and its only client."""
    async with (
        Gateway({"a": watchable(begin)}) as gateway,
        Client(gateway.server(), mode="legacy", cache=None) as client,
    ):
        yield gateway, client


def test_a_watch_that_fails_on_the_next_connection_is_tried_again_when_its_client_asks_for_it(caplog):
    begun = []

    async def begin(_ctx, _params):
        begun.append(1)
        if len(begun) == 2:
            raise MCPError(-32603, "busy")
        return types.EmptyResult()

    async def main():
        async with one_client(begin) as (gateway, client):
            found = [await subscribe(client)]
            home = gateway.links[0].home
            home.close()
            await home.wait_for_end()
            await client.list_resources()
            await until(lambda: "x://a can't be watched again: busy" in caplog.text)
            return [*found, await subscribe(client)]

    assert anyio.run(main) == ["subscribed", "subscribed"]
    assert len(begun) == 3


def test_a_watch_that_fails_on_the_next_connection_is_tried_again_after_a_while(caplog):
    begun = []

    async def begin(_ctx, _params):
        begun.append(1)
        if 1 < len(begun) < 4:
            raise MCPError(-32603, "busy")
        return types.EmptyResult()

    async def main():
        async with one_client(begin) as (gateway, client):
            found = [await subscribe(client)]
            gateway.links[0].home.close()
            for seconds in (1, 58, 2, 118, 3, 10_000):
                await anyio.sleep(seconds)
                found.append(len(begun))
            return found

    assert at_once(main) == ["subscribed", 2, 2, 3, 3, 4, 4]
    assert "x://a can't be watched again: busy; it is tried in 120 s" in caplog.text


# --- progress --------------------------------------------------------------------------------------------


def test_a_message_of_progress_is_cut():
    async def list_tools(_ctx, _params):
        return types.ListToolsResult(tools=[types.Tool(name="t", input_schema={"type": "object"})])

    async def call_tool(ctx, _params):
        await ctx.session.report_progress(1, 2, "x" * 100_000)
        return types.CallToolResult(content=[])

    told = []

    async def report(_done, _total, message):
        told.append(message)

    async def main(client):
        await client.call_tool("t", {}, progress_callback=report)

    through(main, behind(Server("x", on_list_tools=list_tools, on_call_tool=call_tool), lacks=OLD))
    assert [len(message) for message in told] == [1000]
