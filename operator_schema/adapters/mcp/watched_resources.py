"""How does a gateway tell clients about changes of the resources that they watch?"""

from __future__ import annotations

import logging
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import anyio
import mcp_types as types
from mcp.client.subscriptions import SubscriptionLost, listen
from mcp.shared.exceptions import MCPError

from ...message_text import escape
from .behind import Retry
from .forwarding import reason_of

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence
    from typing import TypeAlias

    from anyio.abc import TaskGroup, TaskStatus
    from mcp.server.context import ServerRequestContext

    from .behind import Link
    from .behind_connection import Connection

    Ctx: TypeAlias = ServerRequestContext[Any, Any]

_LOG = logging.getLogger("operator_schema.mcp_gateway")

MOST_WATCHED = 10_000
"""The most different resources of one server that clients may watch."""

MOST_OF_ONE = 1000
"""The most resources of one server that one client may watch."""

_SECONDS_BETWEEN_PINGS = 60.0


class ResourceWatcher:
    """A client that watches resources, or one of its requests to watch.

    Attributes:
        client: the identity of the client, as from `client_of`.
    """

    __slots__ = ("client",)

    def __init__(self, client: Hashable) -> None:
        self.client = client


class Watches:
    """The resources that clients watch; each connection subscribes only once to each resource.

    Args:
        tell: a function that tells a client that a resource may have changed.
    """

    def __init__(self, tell: Callable[[str, Hashable], object]) -> None:
        self._tell = tell
        self._known: dict[tuple[Connection, str], _Watched] = {}
        # The number of watchers of each resource of a server, and of each client at a server.
        self._uris: dict[Link | tuple[Link, Hashable], Counter[str]] = {}
        self._pinged: set[Connection] = set()

    def __len__(self) -> int:
        return len(self._known)

    def clients(self, connection: Connection, uri: str) -> set[Hashable]:
        """Return the clients to tell about a change that a connection has reported."""
        known = self._known.get((connection, uri))
        return set() if known is None else {watcher.client for watcher in known.watchers}

    async def add(
        self,
        link: Link,
        connection: Connection,
        ctx: Ctx,
        uri: str,
        watcher: ResourceWatcher,
        group: TaskGroup,
    ) -> None:
        """Follow the changes of a resource until `remove`.

        Args:
            link: the server that owns it.
            connection: the client's connection to the server.
            ctx: the context of the request to watch it.
            uri: the address of the resource.
            watcher: the watcher.
            group: the task group for the task that listens.

        Raises:
            MCPError: the server doesn't report changes, or too many resources are watched.
        """
        known = self._known.get((connection, uri))
        if known is None or watcher not in known.watchers:
            self._check_number(link, uri, watcher.client)
        if known is None:
            known = _Watched(link, connection, uri)
            self._put(known)
        self._join(known, watcher, ctx)
        try:
            async with known.lock:
                if not known.is_begun:
                    await self._begin(known, group)
        except BaseException:  # also for a cancelled request
            for each in (known, self._known.get((known.connection, uri), known)):  # it may have moved
                self._leave(each, watcher)
                self._forget(each)
            raise

    def _check_number(self, link: Link, uri: str, client: Hashable) -> None:
        """Check that another resource may be watched.

        Raises:
            MCPError: too many resources are watched.
        """
        own, of_all = self._uris.get((link, client), ()), self._uris.get(link, ())
        message = None
        if uri not in own and len(own) >= MOST_OF_ONE:
            message = f"this client watches {MOST_OF_ONE:,} resources of {link.name} already"
        elif uri not in of_all and len(of_all) >= MOST_WATCHED:
            message = f"{MOST_WATCHED:,} resources of {link.name} are watched already"
        if message is not None:
            raise MCPError(types.INTERNAL_ERROR, message)

    def _put(self, known: _Watched) -> None:
        self._known[known.connection, known.uri] = known
        self._count(known.link, known.uri, 1)

    def _drop(self, known: _Watched) -> None:
        del self._known[known.connection, known.uri]
        self._count(known.link, known.uri, -1)

    def _join(self, known: _Watched, watcher: ResourceWatcher, ctx: Ctx) -> None:
        if watcher not in known.watchers:
            self._count((known.link, watcher.client), known.uri, 1)
        known.watchers[watcher] = ctx

    def _leave(self, known: _Watched, watcher: ResourceWatcher) -> None:
        if known.watchers.pop(watcher, None) is not None:
            self._count((known.link, watcher.client), known.uri, -1)

    def _count(self, key: Link | tuple[Link, Hashable], uri: str, number: int) -> None:
        uris = self._uris.setdefault(key, Counter())
        uris[uri] += number
        if not uris[uri]:
            del uris[uri]
        if not uris:
            del self._uris[key]

    async def _begin(self, known: _Watched, group: TaskGroup) -> None:
        """Ask a server to report changes of a resource.

        Raises:
            MCPError: the server refuses.
        """

        def lost() -> None:
            if known.retry.is_due:
                known.retry = Retry()
            group.start_soon(self._again, known, [*known.watchers], group, known.retry)

        connection = known.connection
        await known.begin(group, lost)
        if not connection.is_modern and connection not in self._pinged:
            self._pinged.add(connection)
            group.start_soon(self._ping, known.link, connection)

    # --- connections that end ----------------------------------------------------------------------

    def move(self, before: Connection, made: Connection, group: TaskGroup) -> None:
        """Move watches from a connection to the one that replaces it."""
        for known in self._by(before):
            self._drop(known)
            watchers = dict(known.watchers)
            known.connection, known.is_begun = made, False
            there = self._known.get((made, known.uri), known)
            if there is known:
                self._put(known)
            for watcher, ctx in watchers.items():
                if there is not known:
                    self._leave(known, watcher)
                    self._join(there, watcher, ctx)
                if not made.is_modern:
                    made.note_client(ctx)
            # This includes watches that exist there already: the server may be about to refuse them.
            group.start_soon(self._again, there, [*watchers], group, Retry())

    def _by(self, connection: Connection) -> list[_Watched]:
        return [known for known in self._known.values() if known.connection is connection]

    async def _again(
        self, known: _Watched, told: Sequence[ResourceWatcher], group: TaskGroup, retry: Retry
    ) -> None:
        """Ask a server again to report changes, and tell watchers that they may have missed one."""
        connection = known.connection
        while known.watchers and known.connection is connection and connection.is_open:
            await anyio.sleep_until(retry.at)
            wait = retry.note_failure()
            try:
                async with known.lock:
                    if known.watchers and not known.is_begun and connection.is_open:
                        await self._begin(known, group)
            except Exception as error:  # noqa: BLE001  # whatever a server does, the others go on
                name, uri = known.link.name, escape(known.uri)
                reason = reason_of(error)
                _LOG.warning(
                    "%s: %s can't be watched again: %s; it is tried in %g s", name, uri, reason, wait
                )
            if known.is_begun:
                for client in {watcher.client for watcher in told if watcher in known.watchers}:
                    self._tell(known.uri, client)
                return

    def lost(self, link: Link, connection: Connection, group: TaskGroup) -> None:
        """Reopen a connection on which clients watch resources: they may send no request that would do so."""
        watched = self._by(connection)
        if watched and not link.was_ended(connection):
            retry = watched[0].retry_to_open
            if retry.is_due:
                retry = Retry()
            for known in watched:
                known.retry_to_open = retry
            group.start_soon(self._open_again, link, connection, retry)

    async def _open_again(self, link: Link, connection: Connection, retry: Retry) -> None:
        while self._contexts(connection):
            await anyio.sleep_until(retry.at)
            for ctx in self._contexts(connection)[:1]:
                _LOG.warning(
                    "%s: a connection by which resources are watched has ended: it is opened again", link.name
                )
                wait = retry.note_failure()  # else one that always ends is reopened without end
                try:
                    await link.connection(ctx)  # in the same way as the client's next request
                except Exception as error:  # noqa: BLE001  # whatever a server does, the others go on
                    _LOG.info("%s: %s", link.name, reason_of(error))
                retry.at = anyio.current_time() + wait  # when a refused connection may be tried again
                if link.clients.has_gone(ctx):  # during that time
                    link.client_has_gone(ctx)

    def _contexts(self, connection: Connection) -> list[Ctx]:
        """Return the requests of the clients that watch resources on a connection."""
        return [ctx for known in self._by(connection) for ctx in known.watchers.values()]

    async def _ping(self, link: Link, connection: Connection) -> None:
        """Ask a server whether it still knows a connection: over HTTP, one that forgot it stays silent."""
        while connection.is_open and self._contexts(connection):
            await anyio.sleep(_SECONDS_BETWEEN_PINGS)
            if connection.is_open:
                with suppress(MCPError):
                    await link.send(
                        connection,
                        None,
                        lambda session: session.send_request(types.PingRequest(), types.EmptyResult),
                    )
        self._pinged.discard(connection)

    # --- the end of a watch ------------------------------------------------------------------------

    def remove(self, watcher: ResourceWatcher, uri: str | None, group: TaskGroup) -> None:
        """Stop watching one resource or all resources of a watcher; a task of the group tells the servers."""
        for known in self._known.values():
            if watcher in known.watchers and uri in (None, known.uri):
                self._leave(known, watcher)
                group.start_soon(self._end, known)

    async def _end(self, known: _Watched) -> None:
        async with known.lock:
            if not known.watchers and known.is_begun:
                await known.end()
        self._forget(known)

    def _forget(self, known: _Watched) -> None:
        """Delete a resource that nobody watches and that the server isn't asked about."""
        key = known.connection, known.uri
        if not known.watchers and not known.is_begun and self._known.get(key) is known:
            self._drop(known)


class _Watched:
    """A resource of a server that clients watch.

    Attributes:
        link: the server.
        connection: the connection on which the server reports changes.
        uri: the address of the resource.
        watchers: the watchers, with their requests to watch.
        lock: held while the server is asked to begin or to end.
        is_begun: whether the server has agreed to report changes.
        retry: when to ask again after the server stopped its reports on an open connection.
        retry_to_open: when to reopen the connection after it has ended.
    """

    __slots__ = (
        "_scope",
        "connection",
        "is_begun",
        "link",
        "lock",
        "retry",
        "retry_to_open",
        "uri",
        "watchers",
    )

    def __init__(self, link: Link, connection: Connection, uri: str) -> None:
        self.link, self.connection, self.uri = link, connection, uri
        self.watchers: dict[ResourceWatcher, Ctx] = {}
        self.lock = anyio.Lock()
        self.is_begun = False
        self.retry, self.retry_to_open = Retry(), Retry()
        self._scope = anyio.CancelScope()

    async def begin(self, group: TaskGroup, lost: Callable[[], object]) -> None:
        """Ask the server to report changes.

        Args:
            group: the task group for the task that listens.
            lost: a function that is called if the server stops its reports on an open connection.

        Raises:
            MCPError: the server refuses.
        """
        link, connection, uri = self.link, self.connection, self.uri
        if connection.is_modern:
            self._scope.cancel()
            self._scope = anyio.CancelScope()
            try:
                await group.start(self._listen, connection, self._scope, lost)
            except (SubscriptionLost, RuntimeError, TimeoutError) as error:
                message = f"the server {link.name} doesn't report changes of resources"
                raise MCPError(types.INTERNAL_ERROR, message) from error
        else:
            request = types.SubscribeRequest(params=types.SubscribeRequestParams(uri=uri))
            await link.send(
                connection, None, lambda session: session.send_request(request, types.EmptyResult)
            )
            self.is_begun = self.connection is connection

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
        self,
        connection: Connection,
        scope: anyio.CancelScope,
        lost: Callable[[], object],
        *,
        task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
    ) -> None:
        is_started, session = False, connection.client.session
        try:
            with scope:
                async with listen(session, resource_subscriptions=[self.uri]) as changes:
                    is_started = True
                    self.is_begun = self.connection is connection
                    task_status.started()
                    async for _ in changes:  # the connection also passes on each one as a notification
                        pass
        except Exception as error:  # whatever one server does, the others must continue
            if not is_started:
                raise
            _LOG.info("changes of %s are no longer reported: %s", escape(self.uri), reason_of(error))
        if self._scope is scope and not scope.cancel_called and self.connection is connection:
            self.is_begun = False
            lost()
