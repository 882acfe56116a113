"""A gateway: one server with the tools, resources, prompts, changes and questions of other servers."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from contextlib import AsyncExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Any

import anyio
import mcp_types as types
from mcp.client.subscriptions import listen
from mcp.server.lowlevel.server import NotificationOptions
from mcp.server.subscriptions import PromptsListChanged, ResourcesListChanged, ResourceUpdated
from mcp.shared.exceptions import MCPError

from ...errors import ToolError
from ...rounds import Registry
from ...tools import check_options_for_all
from ..mcp_client import ServerTools
from ..mcp_judging import Listing
from .behind import Link
from .behind_tools import BehindTools, current_request, tools_of
from .forwarding import GatewayClients, forward_questions, not_listed, reason_of, sendable
from .gateway_chain import check_depth, is_circle, path_in, with_path, without_path
from .generations import PerClient, client_of, connected_client
from .resource_owners import Owners
from .resources_and_prompts import page_of
from .server_behind import ServerBehind, check_function, check_seconds, servers_behind
from .tool_server import handlers, server_of
from .watched_resources import ResourceWatcher, Watches

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Generator, Hashable
    from typing import Self, TypeAlias, Unpack

    from anyio.abc import TaskGroup
    from mcp import ClientSession
    from mcp.server.context import ServerRequestContext

    from ...tools import ToolOptions
    from ..base import Tools
    from ..mcp_connection import Source
    from .behind_connection import Connection
    from .tool_server import Handlers, ToolServer

    Ctx: TypeAlias = ServerRequestContext[Any, Any]

__all__ = ["Gateway", "ServerBehind"]

_LOG = logging.getLogger("operator_schema.mcp_gateway")
_MOST_VALUES = 100
_WAIT_SECONDS, _LONGEST_WAIT = 1.0, 60.0
_OTHER_TASK = (
    "a gateway must be closed by the task that opened it, because its connections belong to that task; they "
    "end now. Write `async with Gateway(…)` in one function, and let it wait until nobody needs the gateway"
)
_SECONDS_UNTOLD = 5.0
"""The number of seconds after which the log says that the gateway waits for servers."""


class Gateway:
    """Combine several servers into one that offers everything they offer, and checks arguments of tools.

    `async with Gateway(servers) as gateway:` connects to them, and `gateway.server()` makes the server.

    Args:
        servers: a mapping from names to servers: tools and prompts get the name of their server and `_` as a
            prefix. Or a single server, whose tools and prompts keep their names. A server is a URL, the words
            of a command that starts one, `StdioServerParameters`, a function that makes a transport of the
            SDK, or a `ServerBehind`, which also chooses the offered tools.
        unreachable: a function that is called with the name of a server and the reason, if the server can't
            be reached at the start, or doesn't list its tools; the others continue. With None, the first such
            server is an error.
        seconds: the time limit for a server to connect, and to answer any request except a call of a tool,
            for which the executor has the limit; None for no limit. A `ServerBehind` may have another limit.
        options: options for all tools, as for `tools_from`: `repair=True` corrects arguments.

    Attributes:
        registry: the tools of all servers; it follows their changes.
        links: the links to the servers, with their connections.
        clients: the connected clients.
        owners: the owner of each resource and prompt.
        watched: the resources that clients watch.

    Raises:
        SchemaError: the value of an option has the wrong type.
        TypeError: a server or an argument has the wrong type, or there is no such option.
        ValueError: there are no servers, one can't be used, or `seconds` isn't above 0.
    """

    def __init__(
        self,
        servers: Mapping[str, Source | ServerBehind] | Source | ServerBehind,
        /,
        *,
        unreachable: Callable[[str, ConnectionError], object] | None = None,
        seconds: float | None = 60,
        **options: Unpack[ToolOptions],
    ) -> None:
        check_options_for_all("Gateway", options)
        check_seconds(seconds, "None for no limit")
        check_function(unreachable)
        self.registry: Registry = Registry()
        self._servers = servers_behind(servers)
        self._is_alone = not isinstance(servers, Mapping)
        self._seconds, self._options, self._unreachable = seconds, options, unreachable
        self.clients = GatewayClients(self._client_has_gone)
        self._watchers: PerClient[ResourceWatcher] = PerClient(ResourceWatcher)
        self._stack = AsyncExitStack()
        self._group: TaskGroup
        self.links: list[Link] = []
        self._tools: dict[Link, list[ServerTools]] = {}
        self._paths: dict[Link, dict[str, tuple[str, ...]]] = {}  # the gateways that its tools come through
        self._is_stale: dict[Link, bool] = {}  # whether the tools changed while they were listed
        self._handlers: list[Handlers] = []
        self.owners = Owners(self.links, self._prefix, is_alone=self._is_alone)
        self.watched = Watches(self._tell_updated)

    async def __aenter__(self) -> Self:
        """Connect to the servers, and list their tools.

        Raises:
            ConnectionError: a server can't be reached, or doesn't list its tools; or too many gateways are
                chained.
            ToolError: a `ServerBehind` names a tool that its server doesn't have.
        """
        check_depth()
        self._opened_in = anyio.get_current_task().id
        try:
            self._group = await self._stack.enter_async_context(anyio.create_task_group())
            await self._begin()
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close all connections.

        Raises:
            RuntimeError: another task has opened the gateway. The connections still end.
        """
        self._group.cancel_scope.cancel()
        if anyio.get_current_task().id != self._opened_in:
            raise RuntimeError(_OTHER_TASK)
        await self._stack.aclose()

    async def _begin(self) -> None:
        """Connect to all servers and list their tools concurrently; offer the tools in the order of servers.

        Raises:
            ConnectionError: a server can't be reached or doesn't list its tools, or there is no server left.
            ToolError: a `ServerBehind` names a tool that its server doesn't have.
        """
        links = [self._link(name) for name in self._servers]
        begun: dict[Link, Listing | Exception] = {}

        async def begin(link: Link) -> None:
            try:
                with self._warn_if_slow(link):
                    await link.open()
                    begun[link] = await self._listed(link)
            except Exception as error:  # noqa: BLE001  # whatever a server does, the others go on
                begun[link] = error
                if self._unreachable is None or isinstance(error, ToolError):
                    group.cancel_scope.cancel()  # the gateway ends, so the others needn't be waited for

        async with anyio.create_task_group() as group:
            for link in links:
                group.start_soon(begin, link)
        for link in [link for link in links if link in begun]:
            found = begun[link]
            if isinstance(found, Exception):
                self._leave_out(link, found)
            else:
                self._offer(link, found)
        if not self.links:
            message = "none of the servers behind the gateway can be reached"
            raise ConnectionError(message)

    async def _listed(self, link: Link) -> Listing:
        """Return the tools of a server, and remember whether they change before they are offered."""
        listing = Listing([], {}, [])
        if link.capabilities.tools is not None:
            self._is_stale[link] = False
            listing = await tools_of(link)
        self._servers[link.name].check_tools(link.name, listing.names())
        return listing

    def _leave_out(self, link: Link, error: Exception) -> None:
        """Close a server at the start, and report why it is left out.

        Raises:
            ConnectionError: `unreachable` is None.
            ToolError: this is the error of the server.
        """
        self._is_stale.pop(link, None)
        link.home.close()
        if isinstance(error, ToolError):
            raise error
        reason = error if isinstance(error, ConnectionError) else not_listed(link.name, error)
        if self._unreachable is None:
            raise reason
        self._unreachable(link.name, reason)

    @contextmanager
    def _warn_if_slow(self, link: Link) -> Generator[None]:
        """Log that the gateway waits for a server, if that takes long."""
        scope = anyio.CancelScope()

        async def tell() -> None:
            with scope:
                await anyio.sleep(_SECONDS_UNTOLD)
                _LOG.warning("%s: the server hasn't answered yet; the gateway waits for it", link.name)

        self._group.start_soon(tell)
        try:
            yield
        finally:
            scope.cancel()

    def _link(self, name: str) -> Link:
        behind = self._servers[name]
        return Link(
            name,
            behind.source,
            self.clients,
            self._group,
            self._heard,
            self._reopened,
            lambda link, connection: self.watched.lost(link, connection, self._group),
            self._seconds if behind.seconds is None else behind.seconds,
            says_name=len(self._servers) > 1,
        )

    def _offer(self, link: Link, listing: Listing) -> None:
        """Offer the tools of a server, and follow its changes."""
        self.links.append(link)
        if link.capabilities.tools is not None:
            self._tools[link] = self._tools_behind(link)
            self._take(link, listing)
            if self._is_stale.pop(link):
                self._refresh_soon(link)
        if link.home.is_modern:
            self._group.start_soon(self._listen, link)

    def _tools_behind(self, link: Link) -> list[ServerTools]:
        prefix, own = self._prefix(link), self._options
        return [
            ServerTools(BehindTools(link, prefix, chosen, {**own, **options}, self._owner_of))
            for chosen, options in self._servers[link.name].choices()
        ]

    def _take(self, link: Link, listing: Listing) -> None:
        self._paths[link] = {tool.name: path for tool in listing.tools if (path := path_in(tool.meta))}
        plain = listing._replace(tools=[without_path(tool) for tool in listing.tools])
        for tools in self._tools[link]:
            tools.take(plain, self.registry)

    def path_of(self, name: str) -> tuple[str, ...]:
        """Return the ids of the gateways that a tool comes through: this one, and those behind it."""
        there = [
            path
            for link, found in self._tools.items()
            for tools in found
            if name in tools.originals and (path := self._paths[link].get(tools.originals[name]))
        ]
        return (self.clients.id, *(there[0] if there else ()))

    def _owner_of(self, name: str) -> str | None:
        """Return the name of the server that a tool belongs to; None if there is no such tool."""
        there = [
            link.name for link, found in self._tools.items() for tools in found if name in tools.originals
        ]
        return there[0] if there else None

    def _prefix(self, link: Link) -> str:
        return "" if self._is_alone else f"{link.name}_"

    def server(self, tools: Tools | None = None, /, **options: Any) -> ToolServer:
        """Make the server for clients, which can run while the gateway is open.

        Args:
            tools: the offered tools, if not all tools of the servers: some of them, a `ToolSearch` of them,
                or an executor that has them.
            options: options, as for `server`, such as `name`, `confirm` and `page_size`; the handlers of
                resources, prompts and completion are always those of the gateway.

        Raises:
            DuplicateToolError: two tools have the same name.
            RuntimeError: the gateway hasn't been opened.
            TypeError: an argument has a wrong type.
            ValueError: an argument is out of range.
        """
        own_options = {key: options.pop(key) for key in _OF_HANDLERS if key in options}
        own = handlers(self.registry if tools is None else tools, **own_options)
        return self.front(own, options.pop("name", "operator-schema"), **options)

    def front(self, own: Handlers, name: str, **native: Any) -> ToolServer:
        """Make the server for clients, with the tools of handlers and everything else of the servers.

        Args:
            own: the handlers of the gateway's tools.
            name: the name of the server.
            native: options of `mcp.server.lowlevel.Server`.

        Raises:
            RuntimeError: the gateway hasn't been opened, so the tools of the servers aren't known.
        """
        if not self.links:
            message = "the gateway isn't open yet: write async with gateway, and call gateway.server() inside"
            raise RuntimeError(message)
        self._handlers.append(own)
        front = _GatewayHandlers(self, own)
        made = server_of(own, name, may_change=True, **{**front.handlers(), **native})
        made.announced = front.announced()
        made.add_notification_handler(
            "notifications/initialized", types.NotificationParams, front.initialized
        )
        for method, kind, handler in front.of_old():
            made.add_request_handler(method, kind, handler)
        return made

    # --- notifications of the servers ---------------------------------------------------------------

    def _heard(self, link: Link, connection: Connection, message: types.ServerNotification) -> None:
        """Tell clients about changes of a server; ignore changes of resources that nobody watches."""
        match message:
            case types.ToolListChangedNotification():
                self._refresh_soon(link)
            case types.PromptListChangedNotification():
                self._tell(PromptsListChanged())
            case types.ResourceListChangedNotification():
                self.owners.resources_changed(link)
                self._tell(ResourcesListChanged())
            case types.ResourceUpdatedNotification(params=params):
                for client in self.watched.clients(connection, str(params.uri)):
                    self._tell_updated(str(params.uri), client)
            case _:
                pass

    def _reopened(self, link: Link, before: Connection, made: Connection) -> None:
        """Repeat on a new connection all subscriptions of the previous one."""
        if made is link.home:
            self._refresh_soon(link)
            self.owners.resources_changed(link)
        self.watched.move(before, made, self._group)

    def _client_has_gone(self, ctx: Ctx) -> None:
        """Clean up after a client before version 2026-07-28 whose connection has ended."""
        self.unwatch(self._watchers.of(ctx))
        for link in self.links:
            link.client_has_gone(ctx)

    def prepare_soon(self, ctx: Ctx) -> None:
        """Open the connections that a new client needs, before its first request if there is time."""

        async def prepare() -> None:
            for link in self.links:
                with suppress(MCPError):  # each request has this information
                    connection = await link.shared_connection(ctx)
                    if len(self.clients.contexts) == 1:  # so only this client can be asked
                        await connection.tell_of_roots(ctx)

        self._group.start_soon(prepare)

    def _tell(self, event: Any) -> None:
        for own in self._handlers:
            own.changes.tell(event)

    def _tell_updated(self, uri: str, client: Hashable) -> None:
        for own in self._handlers:
            own.changes.tell(ResourceUpdated(uri), client)

    def _refresh_soon(self, link: Link) -> None:
        if link in self._is_stale:
            self._is_stale[link] = True
        elif link in self._tools:
            self._is_stale[link] = True
            self._group.start_soon(self._refresh, link)

    async def _refresh(self, link: Link) -> None:
        while self._is_stale[link]:
            self._is_stale[link] = False
            try:
                await link.connection(None)  # opening a connection marks the tools as changed, too
                self._is_stale[link] = False  # tools that change from now on are listed again
                self._take(link, await tools_of(link))
            except Exception as error:  # noqa: BLE001  # what a server lists may be anything
                _LOG.warning("%s: its tools can't be listed again: %s", link.name, reason_of(error))
            if not link.home.is_open:  # the next connection lists them
                break
        del self._is_stale[link]

    async def _listen(self, link: Link) -> None:
        """Listen to changes of a server from version 2026-07-28 on, while the gateway is open."""
        wait = _WAIT_SECONDS
        while True:
            try:
                connection = await link.connection(None)
                if not connection.is_modern:
                    return
                session = connection.client.session
                async with listen(
                    session, tools_list_changed=True, prompts_list_changed=True, resources_list_changed=True
                ) as changes:
                    self._refresh_soon(link)  # nobody was told about earlier changes
                    async for _ in changes:  # the connection also passes on each one as a notification
                        wait = _WAIT_SECONDS
            except MCPError as error:
                if error.code == types.METHOD_NOT_FOUND:
                    return
                _LOG.info("%s: the gateway can't listen for its changes: %s", link.name, error.message)
            except Exception as error:  # noqa: BLE001  # whatever a server does, the others go on
                _LOG.info("%s: the gateway can't listen for its changes: %s", link.name, reason_of(error))
            await anyio.sleep(wait)
            wait = min(2 * wait, _LONGEST_WAIT)

    # --- resources that clients watch --------------------------------------------------------------

    def watcher(self, ctx: Ctx) -> ResourceWatcher:
        """Return the watcher of a client before version 2026-07-28, the same one while it is connected."""
        return self._watchers.of(ctx)

    async def watch(self, ctx: Ctx, uri: str, watcher: ResourceWatcher) -> None:
        """Watch a resource until `unwatch`, on the connection of the client that asks for it.

        Raises:
            MCPError: no server has the resource, its server reports no changes, or too many are watched.
        """
        link = await self.owners.of_uri(ctx, uri)
        connection = await link.connection(ctx)
        if not connection.is_modern:  # otherwise it only answers requests
            connection.note_client(ctx)
        self.clients.meet(ctx)
        await self.watched.add(link, connection, ctx, uri, watcher, self._group)

    def unwatch(self, watcher: ResourceWatcher, uri: str | None = None) -> None:
        """Stop watching one resource, or all of them."""
        self.watched.remove(watcher, uri, self._group)


class _GatewayHandlers:
    """The handlers of the gateway's server for clients.

    Args:
        gateway: the gateway with the servers.
        own: the handlers of the tools.
    """

    def __init__(self, gateway: Gateway, own: Handlers) -> None:
        self._gateway, self._own, self._page_size = gateway, own, own.page_size
        self.clients = gateway.clients
        self.links, self._said = gateway.links, [link.capabilities for link in gateway.links]
        self.owners = gateway.owners

    def handlers(self) -> dict[str, Any]:
        """Return handlers for the features of all servers behind the gateway, by option names of `Server`."""
        said = self._said
        found: dict[str, Any] = {
            "on_list_tools": self.list_tools,
            "on_call_tool": self.call_tool,
            "on_subscriptions_listen": self.listen,
        }
        if any(one.resources for one in said):
            found["on_list_resources"] = self.list_resources
            found["on_list_resource_templates"] = self.list_resource_templates
            found["on_read_resource"] = self.read_resource
        if any(one.prompts for one in said):
            found["on_list_prompts"] = self.list_prompts
            found["on_get_prompt"] = self.get_prompt
        if any(one.completions for one in said):
            found["on_completion"] = self.complete
        return found

    def of_old(self) -> list[tuple[str, type[Any], Any]]:
        """Return the handlers of requests before 2026-07-28: method, class of the parameters, handler."""
        found: list[tuple[str, type[Any], Any]] = []
        if any(one.resources and one.resources.subscribe for one in self._said):
            found.append(("resources/subscribe", types.SubscribeRequestParams, self.subscribe))
            found.append(("resources/unsubscribe", types.UnsubscribeRequestParams, self.unsubscribe))
        # A server from version 2026-07-28 on may log without announcing it.
        if any(one.logging for one in self._said) or any(link.home.is_modern for link in self.links):
            found.append(("logging/setLevel", types.SetLevelRequestParams, self.set_level))
        return found

    def announced(self) -> NotificationOptions:
        """Return the kinds of changes that are announced to clients before version 2026-07-28."""
        return NotificationOptions(
            prompts_changed=any(one.prompts and one.prompts.list_changed for one in self._said),
            resources_changed=any(one.resources and one.resources.list_changed for one in self._said),
            tools_changed=True,
        )

    async def initialized(self, ctx: Ctx, params: types.NotificationParams | None = None) -> None:
        """Tell a client before 2026-07-28 about changes while it is connected."""
        client = connected_client(ctx)
        if client is None or id(client) in self.clients.contexts:
            return
        self.clients.contexts[id(client)] = ctx
        try:
            self._gateway.prepare_soon(ctx)
            await self._own.initialized(ctx, params)
        finally:
            self.clients.contexts.pop(id(client), None)

    async def list_tools(
        self, ctx: Ctx, params: types.PaginatedRequestParams | None = None
    ) -> types.ListToolsResult:
        """List the tools of all servers; for another gateway, leave out tools that come from it."""
        listed, through = await self._own.list_tools(ctx, params), path_in(ctx.meta)
        if not through:
            return listed
        paths = {tool.name: self._gateway.path_of(tool.name) for tool in listed.tools}
        left = [
            tool.model_copy(update={"meta": with_path(tool.meta, paths[tool.name])})
            for tool in listed.tools
            if not is_circle(through, paths[tool.name])
        ]
        return listed.model_copy(update={"tools": left})

    async def call_tool(self, ctx: Ctx, params: types.CallToolRequestParams) -> Any:
        """Run a call, as the handler of `tools/call`."""
        token = current_request.set(ctx)
        try:
            return await self._own.call_tool(ctx, params)
        finally:
            current_request.reset(token)

    async def list_resources(
        self, ctx: Ctx, params: types.PaginatedRequestParams | None = None
    ) -> types.ListResourcesResult:
        """List the resources of all servers."""
        page, following = await self._page(ctx, "resources", params)
        return types.ListResourcesResult(resources=page, next_cursor=following)

    async def list_resource_templates(
        self, ctx: Ctx, params: types.PaginatedRequestParams | None = None
    ) -> types.ListResourceTemplatesResult:
        """List the resource templates of all servers."""
        page, following = await self._page(ctx, "resource_templates", params)
        return types.ListResourceTemplatesResult(resource_templates=page, next_cursor=following)

    async def list_prompts(
        self, ctx: Ctx, params: types.PaginatedRequestParams | None = None
    ) -> types.ListPromptsResult:
        """List the prompts of all servers."""
        page, following = await self._page(ctx, "prompts", params)
        return types.ListPromptsResult(prompts=page, next_cursor=following)

    async def _page(self, ctx: Ctx, kind: str, params: Any) -> tuple[list[Any], str | None]:
        # A request that has passed this gateway before would go in a circle.
        is_back = is_circle(path_in(ctx.meta), [self.clients.id])
        found = {} if is_back else await self.owners.listed(ctx, kind)
        return page_of(found, params, self._page_size, kind.replace("_", " "))

    async def read_resource(self, ctx: Ctx, params: types.ReadResourceRequestParams) -> Any:
        """Read a resource from the server that owns it."""
        uri = params.uri
        link = await self.owners.of_uri(ctx, uri)

        async def send(session: ClientSession, more: Mapping[str, Any]) -> Any:
            return await session.read_resource(uri, allow_input_required=True, **more)

        return await self._forwarded(ctx, link, params, send)

    async def get_prompt(self, ctx: Ctx, params: types.GetPromptRequestParams) -> Any:
        """Get a prompt from the server that owns it."""
        link, name = await self.owners.of_prompt(ctx, params.name)

        async def send(session: ClientSession, more: Mapping[str, Any]) -> Any:
            return await session.get_prompt(name, params.arguments, allow_input_required=True, **more)

        return await self._forwarded(ctx, link, params, send)

    async def _forwarded(
        self,
        ctx: Ctx,
        link: Link,
        params: Any,
        send: Callable[[ClientSession, Mapping[str, Any]], Awaitable[Any]],
    ) -> Any:
        """Forward a request to a server; return its answer, or its question."""

        async def again(answers: Any, state: str | None) -> Any:
            more = {"input_responses": answers, "request_state": state, "meta": link.clients.meta(ctx)}
            return await link.request(ctx, lambda session: send(session, more))

        first = await again(params.input_responses, params.request_state)
        return sendable(await forward_questions(first, ctx, link.with_server_name, again), link.name)

    async def complete(self, ctx: Ctx, params: types.CompleteRequestParams) -> types.CompleteResult:
        """Complete an argument with the server that owns the prompt or the template."""
        ref = params.ref
        if isinstance(ref, types.PromptReference):
            link, name = await self.owners.of_prompt(ctx, ref.name)
            ref = ref.model_copy(update={"name": name})
        else:
            link = await self.owners.of_uri(ctx, ref.uri)
        meta = link.clients.meta(ctx)
        request = types.CompleteRequest(params=params.model_copy(update={"ref": ref, "meta": meta}))
        found = await link.request(ctx, lambda session: session.send_request(request, types.CompleteResult))
        values = found.completion.values
        if len(values) > _MOST_VALUES:
            cut = found.completion.model_copy(update={"values": values[:_MOST_VALUES], "has_more": True})
            found = found.model_copy(update={"completion": cut})
        return sendable(found, link.name)

    async def subscribe(self, ctx: Ctx, params: types.SubscribeRequestParams) -> types.EmptyResult:
        """Tell a client before 2026-07-28 about changes of a resource."""
        self._own.changes.add_uri(ctx, params.uri)
        try:
            await self._gateway.watch(ctx, params.uri, self._gateway.watcher(ctx))
        except BaseException:
            self._own.changes.remove_uri(ctx, params.uri)
            raise
        return types.EmptyResult()

    async def unsubscribe(self, ctx: Ctx, params: types.UnsubscribeRequestParams) -> types.EmptyResult:
        """Stop telling a client before 2026-07-28 about changes of a resource."""
        if self._own.changes.remove_uri(ctx, params.uri):
            self._gateway.unwatch(self._gateway.watcher(ctx), params.uri)
        return types.EmptyResult()

    async def listen(
        self, ctx: Ctx, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        """Tell a client from 2026-07-28 on about changes, as the handler of `subscriptions/listen`."""
        watching = ResourceWatcher(client_of(ctx)[0])
        try:
            for uri in dict.fromkeys(params.notifications.resource_subscriptions or ()):
                await self._gateway.watch(ctx, uri, watching)
            return await self._own.listen(ctx, params)
        finally:
            self._gateway.unwatch(watching)

    async def set_level(self, ctx: Ctx, params: types.SetLevelRequestParams) -> types.EmptyResult:
        """Remember which log records a client wants, and ask the servers for them."""
        self.clients.levels.set(ctx, params.level)
        if self._own.log is not None:
            await self._own.log.set_level(ctx, params)
        for link in self.links:
            await link.set_level()
        return types.EmptyResult()


_OF_HANDLERS = ("context", "executor", "structured", "confirm", "page_size", "logger")
