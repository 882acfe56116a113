"""How does a gateway talk to one server behind it, and which client gets what that server asks and logs?"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
import mcp_types as types
from mcp import Client
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel, ValidationError

from .changes import PerClient, client_of
from .content import is_modern
from .forwarding import (
    MOST_QUESTIONS,
    Asker,
    GoneError,
    ask_front,
    passed,
    reason_of,
    refused,
    sendable,
)
from .gateway_chain import marked
from .messages import LEVELS

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Hashable
    from typing import TypeAlias

    from anyio.abc import TaskGroup, TaskStatus
    from mcp import ClientSession
    from mcp.server.context import ServerRequestContext

    from ..mcp_connection import Source
    from .forwarding import Fronts

    Ctx: TypeAlias = ServerRequestContext[Any, Any]
    Heard: TypeAlias = "Callable[[Link, Connection, types.ServerNotification], None]"
    Lost: TypeAlias = "Callable[[Link, Connection], None]"
    Reopened: TypeAlias = "Callable[[Link, Connection, Connection], None]"

__all__ = ["Connection", "Link", "Retry"]

T = TypeVar("T")
M = TypeVar("M", bound=BaseModel)
Q = TypeVar("Q", types.ElicitRequest, types.CreateMessageRequest, types.ListRootsRequest, types.InputRequest)

_SECONDS_TO_END = 5.0
"""That a connection gets to end before another one takes its place."""

_MOST_OWN = 16
"""The most connections to one server that belong to one client each."""

_FIRST_RETRY, _LAST_RETRY = 60.0, 3600.0
"""Seconds before a client is given a connection again that failed: twice as many after each failure."""

_CLOSED = frozenset(
    {
        (types.CONNECTION_CLOSED, "Connection closed"),
        (types.INVALID_REQUEST, "Session terminated"),
        (types.INVALID_REQUEST, "Session not found"),
        (-32001, "Session not found"),
    }
)
"""How the SDKs say that a connection, or a session over HTTP, has ended, as it does when its server restarts.

A server may use the same codes for anything.
"""

_LOG = logging.getLogger("operator_schema.mcp_gateway")


class Connection:
    """One connection to a server behind the gateway.

    Attributes:
        client: that talks to the server.
        capabilities: what the server says that it can do, also when the connection has ended.
        is_modern: whether the server speaks a version from 2026-07-28 on here.
        is_open: whether it can be used.
    """

    def __init__(self, link: Link, mode: str) -> None:
        self._link, self._mode = link, mode
        self._askers: dict[Asker, None] = {}
        self._questions = self._requests = 0
        self._first: tuple[Hashable, object] | None = None  # kept, so that no other client gets its id
        self._clients: set[Hashable] = set()  # those before 2026-07-28 that have used it and are there
        self._is_shared = False
        self._scope, self._ended = anyio.CancelScope(), anyio.Event()
        self.client: Client
        self.capabilities: types.ServerCapabilities
        self.is_open = self.is_modern = False

    async def hold(self, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Connect, and keep the connection until `close`; the task starts when it can be used.

        Raises:
            Exception: why it can't be made.
        """
        client = Client(
            marked(self._link.source, self.close),
            mode=self._mode,
            cache=None,
            elicitation_callback=self._asked,
            sampling_callback=self._asked,
            list_roots_callback=self._roots_asked,
            logging_callback=self._logged,
            message_handler=self._heard,
        )
        was_open = False
        try:
            async with client:
                self.client, self.capabilities = client, client.server_capabilities
                self.is_modern = is_modern(client.protocol_version)
                self.is_open = was_open = True
                task_status.started()
                with self._scope:
                    await anyio.sleep_forever()
        except Exception as error:  # a transport may raise anything
            if not was_open:  # what an end raises would end the gateway
                raise
            _LOG.warning("%s: the connection ended: %s", self._link.name, reason_of(error))
        finally:
            self.is_open = False
            self._ended.set()
            self._link.lost(self._link, self)

    def close(self) -> None:
        """End the connection; requests on it fail."""
        self.is_open = False
        self._scope.cancel()

    async def over(self) -> None:
        """Wait until the connection has ended, which `close` only begins, or has had the time to."""
        with anyio.move_on_after(_SECONDS_TO_END):
            await self._ended.wait()

    # --- whose it is ---------------------------------------------------------------------------------

    def note_client(self, ctx: Ctx) -> None:
        """Take note of a client: what the server asks or logs later may belong to any that came so far."""
        if not self.claim(ctx):
            self._is_shared = True
            self._note(_identity(ctx))

    def claim(self, ctx: Ctx) -> bool:
        """Make the connection that of a client, if it is nobody's yet; return whether it is the client's."""
        client = _identity(ctx)
        if self._first is None:
            self._first = client
        is_its_own = client[0] == self._first[0]
        if is_its_own:
            self._note(client)
        return is_its_own

    def _note(self, client: tuple[Hashable, object]) -> None:
        if client[1] is not None:
            self._clients.add(client[0])

    def client_has_gone(self, ctx: Ctx) -> None:
        """Take note that the connection of a client before 2026-07-28 to the gateway has ended."""
        self._clients.discard(_identity(ctx)[0])

    @property
    def is_of_one(self) -> bool:
        """Whether it is that of a client before 2026-07-28, which loses it to nobody while it is there."""
        return self._first is not None and self._first[1] is not None

    @property
    def is_left(self) -> bool:
        """Whether it was that of such a client, and all who have used it are gone."""
        return self.is_of_one and not self._clients and self.is_idle

    @property
    def is_idle(self) -> bool:
        """Whether no request runs on it."""
        return not self._askers and not self._questions and not self._requests

    # --- what is sent and heard ------------------------------------------------------------------------

    async def during(self, ctx: Ctx | None, send: Callable[[ClientSession], Awaitable[T]]) -> T:
        """Send a request; what the server asks meanwhile is asked of the client of a request in front.

        Args:
            ctx: of the request in front; None if there is none.
            send: sends it.

        Raises:
            Exception: as `send` does.
        """
        if ctx is None:
            self._requests += 1
            try:
                return await send(self.client.session)
            finally:
                self._requests -= 1
        self.note_client(ctx)
        found: list[T] = []
        failure: Exception | None = None
        async with anyio.create_task_group() as group:
            asker = Asker(ctx, group)
            self._askers[asker] = None
            try:
                found.append(await send(self.client.session))
            except Exception as error:  # noqa: BLE001  # the group would wrap what is raised in it
                failure = error
            finally:
                del self._askers[asker]
            group.cancel_scope.cancel()
        if failure is not None:
            raise failure
        return found[0]

    def _asker(self) -> Asker | None:
        """Return the request in front during which the server speaks; None if that isn't certain.

        It may speak of a request that is over, so it is certain only if all came from one client.
        """
        found = list(self._askers)
        is_one = not self._is_shared and len({asker.client for asker in found}) == 1
        return found[-1] if is_one else None

    def _lone_front(self) -> Ctx | None:
        """Return the only client that the server can mean outside of any request."""
        contexts = self._link.fronts.contexts
        if self._askers or self._is_shared:
            return None
        if self._first is not None:
            found: Ctx | None = contexts.get(self._first[0])
            return found
        return next(iter(contexts.values())) if len(contexts) == 1 else None

    async def _asked(self, context: Any, params: Any) -> Any:
        del context  # the SDK gives it by this name
        is_for_model = isinstance(params, types.CreateMessageRequestParams)
        kind = types.CreateMessageRequest if is_for_model else types.ElicitRequest
        return await self._ask(kind(params=params))

    async def _roots_asked(self, context: Any) -> Any:
        del context
        return await self._ask(types.ListRootsRequest())

    async def _ask(self, request: types.InputRequest) -> Any:
        """Ask the client in front; return its answer, or why it can't be asked."""
        if self._questions >= MOST_QUESTIONS:
            return refused(f"there are {MOST_QUESTIONS} other questions that wait for an answer")
        self._questions += 1
        try:
            request = self._link.named(request)
            asker = self._asker()
            if asker is not None:
                return await asker.run(lambda: ask_front(asker.ctx, request, asker.ctx.request_id))
            lone = self._lone_front()
            if lone is not None:
                return await ask_front(lone, request, None)
        except MCPError as error:
            return error.error
        finally:
            self._questions -= 1
        _LOG.warning("%s: a question isn't asked: several clients have used its connection", self._link.name)
        return refused("the gateway can't tell which of its clients is meant")

    async def _logged(self, params: types.LoggingMessageNotificationParams) -> None:
        asker = self._asker()
        ctx = self._lone_front() if asker is None else asker.ctx
        if ctx is None or not self._link.fronts.wants(ctx, params.level):
            return
        notification = sendable(types.LoggingMessageNotification(params=params), self._link.name)
        await ctx.session.send_notification(notification, None if asker is None else ctx.request_id)

    async def _heard(self, message: Any) -> None:
        if self.is_open and not isinstance(message, Exception):
            self._link.heard(self._link, self, message)


def _identity(ctx: Ctx) -> tuple[Hashable, object | None]:
    """Return what `client_of` does; of a client that has said nothing of itself, what equals nothing else."""
    is_known = is_modern(ctx.protocol_version) or ctx.session.client_params is not None
    return client_of(ctx) if is_known else (object(), None)


class Retry:
    """When something is asked of a server again: `at`, on the clock of the event loop."""

    __slots__ = ("_wait", "at")

    def __init__(self) -> None:
        self.at, self._wait = 0.0, _FIRST_RETRY

    @property
    def is_due(self) -> bool:
        """Whether it may be asked now."""
        return anyio.current_time() >= self.at

    def note_failure(self) -> float:
        """Take note that it was asked now; return the seconds until it may be asked again."""
        wait = self._wait
        self.at, self._wait = anyio.current_time() + wait, min(2 * wait, _LAST_RETRY)
        return wait


class _Own:
    """The connection of one client before 2026-07-28, of which a server may ask at any time.

    Attributes:
        lock: of whoever opens it.
        connection: the last one, which may have ended; None if it wasn't needed so far.
        was_ended: whether it was ended for another client, and its own hasn't been told.
        retry: after the server has given none.
    """

    __slots__ = ("connection", "lock", "retry", "was_ended")

    def __init__(self, _: Hashable) -> None:
        self.lock, self.retry = anyio.Lock(), Retry()
        self.connection: Connection | None = None
        self.was_ended = False


class Link:
    """One server behind the gateway, with a connection for each client that it may ask.

    Over a connection, a server before 2026-07-28 asks without saying about which call. So the first client
    gets the gateway's own connection, and each further one gets another. Clients from 2026-07-28 on, which
    are asked by the answer to their call, share one.

    Args:
        name: for messages.
        source: as `Gateway` takes it.
        fronts: the clients in front.
        group: whose tasks keep the connections.
        heard: takes each notification of the server about changes.
        reopened: is called when a connection stands in for another one that has ended: with both.
        lost: is called when a connection has ended.
        seconds: that it may take to connect, and to answer; None for no limit.
        says_name: whether a person is told which server asks.
    """

    def __init__(
        self,
        name: str,
        source: Source,
        fronts: Fronts,
        group: TaskGroup,
        heard: Heard,
        reopened: Reopened,
        lost: Lost,
        seconds: float | None,
        *,
        says_name: bool,
    ) -> None:
        self.name, self.source, self.fronts, self.heard = name, source, fronts, heard
        self.says_name, self.lost = says_name, lost
        self._group, self._seconds, self._reopened = group, seconds, reopened
        self._lock = anyio.Lock()
        self.home = Connection(self, "auto")
        self._other: Connection | None = None
        self._retry = Retry()  # of the other generation
        self._mode = "auto"
        self._is_used = False
        self._speaks_one = False
        self._own: PerClient[_Own] = PerClient(_Own)
        self._newer = _Own(None)  # of all clients from 2026-07-28 on, at a server before it
        self._opened: dict[_Own, None] = {}  # those with a connection: what was used last is the last one

    async def open(self) -> None:
        """Connect to the server.

        Raises:
            ConnectionError: it can't be reached.
        """
        try:
            await self._start(self.home)
        except Exception as error:  # a transport may raise anything
            message = f"the server {self.name} can't be reached: {reason_of(error)}"
            raise ConnectionError(message) from error
        self._speaks_one = not self.home.is_modern  # else it would have said so

    async def _start(self, connection: Connection) -> None:
        with anyio.move_on_after(self._seconds) as limit:
            await self._group.start(connection.hold)
        if limit.cancelled_caught:
            message = f"it gave no answer within {self._seconds:g} s"
            raise TimeoutError(message)

    @property
    def capabilities(self) -> types.ServerCapabilities:
        """What the server says that it can do."""
        return self.home.capabilities

    async def connection(self, ctx: Ctx | None) -> Connection:
        """Return the connection for a request in front.

        Args:
            ctx: of the request; None if it is the gateway's own.

        Raises:
            MCPError: the server can't be reached any more, or the client's connection was ended.
        """
        shared = await self.shared_connection(ctx)
        if ctx is None or shared.is_modern:
            return shared
        if is_modern(ctx.protocol_version):
            return (await self._connection_of(self._newer, ctx) or shared) if shared.is_of_one else shared
        if ctx.session.client_params is None:
            return shared
        self.fronts.meet(ctx)
        own = self._own.of(ctx)
        if own not in self._opened and not own.was_ended:
            if shared.is_left:  # what the server knows of others, and asks about them, ends with it
                shared.close()
                shared = await self.shared_connection(ctx)
            if shared.claim(ctx):
                self._replace(own.connection, shared)
                own.connection = None
                return shared
        return await self._connection_of(own, ctx) or shared

    async def _connection_of(self, own: _Own, ctx: Ctx) -> Connection | None:
        """Return the connection of one client, opened if need be; None if there can't be a further one.

        Raises:
            MCPError: it was ended for another client since the last request.
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
                made = await self._opened_for(own)
            if made is None:
                return None
            made.claim(ctx)
            own.connection, self._opened[own] = made, self._opened.pop(own, None)
            self._replace(before, made)
            return made

    async def _opened_for(self, own: _Own) -> Connection | None:
        """Connect for one client; None if there can't be a further connection."""
        self._opened.pop(own, None)
        if not own.retry.is_due or not self._has_room():
            return None
        self._opened[own] = None  # before anything waits, so that there are never too many
        try:
            made = await self._again("legacy", own.connection)
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
        """Return whether one more client may have a connection; the one unused for longest ends for it."""
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

    def _end(self, own: _Own) -> None:
        del self._opened[own]
        if own.connection is not None:
            own.connection.close()

    def was_ended(self, connection: Connection) -> bool:
        """Return whether a connection was ended for another client, and its own hasn't been told."""
        owns = [self._newer, *self._own.values()]
        return any(own.was_ended and own.connection is connection for own in owns)

    def client_has_gone(self, ctx: Ctx) -> None:
        """End the connection of a client before 2026-07-28 that has gone; the first one is for others now."""
        own = self._own.of(ctx)
        if own in self._opened:
            self._end(own)
        for shared in (self.home, self._other):
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
            other = self._other
            if (other is None or not other.is_open) and self._retry.is_due:
                await self._open_other(wants_modern=wants_modern)
                other = self._other
            return other if other is not None and other.is_open else self.home

    async def _open_other(self, *, wants_modern: bool) -> None:
        """Connect by the other generation; the first client decides by which one the gateway itself does.

        So a server that is started here runs once, and keeps what it knows, unless clients of both come.
        """
        mode, before = "auto" if wants_modern else "legacy", self._other
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
            self._other = made
            self._replace(before, made)
        else:
            before, self.home = self.home, made
            self._mode, self._is_used = mode, True
            before.close()
            self._replace(before, made)

    def _replace(self, before: Connection | None, made: Connection) -> None:
        if before is not None and before is not made:
            self._reopened(self, before, made)

    async def _again(self, mode: str, before: Connection | None) -> Connection:
        """Connect once more; a server may take only one connection, so the one before ends first."""
        if before is not None:
            await before.over()
        made = Connection(self, mode)
        try:
            await self._start(made)
        except Exception as error:  # a transport may raise anything
            raise self._unreachable(error) from error
        try:
            await self._set_level_of(made)
        except BaseException:  # a cancelled request too: nobody would know of the connection
            made.close()
            raise
        return made

    def _unreachable(self, error: BaseException) -> MCPError:
        """Return what a client reads; the reason may hold secrets of a command or of headers."""
        _LOG.warning("%s: the server can't be reached: %s", self.name, reason_of(error))
        return GoneError(
            f"the server {self.name} can't be reached: try again later, or continue without its tools"
        )

    async def request(
        self, ctx: Ctx | None, send: Callable[[ClientSession], Awaitable[T]], *, is_call: bool = False
    ) -> T:
        """Send a request to the server.

        Args:
            ctx: of the request in front; None if there is none.
            send: sends it, by the session that it gets.
            is_call: whether it is a call of a tool: the executor limits its time, and says what fails.

        Raises:
            MCPError: what the server says, or why it gave no answer.
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
        """Send a request by a connection to the server, as `request` does."""
        try:
            with anyio.fail_after(None if is_call else self._seconds):
                return await connection.during(ctx, send)
        except TimeoutError:
            message = f"the server {self.name} gave no answer within {self._seconds:g} s"
            raise GoneError(message) from None
        except ValidationError:
            message = f"the server {self.name} gave an answer that isn't one of the protocol"
            raise GoneError(message) from None
        except MCPError as error:
            if (error.code, error.message) not in _CLOSED:
                raise passed(error, self.name) from error
            connection.close()
            message = f"the server {self.name} has closed its connection; another request opens it again"
            raise GoneError(message) from error
        except Exception as error:  # a transport may raise anything; its words may hold secrets
            if is_call:
                raise
            _LOG.warning("%s: a request failed: %s", self.name, reason_of(error))
            message = f"a request to the server {self.name} failed"
            raise GoneError(message) from error

    def named(self, request: Q) -> Q:
        """Return a question of the server, which says whose it is if there are others.

        Raises:
            MCPError: it is too large, or can't be written.
        """
        sendable(request, self.name)
        if not self.says_name or not isinstance(request, types.ElicitRequest):
            return request
        params = request.params.model_copy(update={"message": f"{self.name}: {request.params.message}"})
        return request.model_copy(update={"params": params})

    async def set_level(self) -> None:
        """Ask a server before 2026-07-28 for the log records that any client wants."""
        for connection in (self.home, self._other, *[own.connection for own in self._opened]):
            if connection is not None and connection.is_open:
                await self._set_level_of(connection)

    async def _set_level_of(self, connection: Connection) -> None:
        wanted = [level for known in self.fronts.levels.values() for level in known]
        if not wanted or connection.is_modern or connection.capabilities.logging is None:
            return
        least: Any = min(wanted, key=LEVELS.index)
        request = types.SetLevelRequest(params=types.SetLevelRequestParams(level=least))
        try:
            with anyio.fail_after(self._seconds):
                await connection.client.session.send_request(request, types.EmptyResult)
        except Exception as error:  # noqa: BLE001  # a transport may raise anything, and requests say so
            _LOG.warning("%s: the level of its log can't be set: %s", self.name, reason_of(error))
