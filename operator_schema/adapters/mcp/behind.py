"""How does a gateway talk to one server behind it, and which client gets what that server asks and logs?"""

from __future__ import annotations

import logging
from contextlib import asynccontextmanager
from contextvars import ContextVar, copy_context
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, cast, get_args

import anyio
import mcp_types as types
from mcp import Client
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel, ValidationError

from ...errors import CallError
from ...immutable import Value
from ...tools import Progress, skip
from ..mcp_client import ToolSource, all_pages, checked_answer, for_the_model, progress_to
from ..mcp_connection import transport_of
from .changes import PerClient, client_of
from .content import is_modern
from .handed_on import MOST_QUESTIONS, ask_front, driven, passed, reason_of, refused, sendable

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Hashable, Mapping
    from contextlib import AbstractAsyncContextManager
    from typing import Self, TypeAlias

    from anyio.abc import TaskGroup, TaskStatus
    from mcp import ClientSession
    from mcp.server.context import ServerRequestContext
    from mcp.shared.message import SessionMessage

    from ..mcp_connection import Source

    Ctx: TypeAlias = ServerRequestContext[Any, Any]
    Heard: TypeAlias = "Callable[[Link, types.ServerNotification], None]"

__all__ = ["BehindTools", "Fronts", "Link", "ServerBehind", "current_request"]

T = TypeVar("T")
M = TypeVar("M", bound=BaseModel)
Q = TypeVar("Q", types.ElicitRequest, types.CreateMessageRequest, types.ListRootsRequest, types.InputRequest)

_CONNECT_SECONDS = 60.0
_CLOSED = types.CONNECTION_CLOSED, "Connection closed"
"""How the SDK says it; a server may use the same code for anything."""

_LOG = logging.getLogger("operator_schema.mcp_gateway")
_LEVELS = get_args(types.LoggingLevel)
_CAPABILITIES = "operator-schema/clientCapabilities"
"""Key under `_meta` of a request on its way to the transport, which puts the value in its right place."""


class ServerBehind(Value):
    """A server of a gateway, of which not everything is offered as it is.

    Attributes:
        source: as for `Gateway`.
        only: names of its tools that are offered; None for all.
        confirm: whether a person has to agree to calls: of all its tools, or of those with these names.
    """

    source: Source
    only: Collection[str] | None = None
    confirm: bool | Collection[str] = False

    def __init__(
        self,
        source: Source,
        only: Collection[str] | None = None,
        confirm: bool | Collection[str] = False,  # noqa: FBT001,FBT002  # `Value.replace` gives it by position
    ) -> None:
        for name, value in (("only", only), ("confirm", confirm)):
            if isinstance(value, str):
                message = f"{name} is a list of names of tools, not a text: write {name}=[{value!r}]"
                raise TypeError(message)
        super().__init__(source, only, confirm)

    @property
    def named(self) -> frozenset[str]:
        """Names of tools that its server has to have."""
        asked = () if isinstance(self.confirm, bool) else self.confirm
        return frozenset([*(self.only or ()), *asked])

    def choices(self) -> list[tuple[Callable[[str], bool], dict[str, Any]]]:
        """Return which tools are offered with which options: a function of the name there, and options."""
        only, confirm = self.only, self.confirm

        def is_wanted(name: str) -> bool:
            return only is None or name in only

        def is_asked(name: str) -> bool:
            return confirm if isinstance(confirm, bool) else name in confirm

        if confirm is False:
            return [(is_wanted, {})]
        return [
            (lambda name: is_wanted(name) and not is_asked(name), {}),
            (lambda name: is_wanted(name) and is_asked(name), {"confirm": True}),
        ]


class Fronts:
    """The clients in front that have a connection, and which log records they want.

    Attributes:
        contexts: of the clients before 2026-07-28.
        levels: the level of log records that such a client has asked for, as the only item, or none.
    """

    __slots__ = ("contexts", "levels")

    def __init__(self) -> None:
        self.contexts: dict[int, Ctx] = {}
        self.levels: PerClient[list[types.LoggingLevel]] = PerClient(lambda _: [])

    def wants(self, ctx: Ctx, level: types.LoggingLevel) -> bool:
        """Return whether the client of a request wants log records of a level."""
        if is_modern(ctx.protocol_version):
            least: Any = (ctx.meta or {}).get(types.LOG_LEVEL_META_KEY)
            return least in _LEVELS and _LEVELS.index(level) >= _LEVELS.index(least)
        known = self.levels.of(ctx)
        return not known or _LEVELS.index(level) >= _LEVELS.index(known[0])


class _Asker:
    """A request of a client, during which the server behind may ask that client.

    Attributes:
        ctx: of the request.
        client: what tells clients apart; each request from 2026-07-28 on counts as one of its own.
    """

    __slots__ = ("_context", "_group", "client", "ctx")

    def __init__(self, ctx: Ctx, group: TaskGroup) -> None:
        self.ctx, self._group = ctx, group
        client = ctx.session.client_params
        self.client = id(self if client is None or is_modern(ctx.protocol_version) else client)
        self._context = copy_context()

    async def run(self, ask: Callable[[], Awaitable[T]]) -> T | types.ErrorData:
        """Run something as a part of the request: it ends with it, and the request's clock knows of it."""
        found: list[T | types.ErrorData] = []
        done = anyio.Event()

        async def run() -> None:
            try:
                found.append(await ask())
            except MCPError as error:
                found.append(error.error)
            except Exception as error:  # noqa: BLE001  # what the client answers may be anything
                _LOG.warning("a question of a server couldn't be asked: %r", error)
            finally:
                done.set()

        try:
            self._context.run(self._group.start_soon, run)
        except RuntimeError:  # the request is over
            return refused("the request that it belongs to is over")
        await done.wait()
        return found[0] if found else refused("the gateway's client gave no answer to it")


class Connection:
    """One connection to a server behind the gateway.

    Attributes:
        client: that talks to the server.
        is_open: whether it can be used.
    """

    def __init__(self, link: Link, mode: str) -> None:
        self._link, self._mode = link, mode
        self._askers: dict[_Asker, None] = {}
        self._questions = 0
        self._first: tuple[Hashable, object] | None = None  # kept, so that no other client gets its id
        self._is_shared = False
        self._scope = anyio.CancelScope()
        self.client: Client
        self.is_open = False

    @property
    def is_modern(self) -> bool:
        """Whether the server speaks a version from 2026-07-28 on here."""
        return is_modern(self.client.protocol_version)

    async def hold(self, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Connect, and keep the connection until `close`; the task starts when it can be used.

        Raises:
            Exception: why it can't be made.
        """
        client = Client(
            _marked(self._link.source),
            mode=self._mode,
            cache=None,
            elicitation_callback=self._asked,
            sampling_callback=self._asked,
            list_roots_callback=self._roots_asked,
            logging_callback=self._logged,
            message_handler=self._heard,
        )
        try:
            async with client:
                self.client, self.is_open = client, True
                task_status.started()
                with self._scope:
                    await anyio.sleep_forever()
        except Exception as error:
            if not self.is_open:
                raise
            _LOG.warning("%s: the connection ended: %r", self._link.name, error)
        finally:
            self.is_open = False

    def close(self) -> None:
        """End the connection; requests on it fail."""
        self.is_open = False
        self._scope.cancel()

    def note_client(self, ctx: Ctx) -> None:
        """Take note of a client: what the server asks or logs later may belong to any that came so far."""
        is_known = is_modern(ctx.protocol_version) or ctx.session.client_params is not None
        client = client_of(ctx) if is_known else (object(), None)
        if self._first is None:
            self._first = client
        elif client[0] != self._first[0]:
            self._is_shared = True

    async def during(self, ctx: Ctx | None, send: Callable[[ClientSession], Awaitable[T]]) -> T:
        """Send a request; what the server asks meanwhile is asked of the client of a request in front.

        Args:
            ctx: of the request in front; None if there is none.
            send: sends it.

        Raises:
            Exception: as `send` does.
        """
        if ctx is None:
            return await send(self.client.session)
        self.note_client(ctx)
        found: list[T] = []
        failure: Exception | None = None
        async with anyio.create_task_group() as group:
            asker = _Asker(ctx, group)
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

    def _asker(self) -> _Asker | None:
        """Return the request in front during which the server speaks; None if that isn't certain.

        It may speak of a request that is over, so it is certain only if all came from one client.
        """
        found = list(self._askers)
        is_one = not self._is_shared and len({asker.client for asker in found}) == 1
        return found[-1] if is_one else None

    def _lone_front(self) -> Ctx | None:
        """Return the only client that the server can mean outside of any request."""
        contexts = list(self._link.fronts.contexts.values())
        if len(contexts) != 1 or self._askers or self._is_shared:
            return None
        is_other = self._first is not None and client_of(contexts[0])[0] != self._first[0]
        return None if is_other else contexts[0]

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
            self._link.heard(self._link, message)


class Link:
    """One server behind the gateway, with a connection for each generation of the protocol.

    Args:
        name: for messages.
        source: as `Gateway` takes it.
        fronts: the clients in front.
        group: whose tasks keep the connections.
        heard: takes each notification of the server about changes.
        reopened: is called when the connection was lost and is there again.
        seconds: that it may take to answer; None for no limit.
        says_name: whether a person is told which server asks.
    """

    def __init__(
        self,
        name: str,
        source: Source,
        fronts: Fronts,
        group: TaskGroup,
        heard: Heard,
        reopened: Callable[[Link], None],
        seconds: float | None,
        *,
        says_name: bool,
    ) -> None:
        self.name, self.source, self.fronts, self.heard = name, source, fronts, heard
        self.says_name = says_name
        self._group, self._seconds, self._reopened = group, seconds, reopened
        self._lock = anyio.Lock()
        self.home = Connection(self, "auto")
        self._other: Connection | None = None
        self._mode = "auto"
        self._is_used = False
        self._speaks_one = False

    async def open(self) -> None:
        """Connect to the server.

        Raises:
            ConnectionError: it can't be reached.
        """
        try:
            with anyio.fail_after(_CONNECT_SECONDS):
                await self._group.start(self.home.hold)
        except Exception as error:
            message = f"the server {self.name} can't be reached: {reason_of(error)}"
            raise ConnectionError(message) from error
        self._speaks_one = not self.home.is_modern  # else it would have said so

    @property
    def capabilities(self) -> types.ServerCapabilities:
        """What the server says that it can do."""
        return self.home.client.server_capabilities

    async def connection(self, ctx: Ctx | None) -> Connection:
        """Return the connection for a request in front: of the same generation, if the server speaks it.

        Raises:
            MCPError: the server can't be reached any more.
        """
        async with self._lock:
            if not self.home.is_open:
                self.home = await self._again(self._mode)
                self._reopened(self)
            if ctx is None or self._speaks_one:
                return self.home
            wants_modern = is_modern(ctx.protocol_version)
            if wants_modern == self.home.is_modern:
                self._is_used = True
                return self.home
            if self._other is None or not self._other.is_open:
                await self._open_other(wants_modern=wants_modern)
            return self.home if self._other is None else self._other

    async def _open_other(self, *, wants_modern: bool) -> None:
        """Connect by the other generation; the first client decides by which one the gateway itself does.

        So a server that is started here runs once, and keeps what it knows, unless clients of both come.
        """
        mode = "auto" if wants_modern else "legacy"
        try:
            made = await self._again(mode)
        except MCPError:
            self._speaks_one = True
            return
        if made.is_modern != wants_modern:
            made.close()
            self._speaks_one = True
        elif self._is_used:
            self._other = made
        else:
            before, self.home = self.home, made
            self._mode, self._is_used = mode, True
            before.close()
            self._reopened(self)

    async def _again(self, mode: str) -> Connection:
        made = Connection(self, mode)
        try:
            with anyio.fail_after(_CONNECT_SECONDS):
                await self._group.start(made.hold)
        except Exception as error:
            raise self._unreachable(error) from error
        await self._set_level_of(made)
        return made

    def _unreachable(self, error: BaseException) -> MCPError:
        """Return what a client reads; the reason may hold secrets of a command or of headers."""
        _LOG.warning("%s: the server can't be reached: %s", self.name, reason_of(error))
        return MCPError(types.INTERNAL_ERROR, f"the server {self.name} can't be reached")

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
        connection = await self.connection(ctx)
        try:
            with anyio.fail_after(None if is_call else self._seconds):
                return await connection.during(ctx, send)
        except TimeoutError:
            message = f"the server {self.name} gave no answer within {self._seconds:g} s"
            raise MCPError(types.INTERNAL_ERROR, message) from None
        except ValidationError:
            message = f"the server {self.name} gave an answer that isn't one of the protocol"
            raise MCPError(types.INTERNAL_ERROR, message) from None
        except MCPError as error:
            if (error.code, error.message) != _CLOSED:
                raise passed(error, self.name) from error
            connection.close()
            message = f"the server {self.name} has closed its connection; another request opens it again"
            raise MCPError(types.INTERNAL_ERROR, message) from error
        except Exception as error:
            if is_call:
                raise
            _LOG.warning("%s: a request failed: %s", self.name, reason_of(error))
            raise MCPError(types.INTERNAL_ERROR, f"a request to the server {self.name} failed") from error

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

    def meta(self, ctx: Ctx | None) -> Any:
        """Return what a server from 2026-07-28 on is to know: what the client can do, which logs it wants."""
        if ctx is None:
            return None
        can = ctx.session.client_capabilities or types.ClientCapabilities()
        level: Any = (ctx.meta or {}).get(types.LOG_LEVEL_META_KEY)
        if not is_modern(ctx.protocol_version):
            level = next(iter(self.fronts.levels.of(ctx)), "info")
        said = {_CAPABILITIES: can.model_dump(by_alias=True, mode="json", exclude_none=True)}
        return {**said, types.LOG_LEVEL_META_KEY: level} if level in _LEVELS else said

    async def set_level(self) -> None:
        """Ask a server before 2026-07-28 for the log records that any client wants."""
        for connection in (self.home, self._other):
            if connection is not None and connection.is_open:
                await self._set_level_of(connection)

    async def _set_level_of(self, connection: Connection) -> None:
        wanted = [level for known in self.fronts.levels.values() for level in known]
        if not wanted or connection.is_modern or connection.client.server_capabilities.logging is None:
            return
        least: Any = min(wanted, key=_LEVELS.index)
        request = types.SetLevelRequest(params=types.SetLevelRequestParams(level=least))
        try:
            with anyio.fail_after(self._seconds):
                await connection.client.session.send_request(request, types.EmptyResult)
        except (MCPError, TimeoutError) as error:
            _LOG.warning("%s: the level of its log can't be set: %s", self.name, reason_of(error))


# --- tools -----------------------------------------------------------------------------------------


current_request: ContextVar[Any] = ContextVar("operator_schema_mcp_gateway_request", default=None)
"""The request in front in which a tool is called."""


class BehindTools(ToolSource):
    """Where the tools of one server come from: a call takes the connection that the client in front needs."""

    def __init__(
        self, link: Link, prefix: str, chosen: Callable[[str], bool], options: Mapping[str, Any]
    ) -> None:
        super().__init__(link.home.client, prefix, chosen, options)
        self._link = link
        self._is_held = bool(options.get("confirm"))

    async def listed(self) -> list[types.Tool]:
        """Ask the server for its tools."""
        return await self._link.request(
            None,
            lambda session: all_pages(lambda params: session.list_tools(params=params), "tools", "name"),
        )

    def caller(self, original: str, name: str) -> Callable[..., Any]:
        """Return the function of a tool."""
        link = self._link

        async def call(
            arguments: dict[str, Any], progress: Annotated[Progress | None, skip] = None
        ) -> types.CallToolResult:
            ctx: Ctx | None = current_request.get()

            async def again(answers: Any, state: str | None) -> Any:
                async def send(session: ClientSession) -> Any:
                    return await session.call_tool(
                        original,
                        arguments,
                        progress_callback=progress_to(progress),
                        input_responses=answers,
                        request_state=state,
                        meta=link.meta(ctx),
                        allow_input_required=True,
                    )

                return await link.request(ctx, send, is_call=True)

            given = None if self._is_held else _given(ctx, name)
            answers, state = given or (None, None)
            try:
                answer = await driven(await again(answers, state), ctx, link.named, again)
            except MCPError as error:
                # What is wrong with a state is nothing that a model could mend.
                raise (for_the_model(error) if state is None else error) from error
            if given is None and isinstance(answer, types.InputRequiredResult):
                message = f"{name} asks something first, and nobody can be asked from here"
                raise CallError(message)
            return cast("types.CallToolResult", checked_answer(sendable(answer, link.name), original))

        return call


def _given(ctx: Ctx | None, name: str) -> tuple[Any, str | None] | None:
    """Return the answers and the state of a call that is sent again; None if its client can't be asked so.

    Args:
        ctx: of the request in front.
        name: of the tool here, which may be called from within another one.
    """
    if ctx is None or ctx.method != "tools/call" or (ctx.params or {}).get("name") != name:
        return None
    params = types.CallToolRequestParams.model_validate(ctx.params, by_name=False)
    return params.input_responses, params.request_state


# --- the transport ---------------------------------------------------------------------------------


def _marked(source: Source) -> AbstractAsyncContextManager[Any]:
    """Return a transport to a server, in which each request says what the client in front of it can do."""

    @asynccontextmanager
    async def connect() -> AsyncGenerator[Any]:
        async with transport_of(source) as (read, write):
            yield read, _Marked(write)

    return connect()


class _Marked:
    """A stream of messages to a server, in which the capabilities of the client in front get their place."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    async def send(self, item: SessionMessage) -> None:
        """Send a message."""
        params: Any = getattr(item.message, "params", None)
        has_meta = isinstance(params, dict) and isinstance(cast("Any", params).get("_meta"), dict)
        meta: dict[str, Any] = cast("Any", params)["_meta"] if has_meta else {}
        if _CAPABILITIES in meta:
            found: Any = meta.pop(_CAPABILITIES)
            if types.CLIENT_CAPABILITIES_META_KEY in meta:
                meta[types.CLIENT_CAPABILITIES_META_KEY] = found
            else:  # a server before 2026-07-28
                meta.pop(types.LOG_LEVEL_META_KEY, None)
        await self._inner.send(item)

    async def aclose(self) -> None:
        """Close the stream."""
        await self._inner.aclose()

    async def __aenter__(self) -> Self:
        await self._inner.__aenter__()
        return self

    async def __aexit__(self, *failure: object) -> Any:
        return await self._inner.__aexit__(*failure)
