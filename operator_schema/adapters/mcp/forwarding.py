"""Questions and answers of a server that a gateway forwards to a client, and their limits."""

from __future__ import annotations

import logging
import os
from contextlib import ExitStack
from contextvars import copy_context
from typing import TYPE_CHECKING, Any, TypeVar, cast

import anyio
import mcp_types as types
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from pydantic import BaseModel, ValidationError

from ...execution import person_answers
from ...message_text import clip, said_by
from .asking import PatientSession
from .gateway_chain import CAPABILITIES, path_in, with_path
from .generations import connected_client, sends_log_level, takes_questions_as_answers
from .messages import LEVELS, LogLevels

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Hashable, Iterable
    from typing import TypeAlias

    from mcp.server.context import ServerRequestContext

    Ctx: TypeAlias = ServerRequestContext[Any, Any]

M = TypeVar("M", bound=BaseModel)
T = TypeVar("T")

MOST_CHARACTERS = 16 * 2**20
"""The most characters of an answer or a question of a server, as JSON."""

MOST_QUESTIONS = 100
"""The most questions of a server that wait for an answer."""

_LOG = logging.getLogger("operator_schema.mcp_gateway")
_MOST_ROUNDS = 10
_SHOWN = 2000


# --- clients ----------------------------------------------------------------------------------------


class GatewayClients:
    """The connected clients of a gateway, the log records that they want, and their disconnection.

    Args:
        gone: a function that is called with a request of a client before version 2026-07-28 when its
            connection has ended.

    Attributes:
        id: the id of the gateway, by which gateways that reach each other find circles.
        contexts: the contexts of the clients before version 2026-07-28, which may be asked at any time.
        levels: the log records that they want.
    """

    __slots__ = ("_gone", "_met", "contexts", "id", "levels")

    def __init__(self, gone: Callable[[Ctx], object]) -> None:
        self._gone = gone
        self.id = os.urandom(8).hex()
        self._met: dict[int, object] = {}  # by `id`, which stays unique while they are here
        self.contexts: dict[Hashable, Ctx] = {}
        self.levels = LogLevels()

    def meet(self, ctx: Ctx) -> None:
        """Remember the client of a request, in order to notice the end of its connection."""
        client = connected_client(ctx)
        if client is None or id(client) in self._met:
            return
        self._met[id(client)] = client

        def end() -> None:
            self._gone(ctx)
            del self._met[id(client)]

        PatientSession.at_end(ctx.session, end)

    def has_gone(self, ctx: Ctx) -> bool:
        """Return whether the connection of a known client has ended."""
        client = connected_client(ctx)
        return client is not None and self._met.get(id(client)) is not client

    def wants(self, ctx: Ctx, level: types.LoggingLevel) -> bool:
        """Return whether the client of a request wants log records of a level."""
        least = self.levels.of(ctx)
        if least is None:
            return not sends_log_level(ctx)
        return LEVELS.index(level) >= LEVELS.index(least)

    def page_params(
        self, ctx: Ctx | None, params: types.PaginatedRequestParams | None
    ) -> types.PaginatedRequestParams:
        """Return the parameters of a request for a list, with the gateways that it has passed.

        Args:
            ctx: the context of the client's request; None if there is none.
            params: the parameters with the page; None for the first page.
        """
        path = (*path_in(None if ctx is None else ctx.meta), self.id)
        cursor = None if params is None else params.cursor
        return types.PaginatedRequestParams(cursor=cursor, _meta=cast("Any", with_path(None, path)))

    def meta(self, ctx: Ctx | None) -> Any:
        """Return the client's capabilities and log level for the `_meta` of servers from 2026-07-28 on."""
        if ctx is None:
            return None
        can = ctx.session.client_capabilities or types.ClientCapabilities()
        level = self.levels.of(ctx, unless_set="info")
        said = {CAPABILITIES: can.model_dump(by_alias=True, mode="json", exclude_none=True)}
        return said if level is None else {**said, types.LOG_LEVEL_META_KEY: level}


class Asker:
    """An open request of a client, during which a server may ask this client.

    Attributes:
        ctx: the context of the request.
        client: the identity of the client; each request from version 2026-07-28 on counts as a client of its
            own.
    """

    __slots__ = ("_context", "client", "ctx")

    def __init__(self, ctx: Ctx) -> None:
        self.ctx = ctx
        self.client = id(connected_client(ctx) or self)
        self._context = copy_context()

    def stop_clock(self, until: ExitStack) -> None:
        """Stop the clock of the request until a stack is closed."""
        self._context.run(until.enter_context, person_answers())


# --- questions -------------------------------------------------------------------------------------


class ForwardedQuestion:
    """A question of a server that waits for the answer of a client.

    A server before version 2026-07-28 doesn't say to which request its question belongs. So the question
    waits while at least one of the requests is open that were open when it came.

    The time that a person takes to answer doesn't count for these requests.

    Args:
        requests: the requests that were open; none if the question is about the client, and about no request.
    """

    def __init__(self, requests: Iterable[Asker]) -> None:
        self._requests = set(requests)
        self._scope = anyio.CancelScope()

    def end_request(self, asker: Asker) -> None:
        """Note that a request has ended."""
        if asker in self._requests:
            self._requests.remove(asker)
            if not self._requests:
                self._scope.cancel()

    async def asked(self, ask: Callable[[], Awaitable[T]]) -> T | types.ErrorData:
        """Ask the client, and return the answer, or the reason why there is none."""
        with ExitStack() as clocks, self._scope:
            for asker in self._requests:
                asker.stop_clock(clocks)
            try:
                return await ask()
            except MCPError as error:
                return error.error
            except Exception as error:  # noqa: BLE001  # what the client answers may be anything
                _LOG.warning("a question of a server couldn't be asked: %s", reason_of(error))
                return refused("the gateway's client gave no answer to it")
        return refused("the request that it belongs to is over")


async def ask_client(ctx: Ctx, request: types.InputRequest, related: types.RequestId | None) -> Any:
    """Forward a question of a server behind the gateway to a client before version 2026-07-28.

    Args:
        ctx: the context of a request of this client.
        request: the question.
        related: the id of the request that the question belongs to; None if there is none.

    Returns:
        The client's answer.

    Raises:
        MCPError: the client can't be asked such a question, or answers with an error.
    """
    lacking = _lacking(ctx, request)
    if lacking is not None:
        raise MCPError(types.INVALID_REQUEST, f"the gateway's client can't be asked: {lacking}")
    kind: type[BaseModel] = types.ListRootsResult
    if isinstance(request, types.ElicitRequest):
        kind = types.ElicitResult
    elif isinstance(request, types.CreateMessageRequest):
        has_tools = request.params.tools is not None
        kind = types.CreateMessageResultWithTools if has_tools else types.CreateMessageResult
    metadata = None if related is None else ServerMessageMetadata(related_request_id=related)
    try:
        return await PatientSession.of(ctx.session).send_request(request, kind, metadata=metadata)
    except ValidationError:
        message = "the gateway's client gave an answer that doesn't fit the question"
        raise MCPError(types.INVALID_REQUEST, message) from None


def _lacking(ctx: Ctx, request: types.InputRequest) -> str | None:
    """Return the reason why a client can't be asked; None if it can."""
    if takes_questions_as_answers(ctx):
        return "it speaks 2026-07-28, and the server asks in the way of earlier versions"
    can = ctx.session.client_capabilities or types.ClientCapabilities()
    if isinstance(request, types.CreateMessageRequest):
        return None if can.sampling is not None else "it has no sampling"
    if isinstance(request, types.ListRootsRequest):
        return None if can.roots is not None else "it has no roots"
    if can.elicitation is None:
        return "it has no elicitation"
    if isinstance(request.params, types.ElicitRequestURLParams) and can.elicitation.url is None:
        return "it has no elicitation by a URL"
    return None


async def forward_questions(
    answer: Any,
    ctx: Ctx | None,
    with_server_name: Callable[[Any], Any],
    again: Callable[[Any, str | None], Awaitable[Any]],
) -> Any:
    """Ask a client the questions in a server's answer, and send the request again, until there are none.

    Args:
        answer: the answer of the server.
        ctx: the context of the client's request.
        with_server_name: a function that returns a question in the form for the client.
        again: a function that sends the request again, with answers and the server's state.

    Returns:
        The last answer; or the question itself, if the client understands it.

    Raises:
        MCPError: the client can't be asked, or the server asks without end.
    """
    for _ in range(_MOST_ROUNDS):
        if not isinstance(answer, types.InputRequiredResult):
            return answer
        questions = answer.input_requests or {}
        if len(questions) > MOST_QUESTIONS:
            raise MCPError(types.INTERNAL_ERROR, f"the server asks {len(questions)} questions at once")
        questions = {key: with_server_name(request) for key, request in questions.items()}
        if ctx is None:
            raise MCPError(types.INVALID_REQUEST, "the server asks, and there is no client to ask")
        if takes_questions_as_answers(ctx):
            return answer.model_copy(update={"input_requests": questions or None})
        answers: dict[str, Any] = {}
        for key, request in questions.items():
            answers[key] = await ask_client(ctx, request, ctx.request_id)
        answer = await again(answers or None, answer.request_state)
    raise MCPError(types.INTERNAL_ERROR, f"the server asked more than {_MOST_ROUNDS} times for one request")


def refused(reason: str) -> types.ErrorData:
    """Return the error that tells a server why its question isn't answered."""
    return types.ErrorData(code=types.INVALID_REQUEST, message=f"this can't be asked: {reason}")


class GoneError(MCPError):
    """A server gave no answer; the message names the server, and tells the caller what to do."""

    def __init__(self, message: str) -> None:
        super().__init__(types.INTERNAL_ERROR, message)


# --- answers ---------------------------------------------------------------------------------------


def sendable(answer: M, name: str) -> M:
    """Check that an answer of a server can be passed on, and return it.

    Args:
        answer: the answer of the server.
        name: the name of the server, for the message.

    Raises:
        MCPError: the answer is too large, or can't be written.
    """
    check_sendable([answer], name)
    return answer


def check_sendable(answers: Iterable[BaseModel], name: str) -> None:
    """Check that several answers of a server can be passed on together; the arguments are as for `sendable`.

    Raises:
        MCPError: they are too large, or can't be written.
    """
    length = 0
    for answer in answers:
        try:
            length += len(answer.model_dump_json(by_alias=True))
        except ValueError:  # a lone surrogate
            message = f"the server {name} sent a text that can't be written as UTF-8"
            raise MCPError(types.INTERNAL_ERROR, message) from None
        if length > MOST_CHARACTERS:
            message = f"the server {name} sent more than {MOST_CHARACTERS:,} characters at once"
            raise MCPError(types.INTERNAL_ERROR, message)


def error_for_client(error: MCPError, name: str) -> MCPError:
    """Return an error of a server in the form for a client: cut to a maximum length, and as valid UTF-8.

    Args:
        error: the error of the server.
        name: the name of the server, for the message.
    """
    message = clip(error.message.encode("utf-8", "replace").decode(), _SHOWN)
    data = error.data
    try:
        sendable(error.error, name)
    except MCPError:
        data = None
    return MCPError(error.code, message, data)


def reason_of(error: BaseException) -> str:
    """Return in one line why a connection failed. The line may contain secrets, so no client gets it."""
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    if isinstance(error, TimeoutError) and not str(error):
        return "it gave no answer in time"
    return said_by(error, _SHOWN)


def not_listed(name: str, error: Exception) -> ConnectionError:
    """Return the error for a server that didn't list its tools."""
    cause = error.__cause__ if isinstance(error, GoneError) else None
    own = f"the server {name} "
    said = reason_of(cause or error)
    reason = f"it {said.removeprefix(own)}" if said.startswith(own) else said
    made = ConnectionError(f"the server {name} can't be reached: it doesn't list its tools: {reason}")
    made.__cause__ = error
    return made
