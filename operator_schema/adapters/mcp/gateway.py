"""How are servers behind one server: their tools, resources, prompts, changes, and what they ask?"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from contextlib import AsyncExitStack, contextmanager, suppress
from math import inf
from typing import TYPE_CHECKING, Any, cast

import anyio
import mcp_types as types
from mcp.client.subscriptions import listen
from mcp.server.lowlevel.server import NotificationOptions
from mcp.server.subscriptions import PromptsListChanged, ResourcesListChanged, ResourceUpdated
from mcp.shared.exceptions import MCPError

from ...errors import ToolError
from ...message_text import quote, received
from ...rounds import Registry
from ...tools import check_options_for_all
from ..mcp_client import ServerTools, check_there
from .behind import Fronts, Link
from .behind_resources import Owners, Watches
from .behind_tools import BehindTools, ServerBehind, check_source, current_request
from .changes import PerClient
from .content import is_modern
from .handed_on import GoneError, driven, reason_of, sendable
from .nesting import check_depth
from .resources_and_prompts import page_of
from .server import handlers, server_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Generator
    from typing import Self, TypeAlias, Unpack

    from anyio.abc import TaskGroup
    from mcp import ClientSession
    from mcp.server.context import ServerRequestContext

    from ...tools import ToolOptions
    from ..base import Tools
    from ..mcp_connection import Source
    from .server import Handlers, ToolServer

    Ctx: TypeAlias = ServerRequestContext[Any, Any]

__all__ = ["Gateway", "ServerBehind"]

_LOG = logging.getLogger("operator_schema.mcp_gateway")
_ONLY = "server"
_MOST_VALUES = 100
_WAIT_SECONDS, _LONGEST_WAIT = 1.0, 60.0
_SECONDS_UNTOLD = 5.0
"""After which it is said that servers are waited for."""


class Gateway:
    """Make one server of several: a client gets their tools, with checked arguments, and all else they offer.

    `async with Gateway(servers) as gateway:` connects to them, and `gateway.server()` makes the server.

    Args:
        servers: name to a server; or one server, whose tools and prompts keep their names. Of several, the
            names of tools and prompts begin with the server's name and `_`. A server is a URL, the words of a
            command that starts one, `StdioServerParameters`, a function that makes a transport of the SDK, or
            a `ServerBehind`, which also says what of it is offered.
        unreachable: is called with the name of a server that can't be reached at the start, or doesn't list
            its tools, and the reason; the others go on. None: the first one ends it.
        seconds: that a server may take to answer anything but a call of a tool, for which the executor has
            the limit; None for no limit.
        options: for all tools, as for `tools_from`: `repair=True` corrects arguments.

    Attributes:
        registry: the tools of all servers, which changes when theirs change.

    Raises:
        SchemaError: the value of an option is of another kind.
        TypeError: a server or an argument is of another kind, or there is no such option.
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
        _check_waiting(seconds, unreachable)
        self.registry: Registry = Registry()
        self._servers = _named(servers)
        self._is_alone = not isinstance(servers, Mapping)
        self._seconds, self._options, self._unreachable = seconds, options, unreachable
        self._fronts = Fronts()
        self._stack = AsyncExitStack()
        self._group: TaskGroup
        self._links: list[Link] = []
        self._tools: dict[Link, list[ServerTools]] = {}
        self._is_stale: dict[Link, bool] = {}  # while tools are listed: whether they have changed since then
        self._handlers: list[Handlers] = []
        self._owners = Owners(self._links, self._prefix, is_alone=self._is_alone)
        self._watched = Watches()

    async def __aenter__(self) -> Self:
        """Connect to the servers, and list their tools.

        Raises:
            ConnectionError: a server can't be reached, or doesn't list its tools; or too many gateways are
                behind each other.
            ToolError: a `ServerBehind` names a tool that its server doesn't have.
        """
        check_depth()
        try:
            self._group = await self._stack.enter_async_context(anyio.create_task_group())
            await self._open_all()
            await self._offer_all()
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close all connections."""
        self._group.cancel_scope.cancel()
        await self._stack.aclose()

    async def _open_all(self) -> None:
        """Connect to all servers at the same time.

        Raises:
            ConnectionError: one can't be reached.
        """
        links = [self._link(name) for name in self._servers]
        failed: dict[Link, ConnectionError] = {}

        async def open_one(link: Link) -> None:
            try:
                with self._told_if_slow(link):
                    await link.open()
            except ConnectionError as error:
                failed[link] = error

        async with anyio.create_task_group() as group:
            for link in links:
                group.start_soon(open_one, link)
        for link in links:
            if link in failed:
                self._leave_out(link, failed[link])
            else:
                self._links.append(link)

    async def _offer_all(self) -> None:
        """List the tools of all servers; one that doesn't list them counts as one that can't be reached.

        Raises:
            ConnectionError: one doesn't list them, or there is no server left.
            ToolError: a `ServerBehind` names a tool that its server doesn't have.
        """
        for link in [*self._links]:
            try:
                with self._told_if_slow(link):
                    await self._offer(link)
            except ToolError:
                raise
            except Exception as error:  # noqa: BLE001  # what a server lists may be anything
                self._drop(link)
                self._leave_out(link, _not_listed(link.name, error))
        if not self._links:
            message = "none of the servers behind the gateway can be reached"
            raise ConnectionError(message)

    def _leave_out(self, link: Link, error: ConnectionError) -> None:
        """Say that a server can't be reached, so that the others go on.

        Raises:
            ConnectionError: nobody is to be told.
        """
        if self._unreachable is None:
            raise error
        self._unreachable(link.name, error)

    def _drop(self, link: Link) -> None:
        """Close a server at the start, and take back what it has listed so far."""
        self._links.remove(link)
        self._is_stale.pop(link, None)
        for tools in self._tools.pop(link, ()):
            for tool in tools:
                self.registry.unregister(tool.name)
        link.home.close()

    @contextmanager
    def _told_if_slow(self, link: Link) -> Generator[None]:
        """Have it logged that a server is waited for, if that takes long."""
        scope = anyio.CancelScope()

        async def tell() -> None:
            with scope:
                await anyio.sleep(_SECONDS_UNTOLD)
                _LOG.warning("%s: the server gives no answer so far; the gateway waits for it", link.name)

        self._group.start_soon(tell)
        try:
            yield
        finally:
            scope.cancel()

    def _link(self, name: str) -> Link:
        return Link(
            name,
            self._servers[name].source,
            self._fronts,
            self._group,
            self._heard,
            self._reopened,
            self._seconds,
            says_name=len(self._servers) > 1,
        )

    async def _offer(self, link: Link) -> None:
        """List the tools of a server, and follow its changes."""
        behind = self._servers[link.name]
        sources = [
            BehindTools(link, self._prefix(link), chosen, {**self._options, **options}, self._owner_of)
            for chosen, options in behind.choices()
        ]
        has_tools = link.capabilities.tools is not None
        if behind.named:
            there = await sources[0].listed() if has_tools else []
            for option, names in behind.named.items():
                whose = f"the server {quote(link.name)}, whose {option} names it,"
                check_there(names, [each.name for each in there], whose)
        if has_tools:
            self._is_stale[link] = False
            self._tools[link] = [ServerTools(source) for source in sources]
            for tools in self._tools[link]:
                await tools.refresh(self.registry)
            if self._is_stale.pop(link):
                self._refresh_soon(link)
        if link.home.is_modern:
            self._group.start_soon(self._listen, link)

    def _owner_of(self, name: str) -> str | None:
        """Return the name of the server that has a tool of some name here; None if none has."""
        there = [
            link.name for link, found in self._tools.items() for tools in found if name in tools.originals
        ]
        return there[0] if there else None

    def _prefix(self, link: Link) -> str:
        return "" if self._is_alone else f"{link.name}_"

    def server(self, tools: Tools | None = None, /, **options: Any) -> ToolServer:
        """Make the server in front, which can be run as long as the gateway is open.

        Args:
            tools: what is offered in place of all tools of the servers: some of them, a `ToolSearch` of them,
                or an executor that has them.
            options: as for `server`, such as `name`, `confirm` and `page_size`; but the handlers of
                resources, prompts and completion are the gateway's.

        Raises:
            DuplicateToolError: two tools have the same name.
            TypeError: an argument is of another kind.
            ValueError: an argument is out of range.
        """
        own_options = {key: options.pop(key) for key in _OF_HANDLERS if key in options}
        own = handlers(self.registry if tools is None else tools, **own_options)
        return self.front(own, options.pop("name", "operator-schema"), **options)

    def front(self, own: Handlers, name: str, **native: Any) -> ToolServer:
        """Make the server in front of handlers that you have: their tools, and all else of the servers.

        Args:
            own: of tools of the gateway.
            name: of the server.
            native: what `mcp.server.lowlevel.Server` takes.
        """
        self._handlers.append(own)
        front = _Front(self, own)
        made = server_of(own, name, may_change=True, **{**front.handlers(), **native})
        made.announced = front.announced()
        made.add_notification_handler(
            "notifications/initialized", types.NotificationParams, front.initialized
        )
        for method, kind, handler in front.of_old():
            made.add_request_handler(method, kind, handler)
        return made

    # --- what the servers say ----------------------------------------------------------------------

    def _heard(self, link: Link, message: types.ServerNotification) -> None:
        """Take what a server says about changes; what it says of what isn't its own is left out."""
        match message:
            case types.ToolListChangedNotification():
                self._refresh_soon(link)
            case types.PromptListChangedNotification():
                self._tell(PromptsListChanged())
            case types.ResourceListChangedNotification():
                self._owners.resources_changed(link)
                self._tell(ResourcesListChanged())
            case types.ResourceUpdatedNotification(params=params):
                if (link, str(params.uri)) in self._watched:
                    self._tell(ResourceUpdated(str(params.uri)))
            case _:
                pass

    def _reopened(self, link: Link) -> None:
        """Ask a server that was started again for what was asked of it before."""
        self._refresh_soon(link)
        self._owners.resources_changed(link)
        for uri in self._watched.of(link):
            self._group.start_soon(self._watched.again, link, uri, self._group)

    def prepare_soon(self, ctx: Ctx) -> None:
        """Have the connections ready that a new client needs, before its first request if there is time."""

        async def prepare() -> None:
            for link in self._links:
                with suppress(MCPError):  # each request says so
                    await link.shared_connection(ctx)

        self._group.start_soon(prepare)

    def _tell(self, event: Any) -> None:
        for own in self._handlers:
            own.changes.tell(event)

    def _refresh_soon(self, link: Link) -> None:
        if link in self._is_stale:
            self._is_stale[link] = True
        elif link in self._tools:
            self._is_stale[link] = True
            self._group.start_soon(self._refresh, link)

    async def _refresh(self, link: Link) -> None:
        while self._is_stale[link]:
            self._is_stale[link] = False  # what changes from now on is listed again
            try:
                for tools in self._tools[link]:
                    await tools.refresh(self.registry)
            except Exception as error:  # noqa: BLE001  # what a server lists may be anything
                _LOG.warning("%s: its tools can't be listed again: %s", link.name, reason_of(error))
        del self._is_stale[link]

    async def _listen(self, link: Link) -> None:
        """Hear of the changes of a server from 2026-07-28 on, as long as the gateway is open."""
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
                    self._refresh_soon(link)  # what changed before is told to nobody
                    async for _ in changes:  # the connection hands each on as a notification, too
                        wait = _WAIT_SECONDS
            except MCPError as error:
                if error.code == types.METHOD_NOT_FOUND:
                    return
                _LOG.info("%s: its changes can't be heard of: %s", link.name, error.message)
            except Exception as error:  # noqa: BLE001  # whatever a server does, the others go on
                _LOG.info("%s: its changes can't be heard of: %s", link.name, reason_of(error))
            await anyio.sleep(wait)
            wait = min(2 * wait, _LONGEST_WAIT)

    # --- resources that clients watch --------------------------------------------------------------

    async def watch(self, ctx: Ctx, uri: str, client: object) -> None:
        """Hear of changes of a resource until `unwatch`.

        Raises:
            MCPError: no server has it, its server tells nothing, or too many are watched.
        """
        link = await self._owners.of_uri(ctx, uri)
        link.home.note_client(ctx)
        await self._watched.add(link, uri, client, self._group)

    def unwatch(self, client: object, uri: str | None = None) -> None:
        """End what a client watches: one resource, or all of them."""
        self._watched.remove(client, uri, self._group)


class _Front:
    """The handlers of the server in front.

    Args:
        gateway: that has the servers.
        own: the handlers of the tools.
    """

    def __init__(self, gateway: Gateway, own: Handlers) -> None:
        self._gateway, self._own, self._page_size = gateway, own, own.page_size
        self._fronts = gateway._fronts  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  # its other half
        links = gateway._links  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  # as above
        self._links, self._said = links, [link.capabilities for link in links]
        self._owners = gateway._owners  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  # as above
        self._clients: PerClient[object] = PerClient(lambda _: object())

    def handlers(self) -> dict[str, Any]:
        """Return what any server has behind the gateway, by its name as an option of a `Server`."""
        said = self._said
        found: dict[str, Any] = {"on_call_tool": self.call_tool, "on_subscriptions_listen": self.listen}
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
        # A server from 2026-07-28 on may log without saying so before.
        if any(one.logging for one in self._said) or any(link.home.is_modern for link in self._links):
            found.append(("logging/setLevel", types.SetLevelRequestParams, self.set_level))
        return found

    def announced(self) -> NotificationOptions:
        """Return which changes are announced to clients before 2026-07-28."""
        return NotificationOptions(
            prompts_changed=any(one.prompts and one.prompts.list_changed for one in self._said),
            resources_changed=any(one.resources and one.resources.list_changed for one in self._said),
            tools_changed=True,
        )

    async def initialized(self, ctx: Ctx, params: types.NotificationParams | None = None) -> None:
        """Tell a client before 2026-07-28 of changes as long as its connection lasts."""
        client = ctx.session.client_params
        if client is None or is_modern(ctx.protocol_version) or id(client) in self._fronts.contexts:
            return
        self._fronts.contexts[id(client)] = ctx
        watching = self._clients.of(ctx)
        try:
            self._gateway.prepare_soon(ctx)
            await self._own.initialized(ctx, params)
        finally:
            self._fronts.contexts.pop(id(client), None)
            self._gateway.unwatch(watching)
            for link in self._links:
                link.client_has_gone(ctx)

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
        found = await self._owners.listed(ctx, kind)
        return page_of(found, params, self._page_size, kind.replace("_", " "))

    async def read_resource(self, ctx: Ctx, params: types.ReadResourceRequestParams) -> Any:
        """Read a resource of the server that has it."""
        uri = params.uri
        link = await self._owners.of_uri(ctx, uri)

        async def send(session: ClientSession, more: Mapping[str, Any]) -> Any:
            return await session.read_resource(uri, allow_input_required=True, **more)

        return await self._passed(ctx, link, params, send)

    async def get_prompt(self, ctx: Ctx, params: types.GetPromptRequestParams) -> Any:
        """Get a prompt of the server that has it."""
        link, name = await self._owners.of_prompt(ctx, params.name)

        async def send(session: ClientSession, more: Mapping[str, Any]) -> Any:
            return await session.get_prompt(name, params.arguments, allow_input_required=True, **more)

        return await self._passed(ctx, link, params, send)

    async def _passed(
        self,
        ctx: Ctx,
        link: Link,
        params: Any,
        send: Callable[[ClientSession, Mapping[str, Any]], Awaitable[Any]],
    ) -> Any:
        """Hand a request on to a server, and its answer, or its question, back."""

        async def again(answers: Any, state: str | None) -> Any:
            more = {"input_responses": answers, "request_state": state, "meta": link.meta(ctx)}
            return await link.request(ctx, lambda session: send(session, more))

        first = await again(params.input_responses, params.request_state)
        return sendable(await driven(first, ctx, link.named, again), link.name)

    async def complete(self, ctx: Ctx, params: types.CompleteRequestParams) -> types.CompleteResult:
        """Complete an argument by the server that has the prompt or the template."""
        ref = params.ref
        if isinstance(ref, types.PromptReference):
            link, name = await self._owners.of_prompt(ctx, ref.name)
            ref = ref.model_copy(update={"name": name})
        else:
            link = await self._owners.of_uri(ctx, ref.uri)
        request = types.CompleteRequest(params=params.model_copy(update={"ref": ref, "meta": link.meta(ctx)}))
        found = await link.request(ctx, lambda session: session.send_request(request, types.CompleteResult))
        values = found.completion.values
        if len(values) > _MOST_VALUES:
            cut = found.completion.model_copy(update={"values": values[:_MOST_VALUES], "has_more": True})
            found = found.model_copy(update={"completion": cut})
        return sendable(found, link.name)

    async def subscribe(self, ctx: Ctx, params: types.SubscribeRequestParams) -> types.EmptyResult:
        """Tell a client before 2026-07-28 of changes of a resource."""
        self._own.changes.add_uri(ctx, params.uri)
        try:
            await self._gateway.watch(ctx, params.uri, self._clients.of(ctx))
        except BaseException:
            self._own.changes.remove_uri(ctx, params.uri)
            raise
        return types.EmptyResult()

    async def unsubscribe(self, ctx: Ctx, params: types.UnsubscribeRequestParams) -> types.EmptyResult:
        """Tell a client before 2026-07-28 no more of changes of a resource."""
        if self._own.changes.remove_uri(ctx, params.uri):
            self._gateway.unwatch(self._clients.of(ctx), params.uri)
        return types.EmptyResult()

    async def listen(
        self, ctx: Ctx, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        """Tell a client from 2026-07-28 on of changes, as the handler of `subscriptions/listen`."""
        watching = object()
        try:
            for uri in dict.fromkeys(params.notifications.resource_subscriptions or ()):
                await self._gateway.watch(ctx, uri, watching)
            return await self._own.listen(ctx, params)
        finally:
            self._gateway.unwatch(watching)

    async def set_level(self, ctx: Ctx, params: types.SetLevelRequestParams) -> types.EmptyResult:
        """Remember which log records a client wants, and ask the servers for them."""
        self._fronts.levels.of(ctx)[:] = [params.level]
        if self._own.log is not None:
            await self._own.log.set_level(ctx, params)
        for link in self._links:
            await link.set_level()
        return types.EmptyResult()


_OF_HANDLERS = ("context", "executor", "structured", "confirm", "page_size", "logger")


def _named(servers: Any) -> dict[str, ServerBehind]:
    """Return the servers by their names.

    Raises:
        TypeError: one is of another kind, or has another name than a text.
        ValueError: there are none, or one can't be used.
    """
    is_several = isinstance(servers, Mapping)
    given = cast("dict[Any, Any]", servers if is_several else {_ONLY: servers})
    if not given:
        message = "a gateway needs a server behind it: Gateway({'name': 'https://…'})"
        raise ValueError(message)
    found: dict[str, ServerBehind] = {}
    for name, one in given.items():
        if not isinstance(name, str) or not name:
            message = f"the name of a server must be a text, not {received(name)}"
            raise TypeError(message)
        if not isinstance(one, ServerBehind):
            check_source(one, f"the server {quote(name)}" if is_several else "a server behind a gateway")
        found[name] = one if isinstance(one, ServerBehind) else ServerBehind(one)
    return found


def _not_listed(name: str, error: Exception) -> ConnectionError:
    """Return why a server is left out that didn't list its tools."""
    cause = error.__cause__ if isinstance(error, GoneError) else None
    own = f"the server {name} "
    said = reason_of(cause or error)
    reason = f"it {said.removeprefix(own)}" if said.startswith(own) else said
    made = ConnectionError(f"the server {name} can't be reached: it doesn't list its tools: {reason}")
    made.__cause__ = error
    return made


def _check_waiting(seconds: Any, unreachable: Any) -> None:
    is_number = isinstance(seconds, (int, float)) and not isinstance(seconds, bool)
    if seconds is not None and not (is_number and 0 < seconds < inf):
        message = f"seconds must be a number above 0, or None for no limit, not {received(seconds)}"
        raise ValueError(message)
    if unreachable is not None and not callable(unreachable):
        message = (
            "unreachable must be a function that takes the name of a server and the reason, or None, not "
            f"{received(unreachable)}"
        )
        raise TypeError(message)
