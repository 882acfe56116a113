"""A client that hears when the list of tools changes."""

from __future__ import annotations

from contextlib import asynccontextmanager

import anyio
from mcp import Client
from mcp.types import ToolListChangedNotification


@asynccontextmanager
async def hearing_client(app, mode):
    """Connect a client to a server in this process.

    Args:
        app: the server.
        mode: the protocol; all but `legacy` have to ask for news.

    Yields:
        The client, and an event that is set once the list of tools has changed.
    """
    told = anyio.Event()

    async def handle(message):
        if isinstance(message, ToolListChangedNotification):
            told.set()

    async def listen(client, *, task_status):
        async with client.listen(tools_list_changed=True) as events:
            task_status.started()
            async for _ in events:
                told.set()

    async with Client(app, mode=mode, message_handler=handle) as client, anyio.create_task_group() as group:
        if mode != "legacy":
            await group.start(listen, client)
        yield client, told
        group.cancel_scope.cancel()
