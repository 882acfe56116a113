"""Which of the servers behind a gateway has a resource, a template or a prompt, and who watches which?"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import anyio
import mcp_types as types
from mcp.client.subscriptions import SubscriptionLost, listen
from mcp.shared.exceptions import MCPError
from mcp.shared.uri_template import InvalidUriTemplate, UriTemplate

from ...message_text import escape, nearest
from ..mcp_client import all_pages
from .handed_on import check_sendable, reason_of
from .resources_and_prompts import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence
    from typing import TypeAlias

    from anyio.abc import TaskGroup, TaskStatus
    from mcp import ClientSession
    from mcp.server.context import ServerRequestContext

    from .behind import Connection, Link

    Ctx: TypeAlias = ServerRequestContext[Any, Any]
    Owner: TypeAlias = tuple[Link, str]
    """A server, and what it calls the item itself."""

__all__ = ["Owners", "Watcher", "Watches"]

_LOG = logging.getLogger("operator_schema.mcp_gateway")

_LISTED = {
    "resources": ("list_resources", "resources", "uri"),
    "resource_templates": ("list_resource_templates", "resources", "uri_template"),
    "prompts": ("list_prompts", "prompts", "name"),
}
"""Kind to the method of a session, the capability that it needs, and the key of an item."""


class Owners:
    """The lists of a gateway's servers, and which server has what.

    What a server has stays its own until it lists its things without it: neither a listing that fails nor
    another server that lists the same changes that.

    Args:
        links: the servers, in their order.
        prefix: returns the prefix of a server's prompt names.
        is_alone: whether the only server keeps its names.
    """

    def __init__(self, links: Sequence[Link], prefix: Callable[[Link], str], *, is_alone: bool) -> None:
        self._links, self._prefix, self._is_alone = links, prefix, is_alone
        self._known: dict[str, dict[str, Owner]] = {kind: {} for kind in _LISTED}
        self._templates: dict[str, UriTemplate | None] = {}
        self._current: set[Link] = set()

    def resources_changed(self, link: Link) -> None:
        """Note that what is known about a server's resources may be out of date."""
        self._current.discard(link)

    async def listed(self, ctx: Ctx | None, kind: str) -> dict[str, Any]:
        """Ask all servers for their items of a kind, and remember which server has what.

        Args:
            ctx: of the request in front.
            kind: `resources`, `resource_templates` or `prompts`.

        Returns:
            What a client gets, by its key. Of two servers with the same resource, the one that had it before;
            else the first one.

        Raises:
            MCPError: the only server that has any can't list it.
        """
        having = self._having(_LISTED[kind][1])
        lists: dict[Link, list[Any]] = {}
        for link in having:
            try:
                lists[link] = await self._listed_by(ctx, link, kind)
            except MCPError as error:
                if error.code != types.METHOD_NOT_FOUND and len(having) == 1:
                    raise
                _LOG.warning("%s: its %s are left out: %s", link.name, kind, error.message)
        return self._remembered(kind, lists)

    def _having(self, capability: str) -> list[Link]:
        return [link for link in self._links if getattr(link.capabilities, capability) is not None]

    async def _listed_by(self, ctx: Ctx | None, link: Link, kind: str) -> list[Any]:
        method, _, key = _LISTED[kind]

        async def send(session: ClientSession) -> list[Any]:
            return await all_pages(lambda params: getattr(session, method)(params=params), kind, key)

        if kind == "resources":
            self._current.add(link)  # a later change takes it out again
        try:
            items = await link.request(ctx, send)
            check_sendable(items, link.name)
        except BaseException:  # a cancelled request too
            if kind == "resources":
                self._current.discard(link)
            raise
        return items

    def _remembered(self, kind: str, lists: Mapping[Link, list[Any]]) -> dict[str, Any]:
        """Return the items for a client, and remember which server has each item."""
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
            if owner[0] not in named or name in named[owner[0]]
        }
        found: dict[str, Any] = {}
        for link, items in named.items():
            for name, item in items.items():
                if owners.setdefault(name, (link, getattr(item, key)))[0] is not link:
                    _LOG.warning("%s: %s is left out: another server has it", link.name, escape(name))
                    continue
                found[name] = item.model_copy(update={"name": name}) if kind == "prompts" else item
        self._known[kind] = owners
        if kind == "resource_templates":
            self._templates = {text: _parsed(text) for text in owners}
        return found

    async def of_uri(self, ctx: Ctx, uri: str) -> Link:
        """Return the server that has a resource, or a template with this text.

        Raises:
            MCPError: none has it.
        """
        having = self._having("resources")
        if len(having) == 1:
            return having[0]
        link = self._by_uri(uri)
        # A template doesn't match what another server lists.
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
        """Return the server that has a prompt, and its name there.

        Raises:
            MCPError: none has it.
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
    """Return a template; None if it can't be read, so that it matches nothing."""
    try:
        return UriTemplate.parse(template)
    except InvalidUriTemplate:
        return None


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
