"""Digests, by which it is noticed that saved data were changed."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

from ..json_values import is_array, is_object
from ..tools.calls import class_name_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Digest: TypeAlias = Callable[[Mapping[str, Any]], str]

__all__ = ["Digest", "canonical_text", "digest_with", "is_same_digest", "text_digest", "what_is_signed"]


_LEAST = 16
"""Bytes, as for the token of a server."""


def digest_with(secret: bytes | None) -> Digest:
    """Return the function that makes the digest of a JSON object.

    It is the same after a database has reordered keys, or written `1.0` as `1`. A key `digest` of the
    object itself doesn't count.

    Args:
        secret: the key for HMAC-SHA-256 (RFC 2104), or None for SHA-256 alone.

    Raises:
        TypeError: the secret isn't bytes.
        ValueError: it is shorter than 16 bytes.
    """
    from hashlib import sha256

    def text_of(saved: Mapping[str, Any]) -> bytes:
        return canonical_text({name: saved[name] for name in saved if name != "digest"}).encode()

    if secret is None:
        return lambda saved: sha256(text_of(saved)).hexdigest()
    if not isinstance(secret, (bytes, bytearray)):  # pyright: ignore[reportUnnecessaryIsInstance]  # what callers promise, some do not
        message = f"the secret is bytes, such as secrets.token_bytes(32), not {class_name_of(secret)}"
        raise TypeError(message)
    if not secret:
        message = "the secret is empty, so anybody could sign: make one with secrets.token_bytes(32)"
        raise ValueError(message)
    if len(secret) < _LEAST:
        message = (
            f"the secret has {len(secret)} bytes, and takes at least {_LEAST}: "
            "make one with secrets.token_bytes(32)"
        )
        raise ValueError(message)
    from hmac import digest

    return lambda saved: digest(secret, text_of(saved), "sha256").hex()


def canonical_text(value: Any) -> str:
    """Write a JSON value so that equal ones are written alike: as in a database that reorders keys."""
    return _writer()(_canonical(value))


def text_digest(text: str) -> str:
    """Return the SHA-256 of a text."""
    from hashlib import sha256

    return sha256(text.encode()).hexdigest()


@cache
def _writer() -> Callable[[Any], str]:
    from json import JSONEncoder

    return JSONEncoder(sort_keys=True, separators=(",", ":")).encode


def what_is_signed(head: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the digest of a whole plan is made of.

    The calls are in it by their ids and digests alone. So damage to one call leaves the others usable, and
    no call can be added, moved or left out.
    """
    return {**head, "calls": [[call.get("id"), call.get("digest")] for call in head["calls"]]}


def is_same_digest(one: str, other: object) -> bool:
    """Return whether two digests are equal, in a time that says nothing about where they differ."""
    from hmac import compare_digest

    return isinstance(other, str) and compare_digest(one.encode(), other.encode(errors="replace"))


def _canonical(value: Any) -> Any:
    if value.__class__ is str:
        return value
    if is_object(value):
        return {key: _canonical(item) for key, item in value.items()}
    if is_array(value):
        return [_canonical(item) for item in value]
    if isinstance(value, float) and value.is_integer():
        return int(value) if abs(value) < _EXACT else _as_integer(value)
    return value


_EXACT = 2**53
"""Every integer up to here is a float, too (RFC 8259 section 6)."""


def _as_integer(value: float) -> int:
    """Return the integer that a database writes for a large number: its shortest digits, then zeros."""
    from decimal import Decimal

    return int(Decimal(repr(value)))
