"""What has changed on a server, and which clients are told of it?"""

from __future__ import annotations

import json
import weakref
from contextlib import suppress
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Generic, TypeVar

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
from .content import is_modern

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable
    from typing import TypeAlias

    from mcp.server.context import ServerRequestContext
    from mcp.server.subscriptions import ServerEvent

    Ctx: TypeAlias = ServerRequestContext[Any, Any]

__all__ = ["ChangeBus", "PerClient", "client_of", "listening"]


T = TypeVar("T")

MOST_WAITING = 1000
"""The most different changes that wait for one client."""

MOST_SUBSCRIPTIONS = 1000
"""The most resources to which one client before 2026-07-28 may subscribe."""

_MOST_CLIENTS = 10_000

_ANYBODY = object()
listening: ContextVar[Hashable] = ContextVar("operator_schema_mcp_listening", default=_ANYBODY)
"""The client that subscribes in this task, as `client_of` identifies it."""


def client_of(ctx: Ctx) -> tuple[Hashable, object | None]:
    """Return what identifies a client, and the object that lives as long as its connection.

    From 2026-07-28 on, requests over HTTP belong to no connection: clients with the same name, address and
    token then count as one, and the second value is None.
    """
    if not is_modern(ctx.protocol_version):
        client = ctx.session.client_params  # one object for each connection, as long as it lasts
        return id(client), client
    request: Any = ctx.request
    if request is None:  # standard input and output, where a server has one client
        return None, None
    said = (ctx.meta or {}).get(types.CLIENT_INFO_META_KEY)
    name = json.dumps(said, sort_keys=True, default=str)
    address = getattr(getattr(request, "client", None), "host", None)
    return (name, address, request.headers.get("authorization")), None


class PerClient(Generic[T]):
    """One value for each client of a server, as long as it is connected.

    Args:
        make: makes the value for a client, from what identifies it.
    """

    __slots__ = ("__weakref__", "_make", "_values")

    def __init__(self, make: Callable[[Hashable], T]) -> None:
        self._make = make
        self._values: dict[Hashable, tuple[weakref.ref[Any] | None, T]] = {}

    def of(self, ctx: Ctx) -> T:
        """Return the value of a client; if too many clients never say that they end, the oldest goes."""
        key, alive = client_of(ctx)
        reference, value = self._values.get(key, (None, None))
        if value is not None and (None if reference is None else reference()) is alive:
            return value
        made = self._make(key)
        values = self._values
        gone = None if alive is None else weakref.ref(alive, lambda _: values.pop(key, None))
        values[key] = gone, made
        if len(values) > _MOST_CLIENTS:
            oldest = next((one for one, (held, _) in values.items() if held is None), None)
            values.pop(oldest, None)
        return made

    def values(self) -> list[T]:
        """Return the values of all clients."""
        return [value for _, value in [*self._values.values()]]


class _Subscriber:
    """A function that gets changes in an event loop."""

    __slots__ = ("_backend", "_home", "_listener", "_waiting", "client")

    def __init__(self, listener: Callable[[ServerEvent], None], client: Hashable) -> None:
        self._listener = listener
        self.client = client
        self._backend = current_backend()
        self._home = self._backend.home()
        self._waiting: dict[ServerEvent, None] = {}

    def tell(self, event: ServerEvent) -> None:
        """Report a change in the thread of the event loop; a change that repeats in a row counts once."""
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
    """Tells clients of both generations, in any number of event loops, what has changed.

    Clients from 2026-07-28 on ask for changes with `subscriptions/listen`: this is the `SubscriptionBus` of
    `ListenHandler`. Earlier clients get notifications on their connection.
    """

    __slots__ = ("__weakref__", "_connections", "_subscribers", "_uris")

    def __init__(self) -> None:
        self._subscribers: dict[object, _Subscriber] = {}
        self._connections: set[int] = set()
        self._uris: PerClient[set[str]] = PerClient(lambda _: set())

    def tools_changed(self, _: object = None) -> None:
        """Tell everybody, from any thread, that the tools have changed."""
        self.tell(ToolsListChanged())

    def tell(self, event: ServerEvent, client: Hashable = _ANYBODY) -> None:
        """Tell all interested clients about a change, from any thread.

        Args:
            event: the change.
            client: the only client that sees it, as `client_of` identifies it; all clients unless given.
        """
        for subscriber in [*self._subscribers.values()]:
            if _ANYBODY in (client, subscriber.client) or subscriber.client == client:
                subscriber.tell(event)

    async def publish(self, event: ServerEvent) -> None:
        """Tell everybody, as a `SubscriptionBus` does."""
        self.tell(event)

    def subscribe(self, listener: Callable[[ServerEvent], None]) -> Callable[[], None]:
        """Call a function in the event loop that runs here after each change.

        Returns:
            A function that ends the subscription. It may be called more than once.
        """
        token = object()
        self._subscribers[token] = _Subscriber(listener, listening.get())

        def unsubscribe() -> None:
            self._subscribers.pop(token, None)

        return unsubscribe

    async def watch_connection(self, ctx: Ctx, _: types.NotificationParams | None = None) -> None:
        """Tell one client, as the handler of `notifications/initialized`.

        It runs until the connection ends: the SDK then cancels what the connection has started.
        """
        client = ctx.session.client_params
        if client is None or is_modern(ctx.protocol_version) or id(client) in self._connections:
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
        self._connections.add(id(client))  # the session keeps this alive meanwhile
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

    def add_uri(self, ctx: Ctx, uri: str) -> bool:
        """Subscribe the client of a request to changes of a resource; return whether it is new.

        Raises:
            MCPError: it has subscribed to too many.
        """
        known = self._uris.of(ctx)
        if uri in known:
            return False
        if len(known) >= MOST_SUBSCRIPTIONS:
            message = (
                f"a client can subscribe to at most {MOST_SUBSCRIPTIONS:,} resources: unsubscribe from others"
            )
            raise MCPError(types.INVALID_PARAMS, message)
        known.add(uri)
        return True

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
