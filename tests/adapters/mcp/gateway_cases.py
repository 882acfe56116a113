"""Servers behind a gateway, in this process, tools of such servers, and clients of it."""

from __future__ import annotations

import logging
from contextlib import asynccontextmanager, suppress
from typing import Annotated, Any

import anyio
import anyio.lowlevel
import mcp_types as types
import trio.testing
from mcp import Client
from mcp.server.context import ServerRequestContext
from mcp.shared.memory import create_client_server_memory_streams
from mcp.shared.message import SessionMessage

from operator_schema import skip, tool
from operator_schema.adapters.mcp.gateway import Gateway
from operator_schema.types import Progress

Ctx = Annotated[ServerRequestContext[Any, Any], skip]
LOG = logging.getLogger("gateway_tests")
LOG.setLevel(logging.DEBUG)
FORM = {"type": "object", "properties": {"name": {"type": "string"}}}


@tool
async def ask_user(ctx: Ctx) -> str:
    """Ask the user."""
    answer = await ctx.session.elicit_form("Who?", FORM, ctx.request_id)
    return f"{answer.action} {answer.content}"


@tool
async def count(progress: Annotated[Progress, skip]) -> str:
    """Report and log."""
    for number in (1, 2):
        progress(number, 2)
        await anyio.lowlevel.checkpoint()
    LOG.debug("detail")
    LOG.warning("counted")
    return "counted"


def behind(made, *, lacks=(), seen=None):
    """Return a source for `Gateway`: a server in this process.

    Args:
        made: the server.
        lacks: methods that it answers as unknown: `server/discover` for a server of the earlier generation.
        seen: a list that gets the messages to the server.
    """

    @asynccontextmanager
    async def connect():
        async with (
            create_client_server_memory_streams() as (client, ours),
            anyio.create_task_group() as group,
        ):
            group.start_soon(made.run, *ours, made.create_initialization_options())
            back, answers = anyio.create_memory_object_stream(100)

            async def hand_on():
                async with back:
                    with suppress(anyio.BrokenResourceError):  # the client has gone meanwhile
                        async for message in client[0]:
                            await back.send(message)

            group.start_soon(hand_on)
            yield answers, Writer(client[1], back, set(lacks), [] if seen is None else seen)
            group.cancel_scope.cancel()

    return connect


@asynccontextmanager
async def ending(made, method, ends, *, lacks=()):
    """Connect to a server like that of `behind`, whose program ends when it gets a request.

    Args:
        made: the server.
        method: of the request.
        ends: called for each such request: whether the program ends.
        lacks: as for `behind`.
    """
    async with behind(made, lacks=lacks)() as (read, write):
        inner = write.send

        async def send(item):
            if getattr(item.message, "method", "") == method and ends():
                await read.aclose()
                await write.back.aclose()
            else:
                await inner(item)

        write.send = send
        yield read, write


class Writer:
    """What a client writes, some of which the server never gets."""

    def __init__(self, inner, back, lacks, seen):
        self.inner, self.back, self.lacks, self.seen = inner, back, lacks, seen

    async def send(self, item):
        self.seen.append(item.message)
        if getattr(item.message, "method", None) in self.lacks:
            error = types.ErrorData(code=types.METHOD_NOT_FOUND, message="Method not found")
            answer = types.JSONRPCError(jsonrpc="2.0", id=item.message.id, error=error)
            await self.back.send(SessionMessage(answer))
        else:
            await self.inner.send(item)

    async def aclose(self):
        await self.inner.aclose()

    async def __aenter__(self):
        return self

    async def __aexit__(self, *_):
        await self.aclose()


def altered(source, alter):
    """Return a source on whose way messages are altered.

    Args:
        source: a server.
        alter: takes the method of a message, empty for an answer, and what sends it on.
    """

    @asynccontextmanager
    async def connect():
        async with source() as (read, write):
            inner = write.send

            async def send(item):
                await alter(getattr(item.message, "method", ""), lambda: inner(item))

            write.send = send
            yield read, write

    return connect


def at_once(main):
    """Run something on a clock that jumps to the next time at which something happens."""
    clock = trio.testing.MockClock(autojump_threshold=0)
    return anyio.run(main, backend="trio", backend_options={"clock": clock})


OLD = ("server/discover",)
NEW = ("initialize",)


def through(use, *servers, mode="legacy", clients=1, front=None, **options):
    """Return what a function of clients of a gateway returns.

    Args:
        use: takes the clients.
        servers: one source, or a mapping.
        mode: of the clients.
        clients: how many there are.
        front: options of the server in front.
        options: of the clients.
    """

    async def main():
        async with Gateway(*servers, seconds=30) as gateway:
            app = gateway.server(**(front or {}))
            async with connected(app, mode, clients, options) as found:
                return await use(*found)

    return anyio.run(main)


@asynccontextmanager
async def connected(app, mode, number, options):
    """Connect several clients."""
    if number < 1:
        yield []
        return
    given = {name: value() if name.endswith("_of_each") else value for name, value in options.items()}
    async with (
        Client(app, mode=mode, cache=None, **given) as client,
        connected(app, mode, number - 1, options) as others,
    ):
        yield [client, *others]
