"""Content that a function gives to the model as parts, beside text."""

from __future__ import annotations

from typing import Any

from ..immutable import Value

__all__ = ["Part", "Text"]


class Text(Value):
    """A text for the model.

    Attributes:
        text: of any length.
    """

    text: str

    def as_dict(self) -> dict[str, Any]:
        """Return what it is as JSON values, for logs."""
        return {"type": "text", "characters": len(self.text)}


Part = Text
