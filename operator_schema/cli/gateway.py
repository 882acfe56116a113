"""Which MCP servers does `serve --gateway` stand in front of, and how are their tools kept up to date?"""

from __future__ import annotations

import asyncio
import json
import os
import re
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

from ..errors import DuplicateToolError
from ..immutable import Value
from ..json_values import is_array, is_object
from ..message_text import clip, escape, quote, received
from .arguments import read_text
from .modules import WrongUse

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Mapping

    from ..adapters.mcp_client import ServerTools
    from ..rounds import Registry
    from .output import Output

__all__ = ["Behind", "open_servers", "servers_in"]

_MOST_SERVERS = 100
_SECONDS_TO_CONNECT = 30.0
_SECONDS_TO_READ = 300.0
_SECONDS_TO_END = 10.0
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
async def open_servers(servers: list[Behind], err: Output) -> AsyncGenerator[Registry]:
    """Connect to servers, and keep a registry of their tools while the context lasts.

    A server that can't be reached, or goes, is named on standard error; the others go on.

    Yields:
        The registry. Names of tools begin with the name of their server and `_`.

    Raises:
        WrongUse: none can be reached.
    """
    from ..rounds import Registry

    registry = Registry()
    connections = [_Connection(one, registry, err) for one in servers]
    tasks = [asyncio.create_task(one.run()) for one in connections]
    try:
        reached = [await one.ready for one in connections]
        err.flush()
        if not any(reached):
            message = "none of the servers behind the gateway can be reached"
            raise WrongUse(message)
        yield registry
    finally:
        for one in connections:
            one.end.set()
        _, late = await asyncio.wait(tasks, timeout=_SECONDS_TO_END)
        for task in late:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


class _Connection:
    """The connection to one server, in a task of its own: its failures end no other one.

    Attributes:
        ready: whether it was reached, as soon as that is known.
        end: set when it is to end.
    """

    def __init__(self, server: Behind, registry: Registry, err: Output) -> None:
        self._server, self._registry, self._err = server, registry, err
        self._tools: list[ServerTools] = []
        self._changed = asyncio.Event()
        self.ready: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self.end = asyncio.Event()

    async def run(self) -> None:
        """Connect, and follow the changes of the server until the end."""
        try:
            await self._run()
        except asyncio.CancelledError:
            raise
        except Exception as error:  # noqa: BLE001  # whatever a server does, the others go on
            self._tell("failed" if self.ready.done() else "can't be reached", error)
        finally:
            if not self.ready.done():
                self.ready.set_result(False)
            for tool in [tool for tools in self._tools for tool in tools]:
                with suppress(Exception):  # somebody else took it away
                    self._registry.unregister(tool.name)

    async def _run(self) -> None:
        async with asyncio.timeout(_SECONDS_TO_CONNECT) as limit, self._client() as client:
            for choice, options in self._parts():
                tools = await _tools(client, self._server.prefix, choice, options)
                self._registry.register(tools)
                self._tools.append(tools)
            limit.reschedule(None)
            self.ready.set_result(True)
            listening = asyncio.create_task(self._listen(client))
            ending = asyncio.create_task(self.end.wait())
            try:
                while not ending.done():
                    changing = asyncio.create_task(self._changed.wait())
                    await asyncio.wait([changing, ending], return_when=asyncio.FIRST_COMPLETED)
                    changing.cancel()
                    if self._changed.is_set():
                        self._changed.clear()
                        await self._refresh()
            finally:
                for task in (listening, ending):
                    task.cancel()

    def _parts(self) -> list[tuple[Callable[[str], bool], dict[str, Any]]]:
        """Return which tools are taken over, and how: those about which a person is asked, and the others."""
        only, confirm = self._server.only, self._server.confirm

        def is_asked(name: str) -> bool:
            return confirm if isinstance(confirm, bool) else name in confirm

        def is_wanted(name: str) -> bool:
            return only is None or name in only

        return [
            (lambda name: is_wanted(name) and not is_asked(name), {}),
            (lambda name: is_wanted(name) and is_asked(name), {"confirm": True}),
        ]

    @asynccontextmanager
    async def _client(self) -> AsyncGenerator[Any]:
        import httpx2
        from mcp import Client, StdioServerParameters
        from mcp.client.streamable_http import streamable_http_client

        server = self._server
        if server.start is not None:
            async with Client(StdioServerParameters(**server.start), message_handler=self._heard) as client:
                yield client
            return
        # It may keep the stream of an answer open for long.
        waits = httpx2.Timeout(_SECONDS_TO_CONNECT, read=_SECONDS_TO_READ)
        async with httpx2.AsyncClient(headers=dict(server.headers), timeout=waits) as http:
            transport = streamable_http_client(server.url or "", http_client=http)
            async with Client(transport, message_handler=self._heard) as client:
                yield client

    async def _heard(self, message: object) -> None:
        from mcp.types import ToolListChangedNotification

        if isinstance(message, ToolListChangedNotification):
            self._changed.set()

    async def _listen(self, client: Any) -> None:
        """Hear of changes from a server of 2026-07-28 on."""
        with suppress(Exception):  # of an earlier one, messages tell
            async with client.listen(tools_list_changed=True) as events:
                async for _ in events:
                    self._changed.set()

    async def _refresh(self) -> None:
        for tools in self._tools:
            try:
                await tools.refresh(self._registry)
            except DuplicateToolError as error:
                self._tell("has a tool whose name is taken", error)

    def _tell(self, what: str, error: BaseException) -> None:
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        reason = str(error) or type(error).__name__
        name = quote(self._server.name)
        self._err.report("", f"the server {name} {what}: {clip(escape(reason), _MOST_SHOWN)}")
        self._err.flush()


async def _tools(
    client: Any, prefix: str, choice: Callable[[str], bool], options: dict[str, Any]
) -> ServerTools:
    from ..adapters.mcp_client import tools_from

    return await tools_from(client, prefix=prefix, only=choice, **options)
