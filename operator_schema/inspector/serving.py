"""How is the page served, on this machine alone?"""

from __future__ import annotations

import asyncio
import secrets
from typing import TYPE_CHECKING

import uvicorn

from ..adapters.http_requests import listen
from .app import app_of
from .guard import Guard

if TYPE_CHECKING:
    from collections.abc import Callable

    from .subject import Inspector

__all__ = ["serve_inspector"]

_HOST = "127.0.0.1"
_MOST_CONNECTIONS = 100
_GRACE = 2


async def serve_inspector(inspector: Inspector, port: int, announce: Callable[[str], object]) -> None:
    """Serve the page on this machine alone, until the caller is cancelled or a signal asks for the end.

    Args:
        inspector: what the page works on.
        port: to listen on; 0 for any that is free.
        announce: gets the address, with its token, when the page can be opened.

    Raises:
        OSError: it can't listen there.
    """
    with listen(_HOST, port, _MOST_CONNECTIONS) as listening:
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
