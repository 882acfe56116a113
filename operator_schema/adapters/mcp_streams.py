"""Find the request that an answer belongs to, if the answer can't be read or is too long."""

from __future__ import annotations

import codecs
import json
import re
from collections import deque
from functools import cache
from typing import TYPE_CHECKING, Any, Self, cast

from mcp.shared.message import SessionMessage
from mcp_types import (
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

from ..json_values import is_array, is_object, writable_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mcp.client._transport import TransportStreams
    from mcp_types import RequestId

__all__ = ["LONGEST_ANSWER", "UNREADABLE", "MessageStream", "answered", "whole_lines"]

UNREADABLE = "Failed to parse JSON response: "
"""The beginning of the error for an unreadable answer; the SDK uses the same words over HTTP."""

LONGEST_ANSWER = 64 * 2**20
"""The longest answer that is read, in bytes: the same as for a request to our own servers."""

_SEARCHED = 65_536
"""How many characters at the beginning and at the end of an answer are searched for the id of its request."""

_NUMBER = r'"id"\s*:\s*("[^"\\]+"|\w[\w.-]*)'
_VERSION = r'"jsonrpc"\s*:\s*[^\s,:{}\[\]]{0,40}'
_ID = re.compile(
    rf"{_VERSION}\s*,\s*{_NUMBER}\s*[,}}]|{_NUMBER}\s*,\s*{_VERSION}|\A\W*{_NUMBER}\s*,|,\s*{_NUMBER}\s*\}}\s*\Z"
)
"""The id of an unreadable message: beside the version, or as the first or last key."""

_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_FIRST = re.compile(r'[\ufeff \t\r]*(?:\[[ \t\r]*)?\{[ \t\r]*"(?:jsonrpc|id|result|error)"\s*:')
"""The beginning of an answer, or of a list of answers; other output of a program begins differently."""

_KIND = re.compile(r'"(result|error|method)"\s*:')
_ANSWERS = frozenset(("result", "error"))
_OF_ANSWER = _ANSWERS | {"id"}


def answered(streams: Any) -> TransportStreams:
    """Return the streams of a connection, and turn each unreadable answer into an error of its request.

    On some transports the SDK drops such an answer, and the request waits forever.
    """
    read, write = streams
    waiting: dict[str, RequestId] = {}
    made: TransportStreams = cast("Any", (_AnswerStream(read, waiting), _Requests(write, waiting)))
    return made


class MessageStream:
    """One side of a connection.

    Args:
        inner: the stream inside.
    """

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    @property
    def last_context(self) -> Any:
        """The context in which the last message was sent, for the SDK."""
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


class _Requests(MessageStream):
    """A stream of messages to a server.

    Args:
        inner: the stream.
        waiting: the ids of requests without an answer so far, by their text.
    """

    def __init__(self, inner: Any, waiting: dict[str, RequestId]) -> None:
        super().__init__(inner)
        self._waiting = waiting

    async def send(self, item: SessionMessage, /) -> None:
        """Send a message, and remember the request that it makes."""
        message = item.message
        if isinstance(message, JSONRPCRequest):
            self._waiting[str(message.id)] = message.id
        elif isinstance(message, JSONRPCNotification) and message.method == "notifications/cancelled":
            self._waiting.pop(str((message.params or {}).get("requestId")), None)
        await self._inner.send(item)


class _AnswerStream(MessageStream):
    """A stream of messages from a server; the arguments are those of `_Requests`."""

    def __init__(self, inner: Any, waiting: dict[str, RequestId]) -> None:
        super().__init__(inner)
        self._waiting = waiting
        self._more: deque[SessionMessage] = deque()

    async def __anext__(self) -> Any:
        return self._more.popleft() if self._more else self._readable(await self._inner.__anext__())

    async def receive(self) -> Any:
        """Return the next message."""
        return self._more.popleft() if self._more else self._readable(await self._inner.receive())

    def _readable(self, item: Any) -> Any:
        if isinstance(item, ValidationError):
            item = _read_with_surrogates(item)
        if isinstance(item, ValidationError):
            self._more.extend(self._errors(item))
            return self._more.popleft() if self._more else item
        message = getattr(item, "message", None)
        if isinstance(message, JSONRPCResponse | JSONRPCError) and message.id is not None:
            self._waiting.pop(str(message.id), None)
        elif isinstance(message, JSONRPCError):
            number = self._only_one()
            return item if number is None else SessionMessage(message.model_copy(update={"id": number}))
        return item

    def _errors(self, failure: ValidationError) -> Iterator[SessionMessage]:
        """Yield errors for the requests whose answer can't be read; none if the text isn't an answer."""
        said = failure.errors(include_url=False, include_context=False)
        given, why = said[0]["input"], said[0]["msg"]
        if said[0]["loc"]:  # it is JSON, and the failure is in a part of it
            given, why = _whole(said), "it isn't an answer of JSON-RPC"
        several = is_array(given) and all(map(is_object, given))
        for one in cast("list[Any]", given) if several else [given]:
            number = self._asked(one) if _is_answer(one) else None
            if number is not None:
                error = ErrorData(code=PARSE_ERROR, message=f"{UNREADABLE}{why}")
                yield SessionMessage(JSONRPCError(jsonrpc="2.0", id=number, error=error))

    def _asked(self, answer: Any) -> RequestId | None:
        """Return the id of the request that an answer belongs to; without an id, the only open one."""
        number = _id_in(answer)
        if number is not None:
            return self._waiting.pop(number, None)
        return self._only_one() if _is_surely_answer(answer) else None

    def _only_one(self) -> RequestId | None:
        return self._waiting.popitem()[1] if len(self._waiting) == 1 else None


def _whole(said: Sequence[Any]) -> Any:
    """Return the message, or the list of messages, in which a validation found errors."""
    whole = [one["input"] for one in said if len(one["loc"]) == 1 or _is_answer(one["input"])]
    return whole[0] if whole else None


def _read_with_surrogates(failure: ValidationError) -> SessionMessage | ValidationError:
    """Read a message with U+FFFD for each lone surrogate; return the failure if there is another fault."""
    given = failure.errors(include_url=False, include_context=False)[0]["input"]
    if not isinstance(given, str) or not _SURROGATE.search(given):
        return failure
    try:
        read = writable_json(json.loads(given))
    except (ValueError, RecursionError):
        return failure
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_python(read, by_name=False))
    except ValidationError as error:
        return error


def _is_answer(given: Any) -> bool:
    """Return whether an unreadable message, or its text, is an answer and not other output."""
    if is_object(given):
        has_no_more = not _ANSWERS.isdisjoint(given) and _OF_ANSWER.issuperset(given)
        return "method" not in given and ("jsonrpc" in given or has_no_more)
    if not isinstance(given, str) or not _FIRST.match(given):
        return False
    kind = _KIND.search(given[:_SEARCHED])
    return _has_version(given) if kind is None else kind[1] != "method"


def _is_surely_answer(given: Any) -> bool:
    """Return whether a message without an id is an answer: it has a version and a result or an error."""
    if is_object(given):
        return "jsonrpc" in given and not _ANSWERS.isdisjoint(given)
    return _has_version(given) and _KIND.search(given[:_SEARCHED]) is not None


def _has_version(text: str) -> bool:
    return '"jsonrpc"' in text[:_SEARCHED] or '"jsonrpc"' in text[-_SEARCHED:]


def _id_in(given: Any) -> str | None:
    """Return the id of an unreadable answer, as a text."""
    if is_object(given):
        found: object = given.get("id")
        whole = int(found) if isinstance(found, float) and found.is_integer() else found
        return str(whole) if isinstance(whole, int | str) else None
    shown = given if len(given) <= 2 * _SEARCHED else given[:_SEARCHED] + given[-_SEARCHED:]
    said = _ID.search(shown)
    number = "null" if said is None else said[said.lastindex or 0]
    return None if number == "null" else number.strip('"')


# --- answers over standard output ----------------------------------------------------------------


@cache
def whole_lines() -> str:
    """Return the name of an encoding for the SDK: UTF-8 by whole lines, each of limited length.

    The SDK joins the beginning of a line with each new chunk again, which takes quadratic time, and has no
    limit.
    """
    plain = codecs.lookup("utf-8")
    made = codecs.CodecInfo(plain.encode, plain.decode, incrementaldecoder=_WholeLines, name=_LINES)
    codecs.register(lambda name: made if name == _LINES else None)
    return _LINES


_LINES = "operator_schema_lines"


class _WholeLines(codecs.IncrementalDecoder):
    """Decode UTF-8 by whole lines; replace an answer that is too long by an error that says so."""

    def __init__(self, errors: str = "strict") -> None:
        super().__init__(errors)
        self.reset()

    def reset(self) -> None:
        """Forget the unfinished line."""
        self._parts: list[bytes] = []
        self._size = 0

    def decode(self, input: Any, final: bool = False) -> str:  # noqa: A002, ARG002, FBT001, FBT002  # as codecs call it
        """Return the lines that are complete now, each with its end."""
        *ends, rest = bytes(input).split(b"\n")
        lines = [self._line(end) for end in ends]
        self._keep(rest)
        return "".join(lines)

    def _line(self, end: bytes) -> str:
        self._keep(end)
        kept, size = b"".join(self._parts), self._size
        self.reset()
        is_whole = size <= LONGEST_ANSWER
        text = kept.decode(errors=self.errors if is_whole else "replace")
        return f"{text if is_whole else _too_long(text, size)}\n"

    def _keep(self, part: bytes) -> None:
        self._size += len(part)
        self._parts.append(part)
        if self._size > LONGEST_ANSWER:  # its beginning and its end contain the id of the request
            whole = b"".join(self._parts)
            self._parts = [whole[:_SEARCHED], whole[_SEARCHED:][-_SEARCHED:]]


def _too_long(kept: str, size: int) -> str:
    """Return the error that replaces an answer; nothing if the text is only output for developers.

    Args:
        kept: the beginning and the end of the answer.
        size: the whole length in bytes.
    """
    if not _is_answer(kept):
        return ""
    number = _id_in(kept)
    message = f"{UNREADABLE}it has {size:,} bytes, and at most {LONGEST_ANSWER:,} are read"
    asked = int(number) if number is not None and number.isdecimal() else number
    return json.dumps({"jsonrpc": "2.0", "id": asked, "error": {"code": PARSE_ERROR, "message": message}})
