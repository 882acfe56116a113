"""Responses as plain JSON, whatever they came as."""

from __future__ import annotations

from typing import Any, cast

from ..json_values import is_object

__all__ = ["json_of"]


def json_of(response: Any) -> dict[str, Any] | None:
    """Return a response as a JSON object; None if it can't be read as one.

    Args:
        response: a dict, JSON text, or the object of an SDK: pydantic's `model_dump` is asked for what
            goes over the wire (`by_alias`), and what isn't set is left out.
    """
    found: Any = response
    if isinstance(response, (str, bytes, bytearray)):
        from json import loads

        try:
            found = loads(response)
        except ValueError:
            return None
    elif not is_object(response):
        kind: Any = cast("Any", type(response))
        dump: Any = getattr(kind, "model_dump", None)
        if dump is None:
            return None
        found = dump(found, mode="json", by_alias=True, exclude_none=True, warnings=False)
    return found if is_object(found) else None
