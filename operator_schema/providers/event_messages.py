"""Events of a stream out of the binary messages of Amazon Bedrock.

botocore's own parser reads the messages; here they are only found.
Source: https://docs.aws.amazon.com/transcribe/latest/dg/streaming-setting-up.html#streaming-event-stream
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .event_text import MAX_EVENT

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["EventMessages"]

_LENGTH_BYTES = 4
_LEAST = 16
"""Bytes of a message without headers and payload."""


class EventMessages:
    """The bytes of a binary stream, which come in pieces of any size.

    Raises:
        ImportError: botocore isn't installed.
    """

    __slots__ = ("_parser", "_pending")

    def __init__(self) -> None:
        from importlib import import_module

        try:
            self._parser: Any = import_module("botocore.eventstream")
        except ImportError as error:
            message = "the bytes of Bedrock's stream need botocore: install it, or feed the events of boto3"
            raise ImportError(message) from error
        self._pending = bytearray()

    def feed(self, piece: bytes | bytearray) -> Iterator[tuple[str, str]]:
        """Take the next bytes.

        Returns:
            The events that they complete: `error` for an exception or nothing, and JSON text, in which the
            type of the event is the only key.

        Raises:
            ValueError: the bytes aren't such a stream.
        """
        pending = self._pending
        pending += piece
        start = 0
        try:
            while len(pending) - start >= _LENGTH_BYTES:
                length = int.from_bytes(pending[start : start + _LENGTH_BYTES], "big")
                if not _LEAST <= length <= MAX_EVENT:
                    message = f"a message of {length} bytes: this isn't an event stream"
                    raise ValueError(message)
                if len(pending) - start < length:
                    return
                start += length
                yield self._read(bytes(pending[start - length : start]))
        finally:
            del pending[:start]

    def _read(self, content: bytes) -> tuple[str, str]:
        buffer = self._parser.EventStreamBuffer()
        buffer.add_data(content)
        try:
            message = next(buffer)
        except self._parser.ParserError as error:
            raise ValueError(str(error)) from None
        headers, payload = message.headers, str(message.payload, "utf-8")
        if headers.get(":message-type") == "event":
            return "", f'{{"{headers.get(":event-type")}": {payload}}}'
        said = headers.get(":exception-type") or headers.get(":error-code") or "exception"
        return "error", f"{said}: {payload or headers.get(':error-message', '')}"
