"""What are the bytes of a content part, and of which type are they?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...wording import checked_text, clip, escape, excerpt, received
from .media_types import essence_of, is_refuted, type_of_name, types_in, written_type

if TYPE_CHECKING:
    from os import PathLike

__all__ = ["checked_data", "checked_type", "from_bytes", "from_path", "shown_name"]

_SHOWN_NAME = 200
_FAMILIES = {"Image": "image/", "Audio": "audio/"}
_UNKNOWN = "application/octet-stream"


def from_bytes(kind: str, data: object, media_type: str | None, name: str | None = None) -> tuple[bytes, str]:
    """Return data and their type, which is found if it isn't given."""
    found = _bytes_of(kind, data)
    return found, _found_type(kind, found, name) if media_type is None else media_type


def from_path(kind: str, path: str | PathLike[str], media_type: str | None) -> tuple[bytes, str, str]:
    """Return the data of a file, their type and its name."""
    from pathlib import Path

    file = Path(path)
    if not file.is_file():
        file.stat()  # raises what is wrong with it
        message = f"{shown_name(str(file))} isn't a regular file"  # a device or a pipe may never end
        raise ValueError(message)
    data, found = from_bytes(kind, file.read_bytes(), media_type, file.name)
    return data, found, file.name


def _found_type(kind: str, data: bytes, name: str | None) -> str:
    """Return the type that the name and the first bytes of a file say.

    Raises:
        ValueError: they say different types, or none.
    """
    family = _FAMILIES.get(kind, "")
    allowed = types_in(data)
    by_name = None if name is None else type_of_name(name)
    if by_name is not None:
        if is_refuted(by_name, data):
            holds = f"{shown_name(str(name))} holds {_listed(allowed)}, not {by_name} as its name says"
            message = f"{holds}: rename it, or give the media_type"
            raise ValueError(message)
        return by_name
    fitting = [found for found in allowed if found.startswith(family)]
    if fitting or allowed:
        return (fitting or allowed)[0]  # one of another family is refused by the constructor
    if not family:
        return _UNKNOWN
    message = f"the first bytes don't say which type this {kind} has: give media_type, such as {family}…"
    raise ValueError(message)


def _listed(types: tuple[str, ...]) -> str:
    return types[0] if types else "something else"


def checked_data(kind: str, data: object, media_type: object) -> tuple[bytes, str]:
    """Return data and their type, in its usual spelling.

    Raises:
        ValueError: the data are of another type.
    """
    found, written = _bytes_of(kind, data), checked_type(kind, media_type)
    if is_refuted(essence_of(written), found):
        message = (
            f"the data are {_listed(types_in(found))}, not {written}: correct the media_type, or the data"
        )
        raise ValueError(message)
    return found, written


def checked_type(kind: str, media_type: object) -> str:
    """Return a media type in its usual spelling.

    Raises:
        TypeError: it isn't a string.
        ValueError: it isn't a media type, or none of this kind of part.
    """
    written = written_type(checked_text(f"the media_type of this {kind}", media_type))
    if written is None:
        message = f"media_type is a type such as image/png (RFC 6838), not {excerpt(media_type)}"
        raise ValueError(message)
    family = _FAMILIES.get(kind, "")
    if not written.startswith(family):
        other = next((name for name, start in _FAMILIES.items() if written.startswith(start)), "File")
        message = f"the media_type of this {kind} begins with {family}, {written} does not: use {other}"
        raise ValueError(message)
    return written


def _bytes_of(kind: str, data: object) -> bytes:
    if not isinstance(data, (bytes, bytearray, memoryview)):
        message = f"the data of this {kind} are bytes, not {received(data)}"
        if isinstance(data, str):
            message += ": decode base64 with base64.b64decode, read a file with from_path"
        raise TypeError(message)
    found = bytes(data)  # pyright: ignore[reportUnknownArgumentType]  # a memoryview of whatever items
    if not found:
        message = f"this {kind} has no data: there are 0 bytes"
        raise ValueError(message)
    return found


def shown_name(name: str) -> str:
    """Show the name of a file, or an address, on one line."""
    return clip(escape(name), _SHOWN_NAME)
