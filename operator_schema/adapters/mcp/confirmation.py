"""How does a person agree to a call before it runs?"""

from __future__ import annotations

import hmac
import json
from hashlib import sha256
from os import urandom
from typing import TYPE_CHECKING, Any, Literal

import mcp_types as types
from mcp.server.session import ServerSession
from mcp.shared.exceptions import MCPError

from ...rounds.tool_call import rejection_text
from ...tools.execution.tasks import person_answers
from ...wording import escape
from .described import is_modern

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext

    from ...tools.tool import Tool

__all__ = ["Confirmation", "PatientSession"]

_KEY = "confirm"
_MOST_OPEN = 10_000
"""Questions that wait for their answers, at most."""

_SHOWN = 2000
"""Characters of the arguments that a person reads at most."""

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

    async def ask(
        self, ctx: ServerRequestContext[Any, Any], params: types.CallToolRequestParams, tool: Tool[..., Any]
    ) -> types.CallToolResult | types.InputRequiredResult | Literal["run"] | None:
        """Ask about a call of a tool with `confirm=True`.

        Returns:
            `"run"` if a person agreed to it; a refusal, or the question; None if nobody was asked, because
            its arguments don't fit or the client can't ask.
        """
        if not _can_ask(ctx) or not _fits(tool, params.arguments):
            return None
        question = types.ElicitRequestFormParams(
            message=_question(tool, params.arguments or {}), requested_schema=_NOTHING_TO_FILL_IN
        )
        if not is_modern(ctx.protocol_version):
            return await _ask(ctx, question)
        given = (params.input_responses or {}).get(_KEY)
        if given is not None and self._takes_seal(params):
            return _decision(given)
        seal = self._seal(params, urandom(16).hex())
        while len(self._open) >= _MOST_OPEN:
            del self._open[next(iter(self._open))]  # its answer comes too late, and gives a new question
        self._open[seal] = None
        return types.InputRequiredResult(
            input_requests={_KEY: types.ElicitRequest(params=question)}, request_state=seal
        )

    def _takes_seal(self, params: types.CallToolRequestParams) -> bool:
        """Return whether a call comes with an open seal of its own, which is used up by that."""
        state = params.request_state or ""
        if state not in self._open:
            return False
        is_own = hmac.compare_digest(state, self._seal(params, state.partition(".")[0]))
        if is_own:
            del self._open[state]
        return is_own

    def _seal(self, params: types.CallToolRequestParams, nonce: str) -> str:
        called = json.dumps([nonce, params.name, params.arguments or {}], sort_keys=True)
        return f"{nonce}.{hmac.digest(self._secret, called.encode(), sha256().name).hex()}"


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


def _fits(tool: Tool[..., Any], arguments: Any) -> bool:
    """Return whether arguments can be decoded: nobody is asked about a call that fails anyway."""
    try:
        tool.decode(arguments or {})
    except Exception:  # noqa: BLE001  # a class of your program may have code of its own; the executor reports it
        return False
    return True


def _can_ask(ctx: ServerRequestContext[Any, Any]) -> bool:
    capabilities = ctx.session.client_capabilities
    elicitation = None if capabilities is None else capabilities.elicitation
    if elicitation is None:
        return False
    # A client of 2025-06-18 says `{}`, and knows forms alone.
    knows_forms = elicitation.form is not None or elicitation.url is None
    return knows_forms and (is_modern(ctx.protocol_version) or ctx.session.can_send_request)


async def _ask(
    ctx: ServerRequestContext[Any, Any], question: types.ElicitRequestFormParams
) -> types.CallToolResult | Literal["run"]:
    try:
        answer = await ctx.session.elicit_form(question.message, question.requested_schema, ctx.request_id)
    except (MCPError, ValueError):  # what the client answers may be anything
        return _refused("a person has to agree to it, and the client failed to ask one")
    return _decision(answer)


def _decision(answer: object) -> types.CallToolResult | Literal["run"]:
    action = answer.action if isinstance(answer, types.ElicitResult) else None
    if action == "accept":
        return "run"
    return _refused("a person declined it" if action == "decline" else "nobody agreed to it")


def _refused(reason: str) -> types.CallToolResult:
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=rejection_text(reason))], is_error=True
    )


def _question(tool: Tool[..., Any], arguments: dict[str, Any]) -> str:
    """Write what a person is asked: nothing in the arguments can look like something else."""
    name = escape(tool.annotations.title or tool.name)
    shown = [f"{escape(key)}: {escape(_as_json(value))}" for key, value in arguments.items()]
    text = "\n".join(shown)
    if len(text) > _SHOWN:
        text = f"{text[:_SHOWN]}…\n({len(text) - _SHOWN:,} more characters are not shown)"
    head = f"Run {name}?" if name == tool.name else f"Run {name} ({tool.name})?"
    return f"{head}\n{text}" if text else head


def _as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
