"""Decide which tools of a server's list can be used, and which answers to calls."""

from __future__ import annotations

import logging
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from mcp import ClientSession, MCPError
from mcp.client import Client
from mcp_types import CONNECTION_CLOSED, PARSE_ERROR, methods
from mcp_types.version import LATEST_HANDSHAKE_VERSION
from pydantic import ValidationError

from ..errors import CallError, SchemaError
from ..findings import Finding
from ..json_values import is_array, is_object
from ..message_text import one_line, quote, received
from .mcp_streams import UNREADABLE

if TYPE_CHECKING:
    from collections.abc import Mapping

    import mcp_types as types

__all__ = ["JudgedSession", "Listing", "judged", "unreadable", "what_came"]

_LOG = logging.getLogger("operator_schema.mcp_client")
_LIST = "tools/list"
_OLDEST = LATEST_HANDSHAKE_VERSION
"""The protocol version that every input schema must fit: a client of that version may read it."""

_SHOWN = 200
_NOTHING = {"type": "object"}
_FORM: Mapping[str, Any] = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
"""The data that a page of tools needs besides the tools, in some version of the protocol."""

_UNREADABLE = (UNREADABLE, "Failed to parse SSE message: ")
_BROKEN_OFF = "SSE stream "
"""The beginnings of errors for an answer that can't be read, or breaks off."""


class Listing(NamedTuple):
    """The list of a server's tools.

    Attributes:
        tools: the tools that can be used.
        refused: the fault in each other definition, by the name of the tool, or by its position if it has
            none.
        raw: all items as the server sent them.
    """

    tools: list[types.Tool]
    refused: dict[str, SchemaError]
    raw: list[Any]

    def names(self) -> list[str]:
        """Return the names of all tools, including refused ones."""
        return [*[tool.name for tool in self.tools], *self.refused]


# --- a session -------------------------------------------------------------------------------------


class JudgedSession(ClientSession):
    """A session that checks tools and results here; it shares everything with the given session.

    The SDK would refuse a whole list because of one tool, and a result because of its data, although the tool
    did its work.

    Attributes:
        refused: as in `Listing`, for all pages that were read.
        raw: as in `Listing`.
    """

    __slots__ = ("_named", "raw", "refused")
    raw: list[Any]
    refused: dict[str, SchemaError]
    _named: dict[str, Any]

    @classmethod
    def of(cls, session: ClientSession) -> JudgedSession:
        """Return the same session in this class."""
        made: JudgedSession = _sharing(cls, session)
        made.refused, made.raw, made._named = {}, [], {}
        return made

    @property
    def _dispatcher(self) -> Any:  # type: ignore[override]  # pyright: ignore[reportIncompatibleVariableOverride]  # it is only read
        return _Dispatcher(self.__dict__["_dispatcher"], self)

    async def validate_tool_result(self, name: str, result: types.CallToolResult) -> None:
        """Do nothing: the tool itself checks its result."""

    def page(self, raw: dict[str, Any]) -> dict[str, Any]:
        """Return a page of tools that the SDK accepts, without unusable parts."""
        items = raw.get("tools")
        if not is_array(items):
            return raw
        version = self.protocol_version or _OLDEST
        form = _fitting(version, {**_FORM, "tools": []}, raw)
        found = [self._kept(version, item) for item in items]
        return {**form, "tools": [each for each in found if each is not None]}

    def _kept(self, version: str, item: Any) -> dict[str, Any] | None:
        self.raw.append(item)
        place = f"tool {len(self.raw)}"
        try:
            made = _tool(version, item, place)
            if self._named.setdefault(made["name"], item) != item:
                raise _refusal(place, f"another tool is called {quote(made['name'])}")
        except SchemaError as error:
            self.refused[error.name] = error
            return None
        return made


class _Dispatcher:
    """Sends the requests of a session, and checks the list of tools before the SDK does."""

    def __init__(self, inner: Any, session: JudgedSession) -> None:
        self._inner, self._session = inner, session

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def send_raw_request(self, method: str, *args: Any, **kwargs: Any) -> dict[str, Any]:
        raw: dict[str, Any] = await self._inner.send_raw_request(method, *args, **kwargs)
        return self._session.page(raw) if method == _LIST else raw


class _JudgedClient(Client):
    """A client whose session checks results here; it shares everything with the given client."""

    @property
    def session(self) -> ClientSession:
        """The session."""
        return JudgedSession.of(super().session)


def judged(session: Any) -> Any:
    """Return a session, or a client, that checks results here; a stand-in for one is returned unchanged."""
    if isinstance(session, ClientSession):
        return JudgedSession.of(session)
    return _sharing(_JudgedClient, session) if isinstance(session, Client) else session


def _sharing(kind: Any, given: Any) -> Any:
    """Return an object of a class that is also of the given object's class, and shares its attributes."""
    other: Any = given.__class__
    made = object.__new__(_both(kind, other))
    made.__dict__ = given.__dict__
    return made


@cache
def _both(kind: Any, other: Any) -> Any:
    return kind if issubclass(kind, other) else type(kind.__name__, (kind, other), {"__slots__": ()})


# --- a tool ----------------------------------------------------------------------------------------


def _fits(version: str, page: dict[str, Any]) -> bool:
    """Return whether the SDK accepts a page of tools."""
    try:
        methods.validate_server_result(_LIST, version, page)
    except ValidationError:
        return False
    except KeyError:  # the SDK has no form for this version
        return True
    return True


def _fitting(version: str, page: dict[str, Any], raw: Mapping[str, Any]) -> dict[str, Any]:
    """Return a page with all parts of another page that the SDK accepts, except the tools."""
    for key in raw.keys() - {"tools"}:
        more = {**page, key: raw[key]}
        if _fits(version, more):
            page = more
        else:
            _LOG.info("the list of tools has a %s that isn't one of the protocol: it is ignored", key)
    return page


def _tool(version: str, item: Any, place: str) -> dict[str, Any]:
    """Return a tool in a form that the SDK accepts.

    Args:
        version: the version of the protocol.
        item: the item as the server sent it.
        place: the position of the tool in the list.

    Raises:
        SchemaError: the tool can't be used; `name` of the error is the tool's name, or its position.
    """
    if not is_object(item):
        raise _refusal(place, f"it is {received(item)}, not an object")
    name = item.get("name")
    if not isinstance(name, str) or not name:
        raise _refusal(place, "it has no name" if name is None or name == "" else "its name isn't a text")
    made: dict[str, Any] = {"name": name, "inputSchema": _arguments(name, item.get("inputSchema"))}
    item = {key: value for key, value in item.items() if key != "outputSchema"} | _results(item)
    if _fits(version, _page_of({**item, **made})):
        return {**item, **made}
    for key in [key for key in item if key not in made]:
        if _fits(version, _page_of({**made, key: item[key]})):
            made[key] = item[key]
        else:
            _LOG.info("the tool %r has a %s that isn't one of the protocol: it is ignored", name, key)
    return made


def _page_of(tool: dict[str, Any]) -> dict[str, Any]:
    return {**_FORM, "tools": [tool]}


def _arguments(name: str, schema: Any) -> Any:
    """Return the schema of arguments in a form that is valid in all versions of the protocol.

    Raises:
        SchemaError: there is no such form.
    """
    if schema is None:
        return dict(_NOTHING)
    if not is_object(schema):
        raise _refusal(name, f"its inputSchema is {received(schema)}, not an object")
    made = _with_type(schema)
    if made["type"] != "object":
        shown = received(made["type"])
        raise _refusal(name, f'the "type" of its inputSchema is {shown}, and arguments are an object')
    return _in_old_form(made, name)


def _results(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of results, by its key, in a form valid in all versions; empty if there is none.

    From version 2026-07-28 on, results may be something other than objects.
    """
    schema = item.get("outputSchema")
    if not is_object(schema):
        return {} if schema is None else {"outputSchema": schema}
    made = _with_type(schema)
    return {"outputSchema": _in_old_form(made, item["name"]) if made["type"] == "object" else made}


def _in_old_form(schema: dict[str, Any], name: str) -> dict[str, Any]:
    """Return the schema of an object in the form of all versions, without parts that aren't JSON Schema."""
    if _fits(_OLDEST, _page_of({"name": name, "inputSchema": schema})):
        return schema
    _LOG.info("the tool %r has a schema with parts that aren't of JSON Schema: they are ignored", name)
    kept = {key: value for key, value in schema.items() if key not in {"properties", "required", "$schema"}}
    properties, required = schema.get("properties"), schema.get("required")
    if is_object(properties):
        kept["properties"] = {
            key: value if is_object(value) or isinstance(value, bool) else {}
            for key, value in properties.items()
        }
    if is_array(required):
        kept["required"] = [each for each in required if isinstance(each, str)]
    return kept


def _with_type(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of an object with the type object, also if it has no type or allows others."""
    kind = schema.get("type", "object")
    is_one = is_array(kind) and "object" in kind
    return {**schema, "type": "object" if is_one else kind}


def _refusal(name: str, message: str) -> SchemaError:
    finding = Finding((), "bad_definition", message, remedy="Correct the definition", tool=name)
    return SchemaError(name, [finding], "definition")


# --- an answer -------------------------------------------------------------------------------------


def what_came(error: Exception) -> str | None:
    """Return the fault of an answer that arrived but can't be used; None for any other error.

    Args:
        error: the exception of a request of the SDK.
    """
    if isinstance(error, ValidationError):
        return "isn't one of the protocol"
    if not isinstance(error, MCPError):
        return None
    if error.code == PARSE_ERROR and error.message.startswith(_UNREADABLE):
        why = error.message.removeprefix(UNREADABLE)
        return f"can't be read: {one_line(why, _SHOWN)}" if why.startswith("it has ") else "can't be read"
    is_broken = error.code == CONNECTION_CLOSED and error.message.startswith(_BROKEN_OFF)
    return "breaks off" if is_broken else None


def unreadable(error: Exception, name: str) -> CallError | None:
    """Return the error of a call whose answer arrived but can't be used; None for any other error.

    Args:
        error: the exception of the SDK's call.
        name: the name of the tool.
    """
    what = what_came(error)
    if what is None:
        return None
    _LOG.warning("%s: the answer of the server %s: %s", name, what, one_line(str(error), _SHOWN))
    return CallError(f"{name}: the answer of the server {what}; the tool may have done its work")
