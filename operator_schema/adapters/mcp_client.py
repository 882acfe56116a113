"""MCP: use the tools of any server as our tools, checked and explained here; needs the extra `mcp`."""

from __future__ import annotations

import logging
from binascii import a2b_base64
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any, SupportsIndex

try:
    from mcp import ClientSession, MCPError, types
    from pydantic import ValidationError
except ModuleNotFoundError as error:
    if error.name not in {"mcp", "mcp_types"}:
        raise
    message = "operator_schema.adapters.mcp_client needs mcp 2.1 or newer: pip install 'operator-schema[mcp]'"
    raise ModuleNotFoundError(message, name="mcp") from None

from ..errors import CallError, DuplicateToolError, SchemaError, ToolError
from ..execution import current_backend
from ..json_values import copy_json, is_finite, is_object, to_json_text, without_surrogates
from ..lazy import answer_misnamed
from ..message_text import listed, one_line, quote, received
from ..schema.document import DocumentCodec
from ..similar_names import nearest
from ..tools import (
    Audio,
    DocumentOutput,
    Image,
    Progress,
    Resource,
    Text,
    WrittenOutput,
    check_options_for_all,
    skip,
    tool_of_document,
)
from .conversions import NameGiver
from .mcp_connection import connected, end_of
from .mcp_judging import JudgedSession, Listing, judged, unreadable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
    from typing import Unpack

    from mcp.client import Client
    from mcp.shared.dispatcher import ProgressFnT

    from ..rounds import Registry
    from ..tools import Part, Tool, ToolOptions

__all__ = [
    "ServerTools",
    "ToolList",
    "all_pages",
    "check_there",
    "checked_answer",
    "described_tools",
    "for_the_model",
    "listing_of",
    "progress_to",
    "tools_from",
]

answer_misnamed(__name__)

_SHOWN = 200
_LOG = logging.getLogger("operator_schema.mcp_client")
MAX_TOOLS = 10_000
MAX_PAGES = 1000
_FOR_THE_MODEL = frozenset({types.INVALID_PARAMS})
"""The codes of JSON-RPC errors with messages that help the model."""


async def tools_from(
    session: ClientSession | Client,
    /,
    *,
    prefix: str = "",
    only: Collection[str] | Callable[[str], bool] | None = None,
    **options: Unpack[ToolOptions],
) -> ServerTools:
    """Return the tools of an MCP server.

    Each tool runs its call on the server, in the event loop of the session. The model gets the schema as the
    server wrote it. Arguments are checked before they are sent; keys that the schema doesn't name are
    forwarded.

    Args:
        session: a session that is connected and initialized; it has to stay open while the tools are used.
        prefix: the prefix of all names, such as `files_`.
        only: the names of the wanted tools on the server, or a function that returns whether a tool is
            wanted.
        options: options for all tools, as for `tool`: `repair=True` corrects arguments,
            `unknown_fields="reject"` refuses keys that a schema doesn't name, `timeout=20` limits calls.

    Returns:
        A list in the order of the server. Tools whose schema can't be used are in `refused`.

    Raises:
        MCPError: the server doesn't list its tools.
        SchemaError: the value of an option has a wrong type.
        ToolError: the server lacks a tool named in `only`.
        TypeError: there is no such option.
    """
    check_options_for_all("tools_from", options)
    found = ServerTools(ToolList(session, prefix, only, options))
    await found.refresh()
    return found


class ServerTools(list["Tool[..., Any]"]):
    """The tools of a server as a list, with faults of their schemas, and rules that only the server checks.

    Attributes:
        refused: the faults of tools that aren't in the list, by their names on the server.
        originals: the names of tools on the server by their names in the list.
    """

    def __init__(self, source: ToolList) -> None:
        super().__init__()
        self.refused: dict[str, SchemaError] = {}
        self.originals: dict[str, str] = {}
        self._source = source
        self._refused: dict[str, SchemaError] = {}  # tools whose definition can be read
        self._known: dict[str, types.Tool] = {}
        self._is_new = True

    async def refresh(self, registry: Registry | None = None) -> bool:
        """List the tools of the server again, as after `notifications/tools/list_changed`.

        A tool that hasn't changed stays the same object.

        Args:
            registry: a registry with the tools, which follows their changes. From the second call on (behind
                a gateway, always), a tool is left out, with a log record, if another tool in the registry has
                its name.

        Returns:
            Whether anything has changed.

        Raises:
            DuplicateToolError: at the first call, the registry has another tool with the same name.
            ToolError: a tool named in `only` no longer exists.
        """
        return self.take(await self._source.listed(), registry)

    def take(self, listing: Listing, registry: Registry | None = None) -> bool:
        """Update the list to a server's listing, as `refresh` does.

        Args:
            listing: all tools of the server.
            registry: the registry, as for `refresh`.

        Raises:
            DuplicateToolError: as `refresh`.
            ToolError: as `refresh`.
        """
        described = self._source.described(listing)
        unread = {name: error for name, error in listing.refused.items() if self._source.is_wanted(name)}
        for name in [name for name in unread if name not in self.refused]:
            self._source.log_left_out(name, unread[name])
        if described == self._known:
            self.refused = {**unread, **self._refused}
            return False
        before = {tool.name: tool for tool in self}
        tools, self._refused = self._made(described, before)
        if registry is not None:
            gone = [tool for name, tool in before.items() if tool is not tools.get(name)]
            for tool in gone:
                if tool.name in registry and registry[tool.name] == tool:
                    registry.unregister(tool.name)
            new = [tool for name, tool in tools.items() if tool is not before.get(name)]
            for name in self._left_out(registry, new, described):
                del tools[name], described[name]  # so that it is checked again
        has_changed = described != self._known
        self[:] = tools.values()
        self.refused, self._known, self._is_new = {**unread, **self._refused}, described, False
        self.originals = {name: described[name].name for name in tools}
        return has_changed

    def _left_out(
        self, registry: Registry, new: list[Tool[..., Any]], described: Mapping[str, types.Tool]
    ) -> list[str]:
        """Register tools; return the names of those that collide with others."""
        try:
            registry.register(new)
        except DuplicateToolError:
            if self._is_new and not self._source.may_collide:
                raise
        else:
            return []
        found: list[str] = []
        for tool in new:
            try:
                registry.register(tool)
            except DuplicateToolError as error:
                found.append(tool.name)
                self._source.tell_left_out(tool.name, described[tool.name].name, error)
        return found

    def _made(
        self, described: Mapping[str, types.Tool], before: Mapping[str, Tool[..., Any]]
    ) -> tuple[dict[str, Tool[..., Any]], dict[str, SchemaError]]:
        tools: dict[str, Tool[..., Any]] = {}
        refused: dict[str, SchemaError] = {}
        for name, each in described.items():
            try:
                is_same = name in before and self._known.get(name) == each
                tools[name] = before[name] if is_same else self._source.tool(name, each)
            except SchemaError as error:
                refused[each.name] = error
                self._source.log_left_out(each.name, error)
        return tools, refused

    @property
    def left(self) -> dict[str, tuple[str, ...]]:
        """The rules of each tool's schema that only the server checks, as lines, by the name of the tool."""
        found = {tool.name: tuple(map(str, _codec_of(tool).left)) for tool in self}
        return {name: lines for name, lines in found.items() if lines}

    def report(self) -> str:
        """Return the rules that only the server checks, and the refused tools, line by line."""
        lines = [f"{name}: left to the server: {line}" for name, found in self.left.items() for line in found]
        for name, error in self.refused.items():
            lines += [f"{name}: refused: {complaint.message}" for complaint in error.findings]
        return "\n".join(lines)

    def __getitem__(self, index: Any) -> Any:
        """Return a tool by its position or its name, or several by a slice."""
        if isinstance(index, str):
            for tool in self:
                if tool.name == index:
                    return tool
            raise KeyError(index)
        position: SupportsIndex = index
        return super().__getitem__(position)


def _codec_of(tool: Tool[..., Any]) -> DocumentCodec:
    codec = tool.codec
    assert isinstance(codec, DocumentCodec)  # noqa: S101  # as they are made here
    return codec


class ToolList:
    """List and call the tools of a session.

    Attributes:
        may_collide: whether a tool is left out, even the first time, if another one has its name.
    """

    may_collide = False

    def __init__(
        self,
        session: ClientSession | Client,
        prefix: str,
        only: Collection[str] | Callable[[str], bool] | None,
        options: Mapping[str, Any],
    ) -> None:
        self.session = session
        self.home = current_backend().home()
        self._prefix = prefix
        self._chosen = only if callable(only) else None
        self._names = (
            None if only is None or callable(only) else frozenset([only] if isinstance(only, str) else only)
        )
        self._options = options

    def log_left_out(self, name: str, why: Exception) -> None:
        """Log that a tool is left out, with the name of the server if it is known."""
        said = [each.message for each in why.findings] if isinstance(why, SchemaError) else [why]
        _LOG.warning(
            "the tool %s of %s is left out: %s", quote(name), self.whose(), listed(list(map(str, said)))
        )

    def whose(self) -> str:
        """Return the name of the server in messages."""
        info = None
        with suppress(RuntimeError):  # the client isn't connected any more
            info = self.session.server_info
        return "the server" if info is None else f"the server {quote(one_line(info.name, _SHOWN))}"

    def is_wanted(self, name: str) -> bool:
        """Return whether a tool of the server is wanted."""
        if self._names is not None:
            return name in self._names
        return self._chosen is None or self._chosen(name)

    def described(self, listing: Listing) -> dict[str, types.Tool]:
        """Return the definitions of the wanted tools by their names on the server."""
        names = NameGiver(self._prefix)
        if self._names is not None:
            check_there(self._names, listing.names())
        return {names.give(each.name): each for each in listing.tools if self.is_wanted(each.name)}

    def tool(self, name: str, described: types.Tool) -> Tool[..., Any]:
        """Make a tool.

        Raises:
            SchemaError: the schema of the tool can't be used.
        """
        return _tool(described, name, self.caller(described.name, name), self._options)

    async def listed(self) -> Listing:
        """List the wanted tools of the server."""
        return await listing_of(self.session)

    def tell_left_out(self, name: str, original: str, error: DuplicateToolError) -> None:
        """Log that a tool is left out because another one has its name.

        Args:
            name: the name that the tool would have here.
            original: its name on the server.
            error: the error of the registry.
        """
        del original  # a gateway logs it
        self.log_left_out(name, error)

    def caller(self, original: str, name: str) -> Callable[..., Any]:
        """Return the async function that calls one tool of the server.

        Args:
            original: the name of the tool on the server.
            name: its name here.
        """
        return _caller(self.session, original, name, self.home)


# --- one tool ----------------------------------------------------------------------------------------


def _tool(
    described: types.Tool, name: str, call: Callable[..., Any], given: Mapping[str, Any]
) -> Tool[..., Any]:
    stated = _stated(described)
    options: dict[str, Any] = {"name": name, "description": described.description or "", **stated, **given}
    output = _ServerOutput.of_schema(described.output_schema, name)

    async def checked(arguments: dict[str, Any], progress: Annotated[Progress | None, skip] = None) -> Any:
        return output.checked(await call(arguments, progress), name)

    return tool_of_document(checked, described.input_schema, output, **options)


def _stated(described: types.Tool) -> dict[str, Any]:
    """Return the hints of a server about a tool, as options of `tool`."""
    said = described.annotations
    found: dict[str, Any] = {"title": described.title}
    if said is not None:
        found = {
            "title": described.title or said.title,
            "read_only": said.read_only_hint,
            # This hint has no meaning for a tool that only reads.
            "destructive": None if said.read_only_hint else said.destructive_hint,
            "idempotent": said.idempotent_hint,
            "open_world": said.open_world_hint,
        }
    if not (found["title"] or "").strip():
        del found["title"]
    if described.meta:
        found["meta"] = copy_json(dict(described.meta))
    return {name: value for name, value in found.items() if value is not None}


class _ServerOutput(DocumentOutput):
    """The result of a server's tool: `value` is its `CallToolResult`, `json` its structured content."""

    __slots__ = ()

    def write(self, value: object, name: str, *, is_lenient: bool) -> WrittenOutput:
        """Write a `CallToolResult`; write anything else as a JSON value."""
        if not isinstance(value, types.CallToolResult):
            return super().write(value, name, is_lenient=is_lenient)
        return _write_answer(value)

    def checked(self, answer: Any, name: str) -> Any:
        """Return a server's answer to a call, without data that don't fit its own description.

        Args:
            answer: an answer that isn't an error.
            name: the name of the tool.
        """
        if not isinstance(answer, types.CallToolResult):
            return answer
        why = self._misfit(answer)
        if why is None:
            return answer
        note = f"{name} did its work, but {one_line(why, _SHOWN)}"
        _LOG.warning("%s", note)
        content = [*(answer.content or _as_content(answer.structured_content)), _text(f"[{note}]")]
        return answer.model_copy(update={"content": content, "structured_content": None})

    def _misfit(self, answer: types.CallToolResult) -> str | None:
        """Return the fault in the data of a result, for a sentence; None if there is none."""
        codec, data = self.codec(), answer.structured_content
        if data is None and (codec is None or "structured_content" not in answer.model_fields_set):
            return None if codec is None else "sent no data, although the server declares some"
        if not is_finite(data):
            return "its data is left out, because it has a number that JSON can't hold, such as NaN"
        found = () if codec is None else codec.report(data)
        if not found:
            return None
        return f"its data is left out, because it doesn't fit what the server declares: {found[0]}"


def _text(text: str) -> types.TextContent:
    return types.TextContent(type="text", text=text)


def _as_content(data: Any) -> list[types.ContentBlock]:
    """Return data as a text, for an answer that has no other content."""
    return [] if data is None else [_text(str(data) if not is_finite(data) else to_json_text(data))]


def _caller(session: ClientSession | Client, original: str, name: str, home: object) -> Callable[..., Any]:
    """Return the async function that calls one tool of a server in a session."""
    own = judged(session)
    # A `Client` asks its program itself; the error of a session would not contain the answer.
    more: dict[str, Any] = {"allow_input_required": True} if type(session) is ClientSession else {}

    async def call(
        arguments: dict[str, Any], progress: Annotated[Progress | None, skip] = None
    ) -> types.CallToolResult:
        if current_backend().home() is not home:
            message = "its session belongs to another event loop: run the call there (await executor.run)"
            raise ToolError(name, message)

        try:
            answer = await own.call_tool(original, arguments, progress_callback=progress_to(progress), **more)
        except (MCPError, ValidationError) as error:
            ended = await end_of(session, error)
            raise ended or unreadable(error, original) or for_the_model(error) from error
        if isinstance(answer, types.InputRequiredResult):
            message = f"{original} asks something first, and nobody can be asked from here"
            raise CallError(message)
        checked: types.CallToolResult = checked_answer(answer, original)
        return checked

    return call


def progress_to(listener: Progress | None) -> ProgressFnT:
    """Return a function that takes the progress of a call from a server, and forwards it."""

    async def report(progress: float, total: float | None, message: str | None) -> None:
        if listener is not None:
            listener(progress, total, message)

    return report


def for_the_model(error: Exception) -> Exception:
    """Return an error of the protocol as an error of a call, if it is about the arguments."""
    if isinstance(error, MCPError) and error.code in _FOR_THE_MODEL:
        return CallError(error.message)
    return error


def checked_answer(answer: Any, name: str) -> Any:
    """Check that a server's answer isn't an error, and return it.

    Raises:
        AnswerError: the answer says that the call has failed.
    """
    if isinstance(answer, types.CallToolResult) and answer.is_error:
        raise ServerCallError(answer, name)
    return answer


class ServerCallError(CallError):
    """A call failed, according to the server.

    Attributes:
        answer: the answer of the server, with everything that isn't text.
    """

    def __init__(self, answer: types.CallToolResult, name: str) -> None:
        super().__init__(_write_answer(answer).text or f"{name} failed, and the server says nothing more")
        self.answer = answer


def _write_answer(answer: types.CallToolResult) -> WrittenOutput:
    """Write the result of a call.

    Returns:
        The text of its content; its JSON value, which is the structured content or otherwise the value of its
        content; and its parts, if they are more than one text.
    """
    parts = [_shown_part(block) for block in answer.content]
    structured = copy_json(answer.structured_content)
    text = "\n".join([part.as_text() for part in parts])
    if structured is not None:
        json = structured
    elif len(parts) == 1 and isinstance(parts[0], Text):
        json = text
    else:
        json = [part.text if isinstance(part, Text) else part.as_dict() for part in parts]
    if not parts and structured is not None:
        text = to_json_text(structured)
    is_text = len(parts) < 2 and all(isinstance(part, Text) for part in parts)  # noqa: PLR2004  # several
    return WrittenOutput(text, json, (), () if is_text else tuple(parts))


def _shown_part(block: Any) -> Part:
    """Return a block of content as a part, or a text that says why it can't be one."""
    try:
        return _part(block)
    except (ValueError, TypeError) as error:
        kind = getattr(block, "type", type(block).__name__)
        return Text(f"[{kind} that can't be shown: {one_line(str(error), _SHOWN)}]")


def _part(block: Any) -> Part:
    match block:
        case types.TextContent():
            return Text(without_surrogates(block.text))
        case types.ImageContent():
            return Image.from_bytes(_data(block.data), block.mime_type)
        case types.AudioContent():
            return Audio.from_bytes(_data(block.data), block.mime_type)
        case types.ResourceLink():
            return Resource(str(block.uri), media_type=block.mime_type)
        case types.EmbeddedResource(resource=types.TextResourceContents() as held):
            return Resource(str(held.uri), without_surrogates(held.text), media_type=held.mime_type)
        case types.EmbeddedResource(resource=types.BlobResourceContents() as held):
            return Resource(str(held.uri), data=_data(held.blob), media_type=held.mime_type)
        case _:
            message = "its type isn't known"
            raise TypeError(message)


def _data(text: str) -> bytes:
    return a2b_base64(text.encode("ascii"), strict_mode=True)


async def listing_of(
    session: ClientSession | Client,
    page: Callable[[types.PaginatedRequestParams | None], types.PaginatedRequestParams | None] = lambda it: (
        it
    ),
) -> Listing:
    """Return the tools of all pages, each name once.

    Args:
        session: the session.
        page: a function that returns the parameters of a request, from the parameters for the page.

    Raises:
        MCPError: the server doesn't list its tools.
        TypeError: the object isn't a session or an opened client.
    """
    given: Any = session if isinstance(session, ClientSession) else getattr(session, "session", None)
    if given is None:
        message = (
            f"tools_from takes a ClientSession or a Client of the MCP SDK, not {received(session)}: "
            "enter one first (async with Client(…) as client), or use Gateway(…)"
        )
        raise TypeError(message)
    own = JudgedSession.of(given)
    tools = await all_pages(lambda params: own.list_tools(params=page(params)), "tools", "name")
    return Listing(tools, own.refused, own.raw)


async def all_pages(
    ask: Callable[[types.PaginatedRequestParams | None], Awaitable[Any]], items: str, key: str
) -> list[Any]:
    """Return the items of all pages of a list, each once: at most 10,000 items from 1,000 pages.

    Args:
        ask: a function that requests a page.
        items: the attribute of a page with its items.
        key: the attribute that identifies an item.

    Raises:
        MCPError: the server doesn't list the items.
    """
    found: dict[str, Any] = {}
    seen: set[str] = set()
    cursor: str | None = None
    for _ in range(MAX_PAGES):
        page = await ask(None if cursor is None else types.PaginatedRequestParams(cursor=cursor))
        for item in getattr(page, items):
            found.setdefault(getattr(item, key), item)
        cursor = page.next_cursor
        if cursor is None or cursor in seen or len(found) > MAX_TOOLS:
            break
        seen.add(cursor)
    return list(found.values())[:MAX_TOOLS]


async def described_tools(source: str | Sequence[str]) -> list[dict[str, Any]]:
    """Connect to a server, list its tools, and end the connection.

    Args:
        source: the URL of a server, or the words of a command that starts one.

    Returns:
        The tools in the server's own words: the items of the result of `tools/list`, of all pages, each once.
        Some of them may not be valid tools.
    """
    async with connected(source) as client:
        found = (await listing_of(client)).raw
    items = [{key: value for key, value in each.items() if value is not None} if is_object(each) else each
             for each in found]  # fmt: skip
    return list({to_json_text(each): each for each in items}.values())


def check_there(wanted: Collection[str], names: Collection[str], whose: str = "the server") -> None:
    """Check that a server has the tools with these names.

    Args:
        wanted: the names.
        names: the names of its tools.
        whose: the name of the server in the message.

    Raises:
        ToolError: the server lacks one.
    """
    missing = sorted(set(wanted).difference(names))
    if missing:
        near = nearest(missing[0], names)
        hint = f"; did you mean {quote(near)}?" if near else f"; it has {listed(sorted(names)) or 'none'}"
        raise ToolError(missing[0], f"{whose} has no such tool{hint}")
