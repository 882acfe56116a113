"""Changes on a server, and the clients that are told about them."""

from __future__ import annotations

from contextlib import suppress
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import anyio
import mcp_types as types
from mcp.server.subscriptions import (
    PromptsListChanged,
    ResourcesListChanged,
    ResourceUpdated,
    ToolsListChanged,
)
from mcp.shared.exceptions import MCPError

from ...execution import current_backend
from .generations import PerClient, client_of, connected_client

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable
    from typing import TypeAlias

    from mcp.server.context import ServerRequestContext
    from mcp.server.subscriptions import ServerEvent

    Ctx: TypeAlias = ServerRequestContext[Any, Any]

MOST_WAITING = 1000
"""The most different changes that wait for one client."""

MOST_SUBSCRIPTIONS = 1000
"""The most resources that one client of a version before 2026-07-28 may subscribe to."""

_ANYBODY = object()
listening: ContextVar[Hashable] = ContextVar("operator_schema_mcp_listening", default=_ANYBODY)
"""The client that subscribes in this task, with its identity from `client_of`."""


class _Subscriber:
    """A function that is called with changes, in the event loop in which it subscribed."""

    __slots__ = ("_backend", "_home", "_listener", "_waiting", "client")

    def __init__(self, listener: Callable[[ServerEvent], None], client: Hashable) -> None:
        self._listener = listener
        self.client = client
        self._backend = current_backend()
        self._home = self._backend.home()
        self._waiting: dict[ServerEvent, None] = {}

    def tell(self, event: ServerEvent) -> None:
        """Report a change in the thread of the event loop; equal changes in a row count as one."""
        if event in self._waiting or len(self._waiting) >= MOST_WAITING:
            return
        self._waiting[event] = None
        with suppress(RuntimeError):  # the event loop is closed
            self._backend.call_soon(self._home, self._deliver)

    def _deliver(self) -> None:
        waiting, self._waiting = self._waiting, {}
        for event in waiting:
            self._listener(event)


class ChangeBus:
    """Tell clients of both protocol generations, in any number of event loops, about changes.

    Clients from 2026-07-28 on ask for changes with `subscriptions/listen`: this is the `SubscriptionBus` of
    `ListenHandler`. Earlier clients get notifications on their connection.
    """

    __slots__ = ("__weakref__", "_connections", "_subscribers", "_uris")

    def __init__(self) -> None:
        self._subscribers: dict[object, _Subscriber] = {}
        self._connections: set[int] = set()
        self._uris: PerClient[set[str]] = PerClient(lambda _: set())

    def tools_changed(self, _: object = None) -> None:
        """Tell all clients, from any thread, that the tools have changed."""
        self.tell(ToolsListChanged())

    def tell(self, event: ServerEvent, client: Hashable = _ANYBODY) -> None:
        """Tell all interested clients about a change, from any thread.

        Args:
            event: the change.
            client: the only client that gets it, with its identity from `client_of`; by default all clients.
        """
        for subscriber in [*self._subscribers.values()]:
            if _ANYBODY in (client, subscriber.client) or subscriber.client == client:
                subscriber.tell(event)

    async def publish(self, event: ServerEvent) -> None:
        """Tell all clients, as a `SubscriptionBus` does."""
        self.tell(event)

    def subscribe(self, listener: Callable[[ServerEvent], None]) -> Callable[[], None]:
        """Call a function after each change, in the event loop that is running here.

        Returns:
            A function that ends the subscription. It may be called more than once.
        """
        token = object()
        self._subscribers[token] = _Subscriber(listener, listening.get())

        def unsubscribe() -> None:
            self._subscribers.pop(token, None)

        return unsubscribe

    async def watch_connection(self, ctx: Ctx) -> None:
        """Tell one client about changes, as the handler of `notifications/initialized`.

        It runs until the connection ends: the SDK then cancels the tasks of the connection.
        """
        client = connected_client(ctx)
        if client is None or id(client) in self._connections:
            return
        due = anyio.Event()
        waiting: dict[ServerEvent, None] = {}

        def take(event: ServerEvent) -> None:
            is_wanted = not isinstance(event, ResourceUpdated) or event.uri in self._uris.of(ctx)
            if is_wanted and len(waiting) < MOST_WAITING:
                waiting[event] = None
                due.set()

        listening.set(client_of(ctx)[0])
        unsubscribe = self.subscribe(take)
        self._connections.add(id(client))  # the session keeps this object alive in the meantime
        try:
            while True:
                await due.wait()
                due = anyio.Event()
                while waiting:
                    event = next(iter(waiting))
                    del waiting[event]
                    await ctx.session.send_notification(_notification(event))
        finally:
            self._connections.discard(id(client))
            unsubscribe()

    def add_uri(self, ctx: Ctx, uri: str) -> None:
        """Subscribe the client of a request to changes of a resource.

        Raises:
            MCPError: the client has subscribed to too many resources.
        """
        known = self._uris.of(ctx)
        if uri not in known and len(known) >= MOST_SUBSCRIPTIONS:
            message = (
                f"a client can subscribe to at most {MOST_SUBSCRIPTIONS:,} resources: unsubscribe from others"
            )
            raise MCPError(types.INVALID_PARAMS, message)
        known.add(uri)

    def remove_uri(self, ctx: Ctx, uri: str) -> bool:
        """Stop telling the client about changes of a resource; return whether it was told before."""
        known = self._uris.of(ctx)
        was_known = uri in known
        known.discard(uri)
        return was_known


def _notification(event: ServerEvent) -> types.ServerNotification:
    match event:
        case ToolsListChanged():
            return types.ToolListChangedNotification()
        case PromptsListChanged():
            return types.PromptListChangedNotification()
        case ResourcesListChanged():
            return types.ResourceListChangedNotification()
        case ResourceUpdated(uri=uri):
            return types.ResourceUpdatedNotification(params=types.ResourceUpdatedNotificationParams(uri=uri))
