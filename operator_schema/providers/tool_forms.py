"""How one provider gets one tool."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..json_copies import Original
    from ..schema.sizes import Size

__all__ = ["ToolForm"]


class ToolForm:
    """A tool in the form in which one provider gets it; the tool keeps it.

    Attributes:
        provider: that gets it.
        name: on the wire.
        original: of what is in the list of tools.
        size: what counts against the limits of the strict mode; None without it.
        description: the tool's own.
    """

    __slots__ = ("provider", "name", "original", "size", "description")

    def __init__(
        self, provider: object, name: str, original: Original, size: Size | None, description: str
    ) -> None:
        self.provider = provider
        self.name = name
        self.original = original
        self.size = size
        self.description = description
