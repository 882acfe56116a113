"""How is a tool of a server behind a gateway listed and called for a client?"""

from __future__ import annotations

import logging
from contextvars import ContextVar
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, cast

import mcp_types as types
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from ...errors import CallError
from ...message_text import quote
from ...tools import Progress, skip
from ..mcp_client import ToolList, checked_answer, for_the_model, listing_of, progress_to
from ..mcp_judging import JudgedSession, unreadable
from .asking import answered_request
from .forwarding import GoneError, forward_questions, sendable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import TypeAlias

    from mcp import ClientSession
    from mcp.server.context import ServerRequestContext

    from ...errors import DuplicateToolError
    from ..mcp_judging import Listing
    from .behind import Link

    Ctx: TypeAlias = ServerRequestContext[Any, Any]

_LOG = logging.getLogger("operator_schema.mcp_gateway")


current_request: ContextVar[Any] = ContextVar("operator_schema_mcp_gateway_request", default=None)
"""The client's request in which a tool is called."""


async def tools_of(link: Link) -> Listing:
    """List the tools of a server.

    Raises:
        MCPError: the server doesn't list its tools.
    """
    page = partial(link.clients.page_params, None)
    return await link.request(None, lambda session: listing_of(session, page))


class BehindTools(ToolList):
    """The tools of one server: list and call them on the connection that the client needs.

    Args:
        link: the link to the server.
        prefix: the prefix of the names here.
        chosen: a function that returns whether a tool is wanted, by its name on the server.
        options: the options of the tools.
        owner: a function that returns the name of the server with a tool of some name here; None if there is
            none.
    """

    may_collide = True  # a server can't block the others by the names of its tools

    def __init__(
        self,
        link: Link,
        prefix: str,
        chosen: Callable[[str], bool],
        options: Mapping[str, Any],
        owner: Callable[[str], str | None],
    ) -> None:
        super().__init__(link.home.client, prefix, chosen, options)
        self._link, self._owner = link, owner

    async def listed(self) -> Listing:
        """List the wanted tools of the server."""
        return await tools_of(self._link)

    def whose(self) -> str:
        """Return the name of the server in messages."""
        return f"the server {quote(self._link.name)}"

    def tell_left_out(self, name: str, original: str, error: DuplicateToolError) -> None:
        """Log that a tool is left out, and name the server whose tool has the same name."""
        del error  # the error names functions of Python
        owner = self._owner(name)
        _LOG.warning(
            "the tool %s of %s is left out: %s has a tool of this name here, %s; rename a server "
            'or use "only"',
            quote(original),
            self.whose(),
            "the program" if owner is None else f"the server {quote(owner)}",
            name,
        )

    def caller(self, original: str, name: str) -> Callable[..., Any]:
        """Return the async function that calls one tool on the server, for a client of the gateway."""
        link = self._link

        async def call(
            arguments: dict[str, Any], progress: Annotated[Progress | None, skip] = None
        ) -> types.CallToolResult:
            ctx: Ctx | None = current_request.get()

            async def again(answers: Any, state: str | None) -> Any:
                async def send(session: ClientSession) -> Any:
                    return await JudgedSession.of(session).call_tool(
                        original,
                        arguments,
                        progress_callback=progress_to(progress),
                        input_responses=answers,
                        request_state=state,
                        meta=link.clients.meta(ctx),
                        allow_input_required=True,
                    )

                return await link.request(ctx, send, is_call=True)

            given = _given(ctx, name)
            answers, state = given or (None, None)
            try:
                answer = await forward_questions(
                    await again(answers, state), ctx, link.with_server_name, again
                )
            except (MCPError, ValidationError) as error:
                raise unreadable(error, name) or _failure(error, ctx, name, state) from error
            if given is None and isinstance(answer, types.InputRequiredResult):
                message = f"{name} asks something first, and nobody can be asked from here"
                raise CallError(message)
            try:
                sendable(answer, link.name)
            except MCPError as error:
                message = f"{name}: {error.message}; the tool may have done its work"
                raise CallError(message) from error
            return cast("types.CallToolResult", checked_answer(answer, original))

        return call


def _failure(error: MCPError | ValidationError, ctx: Ctx | None, name: str, state: str | None) -> Exception:
    """Return the error for the caller of a tool when its server fails.

    Args:
        error: the error of the server, or the one for a missing answer.
        ctx: the context of the client's request.
        name: the name of the tool here.
        state: the state that was sent with the call.
    """
    if state is not None or isinstance(error, ValidationError):
        return error  # a model can't correct the error in a state
    # A client gets the error itself. For a program of its model, and a loop without a client, it becomes a
    # text: the program gets everything that its client would get, the loop nothing that a server may keep
    # private.
    is_shown = ctx is not None or isinstance(error, GoneError)
    return CallError(error.message) if is_shown and not _is_called(ctx, name) else for_the_model(error)


def _is_called(ctx: Ctx | None, name: str) -> bool:
    """Return whether a client's request calls a tool directly, and not from within another tool."""
    return ctx is not None and ctx.method == "tools/call" and (ctx.params or {}).get("name") == name


def _given(ctx: Ctx | None, name: str) -> tuple[Any, str | None] | None:
    """Return the answers and the state that the client sent with a call; None if it can't answer in a call.

    This isn't possible if the gateway itself has asked about the call: the client has one answer for each
    call.

    Args:
        ctx: the context of the client's request.
        name: the name of the tool here, which another tool may have called.
    """
    if ctx is None or not _is_called(ctx, name) or answered_request.get() is ctx:
        return None
    params = types.CallToolRequestParams.model_validate(ctx.params, by_name=False)
    return params.input_responses, params.request_state
