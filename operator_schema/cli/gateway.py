"""Which MCP servers does `serve --gateway` stand in front of, and how are they reached?"""

from __future__ import annotations

import json
import os
import re
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from ..errors import DuplicateToolError, ToolError
from ..immutable import Value
from ..json_values import is_array, is_object
from ..message_text import clip, escape, quote, received
from .arguments import read_text
from .modules import WrongUse

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

    from ..adapters.mcp.gateway import Gateway
    from ..adapters.mcp_connection import Source
    from .output import Output

__all__ = ["Behind", "open_servers", "servers_in"]

_MOST_SERVERS = 100
_SECONDS_TO_CONNECT = 30.0
_SECONDS_TO_READ = 300.0
_MOST_SHOWN = 300
_EXAMPLE = '{"mcpServers": {"time": {"command": "uvx", "args": ["mcp-server-time"]}}}'
_VARIABLE = re.compile(r"\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)\}")


class Behind(Value):
    """A server that the gateway stands in front of.

    Attributes:
        name: in the file.
        start: command, arguments, environment variables beside the usual ones, and working directory, as
            `StdioServerParameters` takes them; None for a server behind a URL.
        url: None for a server that is started.
        headers: of requests to the URL.
        only: names of its tools that are offered; None for all.
        confirm: whether a person has to agree to calls: of all tools, or of those with these names.
    """

    name: str
    start: Mapping[str, Any] | None
    url: str | None
    headers: Mapping[str, str]
    only: tuple[str, ...] | None
    confirm: bool | tuple[str, ...]

    @property
    def prefix(self) -> str:
        """What the names of its tools begin with."""
        return f"{re.sub(r'[^A-Za-z0-9_-]', '_', self.name)}_"


# --- the file --------------------------------------------------------------------------------------


def servers_in(file: str) -> list[Behind]:
    """Return the servers that a file names, in the form in which MCP clients keep them.

    It is JSON with `mcpServers` (or `servers`, as VS Code calls them): name to `command`, `args`, `env` and
    `cwd`, or to `url` and `headers`. `${NAME}` stands for a variable of the environment. Our own are `only`,
    a list of names, and `confirm`: true, or such a list.

    Raises:
        WrongUse: it can't be read, or an entry has no command and no URL, or something else than it should.
    """
    try:
        found = json.loads(read_text(file))
    except (ValueError, RecursionError) as error:
        message = f"{escape(file)} isn't JSON: {clip(escape(str(error)), _MOST_SHOWN)}"
        raise WrongUse(message) from None
    given = found if is_object(found) else {}
    servers = given.get("mcpServers", given.get("servers"))
    if not is_object(servers) or not servers:
        message = f"{escape(file)} names no servers: it is JSON such as {_EXAMPLE}"
        raise WrongUse(message)
    if len(servers) > _MOST_SERVERS:
        message = f"{escape(file)} names {len(servers)} servers; a gateway takes {_MOST_SERVERS}"
        raise WrongUse(message)
    made = [_Entry(file, name, entry).server() for name, entry in servers.items()]
    behind = [one for one in made if one is not None]
    by_prefix: dict[str, str] = {}
    for one in behind:
        other = by_prefix.setdefault(one.prefix, one.name)
        if other != one.name:
            both = f"{quote(other)} and {quote(one.name)}"
            message = f"{escape(file)}: the tools of {both} would begin with the same {one.prefix}"
            raise WrongUse(message)
    if not behind:
        message = f"all servers of {escape(file)} are disabled"
        raise WrongUse(message)
    return behind


class _Entry:
    """One entry of the file."""

    def __init__(self, file: str, name: str, entry: Any) -> None:
        self._place = f"{escape(file)}: the server {quote(name)}"
        self._name = name
        if not is_object(entry):
            what = f"is an object, not {received(entry)}"
            raise self._wrong(what)
        self._entry: Mapping[str, Any] = entry

    def server(self) -> Behind | None:
        """Return the server; None if it is disabled.

        Raises:
            WrongUse: something is wrong with it.
        """
        entry = self._entry
        if entry.get("disabled") is True:
            return None
        command, url = self._text("command"), self._text("url")
        if (command is None) == (url is None):
            what = 'has a "command" that starts it, or a "url"'
            raise self._wrong(what)
        if entry.get("type") == "sse":
            what = "speaks SSE, which has been replaced: give the URL of its streamable HTTP"
            raise self._wrong(what)
        start = None
        if command is not None:
            start = {
                "command": command,
                "args": [self._filled(one) for one in self._texts("args") or ()],
                "env": self._named("env"),
                "cwd": self._text("cwd"),
            }
        confirm = entry.get("confirm", False)
        asked = confirm if isinstance(confirm, bool) else (self._texts("confirm") or ())
        return Behind(self._name, start, url, self._named("headers"), self._texts("only"), asked)

    def _wrong(self, what: str) -> WrongUse:
        return WrongUse(f"{self._place} {what}")

    def _text(self, key: str) -> str | None:
        value = self._entry.get(key)
        if value is None:
            return None
        if not isinstance(value, str) or not value:
            what = f"has {key} as a text, not {received(value)}"
            raise self._wrong(what)
        return self._filled(value)

    def _texts(self, key: str) -> tuple[str, ...] | None:
        value = self._entry.get(key)
        if value is None:
            return None
        if not is_array(value) or not all(isinstance(one, str) for one in value):
            what = f"has {key} as a list of texts"
            raise self._wrong(what)
        return tuple(value)

    def _named(self, key: str) -> dict[str, str]:
        value = self._entry.get(key, {})
        if not is_object(value) or not all(isinstance(one, str) for one in value.values()):
            what = f"has {key} as an object of texts"
            raise self._wrong(what)
        return {name: self._filled(one) for name, one in value.items()}

    def _filled(self, text: str) -> str:
        def variable(found: re.Match[str]) -> str:
            value = os.environ.get(found[1])
            if value is None:
                what = f"needs the variable {found[1]}, which isn't set"
                raise self._wrong(what)
            return value

        return _VARIABLE.sub(variable, text)


# --- the servers -----------------------------------------------------------------------------------


@asynccontextmanager
async def open_servers(servers: list[Behind], err: Output) -> AsyncGenerator[Gateway]:
    """Connect to servers as long as the context lasts.

    One that can't be reached is named on standard error; the others go on.

    Yields:
        The gateway, whose registry has the tools. Their names begin with the name of their server and `_`.

    Raises:
        WrongUse: none can be reached, or tools of two get the same name.
    """
    from mcp import MCPError

    from ..adapters.mcp.gateway import Gateway, ServerBehind

    by_prefix = {one.prefix.removesuffix("_"): one for one in servers}

    def unreachable(name: str, error: ConnectionError) -> None:
        reason = clip(escape(str(error)), _MOST_SHOWN)
        err.report("", f"the server {quote(by_prefix[name].name)} can't be reached: {reason}")
        err.flush()

    behind = {name: ServerBehind(_source_of(one), one.only, one.confirm) for name, one in by_prefix.items()}
    gateway = Gateway(behind, unreachable=unreachable)
    try:
        await gateway.__aenter__()
    except (ConnectionError, ToolError, MCPError, DuplicateToolError) as error:
        message = clip(escape(str(error)), _MOST_SHOWN)
        raise WrongUse(message) from None
    try:
        yield gateway
    finally:
        await gateway.__aexit__()


def _source_of(server: Behind) -> Source:
    """Return how a server is reached, as a gateway takes it."""
    from mcp import StdioServerParameters

    if server.start is not None:
        return StdioServerParameters(**server.start)
    return partial(_over_http, server.url or "", dict(server.headers))


@asynccontextmanager
async def _over_http(url: str, headers: dict[str, str]) -> AsyncGenerator[Any]:
    import httpx2
    from mcp.client.streamable_http import streamable_http_client

    waits = httpx2.Timeout(_SECONDS_TO_CONNECT, read=_SECONDS_TO_READ)  # an answer may be a stream
    client = httpx2.AsyncClient(headers=headers, timeout=waits)
    async with client as http, streamable_http_client(url, http_client=http) as streams:
        yield streams
