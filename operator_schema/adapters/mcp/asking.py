"""Ask a person who uses the client about calls."""

from __future__ import annotations

import hmac
import json
from contextvars import ContextVar
from hashlib import sha256
from os import urandom
from typing import TYPE_CHECKING, Any

import mcp_types as types
from mcp.server.session import ServerSession
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from ...execution import person_answers
from ...rounds import call_text
from ..asking import key_of
from .generations import takes_questions_as_answers

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcp.server.context import ServerRequestContext

    from ...rounds import ToolCall
    from ...tools import Tool

answered_request: ContextVar[Any] = ContextVar("operator_schema_mcp_answered_request", default=None)
"""The context of the request whose answers belong to our own question; None if they are for another one."""

_KEY = "confirm"
_MOST_OPEN = 10_000
"""The maximum number of questions that wait for their answers."""

_NOTHING_TO_FILL_IN: dict[str, Any] = {"type": "object", "properties": {}}


class ElicitedConfirmation:
    """Ask a person about calls of tools with `confirm=True`, by an elicitation.

    Before version 2026-07-28 the server asks while the call waits. From that version on it replies with the
    question, and the client sends the call again with the person's answer. The second call has a seal that
    this object made for exactly this call, so that the answer can't count for another question. A seal is
    valid once: if the same answer is sent again, there is a new question.
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
        """Reply to a call with a question, which is open from now on."""
        seal = self._seal(params, tool, key, urandom(16).hex())
        while len(self._open) >= _MOST_OPEN:
            del self._open[next(iter(self._open))]  # its answer comes too late, and leads to a new question
        self._open[seal] = None
        return types.InputRequiredResult(
            input_requests={_KEY: types.ElicitRequest(params=asked)}, request_state=seal
        )

    def takes_seal(self, params: types.CallToolRequestParams, tool: Tool[..., Any], key: str) -> bool:
        """Return whether a call has its own open seal, and use it up.

        Args:
            params: the parameters of the call.
            tool: the called tool.
            key: the call that the person is asked about, with the changes of hooks.
        """
        state = params.request_state or ""
        if state not in self._open:
            return False
        is_own = hmac.compare_digest(state, self._seal(params, tool, key, state.partition(".")[0]))
        if is_own:
            del self._open[state]
        return is_own

    def _seal(self, params: types.CallToolRequestParams, tool: Tool[..., Any], key: str, nonce: str) -> str:
        # This includes the definition of the tool: if its defaults have changed, there is a new question.
        given = [nonce, params.name, params.arguments or {}, tool.definition(), key]
        called = json.dumps(given, sort_keys=True)
        return f"{nonce}.{hmac.digest(self._secret, called.encode(), sha256().name).hex()}"


class AskedCall:
    """One call that the user of a client is asked about; `executor.run(call, confirm=asked.confirm)`.

    Attributes:
        question: the reply to the call once the executor has asked, or None. The person's answer comes when
            the client sends the call again.
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
        self._has_hooks = has_hooks  # hooks may change arguments
        self._confirmation = confirmation
        self._ctx = ctx
        self._params = params
        self._tool = tool
        self.question: types.InputRequiredResult | None = None

    async def confirm(self, call: ToolCall[Any]) -> bool | str | None:
        """Ask about this call if its arguments fit; don't ask about any other call."""
        ctx, params = self._ctx, self._params
        question = types.ElicitRequestFormParams(
            message=call_text(call), requested_schema=_NOTHING_TO_FILL_IN
        )
        if not takes_questions_as_answers(ctx):
            return await _elicited(ctx, question)
        given, key = (params.input_responses or {}).get(_KEY), key_of(call) if self._has_hooks else ""
        if given is not None and self._confirmation.takes_seal(params, self._tool, key):
            answered_request.set(ctx)
            return _decision(given)
        self.question = self._confirmation.question(params, self._tool, key, question)
        return None


class PatientSession(ServerSession):
    """A session in which a tool asks people; the time of their answers doesn't count for the call."""

    @classmethod
    def of(cls, session: ServerSession) -> ServerSession:
        """Return a session of this class that shares everything with the given one."""
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
        """Call a function when the connection of the client ends.

        From version 2026-07-28 on, each request is a connection of its own.
        """
        self._connection.exit_stack.callback(run)


async def ask(
    ctx: ServerRequestContext[Any, Any], text: str, state: str
) -> bool | str | types.InputRequiredResult:
    """Ask the user of a client whether they agree, for a tool that asks on its own.

    Args:
        ctx: the context of the call.
        text: the question for the user.
        state: a value that comes back with the answer of a client from version 2026-07-28 on.

    Returns:
        True if the user agrees; the reason if they don't, or if the client can't ask; or the question as the
        reply to the call. The client then sends the call again, with the answer for `answer_to_ask`.
    """
    if not _can_ask(ctx):
        return "a person has to agree to it, and this client can't ask one"
    question = types.ElicitRequestFormParams(message=text, requested_schema=_NOTHING_TO_FILL_IN)
    if not takes_questions_as_answers(ctx):
        return await _elicited(ctx, question)
    request = types.ElicitRequest(params=question)
    return types.InputRequiredResult(input_requests={_KEY: request}, request_state=state)


def answer_to_ask(ctx: ServerRequestContext[Any, Any]) -> tuple[str, bool | str | None] | None:
    """Return the state and the answer of a call that the client sends again; None for a new call.

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
    # A client of 2025-06-18 sends `{}`, and supports only forms.
    knows_forms = elicitation.form is not None or elicitation.url is None
    return knows_forms and (takes_questions_as_answers(ctx) or ctx.session.can_send_request)


async def _elicited(
    ctx: ServerRequestContext[Any, Any], question: types.ElicitRequestFormParams
) -> bool | str:
    try:
        answer = await ctx.session.elicit_form(question.message, question.requested_schema, ctx.request_id)
    except (MCPError, ValueError):  # the client's answer may be anything
        return "a person has to agree to it, and the client failed to ask one"
    return _decision(answer)


def _decision(answer: object) -> bool | str:
    """Return True if the person agreed; otherwise the reason why the call doesn't run."""
    action = answer.action if isinstance(answer, types.ElicitResult) else None
    if action == "accept":
        return True
    return "a person declined it" if action == "decline" else "nobody agreed to it"
