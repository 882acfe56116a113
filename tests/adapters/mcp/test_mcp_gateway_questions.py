"""A server before 2026-07-28 behind a gateway may ask always: its question waits until its own call ends."""

from __future__ import annotations

import logging
from typing import Any

import anyio
import anyio.lowlevel
import mcp_types as types
import pytest
from gateway_cases import FORM, OLD, Ctx, behind
from hypothesis import given
from hypothesis import strategies as st
from mcp import Client
from mcp.server.lowlevel import Server

from operator_schema import Executor, tool
from operator_schema.adapters.mcp import server
from operator_schema.adapters.mcp.gateway import Gateway
from operator_schema.rounds import ToolSearch

KINDS = ["elicit", "sample", "roots"]
FRONTS = {
    "all": lambda gateway: gateway.server(),
    "search": lambda gateway: gateway.server(ToolSearch(gateway.registry)),
    "executor": lambda gateway: gateway.server(Executor(gateway.registry, timeout=600)),
}


class Play:
    """Calls of one client that wait: some for the answer to a question, some for nothing of the client."""

    def __init__(self):
        self.reached, self.may_ask, self.asked, self.go_on = {}, {}, {}, {}

    def tools(self):
        @tool
        async def ask(number: int, kind: str, ctx: Ctx) -> str:
            """Ask the client."""
            self.of(self.reached, number).set()
            await self.of(self.may_ask, number).wait()
            return await asked_of(ctx.session, kind, number)

        @tool
        async def wait(number: int) -> str:
            """Wait."""
            self.of(self.reached, number).set()
            await self.of(self.go_on, number).wait()
            return f"waited {number}"

        return [ask, wait]

    def of(self, events, number):
        return events.setdefault(number, anyio.Event())

    async def answered(self, number):
        """Return what the client answers to a question, when it may."""
        self.of(self.asked, number).set()
        await self.of(self.go_on, number).wait()
        return f"answer {number}"

    def callbacks(self):
        order = iter(range(1000))

        async def elicit(_context, params):
            said = await self.answered(int(params.message.split()[-1]))
            return types.ElicitResult(action="accept", content={"name": said})

        async def sample(_context, params):
            said = await self.answered(int(params.messages[0].content.text))
            text = types.TextContent(type="text", text=said)
            return types.CreateMessageResult(role="assistant", content=text, model="m")

        async def roots(_context):  # which have no place for a number
            number = self.asking_for_roots[next(order)]
            return types.ListRootsResult(roots=[types.Root(uri=f"file:///{await self.answered(number)}")])

        return {"elicitation_callback": elicit, "sampling_callback": sample, "list_roots_callback": roots}

    async def play(self, client, calls, moves):
        """Begin calls, each when the one before has begun; ask and end by moves; return their results."""
        self.asking_for_roots = [one for one in dict.fromkeys(moves) if calls[one] == "roots"]
        results, over = {}, {number: anyio.Event() for number in moves}

        async def call(number, kind):
            name, more = ("wait", {}) if kind == "wait" else ("ask", {"kind": kind})
            found = await client.call_tool(name, {"number": number, **more})
            results[number] = found.content[0].text
            for event in (over[number], self.of(self.reached, number), self.of(self.asked, number)):
                event.set()  # whatever happens, nobody waits

        async with anyio.create_task_group() as group:
            for number, kind in enumerate(calls):
                group.start_soon(call, number, kind)
                await self.of(self.reached, number).wait()
            for number in moves:
                if calls[number] == "wait" or self.of(self.may_ask, number).is_set():
                    self.of(self.go_on, number).set()
                    await over[number].wait()
                else:
                    self.of(self.may_ask, number).set()
                    await self.of(self.asked, number).wait()
        return results


async def asked_of(session: Any, kind: str, number: int) -> str:
    if kind == "elicit":
        return (await session.elicit_form(f"Who? {number}", FORM)).content["name"]
    if kind == "sample":
        text = types.TextContent(type="text", text=str(number))
        messages = [types.SamplingMessage(role="user", content=text)]
        params = types.CreateMessageRequestParams(messages=messages, max_tokens=5)
        request = types.CreateMessageRequest(params=params)
        return (await session.send_request(request, types.CreateMessageResult)).content.text
    return (await roots_of(session))[0].removeprefix("file:///").replace("%20", " ")


async def roots_of(session):
    found = await session.send_request(types.ListRootsRequest(), types.ListRootsResult)
    return [str(root.uri) for root in found.roots]


def played(calls, moves, front):
    async def main():
        play = Play()
        options = {"mode": "legacy", "cache": None, **play.callbacks()}
        async with (
            Gateway(behind(server(play.tools()), lacks=OLD)) as gateway,
            Client(FRONTS[front](gateway), **options) as client,
        ):
            return await play.play(client, calls, moves)

    return anyio.run(main)


@given(
    calls=st.lists(st.sampled_from([*KINDS, "wait"]), min_size=1, max_size=8),
    front=st.sampled_from(list(FRONTS)),
    data=st.data(),
)
def test_whichever_of_many_calls_ends_first_each_question_gets_the_answer_to_it(calls, front, data):
    each = [number for number, kind in enumerate(calls) for _ in range(1 if kind == "wait" else 2)]
    moves = data.draw(st.permutations(each))
    expected = {
        number: f"waited {number}" if kind == "wait" else f"answer {number}"
        for number, kind in enumerate(calls)
    }
    assert played(calls, moves, front) == expected


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("front", FRONTS)
def test_a_question_stays_when_a_later_call_ends(kind, front):
    assert played([kind, "wait"], [0, 1, 0], front) == {0: "answer 0", 1: "waited 1"}


def test_a_question_ends_with_the_last_of_the_calls_that_it_may_belong_to():
    play, ended = Play(), anyio.Event()

    async def elicit(_context, _params):
        play.of(play.asked, 0).set()
        try:
            await anyio.sleep_forever()
        finally:
            ended.set()

    async def main():
        options = {"mode": "legacy", "cache": None, "elicitation_callback": elicit}
        async with (
            Gateway(behind(server(play.tools()), lacks=OLD)) as gateway,
            Client(gateway.server(), **options) as client,
            anyio.create_task_group() as group,
        ):
            group.start_soon(client.call_tool, "wait", {"number": 1})
            await play.of(play.reached, 1).wait()
            async with anyio.create_task_group() as own:
                own.start_soon(client.call_tool, "ask", {"number": 0, "kind": "elicit"})
                play.of(play.may_ask, 0).set()
                await play.of(play.asked, 0).wait()
                own.cancel_scope.cancel()
            assert not ended.is_set()
            play.of(play.go_on, 1).set()
            await ended.wait()

    anyio.run(main)


# --- before the first client, and without one -----------------------------------------------------


class Asking:
    """A server that asks for roots, or something else, as soon as it has a client, or roots change."""

    def __init__(self, kind="roots"):
        self.kind, self.answers, self.has_asked = kind, [], anyio.Event()

    async def ask(self, ctx, _params=None):
        try:
            if self.kind == "roots":
                self.answers.append(await roots_of(ctx.session))
            else:
                self.answers.append(await asked_of(ctx.session, self.kind, 0))
        except Exception as error:  # noqa: BLE001  # what it reads
            self.answers.append(str(error))
        self.has_asked.set()

    def source(self):
        async def listed(_ctx, _params):
            return types.ListToolsResult(tools=[types.Tool(name="look", input_schema={"type": "object"})])

        async def called(_ctx, _params):
            return types.CallToolResult(content=[])

        made = Server("asking", on_list_tools=listed, on_call_tool=called)
        for method in ("notifications/initialized", "notifications/roots/list_changed"):
            made.add_notification_handler(method, types.NotificationParams, self.ask)
        return behind(made, lacks=OLD)

    async def told(self):
        """Wait until it has an answer, and forget that."""
        await self.has_asked.wait()
        self.has_asked = anyio.Event()


async def home(_context):
    return types.ListRootsResult(roots=[types.Root(uri="file:///home")])


def test_roots_are_none_before_the_first_client_and_the_server_is_told_when_it_comes(caplog):
    caplog.set_level(logging.INFO, "operator_schema.mcp_gateway")

    async def main():
        asking = Asking()
        async with Gateway({"files": asking.source()}) as gateway:
            await asking.told()
            async with Client(gateway.server(), mode="legacy", list_roots_callback=home):
                await asking.told()
        return asking.answers

    assert anyio.run(main) == [[], ["file:///home"]]
    lines = [one for one in caplog.records if "files" in one.getMessage()]
    assert [(one.levelno, one.getMessage()) for one in lines] == [
        (
            logging.INFO,
            "files: it asks for roots before any client has used its connection: it gets none yet",
        )
    ]


NONE = "the gateway's client can't be asked: it has no roots"


@pytest.mark.parametrize(
    ("callbacks", "last"), [({}, NONE), ({"list_roots_callback": home}, ["file:///home"])]
)
def test_each_further_client_is_asked_for_its_own_roots(callbacks, last):
    async def main():
        asking = Asking()
        async with Gateway(asking.source()) as gateway:
            app = gateway.server()
            await asking.told()
            async with Client(app, mode="legacy", list_roots_callback=home) as first:
                await asking.told()
                await first.call_tool("look", {})
                async with Client(app, mode="legacy", **callbacks) as second:
                    await second.call_tool("look", {})
                    await asking.told()
        return asking.answers

    assert anyio.run(main) == [[], ["file:///home"], last]


@pytest.mark.parametrize("kind", ["elicit", "sample"])
def test_a_question_before_the_first_client_is_refused_with_the_reason(kind, caplog):
    caplog.set_level(logging.INFO, "operator_schema.mcp_gateway")

    async def main():
        asking = Asking(kind)
        async with Gateway({"files": asking.source()}):
            await asking.told()
        return asking.answers

    assert anyio.run(main) == ["this can't be asked: no client has used the connection yet"]
    assert "files: a question isn't asked: no client has used its connection yet" in caplog.text
    assert "several" not in caplog.text
