"""How does a person agree to a call before it runs?"""

from __future__ import annotations

import hmac
import json
from hashlib import sha256
from os import urandom
from typing import TYPE_CHECKING, Any

import mcp_types as types
from mcp.server.session import ServerSession
from mcp.shared.exceptions import MCPError

from ...rounds.questions import call_text
from ...tools.execution.tasks import person_answers
from .described import is_modern

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext

    from ...rounds.tool_call import ToolCall
    from ...tools.tool import Tool

__all__ = ["Asked", "Confirmation", "PatientSession"]

_KEY = "confirm"
_MOST_OPEN = 10_000
"""Questions that wait for their answers, at most."""

_NOTHING_TO_FILL_IN: dict[str, Any] = {"type": "object", "properties": {}}


class Confirmation:
    """Ask a person about calls of tools with `confirm=True`, by an elicitation.

    Before 2026-07-28 the server asks while the call waits. From then on it answers with the question, and the
    client sends the call again with the person's answer and with a seal that this object made for exactly
    this call, so that an answer can't be taken for that to another question. A seal counts once: the same
    answer, sent again, gives a new question.
    """

    __slots__ = ("_open", "_secret")

    def __init__(self) -> None:
        self._secret = urandom(32)
        self._open: dict[str, None] = {}  # seals that wait for their answer, the oldest first

    def asked(
        self, ctx: ServerRequestContext[Any, Any], params: types.CallToolRequestParams, tool: Tool[..., Any]
    ) -> Asked | None:
        """Return what asks about a call of a tool with `confirm=True`; None if the client can't ask."""
        return Asked(self, ctx, params, tool) if _can_ask(ctx) else None

    def question(
        self, params: types.CallToolRequestParams, tool: Tool[..., Any], asked: types.ElicitRequestFormParams
    ) -> types.InputRequiredResult:
        """Answer a call with a question, which waits from now on."""
        seal = self._seal(params, tool, urandom(16).hex())
        while len(self._open) >= _MOST_OPEN:
            del self._open[next(iter(self._open))]  # its answer comes too late, and gives a new question
        self._open[seal] = None
        return types.InputRequiredResult(
            input_requests={_KEY: types.ElicitRequest(params=asked)}, request_state=seal
        )

    def takes_seal(self, params: types.CallToolRequestParams, tool: Tool[..., Any]) -> bool:
        """Return whether a call comes with an open seal of its own, which is used up by that."""
        state = params.request_state or ""
        if state not in self._open:
            return False
        is_own = hmac.compare_digest(state, self._seal(params, tool, state.partition(".")[0]))
        if is_own:
            del self._open[state]
        return is_own

    def _seal(self, params: types.CallToolRequestParams, tool: Tool[..., Any], nonce: str) -> str:
        # With the definition of the tool: defaults that have changed meanwhile give a new question.
        called = json.dumps([nonce, params.name, params.arguments or {}, tool.definition()], sort_keys=True)
        return f"{nonce}.{hmac.digest(self._secret, called.encode(), sha256().name).hex()}"


class Asked:
    """One call about which the user of a client is asked; `executor.run(call, confirm=asked.confirm)`.

    Attributes:
        question: with which the call is answered once the executor has asked, or None. The person's answer
            comes with the same call, sent again.
    """

    __slots__ = ("_confirmation", "_ctx", "_params", "_tool", "question")

    def __init__(
        self,
        confirmation: Confirmation,
        ctx: ServerRequestContext[Any, Any],
        params: types.CallToolRequestParams,
        tool: Tool[..., Any],
    ) -> None:
        self._confirmation = confirmation
        self._ctx = ctx
        self._params = params
        self._tool = tool
        self.question: types.InputRequiredResult | None = None

    async def confirm(self, call: ToolCall[Any]) -> bool | str | None:
        """Ask about a call whose arguments fit: nobody is asked about any other one."""
        ctx, params = self._ctx, self._params
        question = types.ElicitRequestFormParams(
            message=call_text(call), requested_schema=_NOTHING_TO_FILL_IN
        )
        if not is_modern(ctx.protocol_version):
            return await _elicited(ctx, question)
        given = (params.input_responses or {}).get(_KEY)
        if given is not None and self._confirmation.takes_seal(params, self._tool):
            return _decision(given)
        self.question = self._confirmation.question(params, self._tool, question)
        return None


class PatientSession(ServerSession):
    """A session by which a tool asks people: the time in which they answer doesn't count for the call."""

    @classmethod
    def of(cls, session: ServerSession) -> ServerSession:
        """Return the same session, which shares all that it has."""
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


def _can_ask(ctx: ServerRequestContext[Any, Any]) -> bool:
    capabilities = ctx.session.client_capabilities
    elicitation = None if capabilities is None else capabilities.elicitation
    if elicitation is None:
        return False
    # A client of 2025-06-18 says `{}`, and knows forms alone.
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
    """Return what an executor takes for an agreement, or the reason of a refusal."""
    action = answer.action if isinstance(answer, types.ElicitResult) else None
    if action == "accept":
        return True
    return "a person declined it" if action == "decline" else "nobody agreed to it"
