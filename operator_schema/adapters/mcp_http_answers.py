"""Read answers over HTTP that have a lone surrogate, which JSON readers refuse."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import httpx2

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

__all__ = ["make_readable", "without_surrogates_in"]

_TYPES: Final = ("application/json", "text/event-stream")
_REPLACED: Final = rb"\ufffd"
_HIGH: Final = rb"\\u[dD][89abAB][0-9a-fA-F]{2}"
_LOW: Final = rb"\\u[dD][c-fC-F][0-9a-fA-F]{2}"
_ESCAPES: Final = re.compile(
    rb"(?P<cut>\\(?:u[0-9a-fA-F]{0,3})?\Z|"
    + _HIGH
    + rb"(?:\\(?:u(?:[dD](?:[c-fC-F][0-9a-fA-F]?)?)?)?)?\Z)|"
    + _HIGH
    + _LOW
    + rb"|(?P<lone>\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\."
)
"""Escapes in a JSON text: one that may continue in the next chunk, a whole pair, a lone surrogate, another
one."""


async def make_readable(response: httpx2.Response) -> None:
    """Replace each lone surrogate in the body of a response by U+FFFD, while it is read."""
    if response.headers.get("content-type", "").partition(";")[0].strip().lower() not in _TYPES:
        return
    sent = httpx2.Response(
        response.status_code, headers=response.headers, stream=response.stream, request=response.request
    )
    response.headers.pop("content-encoding", None)  # the body is already decoded when it is read
    response.stream = _Readable(sent)


class _Readable(httpx2.AsyncByteStream):
    """The body of a response without lone surrogates.

    Args:
        sent: the response.
    """

    def __init__(self, sent: httpx2.Response) -> None:
        self._sent = sent

    async def __aiter__(self) -> AsyncIterator[bytes]:
        held = b""
        async for chunk in self._sent.aiter_bytes():
            made, held = without_surrogates_in(held + chunk)
            if made:
                yield made
        if held:
            yield without_surrogates_in(held + b" ")[0][:-1]

    async def aclose(self) -> None:
        await self._sent.aclose()


def without_surrogates_in(data: bytes) -> tuple[bytes, bytes]:
    """Return a part of JSON text with U+FFFD for each lone surrogate, and the incomplete escape at its end.

    Args:
        data: a part that doesn't begin inside an escape.
    """
    if b"\\" not in data:
        return data, b""
    held = b""

    def readable(escape: re.Match[bytes]) -> bytes:
        nonlocal held
        if escape["cut"] is not None:
            held = escape["cut"]
            return b""
        return _REPLACED if escape["lone"] is not None else escape[0]

    return _ESCAPES.sub(readable, data), held
