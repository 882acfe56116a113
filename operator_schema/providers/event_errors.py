"""Errors that providers send in the middle of a stream."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..json_values import is_object
from .written_calls import failed_calls

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["error_in", "message_of"]


def error_in(event: Mapping[str, Any]) -> Any:
    """Return the error that an event tells, in the provider's words; None if it tells none.

    A call that the provider refused is no error: the model can mend it.
    """
    if failed_calls(event):
        return None
    for holder in (event, event.get("response"), event.get("delta")):
        found: Any = holder.get("error") if is_object(holder) else None
        if found is not None:
            return message_of(found)
    if event.get("type") == "error":
        return event.get("message", event)
    for kind, value in event.items():
        if kind.endswith("Exception") and is_object(value):
            return f"{kind}: {value.get('message', '')}"
    return None


def message_of(error: Any) -> Any:
    """Return what an error says: its message, and what the model wrote that the provider can't read."""
    if not is_object(error):
        return error
    message, written = error.get("message", error), error.get("failed_generation")
    return f"{message} It is: {written}" if isinstance(written, str) and "message" in error else message
