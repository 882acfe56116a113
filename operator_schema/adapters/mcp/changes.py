"""How does a client hear that the tools have changed?"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import anyio
from mcp.server.subscriptions import ToolsListChanged

from ...tools.execution.backends import current_backend
from .described import is_modern

if TYPE_CHECKING:
    from collections.abc import Callable

    import mcp_types as types
    from mcp.server.context import ServerRequestContext
    from mcp.server.subscriptions import ServerEvent

__all__ = ["ChangeBus"]


class _Subscriber:
    """Somebody who waits for changes in an event loop."""

    __slots__ = ("_backend", "_home", "_is_due", "_listener")

    def __init__(self, listener: Callable[[ServerEvent], None]) -> None:
        self._listener = listener
        self._backend = current_backend()
        self._home = self._backend.home()
        self._is_due = False

    def tell(self) -> None:
        """Say it in the thread of the event loop; several changes in a row are one."""
        if not self._is_due:
            self._is_due = True
            with suppress(RuntimeError):  # the event loop is closed
                self._backend.call_soon(self._home, self._deliver)

    def _deliver(self) -> None:
        self._is_due = False
        self._listener(ToolsListChanged())


class ChangeBus:
    """Tell clients of both generations, in any number of event loops, that the tools have changed.

    Clients from 2026-07-28 on ask for it by `subscriptions/listen`: for `ListenHandler` this is a
    `SubscriptionBus`. Earlier ones get a notification of their connection.
    """

    __slots__ = ("__weakref__", "_connections", "_subscribers")

    def __init__(self) -> None:
        self._subscribers: dict[object, _Subscriber] = {}
        self._connections: set[int] = set()

    def changed(self, _: object = None) -> None:
        """Tell everybody, from any thread."""
        for subscriber in [*self._subscribers.values()]:
            subscriber.tell()

    async def publish(self, event: ServerEvent) -> None:
        """Tell everybody, as a `SubscriptionBus` does; there is only one kind of event."""
        self.changed(event)

    def subscribe(self, listener: Callable[[ServerEvent], None]) -> Callable[[], None]:
        """Call a function in the event loop that runs here after each change.

        Returns:
            A function that ends this. It may be called more than once.
        """
        token = object()
        self._subscribers[token] = _Subscriber(listener)

        def unsubscribe() -> None:
            self._subscribers.pop(token, None)

        return unsubscribe

    async def watch_connection(
        self, ctx: ServerRequestContext[Any, Any], _: types.NotificationParams | None
    ) -> None:
        """Tell one client, as the handler of `notifications/initialized`.

        It runs until the connection ends: the SDK then cancels what the connection has started.
        """
        client = ctx.session.client_params
        if client is None or is_modern(ctx.protocol_version) or id(client) in self._connections:
            return
        due = anyio.Event()
        unsubscribe = self.subscribe(lambda _: due.set())
        self._connections.add(id(client))  # the session keeps it alive meanwhile
        try:
            while True:
                await due.wait()
                due = anyio.Event()
                await ctx.session.send_tool_list_changed()
        finally:
            self._connections.discard(id(client))
            unsubscribe()
