"""The resources, templates and prompts of the servers behind a gateway, their owners, and their watchers."""

from __future__ import annotations

import logging
from collections import Counter
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
import mcp_types as types
from mcp.client.subscriptions import SubscriptionLost, listen
from mcp.shared.exceptions import MCPError
from mcp.shared.uri_template import InvalidUriTemplate, UriTemplate

from ...message_text import escape
from ...similar_names import nearest
from ..mcp_client import all_pages
from .behind import Retry
from .forwarding import check_sendable, reason_of
from .gateway_chain import path_in
from .resources_and_prompts import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence
    from typing import TypeAlias

    from anyio.abc import TaskGroup, TaskStatus
    from mcp import ClientSession
    from mcp.server.context import ServerRequestContext

    from .behind import Link
    from .behind_connection import Connection

    Ctx: TypeAlias = ServerRequestContext[Any, Any]
    Owner: TypeAlias = tuple[Link, str]
    """A server, and its own name for the item."""

_LOG = logging.getLogger("operator_schema.mcp_gateway")

_LISTED = {
    "resources": ("list_resources", "resources", "uri"),
    "resource_templates": ("list_resource_templates", "resources", "uri_template"),
    "prompts": ("list_prompts", "prompts", "name"),
}
"""For each kind: the method of a session, the required capability, and the key of an item."""


class Owners:
    """The lists of a gateway's servers, and the owner of each item.

    An item belongs to its server until that server lists its items without it: a failed listing doesn't
    change the owner, nor does another server that lists the same item.

    Args:
        links: the servers, in their order.
        prefix: a function that returns the prefix of a server's prompt names.
        is_alone: whether there is only one server, which keeps its names.
    """

    def __init__(self, links: Sequence[Link], prefix: Callable[[Link], str], *, is_alone: bool) -> None:
        self._links, self._prefix, self._is_alone = links, prefix, is_alone
        self._known: dict[str, dict[str, Owner]] = {kind: {} for kind in _LISTED}
        self._templates: dict[str, UriTemplate | None] = {}
        self._current: set[Link] = set()

    def resources_changed(self, link: Link) -> None:
        """Note that the known resources of a server may be out of date."""
        self._current.discard(link)

    async def listed(self, ctx: Ctx | None, kind: str) -> dict[str, Any]:
        """List the items of a kind from all servers; if the lists are complete, remember the owners.

        Args:
            ctx: the context of the client's request.
            kind: `resources`, `resource_templates` or `prompts`.

        Returns:
            The items for a client, by their keys. If two servers have the same resource, the previous owner
            counts, otherwise the first server.

        Raises:
            MCPError: the only server with such items can't list them.
        """
        having = self._having(_LISTED[kind][1])
        # If a request comes through other gateways, servers leave out items of these. So it proves nothing
        # about missing items, and a client may only pretend to be such a gateway.
        is_whole = not path_in(None if ctx is None else ctx.meta)
        lists: dict[Link, list[Any]] = {}
        for link in having:
            try:
                lists[link] = await self._listed_by(ctx, link, kind, is_whole=is_whole)
            except MCPError as error:
                if error.code != types.METHOD_NOT_FOUND and len(having) == 1:
                    raise
                _LOG.warning("%s: its %s are left out: %s", link.name, kind, error.message)
        return self._remembered(kind, lists, is_whole=is_whole)

    def _having(self, capability: str) -> list[Link]:
        return [link for link in self._links if getattr(link.capabilities, capability) is not None]

    async def _listed_by(self, ctx: Ctx | None, link: Link, kind: str, *, is_whole: bool) -> list[Any]:
        method, _, key = _LISTED[kind]

        async def send(session: ClientSession) -> list[Any]:
            page = partial(link.fronts.page_params, ctx)
            return await all_pages(lambda params: getattr(session, method)(params=page(params)), kind, key)

        becomes_current = kind == "resources" and is_whole
        if becomes_current:
            self._current.add(link)  # a later change removes it again
        try:
            items = await link.request(ctx, send)
            check_sendable(items, link.name)
        except BaseException:  # also for a cancelled request
            if becomes_current:
                self._current.discard(link)
            raise
        return items

    def _remembered(self, kind: str, lists: Mapping[Link, list[Any]], *, is_whole: bool) -> dict[str, Any]:
        """Return the items for a client; if the lists are complete, remember the owner of each item."""
        key = _LISTED[kind][2]
        named = {
            link: {
                (self._prefix(link) if kind == "prompts" else "") + getattr(item, key): item for item in items
            }
            for link, items in lists.items()
        }
        owners = {
            name: owner
            for name, owner in self._known[kind].items()
            if not is_whole or owner[0] not in named or name in named[owner[0]]
        }
        found: dict[str, Any] = {}
        for link, items in named.items():
            for name, item in items.items():
                if owners.setdefault(name, (link, getattr(item, key)))[0] is not link:
                    _LOG.warning("%s: %s is left out: another server has it", link.name, escape(name))
                    continue
                found[name] = item.model_copy(update={"name": name}) if kind == "prompts" else item
        if is_whole:
            self._known[kind] = owners
        if is_whole and kind == "resource_templates":
            self._templates = {text: _parsed(text) for text in owners}
        return found

    async def of_uri(self, ctx: Ctx, uri: str) -> Link:
        """Return the server that owns a resource, or a template with this text.

        Raises:
            MCPError: no server owns it.
        """
        having = self._having("resources")
        if len(having) == 1:
            return having[0]
        link = self._by_uri(uri)
        # A template doesn't match resources that another server lists.
        is_sure = uri in self._known["resources"] or self._current.issuperset(having)
        if link is None or not is_sure:
            await self.listed(ctx, "resources")
            if link is None:
                await self.listed(ctx, "resource_templates")
            link = self._by_uri(uri)
        if link is not None:
            return link
        message = f"no server has a resource {shown(uri)}; resources/list names all resources"
        raise MCPError(types.INVALID_PARAMS, message, {"uri": uri})

    def _by_uri(self, uri: str) -> Link | None:
        templates = self._known["resource_templates"]
        known = self._known["resources"].get(uri) or templates.get(uri)
        if known is not None:
            return known[0]
        for text, template in self._templates.items():
            if template is not None and template.match(uri) is not None:
                return templates[text][0]
        return None

    async def of_prompt(self, ctx: Ctx, name: str) -> Owner:
        """Return the server that owns a prompt, and the prompt's name there.

        Raises:
            MCPError: no server owns it.
        """
        having = self._having("prompts")
        if self._is_alone and having:
            return having[0], name
        prompts = self._known["prompts"]
        if name not in prompts:
            await self.listed(ctx, "prompts")
            prompts = self._known["prompts"]
        if name in prompts:
            return prompts[name]
        near = nearest(name, prompts)
        hint = f"did you mean {near}?" if near else "prompts/list names all prompts"
        message = f"no server has a prompt {shown(name)}; {hint}"
        raise MCPError(types.INVALID_PARAMS, message)


def _parsed(template: str) -> UriTemplate | None:
    """Return a parsed template; None if it can't be parsed, so that it matches nothing."""
    try:
        return UriTemplate.parse(template)
    except InvalidUriTemplate:
        return None


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
                if link.fronts.has_gone(ctx):  # during that time
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
