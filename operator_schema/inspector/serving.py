"""How is the page served on this machine, and how is a server of somebody else reached?"""

from __future__ import annotations

import asyncio
import os
import secrets
import shlex
import socket
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import uvicorn

from .app import app_of
from .guard import Guard

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

    from .subject import Inspector

__all__ = ["is_url", "serve_inspector", "server_tools"]

_HOST = "127.0.0.1"
_MOST_CONNECTIONS = 100
_GRACE = 2
_SECONDS_TO_CONNECT = 30.0


async def serve_inspector(inspector: Inspector, port: int, announce: Callable[[str], object]) -> None:
    """Serve the page on this machine alone, until the caller is cancelled or a signal asks for the end.

    Args:
        inspector: what the page works on.
        port: to listen on; 0 for any that is free.
        announce: gets the address, with its token, when the page can be opened.

    Raises:
        OSError: it can't listen there.
    """
    with _listening(port) as listening:
        own: int = listening.getsockname()[1]
        token = secrets.token_urlsafe(24)
        config = uvicorn.Config(
            Guard(app_of(inspector), own, token),
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            limit_concurrency=_MOST_CONNECTIONS,
            timeout_graceful_shutdown=_GRACE,
        )
        server = uvicorn.Server(config)
        serving = asyncio.ensure_future(server.serve(sockets=[listening]))
        announce(f"http://{_HOST}:{own}/?token={token}")
        try:
            await asyncio.shield(serving)
        finally:
            server.should_exit = True  # where the caller is cancelled, connections are closed first
            await serving


def _listening(port: int) -> socket.socket:
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if os.name == "posix":
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((_HOST, port))
        listening.listen(_MOST_CONNECTIONS)
    except BaseException:
        listening.close()
        raise
    listening.settimeout(0)
    return listening


@asynccontextmanager
async def server_tools(server: str) -> AsyncGenerator[Any]:
    """Connect to an MCP server, and return its tools as ours while the context lasts.

    Args:
        server: its URL, or the command that starts it.

    Yields:
        The list of `operator_schema.adapters.mcp_client.tools_from`.

    Raises:
        ModuleNotFoundError: the package mcp isn't installed.
        TimeoutError: it doesn't answer within 30 seconds.
        ValueError: the command can't be taken apart.
    """
    from mcp import StdioServerParameters
    from mcp.client import Client

    from ..adapters.mcp_client import tools_from

    if is_url(server):
        place: Any = server
    else:
        command, *arguments = shlex.split(server)
        place = StdioServerParameters(command=command, args=arguments)
    client = Client(place)
    async with asyncio.timeout(_SECONDS_TO_CONNECT) as limit:
        async with client:
            tools = await tools_from(client)
            limit.reschedule(None)
            yield tools


def is_url(server: str) -> bool:
    """Return whether a server is named by its URL, rather than by a command."""
    return server.lower().startswith(("http://", "https://"))
