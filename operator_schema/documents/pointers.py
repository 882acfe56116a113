"""JSON pointers (RFC 6901) in references of a JSON Schema document."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

from ..json_values import is_array, is_object

__all__ = ["resolve_pointer", "step"]

_MAX_LENGTH = 2000


def step(pointer: str, *steps: str) -> str:
    """Return the pointer to what is some steps below."""
    return "".join([pointer, *["/" + each.replace("~", "~0").replace("/", "~1") for each in steps]])


def resolve_pointer(document: Any, reference: object) -> tuple[str, Any] | None:
    """Return the pointer in a reference in its usual spelling, and what is there.

    Args:
        document: JSON values.
        reference: of the keyword `$ref`.

    Returns:
        None if nothing is there, or the reference leads to another document or an anchor.
    """
    if not isinstance(reference, str) or len(reference) > _MAX_LENGTH:
        return None
    if reference != "#" and not reference.startswith("#/"):
        return None
    pointer, found = "", document
    for written in reference.split("/")[1:]:
        key = unquote(written).replace("~1", "/").replace("~0", "~")
        if is_object(found) and key in found:
            found = found[key]
        elif is_array(found) and key.isdecimal() and key.isascii() and len(key) < 6 and int(key) < len(found):  # noqa: PLR2004  # digits
            found = found[int(key)]
        else:
            return None
        pointer = step(pointer, key)
    return pointer, found
