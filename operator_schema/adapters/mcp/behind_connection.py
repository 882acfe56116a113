"""One connection to a server behind a gateway, and the clients that get the server's questions and logs."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import anyio
import mcp_types as types
from mcp import Client
from mcp.shared.exceptions import MCPError

from .forwarding import MOST_QUESTIONS, Asker, ForwardedQuestion, ask_client, reason_of, refused, sendable
from .gateway_chain import marked
from .generations import client_of, is_modern

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Hashable
    from typing import TypeAlias

    from anyio.abc import TaskStatus
    from mcp import ClientSession
    from mcp.server.context import ServerRequestContext

    from ..mcp_connection import Source
    from .forwarding import GatewayClients

    Ctx: TypeAlias = ServerRequestContext[Any, Any]

T = TypeVar("T")

_SECONDS_TO_END = 5.0
"""How many seconds a connection may take to end before another one replaces it."""

_LOG = logging.getLogger("operator_schema.mcp_gateway")


class _Server(Protocol):
    """The part of a `Link` that its connections use."""

    name: str
    source: Source
    clients: GatewayClients
    heard: Callable[[Any, Connection, types.ServerNotification], None]
    lost: Callable[[Any, Connection], None]

    def with_server_name(self, request: Any, /) -> Any:
        """Return a question with the name of the server in front, if there are several servers."""


class Connection:
    """One connection to a server behind the gateway.

    Attributes:
        client: the client that talks to the server.
        capabilities: the capabilities of the server; kept after the connection has ended.
        is_modern: whether the server speaks version 2026-07-28 or later here.
        is_open: whether the connection can be used.
    """

    def __init__(self, link: _Server, mode: str) -> None:
        self._link, self._mode = link, mode
        self._askers: dict[Asker, None] = {}
        self._questions: dict[ForwardedQuestion, None] = {}
        self._requests = 0
        self._owes_roots = False  # the server asked for roots when no client was there
        self._first: tuple[Hashable, object] | None = None  # kept, so that no other client gets the same id
        self._clients: set[Hashable] = set()  # connected clients before 2026-07-28 that used it
        self._is_shared = False
        self._scope, self._ended = anyio.CancelScope(), anyio.Event()
        self.client: Client
        self.capabilities: types.ServerCapabilities
        self.is_open = self.is_modern = False

    async def hold(self, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Connect, and keep the connection until `close`; the task has started once the connection is usable.

        Raises:
            Exception: the reason why the connection failed.
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
            if not was_open:  # an exception at the end would end the gateway
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

    async def wait_for_end(self) -> None:
        """Wait up to five seconds until the connection has ended; `close` only starts that."""
        with anyio.move_on_after(_SECONDS_TO_END):
            await self._ended.wait()

    # --- owners --------------------------------------------------------------------------------------

    def note_client(self, ctx: Ctx) -> None:
        """Note that a client uses the connection: later questions may be for any of these clients."""
        if not self.claim(ctx):
            self._is_shared = True
            self._note(_identity(ctx))

    def claim(self, ctx: Ctx) -> bool:
        """Give the connection to a client if nobody owns it yet; return whether this client owns it."""
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
        """Note that a client's connection to the gateway has ended."""
        self._clients.discard(_identity(ctx)[0])

    @property
    def belongs_to_one(self) -> bool:
        """Whether the connection belongs to one client before version 2026-07-28 that is still connected."""
        return self._first is not None and self._first[1] is not None

    @property
    def is_abandoned(self) -> bool:
        """Whether it belonged to one such client, and all clients that used it have disconnected."""
        return self.belongs_to_one and not self._clients and self.is_idle

    @property
    def is_idle(self) -> bool:
        """Whether no request is running on the connection."""
        return not self._askers and not self._questions and not self._requests

    # --- what is sent and heard ------------------------------------------------------------------------

    async def send_for(self, ctx: Ctx | None, send: Callable[[ClientSession], Awaitable[T]]) -> T:
        """Send a request, and meanwhile forward the server's questions to the client.

        Args:
            ctx: the context of the client's request; None if there is none.
            send: a function that sends the request.

        Raises:
            Exception: the same as from `send`.
        """
        if ctx is None:
            self._requests += 1
            try:
                return await send(self.client.session)
            finally:
                self._requests -= 1
        self.note_client(ctx)
        await self.tell_of_roots(ctx)
        asker = Asker(ctx)
        self._askers[asker] = None
        try:
            return await send(self.client.session)
        finally:
            del self._askers[asker]
            for question in self._questions:
                question.end_request(asker)

    async def tell_of_roots(self, ctx: Ctx) -> None:
        """Tell a server that it may ask this client for roots, if it asked when there was no client."""
        can = ctx.session.client_capabilities
        if not self._owes_roots or can is None or can.roots is None or self._is_shared:
            return
        if self._first is None or self._first[0] == _identity(ctx)[0]:
            self._owes_roots = False
            await self.client.session.send_notification(types.RootsListChangedNotification())

    def _open_requests(self) -> list[Asker]:
        """Return the client's open requests that a message of the server may belong to.

        There are none unless all requests came from one client: the server may mean one that has ended.
        """
        found = list(self._askers)
        is_one = not self._is_shared and len({asker.client for asker in found}) == 1
        return found if is_one else []

    def _only_client(self) -> Ctx | None:
        """Return the client for a message outside of any request; None unless only one is possible."""
        contexts = self._link.clients.contexts
        if self._askers or self._is_shared:
            return None
        if self._first is not None:
            found: Ctx | None = contexts.get(self._first[0])
            return found
        return next(iter(contexts.values())) if len(contexts) == 1 else None

    async def _asked(self, context: Any, params: Any) -> Any:
        del context  # the SDK calls it by this name
        is_for_model = isinstance(params, types.CreateMessageRequestParams)
        kind = types.CreateMessageRequest if is_for_model else types.ElicitRequest
        return await self._ask(kind(params=params))

    async def _roots_asked(self, context: Any) -> Any:
        del context
        return await self._ask(types.ListRootsRequest())

    async def _ask(self, request: types.InputRequest) -> Any:
        """Ask the client; return its answer, or why it can't be asked."""
        if len(self._questions) >= MOST_QUESTIONS:
            return refused(f"there are {MOST_QUESTIONS} other questions that wait for an answer")
        requests = self._open_requests()
        question = ForwardedQuestion(() if isinstance(request, types.ListRootsRequest) else requests)
        self._questions[question] = None
        try:
            request = self._link.with_server_name(request)
            if requests:
                ctx = requests[-1].ctx
                return await question.asked(lambda: ask_client(ctx, request, ctx.request_id))
            lone = self._only_client()
            if lone is not None:
                return await ask_client(lone, request, None)
        except MCPError as error:
            return error.error
        finally:
            del self._questions[question]
        return self._answer_without_client(request)

    def _answer_without_client(self, request: types.InputRequest) -> Any:
        """Log a question that no client can be asked, and return the answer for the server."""
        name = self._link.name
        if self._first is not None:
            why, reason = (
                "several clients have used its connection",
                "the gateway can't tell which of its clients is meant",
            )
            if not self._is_shared:
                reason = why = "its client has gone, or can be asked only during a call"
            _LOG.warning("%s: a question isn't asked: %s", name, why)
            return refused(reason)
        if isinstance(request, types.ListRootsRequest):
            self._owes_roots = True
            _LOG.info(
                "%s: it asks for roots before any client has used its connection: it gets none yet", name
            )
            return types.ListRootsResult(roots=[])
        _LOG.info("%s: a question isn't asked: no client has used its connection yet", name)
        return refused("no client has used the connection yet")

    async def _logged(self, params: types.LoggingMessageNotificationParams) -> None:
        requests = self._open_requests()
        asker = requests[-1] if requests else None
        ctx = self._only_client() if asker is None else asker.ctx
        if ctx is None or not self._link.clients.wants(ctx, params.level):
            return
        notification = sendable(types.LoggingMessageNotification(params=params), self._link.name)
        await ctx.session.send_notification(notification, None if asker is None else ctx.request_id)

    async def _heard(self, message: Any) -> None:
        if self.is_open and not isinstance(message, Exception):
            self._link.heard(self._link, self, message)


def _identity(ctx: Ctx) -> tuple[Hashable, object | None]:
    """Return the identity of a client, as `client_of` does; a client without a handshake equals no other."""
    is_known = is_modern(ctx.protocol_version) or ctx.session.client_params is not None
    return client_of(ctx) if is_known else (object(), None)
