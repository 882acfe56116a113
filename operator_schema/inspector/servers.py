"""How is an MCP server of somebody else reached?"""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Sequence

__all__ = ["is_url", "server_tools"]

_SECONDS_TO_CONNECT = 30.0


@asynccontextmanager
async def server_tools(source: str | Sequence[str]) -> AsyncGenerator[Any]:
    """Connect to an MCP server, and return its tools as ours while the context lasts.

    Args:
        source: its URL, or the words of the command that starts it.

    Yields:
        The list of `operator_schema.adapters.mcp_client.tools_from`.

    Raises:
        ModuleNotFoundError: the package mcp isn't installed.
        TimeoutError: it doesn't answer within 30 seconds.
    """
    import asyncio

    from ..adapters.mcp_client import client_of, tools_from

    client = client_of(source)
    async with asyncio.timeout(_SECONDS_TO_CONNECT) as limit:
        async with client:
            tools = await tools_from(client)
            limit.reschedule(None)
            yield tools


def is_url(server: str) -> bool:
    """Return whether a server is named by its URL, rather than by a command."""
    return server.lower().startswith(("http://", "https://"))
