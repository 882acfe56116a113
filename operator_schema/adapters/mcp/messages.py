"""What does the server say to the client, or ask a person there, before a call has its result?"""

from __future__ import annotations

import hmac
import json
import logging
from collections import deque
from contextlib import suppress
from contextvars import ContextVar
from hashlib import sha256
from math import isfinite
from os import urandom
from typing import TYPE_CHECKING, Any, TypeVar, get_args

import anyio
import mcp_types as types
from mcp.server.session import ServerSession
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from ...execution import current_backend, person_answers
from ...json_values import without_surrogates
from ...message_text import received
from ...rounds import call_text
from ..conversions import key_of
from .generations import PerClient, connected_client, is_modern

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from ...execution import OnProgress
    from ...tools import ProgressUpdate, RawCall

    Send = Callable[[], Awaitable[None]]
    Report = Callable[[float, float | None, str | None], Awaitable[None]]
    from mcp.server.context import ServerRequestContext

    from ...rounds import ToolCall
    from ...tools import Tool

__all__ = [
    "AskedCall",
    "ClientLog",
    "ElicitedConfirmation",
    "LEVELS",
    "LogLevels",
    "Messages",
    "PatientSession",
    "answer_to_ask",
    "ask",
    "with_messages",
]


T = TypeVar("T")

MOST_WAITING = 1000
"""The most messages of one call that wait for a slow client; the newest are kept."""


class Messages:
    """The messages of one call to the client before its result, in order."""

    __slots__ = ("_backend", "_home", "_is_over", "_waiting", "_woken")

    def __init__(self) -> None:
        self._backend = current_backend()
        self._home = self._backend.home()
        self._waiting: deque[Send] = deque(maxlen=MOST_WAITING)
        self._woken = anyio.Event()
        self._is_over = False

    def add(self, send: Send) -> None:
        """Queue a message, from any thread; after the end, do nothing."""
        if self._is_over:
            return
        self._waiting.append(send)
        with suppress(RuntimeError):  # the event loop is closed
            self._backend.call_soon(self._home, self._wake)

    def end(self) -> None:
        """Make `send_all` return once everything is sent, from the thread of the event loop."""
        self._is_over = True
        self._wake()

    def _wake(self) -> None:
        self._woken.set()

    async def send_all(self) -> None:
        """Send messages as they come, until the end."""
        while True:
            while self._waiting:
                await self._waiting.popleft()()
            if self._is_over:
                return
            await self._woken.wait()
            self._woken = anyio.Event()


async def with_messages(
    run: Callable[[OnProgress | None], Awaitable[T]],
    report: Report | None = None,
    listen: Callable[[Messages], None] | None = None,
) -> T:
    """Run a call, and meanwhile send what it reports and logs.

    Args:
        run: starts it; takes the `on_progress` of an executor.
        report: sends an update of its progress; None if it has none.
        listen: gets the messages before the call starts, to add others; None if there are no others.

    Raises:
        Exception: what it raises, not in a group.
    """
    messages = Messages()
    on_progress = None if report is None else _progress_sender(messages, report)
    if listen is not None:
        listen(messages)
    return await _sending(messages, lambda: run(on_progress))


async def _sending(messages: Messages, run: Callable[[], Awaitable[T]]) -> T:
    """Run a call, and send its messages meanwhile.

    Args:
        messages: of the call.
        run: starts it.

    Raises:
        Exception: what it raises, not in a group.
    """
    failure: Exception | None = None
    results: list[T] = []
    async with anyio.create_task_group() as group:
        group.start_soon(messages.send_all)
        try:
            results.append(await run())
        except Exception as error:  # noqa: BLE001  # the group would wrap what is raised in it
            failure = error
        messages.end()
    if failure is not None:
        raise failure
    return results[0]


def _progress_sender(messages: Messages, report: Report) -> Callable[[RawCall, ProgressUpdate], None]:
    """Return a function for `on_progress` of an executor.

    The protocol wants each value to be higher than the one before; other values are left out.

    Args:
        messages: of the call.
        report: sends an update.
    """
    last: float | None = None

    def on_progress(_: RawCall, update: ProgressUpdate) -> None:
        nonlocal last
        done, total = update.done, update.total
        if _is_finite(done) and (last is None or done > last):
            last = done
            known = total if _is_finite(total) else None
            text = None if update.message is None else without_surrogates(update.message)
            messages.add(lambda: report(done, known, text))

    return on_progress


def _is_finite(number: float | None) -> bool:
    try:
        return number is not None and isfinite(number)
    except OverflowError:  # an integer beyond all floats
        return False


LEVELS: tuple[types.LoggingLevel, ...] = get_args(types.LoggingLevel)
"""From `debug` to `emergency`, the most severe last."""

_OF_PYTHON: tuple[tuple[int, types.LoggingLevel], ...] = (
    (logging.CRITICAL, "critical"),
    (logging.ERROR, "error"),
    (logging.WARNING, "warning"),
    (logging.INFO, "info"),
)


class LogLevels:
    """The lowest level of log records that each client wants."""

    __slots__ = ("_set",)

    def __init__(self) -> None:
        self._set: PerClient[list[types.LoggingLevel]] = PerClient(lambda _: [])

    def set(self, ctx: ServerRequestContext[Any, Any], level: types.LoggingLevel) -> None:
        """Remember the level of a client before 2026-07-28 while it is connected."""
        if connected_client(ctx) is not None:
            self._set.of(ctx)[:] = [level]

    def of(
        self, ctx: ServerRequestContext[Any, Any], *, unless_set: types.LoggingLevel | None = None
    ) -> types.LoggingLevel | None:
        """Return the level that a client has asked for; None if it has asked for nothing.

        Args:
            ctx: of a request. From 2026-07-28 on, each request says its own level.
            unless_set: the level for a client before 2026-07-28 that has set none.
        """
        if is_modern(ctx.protocol_version):
            asked: Any = (ctx.meta or {}).get(types.LOG_LEVEL_META_KEY)
            return asked if asked in LEVELS else None
        known = self._set.of(ctx)
        return known[0] if known else unless_set

    def set_by_all(self) -> list[types.LoggingLevel]:
        """Return the levels that the connected clients have set."""
        return [level for known in self._set.values() for level in known]


class _Listening:
    """A call whose client wants its log records.

    Attributes:
        logger: name of the logger whose records, and those of loggers below it, are sent.
        least: the lowest level that the client wants, as a position in `LEVELS`.
        send: takes level, name of the logger and text.
    """

    __slots__ = ("least", "logger", "send")

    def __init__(self, logger: str, least: int, send: Callable[[types.LoggingLevel, str, str], None]) -> None:
        self.logger = logger
        self.least = least
        self.send = send


_calling: ContextVar[_Listening | None] = ContextVar("operator_schema_mcp_log", default=None)
"""The call in whose task or threads a record is logged."""


class _ToClient(logging.Handler):
    """Gives records to the call in which they are logged, if its client wants them.

    Args:
        logger: name of the logger that it is attached to.
    """

    def __init__(self, logger: str) -> None:
        super().__init__()
        self._logger = logger

    def emit(self, record: logging.LogRecord) -> None:
        """Pass on only the message of a record, as a traceback may show what the client must not see."""
        listening = _calling.get()
        # Another server may want the same record, for a logger above or below.
        if listening is None or listening.logger != self._logger:
            return
        level = _level_of(record.levelno)
        if LEVELS.index(level) < listening.least:
            return
        try:
            text = record.getMessage()
        except Exception:  # noqa: BLE001  # what is logged may be anything
            self.handleError(record)
            return
        listening.send(level, without_surrogates(record.name), without_surrogates(text))


_attached: dict[str, _ToClient] = {}
"""Name of a logger to its one handler for all servers."""


class ClientLog:
    """Send the records of one logger, and of those below it, to the client whose call logs them.

    Args:
        logger: its name, such as `acme.tools`; not empty, as nobody checks the records of the root logger.

    Raises:
        TypeError: it isn't a string.
        ValueError: it is empty.
    """

    __slots__ = ("_levels", "_logger")

    def __init__(self, logger: str) -> None:
        if not isinstance(logger, str):  # what callers promise, some do not
            message = f"logger must be the name of a logger, such as 'acme.tools', not {received(logger)}"
            raise TypeError(message)
        if not logger:
            message = (
                "give the name of a logger: the root logger would also send records of other libraries to "
                "clients"
            )
            raise ValueError(message)
        self._logger = logger
        self._levels = LogLevels()
        if logger not in _attached:
            handler = _attached.setdefault(logger, _ToClient(logger))
            logging.getLogger(logger).addHandler(handler)

    async def set_level(
        self, ctx: ServerRequestContext[Any, Any], params: types.SetLevelRequestParams
    ) -> types.EmptyResult:
        """Remember the level of one client, as the handler of `logging/setLevel`."""
        self._levels.set(ctx, params.level)
        return types.EmptyResult()

    def listen(self, ctx: ServerRequestContext[Any, Any], messages: Messages) -> None:
        """Forward log records of this task and its children, if the client wants them."""
        wanted = self._levels.of(ctx, unless_set="info")
        if wanted is None:
            return

        def send(level: types.LoggingLevel, logger: str, text: str) -> None:
            params = types.LoggingMessageNotificationParams(level=level, logger=logger, data=text)
            notification = types.LoggingMessageNotification(params=params)
            messages.add(lambda: ctx.session.send_notification(notification, ctx.request_id))

        _calling.set(_Listening(self._logger, LEVELS.index(wanted), send))


def _level_of(number: int) -> types.LoggingLevel:
    for least, level in _OF_PYTHON:
        if number >= least:
            return level
    return "debug"


answered_request: ContextVar[Any] = ContextVar("operator_schema_mcp_answered_request", default=None)
"""The context of the request whose answers were about our own question, so they are nobody else's."""

_KEY = "confirm"
_MOST_OPEN = 10_000
"""The most questions that wait for their answers."""

_NOTHING_TO_FILL_IN: dict[str, Any] = {"type": "object", "properties": {}}


class ElicitedConfirmation:
    """Ask a person about calls of tools with `confirm=True`, by an elicitation.

    Before 2026-07-28 the server asks while the call waits. From then on it answers with the question, and the
    client sends the call again with the person's answer and with a seal that this object made for exactly
    this call, so that the answer can't count for another question. A seal counts once: the same answer, sent
    again, gives a new question.
    """

    __slots__ = ("_open", "_secret")

    def __init__(self) -> None:
        self._secret = urandom(32)
        self._open: dict[str, None] = {}  # seals that wait for their answer, the oldest first

    def asked(
        self,
        ctx: ServerRequestContext[Any, Any],
        params: types.CallToolRequestParams,
        tool: Tool[..., Any],
        *,
        has_hooks: bool,
    ) -> AskedCall | None:
        """Return an object that asks about a call with `confirm=True`; None if the client can't ask."""
        return AskedCall(self, ctx, params, tool, has_hooks=has_hooks) if _can_ask(ctx) else None

    def question(
        self,
        params: types.CallToolRequestParams,
        tool: Tool[..., Any],
        key: str,
        asked: types.ElicitRequestFormParams,
    ) -> types.InputRequiredResult:
        """Answer a call with a question, which is open from now on."""
        seal = self._seal(params, tool, key, urandom(16).hex())
        while len(self._open) >= _MOST_OPEN:
            del self._open[next(iter(self._open))]  # its answer comes too late, and gives a new question
        self._open[seal] = None
        return types.InputRequiredResult(
            input_requests={_KEY: types.ElicitRequest(params=asked)}, request_state=seal
        )

    def takes_seal(self, params: types.CallToolRequestParams, tool: Tool[..., Any], key: str) -> bool:
        """Return whether a call has an open seal of its own; this uses it up.

        Args:
            params: of the call.
            tool: the called tool.
            key: of what a person is asked about, with the changes of hooks.
        """
        state = params.request_state or ""
        if state not in self._open:
            return False
        is_own = hmac.compare_digest(state, self._seal(params, tool, key, state.partition(".")[0]))
        if is_own:
            del self._open[state]
        return is_own

    def _seal(self, params: types.CallToolRequestParams, tool: Tool[..., Any], key: str, nonce: str) -> str:
        # With the definition of the tool: defaults that have changed meanwhile give a new question.
        given = [nonce, params.name, params.arguments or {}, tool.definition(), key]
        called = json.dumps(given, sort_keys=True)
        return f"{nonce}.{hmac.digest(self._secret, called.encode(), sha256().name).hex()}"


class AskedCall:
    """One call about which the user of a client is asked; `executor.run(call, confirm=asked.confirm)`.

    Attributes:
        question: the answer to the call once the executor has asked, or None. The person's answer
            comes with the same call, sent again.
    """

    __slots__ = ("_confirmation", "_ctx", "_has_hooks", "_params", "_tool", "question")

    def __init__(
        self,
        confirmation: ElicitedConfirmation,
        ctx: ServerRequestContext[Any, Any],
        params: types.CallToolRequestParams,
        tool: Tool[..., Any],
        *,
        has_hooks: bool,
    ) -> None:
        self._has_hooks = has_hooks  # which may change arguments
        self._confirmation = confirmation
        self._ctx = ctx
        self._params = params
        self._tool = tool
        self.question: types.InputRequiredResult | None = None

    async def confirm(self, call: ToolCall[Any]) -> bool | str | None:
        """Ask about a call whose arguments fit; nobody is asked about any other call."""
        ctx, params = self._ctx, self._params
        question = types.ElicitRequestFormParams(
            message=call_text(call), requested_schema=_NOTHING_TO_FILL_IN
        )
        if not is_modern(ctx.protocol_version):
            return await _elicited(ctx, question)
        given, key = (params.input_responses or {}).get(_KEY), key_of(call) if self._has_hooks else ""
        if given is not None and self._confirmation.takes_seal(params, self._tool, key):
            answered_request.set(ctx)
            return _decision(given)
        self.question = self._confirmation.question(params, self._tool, key, question)
        return None


class PatientSession(ServerSession):
    """A session with which a tool asks people; the time of their answers doesn't count for the call."""

    @classmethod
    def of(cls, session: ServerSession) -> ServerSession:
        """Return the same session, which shares everything with the given one."""
        if type(session) is not ServerSession:
            return session
        made = object.__new__(cls)
        made.__dict__ = session.__dict__
        return made

    async def send_request(self, request: Any, *args: Any, **kwargs: Any) -> Any:
        """Send a request to the client."""
        if not isinstance(request, types.ElicitRequest | types.CreateMessageRequest):
            return await super().send_request(request, *args, **kwargs)
        with person_answers():
            return await super().send_request(request, *args, **kwargs)

    def at_end(self: ServerSession, run: Callable[[], object]) -> None:
        """Have something run when the connection of the client has ended.

        From 2026-07-28 on, a request is a connection of its own.
        """
        self._connection.exit_stack.callback(run)


async def ask(
    ctx: ServerRequestContext[Any, Any], text: str, state: str
) -> bool | str | types.InputRequiredResult:
    """Ask the user of a client whether they agree, for a tool that asks by itself.

    Args:
        ctx: of the call.
        text: what they read.
        state: comes back with the answer of a client from 2026-07-28 on.

    Returns:
        True if they agree; the reason if they don't, or if the client can't ask; or the question as the
        answer to the call, which then comes again with the person's answer for `answer_to_ask`.
    """
    if not _can_ask(ctx):
        return "a person has to agree to it, and this client can't ask one"
    question = types.ElicitRequestFormParams(message=text, requested_schema=_NOTHING_TO_FILL_IN)
    if not is_modern(ctx.protocol_version):
        return await _elicited(ctx, question)
    request = types.ElicitRequest(params=question)
    return types.InputRequiredResult(input_requests={_KEY: request}, request_state=state)


def answer_to_ask(ctx: ServerRequestContext[Any, Any]) -> tuple[str, bool | str | None] | None:
    """Return the state and the answer of a call that comes again; None for a new call.

    The state is empty, or the answer None, if the client left it out.
    """
    try:
        params = types.CallToolRequestParams.model_validate(ctx.params, by_name=False)
    except ValidationError:
        return None
    given = (params.input_responses or {}).get(_KEY)
    if given is None and params.request_state is None:
        return None
    return params.request_state or "", None if given is None else _decision(given)


def _can_ask(ctx: ServerRequestContext[Any, Any]) -> bool:
    capabilities = ctx.session.client_capabilities
    elicitation = None if capabilities is None else capabilities.elicitation
    if elicitation is None:
        return False
    # A client of 2025-06-18 sends `{}`, and knows only forms.
    knows_forms = elicitation.form is not None or elicitation.url is None
    return knows_forms and (is_modern(ctx.protocol_version) or ctx.session.can_send_request)


async def _elicited(
    ctx: ServerRequestContext[Any, Any], question: types.ElicitRequestFormParams
) -> bool | str:
    try:
        answer = await ctx.session.elicit_form(question.message, question.requested_schema, ctx.request_id)
    except (MCPError, ValueError):  # what the client answers may be anything
        return "a person has to agree to it, and the client failed to ask one"
    return _decision(answer)


def _decision(answer: object) -> bool | str:
    """Return True for an agreement, or the reason of a refusal."""
    action = answer.action if isinstance(answer, types.ElicitResult) else None
    if action == "accept":
        return True
    return "a person declined it" if action == "decline" else "nobody agreed to it"
