"""Chains of gateways: the data about the client and other gateways that requests carry to a server."""

from __future__ import annotations

import json
import os
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, cast

import mcp_types as types
from mcp import StdioServerParameters

from ...json_values import is_array
from ..mcp_connection import transport_of
from ..mcp_streams import MessageStream

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Collection, Sequence
    from contextlib import AbstractAsyncContextManager

    from mcp.shared.message import SessionMessage

    from ..mcp_connection import Source

CAPABILITIES = "operator-schema/clientCapabilities"
"""The key under `_meta` of a request on its way to the transport, which moves the value where it belongs."""

_VARIABLE = "OPERATOR_SCHEMA_GATEWAYS"
"""The environment variable of each server that a gateway starts: the files of the gateways above, as JSON."""

_NUMBER = "operator-schema/gateways"
"""The key under `_meta` of the first request to such a server: the number of gateways above it.

The environment lacks this if a program in between cleans it, as `env -i` or a container does.
"""

_PATH = "operator-schema/gatewayPath"
"""The key under `_meta` for ids of gateways: in a request for a list, the gateways that it has passed, in
order; in a tool of the answer, the gateways that it came from.

Gateways that reach each other by URLs don't start each other, so nothing else reveals a circle.
"""

_MOST_IDS = 16
_ID_LENGTH = 64

_FIRST = frozenset({"server/discover", "initialize"})
_MOST = 4
"""The most gateways in a chain: each starts its servers again, so a circle would use up the machine."""


def gateways_above() -> list[str]:
    """Return the files of the gateways that started this process, directly or not, the first one first.

    Returns:
        The absolute paths; empty texts for gateways without a file.
    """
    return _paths_in(os.environ.get(_VARIABLE, "[]"))


def _paths_in(text: str) -> list[str]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    is_list = is_array(found) and all(isinstance(one, str) for one in found)
    return cast("list[str]", found) if is_list else [""]


def note_gateways_above(opening: types.JSONRPCRequest | None) -> None:
    """Remember gateways that the first request to this process mentions and its environment doesn't.

    Args:
        opening: the request; None if there is none.
    """
    meta: Any = ((opening and opening.params) or {}).get("_meta")
    number: Any = cast("dict[str, Any]", meta).get(_NUMBER) if isinstance(meta, dict) else None
    above = gateways_above()
    if type(number) is int and number > len(above):
        unknown = [""] * (min(number, _MOST) - len(above))
        os.environ[_VARIABLE] = json.dumps([*unknown, *above])


def check_depth() -> None:
    """Check that a gateway may be opened in this process.

    Raises:
        ConnectionError: too many gateways are chained.
    """
    if len(gateways_above()) >= _MOST:
        remedy = "move the servers of the last one into the one before it"
        message = f"more than {_MOST} gateways are chained: {remedy}"
        raise ConnectionError(message)


def started_below(source: Source, file: str = "") -> Source:
    """Return a server that learns of the gateways above it, if it is a command that starts a gateway.

    Args:
        source: the server, as for `Gateway`; a source that isn't a command is returned unchanged.
        file: the file of the gateway that starts it; empty if it has none.
    """
    if isinstance(source, str) or (callable(source) and not isinstance(source, StdioServerParameters)):
        return source
    if not isinstance(source, StdioServerParameters):
        source = StdioServerParameters(command=source[0], args=[*source[1:]])
    env, above = source.env or {}, gateways_above()
    known = _paths_in(env.get(_VARIABLE, "[]"))
    if len(known) > len(above) and known[: len(above)] == above:
        return source  # the source has it already
    return source.model_copy(update={"env": {**env, _VARIABLE: json.dumps([*above, file])}})


# --- gateways that reach each other ----------------------------------------------------------------


def path_in(meta: Any) -> tuple[str, ...]:
    """Return the ids of gateways under `_meta` of a request or a tool; empty if it isn't from a gateway."""
    found: Any = cast("dict[str, Any]", meta).get(_PATH) if isinstance(meta, dict) else None
    if not is_array(found) or len(found) > _MOST_IDS:
        return ()
    is_path = all(isinstance(one, str) and len(one) <= _ID_LENGTH for one in found)
    return tuple(cast("list[str]", found)) if is_path else ()


def is_circle(through: Collection[str], path: Collection[str]) -> bool:
    """Return whether a request returns to a gateway that it came from, or passes too many gateways.

    Args:
        through: the ids of the gateways that the request has passed.
        path: the ids of the gateways that the requested item came from.
    """
    return not set(through).isdisjoint(path) or len(through) + len(path) > _MOST_IDS


def with_path(meta: Any, path: Sequence[str]) -> dict[str, Any]:
    """Return the `_meta` of a request or a tool with ids of gateways added."""
    return {**(meta or {}), _PATH: [*path][-_MOST_IDS:]}


def without_path(tool: types.Tool) -> types.Tool:
    """Return a tool without ids of gateways under its `_meta`."""
    if _PATH not in (tool.meta or {}):
        return tool
    meta = {key: value for key, value in (tool.meta or {}).items() if key != _PATH}
    return tool.model_copy(update={"meta": meta or None})


# --- data in requests ----------------------------------------------------------------------------


def marked(source: Source, ended: Callable[[], object]) -> AbstractAsyncContextManager[Any]:
    """Return a transport to a server that adds data about the client to requests.

    These are the capabilities of the client and, for a server that is started here, the number of gateways
    above it.

    Args:
        source: the server, as for `Gateway`.
        ended: a function that is called when nothing more can come from the server.
    """

    @asynccontextmanager
    async def connect() -> AsyncGenerator[Any]:
        started = started_below(source)
        number = len(gateways_above()) + 1 if isinstance(started, StdioServerParameters) else 0
        async with transport_of(started) as (read, write):
            yield _ServerMessages(read, ended), _Marked(write, number)

    return connect()


class _ServerMessages(MessageStream):
    """A stream of messages from a server that reports its end.

    Args:
        inner: the stream.
        ended: a function that is called at the end of the stream.
    """

    def __init__(self, inner: Any, ended: Callable[[], object]) -> None:
        super().__init__(inner)
        self._ended = ended

    async def __anext__(self) -> Any:
        try:
            return await self._inner.__anext__()
        except Exception:  # also at the end
            self._ended()
            raise


class _Marked(MessageStream):
    """A stream of messages to a server that adds the data about the client.

    Args:
        inner: the stream.
        number: the number of gateways above the server; 0 if the server shouldn't get it.
    """

    def __init__(self, inner: Any, number: int) -> None:
        super().__init__(inner)
        self._number = number

    async def send(self, item: SessionMessage, /) -> None:
        """Send a message."""
        params: Any = getattr(item.message, "params", None)
        if isinstance(params, dict):
            self._mark(getattr(item.message, "method", ""), cast("dict[str, Any]", params))
        await self._inner.send(item)

    def _mark(self, method: str, params: dict[str, Any]) -> None:
        if self._number and method in _FIRST:
            params["_meta"] = {**(params.get("_meta") or {}), _NUMBER: self._number}
        meta: dict[str, Any] = params.get("_meta") or {}
        if CAPABILITIES in meta:
            found: Any = meta.pop(CAPABILITIES)
            if types.CLIENT_CAPABILITIES_META_KEY in meta:
                meta[types.CLIENT_CAPABILITIES_META_KEY] = found
            else:  # a server before 2026-07-28
                meta.pop(types.LOG_LEVEL_META_KEY, None)
