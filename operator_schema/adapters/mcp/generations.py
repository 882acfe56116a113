"""How do the two generations of the protocol differ for a server?

Clients up to version 2025-11-25 begin with a handshake, and keep a connection. Later ones have neither: each
of their requests says everything about them. All differences that follow from it are functions here.
"""

from __future__ import annotations

import json
import weakref
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import mcp_types as types
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable
    from typing import TypeAlias

    from mcp.server.context import ServerRequestContext

    Ctx: TypeAlias = ServerRequestContext[Any, Any]


T = TypeVar("T")

_MOST_CLIENTS = 10_000


def is_modern(protocol_version: str) -> bool:
    """Return whether requests carry their own version, without a handshake: 2026-07-28 and later."""
    return protocol_version in MODERN_PROTOCOL_VERSIONS


def takes_any_data(protocol_version: str) -> bool:
    """Return whether the data of a result may be any JSON value, rather than an object."""
    return is_modern(protocol_version)


def takes_questions_as_answers(ctx: Ctx) -> bool:
    """Return whether a client is asked by the answer to its call, which it then sends again."""
    return is_modern(ctx.protocol_version)


def sends_log_level(ctx: Ctx) -> bool:
    """Return whether each request says which log records its client wants; without that, it wants none."""
    return is_modern(ctx.protocol_version)


def connected_client(ctx: Ctx) -> types.InitializeRequestParams | None:
    """Return the data of a client's handshake, one object for each connection; None without a handshake."""
    return None if is_modern(ctx.protocol_version) else ctx.session.client_params


def client_of(ctx: Ctx) -> tuple[Hashable, object | None]:
    """Return the identity of a client, and the object that lives as long as its connection.

    From version 2026-07-28 on, requests over HTTP belong to no connection: clients with the same name,
    address and token then count as one client, and the second value is None.
    """
    if not is_modern(ctx.protocol_version):
        client = connected_client(ctx)
        return id(client), client
    request: Any = ctx.request
    if request is None:  # standard input and output, where a server has only one client
        return None, None
    said = (ctx.meta or {}).get(types.CLIENT_INFO_META_KEY)
    name = json.dumps(said, sort_keys=True, default=str)
    address = getattr(getattr(request, "client", None), "host", None)
    return (name, address, request.headers.get("authorization")), None


class PerClient(Generic[T]):
    """One value for each client of a server, as long as it is connected.

    Args:
        make: a function that makes the value for a client from its identity.
    """

    __slots__ = ("__weakref__", "_make", "_values")

    def __init__(self, make: Callable[[Hashable], T]) -> None:
        self._make = make
        self._values: dict[Hashable, tuple[weakref.ref[Any] | None, T]] = {}

    def of(self, ctx: Ctx) -> T:
        """Return the value of a client; if too many clients never report their end, drop the oldest value."""
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
