"""Which message does a line of a client hold, and how is a line answered that holds none?"""

from __future__ import annotations

import json
import re
from contextlib import suppress
from typing import Any, NamedTuple, cast

import mcp_types as types
from pydantic import ValidationError

from ...json_reading import repeated_key
from ...tools import WARNING, write_log

LONGEST_LINE = 64 * 2**20
"""The maximum size of one message, in bytes; a longer one gets an error, and the next one is read."""

_MOST_DIGITS = 4000
_SHAPE = (
    'a message is one object of JSON-RPC 2.0: {"jsonrpc": "2.0", "id": a string or an integer, '
    '"method": a string, "params": an object}'
)


class UnreadableLine(NamedTuple):
    """A line that isn't a message: the error, and the id of the intended request.

    Attributes:
        code: the error code of JSON-RPC.
        reason: the error, for the author of the client.
        request_id: the id; None if there is none, or it can't be read.
    """

    code: int
    reason: str
    request_id: str | int | None = None

    def answer(self) -> str:
        """Return the line of the answer."""
        error = {"code": self.code, "message": self.reason}
        return f"{json.dumps({'jsonrpc': '2.0', 'id': self.request_id, 'error': error})}\n"


def message_of(line: bytes) -> types.JSONRPCMessage | UnreadableLine | None:
    """Return the message of a line, or the error in it; None for a line that needs no answer.

    Args:
        line: a line; empty, without even its end, if it was too long.
    """
    if not line:
        return UnreadableLine(types.PARSE_ERROR, f"the message has more than {LONGEST_LINE:,} bytes")
    if line.isspace():
        return None
    try:
        message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValidationError as error:
        first = error.errors(include_input=False)[0]
        is_json = first["type"] != "json_invalid"
        value = _loaded(line)
        if value is None and not is_json:
            value = _begun(line)
        return _unread(value, None if is_json else first["msg"])
    repeated = repeated_key(line)
    if repeated is not None:
        return _unread(_loaded(line), repeated)
    if isinstance(message, types.JSONRPCNotification) and "id" in (_loaded(line) or {}):
        return UnreadableLine(types.INVALID_REQUEST, f"its id can't be answered: {_SHAPE}")
    return message


def _unread(value: Any, trouble: str | None) -> types.JSONRPCMessage | UnreadableLine | None:
    """Return the answer to a line that isn't a message.

    Args:
        value: the sent value, as far as Python can read it.
        trouble: the reason why it isn't JSON with distinct keys; None if it is.
    """
    if isinstance(value, list) and trouble is None:
        reason = "batches aren't part of this protocol: send each message in a line of its own"
        return UnreadableLine(types.INVALID_REQUEST, reason)
    sent = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    found = sent.get("id")
    known = found if type(found) in {int, str} else None
    if "method" not in sent and (
        "result" in sent or "error" in sent
    ):  # the sender, who waits for this answer, must not wait forever
        write_log(WARNING, "an answer of the client can't be read")
        error = types.ErrorData(code=types.INVALID_REQUEST, message="the answer can't be read")
        return None if known is None else types.JSONRPCError(jsonrpc="2.0", id=known, error=error)
    if trouble is not None:
        return UnreadableLine(types.PARSE_ERROR, trouble, known)
    return UnreadableLine(types.INVALID_REQUEST, _SHAPE, known)


def _loaded(line: bytes) -> Any:
    """Return the JSON value of a line, since Python accepts more than the SDK; None if it can't be read."""
    try:
        return json.loads(line, parse_int=_number)
    except (ValueError, RecursionError):
        return None


def _number(digits: str) -> int | None:
    return int(digits) if len(digits) <= _MOST_DIGITS else None


_DECODER = json.JSONDecoder(parse_int=_number)
_SPACE = re.compile(r"[ \t\r\n]*")
_KINDS = {"method", "result", "error"}
_MOST_KEYS = 16
"""The number of keys that are searched for an id; a message has four."""


def _begun(line: bytes) -> dict[str, Any]:
    """Return the readable beginning of an object; its last key may have no value.

    Its id is left out if the kind of the message isn't known: an answer of the client has an id of the
    server.
    """
    text = line.decode("utf-8-sig", "replace")
    found: dict[str, Any] = {}
    mark, place = "{", 0
    with suppress(ValueError, RecursionError):
        for _ in range(_MOST_KEYS):
            key, place = _next(text, place, mark)
            found[str(key)] = None
            value, place = _next(text, place, ":")
            if not text.startswith((",", "}"), _after_space(text, place)):
                break  # a number may continue
            found[str(key)] = value
            mark = ","
    return found if _KINDS & found.keys() else {}


def _next(text: str, place: int, mark: str) -> tuple[Any, int]:
    """Return the value after a mark, and where it ends.

    Raises:
        ValueError: there is no such mark, or no value after it.
    """
    start = _after_space(text, place)
    if not text.startswith(mark, start):
        raise ValueError
    value: tuple[Any, int] = _DECODER.raw_decode(text, _after_space(text, start + 1))
    return value


def _after_space(text: str, place: int) -> int:
    found = _SPACE.match(text, place)
    return place if found is None else found.end()
