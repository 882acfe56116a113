"""How does `serve --gateway` connect to the servers of its file, and report the ones that it can't reach?"""

from __future__ import annotations

import json
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from shlex import split
from shutil import which
from typing import TYPE_CHECKING

from ...errors import ToolError
from ...message_text import clip, escape, quote
from .hidden_values import hidden_in_logs, shown_error
from .module_loading import WrongUse

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable
    from ssl import SSLContext

    from ...adapters.mcp.gateway import Gateway
    from ...adapters.mcp_connection import Source
    from .gateway_config import GatewayServer
    from .output import Printer

_MOST_SHOWN = 300


@asynccontextmanager
async def open_servers(servers: list[GatewayServer], err: Printer, file: str = "") -> AsyncGenerator[Gateway]:
    """Connect to servers while the context lasts.

    If a server can't be reached, or doesn't list its tools, standard error names it; the others continue.

    Args:
        servers: the servers of the file.
        err: standard error.
        file: the absolute path of the file; empty for none.

    Yields:
        The gateway, whose registry has the tools. Their names begin with the name of their server and `_`.

    Raises:
        WrongUse: no server can be reached, one lacks a tool that the file names, or a gateway with the same
            file has started this process.
    """
    from ...adapters.mcp.gateway import Gateway, ServerBehind
    from ...adapters.mcp_connection import certificates

    _check_not_below_itself(file)
    by_prefix = {one.prefix.removesuffix("_"): one for one in servers}

    def unreachable(name: str, error: ConnectionError) -> None:
        server = by_prefix[name]
        said = str(error).removeprefix(f"the server {name} can't be reached: ")
        reason = f"{shown_error(said, servers)}{shown_error(_hint(server), servers)}"
        err.report("", f"the server {quote(server.name)} can't be reached: {reason}")
        err.flush()

    trusted = certificates()
    behind = {
        name: ServerBehind(_source_of(one, file, trusted), one.only, one.confirm, one.seconds)
        for name, one in by_prefix.items()
    }
    with hidden_in_logs(servers):
        gateway = Gateway(behind, unreachable=unreachable)
        try:
            await gateway.__aenter__()
        except (ConnectionError, ToolError) as error:
            raise WrongUse(shown_error(str(error), servers)) from None
        try:
            yield gateway
        finally:
            await gateway.__aexit__()


def _hint(server: GatewayServer) -> str:
    """Return the right way to write a command that contains its arguments; empty for any other command."""
    words = server.written.split()
    if len(words) < 2 or server.start is None or server.start["args"]:  # noqa: PLR2004  # several
        return ""
    command = server.start["command"]
    if which(command) or Path(command).exists():
        return ""
    with suppress(ValueError):  # a missing closing quote
        words = split(server.written)
    first, rest = (json.dumps(part, ensure_ascii=False) for part in (words[0], words[1:]))
    return f'; "command" must be the program alone: write "command": {first}, "args": {rest}'


def _check_not_below_itself(file: str) -> None:
    from ...adapters.mcp import gateways_above

    above = gateways_above()
    if not file or file not in above:
        return
    way = " → ".join([escape(one or "a program") for one in [*above[above.index(file) :], file]])
    remedy = "Remove the server from it that is a gateway of this file"
    message = f"{escape(file)} starts itself endlessly: {clip(way, _MOST_SHOWN)}. {remedy}"
    raise WrongUse(message)


def _source_of(server: GatewayServer, file: str, trusted: Callable[[], SSLContext]) -> Source:
    """Return the server in the form for a gateway; `file` is the file of the gateway."""
    from mcp import StdioServerParameters

    from ...adapters.mcp import started_below
    from ...adapters.mcp_connection import over_http

    if server.start is not None:
        return started_below(StdioServerParameters(**server.start), file)
    return partial(over_http, server.url or "", trusted, dict(server.headers))
