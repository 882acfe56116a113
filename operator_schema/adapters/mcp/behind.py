"""The link from a gateway to one server behind it, and the choice of a connection for each client."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
import mcp_types as types
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel, ValidationError

from ..mcp_judging import what_came
from .behind_connection import Connection
from .forwarding import GoneError, error_for_client, reason_of, sendable
from .generations import PerClient, is_modern
from .messages import LEVELS

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Hashable
    from typing import TypeAlias

    from anyio.abc import TaskGroup
    from mcp import ClientSession
    from mcp.server.context import ServerRequestContext

    from ..mcp_connection import Source
    from .forwarding import GatewayClients

    Ctx: TypeAlias = ServerRequestContext[Any, Any]
    Heard: TypeAlias = "Callable[[Link, Connection, types.ServerNotification], None]"
    Lost: TypeAlias = "Callable[[Link, Connection], None]"
    Reopened: TypeAlias = "Callable[[Link, Connection, Connection], None]"

T = TypeVar("T")
M = TypeVar("M", bound=BaseModel)
Q = TypeVar("Q", types.ElicitRequest, types.CreateMessageRequest, types.ListRootsRequest, types.InputRequest)

_MOST_OWN = 16
"""The maximum number of connections to one server that belong to one client each."""

_FIRST_RETRY, _LAST_RETRY = 60.0, 3600.0
"""How many seconds pass before a failed connection is tried again; each failure doubles the time."""

_CLOSED = frozenset(
    {
        (types.CONNECTION_CLOSED, "Connection closed"),
        (types.INVALID_REQUEST, "Session terminated"),
        (types.INVALID_REQUEST, "Session not found"),
        (-32001, "Session not found"),
    }
)
"""The SDK's error codes for a connection, or a session over HTTP, that has ended, such as when its server
restarts.

A server may use the same codes for anything.
"""

_LOG = logging.getLogger("operator_schema.mcp_gateway")


class Retry:
    """The time at which to ask a server again: `at`, on the clock of the event loop."""

    __slots__ = ("_wait", "at")

    def __init__(self) -> None:
        self.at, self._wait = 0.0, _FIRST_RETRY

    @property
    def is_due(self) -> bool:
        """Whether the server may be asked again now."""
        return anyio.current_time() >= self.at

    def note_failure(self) -> float:
        """Note a failure at the present time; return the seconds until the next attempt."""
        wait = self._wait
        self.at, self._wait = anyio.current_time() + wait, min(2 * wait, _LAST_RETRY)
        return wait


class _ClientConnection:
    """The connection of one client before version 2026-07-28, whom the server may ask at any time.

    Attributes:
        lock: held by the task that opens the connection.
        connection: the last connection, which may have ended; None if none was needed so far.
        was_ended: whether it was ended in favour of another client, and this client hasn't been told yet.
        retry: when to try again after the server refused a connection.
    """

    __slots__ = ("connection", "lock", "retry", "was_ended")

    def __init__(self, _: Hashable) -> None:
        self.lock, self.retry = anyio.Lock(), Retry()
        self.connection: Connection | None = None
        self.was_ended = False


class Link:
    """A server behind the gateway, with a connection for each client that the server may ask.

    On a connection of a version before 2026-07-28, a server asks without naming a call. So the first client
    uses the gateway's own connection, and each further client gets a separate one. Clients from version
    2026-07-28 on, which get questions in the reply to their call, share one connection.

    Args:
        name: the name of the server, for messages.
        source: the server, as for `Gateway`.
        clients: the clients in front.
        group: the task group whose tasks hold the connections.
        heard: a function that gets each notification of the server about changes.
        reopened: a function that is called with a connection that has ended and the one that replaces it.
        lost: a function that is called when a connection has ended.
        seconds: the time limit for connecting and for answers; None for no limit.
        says_name: whether questions to a person name the server.

    Attributes:
        home: the gateway's own connection, which clients of the same protocol generation share.
        other: the connection that clients of the other generation share; None if there are none yet.
    """

    def __init__(
        self,
        name: str,
        source: Source,
        clients: GatewayClients,
        group: TaskGroup,
        heard: Heard,
        reopened: Reopened,
        lost: Lost,
        seconds: float | None,
        *,
        says_name: bool,
    ) -> None:
        self.name, self.source, self.clients, self.heard = name, source, clients, heard
        self.says_name, self.lost = says_name, lost
        self._group, self._seconds, self._reopened = group, seconds, reopened
        self._lock = anyio.Lock()
        self.home = Connection(self, "auto")
        self.other: Connection | None = None
        self._retry = Retry()  # for the other generation
        self._mode = "auto"
        self._is_used = False
        self._speaks_one = False
        self._own: PerClient[_ClientConnection] = PerClient(_ClientConnection)
        # For all clients from version 2026-07-28 on, if the server is older.
        self._newer = _ClientConnection(None)
        # The clients with a connection; the last one was used last.
        self._opened: dict[_ClientConnection, None] = {}

    async def open(self) -> None:
        """Connect to the server.

        Raises:
            ConnectionError: the server can't be reached.
        """
        try:
            await self._start(self.home)
        except Exception as error:  # a transport may raise anything
            message = f"the server {self.name} can't be reached: {reason_of(error)}"
            raise ConnectionError(message) from error
        self._speaks_one = not self.home.is_modern  # otherwise it would have reported an error

    async def _start(self, connection: Connection) -> None:
        with anyio.move_on_after(self._seconds) as limit:
            await self._group.start(connection.hold)
        if limit.cancelled_caught:
            message = f"it gave no answer within {self._seconds:g} s"
            raise TimeoutError(message)

    @property
    def capabilities(self) -> types.ServerCapabilities:
        """The capabilities that the server announces."""
        return self.home.capabilities

    @property
    def own_connections(self) -> list[Connection]:
        """The connections that belong to one client each; the last one was used last."""
        return [own.connection for own in self._opened if own.connection is not None]

    async def connection(self, ctx: Ctx | None) -> Connection:
        """Return the connection for a request of a client.

        Args:
            ctx: the context of the request; None for a request of the gateway itself.

        Raises:
            MCPError: the server can't be reached any more, or the client's connection was ended.
        """
        shared = await self.shared_connection(ctx)
        if ctx is None or shared.is_modern:
            return shared
        if is_modern(ctx.protocol_version):
            return (
                (await self._connection_of(self._newer, ctx) or shared) if shared.belongs_to_one else shared
            )
        if ctx.session.client_params is None:
            return shared
        self.clients.meet(ctx)
        own = self._own.of(ctx)
        if own not in self._opened and not own.was_ended:
            if shared.is_abandoned:  # it ends with the server's data about others
                shared.close()
                shared = await self.shared_connection(ctx)
            if shared.claim(ctx):
                self._replace(own.connection, shared)
                own.connection = None
                return shared
        return await self._connection_of(own, ctx) or shared

    async def _connection_of(self, own: _ClientConnection, ctx: Ctx) -> Connection | None:
        """Return the connection of one client, and open it if necessary; None if there are too many.

        Raises:
            MCPError: the connection was ended in favour of another client since the last request.
        """
        async with own.lock:
            if own.was_ended:
                own.was_ended = False
                message = (
                    f"the server {self.name} was closed for this client because {_MOST_OWN} others use it; "
                    "another request opens it again"
                )
                raise GoneError(message)
            before = own.connection
            if before is not None and before.is_open:
                made: Connection | None = before
            else:
                made = await self._opened_for(own, ctx)
            if made is None:
                return None
            made.claim(ctx)
            own.connection, self._opened[own] = made, self._opened.pop(own, None)
            self._replace(before, made)
            return made

    async def _opened_for(self, own: _ClientConnection, ctx: Ctx) -> Connection | None:
        """Open a connection for one client; None if there are too many."""
        self._opened.pop(own, None)
        if not own.retry.is_due or not self._has_room():
            return None
        self._opened[own] = None  # before anything waits, so that there are never too many
        try:
            made = await self._again("legacy", own.connection, ctx)
        except MCPError:
            _LOG.warning(
                "%s: its clients share a connection, so it can't ask them; another one is tried in %g s",
                self.name,
                own.retry.note_failure(),
            )
            return None
        finally:
            self._opened.pop(own, None)
        own.retry = Retry()
        return made

    def _has_room(self) -> bool:
        """Return whether another client may have a connection; if needed, end the one unused for longest."""
        if len(self._opened) < _MOST_OWN:
            return True
        for own in self._opened:
            connection = own.connection
            is_being_opened = own.lock.locked()
            if connection is not None and connection.is_idle and not is_being_opened:
                own.was_ended = connection.is_open
                self._end(own)
                return True
        return False

    def _end(self, own: _ClientConnection) -> None:
        del self._opened[own]
        if own.connection is not None:
            own.connection.close()

    def was_ended(self, connection: Connection) -> bool:
        """Return whether a connection was ended for another client, and its own client hasn't been told."""
        owns = [self._newer, *self._own.values()]
        return any(own.was_ended and own.connection is connection for own in owns)

    def client_has_gone(self, ctx: Ctx) -> None:
        """End the connection of a client that has gone; a shared one becomes free for another client."""
        own = self._own.of(ctx)
        if own in self._opened:
            self._end(own)
        for shared in (self.home, self.other):
            if shared is not None:
                shared.client_has_gone(ctx)

    async def shared_connection(self, ctx: Ctx | None) -> Connection:
        """Return the shared connection that speaks the client's version of the protocol.

        Raises:
            MCPError: the server can't be reached any more.
        """
        async with self._lock:
            if not self.home.is_open:
                before, self.home = self.home, await self._again(self._mode, self.home)
                self._replace(before, self.home)
            if ctx is None or self._speaks_one:
                return self.home
            wants_modern = is_modern(ctx.protocol_version)
            if wants_modern == self.home.is_modern:
                self._is_used = True
                return self.home
            other = self.other
            if (other is None or not other.is_open) and self._retry.is_due:
                await self._open_other(wants_modern=wants_modern)
                other = self.other
            return other if other is not None and other.is_open else self.home

    async def _open_other(self, *, wants_modern: bool) -> None:
        """Open a connection of the other protocol generation; if there is no client yet, switch to it.

        So a server that is started here runs once, and keeps its state, unless clients of both generations
        come.
        """
        mode, before = "auto" if wants_modern else "legacy", self.other
        try:
            made = await self._again(mode, before)
        except MCPError:
            self._retry.note_failure()
            return
        self._retry = Retry()
        if made.is_modern != wants_modern:
            made.close()
            self._speaks_one = True
        elif self._is_used:
            self.other = made
            self._replace(before, made)
        else:
            before, self.home = self.home, made
            self._mode, self._is_used = mode, True
            before.close()
            self._replace(before, made)

    def _replace(self, before: Connection | None, made: Connection) -> None:
        if before is not None and before is not made:
            self._reopened(self, before, made)

    async def _again(self, mode: str, before: Connection | None, ctx: Ctx | None = None) -> Connection:
        """Connect again; a server may accept only one connection, so the previous one ends first.

        Args:
            mode: the protocol generation of the client.
            before: the previous connection; None if there was none.
            ctx: the context of a request of the client that owns the connection and may be asked at once;
                None for a shared one.
        """
        if before is not None:
            await before.wait_for_end()
        made = Connection(self, mode)
        if ctx is not None:
            made.claim(ctx)
        try:
            await self._start(made)
        except Exception as error:  # a transport may raise anything
            raise self._unreachable(error) from error
        try:
            await self._set_level_of(made)
        except BaseException:  # also for a cancelled request: nothing would refer to the connection any more
            made.close()
            raise
        return made

    def _unreachable(self, error: BaseException) -> MCPError:
        """Return the error for an unreachable server; its reason, which may have secrets, is only logged."""
        _LOG.warning("%s: the server can't be reached: %s", self.name, reason_of(error))
        return GoneError(
            f"the server {self.name} can't be reached: try again later, or continue without its tools"
        )

    async def request(
        self, ctx: Ctx | None, send: Callable[[ClientSession], Awaitable[T]], *, is_call: bool = False
    ) -> T:
        """Send a request to the server.

        Args:
            ctx: the context of the client's request; None if there is none.
            send: a function that gets the session and sends the request.
            is_call: whether it is a call of a tool: then the executor limits its time, and the caller writes
                the error.

        Raises:
            MCPError: the error of the server, or the reason why it gave no answer.
        """
        return await self.send(await self.connection(ctx), ctx, send, is_call=is_call)

    async def send(
        self,
        connection: Connection,
        ctx: Ctx | None,
        send: Callable[[ClientSession], Awaitable[T]],
        *,
        is_call: bool = False,
    ) -> T:
        """Send a request on a connection to the server, as `request` does."""
        try:
            with anyio.fail_after(None if is_call else self._seconds):
                return await connection.send_for(ctx, send)
        except TimeoutError:
            message = f"the server {self.name} gave no answer within {self._seconds:g} s"
            raise GoneError(message) from None
        except (ValidationError, MCPError) as error:
            what = None if is_call else what_came(error)
            if what is not None:
                message = f"the server {self.name} gave an answer that {what}"
                raise GoneError(message) from (error if isinstance(error, MCPError) else None)
            if isinstance(error, ValidationError):
                raise
            if (error.code, error.message) not in _CLOSED:
                raise error_for_client(error, self.name) from error
            connection.close()
            message = f"the server {self.name} has closed its connection; another request opens it again"
            raise GoneError(message) from error
        except Exception as error:  # a transport may raise any exception; its text may contain secrets
            if is_call:
                raise
            _LOG.warning("%s: a request failed: %s", self.name, reason_of(error))
            message = f"a request to the server {self.name} failed"
            raise GoneError(message) from error

    def with_server_name(self, request: Q) -> Q:
        """Return a question of the server with the name of the server in front, if there are several servers.

        Raises:
            MCPError: the question is too large, or can't be written.
        """
        sendable(request, self.name)
        if not self.says_name or not isinstance(request, types.ElicitRequest):
            return request
        params = request.params.model_copy(update={"message": f"{self.name}: {request.params.message}"})
        return request.model_copy(update={"params": params})

    async def set_level(self) -> None:
        """Ask a server before version 2026-07-28 for the log records that any client wants."""
        for connection in (self.home, self.other, *self.own_connections):
            if connection is not None and connection.is_open:
                await self._set_level_of(connection)

    async def _set_level_of(self, connection: Connection) -> None:
        wanted = self.clients.levels.set_by_all()
        if not wanted or connection.is_modern or connection.capabilities.logging is None:
            return
        least: Any = min(wanted, key=LEVELS.index)
        request = types.SetLevelRequest(params=types.SetLevelRequestParams(level=least))
        try:
            with anyio.fail_after(self._seconds):
                await connection.client.session.send_request(request, types.EmptyResult)
        except Exception as error:  # noqa: BLE001  # a transport may raise anything, and requests say so
            _LOG.warning("%s: the level of its log can't be set: %s", self.name, reason_of(error))
