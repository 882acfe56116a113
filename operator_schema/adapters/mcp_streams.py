"""Which request waits for an answer that can't be read?"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Self, cast

from mcp.shared.message import SessionMessage
from mcp_types import (
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
)
from pydantic import ValidationError

from ..json_values import is_object

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams
    from mcp_types import RequestId

__all__ = ["UNREADABLE", "Stream", "answered"]

UNREADABLE = "Failed to parse JSON response: "
"""What the error of a request begins with whose answer can't be read, as over HTTP in the SDK."""

_SEARCHED = 65_536
"""Characters at the beginning of an answer, and at its end, that are searched for what tells its request."""

_NUMBER = r'"id"\s*:\s*("[^"\\]+"|\w[\w.-]*)'
_VERSION = r'"jsonrpc"\s*:\s*"2\.0"'
_ID = re.compile(
    rf"{_VERSION}\s*,\s*{_NUMBER}\s*[,}}]|{_NUMBER}\s*,\s*{_VERSION}|\A\W*{_NUMBER}\s*,|,\s*{_NUMBER}\s*\}}\s*\Z"
)
"""The id of a message that can't be read: beside the version, or as the first or last key."""

_KIND = re.compile(r'"(result|error|method)"\s*:')


def answered(streams: Any) -> TransportStreams:
    """Return the streams of a connection, on which each answer that can't be read is an error of its request.

    On some transports the SDK gives such an answer to nobody, and the request waits for ever.
    """
    read, write = streams
    waiting: dict[str, RequestId] = {}
    made: TransportStreams = cast("Any", (_Answers(read, waiting), _Requests(write, waiting)))
    return made


class Stream:
    """One side of a connection.

    Args:
        inner: the stream that it stands for.
    """

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    @property
    def last_context(self) -> Any:
        """What the SDK knows of whoever has sent the last message."""
        return getattr(self._inner, "last_context", None)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        return await self._inner.__anext__()

    async def receive(self) -> Any:
        """Return the next message."""
        return await self._inner.receive()

    async def send(self, item: SessionMessage, /) -> None:
        """Send a message."""
        await self._inner.send(item)

    async def aclose(self) -> None:
        """Close the stream."""
        await self._inner.aclose()

    async def __aenter__(self) -> Self:
        await self._inner.__aenter__()
        return self

    async def __aexit__(self, *failure: object) -> Any:
        return await self._inner.__aexit__(*failure)


class _Requests(Stream):
    """A stream of messages to a server.

    Args:
        inner: the stream.
        waiting: the ids of requests that have no answer yet, by their text.
    """

    def __init__(self, inner: Any, waiting: dict[str, RequestId]) -> None:
        super().__init__(inner)
        self._waiting = waiting

    async def send(self, item: SessionMessage, /) -> None:
        """Send a message, and note what it waits for."""
        message = item.message
        if isinstance(message, JSONRPCRequest):
            self._waiting[str(message.id)] = message.id
        elif isinstance(message, JSONRPCNotification) and message.method == "notifications/cancelled":
            self._waiting.pop(str((message.params or {}).get("requestId")), None)
        await self._inner.send(item)


class _Answers(Stream):
    """A stream of messages from a server; the arguments are those of `_Requests`."""

    def __init__(self, inner: Any, waiting: dict[str, RequestId]) -> None:
        super().__init__(inner)
        self._waiting = waiting

    async def __anext__(self) -> Any:
        return self._readable(await self._inner.__anext__())

    async def receive(self) -> Any:
        """Return the next message."""
        return self._readable(await self._inner.receive())

    def _readable(self, item: Any) -> Any:
        message = getattr(item, "message", None)
        if isinstance(message, JSONRPCResponse | JSONRPCError) and message.id is not None:
            self._waiting.pop(str(message.id), None)
        elif isinstance(message, JSONRPCError):
            number = self._asked(None)
            return item if number is None else SessionMessage(message.model_copy(update={"id": number}))
        elif isinstance(item, ValidationError):
            return self._error(item) or item
        return item

    def _error(self, failure: ValidationError) -> SessionMessage | None:
        """Return the error of a request whose answer can't be read; None if it isn't an answer."""
        said = failure.errors(include_url=False, include_context=False)
        found = next((one for one in said if _is_answer(one["input"])), None)
        number = None if found is None else self._asked(_id_in(found["input"]))
        if found is None or number is None:
            return None
        why = found["msg"] if isinstance(found["input"], str) else "it isn't an answer of JSON-RPC"
        error = ErrorData(code=PARSE_ERROR, message=f"{UNREADABLE}{why}")
        return SessionMessage(JSONRPCError(jsonrpc="2.0", id=number, error=error))

    def _asked(self, number: str | None) -> RequestId | None:
        """Return the id of the request that an answer belongs to: without an id, to the only one there is."""
        if number is not None:
            return self._waiting.pop(number, None)
        return self._waiting.popitem()[1] if len(self._waiting) == 1 else None


def _is_answer(given: Any) -> bool:
    """Return whether a message that can't be read, or its text, is an answer; a program may print others."""
    if is_object(given):
        return "jsonrpc" in given and "method" not in given
    if not isinstance(given, str):
        return False
    kind = _KIND.search(given[:_SEARCHED])
    is_message = '"jsonrpc"' in given[:_SEARCHED] or '"jsonrpc"' in given[-_SEARCHED:]
    return is_message and (kind is None or kind[1] != "method")


def _id_in(given: Any) -> str | None:
    """Return the id of an answer that can't be read, as a text."""
    if is_object(given):
        found: object = given.get("id")
        whole = int(found) if isinstance(found, float) and found.is_integer() else found
        return str(whole) if isinstance(whole, int | str) else None
    shown = given if len(given) <= 2 * _SEARCHED else given[:_SEARCHED] + given[-_SEARCHED:]
    said = _ID.search(shown)
    number = "null" if said is None else said[said.lastindex or 0]
    return None if number == "null" else number.strip('"')
