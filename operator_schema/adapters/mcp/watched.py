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
    from collections.abc import Hashable

    from anyio.abc import TaskGroup, TaskStatus
    from mcp import ClientSession

    from .behind import Connection, Link

__all__ = ["Watcher", "Watches"]

_LOG = logging.getLogger("operator_schema.mcp_gateway")
_MOST_WATCHED = 10_000
"""The most resources of one server that clients may watch."""


class Watcher:
    """A client that watches resources, or one of its requests to do so.

    Attributes:
        client: what identifies the client, as `client_of` does.
    """

    __slots__ = ("client",)

    def __init__(self, client: Hashable) -> None:
        self.client = client


class Watches:
    """The resources that clients watch; by each connection, a server is asked only once for each resource."""

    def __init__(self) -> None:
        self._known: dict[tuple[Connection, str], _Watched] = {}

    def __len__(self) -> int:
        return len(self._known)

    def clients(self, connection: Connection, uri: str) -> set[Hashable]:
        """Return the clients that are to hear what is said by a connection of a change of a resource."""
        known = self._known.get((connection, uri))
        return set() if known is None else {watcher.client for watcher in known.watchers}

    async def add(
        self, link: Link, connection: Connection, uri: str, watcher: Watcher, group: TaskGroup
    ) -> None:
        """Follow changes of a resource until `remove`.

        Args:
            link: the server that has it.
            connection: to the server, which the client uses.
            uri: of the resource.
            watcher: who watches it.
            group: runs the task that listens.

        Raises:
            MCPError: its server doesn't report changes, or too many resources are watched.
        """
        known = self._known.get((connection, uri))
        if known is None:
            if sum(each.link is link for each in self._known.values()) >= _MOST_WATCHED:
                message = f"{_MOST_WATCHED:,} resources of {link.name} are watched already"
                raise MCPError(types.INTERNAL_ERROR, message)
            known = self._known[connection, uri] = _Watched(link, connection, uri)
        known.watchers.add(watcher)
        try:
            async with known.lock:
                if not known.is_begun:
                    await known.begin(group)
        except BaseException:  # a cancelled request too
            known.watchers.discard(watcher)
            self._forget(known)
            raise

    def move(self, before: Connection, made: Connection, group: TaskGroup) -> None:
        """Ask by a connection that stands in for another one to report the same changes."""
        for known in [each for each in self._known.values() if each.connection is before]:
            del self._known[before, known.uri]
            there = self._known.setdefault((made, known.uri), known)
            if there is known:
                known.connection, known.is_begun = made, False
                group.start_soon(self._again, known, group)
            else:
                there.watchers |= known.watchers

    async def _again(self, known: _Watched, group: TaskGroup) -> None:
        try:
            async with known.lock:
                if known.watchers:
                    await known.begin(group)
        except Exception as error:  # noqa: BLE001  # whatever a server does, the others go on
            _LOG.warning(
                "%s: %s can't be watched again: %s", known.link.name, escape(known.uri), reason_of(error)
            )

    def remove(self, watcher: Watcher, uri: str | None, group: TaskGroup) -> None:
        """Stop watching one resource or all of them for a watcher; a task of the group tells the servers."""
        for known in self._known.values():
            if watcher in known.watchers and uri in (None, known.uri):
                known.watchers.discard(watcher)
                group.start_soon(self._end, known)

    async def _end(self, known: _Watched) -> None:
        async with known.lock:
            if not known.watchers and known.is_begun:
                await known.end()
        self._forget(known)

    def _forget(self, known: _Watched) -> None:
        """Drop a resource that nobody watches and that the server wasn't asked about."""
        key = known.connection, known.uri
        if not known.watchers and not known.is_begun and self._known.get(key) is known:
            del self._known[key]


class _Watched:
    """A resource of a server that clients watch.

    Attributes:
        link: the server.
        connection: to the server, by which it reports.
        uri: of the resource.
        watchers: who watches it.
        lock: held while the server is asked to begin or to end.
        is_begun: whether the server has agreed to report changes.
    """

    __slots__ = ("_scope", "connection", "is_begun", "link", "lock", "uri", "watchers")

    def __init__(self, link: Link, connection: Connection, uri: str) -> None:
        self.link, self.connection, self.uri = link, connection, uri
        self.watchers: set[Watcher] = set()
        self.lock = anyio.Lock()
        self.is_begun = False
        self._scope = anyio.CancelScope()

    async def begin(self, group: TaskGroup) -> None:
        """Ask the server to report changes.

        Raises:
            MCPError: it refuses.
        """
        link, connection, uri = self.link, self.connection, self.uri
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
            await link.send(
                connection, None, lambda session: session.send_request(request, types.EmptyResult)
            )
        self.is_begun = True

    async def end(self) -> None:
        """Tell the server that nobody watches the resource any more."""
        self.is_begun = False
        self._scope.cancel()
        link, connection = self.link, self.connection
        if connection.is_open and not connection.is_modern:
            request = types.UnsubscribeRequest(params=types.UnsubscribeRequestParams(uri=self.uri))
            try:
                await link.send(
                    connection, None, lambda session: session.send_request(request, types.EmptyResult)
                )
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
