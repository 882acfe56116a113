"""The offered tools of a server behind a gateway, and calls of them for clients."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from contextvars import ContextVar
from functools import partial
from sys import float_info
from typing import TYPE_CHECKING, Annotated, Any, cast
from urllib.parse import urlsplit

import mcp_types as types
from mcp import StdioServerParameters
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from ...errors import CallError
from ...immutable import Value
from ...message_text import quote, received
from ...tools import Progress, skip
from ..mcp_client import ToolList, check_there, checked_answer, for_the_model, listing_of, progress_to
from ..mcp_connection import certificates, over_http
from ..mcp_judging import JudgedSession, unreadable
from .asking import answered_request
from .forwarding import GoneError, driven, sendable

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from mcp import ClientSession
    from mcp.server.context import ServerRequestContext

    from ...errors import DuplicateToolError
    from ..mcp_connection import Source
    from ..mcp_judging import Listing
    from .behind import Link

    Ctx: TypeAlias = ServerRequestContext[Any, Any]

_LOG = logging.getLogger("operator_schema.mcp_gateway")
_ONLY = "server"
"""The name of a server that was given without a name."""


class ServerBehind(Value):
    """A server of a gateway, with its own options.

    Attributes:
        source: the server, as for `Gateway`.
        only: the names of its tools that are offered; None for all.
        confirm: whether a person has to agree to calls of all its tools; or the names of such tools.
        seconds: the time limit for connecting and for answers, except those of calls; None for the limit of
            the gateway.

    Raises:
        TypeError: an argument has a wrong type.
        ValueError: the source can't be used, or `seconds` isn't above 0.
    """

    source: Source
    only: Collection[str] | None = None
    confirm: bool | Collection[str] = False
    seconds: float | None = None

    def __init__(
        self,
        source: Source,
        only: Collection[str] | None = None,
        confirm: bool | Collection[str] = False,  # noqa: FBT001,FBT002  # `Value.replace` gives it by position
        seconds: float | None = None,
    ) -> None:
        check_source(source, "the source of a server")
        _check_names("only", only, "a list of names of tools, or None", is_free=only is None)
        is_free = isinstance(confirm, bool)
        _check_names("confirm", confirm, "True, False or a list of names of tools", is_free=is_free)
        check_seconds(seconds, "None for those of the gateway")
        super().__init__(source, only, confirm, seconds)

    def check_tools(self, name: str, there: Collection[str]) -> None:
        """Check that the server has the tools that the options name.

        Args:
            name: the name of the server, for the message.
            there: the names of its tools.

        Raises:
            ToolError: the server lacks one of the tools.
        """
        asked = () if isinstance(self.confirm, bool) else self.confirm
        for option, names in (("only", self.only or ()), ("confirm", asked)):
            whose = f"the server {quote(name)}, whose {option} names it,"
            check_there(names, there, whose)

    def choices(self) -> list[tuple[Callable[[str], bool], dict[str, Any]]]:
        """Return a function that chooses tools by their names on the server, and the options of the tools."""
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


def _check_names(option: str, value: Any, form: str, *, is_free: bool) -> None:
    """Check the names of tools in an option.

    Args:
        option: the name of the option.
        value: the given value.
        form: the expected form, for the message.
        is_free: whether the value is one that needs no names.

    Raises:
        TypeError: the value has a wrong type.
    """
    if is_free:
        return
    hint = f": write {option}=[{value!r}]" if isinstance(value, str) else ""
    if not _is_list(value, Collection) or not all(isinstance(one, str) for one in value):
        message = f"{option} must be {form}, not {received(value)}{hint}"
        raise TypeError(message)


def check_seconds(seconds: Any, otherwise: str) -> None:
    """Check a limit of time.

    Args:
        seconds: the limit.
        otherwise: a value that is also allowed, besides a number.

    Raises:
        ValueError: the limit is neither.
    """
    is_number = isinstance(seconds, (int, float)) and not isinstance(seconds, bool)
    if seconds is not None and not (is_number and 0 < seconds <= float_info.max):
        message = f"seconds must be a number above 0, or {otherwise}, not {received(seconds)}"
        raise ValueError(message)


def check_function(unreachable: Any) -> None:
    """Check the function that is called for an unreachable server.

    Raises:
        TypeError: the argument isn't a function.
    """
    if unreachable is not None and not callable(unreachable):
        message = (
            "unreachable must be a function that takes the name of a server and the reason, or None, not "
            f"{received(unreachable)}"
        )
        raise TypeError(message)


def _is_list(value: object, kind: type) -> bool:
    """Return whether a value is a collection of items of a type, but not a text, bytes or a mapping."""
    return isinstance(value, kind) and not isinstance(value, (str, bytes, bytearray, memoryview, Mapping))


def check_source(source: Any, place: str) -> None:
    """Check that a source describes how to reach a server.

    Args:
        source: the source, as for `Gateway`.
        place: the name of the argument, for the message. The message contains only the kind of the source and
            a URL, since the rest may be secret.

    Raises:
        TypeError: the source has a wrong type.
        ValueError: the source is a text that isn't a URL, or an empty command.
    """
    if isinstance(source, str):
        if not _is_url(source):
            parts = source.split()
            meant = f". A command is a list of its words: {parts}" if len(parts) > 1 else ""
            message = (
                f"{place} must be a URL that begins with http:// or https://, not {received(source)}{meant}"
            )
            raise ValueError(message)
        return
    words: list[Any]
    if isinstance(source, StdioServerParameters):
        words = [source.command]
    elif _is_list(source, Sequence):
        words = list(source)
    elif callable(source) and source is not StdioServerParameters:
        return
    else:
        is_mapping = isinstance(source, Mapping)
        remedy = "a mapping: write StdioServerParameters(command=…, args=[…])"
        shown = remedy if is_mapping else received(cast("object", source))
        message = (
            f"{place} must be a URL, a list with the words of a command, StdioServerParameters or a function "
            f"that makes a transport, not {shown}"
        )
        raise TypeError(message)
    for word in words:
        if not isinstance(word, str):
            message = f"{place}: each word of the command must be a string, not {received(word)}"
            raise TypeError(message)
    if not words or not words[0]:
        message = f"{place} must have a command, such as ['uvx', 'mcp-server-time']"
        raise ValueError(message)


def _is_url(text: str) -> bool:
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.hostname)


def servers_behind(servers: Any) -> dict[str, ServerBehind]:
    """Return the servers of a gateway by their names.

    Args:
        servers: the servers, as for `Gateway`.

    Raises:
        TypeError: a server has a wrong type, or its name isn't a text.
        ValueError: there are no servers, or one can't be used.
    """
    is_several = isinstance(servers, Mapping)
    given = cast("dict[Any, Any]", servers if is_several else {_ONLY: servers})
    if not given:
        message = "a gateway needs a server behind it: Gateway({'name': 'https://…'})"
        raise ValueError(message)
    found: dict[str, ServerBehind] = {}
    trusted = certificates()
    for name, one in given.items():
        if not isinstance(name, str) or not name:
            message = f"the name of a server must be a text, not {received(name)}"
            raise TypeError(message)
        if not isinstance(one, ServerBehind):
            check_source(one, f"the server {quote(name)}" if is_several else "a server behind a gateway")
        server = one if isinstance(one, ServerBehind) else ServerBehind(one)
        if isinstance(server.source, str):
            server = server.replace(source=partial(over_http, server.source, trusted))
        found[name] = server
    return found


current_request: ContextVar[Any] = ContextVar("operator_schema_mcp_gateway_request", default=None)
"""The client's request in which a tool is called."""


async def tools_of(link: Link) -> Listing:
    """List the tools of a server.

    Raises:
        MCPError: the server doesn't list its tools.
    """
    page = partial(link.fronts.page_params, None)
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
        """Log that a tool is left out because another server has a tool with its name; name that server."""
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
        """Return the function of a tool."""
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
                        meta=link.fronts.meta(ctx),
                        allow_input_required=True,
                    )

                return await link.request(ctx, send, is_call=True)

            given = _given(ctx, name)
            answers, state = given or (None, None)
            try:
                answer = await driven(await again(answers, state), ctx, link.named, again)
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
    """Return the answers and the state of a call that the client sends again; None if it can't be asked so.

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
