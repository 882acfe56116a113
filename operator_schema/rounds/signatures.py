"""Signatures and digests, by which a restart notices changed data."""

from __future__ import annotations

from functools import cache
from json import JSONEncoder
from typing import TYPE_CHECKING, Any, TypeAlias

from ..json_values import is_array, is_object
from ..message_text import class_name_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import ModuleType

    Digest: TypeAlias = Callable[[Mapping[str, Any]], str]
    Secret: TypeAlias = bytes | Sequence[bytes] | None

_LEAST = 16
"""The shortest secret, in bytes; the same as for the token of a server."""


def digests_with(secret: Secret) -> list[Digest]:
    """Return a function for each key of a secret that makes the digest of a JSON object; the first one signs.

    The digest stays the same after a database has reordered keys, or written `1.0` as `1`. The key `digest`
    of the object itself isn't included.
    """
    if secret is None:
        return [_digest_of(text_digest)]
    return [_digest_of(_seal_of(key)) for key in _keys_of(secret)]


def seal_with(secret: Secret) -> Callable[[str], str]:
    """Return the function that makes the digest of a canonical text, with the key that signs."""
    return _seal_of(_keys_of(secret)[0])


def check_secret(secret: Secret) -> None:
    """Check a secret.

    Args:
        secret: the key for HMAC-SHA-256 (RFC 2104), or a list of keys: the first one signs, and data signed
            by any of them are accepted; or None for SHA-256 alone.

    Raises:
        TypeError: a key isn't bytes.
        ValueError: a key is shorter than 16 bytes, or the list is empty.
    """
    _keys_of(secret)


def _keys_of(secret: Secret) -> list[bytes | None]:
    if secret is None:
        return [None]
    keys = list(secret) if isinstance(secret, (list, tuple)) else [secret]
    if not keys:
        message = "the list of secrets is empty: give at least one, or None to sign nothing"
        raise ValueError(message)
    return [_checked_key(key) for key in keys]


def _checked_key(key: Any) -> bytes:
    if not isinstance(key, (bytes, bytearray)):  # some callers ignore the annotations
        message = f"the secret must be bytes, such as secrets.token_bytes(32), not {class_name_of(key)}"
        raise TypeError(message)
    if not key:
        message = "the secret is empty, so anybody could sign: make one with secrets.token_bytes(32)"
        raise ValueError(message)
    if len(key) < _LEAST:
        message = (
            f"the secret has {len(key)} bytes, and must have at least {_LEAST}: "
            "make one with secrets.token_bytes(32)"
        )
        raise ValueError(message)
    return bytes(key)


def _seal_of(key: bytes | None) -> Callable[[str], str]:
    if key is None:
        return text_digest
    digest = _hmac().digest
    return lambda text: digest(key, text.encode(), "sha256").hex()


def _digest_of(seal: Callable[[str], str]) -> Digest:
    def digest(saved: Mapping[str, Any]) -> str:
        signed = {**saved}
        signed.pop("digest", None)
        return seal(canonical_text(signed))

    return digest


def canonical_text(value: Any) -> str:
    """Return a text for digests that doesn't change when a database rewrites a value.

    A database may reorder keys, and write `1.0` as `1`, or `1e23` as the integer with these digits, which
    isn't exactly the number of the float.

    Raises:
        ValueError: a number in the value isn't finite.
    """
    text = _write(value)
    # A float without a fraction is written as 5.0 or 1e+16: most values contain none.
    return _write(_canonical(value)) if ".0" in text or "e+" in text else text


_write: Callable[[Any], str] = JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False).encode


def text_digest(text: str) -> str:
    """Return the SHA-256 of a text."""
    from hashlib import sha256

    return sha256(text.encode()).hexdigest()


@cache
def _hmac() -> ModuleType:
    import hmac

    return hmac


def what_is_signed(head: Mapping[str, Any]) -> dict[str, Any]:
    """Return the text for the digest of a whole round.

    It contains only the ids and digests of the calls. So damage to one call leaves the other calls usable,
    and nobody can add, move or remove a call.
    """
    return {**head, "calls": [[call.get("id"), call.get("digest")] for call in head["calls"]]}


def is_same_digest(one: str, other: object) -> bool:
    """Return whether two digests are equal, in a time that doesn't reveal where they differ."""
    if not isinstance(other, str):
        return False
    is_same: bool = _hmac().compare_digest(one.encode(), other.encode(errors="replace"))
    return is_same


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
"""Every integer up to this one is also a float (RFC 8259 section 6)."""


def _as_integer(value: float) -> int:
    """Return the integer that a database writes for a large float: its shortest digits, then zeros."""
    from decimal import Decimal

    return int(Decimal(repr(value)))
