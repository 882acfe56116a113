"""Responses as plain JSON, whatever they came as."""

from __future__ import annotations

from typing import Any, cast

from ..codec.json_text import check_depth
from ..codec.problems import RefusedTextError
from ..json_values import is_object
from ..wording import received

__all__ = ["json_of", "parsed", "what_came"]


def json_of(response: Any) -> dict[str, Any] | None:
    """Return a response as a JSON object; None if it can't be read as one.

    Args:
        response: a dict, JSON text, or the object of an SDK: pydantic's `model_dump` is asked for what
            goes over the wire (`by_alias`), and what isn't set is left out.
    """
    try:
        found = _plain(response)
    except Exception:  # noqa: BLE001  # the code of an SDK, or of whatever this is
        return None
    return found if is_object(found) else None


def _plain(response: Any) -> Any:
    if isinstance(response, (str, bytes, bytearray)):
        return parsed(response)
    if is_object(response):
        return response
    kind: Any = cast("Any", type(response))
    return kind.model_dump(response, mode="json", by_alias=True, exclude_none=True, warnings=False)


def parsed(text: str | bytes | bytearray) -> Any:
    """Return the value of JSON text; None if it isn't valid, or nests too deep."""
    from json import loads

    try:
        source = text if isinstance(text, str) else str(text, "utf-8-sig")
        check_depth(source)
        return loads(source)
    except (RefusedTextError, ValueError, RecursionError):
        return None


def what_came(value: object) -> str:
    """Describe what isn't a JSON object, whatever it is, and what was probably meant."""
    try:
        return received(value) + _meant(value)
    except Exception:  # noqa: BLE001  # code of its own
        return type(value).__name__


def _meant(value: Any) -> str:
    from inspect import isawaitable

    if isawaitable(value):
        return ": await it first"
    kind: Any = cast("Any", type(value))
    if hasattr(kind, "feed") and hasattr(kind, "answers"):
        return ": a stream has its own answers()"
    if hasattr(kind, "__next__") or hasattr(kind, "__anext__"):
        return ": give its events to feed(…) of provider.stream(), one after the other"
    return ""
