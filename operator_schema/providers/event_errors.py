"""Errors that providers send in the middle of a stream."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..json_values import is_object

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["error_in"]


def error_in(event: Mapping[str, Any]) -> Any:
    """Return the error that an event tells, in the provider's words; None if it tells none."""
    for holder in (event, event.get("response"), event.get("delta")):
        found: Any = holder.get("error") if is_object(holder) else None
        if found is not None:
            return found.get("message", found) if is_object(found) else found
    if event.get("type") == "error":
        return event.get("message", event)
    for kind, value in event.items():
        if kind.endswith("Exception") and is_object(value):
            return f"{kind}: {value.get('message', '')}"
    return None
