"""Which resources of the servers behind a gateway do its clients watch?"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import anyio
import mcp_types as types
from mcp.client.subscriptions import SubscriptionLost, listen
from mcp.shared.exceptions import MCPError

from ...message_text import escape
from .handed_on import reason_of

if TYPE_CHECKING:
    from anyio.abc import TaskGroup, TaskStatus
    from mcp import ClientSession

    from .behind import Link

__all__ = ["Watches"]

_LOG = logging.getLogger("operator_schema.mcp_gateway")
_MOST_WATCHED = 10_000
"""The most resources of one server that clients may watch."""


class Watches:
    """The resources that clients watch; each server is asked only once for each resource."""

    def __init__(self) -> None:
        self._known: dict[tuple[Link, str], _Watched] = {}

    def __len__(self) -> int:
        return len(self._known)

    def __contains__(self, key: tuple[Link, str]) -> bool:
        return key in self._known

    def of(self, link: Link) -> list[str]:
        """Return the resources of a server that are watched."""
        return [uri for other, uri in self._known if other is link]

    async def add(self, link: Link, uri: str, client: object, group: TaskGroup) -> None:
        """Follow changes of a resource until `remove`.

        Args:
            link: the server that has it.
            uri: of the resource.
            client: the client that watches it.
            group: runs the task that listens.

        Raises:
            MCPError: its server doesn't report changes, or too many resources are watched.
        """
        known = self._known.get((link, uri))
        if known is None:
            if len(self.of(link)) >= _MOST_WATCHED:
                message = f"{_MOST_WATCHED:,} resources of {link.name} are watched already"
                raise MCPError(types.INTERNAL_ERROR, message)
            known = self._known[link, uri] = _Watched(link, uri)
        known.clients.add(client)
        try:
            async with known.lock:
                if not known.is_begun:
                    await known.begin(group)
        except BaseException:  # a cancelled request too
            known.clients.discard(client)
            self._forget(known)
            raise

    async def again(self, link: Link, uri: str, group: TaskGroup) -> None:
        """Ask a restarted server again to report changes of a resource."""
        known = self._known.get((link, uri))
        if known is None:
            return
        try:
            async with known.lock:
                if known.is_begun:
                    await known.begin(group)
        except Exception as error:  # noqa: BLE001  # whatever a server does, the others go on
            _LOG.warning("%s: %s can't be watched again: %s", link.name, escape(uri), reason_of(error))

    def remove(self, client: object, uri: str | None, group: TaskGroup) -> None:
        """Stop watching one resource or all resources for a client; a task of the group tells the servers."""
        for known in self._known.values():
            if client in known.clients and uri in (None, known.uri):
                known.clients.discard(client)
                group.start_soon(self._end, known)

    async def _end(self, known: _Watched) -> None:
        async with known.lock:
            if not known.clients and known.is_begun:
                await known.end()
        self._forget(known)

    def _forget(self, known: _Watched) -> None:
        """Drop a resource that nobody watches and that the server wasn't asked about."""
        if not known.clients and not known.is_begun and self._known.get((known.link, known.uri)) is known:
            del self._known[known.link, known.uri]


class _Watched:
    """A resource of a server that clients watch.

    Attributes:
        link: the server.
        uri: of the resource.
        clients: the clients that watch it.
        lock: held while the server is asked to begin or to end.
        is_begun: whether the server has agreed to report changes.
    """

    __slots__ = ("_scope", "clients", "is_begun", "link", "lock", "uri")

    def __init__(self, link: Link, uri: str) -> None:
        self.link, self.uri = link, uri
        self.clients: set[object] = set()
        self.lock = anyio.Lock()
        self.is_begun = False
        self._scope = anyio.CancelScope()

    async def begin(self, group: TaskGroup) -> None:
        """Ask the server to report changes.

        Raises:
            MCPError: it refuses.
        """
        link, uri = self.link, self.uri
        connection = await link.connection(None)
        if connection.is_modern:
            self._scope.cancel()
            self._scope = anyio.CancelScope()
            try:
                await group.start(self._listen, connection.client.session)
            except (SubscriptionLost, RuntimeError, TimeoutError) as error:
                message = f"the server {link.name} doesn't report changes of resources"
                raise MCPError(types.INTERNAL_ERROR, message) from error
        else:
            request = types.SubscribeRequest(params=types.SubscribeRequestParams(uri=uri))
            await link.request(None, lambda session: session.send_request(request, types.EmptyResult))
        self.is_begun = True

    async def end(self) -> None:
        """Tell the server that nobody watches the resource any more."""
        self.is_begun = False
        self._scope.cancel()
        link = self.link
        if link.home.is_open and not link.home.is_modern:
            request = types.UnsubscribeRequest(params=types.UnsubscribeRequestParams(uri=self.uri))
            try:
                await link.request(None, lambda session: session.send_request(request, types.EmptyResult))
            except Exception as error:  # noqa: BLE001  # nobody waits for it
                _LOG.info("%s: %s", link.name, reason_of(error))

    async def _listen(
        self, session: ClientSession, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED
    ) -> None:
        is_started = False
        try:
            with self._scope:
                async with listen(session, resource_subscriptions=[self.uri]) as changes:
                    is_started = True
                    task_status.started()
                    async for _ in changes:  # the connection hands each on as a notification, too
                        pass
        except Exception as error:  # whatever a server does, the others go on
            if not is_started:
                raise
            _LOG.info("changes of %s are no longer reported: %s", escape(self.uri), reason_of(error))
